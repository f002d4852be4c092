//! Replacements for computed values of a provider: the values of a mock, and generated values for the
//! rest.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use formwork_value::convert::convert;
use formwork_value::schema::{Attribute, AttributeKind, Block, NestedAttributes, Nesting, Role};
use formwork_value::{Number, Path, Step, Str, Type, Value};

/// The computed attributes to fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AbsentAttributes {
    /// Unknown attributes, as in a planned object.
    Unknown,
    /// Unknown and null attributes, as in a configuration.
    UnknownOrNull,
    /// Unknown and null attributes, which become unknown.
    BecomesUnknown,
    /// No attributes: an existing object keeps its values.
    Nothing,
}

/// A mock value that does not fit the schema.
#[derive(Debug)]
pub(super) struct FillProblem {
    /// The path of the attribute.
    pub(super) path: Path,
    /// The attribute names, separated by periods.
    pub(super) attribute: String,
    /// The kind of the problem.
    pub(super) kind: FillProblemKind,
}

/// The kind of a problem with a mock value.
#[derive(Debug)]
pub(super) enum FillProblemKind {
    /// The value cannot be converted to the type.
    Type {
        /// The required type.
        needed: String,
        /// The reason.
        reason: String,
    },
    /// The value must be an object, because it contains attributes.
    NotAnObject {
        /// The type of the value.
        actual: String,
    },
}

/// A mock value that cannot be converted.
struct UnfitMockValue {
    /// The attribute names of its path, the innermost first.
    names: Vec<Str>,
    reason: String,
}

/// The content of a mock for a block or an object.
#[derive(Clone)]
enum MockContent<'v> {
    /// An object, if present.
    Content(Option<&'v Value>),
    /// A value that is not an object, and its path.
    NotAnObject(&'v Value, Path),
}

impl<'v> MockContent<'v> {
    fn member(&self, name: &str) -> Option<&'v Value> {
        match self {
            Self::Content(content) => content.and_then(|value| member(value, name)),
            Self::NotAnObject(..) => None,
        }
    }

    /// Returns the content for the block or object at a path.
    fn nested_content(&self, name: &str, path: &Path) -> Self {
        match (self, self.member(name)) {
            (Self::NotAnObject(..), _) => self.clone(),
            (_, Some(value)) if !is_object(value) => Self::NotAnObject(value, path.clone()),
            (_, actual) => Self::Content(actual),
        }
    }
}

/// Fills one object.
pub(super) struct ObjectFiller {
    hasher: DefaultHasher,
    absent: AbsentAttributes,
    /// Problems with mock values.
    pub(super) problems: Vec<FillProblem>,
    /// The path of the attribute. Set elements have numeric indexes here.
    path: Path,
    /// The number of path steps before the outermost set.
    set_at: Option<usize>,
}

impl ObjectFiller {
    /// Creates a filler. Values are generated from a seed: the same attribute of the same object always
    /// has the same value.
    pub(super) fn new(seed: &str, absent: AbsentAttributes) -> Self {
        let mut hasher = DefaultHasher::new();
        seed.hash(&mut hasher);
        Self { hasher, absent, problems: Vec::new(), path: Path::root(), set_at: None }
    }

    /// The content of a block.
    pub(super) fn fill_block(&mut self, block: &Block, value: &Value, mock: &Value) -> Value {
        self.fill_block_with(block, value, &MockContent::Content(Some(mock)))
    }

    fn fill_block_with(&mut self, block: &Block, value: &Value, mock: &MockContent<'_>) -> Value {
        let attributes = block.attributes.iter().map(|(name, attribute)| {
            let value = self.with_attribute_step(name, |fill| {
                fill.fill_attribute(name, attribute, value, mock)
            });
            (name.clone(), value)
        });
        let mut members: Vec<(Str, Value)> = attributes.collect();
        for (name, nested) in &block.blocks {
            // A mock adds no blocks: only those of the configuration exist.
            let Some(old) = member(value, name) else { continue };
            let new = self.with_attribute_step(name, |fill| {
                fill.fill_each_object(old, nested.nesting, &|fill, item| {
                    let mock = mock.nested_content(name, &fill.reported_path());
                    fill.fill_block_with(&nested.block, item, &mock)
                })
            });
            members.push((name.clone(), new));
        }
        Value::object(members)
    }

