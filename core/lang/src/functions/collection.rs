//! Functions on lists, sets, maps, tuples and objects.

mod compare_elements;
mod fold;
mod mapping;
mod sequence;
mod sets;

use formwork_value::{Type, Value};

use super::{Builtin, CallError};

type FunctionResult = Result<Value, CallError>;

pub(super) fn builtins() -> Vec<Builtin> {
    [
        fold::builtins(),
        mapping::builtins(),
        compare_elements::builtins(),
        sequence::builtins(),
        sets::builtins(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A list of any element type. Tuples are converted to it too.
fn list_of_any_type() -> Type {
    Type::list(Type::Dynamic)
}

/// Returns the element type of a collection. For other values it is unknown.
fn element_type_of(ty: &Type) -> Type {
    ty.element().cloned().unwrap_or(Type::Dynamic)
}

/// Returns a list or a tuple, depending on the type of the result.
fn to_list_or_tuple(ty: &Type, items: Vec<Value>) -> Value {
    match ty {
        Type::List(element) => Value::list((**element).clone(), items),
        _ => Value::tuple(items),
    }
}

/// Returns a map or an object, depending on the type of the result.
fn to_map_or_object(ty: &Type, pairs: Vec<(formwork_value::Str, Value)>) -> Value {
    match ty {
        Type::Map(element) => Value::map((**element).clone(), pairs),
        _ => Value::object(pairs),
    }
}

/// Converts a value that is known to be convertible, because the type of the result was computed.
fn convert_to_result_type(value: &Value, ty: &Type) -> FunctionResult {
    formwork_value::convert::convert(value, ty).map_err(|refused| CallError::new(refused.reason))
}
