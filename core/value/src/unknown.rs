//! Unknown values and their refinements.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::{Number, Str, Type, Value};

/// The longest list that replaces an unknown one of known length.
const MAX_EXPANDED_LIST_LENGTH: u64 = 1024;

/// An unknown value: its type, and refinements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    ty: Type,
    refinement: Refinement,
}

/// The refinements of an unknown value. The default has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refinement {
    /// The value is certainly not null.
    pub not_null: bool,
    /// Of a string: its known prefix. Empty if unknown.
    pub prefix: Option<Str>,
    /// Of a number: lower bound, and whether it is inclusive.
    pub lower: Option<(Number, bool)>,
    /// Of a number: upper bound, and whether it is inclusive.
    pub upper: Option<(Number, bool)>,
    /// Of a collection: the minimum length, or 0 if unknown.
    pub min_length: u64,
    /// Of a collection: the greatest length.
    pub max_length: Option<u64>,
}

impl Unknown {
    /// Creates an unknown value of a type, without refinements.
    #[must_use]
    pub fn new(ty: Type) -> Self {
        Self { ty, refinement: Refinement::default() }
    }

    /// Creates a refined unknown value. Refinements that do not apply to the type are dropped.
    /// [`Value::refined`] handles the case that only one value is possible.
    #[must_use]
    pub fn refined(ty: Type, refinement: Refinement) -> Self {
        let refinement = refinement.restricted_to_type(&ty);
        Self { ty, refinement }
    }

    /// The type.
    #[must_use]
    pub fn ty(&self) -> &Type {
        &self.ty
    }

    /// Returns the refinements of the value.
    #[must_use]
    pub fn refinement(&self) -> &Refinement {
        &self.refinement
    }
}

impl Refinement {
    /// Returns refinements for a value that is not null.
    #[must_use]
    pub fn not_null() -> Self {
        Self { not_null: true, ..Self::default() }
    }

    /// Combines two refinements of the same value.
    #[must_use]
    pub fn intersect(self, other: &Self) -> Self {
        let prefix = match (self.prefix, &other.prefix) {
            // Both are valid, so the longer one is more precise.
            (Some(prefix), Some(other)) if other.len() > prefix.len() => Some(other.clone()),
            (prefix, other) => prefix.or_else(|| other.clone()),
        };
        Self {
            not_null: self.not_null || other.not_null,
            prefix,
            lower: tighter_bound(self.lower, other.lower.as_ref(), Ordering::Greater),
            upper: tighter_bound(self.upper, other.upper.as_ref(), Ordering::Less),
            min_length: self.min_length.max(other.min_length),
            max_length: match (self.max_length, other.max_length) {
                (Some(length), Some(other)) => Some(length.min(other)),
                (length, other) => length.or(other),
            },
        }
    }

    /// Returns the refinements that apply to values of the type.
    fn restricted_to_type(self, ty: &Type) -> Self {
        let mut about = match ty {
            Type::Dynamic => return Self::default(),
            Type::String => Self { prefix: self.prefix, ..Self::default() },
            Type::Number => Self { lower: self.lower, upper: self.upper, ..Self::default() },
            Type::List(_) | Type::Set(_) | Type::Map(_) => {
                Self { min_length: self.min_length, max_length: self.max_length, ..Self::default() }
            }
            Type::Bool | Type::Tuple(_) | Type::Object(_) => Self::default(),
        };
        about.not_null = self.not_null;
        about.prefix = about.prefix.filter(|prefix| !prefix.is_empty());
        // Infinite bounds include every number.
        about.lower = about.lower.filter(|(number, _)| *number != Number::infinity(true));
        about.upper = about.upper.filter(|(number, _)| *number != Number::infinity(false));
        about
    }

