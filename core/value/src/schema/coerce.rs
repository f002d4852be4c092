//! Coerces a value to a schema: converts attribute types, and fills missing parts with null or empty. It
//! does not check whether the author or the provider may set the values.

use super::{Block, NestedBlock, Nesting, Role};
use crate::convert::{ConversionError, convert};
use crate::{Path, Step, Str, Value};

impl Block {
    /// The value as one of this block's implied type. Attributes that are missing become null,
    /// unless they are required, in nested objects too; nested blocks that are missing or null
    /// become empty. Marks are kept.
    ///
    /// # Errors
    /// Returns an error if the value is not an object, has undeclared parts, lacks a required attribute,
    /// or if a part cannot be converted.
    pub fn coerce(&self, value: &Value) -> Result<Value, ConversionError> {
        let marks = value.marks();
        let coerced = match value.without_own_marks() {
            Value::Null(_) => Value::null(self.implied_type()),
            Value::Unknown(_) => Value::unknown(self.implied_type()),
            Value::Object(object) => {
                let lookup = |name: &str| object.get(name);
                self.refuse_unknown_names(object.names())?;
                self.coerce_parts(&lookup)?
            }
            Value::Map(map) => {
                // A map is accepted as an object, as in Terraform's `CoerceValue`.
                let lookup = |name: &str| map.get(name);
                self.refuse_unknown_names(map.keys())?;
                self.coerce_parts(&lookup)?
            }
            _ => return Err(coercion_error("an object is required")),
        };
        Ok(coerced.mark(marks))
    }

    fn refuse_unknown_names(&self, names: &[Str]) -> Result<(), ConversionError> {
        let known = |name: &&Str| {
            self.attributes.contains_key(name.as_str()) || self.blocks.contains_key(name.as_str())
        };
        match names.iter().find(|name| !known(name)) {
            Some(name) => Err(coercion_error(format!("unsupported attribute {name:?}"))),
            None => Ok(()),
        }
    }

    fn coerce_parts<'v>(
        &self,
        lookup: &dyn Fn(&str) -> Option<&'v Value>,
    ) -> Result<Value, ConversionError> {
        let mut parts = Vec::with_capacity(self.attributes.len() + self.blocks.len());
        for (name, attr) in &self.attributes {
            let part = match lookup(name) {
                Some(part) => convert(part, &attr.conversion_type())
                    .map_err(|error| prepend_attribute(name, error))?,
                None if attr.role == Role::Required => {
                    return Err(coercion_error(format!("attribute {name:?} is required")));
                }
                None => Value::null(attr.implied_type()),
            };
            parts.push((name.clone(), part));
        }
        for (name, nested) in &self.blocks {
            let part = match lookup(name) {
                Some(part) => {
                    nested.coerce(part).map_err(|error| prepend_attribute(name, error))?
                }
                None => nested.empty_value(),
            };
            parts.push((name.clone(), part));
        }
        Ok(Value::object(parts))
    }
}

impl NestedBlock {
    /// The value as one that holds blocks of this type.
    ///
    /// # Errors
    /// Returns the errors of [`Block::coerce`], or an error if the value is not a collection of the
    /// nesting.
    pub fn coerce(&self, value: &Value) -> Result<Value, ConversionError> {
        let marks = value.marks();
        let coerced = match (self.nesting, value.without_own_marks()) {
            (Nesting::Single | Nesting::Group, Value::Unknown(_)) => {
                Value::unknown(self.block.implied_type())
            }
            (_, Value::Unknown(_)) => Value::unknown(self.implied_type()),
            // The protocol has no null for blocks of most nestings: without blocks, the value is an
            // empty collection.
            (_, Value::Null(_)) => self.empty_value(),
            (Nesting::Single | Nesting::Group, inner) => self.block.coerce(inner)?,
            (
                Nesting::List | Nesting::Set,
                inner @ (Value::List(_) | Value::Set(_) | Value::Tuple(_)),
            ) => self.to_list_or_set_value(self.coerce_elements(inner)?),
            (Nesting::Map, inner @ (Value::Map(_) | Value::Object(_))) => {
                let elements = self.coerce_elements(inner)?;
                self.to_keyed_collection_value(
                    map_or_object_keys(inner).iter().cloned().zip(elements).collect(),
                )
            }
            (Nesting::List, _) => return Err(coercion_error("a list is required")),
            (Nesting::Set, _) => return Err(coercion_error("a set is required")),
            (Nesting::Map, _) => return Err(coercion_error("a map is required")),
        };
        Ok(coerced.mark(marks))
    }

    fn coerce_elements(&self, collection: &Value) -> Result<Vec<Value>, ConversionError> {
        let elements = collection.children().iter().enumerate().map(|(at, element)| {
            self.block.coerce(element).map_err(|mut error| {
                let step = collection.step_to_child(at).map(|step| match step {
                    // The object represents a map, so its names are keys in the result.
                    Step::Attribute(key) => Step::Key(key),
                    other => other,
                });
                error.path.0.splice(0..0, step);
                error
            })
        });
        elements.collect()
    }
}

