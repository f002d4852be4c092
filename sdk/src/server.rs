//! A provider definition as the contract's [`Provider`]: values decoded and encoded, plans drawn,
//! answers held to what every answer must be. What is reported becomes the answer's diagnostics, and
//! so does a panic.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use formwork_plugin_protocol::capability::{ClientCapabilities, ServerCapabilities};
use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_plugin_protocol::message::action::{ActionEvent, ActionRequest, PlanActionResponse};
use formwork_plugin_protocol::message::configure::{ConfigureRequest, ValidateRequest, Verdict};
use formwork_plugin_protocol::message::data::{ReadDataRequest, ReadDataResponse};
use formwork_plugin_protocol::message::ephemeral::{
    KeepRequest, OpenRequest, OpenResponse, RenewResponse,
};
use formwork_plugin_protocol::message::function::{
    CallRequest, CallResponse, FunctionError, Functions,
};
use formwork_plugin_protocol::message::list::{ListEvent, ListRequest, ValidateListRequest};
use formwork_plugin_protocol::message::resource::{
    ApplyRequest, ApplyResponse, ImportRequest, ImportResponse, MoveRequest, MoveResponse,
    PlanRequest, PlanResponse, RawState, ReadRequest, ReadResponse, UpgradeIdentityRequest,
    UpgradeIdentityResponse, UpgradeRequest, UpgradeResponse,
};
use formwork_plugin_protocol::message::schema::{IdentitySchemas, Metadata, ProviderSchema};
use formwork_plugin_protocol::{Failure, Payload, Provider};
use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Diagnostics, Reported, Schema, Value};
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _};

use crate::ephemeral::Keep;
use crate::erased::{AnyAction, AnyDataSource, AnyEphemeral, AnyList, AnyResource};
use crate::schema::Shape;
use crate::stop::{Stop, StopSwitch};
use crate::{Answer, ProviderDef, plan};

use life::Outcome;

mod acting;
mod check;
mod identity;
mod life;
mod passing;
mod stored;

/// A provider definition that answers calls.
pub(crate) struct Server {
    provider: ProviderDef,
    stop: Stop,
    switch: StopSwitch,
}

impl Server {
    pub(crate) fn new(provider: ProviderDef) -> Self {
        let (switch, stop) = Stop::new();
        Self { provider, stop, switch }
    }

    fn resource(&self, diags: &mut Diagnostics, name: &str) -> Answer<&dyn AnyResource> {
        match self.provider.resources.get(name) {
            Some(resource) => Ok(&**resource),
            None => Err(unsupported(diags, "resource type", name)),
        }
    }

    fn data_source(&self, diags: &mut Diagnostics, name: &str) -> Answer<&dyn AnyDataSource> {
        match self.provider.data_sources.get(name) {
            Some(data_source) => Ok(&**data_source),
            None => Err(unsupported(diags, "data source", name)),
        }
    }

    fn ephemeral(&self, diags: &mut Diagnostics, name: &str) -> Answer<&dyn AnyEphemeral> {
        match self.provider.ephemeral.get(name) {
            Some(ephemeral) => Ok(&**ephemeral),
            None => Err(unsupported(diags, "ephemeral resource type", name)),
        }
    }

    fn action(&self, diags: &mut Diagnostics, name: &str) -> Answer<Arc<dyn AnyAction>> {
        match self.provider.actions.get(name) {
            Some(action) => Ok(action.clone()),
            None => Err(unsupported(diags, "action type", name)),
        }
    }

    fn list_type(&self, diags: &mut Diagnostics, name: &str) -> Answer<&dyn AnyList> {
        match self.provider.lists.get(name) {
            Some(list) => Ok(&**list),
            None => Err(unsupported(diags, "list resource type", name)),
        }
    }

    fn validate_resource(&self, diags: &mut Diagnostics, request: &ValidateRequest) -> Answer<()> {
        let resource = self.resource(diags, &request.type_name)?;
        let config = check::decoded(diags, resource.shape(), &request.config)?;
        check::config(diags, resource.shape(), &config, request.client)?;
        resource.validate(diags, &config)
    }

