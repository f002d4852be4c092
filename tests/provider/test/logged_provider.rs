//! A layer around the provider: records calls, performs them in the fake service or lets them fail,
//! and adds private data, provider meta and identities, whose values the host must keep.

use bytes::Bytes;
use formwork_plugin_protocol::message::configure::{ConfigureRequest, DiagnosticsResponse};
use formwork_plugin_protocol::message::ephemeral::{
    OpenRequest, OpenResponse, RenewOrCloseRequest, RenewResponse,
};
use formwork_plugin_protocol::message::read_data::{ReadDataRequest, ReadDataResponse};
use formwork_plugin_protocol::message::resource::{
    ApplyRequest, ApplyResponse, ImportRequest, ImportResponse, MoveRequest, MoveResponse,
    PlanRequest, PlanResponse, RawState, ReadRequest, ReadResponse, UpgradeIdentityRequest,
    UpgradeIdentityResponse,
};
use formwork_plugin_protocol::message::schema::{
    IdentityAttribute, IdentitySchema, IdentitySchemas, ProviderSchema,
};
use formwork_plugin_protocol::{Failure, Payload, Provider, ProviderExt as _, Request, Response};
use formwork_value::diag::Severity;
use formwork_value::schema::{Attribute, Role, Schema};
use formwork_value::{Path, Type, Value};
use futures_util::future::{BoxFuture, ready};
use futures_util::{FutureExt as _, TryFutureExt as _};

use crate::fake_service::{FakeService, Moment, requested_failure};
use crate::legacy::{self, Legacy};
use crate::log::Log;

/// A provider with a call log and a fake service.
pub(crate) struct LoggedProvider<P> {
    pub(crate) inner: P,
    pub(crate) log: Log,
    pub(crate) service: FakeService,
}

/// A change of an object.
struct ObjectChange {
    verb: &'static str,
    /// The name of the object.
    name: String,
    /// Its id, unless it is being created.
    id: String,
}

impl ObjectChange {
    fn of(prior: &Payload, planned: &Payload, ty: &Type) -> Self {
        let exists = |object: &Payload| object.decode(ty).is_ok_and(|it| !it.value().is_null());
        let (verb, object) = match (exists(prior), exists(planned)) {
            (false, _) => ("create", planned),
            (true, false) => ("delete", prior),
            (true, true) => ("update", planned),
        };
        Self { verb, name: text(object, ty, "name"), id: text(prior, ty, "id") }
    }

    /// The name of the call in the log and in faults: `create NAME`, `update ID`, `delete ID`.
    fn call(&self) -> String {
        let subject = if self.verb == "create" { &self.name } else { &self.id };
        format!("{} {subject}", self.verb)
    }
}

/// A string attribute of an object; empty if it has none.
fn text(object: &Payload, ty: &Type, attribute: &str) -> String {
    let object = object.decode(ty).ok();
    let value = object.as_ref().and_then(|it| Path::root().attribute(attribute).find(it.value()));
    match value {
        Some(Value::String(text)) => text.to_string(),
        _ => String::new(),
    }
}

/// The resource type whose objects have an identity: their `id`.
const IDENTIFIED: &str = "test_thing";

fn identity_type() -> Type {
    Type::object([("id", Type::String)])
}

fn meta_schema() -> Schema {
    let mut schema = Schema::default();
    let text = Attribute::new(Type::String, Role::Optional);
    schema.block.attributes.insert("module".into(), text);
    schema
}

impl<P: Provider> LoggedProvider<P> {
    /// The provider of a resource type.
    fn provider_of_type(&self, kind: &str) -> &dyn Provider {
        if kind == legacy::KIND { &Legacy } else { &self.inner }
    }

    /// Performs a change in the fake service.
    fn apply_to_service(
        &self,
        change: &ObjectChange,
        mut answer: ApplyResponse,
        ty: &Type,
    ) -> ApplyResponse {
        if answer.diagnostics.iter().any(|it| it.severity == Severity::Error) {
            return answer;
        }
        match change.verb {
            "create" => answer.state = self.service.create(&change.name, answer.state, ty),
            "delete" => self.service.remove(&change.id),
            _ => self.service.write_object(&change.id),
        }
        answer
    }

    async fn types(&self) -> ProviderSchema {
        self.schema().await.expect("the provider has a schema")
    }

    /// The type of the objects of a resource type.
    async fn implied_type(&self, name: &str) -> Type {
        let schema = self.types().await;
        schema.resources.get(name).map_or(Type::Dynamic, |schema| schema.block.implied_type())
    }

    /// The identity of an object: that of a thing, or the provider's answer for any other.
    async fn identity(
        &self,
        name: &str,
        object: &Payload,
        reported: Option<Payload>,
    ) -> Option<Payload> {
        if name != IDENTIFIED {
            return reported;
        }
        let object = object.decode(&self.implied_type(name).await).ok()?;
        let id = Path::root().attribute("id").find(object.value())?.clone();
        // The value has no marks.
        let identity = Value::object([("id", id)]).split_marks().0;
        Some(Payload::Value(identity, identity_type()))
    }
}

