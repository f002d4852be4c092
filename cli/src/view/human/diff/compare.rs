//! Comparison of values by their types and nested attributes.

use std::collections::{BTreeMap, BTreeSet};

use formwork_lang::stack::with_stack;
use formwork_value::schema::{Attribute, AttributeKind, Nesting};
use formwork_value::{Str, Type};

use super::change::{Change, Unknown};
use super::node::{Form, Node, Parts, Sides};
use super::sequence::{set_pairs, slice_pairs};
use super::{Sign, free};

/// Compares the values of an attribute.
pub(super) fn attribute<'v>(change: Change<'v>, attribute: &'v Attribute) -> Node<'v> {
    match &attribute.kind {
        AttributeKind::Plain(ty) => by_type(change, ty),
        AttributeKind::Nested(nested) => {
            nested_attributes(change, (nested.nesting, &nested.attributes))
        }
    }
}

/// Compares values of a type.
pub(super) fn by_type<'v>(change: Change<'v>, ty: &Type) -> Node<'v> {
    with_stack(|| compare_type(change, ty))
}

fn compare_type<'v>(change: Change<'v>, ty: &Type) -> Node<'v> {
    let change = change.normalized();
    if let Some(node) = if_sensitive(&change, |inner| by_type(inner, ty)) {
        return node;
    }
    if let Some(node) = if_unknown(&change, Unknown::Never, |before| by_type(before, ty)) {
        return node;
    }
    let sign = change.outer_sign();
    match ty {
        Type::Dynamic => free::compare(&change),
        Type::Bool | Type::Number | Type::String => {
            let (before, after) = (change.before.content(), change.after.content());
            Node { sign: change.sign(), ..node(&change, Form::Scalar(Sides { before, after })) }
        }
        Type::Object(object) => {
            let attributes = named_parts(&change, |name, part| {
                object.attributes.get(name).map(|ty| by_type(part, ty))
            });
            with_parts(&change, sign, Form::Object { attributes, nested: false })
        }
        Type::Map(element) => {
            let elements = keys(&change).map(|key| (key, by_type(change.member(key), element)));
            let elements = elements.collect();
            with_parts(&change, map_sign(&change), Form::Map { elements, nested: false })
        }
        Type::List(element) => {
            let is_object = matches!(**element, Type::Object(_));
            let pairs = slice_pairs(&change, |_| is_object).into_iter();
            let elements = pairs.map(|(before, after)| change.element(before, after));
            let elements = elements.map(|part| by_type(part, element)).collect();
            with_parts(&change, sign, Form::List { elements, context: true })
        }
        Type::Tuple(types) => {
            let elements = types.iter().enumerate();
            let elements = elements.map(|(at, ty)| by_type(change.element(at, at), ty)).collect();
            with_parts(&change, sign, Form::List { elements, context: true })
        }
        Type::Set(element) => {
            let pairs = set_pairs(&change).into_iter();
            let elements = pairs.map(|(before, after)| change.element(before, after));
            let elements = elements.map(|part| by_type(part, element)).collect();
            with_parts(&change, sign, Form::Set { elements, nested: false })
        }
    }
}

/// Attributes in a container.
type Container<'v> = (Nesting, &'v BTreeMap<Str, Attribute>);

fn nested_attributes<'v>(change: Change<'v>, of: Container<'v>) -> Node<'v> {
    let (nesting, attributes) = of;
    if let Some(node) = if_sensitive(&change, |inner| nested_attributes(inner, of)) {
        return node;
    }
    let unknown = Unknown::Members(attributes);
    if let Some(node) = if_unknown(&change, unknown, |before| nested_attributes(before, of)) {
        return node;
    }
    let sign = change.outer_sign();
    let single = |part: Change<'v>| nested_attributes(part, (Nesting::Single, attributes));
    match nesting {
        Nesting::Single | Nesting::Group => nested_object(&change, attributes),
        Nesting::Map => {
            let elements = known_keys(&change).map(|key| (key, single(change.member(key))));
            let elements = elements.collect();
            with_parts(&change, map_sign(&change), Form::Map { elements, nested: true })
        }
        Nesting::List => {
            let len = change.before.elements().len().max(change.after.elements().len());
            let elements = (0..len).map(|at| single(change.element(at, at))).collect();
            with_parts(&change, sign, Form::List { elements, context: false })
        }
        Nesting::Set => {
            let pairs = set_pairs(&change).into_iter();
            let elements = pairs.map(|(before, after)| single(change.element(before, after)));
            let elements = elements.collect();
            with_parts(&change, sign, Form::Set { elements, nested: true })
        }
    }
}

