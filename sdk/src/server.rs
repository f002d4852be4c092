//! A provider definition as the contract's [`ProviderHandlers`]: decodes and encodes values, plans, and
//! checks every answer. Problems and panics become diagnostics of the answer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use bytes::Bytes;
use formwork_plugin_protocol::capability::ClientCapabilities;
use formwork_plugin_protocol::message::DeferredReason;
use formwork_plugin_protocol::message::action::{ActionEvent, ActionRequest, PlanActionResponse};
use formwork_plugin_protocol::message::configure::{
    ConfigureRequest, DiagnosticsResponse, ValidateRequest,
};
use formwork_plugin_protocol::message::ephemeral::{
    OpenRequest, OpenResponse, RenewOrCloseRequest, RenewResponse,
};
use formwork_plugin_protocol::message::function::{
    CallRequest, CallResponse, FunctionError, Functions,
};
use formwork_plugin_protocol::message::list::{ListEvent, ListRequest, ValidateListRequest};
use formwork_plugin_protocol::message::read_data::{ReadDataRequest, ReadDataResponse};
use formwork_plugin_protocol::message::resource::{
    ApplyRequest, ApplyResponse, ImportRequest, ImportResponse, ImportedResource, MoveRequest,
    MoveResponse, PlanRequest, PlanResponse, ReadRequest, ReadResponse, UpgradeIdentityRequest,
    UpgradeIdentityResponse, UpgradeRequest, UpgradeResponse,
};
use formwork_plugin_protocol::message::schema::{IdentitySchemas, Metadata, ProviderSchema};
use formwork_plugin_protocol::message::state_store::{
    ConfigureStoreRequest, ConfigureStoreResponse, LockResponse, StateChunk, StateRef,
    StatesResponse,
};
use formwork_plugin_protocol::provider::StreamedResponse;
use formwork_plugin_protocol::{Failure, Payload, ProviderHandlers};
use futures_util::stream::BoxStream;

use crate::call::{Call, DeferrableAnswer};
use crate::context::{CallContext, Deferral, ProviderMeta, lock_ignoring_poison};
use crate::erased::{AnyDataSource, AnyEphemeral, AnyResource};
use crate::stop::{Stop, StopSwitch};
use crate::{Answer, Problem, ProviderDef, panic_positions};

use data_function_ephemeral::OpenEphemeralAnswer;
use read_plan_apply::ObjectAnswer;
use state_store::ConfiguredStoresAndLocks;

mod action_and_list;
mod data_function_ephemeral;
mod decode_and_check;
mod identity;
mod provider_schema;
mod read_plan_apply;
mod state_store;
mod upgrade_import_move;
mod validate_and_configure;

/// A provider definition that answers calls.
pub(crate) struct Server {
    provider: ProviderDef,
    stop: Stop,
    switch: StopSwitch,
    /// Reason for the deferral of all calls until the provider is configured again.
    deferred: Mutex<Option<DeferredReason>>,
    /// State stores that were configured, and their locks.
    stores: Mutex<ConfiguredStoresAndLocks>,
}

impl Server {
    pub(crate) fn new(provider: ProviderDef) -> Self {
        let (switch, stop) = Stop::new();
        let (deferred, stores) = (Mutex::default(), Mutex::default());
        Self { provider, stop, switch, deferred, stores }
    }

    /// Creates a call. `doing` and `of` make the summary of its problems: `read ` and `time_sleep`.
    fn new_call(&self, verb: &'static str, of: &str) -> Call {
        Call::new(self.stop.clone(), verb, of)
    }

    /// The context of a call.
    fn new_context(
        &self,
        call: &Call,
        private: &Bytes,
        meta: &Payload,
        client: ClientCapabilities,
    ) -> Answer<CallContext> {
        let mut context = CallContext::new(call.clone(), private);
        context.deferral = Deferral::new(client.deferral_allowed);
        if let Some(reason) = *lock_ignoring_poison(&self.deferred) {
            // A provider that deferred its configuration cannot answer any call. Its handlers would
            // fail without a client.
            context.deferral.request(reason)?;
        }
        if let Some(shape) = &self.provider.meta {
            let meta = decode_and_check::decode_value(shape, meta)?;
            context.meta = ProviderMeta(Some(meta).filter(|meta| !meta.is_null()));
        }
        Ok(context)
    }

