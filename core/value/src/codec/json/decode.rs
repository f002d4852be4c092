//! Decodes JSON trees to values: by a type, or by the structure of the tree.

use super::parse::{JsonMember, JsonNode, JsonNodeKind};
use super::{DecodeError, ExtraAttributes, Step, Type, Value, type_json};
use crate::ty::ObjectType;
use crate::value::{Map, Object, Tuple};
use crate::{Number, Str};
use std::sync::Arc;

/// Decodes parts of one document by type.
pub(super) struct TypedDecoder {
    extra: ExtraAttributes,
}

impl TypedDecoder {
    pub(super) fn new(extra: ExtraAttributes) -> Self {
        Self { extra }
    }

    pub(super) fn decode_typed(
        &mut self,
        node: &JsonNode<'_>,
        ty: &Type,
    ) -> Result<Value, DecodeError> {
        match (&node.kind, ty) {
            // A bare null is a null of the type, even if the type is open.
            (JsonNodeKind::Null, _) => Ok(Value::null(ty.clone())),
            (_, Type::Dynamic) => self.decode_dynamic(node),
            (_, Type::Bool) => decode_bool(&node.kind),
            (_, Type::Number) => decode_number(&node.kind),
            (_, Type::String) => decode_string(&node.kind),
            (JsonNodeKind::Array(items), Type::List(element)) => self.decode_list(items, element),
            (JsonNodeKind::Array(items), Type::Set(element)) => self.decode_set(items, element),
            (JsonNodeKind::Array(items), Type::Tuple(elements)) => {
                self.decode_tuple(items, elements)
            }
            (JsonNodeKind::Object(members), Type::Map(element)) => {
                self.decode_map(members, element)
            }
            (JsonNodeKind::Object(members), Type::Object(shape)) => {
                self.decode_object(members, shape)
            }
            _ => Err(type_required_error(ty)),
        }
    }

    // Plain loops, because chains of iterators would take several times the stack at each level.

