//! The contract over gRPC: a plugin in another process as a [`Provider`]. Starts no process and opens
//! no connection; knows nothing of schemas beyond passing them on.

mod call;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;

use super::Plugin;
use super::channel::Channels;
use crate::handshake::Protocol;
use crate::message::action::{ActionEvent, ActionRequest, PlanActionResponse};
use crate::message::configure::{ConfigureRequest, ValidateRequest, Verdict};
use crate::message::data::{ReadDataRequest, ReadDataResponse};
use crate::message::ephemeral::{KeepRequest, OpenRequest, OpenResponse, RenewResponse};
use crate::message::function::{CallRequest, CallResponse, Functions};
use crate::message::list::{ListEvent, ListRequest, ValidateListRequest};
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
use crate::wire::convert::write_chunks;
use crate::wire::generated::{tfplugin5 as v5, tfplugin6 as v6};
use crate::{Failure, Provider};

/// How long to wait for calls that do no real work in the world. None waits for ever, as for all
/// others: an apply may take hours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deadlines {
    /// For schemas, names, identities and function signatures.
    pub schema: Option<Duration>,
    /// For checking a configuration of any kind.
    pub validate: Option<Duration>,
    /// For the provider to take note that it shall stop.
    pub stop: Option<Duration>,
}

/// A plugin on the other end of a connection.
pub struct GrpcProvider {
    channels: Arc<dyn Channels>,
    protocol: Protocol,
    deadlines: Deadlines,
}

impl GrpcProvider {
    /// Speaks `protocol` over the connections of `channels`.
    pub(crate) fn new(
        channels: Arc<dyn Channels>,
        protocol: Protocol,
        deadlines: Deadlines,
    ) -> Self {
        Self { channels, protocol, deadlines }
    }

    /// The version of the protocol the plugin speaks.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }
}

impl Plugin {
    /// Returns the provider inside, whose calls share the plugin's connections.
    #[must_use]
    pub fn provider(&self, deadlines: Deadlines) -> GrpcProvider {
        let channels: Arc<dyn Channels> = Arc::<super::pool::Pool>::clone(&self.pool);
        GrpcProvider::new(channels, self.protocol, deadlines)
    }
}

impl fmt::Debug for GrpcProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrpcProvider").field("protocol", &self.protocol).finish_non_exhaustive()
    }
}

#[async_trait]
impl Provider for GrpcProvider {
    async fn schema(&self) -> Result<ProviderSchema, Failure> {
        let answer: v6::get_provider_schema::Response = match self.protocol {
            Protocol::V5 => self.ask::<v5::GetProviderSchema>(Default::default()).await?.into(),
            Protocol::V6 => self.ask::<v6::GetProviderSchema>(Default::default()).await?,
        };
        Ok(answer.try_into()?)
    }

    async fn metadata(&self) -> Result<Metadata, Failure> {
        let answer: v6::get_metadata::Response = match self.protocol {
            Protocol::V5 => self.ask::<v5::GetMetadata>(Default::default()).await?.into(),
            Protocol::V6 => self.ask::<v6::GetMetadata>(Default::default()).await?,
        };
        Ok(answer.into())
    }

    async fn identity_schemas(&self) -> Result<IdentitySchemas, Failure> {
        Ok(self.ask::<v6::GetResourceIdentitySchemas>(Default::default()).await?.try_into()?)
    }

    async fn functions(&self) -> Result<Functions, Failure> {
        Ok(self.ask::<v6::GetFunctions>(Default::default()).await?.try_into()?)
    }

    async fn validate_provider_config(&self, request: ValidateRequest) -> Result<Verdict, Failure> {
        match self.protocol {
            Protocol::V5 => self.unary::<v5::PrepareProviderConfig, _, _>(request).await,
            Protocol::V6 => self.unary::<v6::ValidateProviderConfig, _, _>(request).await,
        }
    }

    async fn configure(&self, request: ConfigureRequest) -> Result<Verdict, Failure> {
        self.unary::<v6::ConfigureProvider, _, _>(request).await
    }

    async fn stop(&self) -> Result<String, Failure> {
        Ok(self.ask::<v6::StopProvider>(Default::default()).await?.error)
    }

    async fn validate_resource_config(&self, request: ValidateRequest) -> Result<Verdict, Failure> {
        self.unary::<v6::ValidateResourceConfig, _, _>(request).await
    }

    async fn upgrade_state(&self, request: UpgradeRequest) -> Result<UpgradeResponse, Failure> {
        self.unary::<v6::UpgradeResourceState, _, _>(request).await
    }