    fn find_resource(&self, name: &str) -> Answer<&dyn AnyResource> {
        match self.provider.resources.get(name) {
            Some(resource) => Ok(&**resource),
            None => Err(unsupported_type_problem("resource type", name)),
        }
    }

    fn find_data_source(&self, name: &str) -> Answer<&dyn AnyDataSource> {
        match self.provider.data_sources.get(name) {
            Some(data_source) => Ok(&**data_source),
            None => Err(unsupported_type_problem("data source", name)),
        }
    }

    fn find_ephemeral(&self, name: &str) -> Answer<&dyn AnyEphemeral> {
        match self.provider.ephemeral.get(name) {
            Some(ephemeral) => Ok(&**ephemeral),
            None => Err(unsupported_type_problem("ephemeral resource type", name)),
        }
    }
}

impl ProviderHandlers for Server {
    async fn schema(&self) -> Result<ProviderSchema, Failure> {
        Ok(self.provider_schema())
    }

    async fn metadata(&self) -> Result<Metadata, Failure> {
        Ok(self.metadata())
    }

    async fn validate_provider_config(
        &self,
        request: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        let call = self.new_call("validate the configuration of the provider", "");
        let (_, diagnostics) =
            call.collect_answer(async { self.handle_validate_provider(&call, &request) }).await;
        Ok(DiagnosticsResponse { diagnostics })
    }

    async fn configure(&self, request: ConfigureRequest) -> Result<DiagnosticsResponse, Failure> {
        let call = self.new_call("configure the provider", "");
        let outcome =
            call.collect_deferrable(self.handle_configure_provider(&call, &request)).await;
        // Overwritten and not set once: the host configures the provider again when more is known,
        // and the deferral ends with that.
        *lock_ignoring_poison(&self.deferred) = outcome.deferred;
        Ok(DiagnosticsResponse { diagnostics: outcome.diagnostics })
    }

    async fn validate_resource_config(
        &self,
        request: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        let call = self.new_call("validate ", &request.type_name);
        let (_, diagnostics) =
            call.collect_answer(async { self.handle_validate_resource(&call, &request) }).await;
        Ok(DiagnosticsResponse { diagnostics })
    }

    async fn validate_data_config(
        &self,
        request: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        let call = self.new_call("validate data.", &request.type_name);
        let (_, diagnostics) =
            call.collect_answer(async { self.handle_validate_data(&call, &request) }).await;
        Ok(DiagnosticsResponse { diagnostics })
    }

