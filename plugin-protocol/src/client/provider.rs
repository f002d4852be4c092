//! The contract over gRPC: a plugin in another process as a [`Provider`]. Starts no process and
//! opens no connection; passes schemas on without reading them.

mod call;

use std::fmt;
use std::sync::Arc;

use futures_util::stream::BoxStream;

use super::Plugin;
use crate::handshake::Protocol;
use crate::message::action::{ActionEvent, ActionRequest, PlanActionResponse};
use crate::message::configure::{ConfigureRequest, DiagnosticsResponse, ValidateRequest};
use crate::message::ephemeral::{OpenRequest, OpenResponse, RenewOrCloseRequest, RenewResponse};
use crate::message::function::{CallRequest, CallResponse, Functions};
use crate::message::list::{ListEvent, ListRequest, ValidateListRequest};
use crate::message::read_data::{ReadDataRequest, ReadDataResponse};
use crate::message::resource::{
    ApplyRequest, ApplyResponse, GenerateConfigRequest, GenerateConfigResponse, ImportRequest,
    ImportResponse, MoveRequest, MoveResponse, PlanRequest, PlanResponse, ReadRequest,
    ReadResponse, UpgradeIdentityRequest, UpgradeIdentityResponse, UpgradeRequest, UpgradeResponse,
};
use crate::message::schema::{IdentitySchemas, Metadata, ProviderSchema};
use crate::message::state_store::{
    ConfigureStoreRequest, ConfigureStoreResponse, LockResponse, StateChunk, StateRef,
    StatesResponse,
};
use crate::raw::Transport;
use crate::wire::convert::encode_state_chunks;
use crate::wire::generated::tfplugin6 as wire;
use crate::{Failure, ProviderHandlers};

/// A plugin at the other end of a transport.
pub struct GrpcProvider {
    transport: Arc<dyn Transport>,
    protocol: Protocol,
}

impl GrpcProvider {
    /// Speaks `protocol` over a transport.
    #[must_use]
    pub fn over_transport(transport: Arc<dyn Transport>, protocol: Protocol) -> Self {
        Self { transport, protocol }
    }

    /// The version of the protocol that the plugin uses.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }
}

impl Plugin {
    /// Returns the provider inside, whose calls share the plugin's connections.
    #[must_use]
    pub fn provider(&self) -> GrpcProvider {
        GrpcProvider::over_transport(self.transport(), self.protocol)
    }
}

impl fmt::Debug for GrpcProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrpcProvider").field("protocol", &self.protocol).finish_non_exhaustive()
    }
}

impl ProviderHandlers for GrpcProvider {
    async fn schema(&self) -> Result<ProviderSchema, Failure> {
        self.call_unary::<wire::GetProviderSchema, _, _>(wire::get_provider_schema::Request {})
            .await
    }

    async fn metadata(&self) -> Result<Metadata, Failure> {
        self.call_unary::<wire::GetMetadata, _, _>(wire::get_metadata::Request {}).await
    }

    async fn identity_schemas(&self) -> Result<IdentitySchemas, Failure> {
        let request = wire::get_resource_identity_schemas::Request {};
        self.call_unary::<wire::GetResourceIdentitySchemas, _, _>(request).await
    }

    async fn functions(&self) -> Result<Functions, Failure> {
        self.call_unary::<wire::GetFunctions, _, _>(wire::get_functions::Request {}).await
    }

    async fn validate_provider_config(
        &self,
        request: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.call_unary::<wire::ValidateProviderConfig, _, _>(request).await
    }

    async fn configure(&self, request: ConfigureRequest) -> Result<DiagnosticsResponse, Failure> {
        self.call_unary::<wire::ConfigureProvider, _, _>(request).await
    }

    async fn stop(&self) -> Result<String, Failure> {
        // `StopProvider` answers with a string and no diagnostics. It is empty if all went well.
        Ok(self
            .call_with_wire_messages::<wire::StopProvider>(wire::stop_provider::Request {})
            .await?
            .error)
    }

    async fn validate_resource_config(
        &self,
        request: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.call_unary::<wire::ValidateResourceConfig, _, _>(request).await
    }

    async fn upgrade_state(&self, request: UpgradeRequest) -> Result<UpgradeResponse, Failure> {
        self.call_unary::<wire::UpgradeResourceState, _, _>(request).await
    }

