//! A resource type that answers as the legacy SDK does: null blocks where there are none, unknown blocks
//! where the provider decides, and values that differ from the configuration and from the plan.
//!
//! A `note` with the text `refused` is not valid. The attribute `breaks` lists the rules that an object
//! breaks, as words with spaces between them:
//!
//! - `plan`: the planned `note` is in upper case, regardless of the configuration
//! - `apply`: the applied `size` is one more than planned
//! - `unset`: the provider decides about `made` and the attribute `rule`, as an `Optional` and `Computed`
//!   block or attribute does
//! - `grow`: applying returns two blocks `made`
//! - `null`: planning a new object, applying and reading return null for every absent block
//! - `float`: numbers are floats after an upgrade and an apply, and the provider decides about `rule`
//!   where the size changed by the least bit
//! - `bytes`: the text `raw!` in an applied object has an invalid byte
//! - `unknown`, `gone`, `list`: applying returns an unknown value, null, or a block of an unknown list

use bytes::Bytes;
use formwork_plugin_protocol::message::configure::{
    ConfigureRequest, DiagnosticsResponse, ValidateRequest,
};
use formwork_plugin_protocol::message::read_data::{ReadDataRequest, ReadDataResponse};
use formwork_plugin_protocol::message::resource::{
    ApplyRequest, ApplyResponse, ImportRequest, ImportResponse, ImportedResource, PlanRequest,
    PlanResponse, RawState, ReadRequest, ReadResponse, UpgradeRequest, UpgradeResponse,
};
use formwork_plugin_protocol::message::schema::ProviderSchema;
use formwork_plugin_protocol::{Failure, Payload, ProviderHandlers};
use formwork_value::codec::msgpack;
use formwork_value::schema::{Attribute, Block, NestedBlock, Nesting, Role, Schema};
use formwork_value::{Number, Path, Type, Value};

use crate::fake_service::requested_failure;

/// The resource type.
pub(crate) const KIND: &str = "test_legacy";

/// The types of blocks, nested ones included.
const BLOCKS: [&str; 4] = ["made", "part", "group", "inner"];

/// A provider with one resource type of the legacy type system.
pub(crate) struct Legacy;

fn attributes<const N: usize>(list: [(&str, Type, Role); N]) -> Block {
    let mut block = Block::default();
    for (name, ty, role) in list {
        block.attributes.insert(name.into(), Attribute::new(ty, role));
    }
    block
}

fn nest(block: &mut Block, name: &str, nesting: Nesting, inner: Block) {
    let nested = NestedBlock { nesting, block: inner, min_items: 0, max_items: 0, computed: false };
    block.blocks.insert(name.into(), nested);
}

/// A type that may be written as blocks.
fn rules() -> Type {
    let port = Type::object([("from", Type::Number), ("to", Type::Number)]);
    Type::list(Type::object([("name", Type::String), ("port", Type::set(port))]))
}

/// The schema of the resource type.
pub(crate) fn schema() -> Schema {
    use Role::{Computed, Optional, OptionalComputed, Required};
    let leaf = || attributes([("a", Type::String, Optional), ("c", Type::String, Computed)]);
    let mut block = attributes([
        ("id", Type::String, Computed),
        ("name", Type::String, Required),
        ("breaks", Type::String, Optional),
        ("note", Type::String, Optional),
        ("size", Type::Number, Optional),
        ("rule", rules(), OptionalComputed),
    ]);
    let mut received = Attribute::new(Type::String, Optional);
    received.write_only = true;
    block.attributes.insert("received".into(), received);
    nest(&mut block, "made", Nesting::List, leaf());
    let mut part = leaf();
    nest(&mut part, "inner", Nesting::Set, leaf());
    nest(&mut block, "part", Nesting::List, part);
    nest(&mut block, "group", Nesting::Set, leaf());
    Schema { version: 0, block }
}

/// An object of the resource type.
struct Object(Value);

impl Object {
    fn decode(payload: &Payload) -> Self {
        let ty = schema().block.implied_type();
        Self(payload.decode(&ty).expect("hosts send what fits").into_value())
    }

    fn get(&self, name: &str) -> Value {
        let value = Path::root().attribute(name).find(&self.0).cloned();
        value.unwrap_or_else(|| Value::null(Type::Dynamic))
    }

