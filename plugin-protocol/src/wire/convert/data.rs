//! Reading a data source.

use super::capability::{decode_client_capabilities, encode_client_capabilities};
use super::value::{optional, payload, required};
use super::{UnencodableMessage, diag};
use crate::message::data::{ReadDataRequest, ReadDataResponse};
use crate::wire::generated::tfplugin6 as v6;

impl TryFrom<ReadDataRequest> for v6::read_data_source::Request {
    type Error = UnencodableMessage;

    fn try_from(request: ReadDataRequest) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            config: required(&request.config, "config")?,
            // Sent only if the provider has a schema for it.
            provider_meta: optional(&request.provider_meta, "provider_meta")?,
            type_name: request.type_name,
            client_capabilities: encode_client_capabilities(request.client),
        })
    }
}

impl From<v6::read_data_source::Request> for ReadDataRequest {
    fn from(wire: v6::read_data_source::Request) -> Self {
        Self {
            type_name: wire.type_name,
            config: payload(wire.config),
            provider_meta: payload(wire.provider_meta),
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
            state: required(&response.state, "state")?,
            diagnostics: diag::written(response.diagnostics),
            deferred: response.deferred.map(Into::into),
        })
    }
}

impl From<v6::read_data_source::Response> for ReadDataResponse {
    fn from(wire: v6::read_data_source::Response) -> Self {
        Self {
            state: payload(wire.state),
            deferred: wire.deferred.map(Into::into),
            diagnostics: diag::read(wire.diagnostics),
        }
    }
}