    fn with_path_step<T>(&mut self, step: Step, work: impl FnOnce(&mut Self) -> T) -> T {
        self.path.0.push(step);
        let done = work(self);
        self.path.0.pop();
        done
    }

    fn with_attribute_step<T>(&mut self, name: &Str, work: impl FnOnce(&mut Self) -> T) -> T {
        self.with_path_step(Step::Attribute(name.clone()), work)
    }

    /// Returns the current path for messages, which ends at a set.
    fn reported_path(&self) -> Path {
        let n_steps = self.set_at.unwrap_or(self.path.0.len());
        Path(self.path.0[..n_steps].to_vec())
    }

    fn fill_attribute(
        &mut self,
        name: &Str,
        attribute: &Attribute,
        object: &Value,
        mock: &MockContent<'_>,
    ) -> Value {
        let null = || Value::null(attribute.implied_type());
        // Write-only attributes have no value in stored objects.
        if attribute.write_only {
            return null();
        }
        let value = member(object, name).cloned().unwrap_or_else(null);
        if self.is_absent(attribute.role, &value) {
            return self.compute_attribute(name, attribute, mock);
        }
        match &attribute.kind {
            // A nested attribute of the configuration may itself contain computed attributes.
            AttributeKind::Nested(nested) if !value.is_null() && !value.is_unknown() => self
                .fill_each_object(&value, nested.nesting, &|fill, item| {
                    let mock = mock.nested_content(name, &fill.reported_path());
                    fill.fill_nested_object(nested, item, &mock)
                }),
            _ => value,
        }
    }

    fn is_absent(&self, role: Role, value: &Value) -> bool {
        let is_absent = match self.absent {
            AbsentAttributes::Nothing => false,
            AbsentAttributes::Unknown => value.is_unknown(),
            AbsentAttributes::UnknownOrNull | AbsentAttributes::BecomesUnknown => {
                value.is_unknown() || value.is_null()
            }
        };
        role.is_computed() && is_absent
    }

    /// The attributes of one object of a nested attribute.
    fn fill_nested_object(
        &mut self,
        nested: &NestedAttributes,
        value: &Value,
        mock: &MockContent<'_>,
    ) -> Value {
        let attributes = nested.attributes.iter().map(|(name, attribute)| {
            let value = self.with_attribute_step(name, |fill| {
                fill.fill_attribute(name, attribute, value, mock)
            });
            (name.clone(), value)
        });
        Value::object(attributes.collect::<Vec<_>>())
    }