    fn set(&mut self, name: &str, value: Value) {
        let path = Path::root().attribute(name);
        if let Some(changed) = self.0.replace_at(&path, |_| value.clone()) {
            self.0 = changed;
        }
    }

    fn breaks_rule(&self, rule: &str) -> bool {
        matches!(self.get("breaks"), Value::String(rules) if rules.split(' ').any(|it| it == rule))
    }

    /// Sets each type of block of which there is none to null.
    fn null_blocks(&mut self) {
        self.0 = without_empty(&self.0);
    }

    /// Turns the size into a float.
    fn float_size(&mut self) {
        if let Value::Number(size) = self.get("size")
            && let Some(float) = Number::from_f64(size.to_f64())
        {
            self.set("size", Value::Number(float));
        }
    }

    /// Encodes the object with an invalid byte in the text `raw!`.
    fn invalid_bytes(self) -> Payload {
        let ty = schema().block.implied_type();
        let mut bytes = msgpack::encode(&self.0, &ty).expect("it has its type");
        if let Some(position) = bytes.windows(4).position(|part| part == b"raw!") {
            bytes[position] = 0xff;
        }
        Payload::Msgpack(bytes.into())
    }

    fn payload(self) -> Payload {
        Payload::Value(self.0.split_marks().0, schema().block.implied_type())
    }
}

/// Replaces unknown and computed values with the provider's values.
fn computed_value(value: &Value) -> Value {
    match value {
        Value::Unknown(unknown) => match unknown.ty() {
            Type::String => Value::string("made"),
            ty => Value::null(ty.clone()),
        },
        _ => value.with_children(value.children().iter().map(computed_value).collect()),
    }
}

/// An object with null instead of each empty collection of blocks.
fn without_empty(value: &Value) -> Value {
    let Value::Object(object) = value else {
        return value.with_children(value.children().iter().map(without_empty).collect());
    };
    let items = object.iter().map(|(name, part)| match part {
        Value::List(_) | Value::Set(_)
            if BLOCKS.contains(&name.as_str()) && part.children().is_empty() =>
        {
            Value::null(part.ty())
        }
        _ => without_empty(part),
    });
    value.with_children(items.collect())
}

/// An object of which the provider sets `c` in each block.
fn with_computed(value: &Value) -> Value {
    let Value::Object(object) = value else {
        return value.with_children(value.children().iter().map(with_computed).collect());
    };
    let items = object.iter().map(|(name, part)| match (name.as_str(), part) {
        ("c", Value::Null(_)) => Value::unknown(Type::String),
        _ => with_computed(part),
    });
    value.with_children(items.collect())
}

fn plan(prior: &Object, proposed: Object, config: &Object) -> Object {
    if proposed.0.is_null() {
        return proposed;
    }
    let mut planned = Object(with_computed(&proposed.0));
    if prior.0.is_null() {
        planned.set("id", Value::unknown(Type::String));
    }
    if planned.breaks_rule("unset")
        && (prior.0.is_null() || prior.get("note") != planned.get("note"))
    {
        for name in ["made", "rule"] {
            if config.get(name).children().is_empty() {
                planned.set(name, Value::unknown(planned.get(name).ty()));
            }
        }
    }
    let same_size = match (prior.get("size"), planned.get("size")) {
        (Value::Number(before), Value::Number(after)) => before.compare(&after).is_eq(),
        (before, after) => before == after,
    };
    if planned.breaks_rule("float") && !same_size {
        planned.set("rule", Value::unknown(rules()));
    }
    planned.set("received", Value::null(Type::String));
    if prior.0.is_null() && planned.breaks_rule("null") {
        planned.null_blocks();
    }
    if let (true, Value::String(note)) = (planned.breaks_rule("plan"), planned.get("note")) {
        planned.set("note", Value::string(note.to_uppercase()));
    }
    planned
}

