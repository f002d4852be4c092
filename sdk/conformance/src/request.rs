//! Requests of the provider service, built field by field.

use formwork_value::codec::{json, msgpack};
use formwork_value::{Plain, Type, Value};

use crate::message::Msg;
use crate::offer::{Kind, OfferedType};
use crate::rpc::Rpc;

/// Returns a value in its dynamic form; empty if it does not have the type.
#[must_use]
pub(crate) fn encode_dynamic(value: &Value, ty: &Type) -> Msg {
    match msgpack::encode(value, ty) {
        Ok(bytes) => Msg::new().with_bytes(1, bytes),
        Err(_) => Msg::new(),
    }
}

/// Returns a value in its dynamic form as JSON.
#[must_use]
pub(crate) fn encode_dynamic_json(value: &Value, ty: &Type) -> Msg {
    match json::encode(value, ty) {
        Ok(text) => Msg::new().with_bytes(2, text.into_bytes()),
        Err(_) => Msg::new(),
    }
}

/// Reads a dynamic value as one of a type.
///
/// # Errors
/// When the bytes are not a value of the type.
pub(crate) fn decode_dynamic(message: Option<Msg>, ty: &Type) -> Result<Option<Plain>, String> {
    let Some(message) = message else { return Ok(None) };
    // MessagePack wins if a provider fills both fields.
    let decoded = if message.has_field(1) {
        msgpack::decode(&message.get_bytes(1), ty).map_err(|error| error.to_string())?
    } else if message.has_field(2) {
        json::decode(&message.get_bytes(2), ty).map_err(|error| error.to_string())?
    } else {
        return Ok(None);
    };
    Ok(Some(decoded.split_marks().0))
}

/// Capabilities of this host.
#[must_use]
pub(crate) fn client_capabilities() -> Msg {
    // Write-only attributes are allowed, deferrals are not.
    Msg::new().with_nonzero_int(2, 1)
}

/// The call that validates configurations of a kind.
#[must_use]
pub(crate) fn validate_rpc(kind: Kind) -> Rpc {
    match kind {
        Kind::Provider => Rpc::ValidateProviderConfig,
        Kind::Resource => Rpc::ValidateResourceConfig,
        Kind::DataSource => Rpc::ValidateDataResourceConfig,
        Kind::Ephemeral => Rpc::ValidateEphemeralResourceConfig,
        Kind::List => Rpc::ValidateListResourceConfig,
        Kind::Action => Rpc::ValidateActionConfig,
        Kind::Store => Rpc::ValidateStateStoreConfig,
    }
}

/// The request that validates a configuration.
#[must_use]
pub(crate) fn validate_request(offered: &OfferedType, config: &Value) -> Msg {
    validate_request_with_dynamic(offered, &encode_dynamic(config, &offered.ty()))
}

/// The same with any dynamic value.
#[must_use]
pub(crate) fn validate_request_with_dynamic(offered: &OfferedType, config: &Msg) -> Msg {
    let named = || Msg::new().with_text(1, &offered.name).with_message(2, config);
    match offered.kind {
        Kind::Provider => Msg::new().with_message(1, config),
        Kind::Resource => named().with_message(3, &client_capabilities()),
        // Both may be unknown while validating, so they are values and no plain fields.
        Kind::List => named()
            .with_message(3, &encode_dynamic(&Value::Bool(false), &Type::Bool))
            .with_message(4, &encode_dynamic(&Value::int(10), &Type::Number)),
        _ => named(),
    }
}

/// The values of a plan request.
#[derive(Clone, Debug)]
pub(crate) struct PlanInput {
    /// The prior object; null to create.
    pub(crate) prior: Value,
    /// The proposed object; null to destroy.
    pub(crate) proposed: Value,
    /// The configuration; null to destroy.
    pub(crate) config: Value,
    /// The prior private data.
    pub(crate) private: bytes::Bytes,
    /// The prior identity.
    pub(crate) identity: Option<Msg>,
}

/// The request that plans a change.
#[must_use]
pub(crate) fn plan_request(offered: &OfferedType, input: &PlanInput) -> Msg {
    let ty = offered.ty();
    Msg::new()
        .with_text(1, &offered.name)
        .with_message(2, &encode_dynamic(&input.prior, &ty))
        .with_message(3, &encode_dynamic(&input.proposed, &ty))
        .with_message(4, &encode_dynamic(&input.config, &ty))
        .with_bytes(5, input.private.clone())
        .with_message(7, &client_capabilities())
        .with_optional_message(8, input.identity.as_ref())
}

/// The request that applies a plan.
#[must_use]
pub(crate) fn apply_request(offered: &OfferedType, input: &PlanInput, planned: &Msg) -> Msg {
    // Planned value and private data go back as they came, as from a host.
    let ty = offered.ty();
    Msg::new()
        .with_text(1, &offered.name)
        .with_message(2, &encode_dynamic(&input.prior, &ty))
        .with_optional_message(3, planned.get_msg(1).as_ref())
        .with_message(4, &encode_dynamic(&input.config, &ty))
        .with_bytes(5, planned.get_bytes(3))
        .with_optional_message(7, planned.get_msg(7).as_ref())
}

/// The request that reads an object.
#[must_use]
pub(crate) fn read_request(
    offered: &OfferedType,
    state: &Value,
    private: &bytes::Bytes,
    identity: Option<&Msg>,
) -> Msg {
    Msg::new()
        .with_text(1, &offered.name)
        .with_message(2, &encode_dynamic(state, &offered.ty()))
        .with_bytes(3, private.clone())
        .with_message(5, &client_capabilities())
        .with_optional_message(6, identity)
}

/// The request that upgrades a stored object.
#[must_use]
pub(crate) fn upgrade_request(name: &str, version: u64, text: &[u8]) -> Msg {
    let state = Msg::new().with_bytes(1, text.to_vec());
    Msg::new().with_text(1, name).with_nonzero_int(2, version).with_message(3, &state)
}

/// The request that configures the provider.
#[must_use]
pub(crate) fn configure_request(config: &Msg) -> Msg {
    // A version of Terraform that has the capabilities above.
    Msg::new()
        .with_text(1, "1.11.4")
        .with_message(2, config)
        .with_message(3, &client_capabilities())
}

/// The request that calls a function.
#[must_use]
pub(crate) fn call_function_request(name: &str, arguments: &[Msg]) -> Msg {
    arguments
        .iter()
        .fold(Msg::new().with_text(1, name), |request, argument| request.with_message(2, argument))
}
