//! Reading a data source.

use formwork_plugin_protocol::Request;
use formwork_plugin_protocol::contract::{AnswerToCheck, Call};
use formwork_plugin_protocol::message::read_data::ReadDataRequest;
use formwork_value::{Diagnostics, Plain, Reported, Value};

use super::{CallContext, ProviderClient, ResponseContext, round_numbers_as_stored};
use crate::messages;
use crate::provider::ResourceType;

impl ProviderClient {
    /// Reads a data source.
    ///
    /// # Errors
    /// Returns an error if the provider reports errors, if the call fails, or if the response violates
    /// the contract.
    pub async fn read_data(
        &self,
        diags: &mut Diagnostics,
        ty: &ResourceType,
        config: &Value,
        about: CallContext<'_>,
    ) -> Result<Plain, Reported> {
        let request = Request::read_data(ReadDataRequest {
            type_name: ty.name.clone(),
            config: self.encode_for_request(config, ty),
            provider_meta: self.meta.clone(),
            client: self.calls.client_capabilities(),
            address: about.addr.to_string(),
        });
        let call = request.method().name();
        let context = ResponseContext { call, ty, about };
        let answer = self.call_or_report(diags, request, about).await?;
        self.report_provider_diagnostics(diags, answer.diagnostics, about)?;
        self.check_not_deferred(diags, answer.deferred, context)?;
        let value = self.decode_object(diags, &answer.state, context)?;
        let summary = match value.value().is_null() {
            true => messages::PROVIDER_PRODUCED_NULL_OBJECT,
            false => messages::PROVIDER_PRODUCED_INVALID_OBJECT,
        };
        let exchange =
            AnswerToCheck::for_call(Call::ReadData).with_answered_object(&answer.state, &value);
        self.check_response_rules(diags, summary, &exchange, context)?;
        Ok(round_numbers_as_stored(value))
    }
}
