//! Conversion between types. Every error contains the path inside the value and the reason, in the terms
//! of the language. Defaults of optional attributes are not filled in here, but for variables.

mod mismatch;
#[cfg(test)]
mod tests;
mod unify_elements;

use crate::ty::ObjectType;
use crate::ty::conversion::{ConversionSafety, can_convert, common_element_type, replace_dynamic};
use crate::value::{Map, Object, Tuple};
use crate::{Number, Path, Refinement, Step, Str, Type, Value};

pub use mismatch::explain_mismatch;

use unify_elements::{ElementUnificationRule, unify_elements};

/// The error of a conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversionError {
    /// Path of the offending part inside the value.
    pub path: Path,
    /// The reason, in the terms of the language: `a number is required`, `string required`.
    pub reason: String,
}

impl ConversionError {
    fn new(reason: impl Into<String>) -> Self {
        Self { path: Path::root(), reason: reason.into() }
    }

    /// Adds an outer step. Steps are collected from the inside out while the error is returned, and
    /// reversed once.
    fn prepend_step(mut self, step: Step) -> Self {
        self.path.0.push(step);
        self
    }
}

/// The result of converting a part, or `None` if it does not change.
type PartConversion = Result<Option<Value>, ConversionError>;

/// Converts a value to a type, as for an attribute of that type: parts of type `Dynamic` are kept,
/// missing optional attributes of object types become null, and marks are kept.
///
/// # Errors
/// Returns an error if a part of the value cannot be converted.
pub fn convert(value: &Value, ty: &Type) -> Result<Value, ConversionError> {
    // Checked first, because it does not need the type of the value.
    if value.has_type(ty) {
        return Ok(value.clone());
    }
    let value_ty = value.ty();
    // Types are compared first, so that as in Terraform, the reason refers to the types if no value
    // could be converted.
    if !can_convert(&value_ty, ty, ConversionSafety::Unsafe) {
        return Err(ConversionError::new(explain_mismatch(&value_ty, ty)));
    }
    match convert_part(value, ty) {
        Ok(converted) => Ok(converted.unwrap_or_else(|| value.clone())),
        Err(mut refused) => {
            // The steps were added on return, the innermost first.
            refused.path.0.reverse();
            Err(refused)
        }
    }
}

/// Converts a value or a part of one. The types were already checked, so only problems of values remain.
///
/// The arms only call other functions, because their locals would take stack at every level of a deep
/// value.
fn convert_part(value: &Value, ty: &Type) -> PartConversion {
    match (value, ty) {
        (_, Type::Dynamic) => Ok(None),
        (Value::Marked(_), _) => convert_marked(value, ty),
        (Value::Null(_) | Value::Unknown(_), _) => convert_null_or_unknown(value, ty),
        (Value::Bool(_) | Value::Number(_) | Value::String(_), _) => convert_primitive(value, ty),
        (Value::List(_) | Value::Set(_) | Value::Tuple(_), Type::List(element)) => {
            convert_to_list(value, element)
        }
        (Value::List(_) | Value::Set(_) | Value::Tuple(_), Type::Set(element)) => {
            convert_to_set(value, element)
        }
        (Value::Map(map), Type::Map(element)) => map_to_map(map, element),
        (Value::Object(object), Type::Map(element)) => object_to_map(object, element),
        (Value::Tuple(tuple), Type::Tuple(elements)) if tuple.items().len() == elements.len() => {
            tuple_to_tuple(tuple, elements)
        }
        (Value::Object(object), Type::Object(wanted)) => object_to_object(object, wanted),
        (Value::Map(map), Type::Object(wanted)) => map_to_object(map, wanted),
        _ => refuse_conversion(value, ty),
    }
}

fn refuse_conversion(value: &Value, ty: &Type) -> PartConversion {
    Err(ConversionError::new(explain_mismatch(&value.ty(), ty)))
}

fn convert_marked(value: &Value, ty: &Type) -> PartConversion {
    Ok(convert_part(value.without_own_marks(), ty)?.map(|converted| converted.mark(value.marks())))
}

/// Converts a null or an unknown value, of which only the type matters.
fn convert_null_or_unknown(value: &Value, ty: &Type) -> PartConversion {
    let value_ty = value.ty();
    let ty = replace_dynamic(&value_ty, &ty.without_optional());
    match value {
        _ if ty == value_ty => Ok(None),
        Value::Unknown(unknown) => Ok(Some(convert_unknown(&value_ty, unknown.refinement(), ty))),
        _ => Ok(Some(Value::null(ty))),
    }
}

