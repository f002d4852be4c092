//! Says what the names in a failing expression stand for, so that a message shows the cause. Reports
//! nothing itself.

use formwork_value::diag::Mentioned;
use formwork_value::{Diagnostics, Marks, Type, Value};

use super::{Frames, access, lookup};
use crate::refs::{self, Traversal, TraversalStep};
use crate::scope::{Scope, ScopeStep};
use crate::syntax::Expr;

/// How many names are explained at most.
const MAX_MENTIONED: usize = 12;

/// Describes the values of the names mentioned in an expression, sorted by name.
///
/// A name without steps is not described: it is one of a `for`, or stands for a whole family. Where a
/// step leads nowhere, what stands before it is described. Nothing is said of sensitive values, nor
/// of those whose type is not known.
pub(super) fn mentioned(expr: &Expr, frames: Frames<'_>, scope: &dyn Scope) -> Vec<Mentioned> {
    let mut list: Vec<Mentioned> = refs::of_expr(expr)
        .into_iter()
        .filter_map(|traversal| {
            let (n_steps, value) = longest_value(&traversal, frames, scope)?;
            Some(Mentioned {
                traversal: written(&traversal, n_steps),
                statement: statement(&value)?,
            })
        })
        .collect();
    list.sort_by(|a, b| a.traversal.cmp(&b.traversal));
    list.dedup();
    list.truncate(MAX_MENTIONED);
    list
}

/// The value at the end of a traversal, or of as much of it as has one.
fn longest_value(
    traversal: &Traversal,
    frames: Frames<'_>,
    scope: &dyn Scope,
) -> Option<(usize, Value)> {
    let steps: Vec<ScopeStep> = traversal.steps.iter().map_while(scope_step).collect();
    (1..=steps.len())
        .rev()
        .find_map(|n| Some((n, value_at(traversal, steps.get(..n)?, frames, scope)?)))
}

fn value_at(
    traversal: &Traversal,
    steps: &[ScopeStep],
    frames: Frames<'_>,
    scope: &dyn Scope,
) -> Option<Value> {
    let (value, taken) = match lookup(frames, &traversal.root.name) {
        Some(value) => (value.clone(), 0),
        None => scope.resolve(&mut Diagnostics::new(), &traversal.root, steps).ok()?,
    };
    steps.get(taken..)?.iter().try_fold(value, |value, step| match step {
        ScopeStep::Attribute(name) => access::attribute(&value, &name.name).ok(),
        ScopeStep::Index(key, _) => access::index(&value, key).ok(),
    })
}

fn scope_step(step: &TraversalStep) -> Option<ScopeStep> {
    match step {
        TraversalStep::Attribute(name) => Some(ScopeStep::Attribute(name.clone())),
        TraversalStep::Key(key, span) => Some(ScopeStep::Index(Value::String(key.clone()), *span)),
        TraversalStep::Index(at, span) => Some(ScopeStep::Index(Value::Number(at.clone()), *span)),
        TraversalStep::Splat(_) => None,
    }
}

fn written(traversal: &Traversal, n_steps: usize) -> String {
    let mut text = traversal.root.name.to_string();
    for step in traversal.steps.iter().take(n_steps) {
        match step {
            TraversalStep::Attribute(name) => text.push_str(&format!(".{}", name.name)),
            TraversalStep::Key(key, _) => {
                text.push_str(&format!("[{}]", crate::print::quoted(key)));
            }
            TraversalStep::Index(at, _) => text.push_str(&format!("[{at}]")),
            TraversalStep::Splat(_) => text.push_str("[*]"),
        }
    }
    text
}

/// Describes a value in a few words; `None` where nothing may or can be said.
fn statement(value: &Value) -> Option<String> {
    if value.marks().contains(Marks::SENSITIVE) {
        return None;
    }
    let ty = value.ty();
    Some(match value.peek() {
        Value::Unknown(_) if ty == Type::Dynamic => return None,
        Value::Unknown(_) => format!("is a {}", ty.friendly_name()),
        known => format!("is {}", in_short(known, &ty)),
    })
}

fn in_short(value: &Value, ty: &Type) -> String {
    match value {
        Value::Null(_) => "null".into(),
        Value::Bool(bool) => bool.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => crate::print::quoted(text),
        Value::Object(object) => match &**object.names() {
            [] => "object with no attributes".into(),
            [name] => format!("object with 1 attribute {:?}", name.as_str()),
            names => format!("object with {} attributes", names.len()),
        },
        _ => match value.children().len() {
            0 => format!("empty {}", ty.friendly_name()),
            1 => format!("{} with 1 element", ty.friendly_name()),
            n => format!("{} with {n} elements", ty.friendly_name()),
        },
    }
}
