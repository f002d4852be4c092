//! A provider in this process over a world in memory: real enough to be created, drift, vanish and
//! fail on request. Every call to it is written down.

#![expect(clippy::disallowed_types, reason = "a provider must be fit for several threads")]

mod busy;
mod death;
mod function;
mod listing;
mod process;
mod token;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use formwork_plugin_protocol::capability::ServerCapabilities;
use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_plugin_protocol::message::configure::{
    ConfigureRequest, DiagnosticsResponse, ValidateRequest,
};
use formwork_plugin_protocol::message::ephemeral::{
    OpenRequest, OpenResponse, RenewOrCloseRequest, RenewResponse,
};
use formwork_plugin_protocol::message::function::{CallRequest, CallResponse};
use formwork_plugin_protocol::message::list::{ListEvent, ListRequest};
use formwork_plugin_protocol::message::read_data::{ReadDataRequest, ReadDataResponse};
use formwork_plugin_protocol::message::resource::{
    ApplyRequest, ApplyResponse, ImportRequest, ImportResponse, ImportedResource, PlanRequest,
    PlanResponse, RawState, ReadRequest, ReadResponse, UpgradeRequest, UpgradeResponse,
};
use formwork_plugin_protocol::message::schema::{IdentitySchemas, Metadata, ProviderSchema};
use formwork_plugin_protocol::{Failure, Payload, ProviderHandlers};
use formwork_value::codec::json;
use formwork_value::diag::Severity;
use formwork_value::schema::{Attribute, Block, Role};
use formwork_value::{Path, Schema, Type, Value};
use futures_util::stream::BoxStream;

use crate::provider::CallDeadlines;

/// Faulty behavior of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallFault {
    /// Says no and leaves everything as it is.
    Refuses,
    /// Makes the change, and reports an error with the object.
    Half,
    /// Makes the change, and the process exits before it answers.
    Dies,
    /// Does it, and never answers.
    Hangs,
    /// Does it, and answers when something else was renewed twice, or much later.
    Waits,
    /// Leaves a value unknown.
    Unknown,
    /// Answers null.
    Null,
    /// Answers with another size than was planned.
    Other,
    /// Answers with the object although it was to be destroyed.
    Still,
}

/// Everything there is, and what was done to it.
#[derive(Default)]
pub(super) struct CloudContents {
    /// The real objects by id.
    pub(super) objects: BTreeMap<String, Value>,
    /// Answers of data sources, by key; others are echoed.
    pub(super) answers: BTreeMap<String, String>,
    /// Faults by call and name, as in `create a`.
    pub(super) faults: BTreeMap<String, CallFault>,
    /// Calls over which the process dies, each once. A request to a process as a whole ends in its
    /// number, as in `launch 2`.
    pub(super) deaths: BTreeSet<String>,
    /// Whether a process exits on a stop request.
    pub(super) ends_when_stopped: bool,
    /// Warning of every process when it returns its schemas.
    pub(super) warning: Option<String>,
    /// The calls, in order.
    pub(super) calls: Vec<String>,
    /// Whether reading, planning and changing take a while.
    pub(super) slow: bool,
    n_under_way: usize,
    /// Maximum number of these that ran concurrently.
    pub(super) most_under_way: usize,
    /// Limit of concurrent processes.
    pub(super) limit: Option<usize>,
    pub(super) n_running: usize,
    /// Maximum number of processes that ran concurrently.
    pub(super) most_running: usize,
    /// Number of processes of the provider that were started.
    pub(super) n_launches: usize,
    /// Whether a call hangs.
    pub(super) hung: bool,
    /// Whether every second plan of an update demands a replacement.
    pub(super) moody: bool,
    /// Whether the schema calls ids sensitive.
    pub(super) has_sensitive_id: bool,
    /// Whether objects are found by their names.
    pub(super) identified: bool,
    /// Whether objects are listed, and found by their ids.
    pub(super) listed: bool,
    /// Deadlines of calls.
    pub(super) deadlines: CallDeadlines,
    /// The largest message, if not the usual one.
    pub(super) message_limit: Option<usize>,
    n_moods: usize,
    n_made: BTreeMap<String, usize>,
}

