//! Schemas with nested parts, their planned values, and their results.

use std::collections::BTreeMap;

use formwork_sdk::schema::Role;
use formwork_value::schema::{
    Attribute, AttributeKind, Block, NestedAttributes, NestedBlock, Nesting,
};
use formwork_value::{Path, Str, Type, Value};

/// An attribute that holds objects.
pub(crate) fn nested(
    nesting: Nesting,
    role: Role,
    attributes: BTreeMap<Str, Attribute>,
) -> Attribute {
    let kind = AttributeKind::Nested(NestedAttributes { attributes, nesting });
    Attribute { kind, ..Attribute::new(Type::Dynamic, role) }
}

/// The attributes of every nested object. Those in a set have no write-only attribute.
pub(crate) fn parts(nesting: Nesting) -> BTreeMap<Str, Attribute> {
    let text = |role| Attribute::new(Type::String, role);
    let mut parts = BTreeMap::from([
        ("text".into(), text(Role::Optional)),
        ("number".into(), Attribute::new(Type::Number, Role::Optional)),
        ("flag".into(), Attribute::new(Type::Bool, Role::Optional)),
        ("texts".into(), Attribute::new(Type::list(Type::String), Role::Optional)),
        ("computed".into(), text(Role::Computed)),
        ("chosen".into(), text(Role::OptionalComputed)),
        ("secret".into(), Attribute { sensitive: true, ..text(Role::Optional) }),
    ]);
    if nesting != Nesting::Set {
        let password = Attribute { write_only: true, ..text(Role::Optional) };
        parts.insert("password".into(), password);
    }
    parts
}

/// The attributes of nested objects that only the provider sets.
pub(crate) fn computed_parts(role: Role) -> BTreeMap<Str, Attribute> {
    BTreeMap::from([
        ("text".into(), Attribute::new(Type::String, role)),
        ("computed".into(), Attribute::new(Type::String, Role::Computed)),
    ])
}

/// A block type.
pub(crate) fn block(nesting: Nesting, min_items: u64, max_items: u64, block: Block) -> NestedBlock {
    NestedBlock { nesting, block, min_items, max_items, computed: false }
}

/// Blocks that are not set are empty, rather than null.
pub(crate) fn with_blocks(block: &Block, value: &Value) -> Value {
    let Value::Object(object) = value else { return value.clone() };
    let empty = block.empty_value();
    Value::object(object.iter().map(|(name, part)| {
        let part = match (block.blocks.get(name), part) {
            (Some(_), Value::Null(_)) => {
                let empty_block = Path::root().attribute(name).find(&empty);
                empty_block.unwrap_or(part).clone()
            }
            (Some(nested), _) => match nested.nesting {
                Nesting::Single | Nesting::Group => with_blocks(&nested.block, part),
                _ => map_objects(part, |part| with_blocks(&nested.block, part)),
            },
            (None, _) => part.clone(),
        };
        (name.clone(), part)
    }))
}

/// Computed values that are not set become unknown.
pub(crate) fn open_block(block: &Block, value: &Value) -> Value {
    let Value::Object(object) = value else { return value.clone() };
    Value::object(object.iter().map(|(name, part)| {
        let part = match (block.attributes.get(name), block.blocks.get(name)) {
            (Some(attribute), _) => open_attribute(attribute, part),
            (None, Some(nested)) => match nested.nesting {
                Nesting::Single | Nesting::Group => open_block(&nested.block, part),
                _ => map_objects(part, |part| open_block(&nested.block, part)),
            },
            (None, None) => part.clone(),
        };
        (name.clone(), part)
    }))
}

fn open_attribute(attribute: &Attribute, value: &Value) -> Value {
    if value.is_null() && attribute.role.is_computed() {
        return Value::unknown(attribute.implied_type());
    }
    let AttributeKind::Nested(nested) = &attribute.kind else { return value.clone() };
    let object = |value: &Value| match value {
        Value::Object(object) => Value::object(object.iter().map(|(name, part)| {
            let attribute = nested.attributes.get(name);
            (
                name.clone(),
                attribute.map_or_else(|| part.clone(), |child| open_attribute(child, part)),
            )
        })),
        _ => value.clone(),
    };
    match nested.nesting {
        Nesting::Single | Nesting::Group => object(value),
        _ => map_objects(value, object),
    }
}

fn map_objects(value: &Value, change: impl Fn(&Value) -> Value) -> Value {
    value.with_children(value.children().iter().map(change).collect())
}

/// Unknown values become known, the same each time and never null.
pub(crate) fn filled(value: &Value) -> Value {
    match value {
        Value::Unknown(unknown) => known_value(unknown.ty()),
        _ => map_objects(value, filled),
    }
}

fn known_value(ty: &Type) -> Value {
    match ty {
        Type::Bool => Value::Bool(true),
        Type::Number => Value::int(1),
        Type::List(element) => Value::list((**element).clone(), vec![known_value(element)]),
        Type::Set(element) => Value::set((**element).clone(), vec![known_value(element)]),
        Type::Map(element) => Value::map((**element).clone(), [("key", known_value(element))]),
        Type::Object(object) => Value::object(
            object.attributes.iter().map(|(name, ty)| (name.clone(), known_value(ty))),
        ),
        Type::Tuple(items) => Value::tuple(items.iter().map(known_value).collect()),
        Type::String | Type::Dynamic => Value::string("computed"),
    }
}
