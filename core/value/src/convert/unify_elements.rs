//! The common type of the elements of a new collection, after each of them was converted.

use super::{ConversionError, ConversionSafety, convert_part};
use crate::ty::unify::unify_with_safety;
use crate::{Type, Value};

/// Treatment of elements whose types differ after conversion. This happens if the requested type
/// contains `Dynamic`.
#[derive(Clone, Copy)]
pub(super) struct ElementUnificationRule {
    /// The reason for the error if they have no common type.
    pub(super) disagreement: &'static str,
    /// Whether they are then converted to their common type.
    pub(super) unify: bool,
}

impl ElementUnificationRule {
    /// Returns the rule for a map with this element type.
    pub(super) fn for_map(element: &Type, disagreement: &'static str) -> Self {
        // cty unifies the elements of a map only if they are collections or objects.
        let unify = element.is_collection() || matches!(element, Type::Object(_));
        Self { disagreement, unify }
    }
}

/// Converts elements to one type, as close to `wanted` as possible.
pub(super) fn unify_elements(
    wanted: &Type,
    mut items: Vec<Value>,
    rule: ElementUnificationRule,
) -> Result<(Type, Vec<Value>), ConversionError> {
    let ty = wanted.without_optional();
    if items.is_empty() || !ty.has_dynamic() {
        return Ok((ty, items));
    }
    let agreed = |items: &[Value]| {
        let base = items.iter().map(Value::ty).find(|ty| *ty != Type::Dynamic)?;
        items.iter().all(|item| item.has_type(&base)).then_some(base)
    };
    if let Some(ty) = agreed(&items) {
        return Ok((ty, items));
    }
    if rule.unify {
        let types: Vec<Type> = items.iter().map(Value::ty).collect();
        let common = unify_with_safety(ConversionSafety::Unsafe, &types).ok_or_else(|| {
            ConversionError::new("cannot find a common base type for all elements")
        })?;
        convert_matching_items(&mut items, |_| true, &common)?;
    }
    // Null and unknown values without a type take the type of the others.
    let Some(base) = items.iter().map(Value::ty).find(|ty| *ty != Type::Dynamic) else {
        return Ok((Type::Dynamic, items));
    };
    convert_matching_items(&mut items, |item| item.has_type(&Type::Dynamic), &base)?;
    agreed(&items).map(|ty| (ty, items)).ok_or_else(|| ConversionError::new(rule.disagreement))
}

fn convert_matching_items(
    items: &mut [Value],
    is_converted: impl Fn(&Value) -> bool,
    ty: &Type,
) -> Result<(), ConversionError> {
    for item in items.iter_mut().filter(|item| is_converted(item)) {
        if let Some(converted) = convert_part(item, ty)? {
            *item = converted;
        }
    }
    Ok(())
}