    fn validate_data(&self, diags: &mut Diagnostics, request: &ValidateRequest) -> Answer<()> {
        let data_source = self.data_source(diags, &request.type_name)?;
        let config = check::decoded(diags, data_source.shape(), &request.config)?;
        check::config(diags, data_source.shape(), &config, request.client)?;
        data_source.validate(diags, &config)
    }

    fn validate_provider(&self, diags: &mut Diagnostics, request: &ValidateRequest) -> Answer<()> {
        let configure = &self.provider.configure;
        let config = check::decoded(diags, configure.shape(), &request.config)?;
        // Hosts do not say here what they can do, so nothing is refused for it.
        let client = ClientCapabilities { write_only_attributes_allowed: true, ..request.client };
        check::config(diags, configure.shape(), &config, client)?;
        configure.validate(diags, &config)
    }

    async fn take_config(&self, diags: &mut Diagnostics, request: &ConfigureRequest) -> Answer<()> {
        let configure = &self.provider.configure;
        let config = check::decoded(diags, configure.shape(), &request.config)?;
        configure.configure(diags, &config).await
    }

    async fn data(&self, diags: &mut Diagnostics, request: &ReadDataRequest) -> Answer<Payload> {
        let data_source = self.data_source(diags, &request.type_name)?;
        let config = check::decoded(diags, data_source.shape(), &request.config)?;
        let shape = data_source.shape();
        let planned = fresh(shape, &config);
        let found = data_source.read(diags, &planned).await?;
        Ok(check::known(diags, shape, "read", plan::carried(&planned, &found)))
    }
}

#[async_trait]
impl Provider for Server {
    async fn schema(&self) -> Result<ProviderSchema, Failure> {
        let resources = self.provider.resources.iter();
        let data_sources = self.provider.data_sources.iter();
        let ephemeral = self.provider.ephemeral.iter();
        Ok(ProviderSchema {
            provider: schema(0, self.provider.configure.shape()),
            provider_meta: self.provider.meta.as_ref().map(|meta| schema(0, meta)),
            resources: resources
                .map(|(name, resource)| {
                    (name.clone(), schema(resource.version(), resource.shape()))
                })
                .collect(),
            data_sources: data_sources
                .map(|(name, data_source)| (name.clone(), schema(0, data_source.shape())))
                .collect(),
            ephemeral_resources: ephemeral
                .map(|(name, ephemeral)| (name.clone(), schema(0, ephemeral.shape())))
                .collect(),
            list_resources: self
                .provider
                .lists
                .iter()
                .map(|(name, list)| (name.clone(), schema(0, list.shape())))
                .collect(),
            actions: self
                .provider
                .actions
                .iter()
                .map(|(name, action)| (name.clone(), schema(0, action.shape())))
                .collect(),
            functions: self.signatures(),
            capabilities: CAPABILITIES,
            ..ProviderSchema::default()
        })
    }

    async fn metadata(&self) -> Result<Metadata, Failure> {
        Ok(Metadata {
            capabilities: CAPABILITIES,
            resources: self.provider.resources.keys().cloned().collect(),
            data_sources: self.provider.data_sources.keys().cloned().collect(),
            ephemeral_resources: self.provider.ephemeral.keys().cloned().collect(),
            functions: self.provider.functions.keys().cloned().collect(),
            list_resources: self.provider.lists.keys().cloned().collect(),
            actions: self.provider.actions.keys().cloned().collect(),
            ..Metadata::default()
        })
    }

    async fn validate_provider_config(&self, request: ValidateRequest) -> Result<Verdict, Failure> {
        let mut diags = Diagnostics::new();
        let done = caught(async { self.validate_provider(&mut diags, &request) }).await;
        settled(&mut diags, done);
        Ok(Verdict { diagnostics: reports(diags) })
    }

