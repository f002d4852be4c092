//! Any [`Provider`] as the gRPC services of both versions of the protocol. Opens no socket itself.
//!
//! The same code serves both versions: the path identifies the call, and calls differ only in their
//! messages.

mod handle_call;

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::FutureExt as _;
use futures_util::future::{self, BoxFuture};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::{Service, http};

use crate::handshake::Protocol;
use crate::message::state_store::StateRef;
use crate::provider::ProviderExt as _;
use crate::raw::Transport;
use crate::wire::convert::{encode_prepare_response, unencodable_schema_response};
use crate::wire::generated::{tfplugin5 as v5, tfplugin6 as v6};
use crate::{Method, Provider};
use handle_call::{IncomingCall, ResponseFuture};

/// A provider that serves both versions of its service.
#[derive(Clone)]
pub(crate) struct ProviderService(ServedProvider);

/// The source of the answers.
#[derive(Clone)]
enum ServedProvider {
    Typed(Arc<dyn Provider>),
    Raw(Arc<dyn Transport>),
}

impl ProviderService {
    /// Serves `provider` over gRPC.
    pub(crate) fn new(provider: Arc<dyn Provider>) -> Self {
        Self(ServedProvider::Typed(provider))
    }

    /// Serves a transport over gRPC.
    pub(crate) fn over_transport(provider: Arc<dyn Transport>) -> Self {
        Self(ServedProvider::Raw(provider))
    }
}

impl Service<http::Request<Body>> for ProviderService {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<http::Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let provider = match &self.0 {
            ServedProvider::Typed(provider) => Arc::clone(provider),
            ServedProvider::Raw(provider) => {
                return super::serve_transport::answer_http(Arc::clone(provider), request)
                    .map(Ok)
                    .boxed();
            }
        };
        let path = request.uri().path();
        // Either version is answered. `Services` accepts only the negotiated one.
        let with_method = |protocol: Protocol| Some((protocol, protocol.method_at_path(path)?));
        let Some((protocol, method)) = Protocol::ALL.into_iter().find_map(with_method) else {
            // Hosts learn from it that a provider lacks a newer method.
            let status = Status::unimplemented("the provider has no such method");
            return future::ready(Ok(status.into_http())).boxed();
        };
        let name = protocol.method_name(method);
        let handling = IncomingCall { name, provider, request };
        dispatch(handling, protocol, method).map(Ok).boxed()
    }
}

/// Leads each call to the provider's answer.
fn dispatch(h: IncomingCall, protocol: Protocol, method: Method) -> ResponseFuture {
    match method {
        Method::GetMetadata => answer_metadata(h, protocol),
        Method::GetProviderSchema => answer_schema(h, protocol),
        Method::GetResourceIdentitySchemas => answer_identity_schemas(h),
        Method::GetFunctions => answer_functions(h),
        Method::ValidateProviderConfig => answer_validate_provider_config(h, protocol),
        Method::ConfigureProvider => {
            h.answer_unary::<v6::ConfigureProvider, _, _>(|p, r| p.configure(r))
        }
        Method::StopProvider => answer_stop(h),
        Method::ValidateResourceConfig => {
            h.answer_unary::<v6::ValidateResourceConfig, _, _>(|p, r| p.validate_resource_config(r))
        }
        Method::UpgradeResourceState => {
            h.answer_unary::<v6::UpgradeResourceState, _, _>(|p, r| p.upgrade_state(r))
        }
        Method::UpgradeResourceIdentity => {
            h.answer_unary::<v6::UpgradeResourceIdentity, _, _>(|p, r| p.upgrade_identity(r))
        }
        Method::ReadResource => h.answer_unary::<v6::ReadResource, _, _>(|p, r| p.read(r)),
        Method::PlanResourceChange => {
            h.answer_unary::<v6::PlanResourceChange, _, _>(|p, r| p.plan(r))
        }
        Method::ApplyResourceChange => {
            h.answer_unary::<v6::ApplyResourceChange, _, _>(|p, r| p.apply(r))
        }
        Method::ImportResourceState => {
            h.answer_unary::<v6::ImportResourceState, _, _>(|p, r| p.import(r))
        }
        Method::MoveResourceState => {
            h.answer_unary::<v6::MoveResourceState, _, _>(|p, r| p.move_state(r))
        }
        Method::GenerateResourceConfig => {
            h.answer_unary::<v6::GenerateResourceConfig, _, _>(|p, r| p.generate_config(r))
        }
        Method::ValidateDataResourceConfig => {
            h.answer_unary::<v6::ValidateDataResourceConfig, _, _>(|p, r| p.validate_data_config(r))
        }
        Method::ReadDataSource => h.answer_unary::<v6::ReadDataSource, _, _>(|p, r| p.read_data(r)),
        Method::ListResource => h.answer_stream::<v6::ListResource, _, _>(|p, r| p.list(r)),
        Method::CallFunction => h.answer_unary::<v6::CallFunction, _, _>(|p, r| p.call_function(r)),
        Method::ValidateListResourceConfig => {
            h.answer_unary::<v6::ValidateListResourceConfig, _, _>(|p, r| p.validate_list_config(r))
        }
        Method::ValidateActionConfig => {
            h.answer_unary::<v6::ValidateActionConfig, _, _>(|p, r| p.validate_action_config(r))
        }
        Method::PlanAction => h.answer_unary::<v6::PlanAction, _, _>(|p, r| p.plan_action(r)),
        Method::InvokeAction => {
            h.answer_stream::<v6::InvokeAction, _, _>(|p, r| p.invoke_action(r))
        }
        Method::ValidateEphemeralResourceConfig => h
            .answer_unary::<v6::ValidateEphemeralResourceConfig, _, _>(|p, r| {
                p.validate_ephemeral_config(r)
            }),
        Method::OpenEphemeralResource => {
            h.answer_unary::<v6::OpenEphemeralResource, _, _>(|p, r| p.open_ephemeral(r))
        }
        Method::RenewEphemeralResource => {
            h.answer_unary::<v6::RenewEphemeralResource, _, _>(|p, r| p.renew_ephemeral(r))
        }
        Method::CloseEphemeralResource => {
            h.answer_unary::<v6::CloseEphemeralResource, _, _>(|p, r| p.close_ephemeral(r))
        }
        Method::ValidateStateStoreConfig => {
            h.answer_unary::<v6::ValidateStateStore, _, _>(|p, r| p.validate_store_config(r))
        }
        Method::ConfigureStateStore => {
            h.answer_unary::<v6::ConfigureStateStore, _, _>(|p, r| p.configure_store(r))
        }
        Method::ReadStateBytes => {
            h.answer_stream::<v6::ReadStateBytes, _, _>(|p, r| p.read_state_bytes(r))
        }
        Method::WriteStateBytes => h.answer_write_state(),
        Method::LockState => answer_lock_state(h),
        Method::UnlockState => answer_unlock_state(h),
        Method::GetStates => answer_states(h),
        Method::DeleteState => h.answer_unary::<v6::DeleteState, _, _>(|p, r| p.delete_state(r)),
    }
}

