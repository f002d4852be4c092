//! Stands in front of the provider: writes down the calls, and adds what the SDK does not have:
//! identities, private data and provider meta.

use std::collections::BTreeMap;

use async_trait::async_trait;
use bytes::Bytes;
use formwork_plugin_protocol::message::configure::{ConfigureRequest, ValidateRequest, Verdict};
use formwork_plugin_protocol::message::data::{ReadDataRequest, ReadDataResponse};
use formwork_plugin_protocol::message::ephemeral::{
    KeepRequest, OpenRequest, OpenResponse, RenewResponse,
};
use formwork_plugin_protocol::message::function::{CallRequest, CallResponse, Functions};
use formwork_plugin_protocol::message::resource::{
    ApplyRequest, ApplyResponse, ImportRequest, ImportResponse, PlanRequest, PlanResponse,
    RawState, ReadRequest, ReadResponse, UpgradeIdentityRequest, UpgradeIdentityResponse,
    UpgradeRequest, UpgradeResponse,
};
use formwork_plugin_protocol::message::schema::{
    IdentityAttribute, IdentitySchema, IdentitySchemas, Metadata, ProviderSchema,
};
use formwork_plugin_protocol::{Failure, Payload, Provider};
use formwork_value::schema::{Attribute, Role, Schema};
use formwork_value::{Path, Type, Value};

use crate::log::Log;

/// A provider with a log in front of it.
pub(crate) struct Front<P> {
    pub(crate) inner: P,
    pub(crate) log: Log,
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

impl<P: Provider> Front<P> {
    async fn types(&self) -> ProviderSchema {
        self.inner.schema().await.expect("the provider has a schema")
    }

    /// The type of the objects of a resource type.
    async fn ty(&self, name: &str) -> Type {
        let schema = self.types().await;
        schema.resources.get(name).map_or(Type::Dynamic, |schema| schema.block.implied_type())
    }

    /// The identity of an object, if it has one.
    async fn identity(&self, name: &str, object: &Payload) -> Option<Payload> {
        if name != IDENTIFIED {
            return None;
        }
        let object = object.decode(&self.ty(name).await).ok()?;
        let id = Path::root().attribute("id").find(object.value())?.clone();
        // Nothing here is marked.
        let identity = Value::object([("id", id)]).split_marks().0;
        Some(Payload::Value(identity, identity_type()))
    }
}

/// Adds a word to the private bytes of an object.
fn with_word(private: &Bytes, word: &str) -> Bytes {
    match private.is_empty() {
        true => word.to_owned().into(),
        false => format!("{} {word}", String::from_utf8_lossy(private)).into(),
    }
}

#[async_trait]
impl<P: Provider> Provider for Front<P> {
    async fn schema(&self) -> Result<ProviderSchema, Failure> {
        Ok(ProviderSchema { provider_meta: Some(meta_schema()), ..self.inner.schema().await? })
    }

    async fn metadata(&self) -> Result<Metadata, Failure> {
        self.inner.metadata().await
    }

    async fn identity_schemas(&self) -> Result<IdentitySchemas, Failure> {
        let id = IdentityAttribute {
            ty: Type::String,
            required_for_import: true,
            optional_for_import: false,
            description: "The same as long as the object lives.".to_owned(),
        };
        let schema = IdentitySchema { version: 0, attributes: [("id".to_owned(), id)].into() };
        let schemas = BTreeMap::from([(IDENTIFIED.to_owned(), schema)]);
        Ok(IdentitySchemas { schemas, diagnostics: Vec::new() })
    }

    async fn upgrade_identity(
        &self,
        request: UpgradeIdentityRequest,
    ) -> Result<UpgradeIdentityResponse, Failure> {
        let identity = match request.identity {
            RawState::Json(json) => Payload::Json(json),
            RawState::Flat(_) => Payload::Absent,
        };
        Ok(UpgradeIdentityResponse { identity, diagnostics: Vec::new() })
    }