    async fn upgrade_identity(
        &self,
        request: UpgradeIdentityRequest,
    ) -> Result<UpgradeIdentityResponse, Failure> {
        self.unary::<v6::UpgradeResourceIdentity, _, _>(request).await
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, Failure> {
        self.unary::<v6::ReadResource, _, _>(request).await
    }

    async fn plan(&self, request: PlanRequest) -> Result<PlanResponse, Failure> {
        self.unary::<v6::PlanResourceChange, _, _>(request).await
    }

    async fn apply(&self, request: ApplyRequest) -> Result<ApplyResponse, Failure> {
        self.unary::<v6::ApplyResourceChange, _, _>(request).await
    }

    async fn import(&self, request: ImportRequest) -> Result<ImportResponse, Failure> {
        self.unary::<v6::ImportResourceState, _, _>(request).await
    }

    async fn move_state(&self, request: MoveRequest) -> Result<MoveResponse, Failure> {
        self.unary::<v6::MoveResourceState, _, _>(request).await
    }

    async fn generate_config(
        &self,
        request: GenerateConfigRequest,
    ) -> Result<GenerateConfigResponse, Failure> {
        self.unary::<v6::GenerateResourceConfig, _, _>(request).await
    }

    async fn validate_data_config(&self, request: ValidateRequest) -> Result<Verdict, Failure> {
        self.unary::<v6::ValidateDataResourceConfig, _, _>(request).await
    }

    async fn read_data(&self, request: ReadDataRequest) -> Result<ReadDataResponse, Failure> {
        self.unary::<v6::ReadDataSource, _, _>(request).await
    }

    async fn validate_ephemeral_config(
        &self,
        request: ValidateRequest,
    ) -> Result<Verdict, Failure> {
        self.unary::<v6::ValidateEphemeralResourceConfig, _, _>(request).await
    }

    async fn open_ephemeral(&self, request: OpenRequest) -> Result<OpenResponse, Failure> {
        self.unary::<v6::OpenEphemeralResource, _, _>(request).await
    }

    async fn renew_ephemeral(&self, request: KeepRequest) -> Result<RenewResponse, Failure> {
        self.unary::<v6::RenewEphemeralResource, _, _>(request).await
    }

    async fn close_ephemeral(&self, request: KeepRequest) -> Result<Verdict, Failure> {
        self.unary::<v6::CloseEphemeralResource, _, _>(request).await
    }

    async fn validate_list_config(&self, request: ValidateListRequest) -> Result<Verdict, Failure> {
        self.unary::<v6::ValidateListResourceConfig, _, _>(request).await
    }

    async fn list(
        &self,
        request: ListRequest,
    ) -> Result<BoxStream<'static, Result<ListEvent, Failure>>, Failure> {
        self.stream::<v6::ListResource, _, _>(request).await
    }

    async fn call_function(&self, request: CallRequest) -> Result<CallResponse, Failure> {
        self.unary::<v6::CallFunction, _, _>(request).await
    }

    async fn validate_action_config(&self, request: ValidateRequest) -> Result<Verdict, Failure> {
        self.unary::<v6::ValidateActionConfig, _, _>(request).await
    }

    async fn plan_action(&self, request: ActionRequest) -> Result<PlanActionResponse, Failure> {
        self.unary::<v6::PlanAction, _, _>(request).await
    }

    async fn invoke_action(
        &self,
        request: ActionRequest,
    ) -> Result<BoxStream<'static, Result<ActionEvent, Failure>>, Failure> {
        self.stream::<v6::InvokeAction, _, _>(request).await
    }

    async fn validate_store_config(&self, request: ValidateRequest) -> Result<Verdict, Failure> {
        self.unary::<v6::ValidateStateStore, _, _>(request).await
    }

    async fn configure_store(
        &self,
        request: ConfigureStoreRequest,
    ) -> Result<ConfigureStoreResponse, Failure> {
        self.unary::<v6::ConfigureStateStore, _, _>(request).await
    }

    async fn read_state_bytes(
        &self,
        state: StateRef,
    ) -> Result<BoxStream<'static, Result<StateChunk, Failure>>, Failure> {
        self.stream::<v6::ReadStateBytes, _, _>(state).await
    }

    async fn write_state_bytes(
        &self,
        state: StateRef,
        chunks: Vec<StateChunk>,
    ) -> Result<Verdict, Failure> {
        Ok(self.send_all::<v6::WriteStateBytes>(write_chunks(state, chunks)).await?.into())
    }

    async fn lock_state(
        &self,
        state: StateRef,
        operation: String,
    ) -> Result<LockResponse, Failure> {
        let StateRef { type_name, state_id } = state;
        let request = v6::lock_state::Request { type_name, state_id, operation };
        Ok(self.ask::<v6::LockState>(request).await?.into())
    }

    async fn unlock_state(&self, state: StateRef, lock_id: String) -> Result<Verdict, Failure> {
        let StateRef { type_name, state_id } = state;
        let request = v6::unlock_state::Request { type_name, state_id, lock_id };
        Ok(self.ask::<v6::UnlockState>(request).await?.into())
    }

    async fn states(&self, type_name: String) -> Result<StatesResponse, Failure> {
        Ok(self.ask::<v6::GetStates>(v6::get_states::Request { type_name }).await?.into())
    }

    async fn delete_state(&self, state: StateRef) -> Result<Verdict, Failure> {
        self.unary::<v6::DeleteState, _, _>(state).await
    }
}
