//! Calls to open, renew and close ephemeral resources. The caller decides when to make them.

use std::time::SystemTime;

use bytes::Bytes;
use formwork_plugin_protocol::Request;
use formwork_plugin_protocol::capability::ClientCapabilities;
use formwork_plugin_protocol::contract::{AnswerToCheck, Call};
use formwork_plugin_protocol::message::ephemeral::{OpenRequest, RenewOrCloseRequest};
use formwork_value::{Diagnostics, Plain, Reported, Value};

use super::{CallContext, ProviderClient, ResponseContext};
use crate::messages;
use crate::provider::ResourceType;

/// An open ephemeral resource.
#[derive(Clone, Debug)]
pub struct OpenedEphemeral {
    /// The value of the resource, without marks.
    pub value: Plain,
    /// Data needed for the next call.
    pub keep: OpenEphemeralData,
}

/// Data of an open ephemeral resource that the next call needs.
#[derive(Clone, Debug)]
pub struct OpenEphemeralData {
    /// The private data of the provider.
    pub private: Bytes,
    /// The time at which the resource must be renewed, if any.
    pub renew_at: Option<SystemTime>,
}

impl ProviderClient {
    /// Opens an ephemeral resource. Its configuration must be wholly known.
    ///
    /// # Errors
    /// Returns an error if the provider reports errors, if the call fails, or if the response violates
    /// the contract.
    pub async fn open_ephemeral(
        &self,
        diags: &mut Diagnostics,
        ty: &ResourceType,
        config: &Value,
        about: CallContext<'_>,
    ) -> Result<OpenedEphemeral, Reported> {
        let request = Request::open_ephemeral(OpenRequest {
            type_name: ty.name.clone(),
            config: self.encode_for_request(config, ty),
            client: ClientCapabilities::default(),
        });
        let call = request.method().name();
        let context = ResponseContext { call, ty, about };
        let answer = self.call_or_report(diags, request, about).await?;
        self.report_provider_diagnostics(diags, answer.diagnostics, about)?;
        self.check_not_deferred(diags, answer.deferred, context)?;
        let value = self.decode_object(diags, &answer.result, context)?;
        let config = config.clone().split_marks().0;
        let summary = messages::PROVIDER_PRODUCED_INVALID_EPHEMERAL;
        let exchange = AnswerToCheck::for_call(Call::Open { config: &config })
            .with_answered_object(&answer.result, &value);
        self.check_response_rules(diags, summary, &exchange, context)?;
        let keep = OpenEphemeralData { private: answer.private, renew_at: answer.renew_at };
        Ok(OpenedEphemeral { value, keep })
    }

    /// Renews an open ephemeral resource. `private` is the private data of the last response.
    ///
    /// # Errors
    /// Returns an error if the provider reports errors, or if the call fails.
    pub async fn renew_ephemeral(
        &self,
        diags: &mut Diagnostics,
        kind: &str,
        private: Bytes,
        about: CallContext<'_>,
    ) -> Result<OpenEphemeralData, Reported> {
        let request = RenewOrCloseRequest { type_name: kind.to_owned(), private };
        let answer = self.call_or_report(diags, Request::renew_ephemeral(request), about).await?;
        self.report_provider_diagnostics(diags, answer.diagnostics, about)?;
        Ok(OpenEphemeralData { private: answer.private, renew_at: answer.renew_at })
    }

    /// Closes an ephemeral resource. `private` is the private data of the open call, not of later
    /// renewals.
    ///
    /// # Errors
    /// Returns an error if the provider reports errors, or if the call fails.
    pub async fn close_ephemeral(
        &self,
        diags: &mut Diagnostics,
        kind: &str,
        private: Bytes,
        about: CallContext<'_>,
    ) -> Result<(), Reported> {
        let request = RenewOrCloseRequest { type_name: kind.to_owned(), private };
        let answer = self.call_or_report(diags, Request::close_ephemeral(request), about).await?;
        self.report_provider_diagnostics(diags, answer.diagnostics, about)
    }
}
