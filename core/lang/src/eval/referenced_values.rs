//! Describes the values of the names in a failing expression, so that a message shows the cause. It
//! reports nothing itself. Callers that detect an error in the value of an expression use it too.

use formwork_value::diag::ReferencedValue;
use formwork_value::number::Notation;
use formwork_value::{Diagnostics, Marks, Refinement, Type, Value};

use super::{ForFrames, access, value_bound_by_for};
use crate::refs;
use crate::scope::{Scope, ScopeStep};
use crate::syntax::Expr;
use crate::traversal::{Traversal, TraversalStep};

/// Greatest number of names that are explained.
const MAX_DESCRIBED_NAMES: usize = 100;

/// The cause of a problem. Readers consider any described value as the cause, so secret and unknown
/// values are described only if they are the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCause {
    /// The values themselves.
    Values,
    /// A value is unknown.
    Unknown,
    /// A value is sensitive.
    Sensitive,
    /// A value is ephemeral.
    Ephemeral,
}

/// Describes the values of the references in an expression, for a problem that was found after its
/// evaluation. The result is sorted by name, with each name once.
///
/// A name without steps is not described: it is bound by a `for`, or represents a whole group of
/// objects. If a step has no value, the value before it is described. Secrets are described only as
/// sensitive, and values of unknown type only as unknown, and both only if that is the `cause`.
#[must_use]
pub fn describe_referenced_values(
    expr: &Expr,
    scope: &dyn Scope,
    cause: ErrorCause,
) -> Vec<ReferencedValue> {
    describe_references_in_frames(expr, None, scope, cause)
}

/// Like [`describe_referenced_values`], with the names of enclosing `for`s.
pub(super) fn describe_references_in_frames(
    expr: &Expr,
    frames: ForFrames<'_>,
    scope: &dyn Scope,
    cause: ErrorCause,
) -> Vec<ReferencedValue> {
    let mut list: Vec<ReferencedValue> = refs::traversals_of_expr(expr)
        .into_iter()
        .filter_map(|traversal| {
            let (n_steps, value) = longest_prefix_value(&traversal, frames, scope)?;
            Some(ReferencedValue {
                traversal: traversal_to_string(&traversal, n_steps),
                statement: describe_value(&value, cause)?,
            })
        })
        .collect();
    list.sort_by(|a, b| a.traversal.cmp(&b.traversal));
    list.dedup_by(|a, b| a.traversal == b.traversal);
    list.truncate(MAX_DESCRIBED_NAMES);
    list
}

/// Returns the value of a traversal, or of its longest prefix that has a value.
fn longest_prefix_value(
    traversal: &Traversal,
    frames: ForFrames<'_>,
    scope: &dyn Scope,
) -> Option<(usize, Value)> {
    // A splat has many values, and none of them is the cause.
    let steps: Vec<ScopeStep> = traversal.steps.iter().map_while(to_scope_step).collect();
    (1..=steps.len())
        .rev()
        .find_map(|n| Some((n, value_at_steps(traversal, steps.get(..n)?, frames, scope)?)))
}

fn value_at_steps(
    traversal: &Traversal,
    steps: &[ScopeStep],
    frames: ForFrames<'_>,
    scope: &dyn Scope,
) -> Option<Value> {
    let (value, n_resolved) = match value_bound_by_for(frames, &traversal.root.name) {
        Some(value) => (value.clone(), 0),
        // A name that does not resolve is omitted: the evaluation reported its error.
        None => scope.resolve(&mut Diagnostics::new(), &traversal.root, steps).ok()?,
    };
    steps.get(n_resolved..)?.iter().try_fold(value, |value, step| match step {
        ScopeStep::Attribute(name) => access::access_attribute(&value, &name.name).ok(),
        ScopeStep::Index(key, _) => access::access_index(&value, key).ok(),
    })
}

fn to_scope_step(step: &TraversalStep) -> Option<ScopeStep> {
    match step {
        TraversalStep::Attribute(name) => Some(ScopeStep::Attribute(name.clone())),
        TraversalStep::Key(key, span) => Some(ScopeStep::Index(Value::String(key.clone()), *span)),
        TraversalStep::Index(at, span) => Some(ScopeStep::Index(Value::Number(at.clone()), *span)),
        TraversalStep::Splat(_) => None,
    }
}

fn traversal_to_string(traversal: &Traversal, n_steps: usize) -> String {
    let mut text = traversal.root.name.to_string();
    for step in traversal.steps.iter().take(n_steps) {
        match step {
            TraversalStep::Attribute(name) => text.push_str(&format!(".{}", name.name)),
            TraversalStep::Key(key, _) => {
                text.push_str(&format!("[{}]", crate::print_value::quote_like_go(key)));
            }
            TraversalStep::Index(at, _) => text.push_str(&format!("[{at}]")),
            TraversalStep::Splat(_) => text.push_str("[*]"),
        }
    }
    text
}

/// Describes a value briefly. Returns `None` if nothing may or can be printed.
fn describe_value(value: &Value, cause: ErrorCause) -> Option<String> {
    let marks = value.marks();
    if marks.contains(Marks::SENSITIVE) {
        return (cause == ErrorCause::Sensitive).then(|| "has a sensitive value".to_owned());
    }
    if marks.contains(Marks::EPHEMERAL) {
        return (cause == ErrorCause::Ephemeral).then(|| "has an ephemeral value".to_owned());
    }
    let ty = value.ty();
    match (value.without_own_marks(), cause) {
        (Value::Unknown(_), ErrorCause::Unknown) if ty == Type::Dynamic => {
            Some("will be known only after apply".to_owned())
        }
        (Value::Unknown(_), _) if ty == Type::Dynamic => None,
        (Value::Unknown(unknown), ErrorCause::Unknown) => Some(format!(
            "is a {}{}, known only after apply",
            ty.friendly_name(),
            describe_unknown_length(unknown.refinement())
        )),
        (Value::Unknown(_), _) => Some(format!("is a {}", ty.friendly_name())),
        (known, _) => Some(format!("is {}", print_shortened_value(known, &ty))),
    }
}

/// The greatest length that is printed.
const MAX_DESCRIBED_COLLECTION_LENGTH: u64 = 1024;

/// Describes the length of an unknown collection.
fn describe_unknown_length(about: &Refinement) -> String {
    let max = about.max_length.filter(|max| *max <= MAX_DESCRIBED_COLLECTION_LENGTH);
    match (about.min_length, max) {
        (min, Some(max)) if min == max => format!(" of length {min}"),
        (0, None) => String::new(),
        (0, Some(max)) => format!(" with up to {max} elements"),
        (min, None) => format!(" with at least {min} elements"),
        (min, Some(max)) => format!(" with between {min} and {max} elements"),
    }
}

fn print_shortened_value(value: &Value, ty: &Type) -> String {
    match value {
        Value::Null(_) => "null".into(),
        Value::Bool(bool) => bool.to_string(),
        // Terraform shows ten digits in messages.
        Value::Number(number) => number.to_text(Notation::General, Some(10)),
        Value::String(text) => crate::print_value::quote_like_go(text),
        Value::Object(object) => match &**object.names() {
            [] => "object with no attributes".into(),
            [name] => {
                format!("object with 1 attribute {}", crate::print_value::quote_like_go(name))
            }
            names => format!("object with {} attributes", names.len()),
        },
        _ => match value.children().len() {
            0 => format!("empty {}", ty.friendly_name()),
            1 => format!("{} with 1 element", ty.friendly_name()),
            n => format!("{} with {n} elements", ty.friendly_name()),
        },
    }
}