/// A world in memory.
#[derive(Clone, Default)]
pub(super) struct FakeCloud(Arc<Mutex<CloudContents>>);

impl FakeCloud {
    pub(super) fn lock_contents(&self) -> MutexGuard<'_, CloudContents> {
        self.0.lock().unwrap()
    }

    fn record_call(&self, call: String) -> Option<CallFault> {
        let mut things = self.lock_contents();
        let fault = things.faults.get(&call).copied();
        // Also a call that is to fail: what counts is what was sent.
        things.calls.push(call);
        fault
    }
}

/// One process of the provider.
struct CloudProvider {
    cloud: FakeCloud,
    region: Mutex<Option<String>>,
    /// Whether it died in a call.
    dead: AtomicBool,
    /// Whether it received a stop request, which is final for a provider.
    stopped: AtomicBool,
    /// Number of processes that were started before it, and itself.
    number: usize,
}

fn schema(attributes: &[(&str, Type, Role)]) -> Schema {
    let attributes = attributes
        .iter()
        .map(|(name, ty, role)| ((*name).into(), Attribute::new(ty.clone(), *role)))
        .collect();
    Schema { version: 0, block: Block { attributes, ..Block::default() } }
}

fn thing_schema() -> Schema {
    let mut schema = schema(&[
        ("id", Type::String, Role::Computed),
        ("name", Type::String, Role::Required),
        ("size", Type::Number, Role::Optional),
        ("zone", Type::String, Role::Optional),
        ("note", Type::String, Role::OptionalComputed),
        ("secret", Type::String, Role::Optional),
        ("tags", Type::map(Type::String), Role::Optional),
    ]);
    schema.block.attributes.get_mut("secret").unwrap().sensitive = true;
    schema
}

fn lookup_schema() -> Schema {
    schema(&[("key", Type::String, Role::Required), ("answer", Type::String, Role::Computed)])
}

fn provider_schema() -> Schema {
    schema(&[("region", Type::String, Role::Optional)])
}

fn meta_schema() -> Schema {
    schema(&[("module", Type::String, Role::Optional)])
}

pub(super) fn object_attribute<'v>(object: &'v Value, name: &str) -> &'v Value {
    match object {
        Value::Object(object) => object.get(name).unwrap(),
        other => panic!("{other:?} is no object"),
    }
}

pub(super) fn with_attribute(object: &Value, name: &str, value: Value) -> Value {
    let Value::Object(fields) = object else { panic!("{object:?} is no object") };
    Value::object(
        fields.iter().map(|(key, old)| {
            (key.clone(), if **key == *name { value.clone() } else { old.clone() })
        }),
    )
}

fn string_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        Value::Unknown(_) => "?".into(),
        _ => "-".into(),
    }
}

fn decode(payload: &Payload, ty: &Type) -> Value {
    payload.decode(ty).unwrap().into_value()
}

fn encode(value: Value, ty: &Type) -> Payload {
    // Over the wire form, as from another process.
    Payload::Value(value.split_marks().0, ty.clone()).encode().unwrap()
}

fn error_diagnostic(call: &str) -> Vec<ProviderDiagnostic> {
    let summary = format!("the cloud says no to {call}");
    let severity = Severity::Error;
    vec![ProviderDiagnostic {
        severity,
        summary,
        detail: String::new(),
        path: Path::root(),
        code: None,
    }]
}

impl CloudProvider {
    fn plan_thing(&self, prior: &Value, proposed: &Value) -> (Value, Vec<Path>) {
        let unknown = || Value::unknown(Type::String);
        let mut planned = proposed.clone();
        if prior.is_null() {
            planned = with_attribute(&planned, "id", unknown());
            if object_attribute(&planned, "note").is_null() {
                planned = with_attribute(&planned, "note", unknown());
            }
        }
        // Also where it stays the same: a provider may always list it, and core has to compare.
        (planned, vec![Path::root().attribute("zone")])
    }