    async fn upgrade_identity(
        &self,
        request: UpgradeIdentityRequest,
    ) -> Result<UpgradeIdentityResponse, Failure> {
        self.call_unary::<wire::UpgradeResourceIdentity, _, _>(request).await
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, Failure> {
        self.call_unary::<wire::ReadResource, _, _>(request).await
    }

    async fn plan(&self, request: PlanRequest) -> Result<PlanResponse, Failure> {
        self.call_unary::<wire::PlanResourceChange, _, _>(request).await
    }

    async fn apply(&self, request: ApplyRequest) -> Result<ApplyResponse, Failure> {
        self.call_unary::<wire::ApplyResourceChange, _, _>(request).await
    }

    async fn import(&self, request: ImportRequest) -> Result<ImportResponse, Failure> {
        self.call_unary::<wire::ImportResourceState, _, _>(request).await
    }

    async fn move_state(&self, request: MoveRequest) -> Result<MoveResponse, Failure> {
        self.call_unary::<wire::MoveResourceState, _, _>(request).await
    }

    async fn generate_config(
        &self,
        request: GenerateConfigRequest,
    ) -> Result<GenerateConfigResponse, Failure> {
        self.call_unary::<wire::GenerateResourceConfig, _, _>(request).await
    }

    async fn validate_data_config(
        &self,
        request: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.call_unary::<wire::ValidateDataResourceConfig, _, _>(request).await
    }

    async fn read_data(&self, request: ReadDataRequest) -> Result<ReadDataResponse, Failure> {
        self.call_unary::<wire::ReadDataSource, _, _>(request).await
    }

    async fn validate_ephemeral_config(
        &self,
        request: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.call_unary::<wire::ValidateEphemeralResourceConfig, _, _>(request).await
    }

    async fn open_ephemeral(&self, request: OpenRequest) -> Result<OpenResponse, Failure> {
        self.call_unary::<wire::OpenEphemeralResource, _, _>(request).await
    }

    async fn renew_ephemeral(
        &self,
        request: RenewOrCloseRequest,
    ) -> Result<RenewResponse, Failure> {
        self.call_unary::<wire::RenewEphemeralResource, _, _>(request).await
    }

    async fn close_ephemeral(
        &self,
        request: RenewOrCloseRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.call_unary::<wire::CloseEphemeralResource, _, _>(request).await
    }

    async fn validate_list_config(
        &self,
        request: ValidateListRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.call_unary::<wire::ValidateListResourceConfig, _, _>(request).await
    }

    async fn list(
        &self,
        request: ListRequest,
    ) -> Result<BoxStream<'static, Result<ListEvent, Failure>>, Failure> {
        self.call_server_streaming::<wire::ListResource, _, _>(request).await
    }

    async fn call_function(&self, request: CallRequest) -> Result<CallResponse, Failure> {
        self.call_unary::<wire::CallFunction, _, _>(request).await
    }

    async fn validate_action_config(
        &self,
        request: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.call_unary::<wire::ValidateActionConfig, _, _>(request).await
    }

    async fn plan_action(&self, request: ActionRequest) -> Result<PlanActionResponse, Failure> {
        self.call_unary::<wire::PlanAction, _, _>(request).await
    }

    async fn invoke_action(
        &self,
        request: ActionRequest,
    ) -> Result<BoxStream<'static, Result<ActionEvent, Failure>>, Failure> {
        self.call_server_streaming::<wire::InvokeAction, _, _>(request).await
    }

    async fn validate_store_config(
        &self,
        request: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.call_unary::<wire::ValidateStateStore, _, _>(request).await
    }

    async fn configure_store(
        &self,
        request: ConfigureStoreRequest,
    ) -> Result<ConfigureStoreResponse, Failure> {
        self.call_unary::<wire::ConfigureStateStore, _, _>(request).await
    }

    async fn read_state_bytes(
        &self,
        state: StateRef,
    ) -> Result<BoxStream<'static, Result<StateChunk, Failure>>, Failure> {
        self.call_server_streaming::<wire::ReadStateBytes, _, _>(state).await
    }

    async fn write_state_bytes(
        &self,
        state: StateRef,
        chunks: Vec<StateChunk>,
    ) -> Result<DiagnosticsResponse, Failure> {
        // The only call with a stream of requests: a state is cut into chunks of the negotiated
        // size.
        Ok(self
            .call_client_streaming::<wire::WriteStateBytes>(encode_state_chunks(state, chunks))
            .await?
            .into())
    }

    async fn lock_state(
        &self,
        state: StateRef,
        operation: String,
    ) -> Result<LockResponse, Failure> {
        let StateRef { type_name, state_id } = state;
        let request = wire::lock_state::Request { type_name, state_id, operation };
        Ok(self.call_with_wire_messages::<wire::LockState>(request).await?.into())
    }

    async fn unlock_state(
        &self,
        state: StateRef,
        lock_id: String,
    ) -> Result<DiagnosticsResponse, Failure> {
        let StateRef { type_name, state_id } = state;
        let request = wire::unlock_state::Request { type_name, state_id, lock_id };
        Ok(self.call_with_wire_messages::<wire::UnlockState>(request).await?.into())
    }

    async fn list_states(&self, type_name: String) -> Result<StatesResponse, Failure> {
        Ok(self
            .call_with_wire_messages::<wire::GetStates>(wire::get_states::Request { type_name })
            .await?
            .into())
    }

    async fn delete_state(&self, state: StateRef) -> Result<DiagnosticsResponse, Failure> {
        self.call_unary::<wire::DeleteState, _, _>(state).await
    }
}

#[cfg(test)]
mod tests;