    async fn upgrade_state(&self, request: UpgradeRequest) -> Result<UpgradeResponse, Failure> {
        let call = self.new_call("upgrade ", &request.type_name);
        let (state, diagnostics) =
            call.collect_answer(self.handle_upgrade_object(&call, request)).await;
        Ok(UpgradeResponse { state: state.unwrap_or(Payload::Absent), diagnostics })
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, Failure> {
        let call = self.new_call("read ", &request.type_name);
        let outcome = call.collect_deferrable(self.handle_read_object(&call, &request)).await;
        let DeferrableAnswer { answer, deferred, diagnostics } = outcome;
        Ok(match answer {
            Some(ObjectAnswer { object, private, identity, .. }) => {
                ReadResponse { state: object, private, deferred, identity, diagnostics }
            }
            None => ReadResponse {
                // The object is returned unchanged with the error. An absent or null state would
                // make a host drop the object.
                state: request.current,
                private: request.private,
                deferred,
                identity: request.identity,
                diagnostics,
            },
        })
    }

    async fn plan(&self, request: PlanRequest) -> Result<PlanResponse, Failure> {
        // A future holds a request twice, as a parameter and where it is used. Calls of more than a
        // kilobyte are slow, because the usual allocator consolidates memory for each.
        let request = Box::new(request);
        let call = self.new_call("plan ", &request.type_name);
        let plan_outcome = call.collect_deferrable(self.handle_plan_object(&call, &request)).await;
        let DeferrableAnswer { answer, deferred, diagnostics } = plan_outcome;
        // A deferred plan has a planned value too, from which the host evaluates references.
        let foreseen = deferred.and_then(|_| self.plan_by_rules(&request).ok());
        let outcome = answer.unwrap_or_else(|| ObjectAnswer {
            object: foreseen.unwrap_or(request.prior),
            private: request.prior_private,
            identity: request.prior_identity,
            replace: Vec::new(),
        });
        Ok(PlanResponse {
            planned: outcome.object,
            requires_replace: outcome.replace,
            planned_private: outcome.private,
            legacy_type_system: false,
            deferred,
            planned_identity: outcome.identity,
            diagnostics,
        })
    }

    async fn apply(&self, request: ApplyRequest) -> Result<ApplyResponse, Failure> {
        let request = Box::new(request);
        let call = self.new_call("change ", &request.type_name);
        let (outcome, diagnostics) =
            call.collect_answer(self.handle_apply_object(&call, &request)).await;
        // If the outcome is unknown, the object counts as unchanged.
        let (state, private, identity) = match outcome {
            Some(outcome) => (outcome.object, outcome.private, outcome.identity),
            None => (request.prior, request.planned_private, request.planned_identity),
        };
        Ok(ApplyResponse { state, private, legacy_type_system: false, identity, diagnostics })
    }

    async fn import(&self, request: ImportRequest) -> Result<ImportResponse, Failure> {
        let call = self.new_call("import ", &request.type_name);
        let outcome = call.collect_deferrable(self.handle_import_objects(&call, &request)).await;
        let DeferrableAnswer { answer, deferred, diagnostics } = outcome;
        // Placeholder of an object that cannot be read yet.
        let empty_object = deferred.map(|_| ImportedResource {
            type_name: request.type_name,
            state: Payload::Absent,
            private: Bytes::new(),
            identity: request.identity,
        });
        let resources = answer.unwrap_or_else(|| empty_object.into_iter().collect());
        Ok(ImportResponse { resources, deferred, diagnostics })
    }

    async fn move_state(&self, request: MoveRequest) -> Result<MoveResponse, Failure> {
        let call = self.new_call("move an object to ", &request.target_type);
        let private = request.source_private.clone();
        let (moved, diagnostics) =
            call.collect_answer(self.handle_move_object(&call, request)).await;
        Ok(match moved {
            Some(ObjectAnswer { object, private, identity, .. }) => {
                MoveResponse { state: object, private, identity, diagnostics }
            }
            None => MoveResponse { state: Payload::Absent, private, identity: None, diagnostics },
        })
    }

    async fn identity_schemas(&self) -> Result<IdentitySchemas, Failure> {
        let resources = self.provider.resources.iter();
        let schemas = resources.filter_map(|(name, resource)| {
            Some((
                name.clone(),
                identity::identity_schema(resource.shape(), resource.identity_version())?,
            ))
        });
        Ok(IdentitySchemas { schemas: schemas.collect(), diagnostics: Vec::new() })
    }

    async fn upgrade_identity(
        &self,
        request: UpgradeIdentityRequest,
    ) -> Result<UpgradeIdentityResponse, Failure> {
        let call = self.new_call("upgrade the identity of ", &request.type_name);
        let upgraded = async { self.handle_upgrade_identity(request) };
        let (identity, diagnostics) = call.collect_answer(upgraded).await;
        let identity = identity.unwrap_or(Payload::Absent);
        Ok(UpgradeIdentityResponse { identity, diagnostics })
    }

    async fn read_data(&self, request: ReadDataRequest) -> Result<ReadDataResponse, Failure> {
        let call = self.new_call("read data.", &request.type_name);
        let outcome = call.collect_deferrable(self.handle_read_data(&call, &request)).await;
        let DeferrableAnswer { answer, deferred, diagnostics } = outcome;
        let foreseen = || {
            let source = deferred.and_then(|_| self.find_data_source(&request.type_name).ok());
            data_function_ephemeral::deferred_placeholder(source?.shape(), &request.config)
        };
        let state = answer.or_else(foreseen).unwrap_or(Payload::Absent);
        Ok(ReadDataResponse { state, deferred, diagnostics })
    }

    async fn functions(&self) -> Result<Functions, Failure> {
        Ok(Functions { functions: self.function_signatures(), diagnostics: Vec::new() })
    }

    async fn call_function(&self, request: CallRequest) -> Result<CallResponse, Failure> {
        panic_positions::install_panic_hook();
        // The function's state is dropped with the call, so a panic leaves no broken state.
        // A function may be called hundreds of times in one run. A panic must fail one call and not
        // the process with all others.
        let result = catch_unwind(AssertUnwindSafe(|| self.handle_call_function(&request)));
        let result = result.unwrap_or_else(|panic| {
            let panic_text = panic_positions::describe_panic(&*panic);
            // The host adds the final period.
            let text = format!("the function panicked{panic_text}. This is a bug in the provider");
            Err(FunctionError { text, argument: None })
        });
        Ok(CallResponse { result })
    }

    async fn validate_ephemeral_config(
        &self,
        request: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        let call = self.new_call("validate ephemeral.", &request.type_name);
        let (_, diagnostics) =
            call.collect_answer(async { self.handle_validate_ephemeral(&call, &request) }).await;
        Ok(DiagnosticsResponse { diagnostics })
    }

    async fn open_ephemeral(&self, request: OpenRequest) -> Result<OpenResponse, Failure> {
        let call = self.new_call("open ephemeral.", &request.type_name);
        let outcome = call.collect_deferrable(self.handle_open_ephemeral(&call, &request)).await;
        let DeferrableAnswer { answer, deferred, diagnostics } = outcome;
        let foreseen = || {
            let source = deferred.and_then(|_| self.find_ephemeral(&request.type_name).ok());
            let result =
                data_function_ephemeral::deferred_placeholder(source?.shape(), &request.config)?;
            Some(OpenEphemeralAnswer { result, ..OpenEphemeralAnswer::default() })
        };
        let OpenEphemeralAnswer { result, private, renew_at } =
            answer.or_else(foreseen).unwrap_or_default();
        Ok(OpenResponse { result, private, renew_at, deferred, diagnostics })
    }

    async fn renew_ephemeral(
        &self,
        request: RenewOrCloseRequest,
    ) -> Result<RenewResponse, Failure> {
        let call = self.new_call("renew ephemeral.", &request.type_name);
        let (renewed, diagnostics) =
            call.collect_answer(self.handle_renew_ephemeral(&call, &request)).await;
        let (private, renew_at) = renewed.unwrap_or_default();
        Ok(RenewResponse { private, renew_at, diagnostics })
    }

    async fn close_ephemeral(
        &self,
        request: RenewOrCloseRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        let call = self.new_call("close ephemeral.", &request.type_name);
        let (_, diagnostics) =
            call.collect_answer(self.handle_close_ephemeral(&call, &request)).await;
        Ok(DiagnosticsResponse { diagnostics })
    }

    async fn validate_list_config(
        &self,
        request: ValidateListRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        let call = self.new_call("validate list.", &request.type_name);
        let (_, diagnostics) =
            call.collect_answer(async { self.handle_validate_list(&call, &request) }).await;
        Ok(DiagnosticsResponse { diagnostics })
    }

    async fn list(
        &self,
        request: ListRequest,
    ) -> Result<BoxStream<'static, Result<ListEvent, Failure>>, Failure> {
        Ok(self.handle_list_objects(request))
    }

