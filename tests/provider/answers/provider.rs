//! The answers to all calls.

use bytes::Bytes;
use formwork_conformance::generate::Dice;
use formwork_plugin_protocol::capability::ServerCapabilities;
use formwork_plugin_protocol::contract::Call;
use formwork_plugin_protocol::message::configure::{
    ConfigureRequest, DiagnosticsResponse, ValidateRequest,
};
use formwork_plugin_protocol::message::read_data::{ReadDataRequest, ReadDataResponse};
use formwork_plugin_protocol::message::resource::{
    ApplyRequest, ApplyResponse, ImportRequest, ImportResponse, PlanRequest, PlanResponse,
    RawState, ReadRequest, ReadResponse, UpgradeRequest, UpgradeResponse,
};
use formwork_plugin_protocol::message::schema::ProviderSchema;
use formwork_plugin_protocol::{Failure, Payload, ProviderHandlers};
use formwork_tests::answers::{
    Judged, NAME, TYPES, answer, filled, planned, replace_paths, schema, type_name,
};
use formwork_value::schema::Block;
use formwork_value::{Path, Plain, Type, Value};

use crate::judge::VerdictLog;

/// The provider.
pub(crate) struct Answers {
    /// The call whose answers are invalid.
    pub(crate) judged: Option<Judged>,
    pub(crate) log: VerdictLog,
}

/// A type with its schema.
struct TestType {
    block: Block,
    ty: Type,
}

impl TestType {
    fn of(type_name: &str) -> Self {
        let block = schema(type_name).block;
        let ty = block.implied_type();
        Self { block, ty }
    }

    fn decode(&self, payload: &Payload) -> Plain {
        payload.decode(&self.ty).expect("hosts send what fits")
    }

    fn payload(&self, value: Value) -> Payload {
        Payload::Value(Plain::try_from(value).expect("nothing here has marks"), self.ty.clone())
    }

    fn null(&self) -> Value {
        Value::null(self.ty.clone())
    }

    /// An object without its write-only attributes, as an answer has it.
    fn without_secrets(&self, value: &Value) -> Value {
        let Value::Object(object) = value else { return value.clone() };
        let pairs = object.iter().map(|(name, part)| {
            let attribute = self.block.attributes.get(name);
            let is_secret = attribute.is_some_and(|attribute| attribute.write_only);
            (name.clone(), if is_secret { Value::null(part.ty()) } else { part.clone() })
        });
        Value::object(pairs.collect::<Vec<_>>())
    }
}

/// The case that one of the objects belongs to.
fn case_of(objects: &[&Plain]) -> String {
    let named =
        objects.iter().find_map(|object| match Path::root().attribute(NAME).find(object.value()) {
            Some(Value::String(text)) => Some(text.to_string()),
            _ => None,
        });
    named.expect("every case has its number")
}

fn dice(case: &str, of: &str) -> Dice {
    Dice::new(case.parse().unwrap_or_default(), of)
}

