//! The contract between host and provider: one call, with a request and a response for each operation.
//!
//! [`Provider`] has the one call. Layers (recording, faults, logging) implement it and forward all
//! other requests. [`ProviderExt`] has a typed method for each operation, for callers, and
//! [`Request`] makes a [`TypedRequest`] for each, for callers with layers of their own.
//! [`ProviderHandlers`] has a handler for each operation, for providers. All of them, and the table
//! of methods, are generated from one list at the end of this file. New operations are added there.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, TryFutureExt as _};

use crate::Failure;
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

/// A provider: in another process over gRPC, or in this one.
///
/// A call fails only if no answer came back. The provider's own errors are in the diagnostics of
/// its response. An operation that the provider does not implement fails with
/// [`Failure::Unimplemented`].
///
/// Implement this for a layer around another provider, and [`ProviderHandlers`] for a provider.
pub trait Provider: Send + Sync {
    /// Calls an operation. The response is the one of the request's operation.
    fn call(&self, request: Request) -> BoxFuture<'_, Result<Response, Failure>>;
}

/// The pieces of an answer that streams.
pub type StreamedResponse<T> = BoxStream<'static, Result<T, Failure>>;

/// A request with the type of its response.
#[derive(Debug)]
pub struct TypedRequest<T> {
    request: Request,
    take: fn(Response) -> Option<T>,
}

impl<T> TypedRequest<T> {
    /// Returns the method that is called.
    #[must_use]
    pub fn method(&self) -> Method {
        self.request.method()
    }

    /// Makes the call by a function, which returns the response to the request.
    ///
    /// # Errors
    /// When no answer came back, or the answer of a different operation.
    pub async fn send_by<F>(self, call: impl FnOnce(Request) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<Response, Failure>>,
    {
        let method = self.method();
        let response = call(self.request).await?;
        take_response(method, response, self.take)
    }
}

/// Returns the response to a method in its own type.
fn take_response<T>(
    method: Method,
    response: Response,
    take: fn(Response) -> Option<T>,
) -> Result<T, Failure> {
    // Only a layer can mix them up: whatever is between two processes is read by its method.
    let answered_method = response.method();
    take(response).ok_or_else(|| {
        Failure::Misbehaved(format!("{method} was answered as if it were {answered_method}"))
    })
}

/// The answer to a typed call, when it arrives.
pub struct PendingResponse<'p, T> {
    method: Method,
    answer: BoxFuture<'p, Result<Response, Failure>>,
    take: fn(Response) -> Option<T>,
}

impl<T> Future for PendingResponse<'_, T> {
    type Output = Result<T, Failure>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let response = ready!(self.answer.as_mut().poll(context))?;
        Poll::Ready(take_response(self.method, response, self.take))
    }
}

impl<T> fmt::Debug for PendingResponse<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The answer is a future, and has no form to be printed.
        f.debug_struct("PendingResponse").field("method", &self.method).finish_non_exhaustive()
    }
}

impl Method {
    /// Returns whether the method concerns the provider as a whole, and sends no requests to its
    /// service.
    #[must_use]
    pub fn never_calls_service(self) -> bool {
        matches!(
            self,
            Self::GetMetadata
                | Self::GetProviderSchema
                | Self::GetResourceIdentitySchemas
                | Self::GetFunctions
                | Self::StopProvider
        )
    }

