//! Objects between providers, who see no marks, and the state, which holds nothing unknown.

use std::sync::Arc;

use bytes::Bytes;
use formwork_value::codec::json;
use formwork_value::{Diagnostic, Diagnostics, Known, Marks, Path, Plain, Reported, Value};

use crate::addr::InstanceAddr;
use crate::provider::{ResourceType, remark};
use crate::state::{Object, Status};

/// The paths at which a configuration is sensitive.
pub(crate) fn sensitive_paths(config: &Value) -> Vec<Path> {
    if !config.all_marks().contains(Marks::SENSITIVE) {
        return Vec::new();
    }
    let (_, marks) = config.clone().split_marks();
    marks.paths_with(Marks::SENSITIVE).cloned().collect()
}

/// A value without its marks, for asking a provider.
pub(crate) fn plain(value: &Value) -> Plain {
    value.clone().split_marks().0
}

/// The value with null for whatever is unknown.
pub(crate) fn without_unknowns(value: &Value) -> Value {
    match value {
        Value::Unknown(unknown) => Value::null(unknown.ty().clone()),
        value if value.is_wholly_known() => value.clone(),
        value => value.with_children(value.children().iter().map(without_unknowns).collect()),
    }
}

/// The value of an object's `id`, if it may be shown.
pub(crate) fn shown_id(value: &Value) -> Option<String> {
    let Value::Object(object) = value else { return None };
    match object.get("id")? {
        Value::String(id) => Some(id.to_string()),
        _ => None,
    }
}

/// Encodes a value that must be fit for the state.
///
/// # Errors
/// When it is not: only a provider that breaks the contract, or a mistake of ours, brings that about.
pub(crate) fn encode(
    diags: &mut Diagnostics,
    ty: &ResourceType,
    addr: &InstanceAddr,
    value: &Value,
) -> Result<(Bytes, Arc<Vec<Path>>), Reported> {
    let unfit = |diags: &mut Diagnostics, why: String| {
        let detail = format!("The object {addr} cannot be written to the state: {why}.");
        diags.error(Diagnostic::error("Object cannot be stored", detail).about(addr.to_string()))
    };
    let known = Known::new(value.clone())
        .map_err(|path| unfit(diags, format!("its part {path} is unknown or ephemeral")))?;
    Object::encode(&known, &ty.ty).map_err(|error| unfit(diags, error.to_string()))
}

/// A whole object as the state holds it, of which nothing is known but its value.
///
/// # Errors
/// When the value is not fit for the state.
pub(crate) fn stored(
    diags: &mut Diagnostics,
    ty: &ResourceType,
    addr: &InstanceAddr,
    value: &Value,
) -> Result<Object, Reported> {
    let (attributes, sensitive) = encode(diags, ty, addr, value)?;
    Ok(Object {
        status: Status::Ready,
        schema_version: ty.schema.version,
        attributes,
        sensitive,
        private: Bytes::new(),
        dependencies: Arc::default(),
        create_before_destroy: false,
        identity: None,
    })
}

/// The value of an object as the state has it, without asking the provider: `None` if it was stored
/// in a form that only the provider can read.
pub(crate) fn stored_value(ty: &ResourceType, object: &Object) -> Option<Value> {
    let stripped = json::strip_removed(&object.attributes, &ty.ty).ok()?;
    let text = stripped.as_deref().unwrap_or(&object.attributes);
    let value = json::decode(text, &ty.ty).ok()?;
    Some(remark(ty, value.split_marks().0, &object.sensitive))
}
