//! Reading a data source.

use std::sync::Arc;

use formwork_plugin_protocol::contract::{Call, Exchange};
use formwork_plugin_protocol::message::data::ReadDataRequest;
use formwork_plugin_protocol::{Provider, ProviderExt as _};
use formwork_value::{Diagnostics, Plain, Reported, Value};

use super::{CallContext, ProviderClient, ResponseContext, with_stored_numbers};
use crate::messages;
use crate::provider::ResourceType;

impl ProviderClient {
    /// Reads a data source.
    ///
    /// # Errors
    /// When the provider reports errors, gives no answer, or breaks the contract.
    pub async fn read_data(
        &self,
        diags: &mut Diagnostics,
        ty: &ResourceType,
        config: &Value,
        about: CallContext<'_>,
    ) -> Result<Plain, Reported> {
        let request = ReadDataRequest {
            type_name: ty.name.clone(),
            config: self.sent(config, ty),
            provider_meta: self.meta.clone(),
            client: self.calls.capabilities(),
            address: about.addr.to_string(),
        };
        let call = "ReadDataSource";
        let context = ResponseContext { call, ty, about };
        let ask = |provider: Arc<dyn Provider>| {
            let request = request.clone();
            async move { provider.read_data(request).await }
        };
        let answer = self.inquire(diags, call, about, ask).await?;
        self.said(diags, answer.diagnostics, about)?;
        self.not_deferred(diags, answer.deferred, context)?;
        let value = self.decode(diags, &answer.state, context)?;
        let summary = match value.value().is_null() {
            true => messages::PROVIDER_PRODUCED_NULL_OBJECT,
            false => messages::PROVIDER_PRODUCED_INVALID_OBJECT,
        };
        let exchange = Exchange::for_call(Call::ReadData).object(&answer.state, &value);
        self.judge(diags, summary, &exchange, context)?;
        Ok(with_stored_numbers(value))
    }
}
