//! A provider that answers every call, and records its requests.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use formwork_value::diag::Severity;
use formwork_value::schema::{
    Attribute, AttributeKind, Block, NestedAttributes, NestedBlock, Nesting, Role, Schema,
};
use formwork_value::{Path, Type};
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt as _, TryStreamExt as _};

use crate::capability::{ClientCapabilities, ServerCapabilities};
use crate::message::action::{ActionEvent, ActionRequest, PlanActionResponse};
use crate::message::configure::{ConfigureRequest, DiagnosticsResponse, ValidateRequest};
use crate::message::ephemeral::{OpenRequest, OpenResponse, RenewOrCloseRequest, RenewResponse};
use crate::message::function::{CallRequest, CallResponse, FunctionError, Functions};
use crate::message::list::{ListEvent, ListRequest, ValidateListRequest};
use crate::message::read_data::{ReadDataRequest, ReadDataResponse};
use crate::message::resource::{
    ApplyRequest, ApplyResponse, GenerateConfigRequest, GenerateConfigResponse, ImportRequest,
    ImportResponse, ImportedResource, MoveRequest, MoveResponse, PlanRequest, PlanResponse,
    RawState, ReadRequest, ReadResponse, UpgradeIdentityRequest, UpgradeIdentityResponse,
    UpgradeRequest, UpgradeResponse,
};
use crate::message::schema::{
    FunctionParameter, FunctionSignature, IdentityAttribute, IdentitySchema, IdentitySchemas,
    Metadata, ProviderSchema,
};
use crate::message::state_store::{
    ConfigureStoreRequest, ConfigureStoreResponse, LockResponse, StateChunk, StateRef,
    StatesResponse,
};
use crate::message::{DeferredReason, ProviderDiagnostic};
use crate::{Failure, Payload, Provider, ProviderExt as _, ProviderHandlers};

/// Records its requests and returns a fixed answer.
#[derive(Debug, Default)]
pub(super) struct Example {
    requests: Mutex<Vec<String>>,
    only_what_protocol_5_has: bool,
}

impl Example {
    /// Offers only features that protocol 5 can express.
    pub(super) fn for_protocol_5() -> Self {
        Self { only_what_protocol_5_has: true, ..Self::default() }
    }

    /// Returns the recorded requests, call by call.
    pub(super) fn recorded_requests(&self) -> Vec<String> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn record(&self, call: &str, request: &dyn Debug) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.push(format!("{call} {request:?}"));
    }
}

pub(super) fn msgpack(bytes: &'static [u8]) -> Payload {
    Payload::Msgpack(Bytes::from_static(bytes))
}

fn json(text: &'static str) -> Payload {
    Payload::Json(Bytes::from_static(text.as_bytes()))
}

fn private(text: &'static str) -> Bytes {
    Bytes::from_static(text.as_bytes())
}

fn client() -> ClientCapabilities {
    ClientCapabilities {
        deferral_allowed: true,
        write_only_attributes_allowed: false,
        store_planned_private: true,
        computed_blocks_allowed: true,
    }
}

fn diagnostics(about: &str) -> Vec<ProviderDiagnostic> {
    let path = Path::root().attribute("disk").index(2).attribute("tags").key("größe");
    vec![
        ProviderDiagnostic {
            severity: Severity::Warning,
            summary: format!("About {about}"),
            detail: "In detail.\nOn two lines.".into(),
            path,
            code: None,
        },
        ProviderDiagnostic {
            severity: Severity::Error,
            summary: "Everything".into(),
            detail: String::new(),
            path: Path::root(),
            code: None,
        },
    ]
}

fn verdict(about: &str) -> DiagnosticsResponse {
    DiagnosticsResponse { diagnostics: diagnostics(about) }
}

fn names(prefix: &str) -> Vec<String> {
    // Not sorted, so that a change of the order would be seen.
    vec![format!("{prefix}_b"), format!("{prefix}_a")]
}

fn schemas(kind: &str, schema: &Schema) -> BTreeMap<String, Schema> {
    // proto3 omits a zero, and it must still arrive.
    let other_schema = Schema { version: 0, ..schema.clone() };
    BTreeMap::from([
        (format!("acme_{kind}"), schema.clone()),
        (format!("acme_{kind}_2"), other_schema),
    ])
}