    /// Records the metadata of the calling module, if any.
    fn record_provider_meta(&self, meta: &Payload) {
        let meta = decode(meta, &meta_schema().block.implied_type());
        if !meta.is_null() {
            self.cloud
                .record_call(format!("told {}", string_value(object_attribute(&meta, "module"))));
        }
    }

    fn forced_replacement_path(&self, prior: &Value, planned: &Value) -> Option<Path> {
        let mut things = self.cloud.lock_contents();
        if !things.moody || prior.is_null() || planned.is_null() || prior == planned {
            return None;
        }
        things.n_moods += 1;
        things.n_moods.is_multiple_of(2).then(|| Path::root().attribute("size"))
    }

    /// Creates or changes an object, filling in what is left open.
    fn make_object(&self, planned: &Value, fault: Option<CallFault>) -> Value {
        let mut things = self.cloud.lock_contents();
        let name = string_value(object_attribute(planned, "name"));
        let mut made = planned.clone();
        if object_attribute(&made, "id").is_unknown() {
            // Another id for each object of a name, so that a replacement is seen in the state.
            let n = things.n_made.entry(name.clone()).or_default();
            *n += 1;
            let id = format!("{name}-{n}");
            made = with_attribute(&made, "id", Value::string(id));
        }
        if object_attribute(&made, "note").is_unknown() {
            made = with_attribute(&made, "note", Value::string(format!("note of {name}")));
        }
        if fault == Some(CallFault::Other) {
            made = with_attribute(&made, "size", Value::int(99));
        }
        things.objects.insert(string_value(object_attribute(&made, "id")), made.clone());
        made
    }
}

impl ProviderHandlers for CloudProvider {
    async fn schema(&self) -> Result<ProviderSchema, Failure> {
        self.run_process_faults("schema").await?;
        let diagnostics = self.warnings();
        let mut thing = thing_schema();
        thing.block.attributes.get_mut("id").unwrap().sensitive =
            self.cloud.lock_contents().has_sensitive_id;
        Ok(ProviderSchema {
            provider: provider_schema(),
            resources: [("test_thing".to_owned(), thing)].into(),
            data_sources: [("test_lookup".to_owned(), lookup_schema())].into(),
            ephemeral_resources: [("test_token".to_owned(), token::token_schema())].into(),
            functions: function::function_signatures().into_iter().collect(),
            list_resources: listing::list_schemas(&self.cloud.lock_contents()),
            provider_meta: Some(meta_schema()),
            capabilities: ServerCapabilities { plan_destroy: true, ..Default::default() },
            diagnostics,
            ..ProviderSchema::default()
        })
    }

    async fn identity_schemas(&self) -> Result<IdentitySchemas, Failure> {
        self.run_process_faults("identities").await?;
        let schemas = listing::identity_schemas(&self.cloud.lock_contents());
        Ok(IdentitySchemas { schemas, diagnostics: Vec::new() })
    }