fn nested_object<'v>(change: &Change<'v>, attributes: &'v BTreeMap<Str, Attribute>) -> Node<'v> {
    let mut parts = attribute_parts(change, attributes);
    let sign = change.outer_sign().with_parts(parts.iter().map(|(_, part)| part));
    let hidden = attributes.iter().filter(|(_, attribute)| attribute.write_only);
    parts.extend(hidden.map(|(name, _)| (name, write_only(&change.attribute(name), sign))));
    parts.sort_by_key(|(name, _)| *name);
    Node { sign, ..node(change, Form::Object { attributes: parts, nested: true }) }
}

/// The attributes of an object or block that have a value before or after.
pub(super) fn attribute_parts<'v>(
    change: &Change<'v>,
    attributes: &'v BTreeMap<Str, Attribute>,
) -> Parts<'v> {
    let stored = attributes.iter().filter(|(_, attribute)| !attribute.write_only);
    let parts = stored.filter_map(|(name, schema)| {
        let part = change.attribute(name);
        let is_empty = part.is_empty();
        let node = attribute(part, schema);
        (node.sign != Sign::Keep || !is_empty).then_some((name, node))
    });
    parts.collect()
}

/// An attribute that is not stored. It changes as its owner does, unless that is updated.
pub(super) fn write_only<'v>(change: &Change<'v>, owner: Sign) -> Node<'v> {
    let sensitive = change.before.sensitive || change.after.sensitive;
    let sign = if owner == Sign::Change { Sign::Keep } else { owner };
    Node { sign, ..node(change, Form::WriteOnly { sensitive }) }
}

/// The members of an object that have a value before or after.
fn named_parts<'v>(
    change: &Change<'v>,
    compare: impl Fn(&str, Change<'v>) -> Option<Node<'v>>,
) -> Parts<'v> {
    let parts = keys(change).filter_map(|name| {
        let part = change.attribute(name);
        let is_empty = part.is_empty();
        let node = compare(name, part)?;
        (node.sign != Sign::Keep || !is_empty).then_some((name, node))
    });
    parts.collect()
}

/// The names of all members before and after, sorted.
pub(super) fn keys<'v>(change: &Change<'v>) -> impl Iterator<Item = &'v Str> + use<'v> {
    let keys: BTreeSet<&Str> = change.before.names().chain(change.after.names()).collect();
    keys.into_iter()
}

/// The names of the members that are known before or after. As in Terraform, a nested object that is
/// unknown as a whole is not shown.
pub(super) fn known_keys<'v>(change: &Change<'v>) -> impl Iterator<Item = &'v Str> + use<'v> {
    let change = change.clone();
    keys(&change).filter(move |key| {
        let part = change.member(key);
        part.before.explicit || part.after.explicit
    })
}

/// The change of a map, before its elements are compared.
pub(super) fn map_sign(change: &Change<'_>) -> Sign {
    match (Change::has_members(change.before), Change::has_members(change.after)) {
        (true, false) => Sign::Remove,
        (false, true) => Sign::Add,
        _ => Sign::Keep,
    }
}

/// The node of a value that must not be shown before or after.
pub(super) fn if_sensitive<'v>(
    change: &Change<'v>,
    compare: impl FnOnce(Change<'v>) -> Node<'v>,
) -> Option<Node<'v>> {
    let (before, after) = (change.before.sensitive, change.after.sensitive);
    if !before && !after {
        return None;
    }
    let content = compare(change.without_marks());
    let explicit = change.before.explicit || change.after.explicit;
    let is_absent = change.is_empty() && !explicit;
    let sign = match content.sign {
        Sign::Keep if before != after && !is_absent => Sign::Change,
        sign => sign,
    };
    let form = Form::Sensitive { inner: content.sign, before, after };
    Some(Node { sign, ..node(change, form) })
}

/// The node of a value that is unknown after.
pub(super) fn if_unknown<'v>(
    change: &Change<'v>,
    unknown: Unknown<'v>,
    compare: impl FnOnce(Change<'v>) -> Node<'v>,
) -> Option<Node<'v>> {
    if !change.is_unknown() {
        return None;
    }
    let mut change = change.clone();
    change.after.explicit = true;
    let was_there = change.before.content().is_some();
    let before = was_there.then(|| Box::new(compare(change.removal(unknown))));
    Some(Node { sign: change.sign(), ..node(&change, Form::Unknown(before)) })
}

/// A node whose change is that of its parts.
pub(super) fn with_parts<'v>(change: &Change<'v>, sign: Sign, form: Form<'v>) -> Node<'v> {
    let sign = match &form {
        Form::List { elements, .. } | Form::Set { elements, .. } => sign.with_parts(elements),
        Form::Map { elements: parts, .. } | Form::Object { attributes: parts, .. } => {
            sign.with_parts(parts.iter().map(|(_, part)| part))
        }
        _ => sign,
    };
    Node { sign, ..node(change, form) }
}

/// A node whose change is not yet determined.
fn node<'v>(change: &Change<'v>, form: Form<'v>) -> Node<'v> {
    Node { form, sign: Sign::Keep, forces: change.forces() }
}