fn rich_schema(only_what_protocol_5_has: bool) -> Schema {
    let mut size = Attribute::new(Type::list(Type::Number), Role::OptionalComputed);
    size.sensitive = true;
    // It has another field number in protocol 5.
    size.write_only = true;
    size.docs.description = "How large.".into();
    size.docs.markdown = true;
    size.docs.deprecated = true;
    size.docs.deprecation = "Use `length`.".into();
    let object = Type::object([("a", Type::Dynamic), ("b", Type::set(Type::Bool))]);
    let mut block = Block::default();
    block.attributes.insert("size".into(), size.clone());
    block.attributes.insert("object".into(), Attribute::new(object, Role::Required));
    block.attributes.insert("id".into(), Attribute::new(Type::String, Role::Computed));
    // Protocol 5 has no form for nested attributes.
    if !only_what_protocol_5_has {
        let attributes = BTreeMap::from([("size".into(), size)]);
        let kind = AttributeKind::Nested(NestedAttributes { attributes, nesting: Nesting::Map });
        let nested = Attribute { kind, ..Attribute::new(Type::Bool, Role::Optional) };
        block.attributes.insert("nested".into(), nested);
    }
    let mut outer = Block { docs: block.attributes["size"].docs.clone(), ..Block::default() };
    for (name, nesting) in [
        ("single", Nesting::Single),
        ("group", Nesting::Group),
        ("list", Nesting::List),
        ("set", Nesting::Set),
        ("map", Nesting::Map),
    ] {
        let nested = NestedBlock {
            nesting,
            block: block.clone(),
            min_items: 1,
            max_items: 3,
            // Nor for computed blocks.
            computed: !only_what_protocol_5_has,
        };
        outer.blocks.insert(name.into(), nested);
    }
    Schema { version: 7, block: outer }
}

fn signature() -> FunctionSignature {
    let parameter = FunctionParameter {
        name: "text".into(),
        ty: Type::String,
        allow_null: true,
        allow_unknown: false,
        description: "What to shout.".into(),
        markdown: true,
    };
    FunctionSignature {
        parameters: vec![parameter.clone()],
        variadic: Some(FunctionParameter { name: "more".into(), ..parameter }),
        returns: Type::list(Type::String),
        summary: "Shouts".into(),
        description: "Shouts it.".into(),
        markdown: false,
        deprecation: "Whisper.".into(),
    }
}

fn functions() -> BTreeMap<String, FunctionSignature> {
    let quiet_signature = FunctionSignature { variadic: None, parameters: vec![], ..signature() };
    BTreeMap::from([("shout".to_owned(), signature()), ("quiet".to_owned(), quiet_signature)])
}

fn server() -> ServerCapabilities {
    ServerCapabilities {
        plan_destroy: true,
        get_provider_schema_optional: false,
        move_resource_state: true,
        generate_resource_config: true,
    }
}

fn after_the_epoch(seconds: u64) -> SystemTime {
    // A `Timestamp` has its nanoseconds in a field of their own.
    SystemTime::UNIX_EPOCH + Duration::new(seconds, 5)
}

pub(super) fn validate() -> ValidateRequest {
    // Only one of the calls has a place for what the host can do, and only two have none for a name.
    ValidateRequest {
        type_name: String::new(),
        config: msgpack(b"\x80"),
        client: ClientCapabilities::default(),
    }
}

fn validate_named(type_name: &str) -> ValidateRequest {
    ValidateRequest { type_name: type_name.into(), ..validate() }
}

pub(super) fn configure() -> ConfigureRequest {
    ConfigureRequest { terraform_version: "1.11.4".into(), config: json("{}"), client: client() }
}

pub(super) fn upgrade(state: Bytes) -> UpgradeRequest {
    UpgradeRequest { type_name: "acme_vm".into(), version: 3, state: RawState::Json(state) }
}

pub(super) fn read() -> ReadRequest {
    ReadRequest {
        type_name: "acme_vm".into(),
        current: msgpack(b"\x81\xa1a\xc0"),
        private: private("p"),
        provider_meta: Payload::Absent,
        client: client(),
        identity: Some(msgpack(b"\xa1i")),
    }
}

pub(super) fn plan() -> PlanRequest {
    PlanRequest {
        type_name: "acme_vm".into(),
        prior: msgpack(b"\xc0"),
        proposed: msgpack(b"\x01"),
        config: msgpack(b"\x02"),
        prior_private: private("prior"),
        provider_meta: msgpack(b"\x80"),
        client: client(),
        prior_identity: Some(msgpack(b"\xa1i")),
        planned_private: private("planned"),
    }
}