/// Appends a word to the private bytes of an object.
fn with_word(private: &Bytes, word: &str) -> Bytes {
    match private.is_empty() {
        true => word.to_owned().into(),
        false => format!("{} {word}", String::from_utf8_lossy(private)).into(),
    }
}

impl<P: Provider> Provider for LoggedProvider<P> {
    fn call(&self, request: Request) -> BoxFuture<'_, Result<Response, Failure>> {
        use Request as Q;
        use Response as A;
        match request {
            Q::GetProviderSchema => self.schema().map_ok(A::GetProviderSchema).boxed(),
            Q::GetResourceIdentitySchemas => {
                self.identity_schemas().map_ok(A::GetResourceIdentitySchemas).boxed()
            }
            Q::UpgradeResourceIdentity(request) if request.type_name == IDENTIFIED => {
                ready(Ok(A::UpgradeResourceIdentity(upgraded_identity(request)))).boxed()
            }
            Q::ConfigureProvider(it) => self.configure(it).map_ok(A::ConfigureProvider).boxed(),
            Q::ReadResource(it) => self.read(it).map_ok(A::ReadResource).boxed(),
            Q::PlanResourceChange(it) => self.plan(it).map_ok(A::PlanResourceChange).boxed(),
            Q::ApplyResourceChange(it) => self.apply(it).map_ok(A::ApplyResourceChange).boxed(),
            Q::ImportResourceState(it) => self.import(it).map_ok(A::ImportResourceState).boxed(),
            Q::MoveResourceState(it) => self.move_state(it).map_ok(A::MoveResourceState).boxed(),
            Q::ReadDataSource(it) => self.read_data(it).map_ok(A::ReadDataSource).boxed(),
            Q::OpenEphemeralResource(it) => {
                self.open_ephemeral(it).map_ok(A::OpenEphemeralResource).boxed()
            }
            Q::RenewEphemeralResource(it) => {
                self.renew_ephemeral(it).map_ok(A::RenewEphemeralResource).boxed()
            }
            Q::CloseEphemeralResource(it) => {
                self.close_ephemeral(it).map_ok(A::CloseEphemeralResource).boxed()
            }
            Q::StopProvider => {
                self.log.line("stop", "").write();
                self.inner.call(Q::StopProvider)
            }
            request => self.provider_of_type(request.type_or_function_name()).call(request),
        }
    }
}

impl<P: Provider> LoggedProvider<P> {
    async fn schema(&self) -> Result<ProviderSchema, Failure> {
        let mut schema = self.inner.schema().await?;
        schema.resources.insert(legacy::KIND.to_owned(), legacy::schema());
        Ok(ProviderSchema { provider_meta: Some(meta_schema()), ..schema })
    }

    async fn identity_schemas(&self) -> Result<IdentitySchemas, Failure> {
        let id = IdentityAttribute {
            ty: Type::String,
            required_for_import: true,
            optional_for_import: false,
            description: "The same as long as the object lives.".to_owned(),
        };
        let schema = IdentitySchema { version: 0, attributes: [("id".to_owned(), id)].into() };
        let mut all = self.inner.identity_schemas().await?;
        all.schemas.insert(IDENTIFIED.to_owned(), schema);
        Ok(all)
    }

