//! Every expression of `expressions/lists` evaluated by Terraform and by Formwork, as the value of
//! an output: values, types, unknown and sensitive parts must be the same, and if one fails, the
//! summary of the error and its position.
//!
//! `expressions/expected_differences.txt` lists the allowed differences, each with a reason. A
//! difference that is not listed there fails the test, and so does a listed expression without a
//! difference.

mod list;
mod outcome;
mod strange;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::engine::{Engine, terraform_is_installed};
use super::row::Row;
use list::Group;
pub(super) use outcome::Difference;
use outcome::Outcome;

/// Number of expressions that are planned together: Terraform takes more than twice as long for
/// twice as many.
const BATCH_SIZE: usize = 1_500;

/// Objects that the expressions can refer to. All of them are unknown while planning.
const PRELUDE: &str = r#"
resource "terraform_data" "later" {}

locals {
  text     = terraform_data.later.id
  number   = tonumber(local.text)
  flag     = tobool(local.text)
  texts    = split(",", local.text)
  set      = toset(local.texts)
  table    = zipmap(local.texts, local.texts)
  anything = jsondecode(local.text)
}
"#;

/// Line and column at which each expression starts in its file.
const EXPRESSION_START: (usize, usize) = (2, 11);

#[test]
fn expressions_have_the_same_values_and_errors() {
    if !terraform_is_installed() {
        return;
    }
    let groups = list::load(&directory().join("lists"));
    let mut expressions: Vec<&str> =
        groups.iter().flat_map(|group| &group.expressions).map(String::as_str).collect();
    expressions.sort_unstable();
    expressions.dedup();
    let mut outcomes: BTreeMap<&str, [Outcome; 2]> = BTreeMap::new();
    for part in expressions.chunks(BATCH_SIZE) {
        // One after the other in one directory, because some functions return its path.
        let dir = tempfile::tempdir().expect("a directory");
        let [theirs, ours] = Engine::BOTH.map(|engine| evaluate(engine, dir.path(), part));
        let both = theirs.into_iter().zip(ours).map(|(theirs, ours)| [theirs, ours]);
        outcomes.extend(part.iter().copied().zip(both));
    }
    let expected_differences: BTreeSet<String> =
        list::read(&directory().join("expected_differences.txt")).into_iter().collect();
    let mut report = String::new();
    let mut total = Row::default();
    for group in &groups {
        total += print_group(group, &outcomes, &expected_differences, &mut report);
    }
    println!("{}", total.line("expressions, all"));
    let is_difference =
        |expression: &str| outcomes.get(expression).is_some_and(|[t, o]| t.differs(o).is_some());
    for expression in expected_differences.iter().filter(|expression| !is_difference(expression)) {
        report.push_str(&format!("kept without need: {expression}\n"));
    }
    assert!(report.is_empty(), "\n{report}");
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("interop/expressions")
}

fn print_group(
    group: &Group,
    outcomes: &BTreeMap<&str, [Outcome; 2]>,
    expected_differences: &BTreeSet<String>,
    report: &mut String,
) -> Row {
    let mut row = Row::default();
    for expression in &group.expressions {
        let [theirs, ours] = &outcomes[expression.as_str()];
        let difference = theirs.differs(ours);
        row.count(theirs.is_error(), difference);
        if difference.is_some() && !expected_differences.contains(expression) {
            report.push_str(&format!(
                "{}: {expression}\n   should be {theirs}\n   is        {ours}\n",
                group.name
            ));
        }
    }
    println!("{}", row.line(&format!("expressions/{}", group.name)));
    row
}

/// Has a program plan the expressions, each as an output in a file of its own. Those that fail are
/// taken out and the others planned again, until none fails: an error that is found early hides
/// those that would be found later.
fn evaluate(engine: Engine, dir: &Path, expressions: &[&str]) -> Vec<Outcome> {
    write_dir(dir, expressions);
    let mut outcomes: BTreeMap<usize, Outcome> = BTreeMap::new();
    loop {
        let failures = errors_by_expression(engine, dir);
        if failures.is_empty() {
            break;
        }
        for (index, errors) in failures {
            std::fs::remove_file(dir.join(file_name(index))).expect("each fails once");
            outcomes.insert(index, Outcome::Errors(errors));
        }
    }
    let view = values(engine, dir);
    (0..expressions.len())
        .map(|index| match outcomes.remove(&index) {
            Some(outcome) => outcome,
            None => outcome::value(&view, &output_name(index))
                .unwrap_or_else(|| panic!("{engine:?}: {} is not in the plan", expressions[index])),
        })
        .collect()
}

fn write_dir(dir: &Path, expressions: &[&str]) {
    let write =
        |name: &str, text: &str| std::fs::write(dir.join(name), text).expect("this test owns it");
    write("main.tf", PRELUDE);
    for entry in std::fs::read_dir(directory().join("files")).expect("the files are there") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name");
        std::fs::copy(&path, dir.join(name)).expect("this test owns it");
    }
    for (index, expression) in expressions.iter().enumerate() {
        let name = output_name(index);
        let secret = expression.contains("sensitive(");
        let mut text =
            format!("output \"{name}\" {{\n  value = {expression}\n  sensitive = {secret}\n}}\n");
        if secret {
            // An output is sensitive as a whole; a resource shows which parts are.
            text +=
                &format!("resource \"terraform_data\" \"{name}\" {{\n  input = {expression}\n}}\n");
        }
        write(&file_name(index), &text);
    }
}

fn output_name(index: usize) -> String {
    format!("e{index}")
}

fn file_name(index: usize) -> String {
    format!("e{index}.tf")
}

/// Plans, and returns the errors by the expression they are about.
fn errors_by_expression(engine: Engine, dir: &Path) -> BTreeMap<usize, Vec<outcome::Problem>> {
    let run = engine.run(dir, None, &["plan", "-json", "-input=false", "-out", "plan"]);
    let mut failures: BTreeMap<usize, Vec<outcome::Problem>> = BTreeMap::new();
    for event in run.events().iter().filter(|event| event["type"] == "diagnostic") {
        let diagnostic = &event["diagnostic"];
        if diagnostic["severity"] == "error" {
            for index in outcome::expressions_of(diagnostic) {
                failures.entry(index).or_default().push(outcome::Problem::read(diagnostic));
            }
        }
    }
    let is_successful = run.code == Some(0) && failures.is_empty();
    assert!(is_successful || !failures.is_empty(), "{engine:?}: {}{}", run.stdout, run.stderr);
    failures
}

/// The JSON view of the latest plan.
fn values(engine: Engine, dir: &Path) -> formwork_value::Value {
    let run = engine.run(dir, None, &["show", "-json", "plan"]);
    let view = formwork_value::codec::json::decode_untyped(run.stdout.trim().as_bytes());
    view.unwrap_or_else(|error| panic!("{engine:?}: {error}: {}", run.stderr))
}
