//! Asks whether a provider accepts a configuration.

use std::sync::Arc;

use formwork_plugin_protocol::message::configure::ValidateRequest;
use formwork_plugin_protocol::{Provider, ProviderExt as _};
use formwork_value::{Diagnostics, Reported, Value};

use super::{CallContext, ProviderClient};
use crate::addr::ResourceMode;
use crate::provider::ResourceType;

impl ProviderClient {
    /// Asks whether the provider accepts its own configuration.
    ///
    /// # Errors
    /// When it does not, or gave no answer.
    pub async fn validate_provider_config(
        &self,
        diags: &mut Diagnostics,
        config: &Value,
        about: CallContext<'_>,
    ) -> Result<(), Reported> {
        let request = ValidateRequest {
            type_name: String::new(),
            config: self.encode_for_request(config, self.loaded.config_type()),
            client: self.calls.client_capabilities(),
        };
        let ask = |provider: Arc<dyn Provider>| {
            let request = request.clone();
            async move { provider.validate_provider_config(request).await }
        };
        let verdict =
            self.call_with_retry_or_report(diags, "ValidateProviderConfig", about, ask).await?;
        self.report_provider_diagnostics(diags, verdict.diagnostics, about)
    }

    /// Asks whether the provider accepts the configuration of a resource or data source.
    ///
    /// # Errors
    /// When it does not, or gave no answer.
    pub async fn validate_resource_config(
        &self,
        diags: &mut Diagnostics,
        ty: &ResourceType,
        config: &Value,
        about: CallContext<'_>,
    ) -> Result<(), Reported> {
        let request = ValidateRequest {
            type_name: ty.name.clone(),
            config: self.encode_for_request(config, ty),
            client: self.calls.client_capabilities(),
        };
        let call = match ty.mode {
            ResourceMode::Data => "ValidateDataResourceConfig",
            ResourceMode::Ephemeral => "ValidateEphemeralResourceConfig",
            ResourceMode::Managed => "ValidateResourceConfig",
        };
        let ask = |provider: Arc<dyn Provider>| {
            let request = request.clone();
            async move {
                match ty.mode {
                    ResourceMode::Data => provider.validate_data_config(request).await,
                    ResourceMode::Ephemeral => provider.validate_ephemeral_config(request).await,
                    ResourceMode::Managed => provider.validate_resource_config(request).await,
                }
            }
        };
        let verdict = self.call_with_retry_or_report(diags, call, about, ask).await?;
        self.report_provider_diagnostics(diags, verdict.diagnostics, about)
    }
}