fn answer_metadata(h: IncomingCall, protocol: Protocol) -> ResponseFuture {
    match protocol {
        Protocol::V5 => h.answer_with_wire_messages::<v5::GetMetadata>(|p, _| {
            async { Ok(v6::get_metadata::Response::from(p.metadata().await?).into()) }.boxed()
        }),
        Protocol::V6 => h.answer_with_wire_messages::<v6::GetMetadata>(|p, _| {
            async { Ok(p.metadata().await?.into()) }.boxed()
        }),
    }
}

fn answer_schema(h: IncomingCall, protocol: Protocol) -> ResponseFuture {
    match protocol {
        Protocol::V5 => h.answer_with_wire_messages::<v5::GetProviderSchema>(|p, _| {
            async {
                let schema = v6::get_provider_schema::Response::try_from(p.schema().await?)?;
                // The host shows a diagnostic better than a failed call.
                Ok(schema.try_into().unwrap_or_else(unencodable_schema_response))
            }
            .boxed()
        }),
        Protocol::V6 => h.answer_with_wire_messages::<v6::GetProviderSchema>(|p, _| {
            async { Ok(p.schema().await?.try_into()?) }.boxed()
        }),
    }
}

fn answer_identity_schemas(h: IncomingCall) -> ResponseFuture {
    h.answer_with_wire_messages::<v6::GetResourceIdentitySchemas>(|p, _| {
        async { Ok(p.identity_schemas().await?.try_into()?) }.boxed()
    })
}

fn answer_functions(h: IncomingCall) -> ResponseFuture {
    h.answer_with_wire_messages::<v6::GetFunctions>(|p, _| {
        async { Ok(p.functions().await?.into()) }.boxed()
    })
}

fn answer_validate_provider_config(h: IncomingCall, protocol: Protocol) -> ResponseFuture {
    match protocol {
        Protocol::V5 => h.answer_with_wire_messages::<v5::PrepareProviderConfig>(|p, request| {
            async {
                // Protocol 5 requires the configuration in the answer. It is returned unchanged.
                let config = request.config.clone();
                let verdict = p.validate_provider_config(request.into()).await?;
                Ok(encode_prepare_response(verdict, config))
            }
            .boxed()
        }),
        Protocol::V6 => {
            h.answer_unary::<v6::ValidateProviderConfig, _, _>(|p, r| p.validate_provider_config(r))
        }
    }
}

fn answer_stop(h: IncomingCall) -> ResponseFuture {
    h.answer_with_wire_messages::<v6::StopProvider>(|p, _| {
        async { Ok(v6::stop_provider::Response { error: p.stop().await? }) }.boxed()
    })
}

fn answer_lock_state(h: IncomingCall) -> ResponseFuture {
    h.answer_with_wire_messages::<v6::LockState>(|p, request| {
        let v6::lock_state::Request { type_name, state_id, operation } = request;
        let state = StateRef { type_name, state_id };
        async { Ok(p.lock_state(state, operation).await?.into()) }.boxed()
    })
}

fn answer_unlock_state(h: IncomingCall) -> ResponseFuture {
    h.answer_with_wire_messages::<v6::UnlockState>(|p, request| {
        let v6::unlock_state::Request { type_name, state_id, lock_id } = request;
        let state = StateRef { type_name, state_id };
        async { Ok(p.unlock_state(state, lock_id).await?.into()) }.boxed()
    })
}

fn answer_states(h: IncomingCall) -> ResponseFuture {
    h.answer_with_wire_messages::<v6::GetStates>(|p, request| {
        async { Ok(p.list_states(request.type_name).await?.into()) }.boxed()
    })
}
