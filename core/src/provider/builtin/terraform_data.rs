//! `terraform_data`: stores a value, and is replaced when a trigger changes.

use std::sync::Arc;

use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_plugin_protocol::message::configure::DiagnosticsResponse;
use formwork_plugin_protocol::message::resource::{MoveRequest, RawState};
use formwork_value::codec::json;
use formwork_value::schema::Role;
use formwork_value::{Path, Refinement, Schema, Type, Unknown, Value};

use super::schema_from_attributes;
use crate::messages;
use crate::provider::provider_diagnostics::own_provider_error;

pub(super) fn schema() -> Schema {
    schema_from_attributes(&[
        ("id", Type::String, Role::Computed),
        ("input", Type::Dynamic, Role::Optional),
        ("output", Type::Dynamic, Role::Computed),
        ("triggers_replace", Type::Dynamic, Role::Optional),
    ])
}

/// Returns an attribute of an object, or null if the object is null.
fn attribute_value<'v>(object: &'v Value, name: &str) -> Option<&'v Value> {
    match object {
        Value::Object(object) => object.get(name),
        _ => None,
    }
}

fn with_attributes(object: &Value, changed: &[(&str, Value)]) -> Value {
    let Value::Object(fields) = object else { return object.clone() };
    let pairs = fields.iter().map(|(name, value)| {
        let new = changed.iter().find(|(changed, _)| *name == **changed);
        (name.clone(), new.map_or_else(|| value.clone(), |(_, value)| value.clone()))
    });
    Value::object(pairs)
}

/// Refuses values for attributes that only the provider sets.
pub(super) fn validate_terraform_data(config: &Value) -> DiagnosticsResponse {
    let set = |name: &str| attribute_value(config, name).is_some_and(|value| !value.is_null());
    let diagnostics = ["id", "output"]
        .into_iter()
        .filter(|name| set(name))
        .map(|name| {
            own_provider_error(
                messages::READ_ONLY_ATTRIBUTE.with(&[&format!("{name:?}")]),
                String::new(),
                Path::root().attribute(name),
            )
        })
        .collect();
    DiagnosticsResponse { diagnostics }
}

fn unknown_id() -> Value {
    // As in Terraform: `id != null` is known while planning.
    let refinement = Refinement { not_null: true, ..Refinement::default() };
    Value::Unknown(Arc::new(Unknown::refined(Type::String, refinement)))
}

/// The output equals the input after the apply. Its type is already that of the input.
fn planned_output(input: &Value) -> Value {
    if input.is_null() { input.clone() } else { Value::unknown(input.ty()) }
}

/// Plans an object, and returns the paths that require a replacement.
pub(super) fn plan_terraform_data(prior: &Value, proposed: &Value) -> (Value, Vec<Path>) {
    let (Some(input), Some(triggers)) =
        (attribute_value(proposed, "input"), attribute_value(proposed, "triggers_replace"))
    else {
        return (proposed.clone(), Vec::new());
    };
    let replacement =
        || with_attributes(proposed, &[("id", unknown_id()), ("output", planned_output(input))]);
    if prior.is_null() {
        (replacement(), Vec::new())
    } else if attribute_value(prior, "triggers_replace") != Some(triggers) {
        (replacement(), vec![Path::root().attribute("triggers_replace")])
    } else if attribute_value(prior, "input") != Some(input) {
        // Unknown even if it will be null, as in Terraform.
        (with_attributes(proposed, &[("output", Value::unknown(input.ty()))]), Vec::new())
    } else {
        (proposed.clone(), Vec::new())
    }
}

/// Applies the planned object.
pub(super) fn apply_terraform_data(planned: &Value) -> Value {
    let (Some(id), Some(input)) =
        (attribute_value(planned, "id"), attribute_value(planned, "input"))
    else {
        return planned.clone();
    };
    let id =
        if id.is_unknown() { Value::string(uuid::Uuid::new_v4().to_string()) } else { id.clone() };
    let (id, output) = (id, input.clone());
    with_attributes(planned, &[("id", id), ("output", output)])
}

/// Converts a `null_resource`: its triggers become `triggers_replace`.
pub(super) fn move_from_null_resource(request: &MoveRequest) -> Result<Value, ProviderDiagnostic> {
    // They become an object, like a literal in braces, so that the plan shows no difference.
    let unsupported = |reason: String| {
        own_provider_error(messages::UNSUPPORTED_SOURCE_OF_MOVE, reason, Path::root())
    };
    // The host is not compared, as in Terraform, because a mirror may have another one.
    let from_null = request.source_provider.ends_with("/hashicorp/null");
    if !from_null || request.source_type != "null_resource" {
        return Err(unsupported(format!(
            "Only a null_resource of the provider hashicorp/null can be moved to a terraform_data, not a {} of {}.",
            request.source_type, request.source_provider
        )));
    }
    let ty = Type::object([("id", Type::String), ("triggers", Type::map(Type::String))]);
    let RawState::Json(text) = &request.source_state else {
        return Err(unsupported("The object was stored in a form that is too old.".to_owned()));
    };
    let source = json::decode(text, &ty).map_err(|error| unsupported(format!("{error}.")))?;
    let id = attribute_value(&source, "id").cloned().unwrap_or_else(|| Value::null(Type::String));
    let null = || Value::null(Type::Dynamic);
    let triggers = match attribute_value(&source, "triggers") {
        Some(Value::Map(map)) => Value::object(map.iter().map(|(key, value)| (key, value.clone()))),
        _ => null(),
    };
    Ok(Value::object([
        ("id", id),
        ("input", null()),
        ("output", null()),
        ("triggers_replace", triggers),
    ]))
}

/// Returns the object for an import ID.
pub(super) fn terraform_data_by_id(id: &str) -> Value {
    let null = || Value::null(Type::Dynamic);
    Value::object([
        ("id", Value::string(id)),
        ("input", null()),
        ("output", null()),
        ("triggers_replace", null()),
    ])
}