    async fn configure(&self, request: ConfigureRequest) -> Result<Verdict, Failure> {
        let mut diags = Diagnostics::new();
        let done = caught(self.take_config(&mut diags, &request)).await;
        settled(&mut diags, done);
        Ok(Verdict { diagnostics: reports(diags) })
    }

    async fn validate_resource_config(&self, request: ValidateRequest) -> Result<Verdict, Failure> {
        let mut diags = Diagnostics::new();
        let done = caught(async { self.validate_resource(&mut diags, &request) }).await;
        settled(&mut diags, done);
        Ok(Verdict { diagnostics: reports(diags) })
    }

    async fn validate_data_config(&self, request: ValidateRequest) -> Result<Verdict, Failure> {
        let mut diags = Diagnostics::new();
        let done = caught(async { self.validate_data(&mut diags, &request) }).await;
        settled(&mut diags, done);
        Ok(Verdict { diagnostics: reports(diags) })
    }

    async fn upgrade_state(&self, request: UpgradeRequest) -> Result<UpgradeResponse, Failure> {
        let mut diags = Diagnostics::new();
        let done = caught(self.upgraded(&mut diags, request)).await;
        let state = settled(&mut diags, done).unwrap_or(Payload::Absent);
        Ok(UpgradeResponse { state, diagnostics: reports(diags) })
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, Failure> {
        let mut diags = Diagnostics::new();
        let done = caught(self.real(&mut diags, &request)).await;
        let outcome = settled(&mut diags, done);
        let diagnostics = reports(diags);
        Ok(match outcome {
            Some(Outcome { object, private, identity, deferred, .. }) => {
                ReadResponse { state: object, private, deferred, identity, diagnostics }
            }
            None => ReadResponse {
                state: request.current,
                private: request.private,
                deferred: None,
                identity: request.identity,
                diagnostics,
            },
        })
    }

    async fn plan(&self, request: PlanRequest) -> Result<PlanResponse, Failure> {
        let mut diags = Diagnostics::new();
        let done = caught(self.planned(&mut diags, &request)).await;
        let outcome = settled(&mut diags, done).unwrap_or_else(|| Outcome {
            object: request.prior,
            private: request.prior_private,
            identity: request.prior_identity,
            deferred: None,
            replace: Vec::new(),
        });
        Ok(PlanResponse {
            planned: outcome.object,
            requires_replace: outcome.replace,
            planned_private: outcome.private,
            legacy_type_system: false,
            deferred: outcome.deferred,
            planned_identity: outcome.identity,
            diagnostics: reports(diags),
        })
    }

    async fn apply(&self, request: ApplyRequest) -> Result<ApplyResponse, Failure> {
        let mut diags = Diagnostics::new();
        let done = caught(self.applied(&mut diags, &request)).await;
        // When nothing is known of what became of the object, it is taken to be what it was.
        let (state, private, identity) = match settled(&mut diags, done) {
            Some(outcome) => (outcome.object, outcome.private, outcome.identity),
            None => (request.prior, request.planned_private, request.planned_identity),
        };
        let diagnostics = reports(diags);
        Ok(ApplyResponse { state, private, legacy_type_system: false, identity, diagnostics })
    }

    async fn import(&self, request: ImportRequest) -> Result<ImportResponse, Failure> {
        let mut diags = Diagnostics::new();
        let done = caught(self.found(&mut diags, &request)).await;
        let resources = settled(&mut diags, done).into_iter().collect();
        Ok(ImportResponse { resources, deferred: None, diagnostics: reports(diags) })
    }

    async fn move_state(&self, request: MoveRequest) -> Result<MoveResponse, Failure> {
        let mut diags = Diagnostics::new();
        let private = request.source_private.clone();
        let done = caught(self.moved(&mut diags, request)).await;
        let (state, identity) = settled(&mut diags, done).unwrap_or((Payload::Absent, None));
        Ok(MoveResponse { state, private, identity, diagnostics: reports(diags) })
    }

    async fn identity_schemas(&self) -> Result<IdentitySchemas, Failure> {
        let resources = self.provider.resources.iter();
        let schemas = resources.filter_map(|(name, resource)| {
            Some((name.clone(), identity::schema(resource.shape())?))
        });
        Ok(IdentitySchemas { schemas: schemas.collect(), diagnostics: Vec::new() })
    }

    async fn upgrade_identity(
        &self,
        request: UpgradeIdentityRequest,
    ) -> Result<UpgradeIdentityResponse, Failure> {
        let mut diags = Diagnostics::new();
        let stored = match (self.resource(&mut diags, &request.type_name), &request.identity) {
            (Ok(resource), RawState::Json(json)) => {
                identity::stored(&mut diags, resource.shape(), json).ok()
            }
            _ => None,
        };
        let identity = stored.unwrap_or(Payload::Absent);
        Ok(UpgradeIdentityResponse { identity, diagnostics: reports(diags) })
    }

    async fn read_data(&self, request: ReadDataRequest) -> Result<ReadDataResponse, Failure> {
        let mut diags = Diagnostics::new();
        let done = caught(self.data(&mut diags, &request)).await;
        let state = settled(&mut diags, done).unwrap_or(Payload::Absent);
        Ok(ReadDataResponse { state, deferred: None, diagnostics: reports(diags) })
    }

    async fn functions(&self) -> Result<Functions, Failure> {
        Ok(Functions { functions: self.signatures(), diagnostics: Vec::new() })
    }

    async fn call_function(&self, request: CallRequest) -> Result<CallResponse, Failure> {
        let result = caught(async { self.result_of(&request) }).await;
        let panicked = |Panicked(text)| {
            let text = format!("the function panicked: {text}. This is a bug in the provider.");
            Err(FunctionError { text, argument: None })
        };
        Ok(CallResponse { result: result.unwrap_or_else(panicked) })
    }

    async fn validate_ephemeral_config(
        &self,
        request: ValidateRequest,
    ) -> Result<Verdict, Failure> {
        let mut diags = Diagnostics::new();
        let done = caught(async { self.validate_ephemeral(&mut diags, &request) }).await;
        settled(&mut diags, done);
        Ok(Verdict { diagnostics: reports(diags) })
    }

    async fn open_ephemeral(&self, request: OpenRequest) -> Result<OpenResponse, Failure> {
        let mut diags = Diagnostics::new();
        let done = caught(self.opened(&mut diags, &request)).await;
        let (result, keep) =
            settled(&mut diags, done).unwrap_or((Payload::Absent, Keep::default()));
        let Keep { private, renew_at } = keep;
        let diagnostics = reports(diags);
        Ok(OpenResponse { result, private, renew_at, deferred: None, diagnostics })
    }

    async fn renew_ephemeral(&self, request: KeepRequest) -> Result<RenewResponse, Failure> {
        let mut diags = Diagnostics::new();
        let done = caught(self.renewed(&mut diags, request)).await;
        let Keep { private, renew_at } = settled(&mut diags, done).unwrap_or_default();
        Ok(RenewResponse { private, renew_at, diagnostics: reports(diags) })
    }

    async fn close_ephemeral(&self, request: KeepRequest) -> Result<Verdict, Failure> {
        let mut diags = Diagnostics::new();
        let done = caught(self.closed(&mut diags, request)).await;
        settled(&mut diags, done);
        Ok(Verdict { diagnostics: reports(diags) })
    }

    async fn validate_list_config(&self, request: ValidateListRequest) -> Result<Verdict, Failure> {
        let mut diags = Diagnostics::new();
        let done = caught(async { self.validate_list(&mut diags, &request) }).await;
        settled(&mut diags, done);
        Ok(Verdict { diagnostics: reports(diags) })
    }

    async fn list(
        &self,
        request: ListRequest,
    ) -> Result<BoxStream<'static, Result<ListEvent, Failure>>, Failure> {
        let mut diags = Diagnostics::new();
        let done = caught(self.listed(&mut diags, &request)).await;
        let mut events = settled(&mut diags, done).unwrap_or_default();
        let diagnostics = reports(diags);
        if !diagnostics.is_empty() {
            // Protocol: problems have no place but an event.
            let display_name = String::new();
            events.push(ListEvent { identity: None, display_name, object: None, diagnostics });
        }
        Ok(stream::iter(events.into_iter().map(Ok)).boxed())
    }