    async fn configure(&self, request: ConfigureRequest) -> Result<DiagnosticsResponse, Failure> {
        let ty = self.types().await.provider.block.implied_type();
        self.log.line("configure", "").value("config", &request.config, &ty).write();
        self.inner.configure(request).await
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, Failure> {
        let ty = self.implied_type(&request.type_name).await;
        let line =
            self.log.line("read", &request.type_name).value("current", &request.current, &ty);
        let line = line.value("meta", &request.provider_meta, &meta_schema().block.implied_type());
        line.bytes("private", &request.private).write();
        let name = request.type_name.clone();
        let id = text(&request.current, &ty, "id");
        if self.service.fault(&format!("read {id}")).is_some() {
            let (state, private) = (request.current, request.private);
            let diagnostics = vec![requested_failure(&format!("read {id}"))];
            return Ok(ReadResponse {
                state,
                private,
                deferred: None,
                identity: None,
                diagnostics,
            });
        }
        let mut answer = self.provider_of_type(&name).read(request).await?;
        answer.state = self.service.read(&id, answer.state, &ty);
        let identity = self.identity(&name, &answer.state, answer.identity.take()).await;
        Ok(ReadResponse { identity, ..answer })
    }

    async fn plan(&self, request: PlanRequest) -> Result<PlanResponse, Failure> {
        let ty = self.implied_type(&request.type_name).await;
        let meta = meta_schema().block.implied_type();
        self.log
            .line("plan", &request.type_name)
            .value("prior", &request.prior, &ty)
            .value("proposed", &request.proposed, &ty)
            .value("config", &request.config, &ty)
            .value("meta", &request.provider_meta, &meta)
            .bytes("private", &request.prior_private)
            .write();
        let name = request.type_name.clone();
        let mut answer = self.provider_of_type(&name).plan(request).await?;
        let reported = answer.planned_identity.take();
        let planned_identity = self.identity(&name, &answer.planned, reported).await;
        let planned_private = with_word(&answer.planned_private, "planned");
        Ok(PlanResponse { planned_identity, planned_private, ..answer })
    }

    async fn apply(&self, request: ApplyRequest) -> Result<ApplyResponse, Failure> {
        let ty = self.implied_type(&request.type_name).await;
        let meta = meta_schema().block.implied_type();
        self.log
            .line("apply", &request.type_name)
            .value("prior", &request.prior, &ty)
            .value("planned", &request.planned, &ty)
            .value("config", &request.config, &ty)
            .value("meta", &request.provider_meta, &meta)
            .bytes("private", &request.planned_private)
            .write();
        let name = request.type_name.clone();
        let change = ObjectChange::of(&request.prior, &request.planned, &ty);
        let call = change.call();
        let fault = self.service.fault(&call);
        self.log.line("begin", &name).bytes("of", call.as_bytes()).write();
        self.service.wait_for_change().await;
        let mut answer = match fault {
            Some(Moment::Before) => ApplyResponse {
                state: request.prior,
                private: request.planned_private,
                legacy_type_system: false,
                identity: None,
                diagnostics: Vec::new(),
            },
            _ => self.apply_to_service(
                &change,
                self.provider_of_type(&name).apply(request).await?,
                &ty,
            ),
        };
        if fault.is_some() {
            answer.diagnostics.push(requested_failure(&call));
        }
        self.log.line("end", &name).bytes("of", call.as_bytes()).write();
        let identity = self.identity(&name, &answer.state, answer.identity.take()).await;
        Ok(ApplyResponse { identity, private: Bytes::from_static(b"applied"), ..answer })
    }

    async fn import(&self, request: ImportRequest) -> Result<ImportResponse, Failure> {
        let mut request = request;
        if request.type_name == IDENTIFIED
            && let Some(identity) = request.identity.take()
        {
            let identity = identity.decode(&identity_type()).ok();
            let id = identity.as_ref().and_then(|it| Path::root().attribute("id").find(it.value()));
            if let Some(Value::String(id)) = id {
                request.id = id.to_string();
            }
        }
        self.log.line("import", &request.type_name).bytes("id", request.id.as_bytes()).write();
        let mut answer = self.provider_of_type(&request.type_name).import(request).await?;
        for imported in &mut answer.resources {
            imported.private = Bytes::from_static(b"imported");
            let reported = imported.identity.take();
            imported.identity = self.identity(&imported.type_name, &imported.state, reported).await;
        }
        Ok(answer)
    }

    async fn move_state(&self, request: MoveRequest) -> Result<MoveResponse, Failure> {
        let move_text = format!("{} to {}", request.source_type, request.target_type);
        self.log.line("move", &request.target_type).bytes("of", move_text.as_bytes()).write();
        self.inner.move_state(request).await
    }

    async fn read_data(&self, request: ReadDataRequest) -> Result<ReadDataResponse, Failure> {
        let schema = self.types().await;
        let ty = schema.data_sources.get(&request.type_name);
        let ty = ty.map_or(Type::Dynamic, |schema| schema.block.implied_type());
        self.log
            .line("read_data", &request.type_name)
            .value("config", &request.config, &ty)
            .value("meta", &request.provider_meta, &meta_schema().block.implied_type())
            .write();
        self.inner.read_data(request).await
    }

    async fn open_ephemeral(&self, request: OpenRequest) -> Result<OpenResponse, Failure> {
        let schema = self.types().await;
        let ty = schema.ephemeral_resources.get(&request.type_name);
        let ty = ty.map_or(Type::Dynamic, |schema| schema.block.implied_type());
        self.log.line("open", &request.type_name).value("config", &request.config, &ty).write();
        self.inner.open_ephemeral(request).await
    }

    async fn renew_ephemeral(
        &self,
        request: RenewOrCloseRequest,
    ) -> Result<RenewResponse, Failure> {
        self.log.line("renew", &request.type_name).bytes("private", &request.private).write();
        self.inner.renew_ephemeral(request).await
    }

    async fn close_ephemeral(
        &self,
        request: RenewOrCloseRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.log.line("close", &request.type_name).bytes("private", &request.private).write();
        self.inner.close_ephemeral(request).await
    }
}

fn upgraded_identity(request: UpgradeIdentityRequest) -> UpgradeIdentityResponse {
    let identity = match request.identity {
        RawState::Json(json) => Payload::Json(json),
        RawState::Flat(_) => Payload::Absent,
    };
    UpgradeIdentityResponse { identity, diagnostics: Vec::new() }
}
