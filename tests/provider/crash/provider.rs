//! The provider: performs each call after a delay, and returns the result.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

use bytes::Bytes;
use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_plugin_protocol::message::configure::{
    ConfigureRequest, DiagnosticsResponse, ValidateRequest,
};
use formwork_plugin_protocol::message::list::{ListEvent, ListRequest};
use formwork_plugin_protocol::message::read_data::{ReadDataRequest, ReadDataResponse};
use formwork_plugin_protocol::message::resource::{
    ApplyRequest, ApplyResponse, ImportRequest, ImportResponse, ImportedResource, PlanRequest,
    PlanResponse, RawState, ReadRequest, ReadResponse, UpgradeIdentityRequest,
    UpgradeIdentityResponse, UpgradeRequest, UpgradeResponse,
};
use formwork_plugin_protocol::message::schema::{IdentitySchemas, ProviderSchema};
use formwork_plugin_protocol::{Failure, Payload, ProviderHandlers};
use formwork_value::diag::Severity;
use formwork_value::{Path, Type, Value};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;

use crate::fake_service::FakeService;
use crate::thing::{
    FORCING, NAMED, NUMBERED, Thing, id_in, identity_schemas, is_listed, provider_schema,
};

/// The provider.
pub(crate) struct SlowProvider {
    service: FakeService,
}

impl SlowProvider {
    pub(crate) fn new(service: FakeService) -> Self {
        Self { service }
    }

    /// Waits for a random time up to the requested delay.
    async fn wait_random(&self) {
        let max = u64::try_from(self.service.delay.as_micros()).unwrap_or(u64::MAX);
        tokio::time::sleep(Duration::from_micros(chance() % (max + 1))).await;
    }

    /// Makes an object. A name is unique. An object without its own name gets a new id each time,
    /// so that a duplicate is visible.
    fn create_object(&self, type_name: &str, planned: &Thing) -> Option<Thing> {
        let name = planned.text("name");
        loop {
            let id = match type_name {
                NAMED => name.to_owned(),
                _ => format!("{name}-{:08x}", chance() & 0xffff_ffff),
            };
            let object = planned.with_id(Value::string(id.as_str()));
            if self.service.create(&id, &object.to_json()) {
                return Some(object);
            }
            if type_name == NAMED {
                return None;
            }
        }
    }
}

/// A random number.
fn chance() -> u64 {
    RandomState::new().build_hasher().finish()
}

fn error(summary: &str) -> Vec<ProviderDiagnostic> {
    let (summary, detail) = (summary.to_owned(), String::new());
    vec![ProviderDiagnostic {
        severity: Severity::Error,
        summary,
        detail,
        path: Path::root(),
        code: None,
    }]
}

impl ProviderHandlers for SlowProvider {
    async fn schema(&self) -> Result<ProviderSchema, Failure> {
        Ok(provider_schema())
    }

    async fn identity_schemas(&self) -> Result<IdentitySchemas, Failure> {
        Ok(identity_schemas())
    }

    async fn upgrade_identity(
        &self,
        request: UpgradeIdentityRequest,
    ) -> Result<UpgradeIdentityResponse, Failure> {
        let RawState::Json(text) = request.identity else {
            return Err(Failure::Misbehaved("a flat identity".to_owned()));
        };
        Ok(UpgradeIdentityResponse { identity: Payload::Json(text), diagnostics: Vec::new() })
    }

    async fn validate_provider_config(
        &self,
        _: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        Ok(DiagnosticsResponse::default())
    }