    async fn validate_action_config(
        &self,
        request: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        let call = self.new_call("validate action.", &request.type_name);
        let (_, diagnostics) =
            call.collect_answer(async { self.handle_validate_action(&call, &request) }).await;
        Ok(DiagnosticsResponse { diagnostics })
    }

    async fn plan_action(&self, request: ActionRequest) -> Result<PlanActionResponse, Failure> {
        let call = self.new_call("plan action.", &request.type_name);
        let outcome = call.collect_deferrable(self.handle_plan_action(&call, &request)).await;
        Ok(PlanActionResponse { deferred: outcome.deferred, diagnostics: outcome.diagnostics })
    }

    async fn invoke_action(
        &self,
        request: ActionRequest,
    ) -> Result<BoxStream<'static, Result<ActionEvent, Failure>>, Failure> {
        Ok(self.handle_invoke_action(request))
    }

    async fn validate_store_config(
        &self,
        request: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        let call = self.new_call("validate state_store.", &request.type_name);
        let (_, diagnostics) =
            call.collect_answer(async { self.handle_validate_store(&call, &request) }).await;
        Ok(DiagnosticsResponse { diagnostics })
    }

    async fn configure_store(
        &self,
        request: ConfigureStoreRequest,
    ) -> Result<ConfigureStoreResponse, Failure> {
        let call = self.new_call("configure state_store.", &request.type_name);
        let (size, diagnostics) =
            call.collect_answer(self.handle_configure_store(&call, &request)).await;
        Ok(ConfigureStoreResponse { chunk_size: size.unwrap_or_default(), diagnostics })
    }

    async fn read_state_bytes(
        &self,
        state: StateRef,
    ) -> Result<StreamedResponse<StateChunk>, Failure> {
        let call = self.new_call("read the state in ", &state.type_name);
        Ok(self.handle_read_state(&call, &state).await)
    }

    async fn write_state_bytes(
        &self,
        state: StateRef,
        chunks: Vec<StateChunk>,
    ) -> Result<DiagnosticsResponse, Failure> {
        let call = self.new_call("write the state in ", &state.type_name);
        let (_, diagnostics) =
            call.collect_answer(self.handle_write_state(&call, &state, chunks)).await;
        Ok(DiagnosticsResponse { diagnostics })
    }

    async fn lock_state(
        &self,
        state: StateRef,
        operation: String,
    ) -> Result<LockResponse, Failure> {
        let call = self.new_call("lock the state in ", &state.type_name);
        let (id, diagnostics) =
            call.collect_answer(self.handle_lock_state(&call, &state, operation)).await;
        Ok(LockResponse { lock_id: id.unwrap_or_default(), diagnostics })
    }

    async fn unlock_state(
        &self,
        state: StateRef,
        lock_id: String,
    ) -> Result<DiagnosticsResponse, Failure> {
        let call = self.new_call("unlock the state in ", &state.type_name);
        let (_, diagnostics) =
            call.collect_answer(self.handle_unlock_state(&call, &state, lock_id)).await;
        Ok(DiagnosticsResponse { diagnostics })
    }

    async fn list_states(&self, type_name: String) -> Result<StatesResponse, Failure> {
        let call = self.new_call("list the states in ", &type_name);
        let (names, diagnostics) =
            call.collect_answer(self.handle_list_states(&call, &type_name)).await;
        Ok(StatesResponse { state_ids: names.unwrap_or_default(), diagnostics })
    }

    async fn delete_state(&self, state: StateRef) -> Result<DiagnosticsResponse, Failure> {
        let call = self.new_call("delete the state in ", &state.type_name);
        let (_, diagnostics) = call.collect_answer(self.handle_delete_state(&call, &state)).await;
        Ok(DiagnosticsResponse { diagnostics })
    }

    async fn stop(&self) -> Result<String, Failure> {
        // The protocol requires StopProvider to return immediately. Pending calls end by themselves
        // and answer as usual.
        self.switch.request();
        Ok(String::new())
    }
}

fn unsupported_type_problem(kind: &str, name: &str) -> Problem {
    let detail = format!("The provider has no {kind} called {name:?}.");
    Problem::new(format!("Unsupported {kind}"), detail)
}

#[cfg(test)]
mod tests;
