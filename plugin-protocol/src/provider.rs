//! The contract between host and provider: one method per operation.

use async_trait::async_trait;
use futures_util::stream::BoxStream;

use crate::Failure;
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

/// A provider: behind gRPC in another process, or in this one.
///
/// A method returns an error only when no answer came back. What the provider has to say, errors
/// included, is in the response's diagnostics. Methods a provider need not have answer
/// [`Failure::Unimplemented`].
#[async_trait]
pub trait Provider: Send + Sync {
    /// Returns what the provider offers.
    async fn schema(&self) -> Result<ProviderSchema, Failure>;

    /// Checks the provider's own configuration.
    async fn validate_provider_config(&self, request: ValidateRequest) -> Result<Verdict, Failure>;

    /// Configures the provider. Called once, before anything that needs it.
    async fn configure(&self, request: ConfigureRequest) -> Result<Verdict, Failure>;

    /// Checks the configuration of a managed resource.
    async fn validate_resource_config(&self, request: ValidateRequest) -> Result<Verdict, Failure>;

    /// Checks the configuration of a data source.
    async fn validate_data_config(&self, request: ValidateRequest) -> Result<Verdict, Failure>;

    /// Brings a stored object to the newest schema.
    async fn upgrade_state(&self, request: UpgradeRequest) -> Result<UpgradeResponse, Failure>;

    /// Reads the real object behind a stored one.
    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, Failure>;

    /// Says what applying would bring about. Changes nothing.
    async fn plan(&self, request: PlanRequest) -> Result<PlanResponse, Failure>;

    /// Creates, updates or destroys.
    async fn apply(&self, request: ApplyRequest) -> Result<ApplyResponse, Failure>;

    /// Finds an existing object.
    async fn import(&self, request: ImportRequest) -> Result<ImportResponse, Failure>;

    /// Reads a data source.
    async fn read_data(&self, request: ReadDataRequest) -> Result<ReadDataResponse, Failure>;

    /// Asks the provider to cut short what it is doing. Returns its error text, empty if none.
    async fn stop(&self) -> Result<String, Failure>;

    /// Names what the provider offers.
    async fn metadata(&self) -> Result<Metadata, Failure> {
        Err(Failure::Unimplemented("GetMetadata"))
    }

    /// Brings an object of another type into the form of this one.
    async fn move_state(&self, _request: MoveRequest) -> Result<MoveResponse, Failure> {
        Err(Failure::Unimplemented("MoveResourceState"))
    }

    /// Returns what identifies objects of each resource type.
    async fn identity_schemas(&self) -> Result<IdentitySchemas, Failure> {
        Err(Failure::Unimplemented("GetResourceIdentitySchemas"))
    }

    /// Brings a stored identity to the newest schema.
    async fn upgrade_identity(
        &self,
        _request: UpgradeIdentityRequest,
    ) -> Result<UpgradeIdentityResponse, Failure> {
        Err(Failure::Unimplemented("UpgradeResourceIdentity"))
    }

    /// Writes configuration for an existing object.
    async fn generate_config(
        &self,
        _request: GenerateConfigRequest,
    ) -> Result<GenerateConfigResponse, Failure> {
        Err(Failure::Unimplemented("GenerateResourceConfig"))
    }

    /// Returns the provider's functions.
    async fn functions(&self) -> Result<Functions, Failure> {
        Err(Failure::Unimplemented("GetFunctions"))
    }

    /// Calls a function.
    async fn call_function(&self, _request: CallRequest) -> Result<CallResponse, Failure> {
        Err(Failure::Unimplemented("CallFunction"))
    }

    /// Checks the configuration of an ephemeral resource.
    async fn validate_ephemeral_config(
        &self,
        _request: ValidateRequest,
    ) -> Result<Verdict, Failure> {
        Err(Failure::Unimplemented("ValidateEphemeralResourceConfig"))
    }

    /// Opens an ephemeral resource.
    async fn open_ephemeral(&self, _request: OpenRequest) -> Result<OpenResponse, Failure> {
        Err(Failure::Unimplemented("OpenEphemeralResource"))
    }

    /// Renews an ephemeral resource.
    async fn renew_ephemeral(&self, _request: KeepRequest) -> Result<RenewResponse, Failure> {
        Err(Failure::Unimplemented("RenewEphemeralResource"))
    }

    /// Closes an ephemeral resource.
    async fn close_ephemeral(&self, _request: KeepRequest) -> Result<Verdict, Failure> {
        Err(Failure::Unimplemented("CloseEphemeralResource"))
    }

    /// Checks the configuration of a list resource.
    async fn validate_list_config(
        &self,
        _request: ValidateListRequest,
    ) -> Result<Verdict, Failure> {
        Err(Failure::Unimplemented("ValidateListResourceConfig"))
    }

    /// Lists existing objects.
    async fn list(
        &self,
        _request: ListRequest,
    ) -> Result<BoxStream<'static, Result<ListEvent, Failure>>, Failure> {
        Err(Failure::Unimplemented("ListResource"))
    }

    /// Checks the configuration of an action.
    async fn validate_action_config(&self, _request: ValidateRequest) -> Result<Verdict, Failure> {
        Err(Failure::Unimplemented("ValidateActionConfig"))
    }

    /// Plans an action.
    async fn plan_action(&self, _request: ActionRequest) -> Result<PlanActionResponse, Failure> {
        Err(Failure::Unimplemented("PlanAction"))
    }

    /// Invokes an action.
    async fn invoke_action(
        &self,
        _request: ActionRequest,
    ) -> Result<BoxStream<'static, Result<ActionEvent, Failure>>, Failure> {
        Err(Failure::Unimplemented("InvokeAction"))
    }

    /// Checks the configuration of a state store.
    async fn validate_store_config(&self, _request: ValidateRequest) -> Result<Verdict, Failure> {
        Err(Failure::Unimplemented("ValidateStateStoreConfig"))
    }

    /// Configures a state store.
    async fn configure_store(
        &self,
        _request: ConfigureStoreRequest,
    ) -> Result<ConfigureStoreResponse, Failure> {
        Err(Failure::Unimplemented("ConfigureStateStore"))
    }

    /// Reads a state.
    async fn read_state_bytes(
        &self,
        _state: StateRef,
    ) -> Result<BoxStream<'static, Result<StateChunk, Failure>>, Failure> {
        Err(Failure::Unimplemented("ReadStateBytes"))
    }

    /// Writes a state.
    async fn write_state_bytes(
        &self,
        _state: StateRef,
        _chunks: Vec<StateChunk>,
    ) -> Result<Verdict, Failure> {
        Err(Failure::Unimplemented("WriteStateBytes"))
    }

    /// Locks a state; `operation` says what for.
    async fn lock_state(
        &self,
        _state: StateRef,
        _operation: String,
    ) -> Result<LockResponse, Failure> {
        Err(Failure::Unimplemented("LockState"))
    }

    /// Unlocks a state.
    async fn unlock_state(&self, _state: StateRef, _lock_id: String) -> Result<Verdict, Failure> {
        Err(Failure::Unimplemented("UnlockState"))
    }

    /// Names the states in a store.
    async fn states(&self, _type_name: String) -> Result<StatesResponse, Failure> {
        Err(Failure::Unimplemented("GetStates"))
    }

    /// Deletes a state.
    async fn delete_state(&self, _state: StateRef) -> Result<Verdict, Failure> {
        Err(Failure::Unimplemented("DeleteState"))
    }
}
