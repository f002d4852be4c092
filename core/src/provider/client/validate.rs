//! Validation of configurations by a provider.

use formwork_plugin_protocol::Request;
use formwork_plugin_protocol::message::configure::ValidateRequest;
use formwork_value::{Diagnostics, Reported, Value};

use super::{CallContext, ProviderClient};
use crate::addr::ResourceMode;
use crate::provider::ResourceType;

impl ProviderClient {
    /// Validates the configuration of the provider itself.
    ///
    /// # Errors
    /// Returns an error if the configuration is invalid, or if the call fails.
    pub async fn validate_provider_config(
        &self,
        diags: &mut Diagnostics,
        config: &Value,
        about: CallContext<'_>,
    ) -> Result<(), Reported> {
        let request = Request::validate_provider_config(ValidateRequest {
            type_name: String::new(),
            config: self.encode_for_request(config, self.loaded.config_type()),
            client: self.calls.client_capabilities(),
        });
        let verdict = self.call_or_report(diags, request, about).await?;
        self.report_provider_diagnostics(diags, verdict.diagnostics, about)
    }

    /// Validates the configuration of a resource or data source.
    ///
    /// # Errors
    /// Returns an error if the configuration is invalid, or if the call fails.
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
        let request = match ty.mode {
            ResourceMode::Data => Request::validate_data_config(request),
            ResourceMode::Ephemeral => Request::validate_ephemeral_config(request),
            ResourceMode::Managed => Request::validate_resource_config(request),
        };
        let verdict = self.call_or_report(diags, request, about).await?;
        self.report_provider_diagnostics(diags, verdict.diagnostics, about)
    }
}