fn map_or_object_keys(value: &Value) -> &[Str] {
    match value {
        Value::Map(map) => map.keys(),
        Value::Object(object) => object.names(),
        _ => &[],
    }
}

fn coercion_error(reason: impl Into<String>) -> ConversionError {
    ConversionError { path: Path::root(), reason: reason.into() }
}

fn prepend_attribute(name: &Str, mut error: ConversionError) -> ConversionError {
    error.path.0.insert(0, Step::Attribute(name.clone()));
    error
}

#[cfg(test)]
mod tests {
    use super::super::tests::{attr, block, nested, sample};
    use super::*;
    use crate::{Marks, Type};

    #[test]
    fn missing_parts_are_filled_and_present_ones_converted() {
        let disk = Value::object([("size", Value::string("10"))]);
        let value = Value::object([
            ("name", Value::int(5).mark(Marks::SENSITIVE)),
            ("disk", Value::tuple(vec![disk])),
            ("open", Value::tuple(vec![Value::object([("d", Value::int(1))])])),
            ("rule", Value::null(Type::Dynamic)),
        ]);
        let coerced = sample().coerce(&value).unwrap();
        let part = |path: Path| path.find(&coerced).cloned().unwrap();
        let root = Path::root();
        assert_eq!(part(root.attribute("name")), Value::string("5").mark(Marks::SENSITIVE));
        assert_eq!(part(root.attribute("disk").index(0).attribute("size")), Value::int(10));
        assert_eq!(part(root.attribute("open").index(0).attribute("d")), Value::int(1));
        assert_eq!(part(root.attribute("rule")), sample().blocks["rule"].empty_value());
        assert_eq!(part(root.attribute("id")), Value::null(Type::String));
        assert!(part(root.attribute("one")).is_null());
    }

    #[test]
    fn optional_nested_attributes_may_be_absent() {
        let part = || {
            vec![
                ("key", attr(Type::String, Role::Required)),
                ("port", attr(Type::Number, Role::Optional)),
            ]
        };
        let nestings = [Nesting::Single, Nesting::List, Nesting::Set, Nesting::Map];
        for nesting in nestings {
            let wrap = |object: Value| match nesting {
                Nesting::Single | Nesting::Group => object,
                Nesting::List | Nesting::Set => Value::tuple(vec![object]),
                Nesting::Map => Value::object([("a", object)]),
            };
            let schema = block(vec![("part", nested(nesting, part(), Role::Optional))], vec![]);
            let given = |object: Value| Value::object([("part", wrap(object))]);
            let full =
                Value::object([("key", Value::string("k")), ("port", Value::null(Type::Number))]);
            let short = Value::object([("key", Value::string("k"))]);
            assert_eq!(schema.coerce(&given(short)), schema.coerce(&given(full)), "{nesting:?}");
            let map = Value::map(Type::String, vec![(Str::new("key"), Value::string("k"))]);
            assert!(schema.coerce(&given(map)).unwrap().has_type(&schema.implied_type()));
            let none = Value::object([("port", Value::int(1))]);
            let error = schema.coerce(&given(none)).unwrap_err();
            assert!(error.reason.contains("attribute \"key\" is required"), "{}", error.reason);
        }
    }

    #[test]
    fn mismatched_values_are_refused_with_their_path() {
        let name = || ("name", Value::string("n"));
        let disk = |size: Value| Value::tuple(vec![Value::object([("size", size)])]);
        let table = [
            (Value::object([("id", Value::int(1))]), "", "attribute \"name\" is required"),
            (Value::object([name(), ("no", Value::int(1))]), "", "unsupported attribute \"no\""),
            (Value::object([name(), ("disk", Value::int(1))]), ".disk", "a list is required"),
            (
                Value::object([name(), ("keyed", Value::tuple(vec![]))]),
                ".keyed",
                "a map is required",
            ),
            (Value::object([name(), ("one", Value::int(1))]), ".one", "an object is required"),
            (Value::tuple(vec![]), "", "an object is required"),
        ];
        for (value, path, reason) in table {
            let error = sample().coerce(&value).unwrap_err();
            assert_eq!((error.path.to_string().as_str(), error.reason.as_str()), (path, reason));
        }
        let value = Value::object([name(), ("disk", disk(Value::string("x")))]);
        let error = sample().coerce(&value).unwrap_err();
        assert_eq!(error.path.to_string(), ".disk[0].size");
    }

    #[test]
    fn null_and_unknown_get_the_implied_type() {
        let schema = sample();
        let null = schema.coerce(&Value::null(Type::Dynamic)).unwrap();
        assert_eq!(null, Value::null(schema.implied_type()));
        let unknown = schema.coerce(&Value::dynamic()).unwrap();
        assert_eq!(unknown, Value::unknown(schema.implied_type()));
    }
}