fn apply(planned: Object) -> Object {
    if planned.0.is_null() {
        return planned;
    }
    let grows = planned.breaks_rule("grow") && planned.get("made").is_unknown();
    let unknown = planned.get("made");
    let mut applied = Object(computed_value(&planned.0));
    if grows && let Some(ty) = unknown.ty().element() {
        let block =
            |text: &str| Value::object([("a", Value::string(text)), ("c", Value::string("made"))]);
        applied.set("made", Value::list(ty.clone(), vec![block("first"), block("second")]));
    }
    if applied.breaks_rule("float") {
        applied.float_size();
    }
    if applied.breaks_rule("apply") {
        let size = match applied.get("size") {
            Value::Number(size) => size.to_i64().unwrap_or_default(),
            _ => 0,
        };
        applied.set("size", Value::int(size + 1));
    }
    if applied.breaks_rule("null") {
        applied.null_blocks();
    }
    if applied.breaks_rule("unknown") {
        applied.set("note", Value::unknown(Type::String));
    }
    if applied.breaks_rule("list") {
        applied.set("made", unknown);
    }
    if applied.breaks_rule("gone") {
        applied.0 = Value::null(schema().block.implied_type());
    }
    applied
}

impl ProviderHandlers for Legacy {
    async fn schema(&self) -> Result<ProviderSchema, Failure> {
        let resources = [(KIND.to_owned(), schema())].into();
        Ok(ProviderSchema { resources, ..ProviderSchema::default() })
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
        let is_refused = Object::decode(&request.config).get("note") == Value::string("refused");
        let diagnostics =
            is_refused.then(|| requested_failure("validate a note")).into_iter().collect();
        Ok(DiagnosticsResponse { diagnostics })
    }

    async fn validate_data_config(
        &self,
        _: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        Ok(DiagnosticsResponse::default())
    }

    async fn upgrade_state(&self, request: UpgradeRequest) -> Result<UpgradeResponse, Failure> {
        let state = match request.state {
            RawState::Json(json) => Payload::Json(json),
            RawState::Flat(_) => Payload::Absent,
        };
        let mut object = Object::decode(&state);
        if object.breaks_rule("float") {
            object.float_size();
        }
        let state = object.payload();
        Ok(UpgradeResponse { state, diagnostics: Vec::new() })
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, Failure> {
        let mut object = Object::decode(&request.current);
        if object.breaks_rule("null") {
            object.null_blocks();
        }
        Ok(ReadResponse {
            state: object.payload(),
            private: request.private,
            deferred: None,
            identity: None,
            diagnostics: Vec::new(),
        })
    }

    async fn plan(&self, request: PlanRequest) -> Result<PlanResponse, Failure> {
        let prior = Object::decode(&request.prior);
        let config = Object::decode(&request.config);
        let planned = plan(&prior, Object::decode(&request.proposed), &config);
        let is_new = prior.0.is_null() || planned.0.is_null();
        let renamed = !is_new && prior.get("name") != planned.get("name");
        Ok(PlanResponse {
            planned: planned.payload(),
            requires_replace: renamed.then(|| Path::root().attribute("name")).into_iter().collect(),
            planned_private: request.prior_private,
            legacy_type_system: true,
            deferred: None,
            planned_identity: None,
            diagnostics: Vec::new(),
        })
    }

    async fn apply(&self, request: ApplyRequest) -> Result<ApplyResponse, Failure> {
        let applied = apply(Object::decode(&request.planned));
        let state = match applied.breaks_rule("bytes") {
            true => applied.invalid_bytes(),
            false => applied.payload(),
        };
        Ok(ApplyResponse {
            state,
            private: request.planned_private,
            legacy_type_system: true,
            identity: None,
            diagnostics: Vec::new(),
        })
    }

    async fn import(&self, request: ImportRequest) -> Result<ImportResponse, Failure> {
        let ty = schema().block.implied_type();
        let Type::Object(shape) = &ty else { return Err(Failure::Unimplemented("import")) };
        let parts = shape.attributes.iter().map(|(name, ty)| match name.as_str() {
            "id" | "name" => (name.clone(), Value::string(&request.id)),
            "breaks" => (name.clone(), Value::string("null")),
            "received" if request.id == "leaks" => (name.clone(), Value::string("leaked")),
            _ => (name.clone(), Value::null(ty.clone())),
        });
        let imported = ImportedResource {
            type_name: request.type_name,
            state: Object(Value::object(parts.collect::<Vec<_>>())).payload(),
            private: Bytes::new(),
            identity: None,
        };
        Ok(ImportResponse { resources: vec![imported], deferred: None, diagnostics: Vec::new() })
    }

    async fn read_data(&self, _: ReadDataRequest) -> Result<ReadDataResponse, Failure> {
        Err(Failure::Unimplemented("ReadDataSource"))
    }

    async fn stop(&self) -> Result<String, Failure> {
        Ok(String::new())
    }
}