pub(super) fn plan_response() -> PlanResponse {
    PlanResponse {
        // An unknown value, as cty writes it: extension type 0.
        planned: msgpack(b"\xd4\x00\x00"),
        requires_replace: vec![Path::root().attribute("size"), Path::root().key("k").index(0)],
        planned_private: private("private"),
        legacy_type_system: true,
        deferred: Some(DeferredReason::AbsentPrerequisite),
        planned_identity: Some(msgpack(b"\xa1j")),
        diagnostics: diagnostics("plan"),
    }
}

pub(super) fn apply() -> ApplyRequest {
    ApplyRequest {
        type_name: "acme_vm".into(),
        prior: msgpack(b"\x01"),
        planned: msgpack(b"\xc0"),
        config: msgpack(b"\x02"),
        planned_private: private("planned"),
        provider_meta: msgpack(b"\x80"),
        planned_identity: Some(msgpack(b"\xa1i")),
    }
}

pub(super) fn read_data() -> ReadDataRequest {
    ReadDataRequest {
        type_name: "acme_image".into(),
        config: msgpack(b"\x80"),
        provider_meta: msgpack(b"\x81"),
        client: client(),
        address: String::new(),
    }
}

pub(super) fn move_request() -> MoveRequest {
    MoveRequest {
        source_provider: "registry.terraform.io/acme/old".into(),
        source_type: "old_vm".into(),
        source_version: 2,
        // The form of states before Terraform 0.12.
        source_state: RawState::Flat(BTreeMap::from([("id".into(), "1".into())])),
        target_type: "acme_vm".into(),
        source_private: private("p"),
        source_identity: Some(RawState::Json(private("{}"))),
        source_identity_version: 4,
    }
}

pub(super) fn list() -> ListRequest {
    ListRequest {
        type_name: "acme_vm".into(),
        config: msgpack(b"\x80"),
        include_object: true,
        limit: 100,
    }
}

pub(super) fn list_event() -> ListEvent {
    ListEvent {
        identity: Some(msgpack(b"\xa1i")),
        display_name: "first".into(),
        object: Some(msgpack(b"\x80")),
        diagnostics: diagnostics("list"),
    }
}

fn keep() -> RenewOrCloseRequest {
    RenewOrCloseRequest { type_name: "acme_token".into(), private: private("open") }
}

fn action() -> ActionRequest {
    ActionRequest { type_name: "acme_boot".into(), config: msgpack(b"\x80"), client: client() }
}

fn state() -> StateRef {
    StateRef { type_name: "acme_store".into(), state_id: "default".into() }
}

fn chunks(diagnostics: &[ProviderDiagnostic]) -> Vec<StateChunk> {
    let chunk = |bytes: &'static str, start| StateChunk {
        bytes: private(bytes),
        total_length: 5,
        start,
        end: start + 2,
        diagnostics: diagnostics.to_vec(),
    };
    vec![chunk("abc", 0), chunk("de", 3)]
}

fn debug_text<T: Debug>(answer: Result<T, Failure>) -> String {
    format!("{answer:#?}")
}

async fn all<T>(
    answer: Result<BoxStream<'static, Result<T, Failure>>, Failure>,
) -> Result<Vec<T>, Failure> {
    answer?.try_collect().await
}