fn convert_primitive(value: &Value, ty: &Type) -> PartConversion {
    match (value, ty) {
        (Value::Bool(_), Type::Bool)
        | (Value::Number(_), Type::Number)
        | (Value::String(_), Type::String) => Ok(None),
        (Value::Bool(truth), Type::String) => {
            Ok(Some(Value::string(if *truth { "true" } else { "false" })))
        }
        (Value::Number(number), Type::String) => Ok(Some(Value::string(number.to_string()))),
        (Value::String(text), Type::Number) => match Number::parse(text) {
            Some(number) => Ok(Some(Value::Number(number))),
            None => Err(ConversionError::new("a number is required")),
        },
        (Value::String(text), Type::Bool) => parse_bool(text).map(|truth| Some(Value::Bool(truth))),
        _ => refuse_conversion(value, ty),
    }
}

/// Converts parts, each to its type. Returns `None` if none of them changes.
fn convert_parts<'t>(
    items: &[Value],
    ty: impl Fn(usize) -> &'t Type,
    step: impl Fn(usize) -> Step,
) -> Result<Option<Vec<Value>>, ConversionError> {
    let mut changed: Option<Vec<Value>> = None;
    for (at, item) in items.iter().enumerate() {
        match convert_part(item, ty(at)) {
            Ok(None) => {}
            // Copied only when a part changes, because most values already have the type.
            Ok(Some(converted)) => changed.get_or_insert_with(|| items.to_vec())[at] = converted,
            Err(refused) => return Err(refused.prepend_step(step(at))),
        }
    }
    Ok(changed)
}

fn parse_bool(text: &str) -> Result<bool, ConversionError> {
    match text {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => {
            let lower = text.to_lowercase();
            Err(ConversionError::new(match lower.as_str() {
                "true" | "false" => {
                    format!("a bool is required; to convert from string, use lowercase \"{lower}\"")
                }
                _ => "a bool is required".to_owned(),
            }))
        }
    }
}

/// Builds the unknown value that an unknown value converts to, with the refinements that still
/// hold.
fn convert_unknown(from: &Type, known: &Refinement, ty: Type) -> Value {
    let exactly = |length: usize| (length as u64, Some(length as u64));
    let (min_length, max_length) = match (from, &ty) {
        (Type::Object(object), Type::Map(_)) => exactly(object.attributes.len()),
        (Type::Tuple(elements), Type::List(_)) => exactly(elements.len()),
        // Elements of a set may become equal, but the set cannot become empty.
        (Type::Tuple(elements), Type::Set(_)) => {
            (elements.len().min(1) as u64, Some(elements.len() as u64))
        }
        (_, Type::Set(_)) if from.is_collection() => (known.min_length.min(1), known.max_length),
        _ if from.is_collection() && ty.is_collection() => (known.min_length, known.max_length),
        _ => (0, None),
    };
    let not_null = known.not_null;
    Value::refined(ty, Refinement { not_null, min_length, max_length, ..Refinement::default() })
}

/// Returns the element type for a tuple: that of the collection, or the common type of the elements.
fn target_element_type(value: &Value, wanted: &Type) -> Result<Type, ConversionError> {
    let common = |types: &[Type]| {
        common_element_type(types)
            .ok_or_else(|| ConversionError::new("cannot find a common base type for all elements"))
    };
    match value {
        Value::Tuple(_) | Value::Object(_) if *wanted == Type::Dynamic => match value.ty() {
            Type::Tuple(types) => common(&types),
            Type::Object(object) => {
                common(&object.attributes.values().cloned().collect::<Vec<_>>())
            }
            _ => Ok(Type::Dynamic),
        },
        Value::List(list) if *wanted == Type::Dynamic => Ok(list.element_type().clone()),
        Value::Set(set) if *wanted == Type::Dynamic => Ok(set.element_type().clone()),
        Value::Map(map) if *wanted == Type::Dynamic => Ok(map.element_type().clone()),
        _ => Ok(wanted.clone()),
    }
}

/// Returns whether a collection without changed elements already has the requested type.
fn is_already_of_type(from: &Type, wanted: &Type, items: &[Value]) -> bool {
    (wanted.has_dynamic() && !items.is_empty()) || *from == wanted.without_optional()
}

fn convert_to_list(value: &Value, wanted: &Type) -> PartConversion {
    if let Value::Set(set) = value
        && set.items().len() > 1
        && !value.is_wholly_known()
    {
        // The number of elements and the position of each of them are unknown.
        let element = replace_dynamic(set.element_type(), &wanted.without_optional());
        return Ok(Some(Value::unknown(Type::list(element))));
    }
    let element = target_element_type(value, wanted)?;
    let items = value.children();
    let converted = convert_parts(items, |_| &element, |at| Step::Index(at.into()))?;
    if let (Value::List(list), None) = (value, &converted)
        && is_already_of_type(list.element_type(), &element, items)
    {
        return Ok(None);
    }
    let rule = ElementUnificationRule {
        disagreement: "element types must all match for conversion to list",
        unify: matches!(value, Value::Tuple(_)),
    };
    let (ty, items) = unify_elements(&element, converted.unwrap_or_else(|| items.to_vec()), rule)?;
    Ok(Some(Value::list(ty, items)))
}

