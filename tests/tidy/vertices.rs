//! Kinds of vertices: each has a file, and a line in the list of its graph. No other file names a kind
//! by the list, so a new kind needs no other change.

use std::collections::BTreeSet;

use super::{File, assert_no_violations, product, words};

/// A list of kinds of vertices.
struct VertexList {
    /// The file that has it. The files of the kinds are in the directory of the same name.
    file: &'static str,
    /// The enum.
    name: &'static str,
    /// The trait of the visits of its kinds.
    visits: &'static str,
}

const LISTS: [VertexList; 3] = [
    VertexList {
        file: "core/src/shared_graph/vertex.rs",
        name: "SharedVertex",
        visits: "SharedVisit",
    },
    VertexList { file: "core/src/plan/vertex.rs", name: "PlanVertex", visits: "PlanVisit" },
    VertexList { file: "core/src/apply/vertex.rs", name: "ApplyVertex", visits: "ApplyVisit" },
];

impl VertexList {
    fn source(&self) -> &'static File {
        product().find(|file| file.path == self.file).expect("the file with the list is there")
    }

    /// The types in the list.
    fn kinds(&self) -> Vec<&'static str> {
        let begin = format!("enum {}<", self.name);
        let lines = self.source().text.lines().map(str::trim);
        let list = lines.skip_while(|line| !line.starts_with(&begin)).skip(1);
        let list = list.take_while(|line| *line != "}");
        let kinds = list.filter(|line| !line.starts_with("//"));
        let held = kinds.filter_map(|line| line.split_once('(')?.1.split(['<', ')']).next());
        // The type may have a path.
        held.filter_map(|held| held.rsplit("::").next()).collect()
    }

    /// The files of the kinds.
    fn files(&self) -> Vec<&'static File> {
        let directory = format!("{}/", self.file.trim_end_matches(".rs"));
        let is_kind = |file: &&File| {
            file.path.strip_prefix(&directory).is_some_and(|name| !name.contains('/'))
        };
        product().filter(is_kind).collect()
    }

    /// Whether a file has the visit of a kind.
    fn implements_visit(&self, file: &File, kind: &str) -> bool {
        let is_visit = |line: &str| {
            let Some((head, held)) = line.split_once(" for ") else { return false };
            head.starts_with("impl")
                && words(head).any(|word| word == self.visits)
                && words(held).next() == Some(kind)
        };
        file.product_lines().any(|(_, line)| is_visit(line))
    }
}

/// Whether a line names a kind by the enum, or imports kinds from it.
fn names_kind(line: &str, name: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let is_kind = |c: char| c.is_uppercase() || "*{".contains(c);
    code.split(&format!("{name}::")).skip(1).any(|rest| rest.starts_with(is_kind))
}

#[test]
fn a_kind_of_vertex_is_named_only_in_the_list() {
    let mut violations = Vec::new();
    for file in product().filter(|file| file.path.starts_with("core/src/")) {
        if LISTS.iter().any(|list| list.file == file.path) {
            continue;
        }
        for (number, line) in file.product_lines() {
            if LISTS.iter().any(|list| names_kind(line, list.name)) {
                violations.push(format!("{}:{number}: {}", file.path, line.trim()));
            }
        }
    }
    assert_no_violations(
        &violations,
        "ask the vertex: a question of its trait, or a lookup such as `as_resource`",
    );
}

#[test]
fn each_kind_of_vertex_has_a_file_of_its_own() {
    let mut violations = Vec::new();
    for list in &LISTS {
        let (kinds, files) = (list.kinds(), list.files());
        assert!(kinds.len() > 3, "{}: {} kinds were found", list.file, kinds.len());
        for kind in &kinds {
            let n_files = files.iter().filter(|file| list.implements_visit(file, kind)).count();
            if n_files != 1 {
                violations.push(format!("{}: {kind} is in {n_files} files", list.file));
            }
        }
        for file in files {
            let held = kinds.iter().filter(|kind| list.implements_visit(file, kind)).count();
            if held != 1 {
                violations.push(format!("{}: {held} kinds", file.path));
            }
        }
    }
    assert_no_violations(
        &violations,
        "a kind of vertex is a file below the list of its graph, and a line in it",
    );
}

#[test]
fn each_kind_with_an_outcome_records_it() {
    let is_outcome = |line: &str| {
        line.trim().strip_prefix("type Outcome = ").is_some_and(|outcome| outcome != "();")
    };
    let mut n_outcomes = 0;
    let mut violations = Vec::new();
    for file in LISTS.iter().flat_map(VertexList::files) {
        let has =
            |is_match: &dyn Fn(&str) -> bool| file.product_lines().any(|(_, line)| is_match(line));
        if has(&is_outcome) {
            n_outcomes += 1;
            if !has(&|line| line.trim().starts_with("fn record(")) {
                violations.push(file.path.clone());
            }
        }
    }
    assert!(n_outcomes > 3, "{n_outcomes} kinds with an outcome were found");
    assert_no_violations(
        &violations,
        "the outcome of a visit is lost: the default of `record` drops it",
    );
}

/// The functions of the first trait or implementation that begins with this line.
fn functions_after(text: &str, begin: &str) -> BTreeSet<String> {
    let block = text.lines().skip_while(|line| *line != begin).take_while(|line| *line != "}");
    let heads = block.filter_map(|line| line.strip_prefix("    fn "));
    heads.filter_map(|head| words(head).next()).map(str::to_owned).collect()
}

#[test]
fn a_shared_vertex_forwards_each_method() {
    let text = &LISTS[0].source().text;
    let methods = functions_after(text, "pub(crate) trait VertexKind<'c>: Display {");
    let passed_on = functions_after(text, "impl<'c> VertexKind<'c> for SharedVertex<'c> {");
    assert!(methods.len() > 10, "{methods:?}");
    // One that is missing would have the default answer for each shared kind.
    assert_eq!(passed_on, methods);
    let not_forwarded = methods.iter().filter(|name| !text.contains(&format!("(**self).{name}(")));
    assert_eq!(not_forwarded.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn names_of_kinds_are_found() {
    assert!(names_kind("    PlanVertex::Resource(resource) => {", "PlanVertex"));
    assert!(names_kind("use super::PlanVertex::{Orphan, Resource};", "PlanVertex"));
    assert!(!names_kind("    let vertex = PlanVertex::from(resource);", "PlanVertex"));
    assert!(!names_kind("    // PlanVertex::Resource", "PlanVertex"));
}
