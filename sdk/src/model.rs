//! A struct as a schema and as the value of an object. `#[derive(Model)]` writes the
//! implementations and calls these functions.

use std::sync::{Arc, OnceLock};

use formwork_value::convert::ConversionError;
use formwork_value::value::Object;
use formwork_value::{Step, Str, Value};

use crate::field::{conversion_error, prepend_step};
use crate::schema::Shape;
use crate::{Answer, Field, Problem};

/// A struct whose fields are all or some attributes of an object.
///
/// ```
/// use formwork_sdk::prelude::*;
/// use formwork_sdk::value::Value;
///
/// /// A note.
/// #[derive(Model)]
/// struct Note {
///     #[attr(required)]
///     title: String,
/// }
///
/// let note = Note { title: "a".to_owned() };
/// let value = note.to_value();
/// assert_eq!(value, Value::object([("title", Value::string("a"))]));
/// assert_eq!(Note::from_value(&value).unwrap().title, "a");
/// ```
pub trait ObjectConversion: Sized + Send + Sync + 'static {
    /// Whether an attribute can be unknown.
    const HOLDS_UNKNOWN: bool;

    /// Reads an object.
    ///
    /// # Errors
    /// When the value is not an object, or a field cannot represent its attribute.
    fn from_value(value: &Value) -> Result<Self, ConversionError>;

    /// Creates an object from the attributes.
    fn to_value(&self) -> Value;

    /// Whether [`to_value`](Self::to_value) would return this object. A result of `false` may be
    /// wrong; the caller then compares the objects.
    fn same_as(&self, value: &Value) -> bool {
        self.to_value() == *value
    }
}

/// A struct whose fields are the attributes and blocks of a schema, and whose values are stored
/// objects: every attribute is known, and only an `Option` may be null. Use the derive.
///
/// The derive makes further structs for handlers. For a model `Thing` these are `ThingDraft`,
/// `ThingInput` and `ThingComputed`, and also `ThingIdentity` if attributes have the word
/// `identity`, or if models are flattened with it.
///
/// ```
/// use formwork_sdk::prelude::*;
///
/// /// A note.
/// #[derive(Model)]
/// struct Note {
///     /// The title.
///     #[attr(required)]
///     title: String,
///     /// The id.
///     #[attr(computed, keep, identity)]
///     id: String,
/// }
///
/// let input = NoteInput { title: "a".to_owned() };
/// let draft = NoteDraft::from(NoteComputed { id: "n-1".to_owned() });
/// assert_eq!(draft.title, Attr::Null);
/// assert_eq!(draft.id, Attr::Known("n-1".to_owned()));
/// assert_eq!(draft, NoteDraft::from(NoteIdentity { id: "n-1".to_owned() }));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a model",
    note = "give the struct #[derive(Model)] and its fields #[attr(…)]"
)]
pub trait Model: ObjectConversion {
    /// The object while validating and planning: any attribute may be null or unknown.
    type Draft: ObjectConversion + From<Self> + From<Self::Computed> + From<Self::Identity>;
    /// Attributes that the author of a configuration may set, with defaults, when all is known.
    type Input: ObjectConversion;
    /// Attributes that the provider sets.
    type Computed: ObjectConversion + From<Self>;
    /// Identity of an object: the attributes with the word `identity`.
    type Identity: ObjectConversion;

    /// Whether any part is write-only: [`SomeWriteOnly`] or [`NoneWriteOnly`].
    type WriteOnly: HasWriteOnly;

    /// The names of attributes and blocks.
    const NAMES: &'static [OwnOrFlattenedNames];
    /// Whether the author of a configuration can set any attribute.
    const HAS_SETTABLE: bool;
    /// Whether the provider sets any attribute.
    const HAS_COMPUTED: bool;
    /// Whether it has an identity.
    const HAS_IDENTITY: bool;
    /// Whether an attribute or block can change without a replacement.
    const CHANGES_IN_PLACE: bool = true;

    /// The schema, and the rules for planning and validating.
    fn shape() -> Shape;
}

/// The object while validating and planning: any attribute may be null or unknown.
pub type Draft<M> = <M as Model>::Draft;
/// Attributes that the author of a configuration may set, with defaults, when all is known.
pub type Input<M> = <M as Model>::Input;
/// Attributes that the provider sets.
pub type Computed<M> = <M as Model>::Computed;
/// Identity of an object.
pub type Identity<M> = <M as Model>::Identity;

/// Whether parts of a model are write-only, as a type, so that a model with such parts does not
/// compile where no object is written.
///
/// ```
/// use formwork_sdk::model::HasWriteOnly as _;
/// use formwork_sdk::prelude::*;
///
/// /// A login.
/// #[derive(Model)]
/// struct Login {
///     #[attr(optional, write_only)]
///     password: Option<String>,
/// }
///
/// assert!(<Login as Model>::WriteOnly::HAS_SOME);
/// ```
pub trait HasWriteOnly {
    /// Whether some parts are write-only.
    const HAS_SOME: bool;
}