    /// Fills each object of a nested attribute or of the blocks of one type.
    fn fill_each_object(
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
        let outer_set = self.set_at;
        // An element of a set has no index, so a reported path cannot lead into it.
        if matches!(value, Value::Set(_)) {
            self.set_at = outer_set.or(Some(self.path.0.len()));
        }
        let is_whole = |item: &Value| !item.is_null() && !item.is_unknown();
        let mut items = Vec::new();
        for (at, item) in value.children().iter().enumerate() {
            let step = value.step_to_child(at).unwrap_or_else(|| Step::Index(Number::from(at)));
            items.push(self.with_path_step(step, |fill| {
                if is_whole(item) { change(fill, item) } else { item.clone() }
            }));
        }
        self.set_at = outer_set;
        match value {
            Value::List(list) => Value::list(list.element_type().clone(), items),
            // Elements that became equal are merged.
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

    /// Returns the value of a computed attribute.
    fn compute_attribute(
        &mut self,
        name: &Str,
        attribute: &Attribute,
        mock: &MockContent<'_>,
    ) -> Value {
        let ty = attribute_type(&attribute.kind);
        if self.absent == AbsentAttributes::BecomesUnknown {
            return Value::unknown(ty);
        }
        let problem = match mock {
            MockContent::NotAnObject(value, path) => FillProblem {
                path: path.clone(),
                attribute: attribute_names_in(path).join("."),
                kind: FillProblemKind::NotAnObject { actual: value.ty().friendly_name() },
            },
            MockContent::Content(_) => {
                match self.make_attribute_value(&attribute.kind, mock.member(name)) {
                    Ok(value) => return value,
                    Err(UnfitMockValue { names, reason }) => {
                        let path = self.reported_path();
                        let outer = attribute_names_in(&path);
                        let names = outer.into_iter().chain(names.iter().rev().map(Str::as_str));
                        let attribute = names.collect::<Vec<_>>().join(".");
                        let kind = FillProblemKind::Type { needed: ty.friendly_name(), reason };
                        FillProblem { path, attribute, kind }
                    }
                }
            }
        };
        // The other attributes are filled anyway, so that all problems are reported together.
        self.problems.push(problem);
        Value::null(ty)
    }

    /// Returns the value of an attribute: that of the mock, or a generated one.
    fn make_attribute_value(
        &mut self,
        kind: &AttributeKind,
        given: Option<&Value>,
    ) -> Result<Value, UnfitMockValue> {
        let unfit = |reason: String| UnfitMockValue { names: Vec::new(), reason };
        match (kind, given) {
            (AttributeKind::Plain(ty), Some(given)) => {
                self.convert_mock_value(given, ty).map_err(unfit)
            }
            (AttributeKind::Plain(ty), None) => Ok(self.generate_value(ty)),
            (AttributeKind::Nested(_), Some(given)) if !is_object(given) => {
                Err(unfit(incompatible_types_message("object type", given)))
            }
            (AttributeKind::Nested(nested), given) => match nested.nesting {
                Nesting::Single | Nesting::Group => self.make_nested_object(nested, given),
                // As in Terraform, the number of objects is unknown, so none are generated.
                _ => Ok(self.generate_value(&nested.implied_type())),
            },
        }
    }

    /// Generates an object with all attributes, including, as in Terraform, those that only a
    /// configuration can set.
    fn make_nested_object(
        &mut self,
        nested: &NestedAttributes,
        given: Option<&Value>,
    ) -> Result<Value, UnfitMockValue> {
        let mut attributes = Vec::new();
        for (name, attribute) in &nested.attributes {
            let given = given.and_then(|value| member(value, name));
            let value = match attribute.write_only {
                true => Ok(Value::null(attribute.implied_type())),
                false => self.with_attribute_step(name, |fill| {
                    fill.make_attribute_value(&attribute.kind, given)
                }),
            };
            let value = value.map_err(|mut unfit| {
                // The path is built from the inside out, so the outermost name is last.
                unfit.names.push(name.clone());
                unfit
            });
            attributes.push((name.clone(), value?));
        }
        Ok(Value::object(attributes))
    }

    /// Converts a mock value to a type. Missing attributes of objects are generated.
    fn convert_mock_value(&mut self, given: &Value, ty: &Type) -> Result<Value, String> {
        let completed = self.add_missing_attributes(given, ty)?;
        convert(&completed, ty).map_err(|refused| refused.reason)
    }

    fn add_missing_attributes(&mut self, given: &Value, ty: &Type) -> Result<Value, String> {
        match (given, ty) {
            (Value::Object(_) | Value::Map(_), Type::Object(object)) => {
                let members = object.attributes.iter().map(|(name, ty)| {
                    let value = self.with_attribute_step(name, |fill| match member(given, name) {
                        Some(value) => fill.add_missing_attributes(value, ty),
                        None => Ok(fill.generate_value(ty)),
                    });
                    Ok((name.clone(), value?))
                });
                Ok(Value::object(members.collect::<Result<Vec<_>, String>>()?))
            }
            (
                Value::Tuple(_) | Value::List(_) | Value::Set(_),
                Type::List(element) | Type::Set(element),
            ) => {
                let items = given.children().iter().enumerate().map(|(at, item)| {
                    let step = Step::Index(Number::from(at));
                    self.with_path_step(step, |fill| fill.add_missing_attributes(item, element))
                });
                Ok(Value::tuple(items.collect::<Result<_, String>>()?))
            }
            (Value::Object(object), Type::Map(element)) => {
                let pairs = object.iter().map(|(key, item)| {
                    let value = self.with_attribute_step(key, |fill| {
                        fill.add_missing_attributes(item, element)
                    });
                    Ok((key.clone(), value?))
                });
                Ok(Value::object(pairs.collect::<Result<Vec<_>, String>>()?))
            }
            // Including null, which is not an object with attributes.
            _ if holds_object(ty) && given.ty() != *ty => {
                Err(incompatible_types_message(&ty.friendly_name(), given))
            }
            _ => Ok(given.clone()),
        }
    }

    /// Generates a value of a type, as Terraform does.
    fn generate_value(&mut self, ty: &Type) -> Value {
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
            Type::Tuple(types) => {
                Value::tuple(types.iter().map(|ty| self.generate_value(ty)).collect())
            }
            Type::Object(object) => {
                let members = object.attributes.iter().map(|(name, ty)| {
                    (name.clone(), self.with_attribute_step(name, |fill| fill.generate_value(ty)))
                });
                Value::object(members.collect::<Vec<_>>())
            }
        }
    }

    /// Generates a string of eight letters and digits.
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

/// Returns an attribute of an object or an element of a map.
fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Object(object) => object.get(name),
        Value::Map(map) => map.get(name),
        _ => None,
    }
}

