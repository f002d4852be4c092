//! Messages of each call. The messages' own families serve as names: a call is written
//! `v6::PlanResourceChange` wherever its request and answer must be known.

use bytes::Bytes;
use prost::Message;

use super::codec::DecodedOrError;
use super::generated::{tfplugin5 as v5, tfplugin6 as v6};
use crate::handshake::Protocol;
use crate::provider::Method;

/// A call with its messages. If either side streams, these are the pieces.
pub(crate) trait Exchange: 'static {
    /// The method.
    const METHOD: Method;
    /// Message of the host.
    type Request: Message + Default + 'static;
    /// Message of the provider.
    type Response: Message + Default + 'static;
    /// Message of the provider in protocol 5: nearly always the same.
    type ResponseV5: Message + Default + Into<Self::Response> + 'static;

    /// Reads an answer in the form that a provider of `protocol` has it in.
    fn decode_answer(protocol: Protocol, answer: Bytes) -> DecodedOrError<Self::Response> {
        match protocol {
            Protocol::V5 => Self::ResponseV5::decode(answer).map(Into::into),
            Protocol::V6 => Self::Response::decode(answer),
        }
    }
}

/// One line per call, because an `impl` each would bury the table.
macro_rules! exchanges {
    ($($family:ty, $method:ident: $request:ty => $response:ty, $response_v5:ty;)*) => {$(
        impl Exchange for $family {
            const METHOD: Method = Method::$method;
            type Request = $request;
            type Response = $response;
            type ResponseV5 = $response_v5;
        }
    )*};
    ($($family:ty, $method:ident: $request:ty => $response:ty;)*) => {
        exchanges! { $($family, $method: $request => $response, $response;)* }
    };
}

exchanges! {
    v6::GetResourceIdentitySchemas, GetResourceIdentitySchemas:
        v6::get_resource_identity_schemas::Request => v6::get_resource_identity_schemas::Response;
    v6::GetFunctions, GetFunctions:
        v6::get_functions::Request => v6::get_functions::Response;
    v6::ConfigureProvider, ConfigureProvider:
        v6::configure_provider::Request => v6::configure_provider::Response;
    v6::StopProvider, StopProvider:
        v6::stop_provider::Request => v6::stop_provider::Response;
    v6::ValidateResourceConfig, ValidateResourceConfig:
        v6::validate_resource_config::Request => v6::validate_resource_config::Response;
    v6::UpgradeResourceState, UpgradeResourceState:
        v6::upgrade_resource_state::Request => v6::upgrade_resource_state::Response;
    v6::UpgradeResourceIdentity, UpgradeResourceIdentity:
        v6::upgrade_resource_identity::Request => v6::upgrade_resource_identity::Response;
    v6::ReadResource, ReadResource:
        v6::read_resource::Request => v6::read_resource::Response;
    v6::PlanResourceChange, PlanResourceChange:
        v6::plan_resource_change::Request => v6::plan_resource_change::Response;
    v6::ApplyResourceChange, ApplyResourceChange:
        v6::apply_resource_change::Request => v6::apply_resource_change::Response;
    v6::ImportResourceState, ImportResourceState:
        v6::import_resource_state::Request => v6::import_resource_state::Response;
    v6::MoveResourceState, MoveResourceState:
        v6::move_resource_state::Request => v6::move_resource_state::Response;
    v6::GenerateResourceConfig, GenerateResourceConfig:
        v6::generate_resource_config::Request => v6::generate_resource_config::Response;
    v6::ValidateDataResourceConfig, ValidateDataResourceConfig:
        v6::validate_data_resource_config::Request => v6::validate_data_resource_config::Response;
    v6::ReadDataSource, ReadDataSource:
        v6::read_data_source::Request => v6::read_data_source::Response;
    v6::ValidateEphemeralResourceConfig, ValidateEphemeralResourceConfig:
        v6::validate_ephemeral_resource_config::Request => v6::validate_ephemeral_resource_config::Response;
    v6::OpenEphemeralResource, OpenEphemeralResource:
        v6::open_ephemeral_resource::Request => v6::open_ephemeral_resource::Response;
    v6::RenewEphemeralResource, RenewEphemeralResource:
        v6::renew_ephemeral_resource::Request => v6::renew_ephemeral_resource::Response;
    v6::CloseEphemeralResource, CloseEphemeralResource:
        v6::close_ephemeral_resource::Request => v6::close_ephemeral_resource::Response;
    v6::ValidateListResourceConfig, ValidateListResourceConfig:
        v6::validate_list_resource_config::Request => v6::validate_list_resource_config::Response;
    v6::ListResource, ListResource:
        v6::list_resource::Request => v6::list_resource::Event;
    v6::CallFunction, CallFunction:
        v6::call_function::Request => v6::call_function::Response;
    v6::ValidateActionConfig, ValidateActionConfig:
        v6::validate_action_config::Request => v6::validate_action_config::Response;
    v6::PlanAction, PlanAction:
        v6::plan_action::Request => v6::plan_action::Response;
    v6::InvokeAction, InvokeAction:
        v6::invoke_action::Request => v6::invoke_action::Event;
    v6::ValidateStateStore, ValidateStateStoreConfig:
        v6::validate_state_store::Request => v6::validate_state_store::Response;
    v6::ConfigureStateStore, ConfigureStateStore:
        v6::configure_state_store::Request => v6::configure_state_store::Response;
    v6::ReadStateBytes, ReadStateBytes:
        v6::read_state_bytes::Request => v6::read_state_bytes::Response;
    v6::WriteStateBytes, WriteStateBytes:
        v6::write_state_bytes::RequestChunk => v6::write_state_bytes::Response;
    v6::LockState, LockState:
        v6::lock_state::Request => v6::lock_state::Response;
    v6::UnlockState, UnlockState:
        v6::unlock_state::Request => v6::unlock_state::Response;
    v6::GetStates, GetStates:
        v6::get_states::Request => v6::get_states::Response;
    v6::DeleteState, DeleteState:
        v6::delete_state::Request => v6::delete_state::Response;
}

// The three calls that protocol 5 answers in a form of its own.
exchanges! {
    v6::GetMetadata, GetMetadata:
        v6::get_metadata::Request
        => v6::get_metadata::Response, v5::get_metadata::Response;
    v6::GetProviderSchema, GetProviderSchema:
        v6::get_provider_schema::Request
        => v6::get_provider_schema::Response, v5::get_provider_schema::Response;
    v6::ValidateProviderConfig, ValidateProviderConfig:
        v6::validate_provider_config::Request
        => v6::validate_provider_config::Response, v5::prepare_provider_config::Response;
}

// The same three as a provider of protocol 5 has them.
exchanges! {
    v5::GetMetadata, GetMetadata:
        v6::get_metadata::Request => v5::get_metadata::Response;
    v5::GetProviderSchema, GetProviderSchema:
        v6::get_provider_schema::Request => v5::get_provider_schema::Response;
    v5::PrepareProviderConfig, ValidateProviderConfig:
        v6::validate_provider_config::Request => v5::prepare_provider_config::Response;
}