/// Makes every call, in the order of the table of methods, and returns the answers.
pub(super) async fn everything(provider: &dyn Provider) -> Vec<String> {
    let upgrade_identity = UpgradeIdentityRequest {
        type_name: "acme_vm".into(),
        version: 1,
        identity: RawState::Json(private("{}")),
    };
    let import = ImportRequest {
        type_name: "acme_vm".into(),
        id: "i-1".into(),
        client: client(),
        identity: Some(msgpack(b"\xa1i")),
    };
    let generate = GenerateConfigRequest { type_name: "acme_vm".into(), state: msgpack(b"\x01") };
    let open =
        OpenRequest { type_name: "acme_token".into(), config: msgpack(b"\x80"), client: client() };
    let validate_list = ValidateListRequest {
        type_name: "acme_vm".into(),
        config: msgpack(b"\x80"),
        include_object: msgpack(b"\xd4\x00\x00"),
        limit: Payload::Absent,
        client: ClientCapabilities::default(),
    };
    let shout =
        // Both encodings: a provider may be given either.
        CallRequest { name: "shout".into(), arguments: vec![msgpack(b"\xa1a"), json("\"b\"")] };
    let mut answers = vec![
        debug_text(provider.metadata().await),
        debug_text(provider.schema().await),
        debug_text(provider.identity_schemas().await),
        debug_text(provider.functions().await),
        debug_text(provider.validate_provider_config(validate()).await),
        debug_text(provider.configure(configure()).await),
        debug_text(provider.stop().await),
        debug_text(
            provider
                .validate_resource_config(ValidateRequest {
                    client: client(),
                    ..validate_named("acme_vm")
                })
                .await,
        ),
        debug_text(provider.upgrade_state(upgrade(private("{}"))).await),
        debug_text(provider.upgrade_identity(upgrade_identity).await),
        debug_text(provider.read(read()).await),
        debug_text(provider.plan(plan()).await),
        debug_text(provider.apply(apply()).await),
        debug_text(provider.import(import).await),
        debug_text(provider.move_state(move_request()).await),
        debug_text(provider.generate_config(generate).await),
        debug_text(provider.validate_data_config(validate_named("acme_image")).await),
        debug_text(provider.read_data(read_data()).await),
        debug_text(provider.validate_ephemeral_config(validate_named("acme_token")).await),
        debug_text(provider.open_ephemeral(open).await),
        debug_text(provider.renew_ephemeral(keep()).await),
        debug_text(provider.close_ephemeral(keep()).await),
        debug_text(provider.validate_list_config(validate_list).await),
        debug_text(all(provider.list(list()).await).await),
        debug_text(provider.call_function(shout).await),
        debug_text(provider.validate_action_config(validate_named("acme_boot")).await),
        debug_text(provider.plan_action(action()).await),
        debug_text(all(provider.invoke_action(action()).await).await),
    ];
    // Last, because the test of protocol 5 cuts the lists here.
    answers.extend(stores(provider).await);
    answers
}

async fn stores(provider: &dyn Provider) -> [String; 8] {
    let store = ConfigureStoreRequest {
        type_name: "acme_store".into(),
        config: msgpack(b"\x80"),
        chunk_size: 8 << 20,
    };
    [
        debug_text(provider.validate_store_config(validate_named("acme_store")).await),
        debug_text(provider.configure_store(store).await),
        debug_text(all(provider.read_state_bytes(state()).await).await),
        debug_text(provider.write_state_bytes(state(), chunks(&[])).await),
        debug_text(provider.lock_state(state(), "apply".into()).await),
        debug_text(provider.unlock_state(state(), "lock-1".into()).await),
        debug_text(provider.list_states("acme_store".into()).await),
        debug_text(provider.delete_state(state()).await),
    ]
}

impl ProviderHandlers for Example {
    async fn metadata(&self) -> Result<Metadata, Failure> {
        self.record("metadata", &());
        let state_stores = if self.only_what_protocol_5_has { vec![] } else { names("store") };
        Ok(Metadata {
            capabilities: server(),
            resources: names("resource"),
            data_sources: names("data"),
            ephemeral_resources: names("ephemeral"),
            list_resources: names("list"),
            state_stores,
            actions: names("action"),
            functions: names("function"),
            diagnostics: diagnostics("metadata"),
        })
    }

    async fn schema(&self) -> Result<ProviderSchema, Failure> {
        self.record("schema", &());
        let schema = rich_schema(self.only_what_protocol_5_has);
        let state_stores = match self.only_what_protocol_5_has {
            true => BTreeMap::new(),
            false => schemas("store", &schema),
        };
        Ok(ProviderSchema {
            provider: schema.clone(),
            provider_meta: Some(schema.clone()),
            resources: schemas("resource", &schema),
            data_sources: schemas("data", &schema),
            ephemeral_resources: schemas("ephemeral", &schema),
            list_resources: schemas("list", &schema),
            state_stores,
            actions: schemas("action", &schema),
            functions: functions(),
            capabilities: server(),
            // An error would win over everything else.
            diagnostics: diagnostics("schema").into_iter().take(1).collect(),
        })
    }

    async fn identity_schemas(&self) -> Result<IdentitySchemas, Failure> {
        self.record("identity_schemas", &());
        let attribute = IdentityAttribute {
            ty: Type::String,
            required_for_import: true,
            optional_for_import: false,
            description: "The id.".into(),
        };
        let attributes = BTreeMap::from([("id".to_owned(), attribute)]);
        let schema = IdentitySchema { version: 2, attributes };
        Ok(IdentitySchemas {
            schemas: BTreeMap::from([("acme_vm".to_owned(), schema)]),
            diagnostics: diagnostics("identities"),
        })
    }

