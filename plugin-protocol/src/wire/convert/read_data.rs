//! Reading a data source.

use super::capability::{decode_client_capabilities, encode_client_capabilities};
use super::payload::{encode_absent_as_null, encode_unless_absent, payload_from_wire};
use super::{UnencodableMessage, diag};
use crate::message::read_data::{ReadDataRequest, ReadDataResponse};
use crate::wire::generated::tfplugin6 as v6;

impl TryFrom<ReadDataRequest> for v6::read_data_source::Request {
    type Error = UnencodableMessage;

    fn try_from(request: ReadDataRequest) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            config: encode_absent_as_null(&request.config, "config")?,
            // Sent only if the provider has a schema for it.
            provider_meta: encode_unless_absent(&request.provider_meta, "provider_meta")?,
            type_name: request.type_name,
            client_capabilities: encode_client_capabilities(request.client),
        })
    }
}

impl From<v6::read_data_source::Request> for ReadDataRequest {
    fn from(wire: v6::read_data_source::Request) -> Self {
        Self {
            type_name: wire.type_name,
            config: payload_from_wire(wire.config),
            provider_meta: payload_from_wire(wire.provider_meta),
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
            state: encode_absent_as_null(&response.state, "state")?,
            diagnostics: diag::encode_diagnostics(response.diagnostics),
            deferred: response.deferred.map(Into::into),
        })
    }
}

impl From<v6::read_data_source::Response> for ReadDataResponse {
    fn from(wire: v6::read_data_source::Response) -> Self {
        Self {
            state: payload_from_wire(wire.state),
            deferred: wire.deferred.map(Into::into),
            diagnostics: diag::decode_diagnostics(wire.diagnostics),
        }
    }
}
