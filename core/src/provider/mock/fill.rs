//! Values in the place of those that a provider would compute: the values of a mock, and generated ones for
//! the others.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use formwork_value::convert::convert;
use formwork_value::schema::{Attribute, AttributeKind, Block, NestedAttributes, Nesting, Role};
use formwork_value::{Str, Type, Value};

/// The computed attributes that have no value yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absent {
    /// Unknown ones, as in a planned object.
    Unknown,
    /// Unknown ones and those that are null, as in a configuration.
    UnknownOrNull,
    /// The same, and they become unknown.
    BecomesUnknown,
}

/// A value of a mock that does not fit.
#[derive(Debug)]
pub(super) struct FillProblem {
    /// The type that is needed.
    pub(super) ty: String,
    /// The name of the attribute.
    pub(super) attribute: Str,
    /// The reason.
    pub(super) reason: String,
}

/// Fills one object.
pub(super) struct Fill {
    hasher: DefaultHasher,
    absent: Absent,
    /// Values that do not fit.
    pub(super) problems: Vec<FillProblem>,
    /// The place of the attribute.
    path: Vec<Str>,
}

impl Fill {
    /// Values are made from a seed: the same attribute of the same object has the same one.
    pub(super) fn new(seed: &str, absent: Absent) -> Self {
        let mut hasher = DefaultHasher::new();
        seed.hash(&mut hasher);
        Self { hasher, absent, problems: Vec::new(), path: Vec::new() }
    }

    /// The content of a block.
    pub(super) fn block(&mut self, block: &Block, value: &Value, mock: &Value) -> Value {
        let attributes = block.attributes.iter().map(|(name, attribute)| {
            (name.clone(), self.within(name, |fill| fill.attribute(name, attribute, value, mock)))
        });
        let mut members: Vec<(Str, Value)> = attributes.collect();
        for (name, nested) in &block.blocks {
            let Some(old) = member(value, name) else { continue };
            let mock = object_member(mock, name);
            let new = self.within(name, |fill| {
                fill.each(old, nested.nesting, &|fill, item| fill.block(&nested.block, item, &mock))
            });
            members.push((name.clone(), new));
        }
        Value::object(members)
    }

    fn within<T>(&mut self, name: &Str, work: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(name.clone());
        let done = work(self);
        self.path.pop();
        done
    }

    fn attribute(
        &mut self,
        name: &Str,
        attribute: &Attribute,
        object: &Value,
        mock: &Value,
    ) -> Value {
        let null = || Value::null(attribute.implied_type());
        let value = member(object, name).cloned().unwrap_or_else(null);
        let given = member(mock, name);
        if self.is_absent(attribute.role, &value) {
            return self.computed(name, &attribute.kind, given);
        }
        match &attribute.kind {
            // A nested attribute that is written may have computed attributes itself.
            AttributeKind::Nested(nested) if !value.is_null() && !value.is_unknown() => {
                let mock = given.cloned().unwrap_or_else(empty_object);
                self.each(&value, nested.nesting, &|fill, item| fill.nested(nested, item, &mock))
            }
            _ => value,
        }
    }

    fn is_absent(&self, role: Role, value: &Value) -> bool {
        let is_null = self.absent != Absent::Unknown && value.is_null();
        role.is_computed() && (value.is_unknown() || is_null)
    }

    /// The attributes of one object of a nested attribute.
    fn nested(&mut self, nested: &NestedAttributes, value: &Value, mock: &Value) -> Value {
        let attributes = nested.attributes.iter().map(|(name, attribute)| {
            (name.clone(), self.within(name, |fill| fill.attribute(name, attribute, value, mock)))
        });
        Value::object(attributes.collect::<Vec<_>>())
    }

    /// Changes each object of a nested attribute or of blocks of one type.
    fn each(
        &mut self,
        value: &Value,
        nesting: Nesting,
        change: &dyn Fn(&mut Self, &Value) -> Value,
    ) -> Value {
        if value.is_null() || value.is_unknown() {
            return value.clone();
        }
        if matches!(nesting, Nesting::Single | Nesting::Group) {
            return change(self, value);
        }
        let is_whole = |item: &Value| !item.is_null() && !item.is_unknown();
        let mut items = Vec::new();
        for (at, item) in value.children().iter().enumerate() {
            let at: Str = at.to_string().into();
            items.push(self.within(&at, |fill| {
                if is_whole(item) { change(fill, item) } else { item.clone() }
            }));
        }
        match value {
            Value::List(list) => Value::list(list.element_type().clone(), items),
            Value::Set(_) => {
                convert(&Value::tuple(items), &value.ty()).unwrap_or_else(|_| value.clone())
            }
            Value::Tuple(_) => Value::tuple(items),
            Value::Map(map) => {
                Value::map(map.element_type().clone(), map.keys().iter().cloned().zip(items))
            }
            Value::Object(object) => Value::object(object.names().iter().cloned().zip(items)),
            _ => value.clone(),
        }
    }

