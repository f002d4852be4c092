//! Reading a data source.

use std::sync::Arc;

use formwork_plugin_protocol::Provider;
use formwork_plugin_protocol::message::data::ReadDataRequest;
use formwork_value::{Diagnostics, Plain, Reported, Value};

use super::{About, Breach, Handle, capabilities, complete_problem, with_stored_numbers};
use crate::provider::ResourceType;

impl Handle {
    /// Reads a data source.
    ///
    /// # Errors
    /// When the provider reports errors, gives no answer, or breaks the contract.
    pub async fn read_data(
        &self,
        diags: &mut Diagnostics,
        ty: &ResourceType,
        config: &Value,
        about: About<'_>,
    ) -> Result<Plain, Reported> {
        let request = ReadDataRequest {
            type_name: ty.name.clone(),
            config: self.sent(config, ty),
            provider_meta: self.meta.clone(),
            client: capabilities(),
        };
        let call = "ReadDataSource";
        let ask = |provider: Arc<dyn Provider>| {
            let request = request.clone();
            async move { provider.read_data(request).await }
        };
        let answer = self.inquire(diags, call, about, ask).await?;
        self.said(diags, answer.diagnostics, about)?;
        if answer.deferred.is_some() {
            return Err(self.deferred(diags, call, about));
        }
        let value = self.decode(diags, call, &answer.state, (ty, about))?;
        if value.value().is_null() {
            let problem = "the object is null".to_owned();
            return Err(self.invalid(
                diags,
                Breach { summary: "Provider produced null object", call, problem: &problem },
                about,
            ));
        }
        if let Some(problem) = complete_problem(ty, &value) {
            return Err(self.invalid(
                diags,
                Breach { summary: "Provider produced invalid object", call, problem: &problem },
                about,
            ));
        }
        Ok(with_stored_numbers(value))
    }
}
