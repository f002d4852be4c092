//! Identities in the responses of a provider, and their upgrade to the current schema.

use formwork_plugin_protocol::contract::{AnswerToCheck, Call, Rule};
use formwork_plugin_protocol::message::resource::{RawState, UpgradeIdentityRequest};
use formwork_plugin_protocol::{Payload, Request};
use formwork_value::codec::json;
use formwork_value::{Diagnostics, Reported};

use super::{CallContext, ContractViolation, ProviderClient, ResponseContext};
use crate::messages;
use crate::provider::ResourceType;
use crate::state::{ObjectState, StoredIdentity};

impl ProviderClient {
    /// Upgrades the identity of a stored object to the current schema. An identity is dropped if the
    /// provider no longer has identities for the type.
    ///
    /// # Errors
    /// Returns an error if the response violates the contract.
    pub(crate) async fn upgrade_identity(
        &self,
        diags: &mut Diagnostics,
        ty: &ResourceType,
        object: &ObjectState,
        about: CallContext<'_>,
    ) -> Result<Option<StoredIdentity>, Reported> {
        let (Some(form), Some(stored)) = (&ty.identity, &object.identity) else {
            return Ok(None);
        };
        if stored.version == form.version {
            return Ok(Some(stored.clone()));
        }
        let request = Request::upgrade_identity(UpgradeIdentityRequest {
            type_name: ty.name.clone(),
            version: stored.version,
            identity: RawState::Json(stored.json.clone()),
        });
        let call = request.method().name();
        let context = ResponseContext { call, ty, about };
        let answer = self.call_or_report(diags, request, about).await?;
        self.report_provider_diagnostics(diags, answer.diagnostics, about)?;
        self.decode_identity(diags, Some(answer.identity), context)
    }

    /// Decodes the identity in a response to its stored form.
    ///
    /// # Errors
    /// Returns an error if the identity does not have its type, or is not wholly known.
    pub(crate) fn decode_identity(
        &self,
        diags: &mut Diagnostics,
        payload: Option<Payload>,
        context: ResponseContext<'_>,
    ) -> Result<Option<StoredIdentity>, Reported> {
        let ResponseContext { call, ty, about } = context;
        let Some(payload) = payload.filter(|payload| *payload != Payload::Absent) else {
            return Ok(None);
        };
        let summary = messages::PROVIDER_PRODUCED_INVALID_IDENTITY;
        let exchange = AnswerToCheck::for_call(Call::Any).with_answered_identity(Some(&payload));
        self.check_response_rules(diags, summary, &exchange, context)?;
        let Some(form) = &ty.identity else { return Ok(None) };
        let stored =
            payload.decode(&form.ty).map_err(|error| error.to_string()).and_then(|value| {
                if value.value().is_null() {
                    return Ok(None);
                }
                let text =
                    json::encode(value.value(), &form.ty).map_err(|error| error.to_string())?;
                Ok(Some(StoredIdentity { version: form.version, json: text.into() }))
            });
        stored.map_err(|problem| {
            self.report_violation(
                diags,
                ContractViolation { summary, rule: Rule::IdentityType, call, problem: &problem },
                about,
            )
        })
    }
}