    /// The value of an attribute that has none.
    fn computed(&mut self, name: &Str, kind: &AttributeKind, given: Option<&Value>) -> Value {
        if self.absent == Absent::BecomesUnknown {
            return Value::unknown(attribute_type(kind));
        }
        match kind {
            AttributeKind::Plain(ty) => {
                let Some(given) = given else { return self.generate(ty) };
                match self.complete(given, ty) {
                    Ok(value) => value,
                    Err(reason) => {
                        let ty = ty.to_string();
                        self.problems.push(FillProblem { ty, attribute: name.clone(), reason });
                        self.generate_null(kind)
                    }
                }
            }
            AttributeKind::Nested(nested) => {
                let ty = attribute_type(kind);
                if let Some(given) = given
                    && !matches!(given, Value::Object(_) | Value::Map(_))
                {
                    let found = given.ty().to_string();
                    let kind_of_found = found.split(' ').next().unwrap_or_default().to_owned();
                    let reason =
                        format!("incompatible types; expected object type, found {kind_of_found}");
                    let ty = ty.to_string();
                    self.problems.push(FillProblem { ty, attribute: name.clone(), reason });
                    return self.generate_null(kind);
                }
                match nested.nesting {
                    Nesting::Single | Nesting::Group => {
                        let mock = given.cloned().unwrap_or_else(empty_object);
                        self.new_object(nested, &mock)
                    }
                    // As in Terraform, the number of objects is not known, so there are none.
                    _ => self.generate(&ty),
                }
            }
        }
    }

    fn generate_null(&self, kind: &AttributeKind) -> Value {
        Value::null(attribute_type(kind))
    }

    /// An object of which every computed attribute is made.
    fn new_object(&mut self, nested: &NestedAttributes, mock: &Value) -> Value {
        let attributes = nested.attributes.iter().map(|(name, attribute)| {
            let value = self.within(name, |fill| match attribute.role.is_computed() {
                true => fill.computed(name, &attribute.kind, member(mock, name)),
                false => Value::null(attribute.implied_type()),
            });
            (name.clone(), value)
        });
        Value::object(attributes.collect::<Vec<_>>())
    }

    /// A value of a mock as one of a type. Attributes that an object lacks are made.
    fn complete(&mut self, given: &Value, ty: &Type) -> Result<Value, String> {
        let whole = self.with_missing(given, ty);
        convert(&whole, ty).map_err(|refused| refused.reason)
    }

    fn with_missing(&mut self, given: &Value, ty: &Type) -> Value {
        match (given, ty) {
            (Value::Object(_) | Value::Map(_), Type::Object(object)) => {
                let members = object.attributes.iter().map(|(name, ty)| {
                    let value = self.within(name, |fill| match member(given, name) {
                        Some(value) => fill.with_missing(value, ty),
                        None => fill.generate(ty),
                    });
                    (name.clone(), value)
                });
                Value::object(members.collect::<Vec<_>>())
            }
            (Value::Tuple(_) | Value::List(_), Type::List(element) | Type::Set(element)) => {
                let items = given.children().iter().map(|item| self.with_missing(item, element));
                Value::tuple(items.collect())
            }
            (Value::Object(_), Type::Map(element)) => {
                let Value::Object(object) = given else { return given.clone() };
                let pairs = object
                    .iter()
                    .map(|(key, item)| (key.clone(), self.with_missing(item, element)));
                Value::object(pairs.collect::<Vec<_>>())
            }
            _ => given.clone(),
        }
    }

    /// A value of a type, as Terraform makes it.
    fn generate(&mut self, ty: &Type) -> Value {
        match ty {
            Type::Dynamic => Value::null(Type::Dynamic),
            Type::Bool => Value::Bool(false),
            Type::Number => Value::int(0),
            Type::String => Value::string(self.generate_string()),
            Type::List(element) => Value::list(Type::clone(element), Vec::new()),
            Type::Map(element) => {
                Value::map(Type::clone(element), std::iter::empty::<(Str, Value)>())
            }
            Type::Set(_) => {
                convert(&Value::tuple(Vec::new()), ty).unwrap_or_else(|_| Value::null(ty.clone()))
            }
            Type::Tuple(types) => Value::tuple(types.iter().map(|ty| self.generate(ty)).collect()),
            Type::Object(object) => {
                let members = object
                    .attributes
                    .iter()
                    .map(|(name, ty)| (name.clone(), self.within(name, |fill| fill.generate(ty))));
                Value::object(members.collect::<Vec<_>>())
            }
        }
    }

    /// Eight letters and digits.
    fn generate_string(&mut self) -> String {
        const CHARS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
        let mut hasher = self.hasher.clone();
        self.path.hash(&mut hasher);
        let mut number = hasher.finish();
        let mut text = String::with_capacity(8);
        for _ in 0..8 {
            text.push(char::from(CHARS[usize::try_from(number % 36).unwrap_or(0)]));
            number /= 36;
        }
        text
    }
}

fn attribute_type(kind: &AttributeKind) -> Type {
    match kind {
        AttributeKind::Plain(ty) => ty.clone(),
        AttributeKind::Nested(nested) => nested.implied_type(),
    }
}

fn empty_object() -> Value {
    Value::object(std::iter::empty::<(Str, Value)>())
}

/// A member of an object or map.
fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Object(object) => object.get(name),
        Value::Map(map) => map.get(name),
        _ => None,
    }
}

/// A member that is an object, or an empty one.
fn object_member(value: &Value, name: &str) -> Value {
    let found = member(value, name).filter(|it| matches!(it, Value::Object(_) | Value::Map(_)));
    found.cloned().unwrap_or_else(empty_object)
}
