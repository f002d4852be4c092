//! Schemas and values for the tests of the rules, written as text.

use formwork_value::codec::json;
use formwork_value::schema::{
    Attribute, AttributeKind, Block, NestedAttributes, NestedBlock, Nesting, Role, SchemaDocs,
};
use formwork_value::{Plain, Type, Value};

use super::answer::{AnswerToCheck, Call, TypeSchemas};
use super::check::check_answer;
use super::{Rule, Violation};
use crate::Payload;

/// The rules that answers broke, with a rule that they should have broken or kept.
pub(super) struct Case {
    pub(super) rule: Rule,
    pub(super) broken: Vec<Violation>,
    pub(super) kept: Vec<Violation>,
}

/// An attribute that holds text.
pub(super) fn text_attribute(role: Role) -> Attribute {
    Attribute::new(Type::String, role)
}

/// An attribute of described attributes.
pub(super) fn nested_attribute(
    nesting: Nesting,
    role: Role,
    attributes: Vec<(&str, Attribute)>,
) -> Attribute {
    let attributes = attributes.into_iter().map(|(name, attr)| (name.into(), attr)).collect();
    let kind = AttributeKind::Nested(NestedAttributes { attributes, nesting });
    Attribute { kind, ..text_attribute(role) }
}

/// A block with attributes only.
pub(super) fn attributes_block(attributes: Vec<(&str, Attribute)>) -> Block {
    let attributes = attributes.into_iter().map(|(name, attr)| (name.into(), attr)).collect();
    Block { attributes, ..Block::default() }
}

/// The block with one more nested block type.
pub(super) fn with_nested_block(
    mut outer: Block,
    name: &str,
    nesting: Nesting,
    inner: Block,
) -> Block {
    let nested = NestedBlock { nesting, block: inner, min_items: 0, max_items: 0, computed: false };
    outer.blocks.insert(name.into(), nested);
    outer.docs = SchemaDocs::default();
    outer
}

/// Required `name`, optional `note`, computed `id`, and `size`, which either may set.
pub(super) fn attributes_of_each_role() -> Vec<(&'static str, Attribute)> {
    vec![
        ("name", text_attribute(Role::Required)),
        ("note", text_attribute(Role::Optional)),
        ("id", text_attribute(Role::Computed)),
        ("size", text_attribute(Role::OptionalComputed)),
    ]
}

/// The value of a block that JSON text describes: missing attributes are null, missing blocks are
/// empty, and the string `?` is unknown.
pub(super) fn block_value(block: &Block, text: &str) -> Plain {
    let filled = block.coerce(block_value_missing_blocks_null(block, text).value()).unwrap();
    Plain::try_from(filled).unwrap()
}

/// As [`block_value`], but blocks that are missing are null.
pub(super) fn block_value_missing_blocks_null(block: &Block, text: &str) -> Plain {
    let value = json::decode(text.as_bytes(), &block.implied_type()).unwrap();
    Plain::try_from(question_marks_to_unknown(&value)).unwrap()
}

fn question_marks_to_unknown(value: &Value) -> Value {
    match value {
        Value::String(text) if text.as_str() == "?" => Value::unknown(Type::String),
        _ => value.with_children(value.children().iter().map(question_marks_to_unknown).collect()),
    }
}

/// The value with one attribute unknown as a whole.
pub(super) fn with_unknown_attribute(value: &Plain, name: &str) -> Plain {
    let path = formwork_value::Path::root().attribute(name);
    let changed = value.value().replace_at(&path, |part| Value::unknown(part.ty())).unwrap();
    Plain::try_from(changed).unwrap()
}

/// A value as JSON text without null and empty parts, and with `?` for unknown ones.
pub(super) fn compact_notation(value: &Plain) -> String {
    fn to_notation(value: &Value) -> Option<String> {
        let empty = value.children().is_empty();
        match value {
            Value::Null(_) => None,
            Value::Unknown(_) => Some("?".into()),
            Value::List(_) | Value::Set(_) | Value::Tuple(_) => {
                let item = |item| to_notation(item).unwrap_or_else(|| "null".into());
                let items: Vec<String> = value.children().iter().map(item).collect();
                (!empty).then(|| format!("[{}]", items.join(" ")))
            }
            Value::Map(_) | Value::Object(_) => {
                let entries: Vec<String> = super::inspect_values::map_elements_by_key(value)
                    .filter_map(|(key, part)| Some(format!("{key}:{}", to_notation(part)?)))
                    .collect();
                Some(format!("{{{}}}", entries.join(" ")))
            }
            _ => Some(super::inspect_values::display_value(value).replace('"', "")),
        }
    }
    to_notation(value.value()).unwrap_or_else(|| "null".into())
}

/// Findings as lines.
pub(super) fn violation_lines(violations: &[Violation]) -> Vec<String> {
    violations.iter().map(Violation::to_string).collect()
}

/// The type of identities with one attribute.
pub(super) fn identity_type() -> Type {
    Type::object([("id", Type::String)])
}

/// An identity of that type.
pub(super) fn identity_of(id: Value) -> Payload {
    let identity = Value::object([("id", id)]).split_marks().0;
    Payload::Value(identity, identity_type())
}

/// An identity that is of no type.
pub(super) fn unreadable_identity() -> Payload {
    // The one byte that MessagePack never uses.
    Payload::Msgpack(b"\xc1".to_vec().into())
}

/// Judges an answer with nothing but an identity. `ty` is that of the identities of its resource type.
pub(super) fn judge_identity(identity: &Payload, ty: Option<&Type>) -> Vec<Violation> {
    let object = Block::default();
    let answer = AnswerToCheck::for_call(Call::Any).with_answered_identity(Some(identity));
    check_answer(&answer, &TypeSchemas { object: &object, identity: ty })
}
