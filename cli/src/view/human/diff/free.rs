//! Comparison of values that have no type but their own, as the JSON that they are stored as: maps
//! are objects, sets are lists, and null is a value. As in Terraform, no part of them says that it
//! forces a replacement.

use formwork_lang::stack::with_stack;
use formwork_value::Value;

use super::Sign;
use super::change::{Change, Unknown};
use super::compare::{if_sensitive, if_unknown, keys, map_sign, with_parts};
use super::content::{is_keyed, is_sequence, same};
use super::node::{Form, Node, Sides};
use super::sequence::slice_pairs;

/// A type of JSON.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    fn of(value: Option<&Value>) -> Self {
        match value {
            Some(Value::Bool(_)) => Self::Bool,
            Some(Value::Number(_)) => Self::Number,
            Some(Value::String(_)) => Self::String,
            Some(value) if is_keyed(value) => Self::Object,
            Some(value) if is_sequence(value) => Self::Array,
            _ => Self::Null,
        }
    }
}

/// Compares two values.
pub(super) fn compare<'v>(change: &Change<'v>) -> Node<'v> {
    Node { forces: false, ..with_stack(|| compare_kinds(change)) }
}

fn compare_kinds<'v>(change: &Change<'v>) -> Node<'v> {
    if let Some(node) = if_sensitive(change, |inner| compare(&inner)) {
        return node;
    }
    if let Some(node) = if_unknown(change, Unknown::Never, |before| compare(&before)) {
        let was_there = change.before.content().is_some();
        return Node { sign: if was_there { Sign::Change } else { Sign::Add }, ..node };
    }
    let (before, after) = (Kind::of(change.before.content()), Kind::of(change.after.content()));
    let is_gone = after == Kind::Null && !change.after.explicit;
    let is_new = before == Kind::Null && !change.before.explicit;
    if before == after || is_gone || is_new {
        return diff_same_kind(change, if before == Kind::Null { after } else { before });
    }
    let removed = diff_same_kind(&change.removal(Unknown::Never), before);
    let created = diff_same_kind(&change.creation(), after);
    let form = Form::TypeChange(Box::new(removed), Box::new(created));
    Node { form, sign: Sign::Change, forces: false }
}

fn diff_same_kind<'v>(change: &Change<'v>, kind: Kind) -> Node<'v> {
    match kind {
        Kind::Object => {
            let members = keys(change).map(|name| (name, compare(&change.member(name))));
            let form = Form::Object { attributes: members.collect(), nested: false };
            Node { forces: false, ..with_parts(change, map_sign(change), form) }
        }
        Kind::Array => {
            let pairs = slice_pairs(change, is_keyed).into_iter();
            let elements = pairs.map(|(before, after)| compare(&change.element(before, after)));
            let form = Form::List { elements: elements.collect(), context: true };
            Node { forces: false, ..with_parts(change, change.outer_sign(), form) }
        }
        Kind::Null | Kind::Bool | Kind::Number | Kind::String => {
            let (before, after) = (change.before.content(), change.after.content());
            let form = Form::Scalar(Sides { before, after });
            Node { form, sign: scalar_sign(change), forces: false }
        }
    }
}

fn scalar_sign(change: &Change<'_>) -> Sign {
    let (before, after) = (change.before.content(), change.after.content());
    let was_there = before.is_some() || change.before.explicit;
    let is_there = after.is_some() || change.after.explicit;
    match (was_there, is_there) {
        (false, true) => Sign::Add,
        (true, false) => Sign::Remove,
        _ if same(before, after) => Sign::Keep,
        _ => Sign::Change,
    }
}
