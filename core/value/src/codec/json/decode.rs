//! Makes values of JSON trees: by a type, or as the tree suggests.

use super::super::shapes::Shapes;
use super::read::{Kind, Member, Node};
use super::{DecodeError, Extra, Step, Type, Value, type_json};
use crate::ty::ObjectType;
use crate::value::{Map, Object, Tuple};
use crate::{Number, Str};
use std::sync::Arc;

/// Reads parts of one text by type.
pub(super) struct Decoder {
    extra: Extra,
    shapes: Shapes,
}

impl Decoder {
    pub(super) fn new(extra: Extra) -> Self {
        Self { extra, shapes: Shapes::default() }
    }

    pub(super) fn typed(&mut self, node: &Node<'_>, ty: &Type) -> Result<Value, DecodeError> {
        match (&node.kind, ty) {
            (Kind::Null, _) => Ok(Value::null(ty.clone())),
            (_, Type::Dynamic) => self.dynamic(node),
            (_, Type::Bool) => bool(&node.kind),
            (_, Type::Number) => number(&node.kind),
            (_, Type::String) => string(&node.kind),
            (Kind::Array(items), Type::List(element)) => {
                let items = items.iter().enumerate().map(|(at, item)| {
                    self.typed(item, element).map_err(|error| error.within(index(at)))
                });
                Ok(Value::list(Type::clone(element), items.collect::<Result<_, _>>()?))
            }
            (Kind::Array(items), Type::Set(element)) => {
                let items = items.iter().map(|item| self.typed(item, element));
                Ok(Value::set(Type::clone(element), items.collect::<Result<_, _>>()?))
            }
            (Kind::Array(items), Type::Tuple(elements)) if items.len() == elements.len() => {
                let items = items.iter().zip(elements.iter()).enumerate();
                let items = items.map(|(at, (item, ty))| {
                    self.typed(item, ty).map_err(|error| error.within(index(at)))
                });
                Ok(Value::Tuple(Tuple::new(items.collect::<Result<_, _>>()?)))
            }
            (Kind::Object(members), Type::Map(element)) => {
                let pairs = members.iter().map(|member| {
                    let key = Str::new(&member.name);
                    match self.typed(&member.value, element) {
                        Ok(value) => Ok((key, value)),
                        Err(error) => Err(error.within(Step::Key(key))),
                    }
                });
                Ok(Value::Map(Map::new(Type::clone(element), pairs.collect::<Result<_, _>>()?)))
            }
            (Kind::Object(members), Type::Object(shape)) => self.object(members, shape),
            (Kind::Array(_), Type::Tuple(elements)) => {
                let wanted = elements.len();
                Err(DecodeError::new(format!("a tuple of length {wanted} is required")))
            }
            _ => Err(DecodeError::new(format!("{} is required", super::super::wanted(ty)))),
        }
    }

    fn object(
        &mut self,
        members: &[Member<'_>],
        shape: &Arc<ObjectType>,
    ) -> Result<Value, DecodeError> {
        let names = self.shapes.names(shape);
        let mut items: Vec<Option<Value>> = vec![None; names.len()];
        for (expected, member) in members.iter().enumerate() {
            // Writers sort, so a name nearly always stands at its own place.
            let at = match names.get(expected) {
                Some(name) if *name == *member.name => Some(expected),
                _ => names.binary_search(&Str::new(&member.name)).ok(),
            };
            let Some(at) = at else {
                match self.extra {
                    Extra::Drop => continue,
                    Extra::Refuse => {
                        let reason = format!("unsupported attribute {:?}", member.name);
                        return Err(DecodeError::new(reason));
                    }
                }
            };
            let value = self
                .typed(&member.value, &shape.attributes[&names[at]])
                .map_err(|error| error.within(Step::Attribute(names[at].clone())))?;
            items[at] = Some(value);
        }
        let filled = items.into_iter().zip(shape.attributes.values());
        let items = filled.map(|(item, ty)| item.unwrap_or_else(|| Value::null(ty.clone())));
        Ok(Value::Object(Object::with_names(names, items.collect())))
    }

    /// Reads a value that is wrapped together with its type.
    fn dynamic(&mut self, node: &Node<'_>) -> Result<Value, DecodeError> {
        let invalid = |reason: &str| {
            DecodeError::new(format!("a value of any type must come with its type: {reason}"))
        };
        let members = node.as_object().ok_or_else(|| invalid("an object is required"))?;
        if let Some(other) =
            members.iter().find(|member| !["value", "type"].contains(&&*member.name))
        {
            return Err(invalid(&format!("unsupported key {:?}", other.name)));
        }
        let ty = node.member("type").ok_or_else(|| invalid("the key \"type\" is missing"))?;
        let value = node.member("value").ok_or_else(|| invalid("the key \"value\" is missing"))?;
        self.typed(value, &type_json::decode_node(ty)?)
    }
}

fn bool(kind: &Kind<'_>) -> Result<Value, DecodeError> {
    match kind {
        Kind::Bool(truth) => Ok(Value::Bool(*truth)),
        Kind::String(text) => match &**text {
            "true" | "1" => Ok(Value::Bool(true)),
            "false" | "0" => Ok(Value::Bool(false)),
            _ => Err(DecodeError::new("a bool is required")),
        },
        _ => Err(DecodeError::new("a bool is required")),
    }
}

fn number(kind: &Kind<'_>) -> Result<Value, DecodeError> {
    let text = match kind {
        Kind::Number(text) => text,
        Kind::String(text) => &**text,
        _ => "",
    };
    let number = Number::parse(text).ok_or_else(|| DecodeError::new("a number is required"))?;
    Ok(Value::Number(number))
}

fn string(kind: &Kind<'_>) -> Result<Value, DecodeError> {
    match kind {
        Kind::String(text) => Ok(Value::string(&**text)),
        Kind::Number(text) => Ok(Value::string(*text)),
        Kind::Bool(truth) => Ok(Value::string(if *truth { "true" } else { "false" })),
        _ => Err(DecodeError::new("a string is required")),
    }
}

/// Reads a tree as the value it most naturally is.
pub(super) fn simple(node: &Node<'_>) -> Result<Value, DecodeError> {
    match &node.kind {
        Kind::Null => Ok(Value::null(Type::Dynamic)),
        Kind::Bool(truth) => Ok(Value::Bool(*truth)),
        Kind::Number(_) => number(&node.kind),
        Kind::String(text) => Ok(Value::string(&**text)),
        Kind::Array(items) => {
            let items = items
                .iter()
                .enumerate()
                .map(|(at, item)| simple(item).map_err(|error| error.within(index(at))));
            Ok(Value::tuple(items.collect::<Result<_, _>>()?))
        }
        Kind::Object(members) => {
            let pairs = members.iter().map(|member| {
                let name = Str::new(&member.name);
                match simple(&member.value) {
                    Ok(value) => Ok((name, value)),
                    Err(error) => Err(error.within(Step::Attribute(name))),
                }
            });
            Ok(Value::Object(Object::new(pairs.collect::<Result<_, _>>()?)))
        }
    }
}

fn index(at: usize) -> Step {
    Step::Index(Number::from(at))
}