    /// Whether a call without an answer may be repeated in another process of the provider: it has
    /// no effects, neither at a service nor in the process.
    #[must_use]
    pub fn is_repeatable(self) -> bool {
        match self {
            Self::GetMetadata
            | Self::GetProviderSchema
            | Self::GetResourceIdentitySchemas
            | Self::GetFunctions
            | Self::ValidateProviderConfig
            | Self::ValidateResourceConfig
            | Self::UpgradeResourceState
            | Self::UpgradeResourceIdentity
            | Self::ReadResource
            | Self::PlanResourceChange
            | Self::ImportResourceState
            | Self::MoveResourceState
            | Self::GenerateResourceConfig
            | Self::ValidateDataResourceConfig
            | Self::ReadDataSource
            | Self::ValidateEphemeralResourceConfig
            | Self::ValidateListResourceConfig
            | Self::ListResource
            // Functions are pure (protocol, CallFunction).
            | Self::CallFunction
            | Self::ValidateActionConfig
            | Self::PlanAction
            | Self::ValidateStateStoreConfig
            | Self::ReadStateBytes
            | Self::GetStates => true,
            // Another process was not configured like this one, or was not requested to stop.
            Self::ConfigureProvider | Self::ConfigureStateStore | Self::StopProvider => false,
            // The first call may have taken effect.
            Self::ApplyResourceChange
            | Self::OpenEphemeralResource
            | Self::RenewEphemeralResource
            | Self::CloseEphemeralResource
            | Self::InvokeAction
            | Self::WriteStateBytes
            | Self::LockState
            | Self::UnlockState
            | Self::DeleteState => false,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Request {
    /// Returns the name of the resource type, data source, function or the like that is called;
    /// empty for calls of the provider as a whole.
    #[must_use]
    pub fn type_or_function_name(&self) -> &str {
        match self {
            Self::GetMetadata
            | Self::GetProviderSchema
            | Self::GetResourceIdentitySchemas
            | Self::GetFunctions
            | Self::ConfigureProvider(_)
            | Self::StopProvider => "",
            Self::ValidateProviderConfig(request)
            | Self::ValidateResourceConfig(request)
            | Self::ValidateDataResourceConfig(request)
            | Self::ValidateEphemeralResourceConfig(request)
            | Self::ValidateActionConfig(request)
            | Self::ValidateStateStoreConfig(request) => &request.type_name,
            Self::UpgradeResourceState(request) => &request.type_name,
            Self::UpgradeResourceIdentity(request) => &request.type_name,
            Self::ReadResource(request) => &request.type_name,
            Self::PlanResourceChange(request) => &request.type_name,
            Self::ApplyResourceChange(request) => &request.type_name,
            Self::ImportResourceState(request) => &request.type_name,
            // The type that this provider has. The source may be of another provider.
            Self::MoveResourceState(request) => &request.target_type,
            Self::GenerateResourceConfig(request) => &request.type_name,
            Self::ReadDataSource(request) => &request.type_name,
            Self::OpenEphemeralResource(request) => &request.type_name,
            Self::RenewEphemeralResource(request) | Self::CloseEphemeralResource(request) => {
                &request.type_name
            }
            Self::ValidateListResourceConfig(request) => &request.type_name,
            Self::ListResource(request) => &request.type_name,
            Self::CallFunction(request) => &request.name,
            Self::PlanAction(request) | Self::InvokeAction(request) => &request.type_name,
            Self::ConfigureStateStore(request) => &request.type_name,
            Self::ReadStateBytes(state)
            | Self::WriteStateBytes(state, _)
            | Self::LockState(state, _)
            | Self::UnlockState(state, _)
            | Self::DeleteState(state) => &state.type_name,
            Self::GetStates(type_name) => type_name,
        }
    }
}

/// Fails as a provider does that lacks a method.
async fn fail_unimplemented<Q: Send, T>(_request: Q, method: Method) -> Result<T, Failure> {
    Err(Failure::Unimplemented(method.name()))
}

/// Generates all code that exists once per operation.
macro_rules! operations {
    ($(
        $(#[$doc:meta])*
        $method:ident $(( $($argument:ident: $request:ty),+ ))? -> $response:ty = $name:ident;
    )*) => {
        /// A method of the provider service, by its name in protocol 6.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Method {$(
            $(#[$doc])*
            $method,
        )*}

        impl Method {
            /// All methods, in the order of the protocol.
            pub const ALL: &[Self] = &[$(Self::$method),*];

            /// Returns its name in protocol 6.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$method => stringify!($method),)*
                }
            }

            /// Returns its name as a function of [`ProviderExt`].
            #[must_use]
            pub fn handler_name(self) -> &'static str {
                match self {
                    $(Self::$method => stringify!($name),)*
                }
            }
        }

        /// A request, by operation.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Request {$(
            $(#[$doc])*
            $method $(( $($request),+ ))?,
        )*}

        impl Request {
            /// Returns the method that is called.
            #[must_use]
            pub fn method(&self) -> Method {
                match self {
                    // `{ .. }` fits variants with and without content.
                    $(Self::$method { .. } => Method::$method,)*
                }
            }

            $(
                #[doc = concat!("Makes a request for [`Method::", stringify!($method), "`].")]
                #[must_use]
                pub fn $name($($($argument: $request),+)?) -> TypedRequest<$response> {
                    TypedRequest {
                        request: Self::$method $(( $($argument),+ ))?,
                        take: |response| match response {
                            Response::$method(answer) => Some(answer),
                            _ => None,
                        },
                    }
                }
            )*
        }

