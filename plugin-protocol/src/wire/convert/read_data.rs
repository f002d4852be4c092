//! Reading a data source.

use super::capability::{decode_client_capabilities, encode_client_capabilities};
use super::payload::{decode_payload, encode_optional, encode_required};
use super::{UnencodableMessage, diag};
use crate::message::read_data::{ReadDataRequest, ReadDataResponse};
use crate::wire::generated::tfplugin6 as v6;

impl TryFrom<ReadDataRequest> for v6::read_data_source::Request {
    type Error = UnencodableMessage;

    fn try_from(request: ReadDataRequest) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            config: encode_required(&request.config, "config")?,
            // Sent only if the provider has a schema for it.
            provider_meta: encode_optional(&request.provider_meta, "provider_meta")?,
            type_name: request.type_name,
            client_capabilities: encode_client_capabilities(request.client),
        })
    }
}

impl From<v6::read_data_source::Request> for ReadDataRequest {
    fn from(wire: v6::read_data_source::Request) -> Self {
        Self {
            type_name: wire.type_name,
            config: decode_payload(wire.config),
            provider_meta: decode_payload(wire.provider_meta),
            client: decode_client_capabilities(wire.client_capabilities),
            // The wire has no field for it.
            address: String::new(),
        }
    }
}

impl TryFrom<ReadDataResponse> for v6::read_data_source::Response {
    type Error = UnencodableMessage;

    fn try_from(response: ReadDataResponse) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            state: encode_required(&response.state, "state")?,
            diagnostics: diag::encode_diagnostics(response.diagnostics),
            deferred: response.deferred.map(Into::into),
        })
    }
}

impl From<v6::read_data_source::Response> for ReadDataResponse {
    fn from(wire: v6::read_data_source::Response) -> Self {
        Self {
            state: decode_payload(wire.state),
            deferred: wire.deferred.map(Into::into),
            diagnostics: diag::decode_diagnostics(wire.diagnostics),
        }
    }
}
