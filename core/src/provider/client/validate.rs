//! Asks whether a provider accepts a configuration.

use std::sync::Arc;

use formwork_plugin_protocol::message::configure::ValidateRequest;
use formwork_plugin_protocol::{Provider, ProviderExt as _};
use formwork_value::{Diagnostics, Reported, Value};

use super::{CallContext, ProviderClient};
use crate::addr::Mode;
use crate::provider::ResourceType;

impl ProviderClient {
    /// Asks whether the provider accepts its own configuration.
    ///
    /// # Errors
    /// When it does not, or gave no answer.
    pub async fn validate_config(
        &self,
        diags: &mut Diagnostics,
        config: &Value,
        about: CallContext<'_>,
    ) -> Result<(), Reported> {
        let request = ValidateRequest {
            type_name: String::new(),
            config: self.sent(config, self.loaded.config()),
            client: self.calls.capabilities(),
        };
        let ask = |provider: Arc<dyn Provider>| {
            let request = request.clone();
            async move { provider.validate_provider_config(request).await }
        };
        let verdict = self.inquire(diags, "ValidateProviderConfig", about, ask).await?;
        self.said(diags, verdict.diagnostics, about)
    }

    /// Asks whether the provider accepts the configuration of a resource or data source.
    ///
    /// # Errors
    /// When it does not, or gave no answer.
    pub async fn validate(
        &self,
        diags: &mut Diagnostics,
        ty: &ResourceType,
        config: &Value,
        about: CallContext<'_>,
    ) -> Result<(), Reported> {
        let request = ValidateRequest {
            type_name: ty.name.clone(),
            config: self.sent(config, ty),
            client: self.calls.capabilities(),
        };
        let call = match ty.mode {
            Mode::Data => "ValidateDataResourceConfig",
            Mode::Ephemeral => "ValidateEphemeralResourceConfig",
            Mode::Managed => "ValidateResourceConfig",
        };
        let ask = |provider: Arc<dyn Provider>| {
            let request = request.clone();
            async move {
                match ty.mode {
                    Mode::Data => provider.validate_data_config(request).await,
                    Mode::Ephemeral => provider.validate_ephemeral_config(request).await,
                    Mode::Managed => provider.validate_resource_config(request).await,
                }
            }
        };
        let verdict = self.inquire(diags, call, about, ask).await?;
        self.said(diags, verdict.diagnostics, about)
    }
}
