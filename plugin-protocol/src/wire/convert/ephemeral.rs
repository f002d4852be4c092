//! Opening, renewing and closing an ephemeral resource.

use bytes::Bytes;

use super::capability::{decode_client_capabilities, encode_client_capabilities};
use super::payload::{decode_time, encode_absent_as_null, payload_from_wire};
use super::{InvalidMessage, UnencodableMessage, diag};
use crate::message::ephemeral::{OpenRequest, OpenResponse, RenewOrCloseRequest, RenewResponse};
use crate::wire::generated::tfplugin6 as v6;

/// Writes private bytes where the protocol distinguishes absent from empty ones, and our types do
/// not.
fn encode_private(bytes: Bytes) -> Option<Bytes> {
    (!bytes.is_empty()).then_some(bytes)
}

impl TryFrom<OpenRequest> for v6::open_ephemeral_resource::Request {
    type Error = UnencodableMessage;

    fn try_from(request: OpenRequest) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            config: encode_absent_as_null(&request.config, "config")?,
            type_name: request.type_name,
            client_capabilities: encode_client_capabilities(request.client),
        })
    }
}

impl From<v6::open_ephemeral_resource::Request> for OpenRequest {
    fn from(wire: v6::open_ephemeral_resource::Request) -> Self {
        Self {
            type_name: wire.type_name,
            config: payload_from_wire(wire.config),
            client: decode_client_capabilities(wire.client_capabilities),
        }
    }
}

impl TryFrom<OpenResponse> for v6::open_ephemeral_resource::Response {
    type Error = UnencodableMessage;

    fn try_from(response: OpenResponse) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            diagnostics: diag::encode_diagnostics(response.diagnostics),
            renew_at: response.renew_at.map(Into::into),
            result: encode_absent_as_null(&response.result, "result")?,
            private: encode_private(response.private),
            deferred: response.deferred.map(Into::into),
        })
    }
}

impl TryFrom<v6::open_ephemeral_resource::Response> for OpenResponse {
    type Error = InvalidMessage;

    fn try_from(wire: v6::open_ephemeral_resource::Response) -> Result<Self, InvalidMessage> {
        Ok(Self {
            result: payload_from_wire(wire.result),
            private: wire.private.unwrap_or_default(),
            renew_at: decode_time(wire.renew_at, "renew_at")?,
            deferred: wire.deferred.map(Into::into),
            diagnostics: diag::decode_diagnostics(wire.diagnostics),
        })
    }
}

impl From<RenewOrCloseRequest> for v6::renew_ephemeral_resource::Request {
    fn from(request: RenewOrCloseRequest) -> Self {
        Self { type_name: request.type_name, private: encode_private(request.private) }
    }
}

impl From<v6::renew_ephemeral_resource::Request> for RenewOrCloseRequest {
    fn from(wire: v6::renew_ephemeral_resource::Request) -> Self {
        Self { type_name: wire.type_name, private: wire.private.unwrap_or_default() }
    }
}

impl From<RenewOrCloseRequest> for v6::close_ephemeral_resource::Request {
    fn from(request: RenewOrCloseRequest) -> Self {
        Self { type_name: request.type_name, private: encode_private(request.private) }
    }
}

impl From<v6::close_ephemeral_resource::Request> for RenewOrCloseRequest {
    fn from(wire: v6::close_ephemeral_resource::Request) -> Self {
        Self { type_name: wire.type_name, private: wire.private.unwrap_or_default() }
    }
}

impl From<RenewResponse> for v6::renew_ephemeral_resource::Response {
    fn from(response: RenewResponse) -> Self {
        Self {
            diagnostics: diag::encode_diagnostics(response.diagnostics),
            renew_at: response.renew_at.map(Into::into),
            private: encode_private(response.private),
        }
    }
}

impl TryFrom<v6::renew_ephemeral_resource::Response> for RenewResponse {
    type Error = InvalidMessage;

    fn try_from(wire: v6::renew_ephemeral_resource::Response) -> Result<Self, InvalidMessage> {
        Ok(Self {
            private: wire.private.unwrap_or_default(),
            renew_at: decode_time(wire.renew_at, "renew_at")?,
            diagnostics: diag::decode_diagnostics(wire.diagnostics),
        })
    }
}
