//! Result of an expression, read from the output of a program, and whether two results are the
//! same.

use std::collections::BTreeSet;
use std::fmt;

use formwork_value::Value;
use serde_json::Value as Json;

use super::EXPRESSION_START;

/// Result of an expression.
pub(super) enum Outcome {
    Errors(Vec<Problem>),
    Value(PlannedValue),
}

/// An error, its position relative to the start of the expression.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Problem {
    summary: String,
    detail: String,
    start: (usize, usize),
    end: (usize, usize),
}

/// A value as the JSON view of a plan shows it.
#[derive(PartialEq, Debug)]
pub(super) struct PlannedValue {
    after: Option<Value>,
    /// Absent where something is unknown.
    ty: Option<Value>,
    unknown: Option<Value>,
    sensitive: Option<Value>,
}

/// Kind of difference between two results.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Difference {
    /// Only one of them is an error, or the values are not the same.
    Value,
    /// The errors have no summary in common.
    Summary,
    /// The errors have no summary and position in common.
    Position,
}

impl Outcome {
    pub(super) fn is_error(&self) -> bool {
        matches!(self, Self::Errors(_))
    }

    pub(super) fn differs(&self, other: &Self) -> Option<Difference> {
        match (self, other) {
            (Self::Value(left), Self::Value(right)) => (left != right).then_some(Difference::Value),
            (Self::Errors(left), Self::Errors(right)) => {
                let summaries = |list: &[Problem]| -> BTreeSet<String> {
                    list.iter().map(|problem| problem.summary.clone()).collect()
                };
                let positions = |list: &[Problem]| -> BTreeSet<_> {
                    list.iter()
                        .map(|problem| (problem.summary.clone(), problem.start, problem.end))
                        .collect()
                };
                if summaries(left).is_disjoint(&summaries(right)) {
                    Some(Difference::Summary)
                } else if positions(left).is_disjoint(&positions(right)) {
                    Some(Difference::Position)
                } else {
                    None
                }
            }
            _ => Some(Difference::Value),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "{value:?}"),
            Self::Errors(problems) => {
                for Problem { summary, detail, start, end } in problems {
                    write!(f, "{summary} at {start:?} to {end:?}: {detail}; ")?;
                }
                Ok(())
            }
        }
    }
}

impl Problem {
    pub(super) fn read(diagnostic: &Json) -> Self {
        let text = |name: &str| diagnostic[name].as_str().unwrap_or_default().to_owned();
        Self {
            summary: text("summary"),
            detail: text("detail"),
            start: relative_position(&diagnostic["range"]["start"]),
            end: relative_position(&diagnostic["range"]["end"]),
        }
    }
}

fn relative_position(position: &Json) -> (usize, usize) {
    let number = |name: &str| {
        let number = position[name].as_u64().unwrap_or_default();
        usize::try_from(number).expect("a small number")
    };
    let (line, column) = (number("line"), number("column"));
    let (first, offset) = EXPRESSION_START;
    let column = if line == first { (column + 1).saturating_sub(offset) } else { column };
    ((line + 1).saturating_sub(first), column)
}

/// Expressions that a problem is about: the one in whose file it is, or those that it names.
pub(super) fn expressions_of(diagnostic: &Json) -> Vec<usize> {
    let number = |text: &str| text.strip_prefix('e')?.parse().ok();
    match diagnostic["range"]["filename"].as_str() {
        Some(name) => name.strip_suffix(".tf").and_then(number).into_iter().collect(),
        // Values that cannot be written to a plan are reported together, without a position.
        None => diagnostic["detail"]
            .as_str()
            .unwrap_or_default()
            .split('"')
            .filter_map(number)
            .collect(),
    }
}

/// The outcome of an output, by the view of the plan.
pub(super) fn value(view: &Value, name: &str) -> Option<Outcome> {
    let change = value_at_path(view, &["output_changes", name])?;
    let planned = value_at_path(view, &["planned_values", "outputs", name, "type"]);
    let address = Value::string(format!("terraform_data.{name}"));
    let changes =
        value_at_path(view, &["resource_changes"]).map_or(&[] as &[Value], Value::children);
    let resource =
        changes.iter().find(|change| value_at_path(change, &["address"]) == Some(&address));
    Some(Outcome::Value(PlannedValue {
        after: value_at_path(change, &["after"]).cloned(),
        ty: planned.cloned(),
        unknown: marked(value_at_path(change, &["after_unknown"])),
        sensitive: resource.and_then(|change| {
            marked(value_at_path(change, &["change", "after_sensitive", "input"]))
        }),
    }))
}

fn value_at_path<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, name| match value {
        Value::Object(object) => object.get(name),
        _ => None,
    })
}

/// A tree of flags; `None` if none is set, however that is written.
fn marked(flags: Option<&Value>) -> Option<Value> {
    fn any(flags: &Value) -> bool {
        *flags == Value::Bool(true) || flags.children().iter().any(any)
    }
    flags.filter(|flags| any(flags)).cloned()
}
