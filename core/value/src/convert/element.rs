//! The one type that the elements of a new collection get, once each of them was converted.

use super::{Converted, Mode, Refused, part};
use crate::ty::unify::unify_in;
use crate::{Type, Value};

/// What to do with elements that came out with different types, which happens where the wanted type
/// has `Dynamic` inside.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Collection {
    /// A list: they must agree.
    List,
    /// A set: they must agree.
    Set,
    /// A map: they must agree.
    Map,
    /// They are converted once more, to their common type.
    Unified,
}

impl Collection {
    /// The rule for a map whose elements are to have the type.
    pub(super) fn of_map(element: &Type) -> Self {
        if element.is_collection() || matches!(element, Type::Object(_)) {
            Self::Unified
        } else {
            Self::Map
        }
    }

    fn disagreement(self) -> Refused {
        Refused::new(match self {
            Self::List => "element types must all match for conversion to list",
            Self::Set => "element types must all match for conversion to set",
            Self::Map => "element types must all match for conversion to map",
            Self::Unified => "cannot find a common base type for all elements",
        })
    }
}

/// Gives elements one type, as close to `wanted` as they are.
pub(super) fn settle(
    wanted: &Type,
    items: Vec<Value>,
    rule: Collection,
) -> Result<(Type, Vec<Value>), Refused> {
    let ty = wanted.without_optional();
    if items.is_empty() || !ty.has_dynamic() {
        return Ok((ty, items));
    }
    // Nulls and unknowns of no type yet take that of the others.
    let Some(base) = items.iter().map(Value::ty).find(|ty| *ty != Type::Dynamic) else {
        return Ok((Type::Dynamic, items));
    };
    if items.iter().all(|item| item.has_type(&base)) {
        return Ok((base, items));
    }
    let mut target = base;
    if rule == Collection::Unified {
        let types: Vec<Type> = items.iter().map(Value::ty).collect();
        match unify_in(Mode::Unsafe, &types) {
            // Only types not known yet stand in the way; the others must then agree.
            Some(Type::Dynamic) => {}
            Some(unified) => target = unified,
            None => return Err(rule.disagreement()),
        }
    }
    let convert = |item: Value| -> Result<Value, Refused> {
        let converted: Converted = match item.ty() {
            ty if ty == target => Ok(None),
            Type::Dynamic => part(&item, &target),
            _ if rule == Collection::Unified => part(&item, &target),
            _ => return Err(rule.disagreement()),
        };
        Ok(converted?.unwrap_or(item))
    };
    let items = items.into_iter().map(convert).collect::<Result<Vec<_>, _>>()?;
    Ok((target, items))
}