impl ProviderHandlers for Answers {
    async fn schema(&self) -> Result<ProviderSchema, Failure> {
        let types = || (0..TYPES).map(type_name).map(|name| (name.clone(), schema(&name)));
        // Only resources have write-only attributes.
        let data = types().map(|(name, mut schema)| {
            schema.block.attributes.retain(|_, attribute| !attribute.write_only);
            (name, schema)
        });
        Ok(ProviderSchema {
            resources: types().collect(),
            data_sources: data.collect(),
            capabilities: ServerCapabilities {
                plan_destroy: true,
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
        let RawState::Json(text) = request.state else {
            return Err(Failure::Misbehaved("a flat state".to_owned()));
        };
        Ok(UpgradeResponse { state: Payload::Json(text), diagnostics: Vec::new() })
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, Failure> {
        let kind = TestType::of(&request.type_name);
        let current = kind.decode(&request.current);
        let case = case_of(&[&current]);
        let mut state = kind.payload(current.value().clone());
        if self.judged == Some(Judged::Read) {
            state = kind.payload(answer(current.value(), &kind.ty, &mut dice(&case, "read")));
            self.log.judge_answer(&case, Call::Read, &state, &kind.block);
        }
        Ok(ReadResponse {
            state,
            private: request.private,
            deferred: None,
            identity: None,
            diagnostics: Vec::new(),
        })
    }

    async fn plan(&self, request: PlanRequest) -> Result<PlanResponse, Failure> {
        let kind = TestType::of(&request.type_name);
        let [prior, proposed, config] =
            [&request.prior, &request.proposed, &request.config].map(|it| kind.decode(it));
        let case = case_of(&[&config, &prior]);
        let dice = &mut dice(&case, "plan");
        let mut answered = PlanResponse {
            planned: kind.payload(kind.null()),
            requires_replace: Vec::new(),
            planned_private: request.prior_private,
            legacy_type_system: false,
            deferred: None,
            planned_identity: None,
            diagnostics: Vec::new(),
        };
        if config.value().is_null() {
            if self.judged == Some(Judged::Destroy) {
                let wrong_value = answer(prior.value(), &kind.ty, dice);
                let value = if dice.number_below(2) == 0 { kind.null() } else { wrong_value };
                answered.planned = kind.payload(value);
                self.log.judge_answer(&case, Call::PlanDestroy, &answered.planned, &kind.block);
            }
            return Ok(answered);
        }
        let sound = planned(&kind.block, prior.value(), proposed.value(), config.value(), dice);
        let sound = kind.without_secrets(&sound);
        if !matches!(self.judged, Some(Judged::Create | Judged::Update)) {
            answered.planned = kind.payload(sound);
            return Ok(answered);
        }
        answered.planned = kind.payload(answer(&sound, &kind.ty, dice));
        answered.legacy_type_system = dice.number_below(10) == 0;
        let is_replacement = self.judged == Some(Judged::Update) && prior.value().is_null();
        let call = if is_replacement {
            Call::PlanReplacement
        } else {
            answered.requires_replace = replace_paths(&kind.block, dice);
            let (requires_replace, legacy) =
                (&answered.requires_replace, answered.legacy_type_system);
            Call::Plan { prior: &prior, config: &config, requires_replace, legacy }
        };
        self.log.judge_answer(&case, call, &answered.planned, &kind.block);
        Ok(answered)
    }

    async fn apply(&self, request: ApplyRequest) -> Result<ApplyResponse, Failure> {
        let kind = TestType::of(&request.type_name);
        let (prior, planned) = (kind.decode(&request.prior), kind.decode(&request.planned));
        let case = case_of(&[&planned, &prior]);
        let dice = &mut dice(&case, "apply");
        let sound = filled(planned.value(), dice);
        let (mut state, mut legacy) = (kind.payload(sound.clone()), false);
        if self.judged.is_some_and(Judged::applies) {
            let value = match planned.value().is_null() {
                true if dice.number_below(2) == 0 => kind.null(),
                true => answer(prior.value(), &kind.ty, dice),
                false => answer(&sound, &kind.ty, dice),
            };
            state = kind.payload(value);
            legacy = dice.number_below(10) == 0;
            let call = Call::Apply { planned: &planned, legacy };
            self.log.judge_answer(&case, call, &state, &kind.block);
        }
        Ok(ApplyResponse {
            state,
            private: Bytes::new(),
            legacy_type_system: legacy,
            identity: None,
            diagnostics: Vec::new(),
        })
    }

    async fn import(&self, _: ImportRequest) -> Result<ImportResponse, Failure> {
        Err(Failure::Unimplemented("ImportResourceState"))
    }

    async fn read_data(&self, request: ReadDataRequest) -> Result<ReadDataResponse, Failure> {
        let mut kind = TestType::of(&request.type_name);
        kind.block.attributes.retain(|_, attribute| !attribute.write_only);
        kind.ty = kind.block.implied_type();
        let config = kind.decode(&request.config);
        let case = case_of(&[&config]);
        let dice = &mut dice(&case, "data");
        let null = kind.null();
        let sound = planned(&kind.block, &null, config.value(), config.value(), dice);
        let state = kind.payload(answer(&filled(&sound, dice), &kind.ty, dice));
        self.log.judge_answer(&case, Call::ReadData, &state, &kind.block);
        Ok(ReadDataResponse { state, deferred: None, diagnostics: Vec::new() })
    }

    async fn stop(&self) -> Result<String, Failure> {
        Ok(String::new())
    }
}
