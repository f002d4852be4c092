//! Defaults of optional attributes that are missing or null.

use std::collections::BTreeMap;

use formwork_value::{Str, Value};

/// Defaults of the optional attributes of a type constraint, at any depth.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeDefaults(DefaultsShape);

#[derive(Clone, Debug, PartialEq)]
enum DefaultsShape {
    /// The same defaults for every element of a collection.
    Elements(Box<TypeDefaults>),
    /// The defaults of each element of a tuple.
    Tuple(Vec<Option<TypeDefaults>>),
    Object {
        /// Values for missing attributes.
        values: BTreeMap<Str, Value>,
        /// Defaults inside the attributes themselves.
        children: BTreeMap<Str, TypeDefaults>,
    },
}

impl TypeDefaults {
    pub(super) fn of_elements(element: Self) -> Self {
        Self(DefaultsShape::Elements(Box::new(element)))
    }

    pub(super) fn of_tuple(elements: Vec<Option<Self>>) -> Option<Self> {
        elements.iter().any(Option::is_some).then_some(Self(DefaultsShape::Tuple(elements)))
    }

    pub(super) fn of_object(
        values: BTreeMap<Str, Value>,
        children: BTreeMap<Str, Self>,
    ) -> Option<Self> {
        let empty = values.is_empty() && children.is_empty();
        (!empty).then_some(Self(DefaultsShape::Object { values, children }))
    }

    /// Fills attributes that are missing or null. The value does not need to have the type yet. Parts of
    /// an unexpected kind, null and unknown parts are not changed.
    #[must_use]
    pub fn apply(&self, value: Value) -> Value {
        let (value, marks) = value.unmark();
        let filled = match &value {
            Value::List(_) | Value::Set(_) | Value::Tuple(_) => self.apply_to_elements(value),
            Value::Map(_) | Value::Object(_) => self.apply_to_keys(value),
            _ => value,
        };
        filled.mark(marks)
    }

    fn apply_to_elements(&self, value: Value) -> Value {
        let items: Vec<Value> = value
            .children()
            .iter()
            .enumerate()
            .map(|(at, item)| {
                let defaults = match &self.0 {
                    DefaultsShape::Elements(element) => Some(&**element),
                    DefaultsShape::Tuple(elements) => elements.get(at).and_then(Option::as_ref),
                    DefaultsShape::Object { .. } => None,
                };
                defaults.map_or_else(|| item.clone(), |defaults| defaults.apply(item.clone()))
            })
            .collect();
        // An unchanged collection keeps its type, which matters for sets: a tuple has an order.
        if items == value.children() {
            return value;
        }
        // The elements of any collection may differ in type until they are converted.
        Value::tuple(items)
    }

    fn apply_to_keys(&self, value: Value) -> Value {
        let keys: &[Str] = match &value {
            Value::Map(map) => map.keys(),
            Value::Object(object) => object.names(),
            _ => &[],
        };
        let mut pairs: BTreeMap<Str, Value> =
            keys.iter().cloned().zip(value.children().iter().cloned()).collect();
        let none = BTreeMap::new();
        let (values, children) = match &self.0 {
            DefaultsShape::Object { values, children } => (values, children),
            DefaultsShape::Tuple(_) => return value,
            DefaultsShape::Elements(element) => {
                for item in pairs.values_mut() {
                    *item = element.apply(std::mem::replace(item, Value::dynamic()));
                }
                (&none, &BTreeMap::new())
            }
        };
        for (name, default) in values {
            // An explicit null is also replaced by the default, unlike a null for a nullable variable.
            let present = pairs.get(name).is_some_and(|item| !item.is_null());
            if !present {
                pairs.insert(name.clone(), default.clone());
            }
        }
        // After the values: a default that was just filled in may lack attributes with defaults
        // itself.
        for (name, defaults) in children {
            if let Some(item) = pairs.get_mut(name) {
                *item = defaults.apply(std::mem::replace(item, Value::dynamic()));
            }
        }
        // A map becomes an object too, because its elements may differ in type until they are converted.
        Value::object(pairs)
    }
}