/// No part is write-only.
///
/// ```
/// use formwork_sdk::model::NoneWriteOnly;
/// use formwork_sdk::prelude::*;
///
/// /// Number of attributes of a model from which everything can be read.
/// fn count_attributes<M: Model<WriteOnly = NoneWriteOnly>>() -> usize {
///     M::NAMES.len()
/// }
///
/// assert_eq!(count_attributes::<()>(), 0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NoneWriteOnly;

/// Some part is write-only.
///
/// See [`HasWriteOnly`] for an example.
#[derive(Clone, Copy, Debug)]
pub struct SomeWriteOnly;

impl HasWriteOnly for NoneWriteOnly {
    const HAS_SOME: bool = false;
}

impl HasWriteOnly for SomeWriteOnly {
    const HAS_SOME: bool = true;
}

/// A condition that chooses one of the two.
///
/// ```
/// use formwork_sdk::model::{ChooseWriteOnly, HasWriteOnly as _, WriteOnlyIf};
///
/// assert!(<WriteOnlyIf<true> as ChooseWriteOnly>::Choice::HAS_SOME);
/// assert!(!<WriteOnlyIf<false> as ChooseWriteOnly>::Choice::HAS_SOME);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WriteOnlyIf<const HAS_SOME: bool>;

/// Type chosen by a condition.
///
/// See [`WriteOnlyIf`] for an example.
pub trait ChooseWriteOnly {
    /// The choice.
    type Choice: HasWriteOnly;
}

impl ChooseWriteOnly for WriteOnlyIf<false> {
    type Choice = NoneWriteOnly;
}

impl ChooseWriteOnly for WriteOnlyIf<true> {
    type Choice = SomeWriteOnly;
}

