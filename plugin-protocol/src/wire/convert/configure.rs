//! Validation and configuration, and every other answer with only diagnostics.

use super::UnencodableMessage;
use super::capability::{decode_client_capabilities, encode_client_capabilities};
use super::diag;
use super::payload::{encode_absent_as_null, payload_from_wire};
use crate::capability::ClientCapabilities;
use crate::message::configure::{ConfigureRequest, DiagnosticsResponse, ValidateRequest};
use crate::wire::generated::{tfplugin5 as v5, tfplugin6 as v6};

/// Twelve messages have only diagnostics: one line each instead of twelve times two identical
/// conversions.
macro_rules! convert_diagnostics_responses {
    ($($family:ident),* $(,)?) => {$(
        impl From<DiagnosticsResponse> for v6::$family::Response {
            fn from(verdict: DiagnosticsResponse) -> Self {
                Self { diagnostics: diag::encode_diagnostics(verdict.diagnostics) }
            }
        }

        impl From<v6::$family::Response> for DiagnosticsResponse {
            fn from(wire: v6::$family::Response) -> Self {
                Self { diagnostics: diag::decode_diagnostics(wire.diagnostics) }
            }
        }
    )*};
}

convert_diagnostics_responses!(
    close_ephemeral_resource,
    configure_provider,
    delete_state,
    unlock_state,
    validate_action_config,
    validate_data_resource_config,
    validate_ephemeral_resource_config,
    validate_list_resource_config,
    validate_provider_config,
    validate_resource_config,
    validate_state_store,
    write_state_bytes,
);

/// Four messages validate the configuration of a type and have no host capabilities.
macro_rules! convert_validate_requests {
    ($($family:ident),* $(,)?) => {$(
        impl TryFrom<ValidateRequest> for v6::$family::Request {
            type Error = UnencodableMessage;

            fn try_from(request: ValidateRequest) -> Result<Self, UnencodableMessage> {
                Ok(Self {
                    config: encode_absent_as_null(&request.config, "config")?,
                    type_name: request.type_name,
                })
            }
        }

        impl From<v6::$family::Request> for ValidateRequest {
            fn from(wire: v6::$family::Request) -> Self {
                Self {
                    type_name: wire.type_name,
                    config: payload_from_wire(wire.config),
                    client: ClientCapabilities::default(),
                }
            }
        }
    )*};
}

convert_validate_requests!(
    validate_action_config,
    validate_data_resource_config,
    validate_ephemeral_resource_config,
    validate_state_store,
);

impl TryFrom<ValidateRequest> for v6::validate_resource_config::Request {
    type Error = UnencodableMessage;

    fn try_from(request: ValidateRequest) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            config: encode_absent_as_null(&request.config, "config")?,
            type_name: request.type_name,
            client_capabilities: encode_client_capabilities(request.client),
        })
    }
}

impl From<v6::validate_resource_config::Request> for ValidateRequest {
    fn from(wire: v6::validate_resource_config::Request) -> Self {
        Self {
            type_name: wire.type_name,
            config: payload_from_wire(wire.config),
            client: decode_client_capabilities(wire.client_capabilities),
        }
    }
}

impl TryFrom<ValidateRequest> for v6::validate_provider_config::Request {
    type Error = UnencodableMessage;

    fn try_from(request: ValidateRequest) -> Result<Self, UnencodableMessage> {
        Ok(Self { config: encode_absent_as_null(&request.config, "config")? })
    }
}

impl From<v6::validate_provider_config::Request> for ValidateRequest {
    fn from(wire: v6::validate_provider_config::Request) -> Self {
        Self {
            // A configuration of the provider has no type, and its request no capabilities.
            type_name: String::new(),
            config: payload_from_wire(wire.config),
            client: ClientCapabilities::default(),
        }
    }
}

/// Drops the configuration that protocol 5 sends back: no host acts on it.
impl From<v5::prepare_provider_config::Response> for v6::validate_provider_config::Response {
    fn from(wire: v5::prepare_provider_config::Response) -> Self {
        Self { diagnostics: wire.diagnostics }
    }
}

/// Writes the answer of protocol 5, which holds the configuration again: hosts warn when it is not
/// the one they sent.
pub(crate) fn encode_prepare_response(
    verdict: DiagnosticsResponse,
    config: Option<v6::DynamicValue>,
) -> v5::prepare_provider_config::Response {
    v5::prepare_provider_config::Response {
        prepared_config: config,
        diagnostics: diag::encode_diagnostics(verdict.diagnostics),
    }
}

impl TryFrom<ConfigureRequest> for v6::configure_provider::Request {
    type Error = UnencodableMessage;

    fn try_from(request: ConfigureRequest) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            config: encode_absent_as_null(&request.config, "config")?,
            terraform_version: request.terraform_version,
            client_capabilities: encode_client_capabilities(request.client),
        })
    }
}

impl From<v6::configure_provider::Request> for ConfigureRequest {
    fn from(wire: v6::configure_provider::Request) -> Self {
        Self {
            terraform_version: wire.terraform_version,
            config: payload_from_wire(wire.config),
            client: decode_client_capabilities(wire.client_capabilities),
        }
    }
}
