//! The common type of several types, to which all of them convert. Values are not converted here.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};

use super::Type;
use super::conversion::{ConversionSafety, can_convert};
use crate::Str;

/// Returns the type to which all of `types` convert, or `None` if it does not exist or `types` is empty.
///
/// Objects with the same attributes remain objects and tuples of one length remain tuples, part by part.
/// Others become maps and lists. Of primitive types, the one to which the others convert is chosen,
/// which is string if one of them is string. If one of the types is unknown, the result of two
/// collections is also unknown.
#[must_use]
pub fn unify(types: &[Type]) -> Option<Type> {
    unify_with_safety(ConversionSafety::Unsafe, types)
}

/// Unifies with conversions of one kind only.
pub(crate) fn unify_with_safety(safety: ConversionSafety, types: &[Type]) -> Option<Type> {
    let first = types.first()?;
    if types.iter().all(|ty| ty == first) {
        return Some(first.clone());
    }
    // A tuple of thousands of elements has few types, and preferences are compared pair by pair.
    let types = distinct_types(types);
    let count = |is: fn(&Type) -> bool| types.iter().filter(|ty| is(ty)).count();
    let n_dynamic = count(|ty| matches!(ty, Type::Dynamic));
    let n_lists = count(|ty| matches!(ty, Type::List(_)));
    let n_sets = count(|ty| matches!(ty, Type::Set(_)));
    let n_maps = count(|ty| matches!(ty, Type::Map(_)));
    let n_tuples = count(|ty| matches!(ty, Type::Tuple(_)));
    let n_objects = count(|ty| matches!(ty, Type::Object(_)));
    let all = |n: usize| n > 0 && n + n_dynamic == types.len();

    // The result depends on unknown types.
    let collections = [n_maps, n_lists, n_sets, n_objects, n_tuples];
    if n_dynamic > 0 && collections.into_iter().any(all) {
        return Some(Type::Dynamic);
    }
    if all(n_maps) || all(n_lists) || all(n_sets) {
        return unify_collections(safety, &types);
    }
    if all(n_objects) {
        return unify_objects(safety, &types);
    }
    if all(n_tuples) {
        return unify_tuples(safety, &types);
    }
    let structural_as_collections = if n_maps > 0 && all(n_maps + n_objects) {
        unify_structural_as_collection(
            safety,
            &types,
            |ty| matches!(ty, Type::Object(_)),
            unify_objects_as_map,
        )
    } else if n_lists > 0 && all(n_lists + n_tuples) {
        unify_structural_as_collection(
            safety,
            &types,
            |ty| matches!(ty, Type::Tuple(_)),
            unify_tuples_as_list,
        )
    } else {
        None
    };
    if structural_as_collections.is_some() {
        return structural_as_collections;
    }
    // The two have no common type: an object becomes a map, a tuple becomes a list or set.
    if n_objects > 0 && n_tuples > 0 {
        return None;
    }
    // These kinds do not convert to each other, so they have no common type.
    let n_mappings = n_maps + n_objects;
    let n_sequences = n_lists + n_sets + n_tuples;
    if [n_mappings, n_sequences].into_iter().any(|n| n > 0 && !all(n)) {
        return (n_dynamic > 0).then_some(Type::Dynamic);
    }
    preferred_type(safety, &types)
}

#[expect(clippy::mutable_key_type, reason = "the names that a type keeps are no part of its hash")]
fn distinct_types(types: &[Type]) -> Vec<Type> {
    let mut seen = HashSet::new();
    types.iter().filter(|ty| seen.insert(*ty)).cloned().collect()
}

/// Returns the preferred one of those `types` to which all of them convert.
fn preferred_type(safety: ConversionSafety, types: &[Type]) -> Option<Type> {
    let fits = |want: &&Type| types.iter().all(|ty| ty == *want || can_convert(ty, want, safety));
    let fitting: Vec<&Type> = types.iter().filter(fits).collect();
    preferred_order(&fitting).first().map(|&at| fitting[at].clone())
}

fn unify_collections(safety: ConversionSafety, types: &[Type]) -> Option<Type> {
    let elements: Vec<Type> = types.iter().filter_map(Type::element).cloned().collect();
    let element = unify_with_safety(safety, &elements)?;
    match types.first()? {
        Type::List(_) => Some(Type::list(element)),
        Type::Set(_) => Some(Type::set(element)),
        _ => Some(Type::map(element)),
    }
}

fn unify_objects(safety: ConversionSafety, types: &[Type]) -> Option<Type> {
    let objects: Vec<&BTreeMap<Str, Type>> = types
        .iter()
        .filter_map(|ty| match ty {
            Type::Object(object) => Some(&object.attributes),
            _ => None,
        })
        .collect();
    let first = objects.first()?;
    if objects.iter().any(|object| !object.keys().eq(first.keys())) {
        return unify_objects_as_map(safety, types);
    }
    // If an attribute has no common type, a map has none either.
    let unified = first.keys().map(|name| {
        let across: Vec<Type> =
            objects.iter().filter_map(|object| object.get(name.as_str())).cloned().collect();
        Some((name, unify_with_safety(safety, &across)?))
    });
    Some(Type::object(unified.collect::<Option<Vec<_>>>()?))
}

