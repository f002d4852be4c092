//! Values as JSON and back, by their types, including unknown values, which the JSON of states
//! cannot express.

use std::collections::BTreeSet;
use std::time::SystemTime;

use bytes::Bytes;
use formwork_plugin_protocol::Payload;
use formwork_plugin_protocol::message::DeferredReason;
use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_plugin_protocol::message::schema::{IdentitySchemas, ProviderSchema};
use formwork_value::codec::{hex, type_json};
use formwork_value::diag::Severity;
use formwork_value::path::Step;
use formwork_value::schema::{Block, Schema};
use formwork_value::{Number, Path, Refinement, Type, Value};
use serde_json::{Map, Value as Json, json};

use super::secret;

// Keys of maps that begin with `$` are escaped, so that none is read as one of these.
const UNKNOWN_KEY: &str = "$unknown";
pub(super) const TYPE_KEY: &str = "$type";
const HEX_KEY: &str = "$hex";
/// A sensitive number or boolean.
pub(super) const SECRET_KEY: &str = "$secret";

/// Schemas that a provider offers.
pub(super) struct OfferedSchemas {
    pub(super) schema: ProviderSchema,
    pub(super) identities: IdentitySchemas,
}

/// Schema of a value.
#[derive(Clone, Copy)]
pub(super) enum PayloadSchema<'n> {
    Provider,
    Meta,
    Resource(&'n str),
    Data(&'n str),
    Ephemeral(&'n str),
    List(&'n str),
    Action(&'n str),
    Identity(&'n str),
    /// The argument of a function at an index.
    Argument(&'n str, usize),
    /// The result of a function.
    Result(&'n str),
}

impl OfferedSchemas {
    fn find_block(&self, kind: PayloadSchema<'_>) -> Option<&Block> {
        let schema: Option<&Schema> = match kind {
            PayloadSchema::Provider => Some(&self.schema.provider),
            PayloadSchema::Meta => self.schema.provider_meta.as_ref(),
            PayloadSchema::Resource(name) => self.schema.resources.get(name),
            PayloadSchema::Data(name) => self.schema.data_sources.get(name),
            PayloadSchema::Ephemeral(name) => self.schema.ephemeral_resources.get(name),
            PayloadSchema::List(name) => self.schema.list_resources.get(name),
            PayloadSchema::Action(name) => self.schema.actions.get(name),
            PayloadSchema::Identity(_) | PayloadSchema::Argument(..) | PayloadSchema::Result(_) => {
                None
            }
        };
        schema.map(|schema| &schema.block)
    }

    pub(super) fn value_type(&self, kind: PayloadSchema<'_>) -> Type {
        let function = |name: &str| self.schema.functions.get(name);
        let schema_type = match kind {
            PayloadSchema::Identity(name) => self.identities.schemas.get(name).map(|schema| {
                let attributes = schema.attributes.iter();
                Type::object(
                    attributes.map(|(name, attribute)| (name.as_str(), attribute.ty.clone())),
                )
            }),
            PayloadSchema::Argument(name, index) => function(name).and_then(|function| {
                // Arguments after the last parameter are those of the variadic one.
                let parameter = function.parameters.get(index).or(function.variadic.as_ref());
                parameter.map(|parameter| parameter.ty.clone())
            }),
            PayloadSchema::Result(name) => function(name).map(|function| function.returns.clone()),
            _ => self.find_block(kind).map(Block::implied_type),
        };
        // Without a schema, the record of a value contains its type.
        schema_type.unwrap_or(Type::Dynamic)
    }

    /// Decodes a value.
    pub(super) fn decode_payload(
        &self,
        kind: PayloadSchema<'_>,
        json: &Json,
    ) -> Result<Payload, String> {
        let ty = self.value_type(kind);
        if json.is_null() {
            // An answer always has an object, but a null one is omitted in the record.
            return Ok(match kind {
                PayloadSchema::Resource(_) => {
                    Payload::Value(Value::null(ty.clone()).split_marks().0, ty)
                }
                _ => Payload::Absent,
            });
        }
        Ok(Payload::Value(decode_value(json, &ty)?.split_marks().0, ty))
    }

    /// Decodes an optional value.
    pub(super) fn decode_optional_payload(
        &self,
        kind: PayloadSchema<'_>,
        json: &Json,
    ) -> Result<Option<Payload>, String> {
        if json.is_null() { Ok(None) } else { self.decode_payload(kind, json).map(Some) }
    }
}

/// One half of a line under construction.
pub(super) struct RecordedRequestOrAnswer<'o> {
    pub(super) offer: &'o OfferedSchemas,
    pub(super) fields: Map<String, Json>,
    pub(super) secrets: Vec<String>,
    /// Names of the members of its objects.
    pub(super) names: BTreeSet<String>,
    /// The time at which the call ended.
    pub(super) ended_at: SystemTime,
}

impl<'o> RecordedRequestOrAnswer<'o> {
    pub(super) fn new(offer: &'o OfferedSchemas, ended_at: SystemTime) -> Self {
        let names = DIAGNOSTIC_MEMBERS.map(str::to_owned).into();
        Self { offer, fields: Map::new(), secrets: Vec::new(), names, ended_at }
    }

    /// Adds a member, unless it is empty.
    pub(super) fn add_nonempty_member(&mut self, name: &str, json: Json) {
        if !json.is_null() {
            self.names.insert(name.to_owned());
            self.fields.insert(name.to_owned(), json);
        }
    }

    /// Collects the attribute names in a type.
    pub(super) fn collect_attribute_names(&mut self, ty: &Type) {
        match ty {
            Type::List(element) | Type::Set(element) | Type::Map(element) => {
                self.collect_attribute_names(element);
            }
            Type::Tuple(elements) => {
                elements.iter().for_each(|element| self.collect_attribute_names(element));
            }
            Type::Object(object) => {
                for (name, ty) in &object.attributes {
                    self.names.insert(name.as_str().to_owned());
                    self.collect_attribute_names(ty);
                }
            }
            Type::Dynamic | Type::Bool | Type::Number | Type::String => {}
        }
    }

    /// Encodes a value.
    pub(super) fn add_payload(&mut self, name: &str, kind: PayloadSchema<'_>, payload: &Payload) {
        let json = self.encode_payload(kind, payload);
        self.add_nonempty_member(name, json);
    }

    /// The value as JSON. Its sensitive parts are recorded as secrets.
    pub(super) fn encode_payload(&mut self, kind: PayloadSchema<'_>, payload: &Payload) -> Json {
        let ty = self.offer.value_type(kind);
        match payload.decode(&ty) {
            Ok(plain) if plain.value().is_null() => Json::Null,
            Ok(plain) => {
                // A name stays as it is, even if a secret has the same text.
                self.collect_attribute_names(&plain.value().ty());
                let mut json = encode_value(plain.value(), &ty);
                if let Some(block) = self.offer.find_block(kind) {
                    self.mark_sensitive_parts(block, plain.value(), &mut json);
                }
                json
            }
            // An invalid value is recorded unchanged: the engine reports it to the user.
            Err(error) => Json::from(format!("not of its type: {error}")),
        }
    }

    /// Records the sensitive parts of an object as secrets, and marks them in its JSON.
    pub(super) fn mark_sensitive_parts(&mut self, block: &Block, object: &Value, json: &mut Json) {
        for path in block.sensitive_paths(object) {
            path.find(object).into_iter().for_each(|part| self.add_secrets(part));
            mark_numbers_and_bools_at(json, &path.0);
        }
    }

    /// Records all strings in a value as secrets.
    pub(super) fn add_secrets(&mut self, value: &Value) {
        match value.without_own_marks() {
            Value::String(text) => self.secrets.push(text.as_str().to_owned()),
            // Other strings may contain it.
            Value::Number(number) => self.secrets.push(number.to_string()),
            other => other.children().iter().for_each(|child| self.add_secrets(child)),
        }
    }

    pub(super) fn add_diagnostics(&mut self, diagnostics: &[ProviderDiagnostic]) {
        let encoded: Vec<Json> = diagnostics
            .iter()
            .map(|diagnostic| {
                let severity = if diagnostic.severity == Severity::Error { "error" } else { "warning" };
                let path = encode_path(&diagnostic.path);
                json!({"severity": severity, "summary": diagnostic.summary, "detail": diagnostic.detail, "path": path})
            })
            .collect();
        // An empty list would appear in nearly every line.
        if !encoded.is_empty() {
            self.add_nonempty_member("diagnostics", Json::Array(encoded));
        }
    }

    pub(super) fn add_deferral_reason(&mut self, deferred: Option<DeferredReason>) {
        let reason_name = deferred.and_then(|reason| {
            DEFERRAL_REASONS.iter().find(|(reason_code, _)| *reason_code == reason)
        });
        self.add_nonempty_member(
            "deferred",
            reason_name.map_or(Json::Null, |(_, name)| Json::from(*name)),
        );
    }
}

/// The members of a diagnostic and of its path.
const DIAGNOSTIC_MEMBERS: [&str; 6] = ["severity", "summary", "detail", "path", "key", "index"];

const DEFERRAL_REASONS: [(DeferredReason, &str); 4] = [
    (DeferredReason::Unknown, "unknown"),
    (DeferredReason::ResourceConfigUnknown, "resource configuration unknown"),
    (DeferredReason::ProviderConfigUnknown, "provider configuration unknown"),
    (DeferredReason::AbsentPrerequisite, "absent prerequisite"),
];

pub(super) fn decode_deferral_reason(json: &Json) -> Option<DeferredReason> {
    DEFERRAL_REASONS.iter().find(|(_, name)| json == name).map(|(reason, _)| *reason)
}

pub(super) fn decode_diagnostics(json: &Json) -> Vec<ProviderDiagnostic> {
    let text = |json: &Json| json.as_str().unwrap_or_default().to_owned();
    let decode_one = |json: &Json| ProviderDiagnostic {
        severity: if json["severity"] == "error" { Severity::Error } else { Severity::Warning },
        summary: text(&json["summary"]),
        detail: text(&json["detail"]),
        path: decode_path(&json["path"]),
        code: None,
    };
    json.as_array().into_iter().flatten().map(decode_one).collect()
}

/// A path as an array: names of attributes, and `{"key": …}` and `{"index": …}` for elements.
pub(super) fn encode_path(path: &Path) -> Json {
    let step = |step: &Step| match step {
        Step::Attribute(name) => json!(name.as_str()),
        Step::Key(key) => json!({"key": key.as_str()}),
        Step::Index(index) => json!({"index": index.to_i64()}),
    };
    path.0.iter().map(step).collect()
}

pub(super) fn decode_path(json: &Json) -> Path {
    let step = |json: &Json| match (json.as_str(), json["key"].as_str(), json["index"].as_i64()) {
        (Some(name), ..) => Some(Step::Attribute(name.into())),
        (_, Some(key), _) => Some(Step::Key(key.into())),
        (.., Some(index)) => Some(Step::Index(Number::from(index))),
        _ => None,
    };
    Path(json.as_array().into_iter().flatten().filter_map(step).collect())
}

/// Bytes as a string if possible, otherwise as digits.
pub(super) fn encode_bytes_as_text_or_hex(bytes: &Bytes) -> Json {
    // Most private data is JSON, which stays readable in a record.
    match std::str::from_utf8(bytes) {
        // In the protocol, empty bytes and none are the same.
        Ok("") => Json::Null,
        Ok(text) => Json::from(text),
        Err(_) => {
            json!({HEX_KEY: hex::encode(bytes)})
        }
    }
}

pub(super) fn decode_bytes_from_text_or_hex(json: &Json) -> Bytes {
    match json[HEX_KEY].as_str() {
        Some(digits) => {
            let pairs = digits.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok());
            pairs.filter_map(|pair| u8::from_str_radix(pair?, 16).ok()).collect()
        }
        None => Bytes::from(json.as_str().unwrap_or_default().to_owned()),
    }
}

/// A value of a type as JSON.
pub(super) fn encode_value(value: &Value, ty: &Type) -> Json {
    if *ty == Type::Dynamic && !value.is_null() {
        let actual_type = value.ty();
        let type_json: Json =
            serde_json::from_str(&type_json::encode(&actual_type)).unwrap_or_default();
        return match actual_type {
            Type::Dynamic => json!({UNKNOWN_KEY: true}),
            actual_type => json!({TYPE_KEY: type_json, "value": encode_value(value, &actual_type)}),
        };
    }
    let inner = |part_index: usize| match ty {
        Type::Tuple(elements) => elements.get(part_index).cloned().unwrap_or(Type::Dynamic),
        other => other.element().cloned().unwrap_or(Type::Dynamic),
    };
    let items = |items: &[Value]| -> Json {
        items.iter().enumerate().map(|(index, item)| encode_value(item, &inner(index))).collect()
    };
    match value {
        Value::Null(_) => Json::Null,
        Value::Unknown(unknown) if unknown.refinement().not_null => {
            json!({UNKNOWN_KEY: "not null"})
        }
        Value::Unknown(_) => json!({UNKNOWN_KEY: true}),
        Value::Bool(truth) => json!(truth),
        // Digits that a double cannot hold are encoded as a string; the type resolves the
        // ambiguity.
        Value::Number(number) => match (number.to_i64(), number.to_f64_exact()) {
            (Some(number), _) => json!(number),
            (None, Some(number)) => json!(number),
            (None, None) => json!(number.to_string()),
        },
        Value::String(text) => json!(text.as_str()),
        Value::List(list) => items(list.items()),
        Value::Set(set) => items(set.items()),
        Value::Tuple(tuple) => items(tuple.items()),
        Value::Map(map) => {
            let members = map.iter().map(|(key, part_index)| {
                (escape_key(key.as_str()), encode_value(part_index, &inner(0)))
            });
            Json::Object(members.collect())
        }
        Value::Object(object) => {
            let ty = |name: &str| match ty {
                Type::Object(ty) => ty.attributes.get(name).cloned().unwrap_or(Type::Dynamic),
                _ => Type::Dynamic,
            };
            // A null member is omitted. The type restores it.
            let members = object.iter().filter(|(_, part_index)| !part_index.is_null());
            let encode_member = |(name, part_index): (&formwork_value::Str, &Value)| {
                (name.as_str().to_owned(), encode_value(part_index, &ty(name.as_str())))
            };
            Json::Object(members.map(encode_member).collect())
        }
        Value::Marked(_) => encode_value(value.without_own_marks(), ty),
    }
}

/// Marks the sensitive numbers and booleans at a path. Strings are recognised by their content.
fn mark_numbers_and_bools_at(json: &mut Json, path: &[Step]) {
    let Some((step, rest)) = path.split_first() else { return mark_numbers_and_bools_secret(json) };
    let inner = match step {
        Step::Attribute(name) => json.get_mut(name.as_str()),
        Step::Key(key) => json.get_mut(escape_key(key.as_str())),
        Step::Index(index) => index.to_usize().and_then(|index| json.get_mut(index)),
    };
    if let Some(inner) = inner {
        mark_numbers_and_bools_at(inner, rest);
    }
}

pub(super) fn mark_numbers_and_bools_secret(json: &mut Json) {
    match json {
        Json::Number(_) | Json::Bool(_) => *json = json!({SECRET_KEY: json.take()}),
        Json::Array(items) => items.iter_mut().for_each(mark_numbers_and_bools_secret),
        // `true` in the marker of an unknown value is not a secret.
        Json::Object(members) if members.contains_key(UNKNOWN_KEY) => {}
        Json::Object(members) => members.values_mut().for_each(mark_numbers_and_bools_secret),
        Json::Null | Json::String(_) => {}
    }
}

/// A key of a map that could be confused with one of our markers.
fn escape_key(key: &str) -> String {
    if key.starts_with('$') { format!("${key}") } else { key.to_owned() }
}

/// Decodes a value of a type.
pub(super) fn decode_value(json: &Json, ty: &Type) -> Result<Value, String> {
    let mismatch = || format!("{json} is no {}", ty.friendly_name());
    if let Some(unknown) = json.get(UNKNOWN_KEY) {
        let refinement = Refinement { not_null: unknown == "not null", ..Refinement::default() };
        return Ok(Value::refined(ty.clone(), refinement));
    }
    if let Some(secret) = json.get(SECRET_KEY) {
        return match (ty, secret.as_str().and_then(secret::token_number)) {
            // The token has no value yet, so any value of the type represents it.
            (Type::Bool, Some(_)) => Ok(Value::Bool(false)),
            (_, Some(number)) => Ok(Value::int(number)),
            (_, None) => decode_value(secret, ty),
        };
    }
    let elements = |ty: &Type| -> Result<Vec<Value>, String> {
        json.as_array()
            .ok_or_else(mismatch)?
            .iter()
            .map(|element| decode_value(element, ty))
            .collect()
    };
    Ok(match (ty, json) {
        (_, Json::Null) => Value::null(ty.clone()),
        (Type::Dynamic, _) => {
            let encoded_type = json.get(TYPE_KEY).ok_or_else(mismatch)?.to_string();
            let encoded_type =
                type_json::decode(encoded_type.as_bytes()).map_err(|error| error.to_string())?;
            decode_value(&json["value"], &encoded_type)?
        }
        (Type::Bool, Json::Bool(truth)) => Value::Bool(*truth),
        (Type::Number, Json::Number(number)) => {
            Value::Number(Number::parse(&number.to_string()).ok_or_else(mismatch)?)
        }
        (Type::Number, Json::String(text)) => {
            Value::Number(Number::parse(text).ok_or_else(mismatch)?)
        }
        (Type::String, Json::String(text)) => Value::string(text.as_str()),
        (Type::List(ty), _) => Value::list((**ty).clone(), elements(ty)?),
        (Type::Set(ty), _) => Value::set((**ty).clone(), elements(ty)?),
        (Type::Tuple(types), Json::Array(items)) if types.len() == items.len() => {
            let items =
                items.iter().zip(types.iter()).map(|(element, ty)| decode_value(element, ty));
            Value::tuple(items.collect::<Result<_, _>>()?)
        }
        (Type::Map(ty), Json::Object(members)) => {
            let members = members.iter().map(|(key, element)| {
                let key =
                    key.strip_prefix("$$").map_or_else(|| key.clone(), |key| format!("${key}"));
                Ok((key, decode_value(element, ty)?))
            });
            Value::map((**ty).clone(), members.collect::<Result<Vec<_>, String>>()?)
        }
        (Type::Object(ty), Json::Object(members)) => {
            let attributes = ty.attributes.iter().map(|(name, ty)| {
                let element = members.get(name.as_str()).unwrap_or(&Json::Null);
                Ok((name.clone(), decode_value(element, ty)?))
            });
            Value::object(attributes.collect::<Result<Vec<_>, String>>()?)
        }
        _ => return Err(mismatch()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_encoded_and_decoded_unchanged() {
        let not_null = Refinement { not_null: true, ..Refinement::default() };
        let object = Type::object([("a", Type::String), ("b", Type::Dynamic)]);
        let member = |a, b| Value::object([("a", a), ("b", b)]);
        let table = [
            (Type::Bool, Value::Bool(true)),
            (Type::Number, Value::int(-7)),
            (Type::Number, Value::Number(Number::parse("0.5").unwrap())),
            // More digits than a double has.
            (Type::Number, Value::Number(Number::parse("123456789012345678901234567890").unwrap())),
            // A string that looks like a marker and like the token of a secret.
            (Type::String, Value::string("$type «»")),
            (Type::String, Value::unknown(Type::String)),
            (Type::Number, Value::refined(Type::Number, not_null)),
            (Type::list(Type::String), Value::null(Type::list(Type::String))),
            (Type::list(Type::String), Value::list(Type::String, vec![Value::null(Type::String)])),
            (Type::set(Type::Bool), Value::set(Type::Bool, vec![Value::Bool(false)])),
            (
                Type::map(Type::String),
                Value::map(
                    // A key that looks like a marker.
                    Type::String,
                    [("$unknown", Value::string("x")), ("k", Value::string(""))],
                ),
            ),
            (object.clone(), member(Value::null(Type::String), Value::tuple(vec![Value::int(1)]))),
            (object.clone(), member(Value::string("x"), Value::null(Type::Dynamic))),
            (object, member(Value::unknown(Type::String), Value::unknown(Type::Dynamic))),
        ];
        for (ty, before) in table {
            let json = encode_value(&before, &ty);
            let text = json.to_string();
            let reparsed: Json = serde_json::from_str(&text).unwrap();
            assert_eq!(decode_value(&reparsed, &ty), Ok(before), "{text}");
        }
    }

    #[test]
    fn values_of_another_type_are_refused() {
        let result = decode_value(&json!({"a": 1}), &Type::object([("a", Type::String)]));
        assert_eq!(result, Err("1 is no string".to_owned()));
    }
}
