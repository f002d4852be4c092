//! Validation of configurations, and the configuration of the provider.

use bytes::Bytes;
use formwork_plugin_protocol::capability::ClientCapabilities;
use formwork_plugin_protocol::message::configure::{ConfigureRequest, ValidateRequest};

use super::{Server, decode_and_check};
use crate::Answer;
use crate::call::Call;
use crate::context::{CallContext, Deferral};

impl Server {
    pub(super) fn handle_validate_resource(
        &self,
        call: &Call,
        request: &ValidateRequest,
    ) -> Answer<()> {
        let resource = self.find_resource(&request.type_name)?;
        let config = decode_and_check::decode_and_check_config(
            call,
            resource.shape(),
            &request.config,
            request.client,
        )?;
        resource.validate(&config, call.clone())
    }

    pub(super) fn handle_validate_data(
        &self,
        call: &Call,
        request: &ValidateRequest,
    ) -> Answer<()> {
        let data_source = self.find_data_source(&request.type_name)?;
        let config = decode_and_check::decode_and_check_config(
            call,
            data_source.shape(),
            &request.config,
            request.client,
        )?;
        data_source.validate(&config, call.clone())
    }

    pub(super) fn handle_validate_provider(
        &self,
        call: &Call,
        request: &ValidateRequest,
    ) -> Answer<()> {
        let configure = &self.provider.configure;
        // This request has no client capabilities, so write-only attributes are allowed here.
        let client = ClientCapabilities { write_only_attributes_allowed: true, ..request.client };
        let config = decode_and_check::decode_and_check_config(
            call,
            configure.shape(),
            &request.config,
            client,
        )?;
        configure.validate(&config, call.clone())
    }

    pub(super) async fn handle_configure_provider(
        &self,
        call: &Call,
        request: &ConfigureRequest,
    ) -> Answer<()> {
        let configure = &self.provider.configure;
        let config = decode_and_check::decode_value(configure.shape(), &request.config)?;
        let host_version = request.terraform_version.clone();
        let deferral = Deferral::new(request.client.deferral_allowed);
        // Not `self.new_context`, which fails while an earlier configuration is deferred.
        let context = CallContext { deferral, ..CallContext::new(call.clone(), &Bytes::new()) };
        call.run_unless_stopped(configure.configure(&config, host_version, context)).await
    }
}