    async fn functions(&self) -> Result<Functions, Failure> {
        self.record("functions", &());
        Ok(Functions { functions: functions(), diagnostics: diagnostics("functions") })
    }

    async fn validate_provider_config(
        &self,
        request: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.record("validate_provider_config", &request);
        Ok(verdict("the provider"))
    }

    async fn configure(&self, request: ConfigureRequest) -> Result<DiagnosticsResponse, Failure> {
        self.record("configure", &request);
        Ok(verdict("configure"))
    }

    async fn stop(&self) -> Result<String, Failure> {
        self.record("stop", &());
        Ok("not yet".into())
    }

    async fn validate_resource_config(
        &self,
        request: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.record("validate_resource_config", &request);
        Ok(verdict("the resource"))
    }

    async fn upgrade_state(&self, request: UpgradeRequest) -> Result<UpgradeResponse, Failure> {
        self.record("upgrade_state", &request);
        let state = match request.state {
            RawState::Json(json) => Payload::Json(json),
            RawState::Flat(_) => Payload::Absent,
        };
        Ok(UpgradeResponse { state, diagnostics: diagnostics("upgrade") })
    }

    async fn upgrade_identity(
        &self,
        request: UpgradeIdentityRequest,
    ) -> Result<UpgradeIdentityResponse, Failure> {
        self.record("upgrade_identity", &request);
        let diagnostics = diagnostics("upgrade identity");
        Ok(UpgradeIdentityResponse { identity: msgpack(b"\xa1i"), diagnostics })
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, Failure> {
        self.record("read", &request);
        Ok(ReadResponse {
            state: request.current,
            private: private("read"),
            deferred: Some(DeferredReason::ProviderConfigUnknown),
            identity: Some(msgpack(b"\xa1j")),
            diagnostics: diagnostics("read"),
        })
    }

    async fn plan(&self, request: PlanRequest) -> Result<PlanResponse, Failure> {
        self.record("plan", &request);
        Ok(plan_response())
    }

    async fn apply(&self, request: ApplyRequest) -> Result<ApplyResponse, Failure> {
        self.record("apply", &request);
        Ok(ApplyResponse {
            state: json("{\"a\":1}"),
            private: private("applied"),
            legacy_type_system: true,
            identity: Some(msgpack(b"\xa1k")),
            diagnostics: diagnostics("apply"),
        })
    }

    async fn import(&self, request: ImportRequest) -> Result<ImportResponse, Failure> {
        self.record("import", &request);
        let resource = ImportedResource {
            type_name: "acme_vm".into(),
            state: msgpack(b"\x80"),
            private: private("imported"),
            identity: None,
        };
        let other_resource =
            ImportedResource { identity: Some(msgpack(b"\xa1l")), ..resource.clone() };
        Ok(ImportResponse {
            resources: vec![resource, other_resource],
            deferred: Some(DeferredReason::Unknown),
            diagnostics: diagnostics("import"),
        })
    }

    async fn move_state(&self, request: MoveRequest) -> Result<MoveResponse, Failure> {
        self.record("move_state", &request);
        Ok(MoveResponse {
            state: msgpack(b"\x80"),
            private: private("moved"),
            identity: Some(msgpack(b"\xa1m")),
            diagnostics: diagnostics("move"),
        })
    }

    async fn generate_config(
        &self,
        request: GenerateConfigRequest,
    ) -> Result<GenerateConfigResponse, Failure> {
        self.record("generate_config", &request);
        Ok(GenerateConfigResponse { config: request.state, diagnostics: diagnostics("generate") })
    }

    async fn validate_data_config(
        &self,
        request: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.record("validate_data_config", &request);
        Ok(verdict("the data source"))
    }

    async fn read_data(&self, request: ReadDataRequest) -> Result<ReadDataResponse, Failure> {
        self.record("read_data", &request);
        Ok(ReadDataResponse {
            state: request.config,
            deferred: Some(DeferredReason::ResourceConfigUnknown),
            diagnostics: diagnostics("data"),
        })
    }

    async fn validate_ephemeral_config(
        &self,
        request: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.record("validate_ephemeral_config", &request);
        Ok(verdict("the ephemeral resource"))
    }

    async fn open_ephemeral(&self, request: OpenRequest) -> Result<OpenResponse, Failure> {
        self.record("open_ephemeral", &request);
        Ok(OpenResponse {
            result: msgpack(b"\x80"),
            private: private("open"),
            renew_at: Some(after_the_epoch(1_700_000_000)),
            deferred: Some(DeferredReason::AbsentPrerequisite),
            diagnostics: diagnostics("open"),
        })
    }

    async fn renew_ephemeral(
        &self,
        request: RenewOrCloseRequest,
    ) -> Result<RenewResponse, Failure> {
        self.record("renew_ephemeral", &request);
        Ok(RenewResponse {
            private: private("renewed"),
            renew_at: Some(after_the_epoch(1_800_000_000)),
            diagnostics: diagnostics("renew"),
        })
    }

    async fn close_ephemeral(
        &self,
        request: RenewOrCloseRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.record("close_ephemeral", &request);
        Ok(verdict("close"))
    }

    async fn validate_list_config(
        &self,
        request: ValidateListRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.record("validate_list_config", &request);
        Ok(verdict("the list"))
    }

    async fn list(
        &self,
        request: ListRequest,
    ) -> Result<BoxStream<'static, Result<ListEvent, Failure>>, Failure> {
        self.record("list", &request);
        let bare_event = ListEvent { identity: None, object: None, ..list_event() };
        Ok(stream::iter([Ok(list_event()), Ok(bare_event)]).boxed())
    }

