//! JSON values of the state file: keys of instances, values of outputs, steps of paths.

use std::borrow::Cow;
use std::fmt::Display;

use bytes::Bytes;
use formwork_value::{Known, Number, Step, Str, codec};
use serde_json::value::RawValue;

use super::StateFileError;
use crate::addr::{InstanceKey, ResourceAddr};
use crate::messages;
use crate::state::OutputValue;
use crate::state::file::json;
use crate::state::file::layout::{OutputJson, StepJson};

pub(super) fn read_output_value(
    name: &str,
    from: &OutputJson<'_>,
) -> Result<OutputValue, StateFileError> {
    let ty = codec::type_json::decode(from.ty.get().as_bytes()).map_err(|error| {
        let detail = format!(
            "The state file has an invalid type specification for output \"{name}\": {error}."
        );
        StateFileError::new(messages::INVALID_OUTPUT_VALUE_TYPE_IN_STATE, detail)
    })?;
    let invalid = |reason: String| {
        let detail =
            format!("The state file has an invalid value for output \"{name}\": {reason}.");
        StateFileError::new(messages::INVALID_OUTPUT_VALUE_SAVED_IN_STATE, detail)
    };
    let value = codec::json::decode(from.value.get().as_bytes(), &ty)
        .map_err(|error| invalid(error.to_string()))?;
    let value = Known::new(value).map_err(|path| invalid(format!("{path} is not known")))?;
    Ok(OutputValue { value, sensitive: from.sensitive })
}

pub(super) fn read_index_key(
    of: &ResourceAddr,
    raw: Option<&RawValue>,
) -> Result<InstanceKey, StateFileError> {
    let Some(raw) = raw.map(RawValue::get) else { return Ok(InstanceKey::None) };
    if let Ok(at) = raw.parse() {
        return Ok(InstanceKey::Int(at));
    }
    if let Ok(text) = serde_json::from_str::<Cow<'_, str>>(raw) {
        return Ok(InstanceKey::Str(Str::new(&text)));
    }
    // Terraform reads numbers as floats, so `1e0` is the key 1.
    let is_integer = |number: &f64| number.fract() == 0.0 && (0.0..9.0e15).contains(number);
    if let Some(number) = raw.parse::<f64>().ok().filter(is_integer) {
        return Ok(InstanceKey::Int(number as u64));
    }
    let detail = format!("Resource {of} has an instance with the invalid instance key {raw}.");
    Err(StateFileError::invalid_instance(detail))
}

pub(super) fn compact_attributes(
    of: &impl Display,
    field: &str,
    raw: &RawValue,
) -> Result<Bytes, StateFileError> {
    let compact = json::compact_json(raw.get());
    compact.map(Bytes::from).map_err(|json::NestedTooDeep| {
        StateFileError::invalid_instance(too_deep_message(&format!("Instance {of}: \"{field}\"")))
    })
}

pub(super) fn too_deep_message(subject: &str) -> String {
    format!("{subject} is nested deeper than any value can be.")
}

pub(super) fn read_step(from: StepJson) -> Result<Step, String> {
    let text = |value: &serde_json::Value| {
        value.as_str().map(Str::new).ok_or_else(|| format!("a step has the value {value}"))
    };
    match from.kind.as_str() {
        "get_attr" => text(&from.value).map(Step::Attribute),
        "index" => {
            let (Some(value), Some(ty)) = (from.value.get("value"), from.value.get("type")) else {
                return Err(format!("an index has the value {}", from.value));
            };
            match ty.as_str() {
                Some("string") => text(value).map(Step::Key),
                Some("number") => Number::parse(&value.to_string())
                    .map(Step::Index)
                    .ok_or_else(|| format!("an index has the value {value}")),
                _ => Err(format!("an index has the type {ty}")),
            }
        }
        other => Err(format!("unknown step type {other:?}")),
    }
}
