//! Opening, renewing and closing an ephemeral resource.

use bytes::Bytes;

use super::capability::{decode_client_capabilities, encode_client_capabilities};
use super::value::{payload, required, time};
use super::{InvalidMessage, UnencodableMessage, diag};
use crate::message::ephemeral::{KeepRequest, OpenRequest, OpenResponse, RenewResponse};
use crate::wire::generated::tfplugin6 as v6;

/// Writes private bytes where the protocol tells none from empty ones, and we do not.
fn private(bytes: Bytes) -> Option<Bytes> {
    (!bytes.is_empty()).then_some(bytes)
}

impl TryFrom<OpenRequest> for v6::open_ephemeral_resource::Request {
    type Error = UnencodableMessage;

    fn try_from(request: OpenRequest) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            config: required(&request.config, "config")?,
            type_name: request.type_name,
            client_capabilities: encode_client_capabilities(request.client),
        })
    }
}

impl From<v6::open_ephemeral_resource::Request> for OpenRequest {
    fn from(wire: v6::open_ephemeral_resource::Request) -> Self {
        Self {
            type_name: wire.type_name,
            config: payload(wire.config),
            client: decode_client_capabilities(wire.client_capabilities),
        }
    }
}

impl TryFrom<OpenResponse> for v6::open_ephemeral_resource::Response {
    type Error = UnencodableMessage;

    fn try_from(response: OpenResponse) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            diagnostics: diag::written(response.diagnostics),
            renew_at: response.renew_at.map(Into::into),
            result: required(&response.result, "result")?,
            private: private(response.private),
            deferred: response.deferred.map(Into::into),
        })
    }
}

impl TryFrom<v6::open_ephemeral_resource::Response> for OpenResponse {
    type Error = InvalidMessage;

    fn try_from(wire: v6::open_ephemeral_resource::Response) -> Result<Self, InvalidMessage> {
        Ok(Self {
            result: payload(wire.result),
            private: wire.private.unwrap_or_default(),
            renew_at: time(wire.renew_at, "renew_at")?,
            deferred: wire.deferred.map(Into::into),
            diagnostics: diag::read(wire.diagnostics),
        })
    }
}

impl From<KeepRequest> for v6::renew_ephemeral_resource::Request {
    fn from(request: KeepRequest) -> Self {
        Self { type_name: request.type_name, private: private(request.private) }
    }
}

impl From<v6::renew_ephemeral_resource::Request> for KeepRequest {
    fn from(wire: v6::renew_ephemeral_resource::Request) -> Self {
        Self { type_name: wire.type_name, private: wire.private.unwrap_or_default() }
    }
}

impl From<KeepRequest> for v6::close_ephemeral_resource::Request {
    fn from(request: KeepRequest) -> Self {
        Self { type_name: request.type_name, private: private(request.private) }
    }
}

impl From<v6::close_ephemeral_resource::Request> for KeepRequest {
    fn from(wire: v6::close_ephemeral_resource::Request) -> Self {
        Self { type_name: wire.type_name, private: wire.private.unwrap_or_default() }
    }
}

impl From<RenewResponse> for v6::renew_ephemeral_resource::Response {
    fn from(response: RenewResponse) -> Self {
        Self {
            diagnostics: diag::written(response.diagnostics),
            renew_at: response.renew_at.map(Into::into),
            private: private(response.private),
        }
    }
}

impl TryFrom<v6::renew_ephemeral_resource::Response> for RenewResponse {
    type Error = InvalidMessage;

    fn try_from(wire: v6::renew_ephemeral_resource::Response) -> Result<Self, InvalidMessage> {
        Ok(Self {
            private: wire.private.unwrap_or_default(),
            renew_at: time(wire.renew_at, "renew_at")?,
            diagnostics: diag::read(wire.diagnostics),
        })
    }
}
