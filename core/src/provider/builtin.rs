//! The provider that is part of the engine: `terraform_data`, `terraform_remote_state` and three
//! functions. It runs in this process, and its values are not encoded.

mod functions;
pub mod remote_state;
mod terraform_data;

use std::sync::Arc;

use bytes::Bytes;
use formwork_plugin_protocol::capability::ServerCapabilities;
use formwork_plugin_protocol::message::configure::{
    ConfigureRequest, DiagnosticsResponse, ValidateRequest,
};
use formwork_plugin_protocol::message::function::{CallRequest, CallResponse, Functions};
use formwork_plugin_protocol::message::read_data::{ReadDataRequest, ReadDataResponse};
use formwork_plugin_protocol::message::resource::{
    ApplyRequest, ApplyResponse, ImportRequest, ImportResponse, ImportedResource, MoveRequest,
    MoveResponse, PlanRequest, PlanResponse, RawState, ReadRequest, ReadResponse, UpgradeRequest,
    UpgradeResponse,
};
use formwork_plugin_protocol::message::schema::ProviderSchema;
use formwork_plugin_protocol::{Failure, Payload, ProviderHandlers};
use formwork_value::codec::json;
use formwork_value::schema::{Attribute, Block, Role};
use formwork_value::{Path, Plain, Schema, Type, Value};

use self::remote_state::RemoteStates;
use super::provider_diagnostics::own_provider_error;
use crate::messages;

/// The built-in provider.
pub struct BuiltinProvider {
    states: Option<Arc<dyn RemoteStates>>,
    data: Schema,
    data_type: Type,
    remote_state: Schema,
    remote_state_type: Type,
}

impl Default for BuiltinProvider {
    fn default() -> Self {
        let (data, remote_state) = (terraform_data::schema(), remote_state::schema());
        Self {
            states: None,
            data_type: data.block.implied_type(),
            remote_state_type: remote_state.block.implied_type(),
            data,
            remote_state,
        }
    }
}

fn schema_from_attributes(attributes: &[(&str, Type, Role)]) -> Schema {
    let attributes = attributes
        .iter()
        .map(|(name, ty, role)| ((*name).into(), Attribute::new(ty.clone(), *role)))
        .collect();
    Schema { version: 0, block: Block { attributes, ..Block::default() } }
}

fn unknown_type_failure(name: &str) -> Failure {
    Failure::Misbehaved(format!("the built-in provider has no type {name:?}"))
}

fn decode_error_to_failure(error: &formwork_value::codec::DecodeError) -> Failure {
    Failure::Misbehaved(error.to_string())
}

/// Wraps a value as a decoded payload.
fn encode_payload(value: Value, ty: &Type) -> Payload {
    // Values of the built-in provider have no marks, because its input has none.
    Payload::Value(value.split_marks().0, ty.clone())
}

impl BuiltinProvider {
    /// Creates the provider with the backends from which `terraform_remote_state` reads.
    #[must_use]
    pub fn with_remote_states(states: Arc<dyn RemoteStates>) -> Self {
        Self { states: Some(states), ..Self::default() }
    }

    fn managed_object_type(&self, type_name: &str) -> Result<&Type, Failure> {
        if type_name == "terraform_data" {
            Ok(&self.data_type)
        } else {
            Err(unknown_type_failure(type_name))
        }
    }

    fn decode_payload(&self, payload: &Payload) -> Result<Value, Failure> {
        let decoded = payload.decode(&self.data_type).map(Plain::into_value);
        decoded.map_err(|error| decode_error_to_failure(&error))
    }
}

impl ProviderHandlers for BuiltinProvider {
    async fn schema(&self) -> Result<ProviderSchema, Failure> {
        Ok(ProviderSchema {
            resources: [("terraform_data".to_owned(), self.data.clone())].into(),
            data_sources: [("terraform_remote_state".to_owned(), self.remote_state.clone())].into(),
            functions: functions::function_signatures(),
            // The move capability, so that a `null_resource` can be moved to a `terraform_data`, as in
            // Terraform.
            capabilities: ServerCapabilities {
                get_provider_schema_optional: true,
                move_resource_state: true,
                ..ServerCapabilities::default()
            },
            ..ProviderSchema::default()
        })
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
        request: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        let config = request.config.decode(self.managed_object_type(&request.type_name)?);
        Ok(terraform_data::validate_terraform_data(
            config.map_err(|error| decode_error_to_failure(&error))?.value(),
        ))
    }