    /// Returns the only possible value of the type, if exactly one is possible.
    fn only_value(&self, ty: &Type) -> Option<Value> {
        // Null is always another possibility.
        if !self.not_null {
            return None;
        }
        match (ty, self.max_length) {
            (Type::Number, _) => match (&self.lower, &self.upper) {
                (Some((low, true)), Some((high, true))) if low == high => {
                    Some(Value::Number(low.clone()))
                }
                _ => None,
            },
            (_, Some(length)) if length != self.min_length => None,
            (Type::List(element), Some(length)) if length <= MAX_EXPANDED_LIST_LENGTH => {
                let n_items = usize::try_from(length).unwrap_or(0);
                let unknown = Value::unknown((**element).clone());
                Some(Value::list((**element).clone(), vec![unknown; n_items]))
            }
            // Two unknown elements may be equal, so a longer set remains wholly unknown.
            (Type::Set(element), Some(length)) if length <= 1 => {
                let unknown = (length == 1).then(|| Value::unknown((**element).clone()));
                Some(Value::set((**element).clone(), unknown.into_iter().collect()))
            }
            // The keys of a longer map are not known.
            (Type::Map(element), Some(0)) => {
                Some(Value::map((**element).clone(), Vec::<(Str, Value)>::new()))
            }
            _ => None,
        }
    }
}

type NumberBound = (Number, bool);

fn tighter_bound(
    bound: Option<NumberBound>,
    other: Option<&NumberBound>,
    inward: Ordering,
) -> Option<NumberBound> {
    match (bound, other) {
        (Some(bound), Some(other)) => Some(match other.0.compare(&bound.0) {
            // An exclusive bound is stricter.
            Ordering::Equal => (bound.0, bound.1 && other.1),
            order if order == inward => other.clone(),
            _ => bound,
        }),
        (bound, other) => bound.or_else(|| other.cloned()),
    }
}

impl Value {
    /// Creates a refined unknown value. Refinements that do not apply to the type are dropped. A value
    /// of unknown type has none. If only one value is possible, the result is that value: a number
    /// between equal bounds, an empty collection, a list of a known number of unknown elements.
    #[must_use]
    pub fn refined(ty: Type, refinement: Refinement) -> Self {
        let unknown = Unknown::refined(ty, refinement);
        let only = unknown.refinement.only_value(&unknown.ty);
        only.unwrap_or_else(|| Self::Unknown(Arc::new(unknown)))
    }

    /// Creates an unknown value that is not null.
    #[must_use]
    pub fn unknown_not_null(ty: Type) -> Self {
        Self::refined(ty, Refinement::not_null())
    }

    /// Returns an unknown value with additional refinements, and keeps marks. Other values are not
    /// changed. The caller ensures that `refinement` is valid.
    #[must_use]
    pub fn refine(self, refinement: &Refinement) -> Self {
        match self.without_own_marks() {
            Self::Unknown(unknown) => {
                let both = unknown.refinement.clone().intersect(refinement);
                Self::refined(unknown.ty.clone(), both).mark(self.marks())
            }
            _ => self,
        }
    }

    /// Returns the refinements that are valid for a known or unknown value, or none for null. Marks are
    /// ignored.
    #[must_use]
    pub fn known_facts(&self) -> Refinement {
        let exactly = |length: usize| (length as u64, Some(length as u64));
        let (min_length, max_length) = match self.without_own_marks() {
            Self::Null(_) => return Refinement::default(),
            Self::Unknown(unknown) => return unknown.refinement.clone(),
            // Unknown elements may equal others.
            Self::Set(set) if set.items().len() > 1 && !self.is_wholly_known() => {
                (1, Some(set.items().len() as u64))
            }
            collection @ (Self::List(_) | Self::Set(_) | Self::Map(_)) => {
                exactly(collection.children().len())
            }
            _ => (0, None),
        };
        let mut range = Refinement { min_length, max_length, ..Refinement::not_null() };
        match self.without_own_marks() {
            Self::String(text) => range.prefix = Some(text.clone()),
            Self::Number(number) => {
                range.lower = Some((number.clone(), true));
                range.upper = Some((number.clone(), true));
            }
            _ => {}
        }
        range
    }
}
