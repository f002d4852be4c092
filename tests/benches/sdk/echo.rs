//! A provider that returns the bytes that it receives, over the same transport as any other.

use formwork_plugin_protocol::message::configure::{
    ConfigureRequest, DiagnosticsResponse, ValidateRequest,
};
use formwork_plugin_protocol::message::read_data::{ReadDataRequest, ReadDataResponse};
use formwork_plugin_protocol::message::resource::{
    ApplyRequest, ApplyResponse, ImportRequest, ImportResponse, PlanRequest, PlanResponse,
    ReadRequest, ReadResponse, UpgradeRequest, UpgradeResponse,
};
use formwork_plugin_protocol::message::schema::{Metadata, ProviderSchema};
use formwork_plugin_protocol::{Failure, ProviderHandlers};

/// The provider.
pub(super) struct Echo;

impl ProviderHandlers for Echo {
    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, Failure> {
        Ok(ReadResponse {
            state: request.current,
            private: request.private,
            deferred: None,
            identity: None,
            diagnostics: Vec::new(),
        })
    }

    async fn schema(&self) -> Result<ProviderSchema, Failure> {
        Ok(ProviderSchema::default())
    }

    async fn metadata(&self) -> Result<Metadata, Failure> {
        Ok(Metadata::default())
    }

    async fn stop(&self) -> Result<String, Failure> {
        Ok(String::new())
    }

    async fn validate_provider_config(
        &self,
        _: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        Ok(DiagnosticsResponse::default())
    }

    async fn configure(&self, _: ConfigureRequest) -> Result<DiagnosticsResponse, Failure> {
        Ok(DiagnosticsResponse::default())
    }

    async fn validate_resource_config(
        &self,
        _: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        Ok(DiagnosticsResponse::default())
    }

    async fn validate_data_config(
        &self,
        _: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        Ok(DiagnosticsResponse::default())
    }

    async fn upgrade_state(&self, _: UpgradeRequest) -> Result<UpgradeResponse, Failure> {
        Err(Failure::Unimplemented("UpgradeResourceState"))
    }

    async fn plan(&self, _: PlanRequest) -> Result<PlanResponse, Failure> {
        Err(Failure::Unimplemented("PlanResourceChange"))
    }

    async fn apply(&self, _: ApplyRequest) -> Result<ApplyResponse, Failure> {
        Err(Failure::Unimplemented("ApplyResourceChange"))
    }

    async fn import(&self, _: ImportRequest) -> Result<ImportResponse, Failure> {
        Err(Failure::Unimplemented("ImportResourceState"))
    }

    async fn read_data(&self, _: ReadDataRequest) -> Result<ReadDataResponse, Failure> {
        Err(Failure::Unimplemented("ReadDataSource"))
    }
}