fn is_object(value: &Value) -> bool {
    matches!(value, Value::Object(_) | Value::Map(_))
}

/// Returns whether the values of a type are objects or collections of objects. As in Terraform,
/// collections of collections are converted as a whole.
fn holds_object(ty: &Type) -> bool {
    match ty {
        Type::Object(_) => true,
        Type::List(element) | Type::Set(element) | Type::Map(element) => {
            matches!(**element, Type::Object(_))
        }
        _ => false,
    }
}

fn incompatible_types_message(needed: &str, given: &Value) -> String {
    format!("incompatible types; expected {needed}, found {}", given.ty().friendly_name())
}

/// Returns the attribute names in a path.
fn attribute_names_in(path: &Path) -> Vec<&str> {
    let names = path.0.iter().filter_map(|step| match step {
        Step::Attribute(name) => Some(name.as_str()),
        Step::Key(_) | Step::Index(_) => None,
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::config_from_text::format_value;
    use formwork_value::schema::NestedBlock;

    fn empty_object() -> Value {
        Value::object(std::iter::empty::<(Str, Value)>())
    }

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
    fn filled(absent: AbsentAttributes, mock: &Value) -> (String, Vec<String>) {
        let block = block();
        let mut fill = ObjectFiller::new("seed", absent);
        let value = fill.fill_block(&block, &block.empty_value(), mock);
        assert_eq!(value.ty(), block.implied_type());
        let problems = fill.problems.iter().map(|problem| match &problem.kind {
            FillProblemKind::Type { needed, reason } => {
                format!("{} {needed}: {reason}", problem.attribute)
            }
            FillProblemKind::NotAnObject { actual } => {
                format!("{}: found {actual}", problem.attribute)
            }
        });
        (format_value(&value), problems.collect())
    }

    fn mock(pairs: &[(&str, Value)]) -> Value {
        Value::object(pairs.iter().map(|(name, value)| (*name, value.clone())))
    }

    #[test]
    fn computed_attributes_without_a_mock_have_the_same_values_as_in_terraform() {
        let mut fill = ObjectFiller::new("seed", AbsentAttributes::UnknownOrNull);
        let block = block();
        let value = fill.fill_block(&block, &block.empty_value(), &empty_object());
        let Some(Value::String(name)) = member(&value, "name") else { panic!("{value:?}") };
        let is_plain = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit();
        assert!(name.len() == 8 && name.chars().all(is_plain), "{name}");
        let single = member(&value, "single").unwrap();
        assert!(matches!(member(single, "text"), Some(Value::String(text)) if text != name));
        assert_eq!(member(single, "written"), Some(&Value::Bool(false)));
        let shown = format_value(&value);
        for part in ["any = null", "flag = false", "number = 0", "written = null"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        for part in ["list = list[]", "map = map{}", "set = set[]", "objects = list[]"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }

    #[test]
    fn generated_values_are_deterministic_for_each_object() {
        let make = |seed: &str| {
            format_value(&ObjectFiller::new(seed, AbsentAttributes::UnknownOrNull).fill_block(
                &block(),
                &block().empty_value(),
                &empty_object(),
            ))
        };
        assert_eq!(make("a"), make("a"));
        assert_ne!(make("a"), make("b"));
    }

    #[test]
    fn mock_values_are_converted_and_completed() {
        let item = mock(&[("b", Value::string("2"))]);
        let (shown, problems) = filled(
            AbsentAttributes::UnknownOrNull,
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
        assert!(shown.contains("single = {text = \"t\", written = true}"), "{shown}");
    }

    #[test]
    fn mismatched_mock_values_are_reported_with_their_attribute() {
        let (_, problems) = filled(
            AbsentAttributes::UnknownOrNull,
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
        let (shown, problems) = filled(AbsentAttributes::BecomesUnknown, &empty_object());
        assert_eq!(problems, Vec::<String>::new());
        assert!(shown.contains("name = unknown string"), "{shown}");
        assert!(shown.contains("written = null"), "{shown}");
    }

    #[test]
    fn a_block_mock_that_is_not_an_object_is_reported_for_each_required_attribute() {
        let attributes = [
            ("a".into(), Attribute::new(Type::String, Role::Computed)),
            ("b".into(), Attribute::new(Type::String, Role::OptionalComputed)),
        ];
        let inner = Block { attributes: attributes.into(), ..Block::default() };
        let nested = NestedBlock {
            block: inner,
            nesting: Nesting::List,
            min_items: 0,
            max_items: 0,
            computed: false,
        };
        let block = Block { blocks: [("part".into(), nested)].into(), ..Block::default() };
        let item = mock(&[("a", Value::null(Type::String)), ("b", Value::string("written"))]);
        let object = mock(&[("part", Value::list(item.ty(), vec![item]))]);
        let mut fill = ObjectFiller::new("seed", AbsentAttributes::UnknownOrNull);
        fill.fill_block(&block, &object, &mock(&[("part", Value::tuple(Vec::new()))]));
        let shown =
            fill.problems.iter().map(|it| format!("{}: {} {:?}", it.path, it.attribute, it.kind));
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [r#".part[0]: part NotAnObject { actual: "tuple" }"#]
        );
    }

    #[test]
    fn null_is_reported_for_objects_and_accepted_for_strings() {
        let null = || Value::null(Type::Dynamic);
        let (shown, problems) = filled(
            AbsentAttributes::UnknownOrNull,
            &mock(&[("list", null()), ("map", null()), ("name", null()), ("single", null())]),
        );
        assert_eq!(
            problems,
            [
                "list list of object: incompatible types; expected list of object, found dynamic",
                "single object: incompatible types; expected object type, found dynamic",
            ]
        );
        assert!(shown.contains("name = null"), "{shown}");
    }

    #[test]
    fn objects_in_a_list_of_a_mock_have_different_generated_values() {
        let item = mock(&[("b", Value::int(1))]);
        let block = block();
        let mut fill = ObjectFiller::new("seed", AbsentAttributes::UnknownOrNull);
        let list = mock(&[("list", Value::tuple(vec![item.clone(), item]))]);
        let value = fill.fill_block(&block, &block.empty_value(), &list);
        let items = member(&value, "list").unwrap().children();
        assert_ne!(member(&items[0], "a"), member(&items[1], "a"));
    }

    #[test]
    fn an_existing_object_keeps_its_values_without_write_only_attributes() {
        let attribute = |role| Attribute::new(Type::String, role);
        let secret = Attribute { write_only: true, ..attribute(Role::Optional) };
        let attributes = [
            ("id".into(), attribute(Role::Computed)),
            ("none".into(), attribute(Role::Computed)),
            ("secret".into(), secret),
        ];
        let block = Block { attributes: attributes.into(), ..Block::default() };
        let null = Value::null(Type::String);
        let object =
            mock(&[("id", Value::string("i")), ("none", null), ("secret", Value::string("s"))]);
        let filled = ObjectFiller::new("seed", AbsentAttributes::Nothing).fill_block(
            &block,
            &object,
            &empty_object(),
        );
        assert_eq!(format_value(&filled), r#"{id = "i", none = null, secret = null}"#);
    }
}
