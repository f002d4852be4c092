//! Renders a graph in the DOT language. The caller provides the labels.

use std::fmt::Write as _;

use super::{Graph, VertexId, transitive_reduction};

/// The drawing of a vertex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedVertex {
    /// The unique name of the vertex.
    pub name: String,
    /// The style of its box. `None` leaves it to the drawing tool.
    pub look: Option<VertexStyle>,
}

impl RenderedVertex {
    /// A vertex with a name, in a shape with a label inside.
    #[must_use]
    pub fn with_shape(shape: &'static str, name: String, label: String) -> Self {
        Self { name, look: Some(VertexStyle { label, shape }) }
    }
}

/// The style of a vertex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VertexStyle {
    /// The label text.
    pub label: String,
    /// The shape as the DOT language names it, `box`.
    pub shape: &'static str,
}

/// Writes the graph in the DOT language, in the form that tools made for Terraform's graphs expect: one
/// subgraph `root`, and every name prefixed with `[root] `. Edges that longer paths imply are omitted.
#[must_use]
pub fn graph_to_dot<V, E>(
    graph: &Graph<V, E>,
    draw: impl Fn(VertexId, &V) -> RenderedVertex,
) -> String {
    let drawn: Vec<RenderedVertex> = graph.vertex_ids().map(|id| draw(id, &graph[id])).collect();
    let names: Vec<String> =
        drawn.iter().map(|drawn| quote_dot(&format!("[root] {}", drawn.name))).collect();
    let reduced = transitive_reduction::reduce_transitively(graph);

    let mut boxes: Vec<String> = Vec::new();
    for (name, drawn) in names.iter().zip(&drawn) {
        if let Some(VertexStyle { label, shape }) = &drawn.look {
            boxes.push(format!("{name} [label = {}, shape = \"{shape}\"]", quote_dot(label)));
        }
    }
    let mut arrows: Vec<(&str, &str)> = Vec::new();
    for id in graph.vertex_ids() {
        let from = names[id.index()].as_str();
        arrows.extend(
            reduced
                .dependencies(id)
                .iter()
                .map(|dependency| (from, names[dependency.index()].as_str())),
        );
    }
    // Sorted by text, so that a new vertex only adds lines to the output.
    boxes.sort_unstable();
    arrows.sort_unstable();

    let mut text = String::from("digraph {\n\tcompound = \"true\"\n\tnewrank = \"true\"\n");
    text.push_str("\tsubgraph \"root\" {\n");
    for line in boxes {
        let _ = writeln!(text, "\t\t{line}");
    }
    for (from, to) in arrows {
        let _ = writeln!(text, "\t\t{from} -> {to}");
    }
    text.push_str("\t}\n}\n");
    text
}

/// Returns the text as a quoted identifier of the DOT language.
#[must_use]
pub fn quote_dot(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::graph::GraphDraft;

    fn example_graph() -> Graph<&'static str> {
        let mut draft = GraphDraft::new();
        let [root, b, provider, a] =
            ["root", "null_resource.b", "provider[\"x/y/null\"]", "null_resource.a"]
                .map(|name| draft.add(name));
        for (dependent, dependency) in
            [(root, b), (root, a), (root, provider), (b, a), (b, provider), (a, provider)]
        {
            draft.connect(dependent, dependency, ());
        }
        draft.freeze().expect("no cycle")
    }

    #[test]
    fn dot_is_sorted_quoted_and_reduced() {
        let draw = |_, name: &&str| RenderedVertex {
            name: (*name).to_owned(),
            look: name
                .starts_with("null")
                .then(|| VertexStyle { label: (*name).to_owned(), shape: "box" }),
        };
        expect![[r#"
            digraph {
            	compound = "true"
            	newrank = "true"
            	subgraph "root" {
            		"[root] null_resource.a" [label = "null_resource.a", shape = "box"]
            		"[root] null_resource.b" [label = "null_resource.b", shape = "box"]
            		"[root] null_resource.a" -> "[root] provider[\"x/y/null\"]"
            		"[root] null_resource.b" -> "[root] null_resource.a"
            		"[root] root" -> "[root] null_resource.b"
            	}
            }
        "#]]
        .assert_eq(&graph_to_dot(&example_graph(), draw));
    }
}