    fn decode_list(
        &mut self,
        nodes: &[JsonNode<'_>],
        element: &Type,
    ) -> Result<Value, DecodeError> {
        let mut items = Vec::with_capacity(nodes.len());
        for (at, node) in nodes.iter().enumerate() {
            match self.decode_typed(node, element) {
                Ok(item) => items.push(item),
                Err(error) => return Err(error.prepend_step(Step::Index(at.into()))),
            }
        }
        Ok(Value::list(element.clone(), items))
    }

    fn decode_set(&mut self, nodes: &[JsonNode<'_>], element: &Type) -> Result<Value, DecodeError> {
        let mut items = Vec::with_capacity(nodes.len());
        for node in nodes {
            // An element of a set has no index, so the path of an error ends at the set.
            items.push(self.decode_typed(node, element)?);
        }
        Ok(Value::set(element.clone(), items))
    }

    fn decode_tuple(
        &mut self,
        nodes: &[JsonNode<'_>],
        elements: &[Type],
    ) -> Result<Value, DecodeError> {
        if nodes.len() != elements.len() {
            let wanted = elements.len();
            return Err(DecodeError::new(format!("a tuple of length {wanted} is required")));
        }
        let mut items = Vec::with_capacity(nodes.len());
        for (at, (node, ty)) in nodes.iter().zip(elements).enumerate() {
            match self.decode_typed(node, ty) {
                Ok(item) => items.push(item),
                Err(error) => return Err(error.prepend_step(Step::Index(at.into()))),
            }
        }
        Ok(Value::Tuple(Tuple::new(items)))
    }

    fn decode_map(
        &mut self,
        members: &[JsonMember<'_>],
        element: &Type,
    ) -> Result<Value, DecodeError> {
        let mut pairs = Vec::with_capacity(members.len());
        for member in members {
            let key = Str::new(&member.name);
            match self.decode_typed(&member.value, element) {
                Ok(item) => pairs.push((key, item)),
                Err(error) => return Err(error.prepend_step(Step::Key(key))),
            }
        }
        Ok(Value::Map(Map::new(element.clone(), pairs)))
    }

    fn decode_object(
        &mut self,
        members: &[JsonMember<'_>],
        shape: &ObjectType,
    ) -> Result<Value, DecodeError> {
        let names = shape.names();
        let mut items: Vec<Option<Value>> = vec![None; names.len()];
        for (expected, member) in members.iter().enumerate() {
            let Some(at) = self.find_attribute_position(&names, expected, &member.name)? else {
                continue;
            };
            match self.decode_typed(&member.value, &shape.attributes[&names[at]]) {
                Ok(item) => items[at] = Some(item),
                Err(error) => return Err(error.prepend_step(Step::Attribute(names[at].clone()))),
            }
        }
        Ok(object_with_nulls(names, items, shape))
    }

    /// Returns the index of an attribute among `names`, or `None` if it is ignored. Writers sort names,
    /// so the attribute is nearly always at the expected index.
    fn find_attribute_position(
        &self,
        names: &[Str],
        expected: usize,
        name: &str,
    ) -> Result<Option<usize>, DecodeError> {
        if names.get(expected).is_some_and(|expected| expected.as_str() == name) {
            return Ok(Some(expected));
        }
        match (names.binary_search(&Str::new(name)), self.extra) {
            (Ok(at), _) => Ok(Some(at)),
            (Err(_), ExtraAttributes::Drop) => Ok(None),
            (Err(_), ExtraAttributes::Refuse) => {
                Err(DecodeError::new(format!("unsupported attribute {name:?}")))
            }
        }
    }

    /// Decodes a value that is wrapped with its type.
    fn decode_dynamic(&mut self, node: &JsonNode<'_>) -> Result<Value, DecodeError> {
        let (value, ty) = split_typed_wrapper(node)?;
        self.decode_typed(value, &ty)
    }
}

/// Returns the object with null for every missing attribute.
fn object_with_nulls(names: Arc<[Str]>, items: Vec<Option<Value>>, shape: &ObjectType) -> Value {
    let filled = items.into_iter().zip(shape.attributes.values());
    let items = filled.map(|(item, ty)| item.unwrap_or_else(|| Value::null(ty.clone())));
    Value::Object(Object::with_names(names, items.collect()))
}

/// The value and the type of a wrapped value.
fn split_typed_wrapper<'n, 't>(
    node: &'n JsonNode<'t>,
) -> Result<(&'n JsonNode<'t>, Type), DecodeError> {
    let invalid = |reason: &str| {
        DecodeError::new(format!("a dynamically typed value must include its type: {reason}"))
    };
    let members = node.as_object().ok_or_else(|| invalid("an object is required"))?;
    if let Some(other) = members.iter().find(|member| !["value", "type"].contains(&&*member.name)) {
        return Err(invalid(&format!("unsupported key {:?}", other.name)));
    }
    // The type is read first, independent of the order, because the value cannot be decoded without it.
    let ty = node.find_member("type").ok_or_else(|| invalid("the key \"type\" is missing"))?;
    let value = node.find_member("value").ok_or_else(|| invalid("the key \"value\" is missing"))?;
    Ok((value, type_json::decode_node(ty)?))
}

fn type_required_error(ty: &Type) -> DecodeError {
    DecodeError::new(format!("{} is required", super::super::required_type_name(ty)))
}

fn decode_bool(kind: &JsonNodeKind<'_>) -> Result<Value, DecodeError> {
    match kind {
        JsonNodeKind::Bool(truth) => Ok(Value::Bool(*truth)),
        JsonNodeKind::String(text) => match &**text {
            // cty converts primitives while it reads, so strings are also accepted as bools and numbers.
            "true" | "1" => Ok(Value::Bool(true)),
            "false" | "0" => Ok(Value::Bool(false)),
            _ => Err(DecodeError::new("a bool is required")),
        },
        _ => Err(DecodeError::new("a bool is required")),
    }
}

fn decode_number(kind: &JsonNodeKind<'_>) -> Result<Value, DecodeError> {
    let text = match kind {
        JsonNodeKind::Number(text) => text,
        JsonNodeKind::String(text) => &**text,
        _ => "",
    };
    let number = Number::parse(text).ok_or_else(|| DecodeError::new("a number is required"))?;
    Ok(Value::Number(number))
}

fn decode_string(kind: &JsonNodeKind<'_>) -> Result<Value, DecodeError> {
    match kind {
        JsonNodeKind::String(text) => Ok(Value::string(&**text)),
        JsonNodeKind::Number(text) => Ok(Value::string(*text)),
        JsonNodeKind::Bool(truth) => Ok(Value::string(if *truth { "true" } else { "false" })),
        _ => Err(DecodeError::new("a string is required")),
    }
}

/// Decodes a tree to a value of the corresponding types.
pub(super) fn decode_untyped_value(node: &JsonNode<'_>) -> Result<Value, DecodeError> {
    match &node.kind {
        JsonNodeKind::Null => Ok(Value::null(Type::Dynamic)),
        JsonNodeKind::Bool(truth) => Ok(Value::Bool(*truth)),
        JsonNodeKind::Number(_) => decode_number(&node.kind),
        JsonNodeKind::String(text) => Ok(Value::string(&**text)),
        JsonNodeKind::Array(nodes) => decode_untyped_tuple(nodes),
        JsonNodeKind::Object(members) => decode_untyped_object(members),
    }
}

fn decode_untyped_tuple(nodes: &[JsonNode<'_>]) -> Result<Value, DecodeError> {
    let mut items = Vec::with_capacity(nodes.len());
    for (at, node) in nodes.iter().enumerate() {
        match decode_untyped_value(node) {
            Ok(item) => items.push(item),
            Err(error) => return Err(error.prepend_step(Step::Index(at.into()))),
        }
    }
    Ok(Value::tuple(items))
}

fn decode_untyped_object(members: &[JsonMember<'_>]) -> Result<Value, DecodeError> {
    let mut pairs = Vec::with_capacity(members.len());
    for member in members {
        let name = Str::new(&member.name);
        match decode_untyped_value(&member.value) {
            Ok(item) => pairs.push((name, item)),
            Err(error) => return Err(error.prepend_step(Step::Attribute(name))),
        }
    }
    Ok(Value::Object(Object::new(pairs)))
}
