//! Identity of an object beside its attributes: kept with it in the state, sent along with calls
//! about it, and a way to find it again. Providers made before protocol 5.9 have no identities.

use std::sync::Arc;

use bytes::Bytes;
use formwork_plugin_protocol::contract::{AnswerToCheck, Call};
use formwork_plugin_protocol::message::resource::{RawState, UpgradeIdentityRequest};
use formwork_plugin_protocol::message::schema::IdentitySchema;
use formwork_plugin_protocol::{Payload, Provider, ProviderExt as _};
use formwork_value::codec::json;
use formwork_value::{Diagnostics, Path, Plain, Reported, Str, Type, Value, convert};

use super::{CallContext, ContractViolation, ProviderClient, ResponseContext};
use crate::change::ImportKey;
use crate::messages;
use crate::provider::ResourceType;
use crate::state::ObjectState;

/// An identity as a state has it: JSON, with the version of its schema.
pub type StoredIdentity = (u64, Bytes);

/// The form of the identities of a resource type.
#[derive(Clone, Debug)]
pub struct IdentityType {
    /// Version of the stored form.
    pub version: u64,
    /// The type of the whole.
    pub ty: Type,
    /// The parts without which nothing can be found.
    required: Vec<String>,
}

impl IdentityType {
    pub(in crate::provider) fn from_schema(schema: &IdentitySchema) -> Self {
        let parts = schema.attributes.iter();
        let required = parts.clone().filter(|(_, part)| part.required_for_import);
        Self {
            version: schema.version,
            ty: Type::object(parts.map(|(name, part)| (name.as_str(), part.ty.clone()))),
            required: required.map(|(name, _)| name.clone()).collect(),
        }
    }

    /// An identity that an author wrote, completed with the optional attributes.
    ///
    /// # Errors
    /// When it does not fit.
    pub(super) fn complete_identity(&self, given: &Value) -> Result<Plain, String> {
        let (Type::Object(shape), Value::Object(object)) = (&self.ty, given) else {
            return Err("it is no object".to_owned());
        };
        let unknown = object.names().iter().find(|name| !shape.attributes.contains_key(*name));
        if let Some(name) = unknown {
            return Err(format!("it has no attribute {:?}", name.as_str()));
        }
        let mut parts: Vec<(Str, Value)> = Vec::new();
        for (name, ty) in &shape.attributes {
            // Null is the same as nothing, as for an argument.
            let given = attribute_value(given, name).filter(|given| !given.is_null());
            let is_required = self.required.iter().any(|required| *required == name.as_str());
            let value = match given {
                // Converted like an argument, because authors write identities as expressions.
                Some(given) => convert::convert(given, ty)
                    .map_err(|refused| format!("its attribute {name:?}: {}", refused.reason))?,
                None if is_required => return Err(format!("its attribute {name:?} is missing")),
                None => Value::null(ty.clone()),
            };
            parts.push((name.clone(), value));
        }
        Ok(Value::object(parts).split_marks().0)
    }

    /// The identity that an object will have, as far as its attributes determine it: those of the
    /// same name.
    fn predict_identity(&self, planned: &Value) -> Option<Value> {
        let Type::Object(shape) = &self.ty else { return None };
        let mut parts: Vec<(Str, Value)> = Vec::new();
        for (name, ty) in &shape.attributes {
            let part =
                attribute_value(planned, name).and_then(|part| convert::convert(part, ty).ok());
            let part = part.filter(|part| part.is_wholly_known() && !part.is_null());
            match part {
                Some(part) => parts.push((name.clone(), part)),
                None if self.required.iter().any(|required| *required == name.as_str()) => {
                    return None;
                }
                None => parts.push((name.clone(), Value::null(ty.clone()))),
            }
        }
        // An identity without required attributes could be all null, and would find nothing.
        (!self.required.is_empty()).then(|| Value::object(parts))
    }
}