        /// A response, by operation.
        #[expect(
            clippy::large_enum_variant,
            reason = "a schema is large and rare, and a box for each other answer would cost more"
        )]
        pub enum Response {$(
            #[doc = concat!("The answer to [`Request::", stringify!($method), "`].")]
            $method($response),
        )*}

        impl Response {
            /// Returns the method that was called.
            #[must_use]
            pub fn method(&self) -> Method {
                match self {
                    $(Self::$method(_) => Method::$method,)*
                }
            }
        }

        /// The operations of any provider as typed functions.
        pub trait ProviderExt: Provider {$(
            $(#[$doc])*
            fn $name(&self $($(, $argument: $request)+)?) -> PendingResponse<'_, $response> {
                let TypedRequest { request, take } = Request::$name($($($argument),+)?);
                PendingResponse { method: Method::$method, answer: self.call(request), take }
            }
        )*}

        impl<P: Provider + ?Sized> ProviderExt for P {}

        /// A provider as one handler per operation. An operation without a handler fails with
        /// [`Failure::Unimplemented`].
        pub trait ProviderHandlers: Send + Sync {$(
            $(#[$doc])*
            fn $name(
                &self $($(, $argument: $request)+)?
            ) -> impl Future<Output = Result<$response, Failure>> + Send {
                fail_unimplemented(($($($argument,)+)?), Method::$method)
            }
        )*}

        impl<P: ProviderHandlers> Provider for P {
            fn call(&self, request: Request) -> BoxFuture<'_, Result<Response, Failure>> {
                match request {
                    $(Request::$method $(( $($argument),+ ))? => {
                        // By path, because `ProviderExt` has a function of the same name for this
                        // type.
                        let answer = ProviderHandlers::$name(self $($(, $argument)+)?);
                        answer.map_ok(Response::$method).boxed()
                    })*
                }
            }
        }
    };
}

