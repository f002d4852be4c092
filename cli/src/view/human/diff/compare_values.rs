//! Comparison of values by their types and nested attributes.

use std::collections::{BTreeMap, BTreeSet};

use formwork_lang::stack::with_stack;
use formwork_value::schema::{Attribute, AttributeKind, Nesting};
use formwork_value::{Str, Type};

use super::change::{UnknownAfter, ValueChange};
use super::element_pairs::{list_element_pairs, set_element_pairs};
use super::node::{DiffNode, NamedNodes, NodeForm, ValueSides};
use super::{ChangeSign, compare_untyped};

/// Compares the values of an attribute.
pub(super) fn compare_attribute<'v>(
    change: ValueChange<'v>,
    attribute: &'v Attribute,
) -> DiffNode<'v> {
    match &attribute.kind {
        AttributeKind::Plain(ty) => compare_values(change, ty),
        AttributeKind::Nested(nested) => {
            compare_nested_attributes(change, nested.nesting, &nested.attributes)
        }
    }
}

/// Compares values of a type.
pub(super) fn compare_values<'v>(change: ValueChange<'v>, ty: &Type) -> DiffNode<'v> {
    with_stack(|| compare_type(change, ty))
}

fn compare_type<'v>(change: ValueChange<'v>, ty: &Type) -> DiffNode<'v> {
    let change = change.normalized();
    if let Some(node) = sensitive_node(&change, |inner| compare_values(inner, ty)) {
        return node;
    }
    if let Some(node) =
        unknown_node(&change, UnknownAfter::Never, |before| compare_values(before, ty))
    {
        return node;
    }
    let sign = change.outer_sign();
    match ty {
        Type::Dynamic => compare_untyped::compare_untyped(&change),
        Type::Bool | Type::Number | Type::String => {
            let (before, after) = (change.before.known_content(), change.after.known_content());
            DiffNode {
                sign: change.sign(),
                ..unsigned_node(&change, NodeForm::Scalar(ValueSides { before, after }))
            }
        }
        Type::Object(object) => {
            let attributes = compare_members(&change, |name, part| {
                object.attributes.get(name).map(|ty| compare_values(part, ty))
            });
            node_with_parts(&change, sign, NodeForm::Object { attributes, nested: false })
        }
        Type::Map(element) => {
            let elements =
                member_names(&change).map(|key| (key, compare_values(change.member(key), element)));
            let elements = elements.collect();
            node_with_parts(&change, map_sign(&change), NodeForm::Map { elements, nested: false })
        }
        Type::List(element) => {
            let is_object = matches!(**element, Type::Object(_));
            let pairs = list_element_pairs(&change, |_| is_object).into_iter();
            let elements = pairs.map(|(before, after)| change.element(before, after));
            let elements = elements.map(|part| compare_values(part, element)).collect();
            node_with_parts(&change, sign, NodeForm::List { elements, context: true })
        }
        Type::Tuple(types) => {
            let elements = types.iter().enumerate();
            let elements = elements
                .map(|(index, ty)| compare_values(change.element(index, index), ty))
                .collect();
            node_with_parts(&change, sign, NodeForm::List { elements, context: true })
        }
        Type::Set(element) => {
            let pairs = set_element_pairs(&change).into_iter();
            let elements = pairs.map(|(before, after)| change.element(before, after));
            let elements = elements.map(|part| compare_values(part, element)).collect();
            node_with_parts(&change, sign, NodeForm::Set { elements, nested: false })
        }
    }
}

/// Compares containers of attributes.
fn compare_nested_attributes<'v>(
    change: ValueChange<'v>,
    nesting: Nesting,
    attributes: &'v BTreeMap<Str, Attribute>,
) -> DiffNode<'v> {
    let same = |inner: ValueChange<'v>| compare_nested_attributes(inner, nesting, attributes);
    if let Some(node) = sensitive_node(&change, same) {
        return node;
    }
    let unknown = UnknownAfter::Members(attributes);
    if let Some(node) = unknown_node(&change, unknown, same) {
        return node;
    }
    let sign = change.outer_sign();
    let single =
        |part: ValueChange<'v>| compare_nested_attributes(part, Nesting::Single, attributes);
    match nesting {
        Nesting::Single | Nesting::Group => compare_nested_object(&change, attributes),
        Nesting::Map => {
            let elements = known_member_names(&change).map(|key| (key, single(change.member(key))));
            let elements = elements.collect();
            node_with_parts(&change, map_sign(&change), NodeForm::Map { elements, nested: true })
        }
        Nesting::List => {
            let len = change.before.elements().len().max(change.after.elements().len());
            let elements = (0..len).map(|index| single(change.element(index, index))).collect();
            node_with_parts(&change, sign, NodeForm::List { elements, context: false })
        }
        Nesting::Set => {
            let pairs = set_element_pairs(&change).into_iter();
            let elements = pairs.map(|(before, after)| single(change.element(before, after)));
            let elements = elements.collect();
            node_with_parts(&change, sign, NodeForm::Set { elements, nested: true })
        }
    }
}

fn compare_nested_object<'v>(
    change: &ValueChange<'v>,
    attributes: &'v BTreeMap<Str, Attribute>,
) -> DiffNode<'v> {
    let mut parts = compare_attributes(change, attributes);
    let sign = change.outer_sign().with_parts(parts.iter().map(|(_, part)| part));
    let hidden = attributes.iter().filter(|(_, attribute)| attribute.write_only);
    parts.extend(hidden.map(|(name, _)| (name, write_only_node(&change.attribute(name), sign))));
    parts.sort_by_key(|(name, _)| *name);
    DiffNode { sign, ..unsigned_node(change, NodeForm::Object { attributes: parts, nested: true }) }
}