    async fn validate_action_config(&self, request: ValidateRequest) -> Result<Verdict, Failure> {
        let mut diags = Diagnostics::new();
        let done = caught(async { self.validate_action(&mut diags, &request) }).await;
        settled(&mut diags, done);
        Ok(Verdict { diagnostics: reports(diags) })
    }

    async fn plan_action(&self, request: ActionRequest) -> Result<PlanActionResponse, Failure> {
        let mut diags = Diagnostics::new();
        let done = caught(self.action_planned(&mut diags, &request)).await;
        settled(&mut diags, done);
        Ok(PlanActionResponse { deferred: None, diagnostics: reports(diags) })
    }

    async fn invoke_action(
        &self,
        request: ActionRequest,
    ) -> Result<BoxStream<'static, Result<ActionEvent, Failure>>, Failure> {
        Ok(self.invoked(request))
    }

    async fn stop(&self) -> Result<String, Failure> {
        self.switch.request();
        Ok(String::new())
    }
}

const CAPABILITIES: ServerCapabilities = ServerCapabilities {
    plan_destroy: false,
    get_provider_schema_optional: true,
    move_resource_state: true,
    generate_resource_config: false,
};

/// What is asked for when there was nothing before: the configuration with defaults, and unknown what
/// is to be found out.
fn fresh(shape: &Shape, config: &Value) -> Value {
    plan::draw(shape, &Value::null(shape.ty().clone()), config, config)
}

