//! Test support shared by several modules: a parsed file, its problems and its traversals as strings.

use formwork_value::Diagnostics;
use formwork_value::diag::Sources;

use crate::syntax::{Body, parse_file};
use crate::traversal::{Traversal, TraversalStep};

/// A source text and the diagnostics about it.
pub(crate) struct SourceText {
    pub(crate) sources: Sources,
    pub(crate) diags: Diagnostics,
}

/// Parses a file that has no syntax errors.
pub(crate) fn parse_valid_file(text: &str) -> (Body, SourceText) {
    let mut sources = Sources::new();
    let id = sources.add("a.tf", text);
    let mut diags = Diagnostics::new();
    let body = parse_file(&mut diags, &sources, id);
    assert!(diags.is_empty(), "{diags:?}");
    (body, SourceText { sources, diags })
}

/// Prints a traversal as it may be written.
pub(crate) fn print_traversal(traversal: &Traversal) -> String {
    let steps: String = traversal
        .steps
        .iter()
        .map(|step| match step {
            TraversalStep::Attribute(name) => format!(".{}", name.name),
            TraversalStep::Key(key, _) => format!("[{key:?}]"),
            TraversalStep::Index(index, _) => format!("[{index}]"),
            TraversalStep::Splat(_) => "[*]".to_owned(),
        })
        .collect();
    format!("{}{steps}", traversal.root.name)
}

impl SourceText {
    /// Prints the position, source text and message of every problem.
    pub(crate) fn problems(&self) -> String {
        let mut out = String::new();
        for diag in self.diags.iter() {
            let location = diag.subject.map_or_else(String::new, |span| {
                let (start, text) =
                    (self.sources.start_position(span), self.sources.text_of_span(span));
                format!("{}:{} {text:?} ", start.line, start.column)
            });
            out += &format!("{location}{}\n    {}\n", diag.summary, diag.detail);
        }
        out
    }
}
