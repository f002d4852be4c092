//! Equality of two values, as far as known.

use std::cmp::Ordering;

use super::bool_or_unknown;
use crate::{Refinement, Type, Value};

/// `left == right`: of one type and equal in every part, or both null. Marks on any part count.
#[must_use]
pub fn equal(left: &Value, right: &Value) -> Value {
    bool_or_unknown(values_equal(left, right)).mark(left.all_marks() | right.all_marks())
}

/// `left != right`.
#[must_use]
pub fn not_equal(left: &Value, right: &Value) -> Value {
    let same = values_equal(left, right);
    bool_or_unknown(same.map(|same| !same)).mark(left.all_marks() | right.all_marks())
}

/// Returns whether two values are equal, or `None` if it depends on an unknown part.
pub(super) fn values_equal(left: &Value, right: &Value) -> Option<bool> {
    match (left.without_own_marks(), right.without_own_marks()) {
        // These do not need the types of the values, which would have to be computed.
        (Value::String(a), Value::String(b)) => return Some(a == b),
        (Value::Number(a), Value::Number(b)) => return Some(a == b),
        (Value::Bool(a), Value::Bool(b)) => return Some(a == b),
        (Value::Null(_), other) | (other, Value::Null(_)) => return equals_null(other),
        (a @ Value::Unknown(_), b) | (b, a @ Value::Unknown(_)) => return equals_unknown(a, b),
        _ => {}
    }
    let (left_ty, right_ty) = (left.ty(), right.ty());
    if has_part_of_unknown_type(left) || has_part_of_unknown_type(right) {
        // Parts whose type is not known yet may get the other's.
        let may_agree = type_conforms(&left_ty, &right_ty) || type_conforms(&right_ty, &left_ty);
        return if may_agree { None } else { Some(false) };
    }
    if left_ty == right_ty { parts_equal(left, right) } else { Some(false) }
}

/// Nulls of all types are equal.
fn equals_null(other: &Value) -> Option<bool> {
    match other {
        Value::Null(_) => Some(true),
        other if other.known_facts().not_null => Some(false),
        _ => None,
    }
}

fn equals_unknown(unknown: &Value, other: &Value) -> Option<bool> {
    if other.is_unknown() {
        return None;
    }
    let excluded = !type_conforms(&other.ty(), &unknown.ty())
        || refinement_excludes(&unknown.known_facts(), other);
    excluded.then_some(false)
}

/// Returns whether the refinements of an unknown value exclude `other`.
fn refinement_excludes(range: &Refinement, other: &Value) -> bool {
    match other {
        Value::String(text) => {
            range.prefix.as_ref().is_some_and(|prefix| !text.starts_with(prefix.as_str()))
        }
        Value::Number(number) => {
            let outside = |bound: &Option<(crate::Number, bool)>, beyond: Ordering| {
                bound.as_ref().is_some_and(|(bound, inclusive)| match number.compare(bound) {
                    // Numbers of different precision may be equal and yet not the same.
                    Ordering::Equal => !inclusive,
                    order => order == beyond && number != bound,
                })
            };
            outside(&range.lower, Ordering::Less) || outside(&range.upper, Ordering::Greater)
        }
        Value::List(_) | Value::Set(_) | Value::Map(_) => {
            let other = other.known_facts();
            let too_short = other.max_length.is_some_and(|most| most < range.min_length);
            too_short || range.max_length.is_some_and(|most| other.min_length > most)
        }
        _ => false,
    }
}

/// Compares the parts of two known values of one type.
fn parts_equal(left: &Value, right: &Value) -> Option<bool> {
    let (left, right) = (left.without_own_marks(), right.without_own_marks());
    let (a, b) = (left.children(), right.children());
    let mut parts = a.iter().zip(b).map(|(a, b)| typed_values_equal(a, b));
    match (left, right) {
        // Keys are always known, so different keys decide before any value is compared.
        (Value::Map(left_entries), Value::Map(right_entries))
            if left_entries.keys() != right_entries.keys() =>
        {
            Some(false)
        }
        (Value::Map(_), _) | (Value::Object(_), _) => {
            // Any part that differs decides, independent of the order of comparison.
            let mut result = Some(true);
            for part in parts {
                match part {
                    Some(true) => {}
                    Some(false) => return Some(false),
                    None => result = None,
                }
            }
            result
        }
        // An unknown element may equal any of the others, so that even the number of elements is
        // unknown.
        (Value::Set(_), _) if !left.is_wholly_known() || !right.is_wholly_known() => None,
        _ if a.len() != b.len() => Some(false),
        // The first part that is not equal decides, also by being unknown.
        _ => parts.find(|part| *part != Some(true)).unwrap_or(Some(true)),
    }
}

/// Compares values at one path of two values of one type: the types agree except for nulls.
fn typed_values_equal(left: &Value, right: &Value) -> Option<bool> {
    match (left.without_own_marks(), right.without_own_marks()) {
        (
            Value::List(_) | Value::Set(_) | Value::Map(_) | Value::Tuple(_) | Value::Object(_),
            other,
        ) if !matches!(other, Value::Null(_) | Value::Unknown(_)) => parts_equal(left, right),
        _ => values_equal(left, right),
    }
}

/// Returns whether a part is unknown and of unknown type.
fn has_part_of_unknown_type(value: &Value) -> bool {
    match value.without_own_marks() {
        Value::Unknown(unknown) => *unknown.ty() == Type::Dynamic,
        value => !value.is_wholly_known() && value.children().iter().any(has_part_of_unknown_type),
    }
}

/// Returns whether a type equals `required`, except where `required` is `Dynamic`.
fn type_conforms(ty: &Type, required: &Type) -> bool {
    match (ty, required) {
        (_, Type::Dynamic) => true,
        (Type::List(ty), Type::List(required))
        | (Type::Set(ty), Type::Set(required))
        | (Type::Map(ty), Type::Map(required)) => type_conforms(ty, required),
        (Type::Tuple(ty), Type::Tuple(required)) => {
            ty.len() == required.len()
                && ty.iter().zip(required.iter()).all(|(ty, required)| type_conforms(ty, required))
        }
        (Type::Object(ty), Type::Object(required)) => {
            let (attributes, required) = (&ty.attributes, &required.attributes);
            attributes.keys().eq(required.keys())
                && attributes
                    .values()
                    .zip(required.values())
                    .all(|(ty, required)| type_conforms(ty, required))
        }
        (ty, required) => ty == required,
    }
}