    async fn validate_provider_config(&self, request: ValidateRequest) -> Result<Verdict, Failure> {
        self.inner.validate_provider_config(request).await
    }

    async fn configure(&self, request: ConfigureRequest) -> Result<Verdict, Failure> {
        let ty = self.types().await.provider.block.implied_type();
        self.log.line("configure", "").value("config", &request.config, &ty).write();
        self.inner.configure(request).await
    }

    async fn validate_resource_config(&self, request: ValidateRequest) -> Result<Verdict, Failure> {
        self.inner.validate_resource_config(request).await
    }

    async fn validate_data_config(&self, request: ValidateRequest) -> Result<Verdict, Failure> {
        self.inner.validate_data_config(request).await
    }

    async fn upgrade_state(&self, request: UpgradeRequest) -> Result<UpgradeResponse, Failure> {
        self.inner.upgrade_state(request).await
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, Failure> {
        let ty = self.ty(&request.type_name).await;
        let line =
            self.log.line("read", &request.type_name).value("current", &request.current, &ty);
        let line = line.value("meta", &request.provider_meta, &meta_schema().block.implied_type());
        line.bytes("private", &request.private).write();
        let name = request.type_name.clone();
        let answer = self.inner.read(request).await?;
        Ok(ReadResponse { identity: self.identity(&name, &answer.state).await, ..answer })
    }

    async fn plan(&self, request: PlanRequest) -> Result<PlanResponse, Failure> {
        let ty = self.ty(&request.type_name).await;
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
        let answer = self.inner.plan(request).await?;
        let planned_identity = self.identity(&name, &answer.planned).await;
        let planned_private = with_word(&answer.planned_private, "planned");
        Ok(PlanResponse { planned_identity, planned_private, ..answer })
    }

    async fn apply(&self, request: ApplyRequest) -> Result<ApplyResponse, Failure> {
        let ty = self.ty(&request.type_name).await;
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
        let answer = self.inner.apply(request).await?;
        let identity = self.identity(&name, &answer.state).await;
        Ok(ApplyResponse { identity, private: Bytes::from_static(b"applied"), ..answer })
    }

    async fn import(&self, request: ImportRequest) -> Result<ImportResponse, Failure> {
        self.log.line("import", &request.type_name).bytes("id", request.id.as_bytes()).write();
        let mut answer = self.inner.import(request).await?;
        for found in &mut answer.resources {
            found.private = Bytes::from_static(b"imported");
            found.identity = self.identity(&found.type_name, &found.state).await;
        }
        Ok(answer)
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

    async fn stop(&self) -> Result<String, Failure> {
        self.log.line("stop", "").write();
        self.inner.stop().await
    }

    async fn functions(&self) -> Result<Functions, Failure> {
        self.inner.functions().await
    }

    async fn call_function(&self, request: CallRequest) -> Result<CallResponse, Failure> {
        self.inner.call_function(request).await
    }

    async fn validate_ephemeral_config(
        &self,
        request: ValidateRequest,
    ) -> Result<Verdict, Failure> {
        self.inner.validate_ephemeral_config(request).await
    }

    async fn open_ephemeral(&self, request: OpenRequest) -> Result<OpenResponse, Failure> {
        let schema = self.types().await;
        let ty = schema.ephemeral_resources.get(&request.type_name);
        let ty = ty.map_or(Type::Dynamic, |schema| schema.block.implied_type());
        self.log.line("open", &request.type_name).value("config", &request.config, &ty).write();
        self.inner.open_ephemeral(request).await
    }

    async fn renew_ephemeral(&self, request: KeepRequest) -> Result<RenewResponse, Failure> {
        self.log.line("renew", &request.type_name).bytes("private", &request.private).write();
        self.inner.renew_ephemeral(request).await
    }

    async fn close_ephemeral(&self, request: KeepRequest) -> Result<Verdict, Failure> {
        self.log.line("close", &request.type_name).bytes("private", &request.private).write();
        self.inner.close_ephemeral(request).await
    }
}