/// Name of an item in a model, or the names of a flattened model.
///
/// ```
/// use formwork_sdk::model::OwnOrFlattenedNames::{self, Flattened, Own};
///
/// const COMMON: &[OwnOrFlattenedNames] = &[Own("id")];
/// const NAMES: &[OwnOrFlattenedNames] = &[Own("title"), Flattened(COMMON)];
///
/// const { assert!(OwnOrFlattenedNames::list_contains_name("id", NAMES)) };
/// ```
#[derive(Clone, Copy, Debug)]
pub enum OwnOrFlattenedNames {
    /// An attribute or block.
    Own(&'static str),
    /// All names of another model.
    Flattened(&'static [Self]),
}

impl OwnOrFlattenedNames {
    /// Whether `names` contains `name`.
    #[must_use]
    pub const fn list_contains_name(name: &str, names: &[Self]) -> bool {
        // A `const fn` has no `for`.
        let mut index = 0;
        while index < names.len() {
            let is_found = match names[index] {
                Self::Own(own_name) => names_equal(name.as_bytes(), own_name.as_bytes()),
                Self::Flattened(flattened_names) => Self::list_contains_name(name, flattened_names),
            };
            if is_found {
                return true;
            }
            index += 1;
        }
        false
    }

    /// Whether the two lists share a name.
    #[must_use]
    pub const fn lists_share_name(names: &[Self], other_names: &[Self]) -> bool {
        let mut index = 0;
        while index < names.len() {
            let is_found = match names[index] {
                Self::Own(own_name) => Self::list_contains_name(own_name, other_names),
                Self::Flattened(flattened_names) => {
                    Self::lists_share_name(flattened_names, other_names)
                }
            };
            if is_found {
                return true;
            }
            index += 1;
        }
        false
    }
}

/// Comparison of strings. The standard one cannot be used in constants.
const fn names_equal(first: &[u8], second: &[u8]) -> bool {
    let mut index = 0;
    while index < first.len() && index < second.len() && first[index] == second[index] {
        index += 1;
    }
    index == first.len() && index == second.len()
}

/// A struct that describes blocks or nested attributes. Use the derive.
///
/// ```
/// use formwork_sdk::prelude::*;
///
/// /// A port.
/// #[derive(Clone, Debug, Nested)]
/// struct Port {
///     #[attr(required)]
///     number: u16,
/// }
///
/// /// A machine.
/// #[derive(Model)]
/// struct Machine {
///     #[block]
///     ports: Vec<Port>,
/// }
///
/// assert!(Machine::shape().block.blocks.contains_key("ports"));
/// ```
pub trait Nested: Field {
    /// The schema, and the rules for planning and validating.
    fn shape() -> Shape;
}

/// The model without attributes, for example of a provider without configuration.
impl ObjectConversion for () {
    const HOLDS_UNKNOWN: bool = false;

    fn from_value(_: &Value) -> Result<Self, ConversionError> {
        Ok(())
    }

    fn to_value(&self) -> Value {
        Value::object(std::iter::empty::<(&str, Value)>())
    }
}

impl Model for () {
    type Draft = ();
    type Input = ();
    type Computed = ();
    type Identity = ();
    type WriteOnly = NoneWriteOnly;

    const NAMES: &'static [OwnOrFlattenedNames] = &[];
    const HAS_SETTABLE: bool = false;
    const HAS_COMPUTED: bool = false;
    const HAS_IDENTITY: bool = false;
    const CHANGES_IN_PLACE: bool = false;

    fn shape() -> Shape {
        Shape::new("")
    }
}

/// Reads one attribute of an object. A missing one is null.
///
/// # Errors
/// When the field cannot represent it.
pub fn read_attribute<T: Field>(object: &Value, name: &str) -> Result<T, ConversionError> {
    let part = match object {
        Value::Object(object) => object.get(name),
        _ => None,
    };
    let read = match (part, object) {
        (Some(value), _) => T::from_value(value),
        (None, Value::Unknown(_)) => T::from_value(&Value::unknown(T::ty())),
        (None, _) => T::from_value(&Value::null(T::ty())),
    };
    read.map_err(|reason| prepend_step(Step::Attribute(name.into()), reason))
}

/// Rejects a value that is not an object, so that a part of a model is never read from null.
///
/// # Errors
/// When the value is null or of another kind.
pub fn require_object(value: &Value) -> Result<(), ConversionError> {
    match value {
        // The parts of an unknown object are unknown, which `part` returns.
        Value::Object(_) | Value::Unknown(_) => Ok(()),
        _ => Err(conversion_error("an object is required")),
    }
}

/// The names of the attributes of a struct, which all its objects share.
///
/// ```
/// use formwork_sdk::model::SortedNames;
/// use formwork_sdk::value::Value;
///
/// static NAMES: SortedNames<2> = SortedNames::from_sorted(["id", "title"]);
///
/// let note = NAMES.build_object([Value::int(1), Value::string("a")]);
/// assert_eq!(NAMES.values_of_object(&note).map(|[id, _]| id), Some(&Value::int(1)));
/// ```
pub struct SortedNames<const N: usize> {
    sorted: [&'static str; N],
    shared: OnceLock<Arc<[Str]>>,
}

impl<const N: usize> SortedNames<N> {
    /// Names in bytewise order.
    #[must_use]
    pub const fn from_sorted(sorted: [&'static str; N]) -> Self {
        Self { sorted, shared: OnceLock::new() }
    }

    /// The values of an object with exactly these names.
    #[must_use]
    pub fn values_of_object<'v>(&self, value: &'v Value) -> Option<&'v [Value; N]> {
        let Value::Object(object) = value else { return None };
        // Values from a host have the attributes of the schema, so this nearly always holds, and
        // saves a look-up for each field.
        let is_alike = object.names().iter().map(Str::as_str).eq(self.sorted);
        object.values().try_into().ok().filter(|_| is_alike)
    }

    /// An object of values in the order of the names.
    #[must_use]
    pub fn build_object(&self, values: [Value; N]) -> Value {
        // Allocated once: all objects of the type share their names.
        let names = self.shared.get_or_init(|| self.sorted.map(Str::from).into());
        Value::Object(Object::with_names(names.clone(), values.into()))
    }
}

/// One object with the attributes of several models.
#[must_use]
pub fn merge_objects<const N: usize>(objects: [Value; N]) -> Value {
    let objects = objects.iter().filter_map(|object| match object {
        Value::Object(object) => Some(object),
        _ => None,
    });
    let attributes = objects.flat_map(|object| object.iter());
    Value::object(attributes.map(|(name, value)| (name.clone(), value.clone())))
}

/// Calls a typed function for a change of one attribute. Values that do not fit the type count as
/// changed.
pub fn call_replace_condition<T: Field>(
    prior: &Value,
    planned: &Value,
    ask: fn(&T, &T) -> bool,
) -> bool {
    match (T::from_value(prior), T::from_value(planned)) {
        (Ok(prior), Ok(planned)) => ask(&prior, &planned),
        // An unknown value may become a change that requires replacement.
        _ => true,
    }
}

/// Reads an object, or returns the reason why it cannot be read.
pub(crate) fn struct_from_object<V: ObjectConversion>(value: &Value) -> Answer<V> {
    V::from_value(value).map_err(|ConversionError { path, reason }| {
        let path_text = path.to_string();
        let path_text = path_text.trim_start_matches('.');
        let detail = format!("Inappropriate value for `{path_text}`: {reason}.");
        Problem::new("Incorrect attribute value", detail).at(path)
    })
}

#[cfg(test)]
mod tests;