    async fn list(
        &self,
        _: ListRequest,
    ) -> Result<BoxStream<'static, Result<ListEvent, Failure>>, Failure> {
        self.cloud.hang_while_scripted("list").await;
        Ok(listing::list_things(&self.cloud))
    }

    async fn validate_provider_config(
        &self,
        _: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        Ok(DiagnosticsResponse::default())
    }

    async fn configure(&self, request: ConfigureRequest) -> Result<DiagnosticsResponse, Failure> {
        let config = decode(&request.config, &provider_schema().block.implied_type());
        let region = string_value(object_attribute(&config, "region"));
        let fault = self.cloud.record_call(format!("configure {region}"));
        self.run_process_faults(&format!("configure {region}")).await?;
        *self.region.lock().unwrap() = Some(region);
        let is_refused = fault.is_some() || self.stopped.load(Relaxed);
        let diagnostics = if is_refused { error_diagnostic("configure") } else { Vec::new() };
        Ok(DiagnosticsResponse { diagnostics })
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

    async fn upgrade_state(&self, request: UpgradeRequest) -> Result<UpgradeResponse, Failure> {
        let ty = thing_schema().block.implied_type();
        let RawState::Json(text) = request.state else { panic!("never flat") };
        let state = encode(json::decode(&text, &ty).unwrap(), &ty);
        Ok(UpgradeResponse { state, diagnostics: Vec::new() })
    }

    async fn metadata(&self) -> Result<Metadata, Failure> {
        self.check_alive()?;
        // As of an older provider, which does not support it: core requests the schemas instead.
        Err(Failure::Unimplemented("GetMetadata"))
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, Failure> {
        self.check_alive()?;
        let ty = thing_schema().block.implied_type();
        let current = decode(&request.current, &ty);
        let id = string_value(object_attribute(&current, "id"));
        self.record_provider_meta(&request.provider_meta);
        let fault = self.cloud.record_call(format!("read {id}"));
        self.run_object_faults(&format!("read {id}")).await?;
        self.cloud.yield_some_turns().await;
        // Another call may have ended the process in the meantime.
        self.check_alive()?;
        let object = self.cloud.lock_contents().objects.get(&id).cloned();
        let is_refused = fault == Some(CallFault::Refuses) || self.stopped.load(Relaxed);
        let diagnostics = if is_refused { error_diagnostic("read") } else { Vec::new() };
        Ok(ReadResponse {
            state: encode(object.unwrap_or_else(|| Value::null(ty.clone())), &ty),
            private: request.private,
            deferred: None,
            identity: None,
            diagnostics,
        })
    }

    async fn plan(&self, request: PlanRequest) -> Result<PlanResponse, Failure> {
        let ty = thing_schema().block.implied_type();
        let (prior, proposed) = (decode(&request.prior, &ty), decode(&request.proposed, &ty));
        assert!(self.region.lock().unwrap().is_some(), "planned before configured");
        let (mut planned, mut requires_replace, name);
        if proposed.is_null() {
            name = string_value(object_attribute(&prior, "id"));
            (planned, requires_replace) = (proposed, Vec::new());
        } else {
            name = string_value(object_attribute(&proposed, "name"));
            (planned, requires_replace) = self.plan_thing(&prior, &proposed);
        }
        self.record_provider_meta(&request.provider_meta);
        let fault = self.cloud.record_call(format!("plan {name}"));
        self.run_object_faults(&format!("plan {name}")).await?;
        self.cloud.yield_some_turns().await;
        self.check_alive()?;
        match fault {
            Some(CallFault::Other) => planned = with_attribute(&planned, "size", Value::int(99)),
            Some(CallFault::Still) => planned = prior.clone(),
            _ => {}
        }
        requires_replace.extend(self.forced_replacement_path(&prior, &planned));
        let diagnostics = match fault {
            Some(CallFault::Refuses) => error_diagnostic("plan"),
            _ => Vec::new(),
        };
        Ok(PlanResponse {
            planned: encode(planned, &ty),
            requires_replace,
            planned_private: request.prior_private,
            legacy_type_system: false,
            deferred: None,
            planned_identity: None,
            diagnostics,
        })
    }

    async fn apply(&self, request: ApplyRequest) -> Result<ApplyResponse, Failure> {
        let ty = thing_schema().block.implied_type();
        let (prior, planned) = (decode(&request.prior, &ty), decode(&request.planned, &ty));
        let operation = match (prior.is_null(), planned.is_null()) {
            (true, _) => format!("create {}", string_value(object_attribute(&planned, "name"))),
            (_, true) => format!("delete {}", string_value(object_attribute(&prior, "id"))),
            _ => format!("update {}", string_value(object_attribute(&prior, "id"))),
        };
        self.record_provider_meta(&request.provider_meta);
        let fault = self.cloud.record_call(operation.clone());
        self.cloud.yield_some_turns().await;
        let answer = |state: Value, diagnostics| {
            Ok(ApplyResponse {
                state: encode(state, &ty),
                private: Bytes::from_static(b"private"),
                legacy_type_system: false,
                identity: None,
                diagnostics,
            })
        };
        let null = || Value::null(ty.clone());
        // Null beside an error must not make core forget an existing object.
        if fault == Some(CallFault::Refuses) {
            return answer(null(), error_diagnostic(&operation));
        }
        if fault == Some(CallFault::Waits) {
            token::wait_for_renewals(&self.cloud).await;
        }
        let made = if planned.is_null() {
            if fault != Some(CallFault::Still) {
                self.cloud
                    .lock_contents()
                    .objects
                    .remove(&string_value(object_attribute(&prior, "id")));
            }
            null()
        } else {
            self.make_object(&planned, fault)
        };
        match fault {
            Some(CallFault::Half) => answer(made, error_diagnostic(&operation)),
            Some(CallFault::Dies) => Err(self.die()),
            Some(CallFault::Hangs) => {
                self.cloud.lock_contents().hung = true;
                std::future::pending().await
            }
            Some(CallFault::Unknown) => {
                answer(with_attribute(&made, "note", Value::unknown(Type::String)), Vec::new())
            }
            Some(CallFault::Null) => answer(null(), Vec::new()),
            Some(CallFault::Still) => answer(prior, Vec::new()),
            Some(CallFault::Other | CallFault::Refuses | CallFault::Waits) | None => {
                answer(made, Vec::new())
            }
        }
    }

    async fn import(&self, request: ImportRequest) -> Result<ImportResponse, Failure> {
        let ty = thing_schema().block.implied_type();
        let id = match &request.identity {
            Some(identity) if self.cloud.lock_contents().listed => {
                let identity = decode(identity, &Type::object([("id", Type::String)]));
                string_value(object_attribute(&identity, "id"))
            }
            Some(identity) => {
                let identity = decode(identity, &Type::object([("name", Type::String)]));
                // The read that follows finds out that an object does not exist.
                format!("{}-1", string_value(object_attribute(&identity, "name")))
            }
            None => request.id,
        };
        self.cloud.record_call(format!("import {id}"));
        // Only the id, as many providers import: core has to read the rest.
        let empty = thing_schema().block.empty_value();
        let resource = ImportedResource {
            type_name: request.type_name,
            state: encode(with_attribute(&empty, "id", Value::string(id)), &ty),
            private: Bytes::new(),
            identity: None,
        };
        Ok(ImportResponse { resources: vec![resource], deferred: None, diagnostics: Vec::new() })
    }

    async fn read_data(&self, request: ReadDataRequest) -> Result<ReadDataResponse, Failure> {
        let ty = lookup_schema().block.implied_type();
        let config = decode(&request.config, &ty);
        let key = string_value(object_attribute(&config, "key"));
        self.record_provider_meta(&request.provider_meta);
        let fault = self.cloud.record_call(format!("look up {key}"));
        let answer = self.cloud.lock_contents().answers.get(&key).cloned();
        let answer = answer.unwrap_or_else(|| format!("answer to {key}"));
        let diagnostics = fault.map_or_else(Vec::new, |_| error_diagnostic("look up"));
        let state = encode(with_attribute(&config, "answer", Value::string(answer)), &ty);
        Ok(ReadDataResponse { state, deferred: None, diagnostics })
    }

    async fn validate_ephemeral_config(
        &self,
        _: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        Ok(DiagnosticsResponse::default())
    }

    async fn open_ephemeral(&self, request: OpenRequest) -> Result<OpenResponse, Failure> {
        Ok(token::open_token(&self.cloud, &request))
    }

    async fn renew_ephemeral(
        &self,
        request: RenewOrCloseRequest,
    ) -> Result<RenewResponse, Failure> {
        token::renew_token(&self.cloud, &request).await
    }

    async fn close_ephemeral(
        &self,
        request: RenewOrCloseRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        Ok(token::close_token(&self.cloud, &request))
    }

    async fn call_function(&self, request: CallRequest) -> Result<CallResponse, Failure> {
        self.check_alive()?;
        let result = function::call_function(&self.cloud, &request);
        self.run_object_faults(self.cloud.last_call().as_str()).await?;
        Ok(CallResponse { result })
    }

    async fn stop(&self) -> Result<String, Failure> {
        self.cloud.record_call("stop".into());
        self.stopped.store(true, Relaxed);
        if self.cloud.lock_contents().ends_when_stopped {
            return Err(self.die());
        }
        Ok(String::new())
    }
}