fn schema(version: u64, shape: &Shape) -> Schema {
    Schema { version, block: shape.block.clone() }
}

fn unsupported(diags: &mut Diagnostics, what: &str, name: &str) -> Reported {
    let detail = format!("The provider has no {what} called {name:?}.");
    diags.error(Diagnostic::error(format!("Unsupported {what}"), detail))
}

/// What a panic said.
struct Panicked(String);

/// Waits for a handler; its panic is its answer, so that what was reported before still gets out.
async fn caught<T>(handler: impl Future<Output = T>) -> Result<T, Panicked> {
    AssertUnwindSafe(handler).catch_unwind().await.map_err(|panic| Panicked(words(&*panic)))
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no text").to_owned()
}

/// What the handler answered, if it did.
fn settled<T>(diags: &mut Diagnostics, done: Result<Answer<T>, Panicked>) -> Option<T> {
    reported(diags, done).ok()
}

fn panicked(diags: &mut Diagnostics, text: &str) -> Reported {
    let detail =
        format!("A handler of the provider panicked: {text}. This is a bug in the provider.");
    diags.error(Diagnostic::error("Provider panicked", detail).blame(Blame::Provider))
}

/// What the handler answered, or the receipt for why it did not.
fn reported<T>(diags: &mut Diagnostics, done: Result<Answer<T>, Panicked>) -> Answer<T> {
    match done {
        Ok(answer) => answer,
        Err(Panicked(text)) => Err(panicked(diags, &text)),
    }
}

/// What was reported, in the words of the contract.
fn reports(diags: Diagnostics) -> Vec<ProviderDiagnostic> {
    let report = |diagnostic: Diagnostic| ProviderDiagnostic {
        severity: diagnostic.severity,
        summary: diagnostic.summary,
        detail: diagnostic.detail,
        path: diagnostic.path.unwrap_or_default(),
    };
    diags.into_iter().map(report).collect()
}

#[cfg(test)]
mod tests;