    async fn call_function(&self, request: CallRequest) -> Result<CallResponse, Failure> {
        self.record("call_function", &request);
        let error = FunctionError { text: "too loud".into(), argument: Some(1) };
        Ok(CallResponse { result: Err(error) })
    }

    async fn validate_action_config(
        &self,
        request: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.record("validate_action_config", &request);
        Ok(verdict("the action"))
    }

    async fn plan_action(&self, request: ActionRequest) -> Result<PlanActionResponse, Failure> {
        self.record("plan_action", &request);
        let deferred = Some(DeferredReason::AbsentPrerequisite);
        Ok(PlanActionResponse { deferred, diagnostics: diagnostics("plan action") })
    }

    async fn invoke_action(
        &self,
        request: ActionRequest,
    ) -> Result<BoxStream<'static, Result<ActionEvent, Failure>>, Failure> {
        self.record("invoke_action", &request);
        let progress = ActionEvent::Progress("half of it".into());
        let end = ActionEvent::Completed(diagnostics("invoke"));
        Ok(stream::iter([Ok(progress), Ok(end)]).boxed())
    }

    async fn validate_store_config(
        &self,
        request: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.record("validate_store_config", &request);
        Ok(verdict("the store"))
    }

    async fn configure_store(
        &self,
        request: ConfigureStoreRequest,
    ) -> Result<ConfigureStoreResponse, Failure> {
        self.record("configure_store", &request);
        let diagnostics = diagnostics("configure store");
        Ok(ConfigureStoreResponse { chunk_size: 1 << 20, diagnostics })
    }

    async fn read_state_bytes(
        &self,
        state: StateRef,
    ) -> Result<BoxStream<'static, Result<StateChunk, Failure>>, Failure> {
        self.record("read_state_bytes", &state);
        Ok(stream::iter(chunks(&diagnostics("chunk")).into_iter().map(Ok)).boxed())
    }

    async fn write_state_bytes(
        &self,
        state: StateRef,
        chunks: Vec<StateChunk>,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.record("write_state_bytes", &(state, chunks));
        Ok(verdict("write"))
    }

    async fn lock_state(
        &self,
        state: StateRef,
        operation: String,
    ) -> Result<LockResponse, Failure> {
        self.record("lock_state", &(state, operation));
        Ok(LockResponse { lock_id: "lock-1".into(), diagnostics: diagnostics("lock") })
    }

    async fn unlock_state(
        &self,
        state: StateRef,
        lock_id: String,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.record("unlock_state", &(state, lock_id));
        Ok(verdict("unlock"))
    }

    async fn list_states(&self, type_name: String) -> Result<StatesResponse, Failure> {
        self.record("states", &type_name);
        let state_ids = vec!["default".into(), "other".into()];
        Ok(StatesResponse { state_ids, diagnostics: diagnostics("states") })
    }

    async fn delete_state(&self, state: StateRef) -> Result<DiagnosticsResponse, Failure> {
        self.record("delete_state", &state);
        Ok(verdict("delete"))
    }
}
