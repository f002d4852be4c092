//! Planning and invoking an action.

use super::capability::{decode_client_capabilities, encode_client_capabilities};
use super::payload::{encode_absent_as_null, payload_from_wire};
use super::{InvalidMessage, UnencodableMessage, diag};
use crate::message::action::{ActionEvent, ActionRequest, PlanActionResponse};
use crate::wire::generated::tfplugin6 as v6;
use v6::invoke_action::event;

impl TryFrom<ActionRequest> for v6::plan_action::Request {
    type Error = UnencodableMessage;

    fn try_from(request: ActionRequest) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            config: encode_absent_as_null(&request.config, "config")?,
            action_type: request.type_name,
            client_capabilities: encode_client_capabilities(request.client),
        })
    }
}

impl From<v6::plan_action::Request> for ActionRequest {
    fn from(wire: v6::plan_action::Request) -> Self {
        Self {
            type_name: wire.action_type,
            config: payload_from_wire(wire.config),
            client: decode_client_capabilities(wire.client_capabilities),
        }
    }
}

impl TryFrom<ActionRequest> for v6::invoke_action::Request {
    type Error = UnencodableMessage;

    fn try_from(request: ActionRequest) -> Result<Self, UnencodableMessage> {
        Ok(Self {
            config: encode_absent_as_null(&request.config, "config")?,
            action_type: request.type_name,
            client_capabilities: encode_client_capabilities(request.client),
        })
    }
}

impl From<v6::invoke_action::Request> for ActionRequest {
    fn from(wire: v6::invoke_action::Request) -> Self {
        Self {
            type_name: wire.action_type,
            config: payload_from_wire(wire.config),
            client: decode_client_capabilities(wire.client_capabilities),
        }
    }
}

impl From<PlanActionResponse> for v6::plan_action::Response {
    fn from(response: PlanActionResponse) -> Self {
        Self {
            diagnostics: diag::encode_diagnostics(response.diagnostics),
            deferred: response.deferred.map(Into::into),
        }
    }
}

impl From<v6::plan_action::Response> for PlanActionResponse {
    fn from(wire: v6::plan_action::Response) -> Self {
        Self {
            deferred: wire.deferred.map(Into::into),
            diagnostics: diag::decode_diagnostics(wire.diagnostics),
        }
    }
}

impl From<ActionEvent> for v6::invoke_action::Event {
    fn from(event: ActionEvent) -> Self {
        let kind = match event {
            ActionEvent::Progress(message) => event::Type::Progress(event::Progress { message }),
            ActionEvent::Completed(diagnostics) => event::Type::Completed(event::Completed {
                diagnostics: diag::encode_diagnostics(diagnostics),
            }),
        };
        Self { r#type: Some(kind) }
    }
}

impl TryFrom<v6::invoke_action::Event> for ActionEvent {
    type Error = InvalidMessage;

    fn try_from(wire: v6::invoke_action::Event) -> Result<Self, InvalidMessage> {
        match wire.r#type {
            Some(event::Type::Progress(progress)) => Ok(Self::Progress(progress.message)),
            Some(event::Type::Completed(end)) => {
                Ok(Self::Completed(diag::decode_diagnostics(end.diagnostics)))
            }
            // Such an event makes a Go host panic. Here it is an error of the provider.
            None => Err(InvalidMessage::new("an event is neither progress nor completion")),
        }
    }
}