fn unify_objects_as_map(safety: ConversionSafety, types: &[Type]) -> Option<Type> {
    let attributes: Vec<Type> = types
        .iter()
        .flat_map(|ty| match ty {
            Type::Object(object) => object.attributes.values().cloned().collect(),
            _ => Vec::new(),
        })
        .collect();
    let unified = Type::map(unify_with_safety(safety, &attributes)?);
    types.iter().all(|ty| can_convert(ty, &unified, safety)).then_some(unified)
}

fn unify_tuples(safety: ConversionSafety, types: &[Type]) -> Option<Type> {
    let tuples: Vec<&[Type]> = types
        .iter()
        .filter_map(|ty| match ty {
            Type::Tuple(elements) => Some(elements.as_slice()),
            _ => None,
        })
        .collect();
    let length = tuples.first()?.len();
    if tuples.iter().any(|tuple| tuple.len() != length) {
        return unify_tuples_as_list(safety, types);
    }
    let unified = (0..length).map(|at| {
        let across: Vec<Type> = tuples.iter().map(|tuple| tuple[at].clone()).collect();
        unify_with_safety(safety, &across)
    });
    Some(Type::tuple(unified.collect::<Option<Vec<_>>>()?))
}

fn unify_tuples_as_list(safety: ConversionSafety, types: &[Type]) -> Option<Type> {
    let elements: Vec<Type> = types
        .iter()
        .flat_map(|ty| match ty {
            Type::Tuple(elements) => elements.to_vec(),
            _ => Vec::new(),
        })
        .collect();
    let unified = Type::list(unify_with_safety(safety, &elements)?);
    types.iter().all(|ty| can_convert(ty, &unified, safety)).then_some(unified)
}

/// Replaces the types that are `structural` with the collection type that `as_collection` returns for
/// them, and unifies it with the others. Returns `None` if the result is not a collection.
fn unify_structural_as_collection(
    safety: ConversionSafety,
    types: &[Type],
    structural: fn(&Type) -> bool,
    as_collection: fn(ConversionSafety, &[Type]) -> Option<Type>,
) -> Option<Type> {
    let (inside, mut others): (Vec<Type>, Vec<Type>) = types.iter().cloned().partition(structural);
    others.push(as_collection(safety, &inside)?);
    let unified = unify_with_safety(safety, &others).filter(Type::is_collection)?;
    // An unknown type inside the collection may have become the type of the others.
    types.iter().all(|ty| can_convert(ty, &unified, safety)).then_some(unified)
}

/// Returns the indexes of types, with conversion targets before their sources. Types without such a
/// relation keep their order.
fn preferred_order(types: &[&Type]) -> Vec<usize> {
    let mut after = vec![Vec::new(); types.len()];
    let mut n_before = vec![0usize; types.len()];
    for (at, ty) in types.iter().enumerate() {
        for (later, later_ty) in types.iter().enumerate().skip(at + 1) {
            let (first, second) = match compare_preference(ty, later_ty) {
                Ordering::Less => (at, later),
                Ordering::Greater => (later, at),
                Ordering::Equal => continue,
            };
            after[first].push(second);
            n_before[second] += 1;
        }
    }
    let mut order: Vec<usize> = (0..types.len()).filter(|&at| n_before[at] == 0).collect();
    let mut next = 0;
    while let Some(&at) = order.get(next) {
        next += 1;
        for &later in &after[at] {
            n_before[later] -= 1;
            if n_before[later] == 0 {
                order.push(later);
            }
        }
    }
    order
}

/// Order of preference of two types as the common type: the lesser one is preferred.
fn compare_preference(a: &Type, b: &Type) -> Ordering {
    use Type::{Dynamic, List, Map, Object, Set, String, Tuple};
    match (a, b) {
        (Dynamic, Dynamic) | (String, String) => Ordering::Equal,
        (_, Dynamic) => Ordering::Less,
        (Dynamic, _) => Ordering::Greater,
        (String, other) if other.is_primitive() => Ordering::Less,
        (other, String) if other.is_primitive() => Ordering::Greater,
        (List(a), List(b)) | (Set(a), Set(b)) | (Map(a), Map(b)) => compare_preference(a, b),
        // A list keeps what a set loses, and a collection takes more than a structure.
        (List(_), Set(_)) | (Tuple(_), Set(_)) => Ordering::Less,
        (Set(_), List(_)) | (Set(_), Tuple(_)) => Ordering::Greater,
        (List(_), Tuple(_)) | (Map(_), Object(_)) => Ordering::Less,
        (Tuple(_), List(_)) | (Object(_), Map(_)) => Ordering::Greater,
        (Tuple(a), Tuple(b)) if a.len() == b.len() => overall_preference(a.iter().zip(b.iter())),
        (Object(a), Object(b)) if a.attributes.keys().eq(b.attributes.keys()) => {
            overall_preference(a.attributes.values().zip(b.attributes.values()))
        }
        _ => Ordering::Equal,
    }
}

/// Returns the preference that all parts share, if any.
fn overall_preference<'t>(parts: impl Iterator<Item = (&'t Type, &'t Type)>) -> Ordering {
    let orders: Vec<Ordering> = parts.map(|(a, b)| compare_preference(a, b)).collect();
    match (orders.contains(&Ordering::Less), orders.contains(&Ordering::Greater)) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        _ => Ordering::Equal,
    }
}