/// The attributes of an object or block that have a value before or after.
pub(super) fn compare_attributes<'v>(
    change: &ValueChange<'v>,
    attributes: &'v BTreeMap<Str, Attribute>,
) -> NamedNodes<'v> {
    let stored = attributes.iter().filter(|(_, attribute)| !attribute.write_only);
    let parts = stored.filter_map(|(name, schema)| {
        let part = change.attribute(name);
        let is_empty = part.is_empty();
        let node = compare_attribute(part, schema);
        (node.sign != ChangeSign::Keep || !is_empty).then_some((name, node))
    });
    parts.collect()
}

/// An attribute that is not stored. It has the change of its owner, unless the owner is updated.
pub(super) fn write_only_node<'v>(change: &ValueChange<'v>, owner: ChangeSign) -> DiffNode<'v> {
    let sensitive = change.before.sensitive || change.after.sensitive;
    let sign = if owner == ChangeSign::Change { ChangeSign::Keep } else { owner };
    DiffNode { sign, ..unsigned_node(change, NodeForm::WriteOnly { sensitive }) }
}

/// The members of an object that have a value before or after.
fn compare_members<'v>(
    change: &ValueChange<'v>,
    compare: impl Fn(&str, ValueChange<'v>) -> Option<DiffNode<'v>>,
) -> NamedNodes<'v> {
    let parts = member_names(change).filter_map(|name| {
        let part = change.attribute(name);
        let is_empty = part.is_empty();
        let node = compare(name, part)?;
        (node.sign != ChangeSign::Keep || !is_empty).then_some((name, node))
    });
    parts.collect()
}

/// The names of all members before and after, sorted.
pub(super) fn member_names<'v>(
    change: &ValueChange<'v>,
) -> impl Iterator<Item = &'v Str> + use<'v> {
    let keys: BTreeSet<&Str> = change.before.names().chain(change.after.names()).collect();
    keys.into_iter()
}

/// The names of the members that are known before or after. As in Terraform, a nested object that is
/// unknown as a whole is not shown.
pub(super) fn known_member_names<'v>(
    change: &ValueChange<'v>,
) -> impl Iterator<Item = &'v Str> + use<'v> {
    let change = change.clone();
    member_names(&change).filter(move |key| {
        let part = change.member(key);
        part.before.explicit || part.after.explicit
    })
}

/// The change of a map, before its elements are compared.
pub(super) fn map_sign(change: &ValueChange<'_>) -> ChangeSign {
    match (
        ValueChange::is_object_or_map(change.before),
        ValueChange::is_object_or_map(change.after),
    ) {
        (true, false) => ChangeSign::Remove,
        (false, true) => ChangeSign::Add,
        _ => ChangeSign::Keep,
    }
}

/// The node of a value that must not be shown before or after.
pub(super) fn sensitive_node<'v>(
    change: &ValueChange<'v>,
    compare: impl FnOnce(ValueChange<'v>) -> DiffNode<'v>,
) -> Option<DiffNode<'v>> {
    let (before, after) = (change.before.sensitive, change.after.sensitive);
    if !before && !after {
        return None;
    }
    let content = compare(change.without_marks());
    let explicit = change.before.explicit || change.after.explicit;
    let is_absent = change.is_empty() && !explicit;
    let sign = match content.sign {
        ChangeSign::Keep if before != after && !is_absent => ChangeSign::Change,
        sign => sign,
    };
    let form = NodeForm::Sensitive { inner: content.sign, before, after };
    Some(DiffNode { sign, ..unsigned_node(change, form) })
}

/// The node of a value that is unknown after.
pub(super) fn unknown_node<'v>(
    change: &ValueChange<'v>,
    unknown: UnknownAfter<'v>,
    compare: impl FnOnce(ValueChange<'v>) -> DiffNode<'v>,
) -> Option<DiffNode<'v>> {
    if !change.is_unknown() {
        return None;
    }
    let mut change = change.clone();
    change.after.explicit = true;
    let was_there = change.before.known_content().is_some();
    let before = was_there.then(|| Box::new(compare(change.removal(unknown))));
    Some(DiffNode { sign: change.sign(), ..unsigned_node(&change, NodeForm::Unknown(before)) })
}

/// A node whose change follows from its parts.
pub(super) fn node_with_parts<'v>(
    change: &ValueChange<'v>,
    sign: ChangeSign,
    form: NodeForm<'v>,
) -> DiffNode<'v> {
    let sign = match &form {
        NodeForm::List { elements, .. } | NodeForm::Set { elements, .. } => {
            sign.with_parts(elements)
        }
        NodeForm::Map { elements: parts, .. } | NodeForm::Object { attributes: parts, .. } => {
            sign.with_parts(parts.iter().map(|(_, part)| part))
        }
        _ => sign,
    };
    DiffNode { sign, ..unsigned_node(change, form) }
}

/// A node whose change is not yet determined.
fn unsigned_node<'v>(change: &ValueChange<'v>, form: NodeForm<'v>) -> DiffNode<'v> {
    DiffNode { form, sign: ChangeSign::Keep, forces: change.forces_replacement() }
}