    async fn validate_data_config(
        &self,
        request: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        if request.type_name != "terraform_remote_state" {
            return Err(unknown_type_failure(&request.type_name));
        }
        let config = request.config.decode(&self.remote_state_type);
        let config = config.map_err(|error| decode_error_to_failure(&error))?;
        Ok(remote_state::validate_remote_state(self.states.as_ref(), config.value()))
    }

    async fn upgrade_state(&self, request: UpgradeRequest) -> Result<UpgradeResponse, Failure> {
        let ty = self.managed_object_type(&request.type_name)?;
        let RawState::Json(text) = request.state else {
            return Err(Failure::Misbehaved(
                "terraform_data was never stored as a flat map".into(),
            ));
        };
        let (state, diagnostics) = match json::decode(&text, ty) {
            Ok(value) => (encode_payload(value, ty), Vec::new()),
            Err(error) => {
                let detail = format!("The stored object cannot be read: {error}.");
                let summary = messages::INVALID_STORED_OBJECT;
                let diagnostic = own_provider_error(summary, detail, Path::root());
                (encode_payload(Value::null(ty.clone()), ty), vec![diagnostic])
            }
        };
        Ok(UpgradeResponse { state, diagnostics })
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, Failure> {
        self.managed_object_type(&request.type_name)?;
        // The object exists only in the state, so the stored one is current.
        Ok(ReadResponse {
            state: request.current,
            private: request.private,
            deferred: None,
            identity: None,
            diagnostics: Vec::new(),
        })
    }

    async fn plan(&self, request: PlanRequest) -> Result<PlanResponse, Failure> {
        let ty = self.managed_object_type(&request.type_name)?;
        let (prior, proposed) =
            (self.decode_payload(&request.prior)?, self.decode_payload(&request.proposed)?);
        let (planned, requires_replace) = terraform_data::plan_terraform_data(&prior, &proposed);
        Ok(PlanResponse {
            planned: encode_payload(planned, ty),
            requires_replace,
            planned_private: request.prior_private,
            legacy_type_system: false,
            deferred: None,
            planned_identity: None,
            diagnostics: Vec::new(),
        })
    }

    async fn apply(&self, request: ApplyRequest) -> Result<ApplyResponse, Failure> {
        let ty = self.managed_object_type(&request.type_name)?;
        let state = terraform_data::apply_terraform_data(&self.decode_payload(&request.planned)?);
        Ok(ApplyResponse {
            state: encode_payload(state, ty),
            private: Bytes::new(),
            legacy_type_system: false,
            identity: None,
            diagnostics: Vec::new(),
        })
    }

    async fn move_state(&self, request: MoveRequest) -> Result<MoveResponse, Failure> {
        let ty = self.managed_object_type(&request.target_type)?;
        let (value, diagnostics) = match terraform_data::move_from_null_resource(&request) {
            Ok(value) => (value, Vec::new()),
            Err(diagnostic) => (Value::null(ty.clone()), vec![diagnostic]),
        };
        let state = encode_payload(value, ty);
        Ok(MoveResponse { state, private: Bytes::new(), identity: None, diagnostics })
    }

    async fn import(&self, request: ImportRequest) -> Result<ImportResponse, Failure> {
        let ty = self.managed_object_type(&request.type_name)?;
        let resource = ImportedResource {
            type_name: request.type_name,
            state: encode_payload(terraform_data::terraform_data_by_id(&request.id), ty),
            private: Bytes::new(),
            identity: None,
        };
        Ok(ImportResponse { resources: vec![resource], deferred: None, diagnostics: Vec::new() })
    }

    async fn read_data(&self, request: ReadDataRequest) -> Result<ReadDataResponse, Failure> {
        if request.type_name != "terraform_remote_state" {
            return Err(unknown_type_failure(&request.type_name));
        }
        let config = request.config.decode(&self.remote_state_type);
        let config = config.map_err(|error| decode_error_to_failure(&error))?;
        let (value, diagnostics) =
            remote_state::read_remote_state(self.states.as_ref(), config.value(), &request.address)
                .await;
        let state = encode_payload(value, &self.remote_state_type);
        Ok(ReadDataResponse { state, deferred: None, diagnostics })
    }

    async fn functions(&self) -> Result<Functions, Failure> {
        Ok(Functions { functions: functions::function_signatures(), diagnostics: Vec::new() })
    }

    async fn call_function(&self, request: CallRequest) -> Result<CallResponse, Failure> {
        Ok(CallResponse { result: functions::call_builtin_function(&request)? })
    }

    async fn stop(&self) -> Result<String, Failure> {
        Ok(String::new())
    }
}
