//! Possible conversions between types, independent of values.

use std::collections::BTreeMap;

use super::ObjectType;
use super::unify::unify_with_safety;
use crate::{Str, Type};

/// Set of conversions to consider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConversionSafety {
    /// Only conversions that succeed for every value and lose nothing.
    Safe,
    /// Also conversions that fail for some values, such as a string that is not a number.
    Unsafe,
}

/// Whether values of the type `from` convert to `to`, some of them at least.
pub(crate) fn can_convert(from: &Type, to: &Type, safety: ConversionSafety) -> bool {
    use Type::{Bool, Dynamic, List, Map, Number, Object, Set, String, Tuple};
    match (from, to) {
        (_, Dynamic) => true,
        // The type may become any type, so some values convert, but not all.
        (Dynamic, _) => safety == ConversionSafety::Unsafe,
        (Bool, Bool) | (Number, Number) | (String, String) => true,
        (Bool | Number, String) => true,
        (String, Bool | Number) => safety == ConversionSafety::Unsafe,
        (Object(from), Object(to)) => {
            to.attributes.iter().all(|(name, to_ty)| match from.attributes.get(name) {
                Some(from_ty) => can_convert(from_ty, to_ty, safety),
                None => to.optional.contains(name),
            })
        }
        (Tuple(from), Tuple(to)) => {
            from.len() == to.len()
                && from.iter().zip(to.iter()).all(|(from, to)| can_convert(from, to, safety))
        }
        // A set loses the order of a list and elements that are equal.
        (List(_), Set(_)) if safety == ConversionSafety::Safe => false,
        (List(from) | Set(from), List(to) | Set(to)) | (Map(from), Map(to)) => {
            can_convert(from, to, safety)
        }
        (Tuple(from), List(to) | Set(to)) => match (&**to, from.as_slice()) {
            // An empty tuple has no element that could refuse.
            (_, []) => true,
            (Dynamic, from) => known_common_element_type(safety, from)
                .is_some_and(|to| can_convert_all(from, &to, safety)),
            (to, from) => can_convert_all(from, to, safety),
        },
        (Object(from), Map(to)) => can_convert_object_to_map(from, to, safety),
        (Map(from), Object(to)) if safety == ConversionSafety::Unsafe => {
            let fits = |(name, to_ty): (&Str, &Type)| {
                // A map may lack the element that an optional attribute would not take.
                can_convert(from, to_ty, safety) || to.optional.contains(name)
            };
            to.attributes.iter().all(fits)
        }
        _ => false,
    }
}

/// Returns whether all elements convert. Adjacent equal types are common, and are checked once.
fn can_convert_all(from: &[Type], to: &Type, safety: ConversionSafety) -> bool {
    let like_the_last = |at: usize| at > 0 && from[at] == from[at - 1];
    (0..from.len()).all(|at| like_the_last(at) || can_convert(&from[at], to, safety))
}

fn can_convert_object_to_map(from: &ObjectType, to: &Type, safety: ConversionSafety) -> bool {
    let mut attributes = from.attributes.values();
    if *to != Type::Dynamic || from.attributes.is_empty() {
        return attributes.all(|from| can_convert(from, to, safety));
    }
    let types: Vec<Type> = attributes.clone().cloned().collect();
    unify_with_safety(safety, &types)
        .is_some_and(|to| attributes.all(|from| can_convert(from, &to, safety)))
}

/// The type that a list or map of any one type gets from elements of these types.
pub(crate) fn common_element_type(types: &[Type]) -> Option<Type> {
    if types.is_empty() {
        return Some(Type::Dynamic);
    }
    unify_with_safety(ConversionSafety::Unsafe, types)
}

/// As [`common_element_type`]; a type not known yet among known ones leaves none.
pub(crate) fn known_common_element_type(safety: ConversionSafety, types: &[Type]) -> Option<Type> {
    let unified = unify_with_safety(safety, types)?;
    let all_dynamic = || types.iter().all(|ty| *ty == Type::Dynamic);
    (unified != Type::Dynamic || all_dynamic()).then_some(unified)
}

/// Returns the type `to` with the parts of `from` where `to` is `Dynamic`: the type of a null or unknown
/// value of the type `from` after conversion.
pub(crate) fn replace_dynamic(from: &Type, to: &Type) -> Type {
    if *from == Type::Dynamic || !to.has_dynamic() {
        return to.clone();
    }
    let unified = |types: Vec<Type>| {
        unify_with_safety(ConversionSafety::Unsafe, &types).unwrap_or(Type::Dynamic)
    };
    match (from, to) {
        (_, Type::Dynamic) => from.clone(),
        (Type::Map(from), Type::Map(to)) => Type::map(replace_dynamic(from, to)),
        (Type::Object(from), Type::Map(to)) => {
            let common = unified(from.attributes.values().cloned().collect());
            Type::map(replace_dynamic(&common, to))
        }
        (Type::List(from) | Type::Set(from), Type::List(to)) => {
            Type::list(replace_dynamic(from, to))
        }
        (Type::List(from) | Type::Set(from), Type::Set(to)) => Type::set(replace_dynamic(from, to)),
        (Type::Tuple(from), Type::List(to)) => {
            Type::list(replace_dynamic(&unified(from.to_vec()), to))
        }
        (Type::Tuple(from), Type::Set(to)) => {
            Type::set(replace_dynamic(&unified(from.to_vec()), to))
        }
        (Type::Tuple(from), Type::Tuple(to)) => {
            Type::tuple(from.iter().zip(to.iter()).map(|(a, b)| replace_dynamic(a, b)).collect())
        }
        (Type::Object(from), Type::Object(to)) => {
            replace_dynamic_in_attributes(to, |name| from.attributes.get(name))
        }
        (Type::Map(from), Type::Object(to)) => replace_dynamic_in_attributes(to, |_| Some(&**from)),
        _ => to.clone(),
    }
}

fn replace_dynamic_in_attributes<'t>(
    to: &ObjectType,
    from: impl Fn(&str) -> Option<&'t Type>,
) -> Type {
    let replaced: BTreeMap<Str, Type> = to
        .attributes
        .iter()
        .map(|(name, to)| {
            let ty = from(name).map_or_else(|| to.clone(), |from| replace_dynamic(from, to));
            (name.clone(), ty)
        })
        .collect();
    Type::object(replaced)
}
