//! Comparison of values without a schema type, by the JSON that they are stored as: maps are objects, sets
//! are lists, and null is a value. As in Terraform, their parts are not annotated with `forces replacement`.

use formwork_lang::stack::with_stack;
use formwork_value::Value;

use super::ChangeSign;
use super::change::{UnknownAfter, ValueChange};
use super::compare_values::{
    map_sign, member_names, node_with_parts, sensitive_node, unknown_node,
};
use super::element_pairs::list_element_pairs;
use super::node::{DiffNode, NodeForm, ValueSides};
use super::same_content::{is_object_or_map_value, is_same_content, is_sequence};

/// A type of JSON.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JsonKind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl JsonKind {
    fn of(value: Option<&Value>) -> Self {
        match value {
            Some(Value::Bool(_)) => Self::Bool,
            Some(Value::Number(_)) => Self::Number,
            Some(Value::String(_)) => Self::String,
            Some(value) if is_object_or_map_value(value) => Self::Object,
            Some(value) if is_sequence(value) => Self::Array,
            _ => Self::Null,
        }
    }
}

/// Compares two values.
pub(super) fn compare_untyped<'v>(change: &ValueChange<'v>) -> DiffNode<'v> {
    DiffNode { forces: false, ..with_stack(|| compare_kinds(change)) }
}

fn compare_kinds<'v>(change: &ValueChange<'v>) -> DiffNode<'v> {
    if let Some(node) = sensitive_node(change, |inner| compare_untyped(&inner)) {
        return node;
    }
    if let Some(node) = unknown_node(change, UnknownAfter::Never, |before| compare_untyped(&before))
    {
        let was_there = change.before.known_content().is_some();
        return DiffNode {
            sign: if was_there { ChangeSign::Change } else { ChangeSign::Add },
            ..node
        };
    }
    let (before, after) =
        (JsonKind::of(change.before.known_content()), JsonKind::of(change.after.known_content()));
    let is_gone = after == JsonKind::Null && !change.after.explicit;
    let is_new = before == JsonKind::Null && !change.before.explicit;
    if before == after || is_gone || is_new {
        return diff_same_kind(change, if before == JsonKind::Null { after } else { before });
    }
    let removed = diff_same_kind(&change.removal(UnknownAfter::Never), before);
    let created = diff_same_kind(&change.creation(), after);
    let form = NodeForm::TypeChange(Box::new(removed), Box::new(created));
    DiffNode { form, sign: ChangeSign::Change, forces: false }
}

fn diff_same_kind<'v>(change: &ValueChange<'v>, kind: JsonKind) -> DiffNode<'v> {
    match kind {
        JsonKind::Object => {
            let members =
                member_names(change).map(|name| (name, compare_untyped(&change.member(name))));
            let form = NodeForm::Object { attributes: members.collect(), nested: false };
            DiffNode { forces: false, ..node_with_parts(change, map_sign(change), form) }
        }
        JsonKind::Array => {
            let pairs = list_element_pairs(change, is_object_or_map_value).into_iter();
            let elements =
                pairs.map(|(before, after)| compare_untyped(&change.element(before, after)));
            let form = NodeForm::List { elements: elements.collect(), context: true };
            DiffNode { forces: false, ..node_with_parts(change, change.outer_sign(), form) }
        }
        JsonKind::Null | JsonKind::Bool | JsonKind::Number | JsonKind::String => {
            let (before, after) = (change.before.known_content(), change.after.known_content());
            let form = NodeForm::Scalar(ValueSides { before, after });
            DiffNode { form, sign: scalar_sign(change), forces: false }
        }
    }
}

fn scalar_sign(change: &ValueChange<'_>) -> ChangeSign {
    let (before, after) = (change.before.known_content(), change.after.known_content());
    let was_there = before.is_some() || change.before.explicit;
    let is_there = after.is_some() || change.after.explicit;
    match (was_there, is_there) {
        (false, true) => ChangeSign::Add,
        (true, false) => ChangeSign::Remove,
        _ if is_same_content(before, after) => ChangeSign::Keep,
        _ => ChangeSign::Change,
    }
}
