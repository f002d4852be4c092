//! What holds for every value that comes in or goes out. Knows no particular call.

use formwork_plugin_protocol::Payload;
use formwork_plugin_protocol::capability::ClientCapabilities;
use formwork_value::diag::Blame;
use formwork_value::schema::Role;
use formwork_value::{Diagnostic, Diagnostics, Path, Value};

use crate::Answer;
use crate::plan::read_only_but_set;
use crate::schema::Shape;

/// Reads a value that the host sent.
pub(super) fn decoded(diags: &mut Diagnostics, shape: &Shape, value: &Payload) -> Answer<Value> {
    match value.decode(&shape.block.implied_type()) {
        Ok(plain) => Ok(plain.into_value()),
        Err(error) => {
            let detail = format!("The host sent a value that does not fit the schema: {error}.");
            let problem = Diagnostic::error("Unreadable value", detail).blame(Blame::Internal);
            Err(diags.error(problem))
        }
    }
}

/// Makes a value ready for the host.
pub(super) fn encoded(shape: &Shape, value: &Value) -> Payload {
    // Protocol: a write-only value is null in every answer.
    let value = shape.block.without_write_only(value);
    // Models make no marks, so nothing is taken off here.
    Payload::Value(value.split_marks().0, shape.block.implied_type())
}

/// Makes the object that a handler returned ready for the host: what it left unknown becomes null, and
/// an error.
pub(super) fn known(
    diags: &mut Diagnostics,
    shape: &Shape,
    handler: &str,
    object: Value,
) -> Payload {
    let Value::Object(parts) = &object else { return encoded(shape, &object) };
    let parts = parts.iter().map(|(name, value)| {
        if value.is_wholly_known() {
            return (name.clone(), value.clone());
        }
        let detail = format!(
            "After {handler} the provider still says that `{name}` will be known later, but there \
             is no later. This is a bug in the provider."
        );
        let problem = Diagnostic::error("Provider returned invalid result object", detail)
            .blame(Blame::Provider)
            .path(Path::root().attribute(name));
        let _receipt = diags.error(problem);
        (name.clone(), Value::null(value.ty()))
    });
    let object = Value::object(parts.collect::<Vec<_>>());
    encoded(shape, &object)
}

/// Checks what an author wrote against the roles of attributes.
pub(super) fn config(
    diags: &mut Diagnostics,
    shape: &Shape,
    config: &Value,
    client: ClientCapabilities,
) -> Answer<()> {
    let Value::Object(object) = config else { return Ok(()) };
    for name in read_only_but_set(shape, config) {
        let detail = format!("`{name}` is set by the provider alone. Remove it.");
        let problem = Diagnostic::error("Invalid Configuration for Read-Only Attribute", detail);
        let _receipt = diags.error(problem.path(Path::root().attribute(&name)));
    }
    for (name, attribute) in &shape.block.attributes {
        let is_set = object.get(name).is_some_and(|value| !value.is_null());
        if attribute.role == Role::Required && !is_set {
            let detail = format!("`{name}` must have a value.");
            let problem = Diagnostic::error("Missing Configuration for Required Attribute", detail);
            let _receipt = diags.error(problem.path(Path::root().attribute(name)));
        }
        if attribute.write_only && is_set && !client.write_only_attributes_allowed {
            let detail = format!(
                "`{name}` is passed to the provider and never stored. Terraform can do so from \
                 version 1.11 on."
            );
            let problem = Diagnostic::error("Write-only attribute not allowed", detail);
            let _receipt = diags.error(problem.path(Path::root().attribute(name)));
        }
    }
    diags.check()
}
