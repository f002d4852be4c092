//! Types of values. [`unify`] unifies them, `convert` converts values.

mod conform;
pub(crate) mod conversion;
pub mod unify;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::Str;

/// A type of the language. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Any type. As the type of a value: its type is unknown.
    Dynamic,
    /// True or false.
    Bool,
    /// A number of any size.
    Number,
    /// Unicode text in normal form C.
    String,
    /// A sequence of values of one type.
    List(Arc<Self>),
    /// Distinct values of one type, without order.
    Set(Arc<Self>),
    /// Values of one type under string keys.
    Map(Arc<Self>),
    /// A sequence whose every element has its own type.
    Tuple(Arc<Vec<Self>>),
    /// Named attributes, each with its own type.
    Object(Arc<ObjectType>),
}

/// The attributes of an object type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ObjectType {
    /// Attribute types by name.
    pub attributes: BTreeMap<Str, Type>,
    /// Names of optional attributes, only in type constraints.
    pub optional: std::collections::BTreeSet<Str>,
    names: CachedNames,
}

impl ObjectType {
    /// The names of the attributes, sorted bytewise, computed on first use. All objects that are
    /// decoded as this type share them, independent of the source text.
    #[must_use]
    pub fn names(&self) -> Arc<[Str]> {
        let collect_names = || self.attributes.keys().cloned().collect();
        Arc::clone(self.names.0.get_or_init(collect_names))
    }
}

/// Names that are derived from the attributes: without effect on equality, and not copied, because a
/// copy may get other attributes.
#[derive(Debug, Default)]
struct CachedNames(OnceLock<Arc<[Str]>>);

impl Clone for CachedNames {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for CachedNames {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for CachedNames {}

impl std::hash::Hash for CachedNames {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl Type {
    /// The deepest nesting that any reader of types accepts.
    pub const MAX_DEPTH: usize = 500;

    /// A list of `element`.
    #[must_use]
    pub fn list(element: Self) -> Self {
        Self::List(Arc::new(element))
    }

    /// A set of `element`.
    #[must_use]
    pub fn set(element: Self) -> Self {
        Self::Set(Arc::new(element))
    }

    /// A map of `element`.
    #[must_use]
    pub fn map(element: Self) -> Self {
        Self::Map(Arc::new(element))
    }

    /// A tuple.
    #[must_use]
    pub fn tuple(elements: Vec<Self>) -> Self {
        Self::Tuple(Arc::new(elements))
    }

    /// An object whose attributes are all required.
    #[must_use]
    pub fn object(attributes: impl IntoIterator<Item = (impl Into<Str>, Self)>) -> Self {
        let attributes = attributes.into_iter().map(|(name, ty)| (name.into(), ty)).collect();
        Self::Object(Arc::new(ObjectType { attributes, ..ObjectType::default() }))
    }

    /// Whether this is bool, number or string.
    #[must_use]
    pub fn is_primitive(&self) -> bool {
        matches!(self, Self::Bool | Self::Number | Self::String)
    }

    /// Whether this is a list, set or map.
    #[must_use]
    pub fn is_collection(&self) -> bool {
        matches!(self, Self::List(_) | Self::Set(_) | Self::Map(_))
    }

    /// Whether [`Type::Dynamic`] occurs anywhere inside.
    #[must_use]
    pub fn has_dynamic(&self) -> bool {
        match self {
            Self::Dynamic => true,
            Self::Bool | Self::Number | Self::String => false,
            Self::List(element) | Self::Set(element) | Self::Map(element) => element.has_dynamic(),
            Self::Tuple(elements) => elements.iter().any(Self::has_dynamic),
            Self::Object(object) => object.attributes.values().any(Self::has_dynamic),
        }
    }

    /// The element type of a list, set or map.
    #[must_use]
    pub fn element(&self) -> Option<&Self> {
        match self {
            Self::List(element) | Self::Set(element) | Self::Map(element) => Some(element),
            _ => None,
        }
    }

    /// Returns the type of values: without the names of optional attributes.
    #[must_use]
    pub fn without_optional(&self) -> Self {
        if !self.has_optional() {
            return self.clone();
        }
        match self {
            Self::Dynamic | Self::Bool | Self::Number | Self::String => self.clone(),
            Self::List(element) => Self::list(element.without_optional()),
            Self::Set(element) => Self::set(element.without_optional()),
            Self::Map(element) => Self::map(element.without_optional()),
            Self::Tuple(elements) => {
                Self::tuple(elements.iter().map(Self::without_optional).collect())
            }
            Self::Object(object) => {
                let attributes = &object.attributes;
                Self::object(attributes.iter().map(|(name, ty)| (name, ty.without_optional())))
            }
        }
    }

    fn has_optional(&self) -> bool {
        match self {
            Self::Dynamic | Self::Bool | Self::Number | Self::String => false,
            Self::List(element) | Self::Set(element) | Self::Map(element) => element.has_optional(),
            Self::Tuple(elements) => elements.iter().any(Self::has_optional),
            Self::Object(object) => {
                !object.optional.is_empty() || object.attributes.values().any(Self::has_optional)
            }
        }
    }

    /// Returns the name of the type of a value, for messages: `list of string`, `object`.
    #[must_use]
    pub fn friendly_name(&self) -> String {
        self.name_with_dynamic_words("dynamic", "dynamic")
    }

    /// Returns the name of the type as a requirement, for messages: `any type`,
    /// `list of any single type`.
    #[must_use]
    pub fn friendly_constraint(&self) -> String {
        self.name_with_dynamic_words("any type", "any single type")
    }

    /// The name, with the words for `Dynamic` by itself and as the type of elements.
    fn name_with_dynamic_words(&self, dynamic: &str, dynamic_element: &str) -> String {
        let element =
            |element: &Self| element.name_with_dynamic_words(dynamic_element, dynamic_element);
        match self {
            Self::Dynamic => dynamic.into(),
            Self::Bool => "bool".into(),
            Self::Number => "number".into(),
            Self::String => "string".into(),
            Self::List(ty) => format!("list of {}", element(ty)),
            Self::Set(ty) => format!("set of {}", element(ty)),
            Self::Map(ty) => format!("map of {}", element(ty)),
            Self::Tuple(_) => "tuple".into(),
            Self::Object(_) => "object".into(),
        }
    }
}

/// Prints the type as a constraint is written in the language: `list(object({a=string}))`.
impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Dynamic => f.write_str("any"),
            Self::Bool => f.write_str("bool"),
            Self::Number => f.write_str("number"),
            Self::String => f.write_str("string"),
            Self::List(element) => write!(f, "list({element})"),
            Self::Set(element) => write!(f, "set({element})"),
            Self::Map(element) => write!(f, "map({element})"),
            Self::Tuple(elements) => {
                f.write_str("tuple([")?;
                for (at, element) in elements.iter().enumerate() {
                    let comma = if at > 0 { ", " } else { "" };
                    write!(f, "{comma}{element}")?;
                }
                f.write_str("])")
            }
            Self::Object(object) => {
                f.write_str("object({")?;
                for (at, (name, ty)) in object.attributes.iter().enumerate() {
                    let comma = if at > 0 { ", " } else { "" };
                    if object.optional.contains(name) {
                        write!(f, "{comma}{name}=optional({ty})")?;
                    } else {
                        write!(f, "{comma}{name}={ty}")?;
                    }
                }
                f.write_str("})")
            }
        }
    }
}