operations! {
    /// Lists the types and functions of the provider.
    GetMetadata -> Metadata = metadata;
    /// Returns the schemas of the provider.
    GetProviderSchema -> ProviderSchema = schema;
    /// Returns the identity schema of each resource type.
    GetResourceIdentitySchemas -> IdentitySchemas = identity_schemas;
    /// Returns the provider's functions.
    GetFunctions -> Functions = functions;
    /// Checks the provider's own configuration.
    ValidateProviderConfig(request: ValidateRequest) -> DiagnosticsResponse = validate_provider_config;
    /// Configures the provider. Called once, before anything that needs it.
    ConfigureProvider(request: ConfigureRequest) -> DiagnosticsResponse = configure;
    /// Asks the provider to stop early. Returns its error text, empty if none.
    StopProvider -> String = stop;
    /// Checks the configuration of a managed resource.
    ValidateResourceConfig(request: ValidateRequest) -> DiagnosticsResponse = validate_resource_config;
    /// Brings a stored object to the newest schema.
    UpgradeResourceState(request: UpgradeRequest) -> UpgradeResponse = upgrade_state;
    /// Brings a stored identity to the newest schema.
    UpgradeResourceIdentity(request: UpgradeIdentityRequest) -> UpgradeIdentityResponse
        = upgrade_identity;
    /// Reads the real object of a stored one.
    ReadResource(request: ReadRequest) -> ReadResponse = read;
    /// Plans a change, without any effects.
    PlanResourceChange(request: PlanRequest) -> PlanResponse = plan;
    /// Creates, updates or destroys.
    ApplyResourceChange(request: ApplyRequest) -> ApplyResponse = apply;
    /// Finds an existing object.
    ImportResourceState(request: ImportRequest) -> ImportResponse = import;
    /// Brings an object of another type into the form of this one.
    MoveResourceState(request: MoveRequest) -> MoveResponse = move_state;
    /// Writes configuration for an existing object.
    GenerateResourceConfig(request: GenerateConfigRequest) -> GenerateConfigResponse
        = generate_config;
    /// Checks the configuration of a data source.
    ValidateDataResourceConfig(request: ValidateRequest) -> DiagnosticsResponse = validate_data_config;
    /// Reads a data source.
    ReadDataSource(request: ReadDataRequest) -> ReadDataResponse = read_data;
    /// Checks the configuration of an ephemeral resource.
    ValidateEphemeralResourceConfig(request: ValidateRequest) -> DiagnosticsResponse
        = validate_ephemeral_config;
    /// Opens an ephemeral resource.
    OpenEphemeralResource(request: OpenRequest) -> OpenResponse = open_ephemeral;
    /// Renews an ephemeral resource.
    RenewEphemeralResource(request: RenewOrCloseRequest) -> RenewResponse = renew_ephemeral;
    /// Closes an ephemeral resource.
    CloseEphemeralResource(request: RenewOrCloseRequest) -> DiagnosticsResponse = close_ephemeral;
    /// Checks the configuration of a list resource.
    ValidateListResourceConfig(request: ValidateListRequest) -> DiagnosticsResponse = validate_list_config;
    /// Lists existing objects.
    ListResource(request: ListRequest) -> StreamedResponse<ListEvent> = list;
    /// Calls a function.
    CallFunction(request: CallRequest) -> CallResponse = call_function;
    /// Checks the configuration of an action.
    ValidateActionConfig(request: ValidateRequest) -> DiagnosticsResponse = validate_action_config;
    /// Plans an action.
    PlanAction(request: ActionRequest) -> PlanActionResponse = plan_action;
    /// Invokes an action.
    InvokeAction(request: ActionRequest) -> StreamedResponse<ActionEvent> = invoke_action;
    /// Checks the configuration of a state store.
    ValidateStateStoreConfig(request: ValidateRequest) -> DiagnosticsResponse = validate_store_config;
    /// Configures a state store.
    ConfigureStateStore(request: ConfigureStoreRequest) -> ConfigureStoreResponse
        = configure_store;
    /// Reads a state.
    ReadStateBytes(state: StateRef) -> StreamedResponse<StateChunk> = read_state_bytes;
    /// Writes a state.
    WriteStateBytes(state: StateRef, chunks: Vec<StateChunk>) -> DiagnosticsResponse = write_state_bytes;
    /// Locks a state, for a named operation.
    LockState(state: StateRef, operation: String) -> LockResponse = lock_state;
    /// Unlocks a state.
    UnlockState(state: StateRef, lock_id: String) -> DiagnosticsResponse = unlock_state;
    /// Names the states in a store.
    GetStates(type_name: String) -> StatesResponse = list_states;
    /// Deletes a state.
    DeleteState(state: StateRef) -> DiagnosticsResponse = delete_state;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    struct Stops;

    impl ProviderHandlers for Stops {
        async fn stop(&self) -> Result<String, Failure> {
            Ok("stopping".to_owned())
        }
    }

    /// A layer that answers every call as StopProvider.
    struct Confused(Arc<dyn Provider>);

    impl Provider for Confused {
        fn call(&self, _: Request) -> BoxFuture<'_, Result<Response, Failure>> {
            self.0.call(Request::StopProvider)
        }
    }

    #[tokio::test]
    async fn an_operation_without_a_handler_is_not_implemented() {
        let provider: Arc<dyn Provider> = Arc::new(Stops);
        assert_eq!(provider.stop().await.unwrap(), "stopping");
        let lacking = provider.metadata().await;
        assert!(matches!(lacking, Err(Failure::Unimplemented("GetMetadata"))), "{lacking:?}");
        let states = provider.list_states("acme_store".to_owned()).await;
        assert!(matches!(states, Err(Failure::Unimplemented("GetStates"))), "{states:?}");
    }

    #[tokio::test]
    async fn a_response_to_another_operation_is_an_error() {
        let provider = Confused(Arc::new(Stops));
        assert_eq!(provider.stop().await.unwrap(), "stopping");
        let failure = provider.schema().await.unwrap_err().to_string();
        assert_eq!(failure, "GetProviderSchema was answered as if it were StopProvider");
        let typed = Request::schema().send_by(|request| provider.call(request));
        assert_eq!(typed.await.unwrap_err().to_string(), failure);
    }

    #[test]
    fn only_calls_without_an_effect_are_repeatable() {
        let effects: Vec<_> = Method::ALL.iter().filter(|method| !method.is_repeatable()).collect();
        let expected = [
            Method::ConfigureProvider,
            Method::StopProvider,
            Method::ApplyResourceChange,
            Method::OpenEphemeralResource,
            Method::RenewEphemeralResource,
            Method::CloseEphemeralResource,
            Method::InvokeAction,
            Method::ConfigureStateStore,
            Method::WriteStateBytes,
            Method::LockState,
            Method::UnlockState,
            Method::DeleteState,
        ];
        assert_eq!(effects, expected.iter().collect::<Vec<_>>());
    }
}
