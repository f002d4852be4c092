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
                        let ty = ty.friendly_name();
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
                    let found = given.ty().friendly_name();
                    let reason = format!("incompatible types; expected object type, found {found}");
                    let ty = ty.friendly_name();
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
    fn generate_string(&self) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::config_from_text::format_value;

    fn nested(nesting: Nesting) -> Attribute {
        let text = Attribute::new(Type::String, Role::Computed);
        let written = Attribute::new(Type::Bool, Role::Optional);
        let attributes = [("text".into(), text), ("written".into(), written)].into();
        let kind = AttributeKind::Nested(NestedAttributes { attributes, nesting });
        Attribute { kind, ..Attribute::new(Type::Dynamic, Role::Computed) }
    }

    fn block() -> Block {
        let plain = |ty: Type| Attribute::new(ty, Role::Computed);
        let object = Type::object([("a", Type::String), ("b", Type::Number)]);
        let attributes = [
            ("any", plain(Type::Dynamic)),
            ("flag", plain(Type::Bool)),
            ("list", plain(Type::list(object))),
            ("map", plain(Type::map(Type::String))),
            ("name", Attribute::new(Type::String, Role::OptionalComputed)),
            ("number", plain(Type::Number)),
            ("objects", nested(Nesting::List)),
            ("set", plain(Type::set(Type::Bool))),
            ("single", nested(Nesting::Single)),
            ("written", Attribute::new(Type::String, Role::Optional)),
        ];
        let attributes = attributes.into_iter().map(|(name, it)| (name.into(), it));
        Block { attributes: attributes.collect(), ..Block::default() }
    }

    /// The filled object without the generated strings, and the problems.
    fn filled(absent: Absent, mock: &Value) -> (String, Vec<String>) {
        let block = block();
        let mut fill = Fill::new("seed", absent);
        let value = fill.block(&block, &block.empty_value(), mock);
        assert_eq!(value.ty(), block.implied_type());
        let problems =
            fill.problems.iter().map(|it| format!("{} {}: {}", it.attribute, it.ty, it.reason));
        (format_value(&value), problems.collect())
    }

    fn mock(pairs: &[(&str, Value)]) -> Value {
        Value::object(pairs.iter().map(|(name, value)| (*name, value.clone())))
    }

    #[test]
    fn computed_attributes_without_a_mock_have_the_values_of_terraform() {
        let mut fill = Fill::new("seed", Absent::UnknownOrNull);
        let block = block();
        let value = fill.block(&block, &block.empty_value(), &empty_object());
        let Some(Value::String(name)) = member(&value, "name") else { panic!("{value:?}") };
        let is_plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit();
        assert!(name.len() == 8 && name.chars().all(is_plain), "{name}");
        let single = member(&value, "single").unwrap();
        assert!(matches!(member(single, "text"), Some(Value::String(text)) if text != name));
        assert!(member(single, "written").unwrap().is_null());
        let shown = format_value(&value);
        for part in ["any = null", "flag = false", "number = 0", "written = null"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        for part in ["list = list[]", "map = map{}", "set = set[]", "objects = list[]"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }

    #[test]
    fn the_same_object_has_the_same_values_and_another_one_has_others() {
        let make = |seed: &str| {
            format_value(&Fill::new(seed, Absent::UnknownOrNull).block(
                &block(),
                &block().empty_value(),
                &empty_object(),
            ))
        };
        assert_eq!(make("a"), make("a"));
        assert_ne!(make("a"), make("b"));
    }

    #[test]
    fn values_of_a_mock_are_converted_and_completed() {
        let item = mock(&[("b", Value::string("2"))]);
        let (shown, problems) = filled(
            Absent::UnknownOrNull,
            &mock(&[
                ("flag", Value::string("true")),
                ("list", Value::tuple(vec![item])),
                ("name", Value::int(5)),
                ("objects", mock(&[("text", Value::string("no objects"))])),
                ("single", mock(&[("text", Value::string("t")), ("written", Value::Bool(true))])),
                ("unknown", Value::int(1)),
                ("written", Value::string("not computed")),
            ]),
        );
        assert_eq!(problems, Vec::<String>::new());
        for part in ["flag = true", "b = 2", "name = \"5\"", "objects = list[]", "written = null"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(shown.contains("single = {text = \"t\", written = null}"), "{shown}");
    }

    #[test]
    fn values_of_a_mock_that_do_not_fit_are_reported_with_their_attribute() {
        let (_, problems) = filled(
            Absent::UnknownOrNull,
            &mock(&[("name", Value::tuple(Vec::new())), ("objects", Value::tuple(Vec::new()))]),
        );
        assert_eq!(
            problems,
            [
                "name string: string required",
                "objects list of object: incompatible types; expected object type, found tuple",
            ]
        );
    }

    #[test]
    fn a_plan_leaves_computed_attributes_unknown_and_keeps_the_others() {
        let (shown, problems) = filled(Absent::BecomesUnknown, &empty_object());
        assert_eq!(problems, Vec::<String>::new());
        assert!(shown.contains("name = unknown string"), "{shown}");
        assert!(shown.contains("written = null"), "{shown}");
    }
}