fn attribute_value<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    Path::root().attribute(name).find(value)
}

/// Key by which an object with this planned value can be found: its identity, or an id that was
/// known before.
#[must_use]
pub(crate) fn predict_import_key(ty: &ResourceType, planned: &Value) -> Option<ImportKey> {
    if let Some(identity) = ty.identity.as_ref().and_then(|form| form.predict_identity(planned)) {
        return Some(ImportKey::Identity(identity));
    }
    match attribute_value(planned, "id")? {
        Value::String(id) if !id.is_empty() => Some(ImportKey::Id(id.clone())),
        _ => None,
    }
}

impl ResourceType {
    /// A stored identity, for a call about its object; nothing if it is of another version.
    #[must_use]
    pub(crate) fn identity_payload(&self, identity: &StoredIdentity) -> Option<Payload> {
        let (version, text) = identity;
        let form = self.identity.as_ref().filter(|form| form.version == *version)?;
        let value = json::decode(text, &form.ty).ok()?;
        Some(Payload::Value(value.split_marks().0, form.ty.clone()))
    }

    /// The identity of an object in the state, for a call about it.
    #[must_use]
    pub(crate) fn encode_identity(&self, object: &ObjectState) -> Option<Payload> {
        self.identity_payload(object.identity.as_ref()?)
    }
}

impl ProviderClient {
    /// Upgrades the identity of a stored object to the newest schema. One that cannot be read is
    /// dropped when the provider has no identities for the type any more.
    ///
    /// # Errors
    /// When the provider's answer breaks the contract.
    pub(crate) async fn upgrade_identity(
        &self,
        diags: &mut Diagnostics,
        ty: &ResourceType,
        object: &ObjectState,
        about: CallContext<'_>,
    ) -> Result<Option<StoredIdentity>, Reported> {
        let (Some(form), Some((version, text))) = (&ty.identity, &object.identity) else {
            return Ok(None);
        };
        if *version == form.version {
            return Ok(Some((*version, text.clone())));
        }
        let request = UpgradeIdentityRequest {
            type_name: ty.name.clone(),
            version: *version,
            identity: RawState::Json(text.clone()),
        };
        let call = "UpgradeResourceIdentity";
        let context = ResponseContext { call, ty, about };
        let ask = |provider: Arc<dyn Provider>| {
            let request = request.clone();
            async move { provider.upgrade_identity(request).await }
        };
        let answer = self.call_with_retry_or_report(diags, call, about, ask).await?;
        self.report_provider_diagnostics(diags, answer.diagnostics, about)?;
        self.decode_identity(diags, Some(answer.identity), context)
    }

    /// Reads an identity that came with an answer, in the form in which it is stored.
    ///
    /// # Errors
    /// When it is not of its type, or not known.
    pub(crate) fn decode_identity(
        &self,
        diags: &mut Diagnostics,
        came: Option<Payload>,
        context: ResponseContext<'_>,
    ) -> Result<Option<StoredIdentity>, Reported> {
        let ResponseContext { call, ty, about } = context;
        let Some(came) = came.filter(|came| *came != Payload::Absent) else { return Ok(None) };
        let summary = messages::PROVIDER_PRODUCED_INVALID_IDENTITY;
        let exchange = AnswerToCheck::for_call(Call::Any).with_identity(Some(&came));
        self.check_response_rules(diags, summary, &exchange, context)?;
        let Some(form) = &ty.identity else { return Ok(None) };
        let stored = came.decode(&form.ty).map_err(|error| error.to_string()).and_then(|value| {
            if value.value().is_null() {
                return Ok(None);
            }
            let text = json::encode(value.value(), &form.ty).map_err(|error| error.to_string())?;
            Ok(Some((form.version, text.into())))
        });
        stored.map_err(|problem| {
            self.report_violation(
                diags,
                ContractViolation { summary, call, problem: &problem },
                about,
            )
        })
    }
}