fn convert_to_set(value: &Value, wanted: &Type) -> PartConversion {
    let element = target_element_type(value, wanted)?;
    let items = value.children();
    let converted = convert_parts(items, |_| &element, |at| Step::Index(at.into()))?;
    if let (Value::Set(set), None) = (value, &converted)
        && is_already_of_type(set.element_type(), &element, items)
    {
        return Ok(None);
    }
    // Always a new set: elements that differed before may be equal after the conversion.
    let items = converted.unwrap_or_else(|| items.to_vec());
    let rule = ElementUnificationRule {
        disagreement: "element types must all match for conversion to set",
        unify: false,
    };
    let (ty, items) = unify_elements(&element, items, rule)?;
    Ok(Some(Value::set(ty, items)))
}

fn map_to_map(map: &Map, wanted: &Type) -> PartConversion {
    let element = if *wanted == Type::Dynamic { map.element_type() } else { wanted };
    let step = |at: usize| Step::Key(map.keys()[at].clone());
    let converted = convert_parts(map.values(), |_| element, step)?;
    if converted.is_none() && is_already_of_type(map.element_type(), element, map.values()) {
        return Ok(None);
    }
    let items = converted.unwrap_or_else(|| map.values().to_vec());
    let rule = ElementUnificationRule::for_map(
        element,
        "element types must all match for conversion to map",
    );
    let (ty, items) = unify_elements(element, items, rule)?;
    Ok(Some(Value::map(ty, map.keys().iter().zip(items))))
}

fn object_to_map(object: &Object, wanted: &Type) -> PartConversion {
    let element = target_element_type(&Value::Object(object.clone()), wanted)?;
    let step = |at: usize| Step::Key(object.names()[at].clone());
    let items = convert_parts(object.values(), |_| &element, step)?;
    let items = items.unwrap_or_else(|| object.values().to_vec());
    let rule = ElementUnificationRule::for_map(
        &element,
        "attribute types must all match for conversion to map",
    );
    let (ty, items) = unify_elements(&element, items, rule)?;
    Ok(Some(Value::map(ty, object.names().iter().zip(items))))
}

fn tuple_to_tuple(tuple: &Tuple, wanted: &[Type]) -> PartConversion {
    let items = convert_parts(tuple.items(), |at| &wanted[at], |at| Step::Index(at.into()))?;
    Ok(items.map(Value::tuple))
}

fn object_to_object(object: &Object, wanted: &ObjectType) -> PartConversion {
    let same_names = object.names().iter().eq(wanted.attributes.keys());
    if same_names {
        let types: Vec<&Type> = wanted.attributes.values().collect();
        let step = |at: usize| Step::Attribute(object.names()[at].clone());
        let items = convert_parts(object.values(), |at| types[at], step)?;
        return Ok(
            items.map(|items| Value::Object(Object::with_names(object.names().clone(), items)))
        );
    }
    let attribute = |(name, ty): (&Str, &Type)| match object.get(name) {
        Some(value) => {
            let converted = convert_part(value, ty)
                .map_err(|refused| refused.prepend_step(Step::Attribute(name.clone())))?;
            Ok((name.clone(), converted.unwrap_or_else(|| value.clone())))
        }
        None if wanted.optional.contains(name) => {
            Ok((name.clone(), Value::null(ty.without_optional())))
        }
        None => Err(ConversionError::new(format!("attribute {:?} is required", name.as_str()))),
    };
    let pairs = wanted.attributes.iter().map(attribute).collect::<Result<Vec<_>, _>>()?;
    Ok(Some(Value::object(pairs)))
}

fn map_to_object(map: &Map, wanted: &ObjectType) -> PartConversion {
    let attribute = |(name, ty): (&Str, &Type)| match map.get(name) {
        Some(value) => {
            // A map has one element type and an object many, so the types are compared attribute by
            // attribute.
            if !can_convert(map.element_type(), ty, ConversionSafety::Unsafe) {
                return Err(ConversionError::new(format!(
                    "map element type is incompatible with attribute {:?}: {}",
                    name.as_str(),
                    explain_mismatch(map.element_type(), ty)
                )));
            }
            let converted = convert_part(value, ty)
                .map_err(|refused| refused.prepend_step(Step::Key(name.clone())))?;
            Ok((name.clone(), converted.unwrap_or_else(|| value.clone())))
        }
        None if wanted.optional.contains(name) => {
            Ok((name.clone(), Value::null(ty.without_optional())))
        }
        None => Err(ConversionError::new(format!(
            "map has no element for required attribute {:?}",
            name.as_str()
        ))),
    };
    let pairs = wanted.attributes.iter().map(attribute).collect::<Result<Vec<_>, _>>()?;
    Ok(Some(Value::object(pairs)))
}
