//! Listing existing objects.

use super::payload::{
    encode_absent_as_null, encode_identity, encode_unless_absent, identity_payload_from_wire,
    payload_from_wire,
};
use super::{UnencodableMessage, diag};
use crate::capability::ClientCapabilities;
use crate::message::list::{ListEvent, ListRequest, ValidateListRequest};
use crate::wire::generated::tfplugin6 as v6;

impl TryFrom<ListRequest> for v6::list_resource::Request {
    type Error = UnencodableMessage;

    fn try_from(request: ListRequest) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            config: encode_absent_as_null(&request.config, "config")?,
            type_name: request.type_name,
            include_resource_object: request.include_object,
            limit: request.limit,
        })
    }
}

impl From<v6::list_resource::Request> for ListRequest {
    fn from(wire: v6::list_resource::Request) -> Self {
        Self {
            type_name: wire.type_name,
            config: payload_from_wire(wire.config),
            include_object: wire.include_resource_object,
            limit: wire.limit,
        }
    }
}

impl TryFrom<ListEvent> for v6::list_resource::Event {
    type Error = UnencodableMessage;

    fn try_from(event: ListEvent) -> Result<Self, UnencodableMessage> {
        let object = event.object.as_ref();
        Ok(Self {
            identity: encode_identity(event.identity.as_ref(), "identity")?,
            display_name: event.display_name,
            resource_object: match object {
                Some(object) => encode_absent_as_null(object, "resource_object")?,
                None => None,
            },
            diagnostic: diag::encode_diagnostics(event.diagnostics),
        })
    }
}

impl From<v6::list_resource::Event> for ListEvent {
    fn from(wire: v6::list_resource::Event) -> Self {
        Self {
            identity: identity_payload_from_wire(wire.identity),
            display_name: wire.display_name,
            // The field is `optional`: without it no object was requested, and an empty one is
            // null.
            object: wire.resource_object.map(|object| payload_from_wire(Some(object))),
            diagnostics: diag::decode_diagnostics(wire.diagnostic),
        }
    }
}

impl TryFrom<ValidateListRequest> for v6::validate_list_resource_config::Request {
    type Error = UnencodableMessage;

    fn try_from(request: ValidateListRequest) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            config: encode_absent_as_null(&request.config, "config")?,
            include_resource_object: encode_unless_absent(
                &request.include_object,
                "include_resource_object",
            )?,
            limit: encode_unless_absent(&request.limit, "limit")?,
            type_name: request.type_name,
        })
    }
}

impl From<v6::validate_list_resource_config::Request> for ValidateListRequest {
    fn from(wire: v6::validate_list_resource_config::Request) -> Self {
        Self {
            type_name: wire.type_name,
            config: payload_from_wire(wire.config),
            include_object: payload_from_wire(wire.include_resource_object),
            limit: payload_from_wire(wire.limit),
            // The protocol has no field for it in this call.
            client: ClientCapabilities::default(),
        }
    }
}