    async fn configure(&self, _: ConfigureRequest) -> Result<DiagnosticsResponse, Failure> {
        Ok(DiagnosticsResponse::default())
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
        let RawState::Json(text) = &request.state else {
            return Err(Failure::Misbehaved("a flat state".to_owned()));
        };
        let state = Thing::from_json(text).payload();
        Ok(UpgradeResponse { state, diagnostics: Vec::new() })
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, Failure> {
        let current = Thing::decode(&request.current);
        let stored = self.service.read(current.text("id"));
        let stored = stored.map_or_else(Thing::null, |text| Thing::from_json(text.as_bytes()));
        Ok(ReadResponse {
            state: stored.payload(),
            private: request.private,
            deferred: None,
            identity: stored.identity(&request.type_name),
            diagnostics: Vec::new(),
        })
    }

    async fn plan(&self, request: PlanRequest) -> Result<PlanResponse, Failure> {
        let prior = Thing::decode(&request.prior);
        let mut planned = Thing::decode(&request.proposed);
        let mut requires_replace: Vec<Path> = Vec::new();
        if prior.is_null() {
            planned = planned.with_id(Value::unknown(Type::String));
        } else if !planned.is_null() {
            let changed = FORCING.into_iter().filter(|name| prior.get(name) != planned.get(name));
            requires_replace.extend(changed.map(|name| Path::root().attribute(name)));
        }
        Ok(PlanResponse {
            planned: planned.payload(),
            requires_replace,
            planned_private: request.prior_private,
            legacy_type_system: false,
            deferred: None,
            planned_identity: planned.identity(&request.type_name),
            diagnostics: Vec::new(),
        })
    }

    async fn apply(&self, request: ApplyRequest) -> Result<ApplyResponse, Failure> {
        let prior = Thing::decode(&request.prior);
        let planned = Thing::decode(&request.planned);
        self.wait_random().await;
        let mut diagnostics = Vec::new();
        let applied = if planned.is_null() {
            self.service.remove(prior.text("id"));
            Thing::null()
        } else if prior.is_null() {
            self.create_object(&request.type_name, &planned).unwrap_or_else(|| {
                diagnostics = error("An object of this name exists already");
                Thing::null()
            })
        } else {
            self.service.change(prior.text("id"), &planned.to_json());
            planned
        };
        self.wait_random().await;
        Ok(ApplyResponse {
            state: applied.payload(),
            private: request.planned_private,
            legacy_type_system: false,
            identity: applied.identity(&request.type_name),
            diagnostics,
        })
    }

    async fn import(&self, request: ImportRequest) -> Result<ImportResponse, Failure> {
        let identity = request.identity.as_ref();
        let stored = match identity.and_then(|identity| id_in(&request.type_name, identity)) {
            // Only the identity is known. A read shows whether the object exists.
            Some(id) => Thing::known_by(&request.type_name, &id),
            None => match self.service.read(&request.id) {
                Some(text) => Thing::from_json(text.as_bytes()),
                None => {
                    let diagnostics = error("There is no such object");
                    return Ok(ImportResponse { resources: vec![], deferred: None, diagnostics });
                }
            },
        };
        let resource = ImportedResource {
            identity: stored.identity(&request.type_name),
            type_name: request.type_name,
            state: stored.payload(),
            private: Bytes::new(),
        };
        Ok(ImportResponse { resources: vec![resource], deferred: None, diagnostics: Vec::new() })
    }

    async fn list(
        &self,
        request: ListRequest,
    ) -> Result<BoxStream<'static, Result<ListEvent, Failure>>, Failure> {
        if !(is_listed() && request.type_name == NUMBERED) {
            return Err(Failure::Unimplemented("ListResource"));
        }
        let things =
            self.service.all_objects().into_iter().map(|text| Thing::from_json(text.as_bytes()));
        // An object whose id is its name is of the other type.
        let numbered = things.filter(|thing| thing.text("id") != thing.text("name"));
        let event = |thing: Thing| ListEvent {
            identity: thing.identity(NUMBERED),
            display_name: thing.text("name").to_owned(),
            object: Some(thing.payload()),
            diagnostics: Vec::new(),
        };
        let events: Vec<_> = numbered.map(event).map(Ok).collect();
        Ok(futures_util::stream::iter(events).boxed())
    }

    async fn read_data(&self, _: ReadDataRequest) -> Result<ReadDataResponse, Failure> {
        Err(Failure::Unimplemented("ReadDataSource"))
    }

    async fn stop(&self) -> Result<String, Failure> {
        Ok(String::new())
    }
}
