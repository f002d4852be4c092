//! Lists all objects of one type, to find an object of which only the plan is known. The caller decides
//! whether a found object is adopted.

use formwork_plugin_protocol::Request;
use formwork_plugin_protocol::message::list::{ListEvent, ListRequest};
use formwork_plugin_protocol::provider::StreamedResponse;
use formwork_plugin_protocol::{Failure, Payload};
use formwork_value::codec::json;
use formwork_value::diag::Severity;
use formwork_value::schema::Role;
use formwork_value::{Plain, Type, Value};
use futures_util::StreamExt as _;

use super::{ProviderClient, encode_unmarked};
use crate::provider::ResourceType;
use crate::provider::call_layers::MAX_LISTED_OBJECTS;
use crate::provider::identity_type::IdentityType;
use crate::provider::provider_diagnostics::{call_failure_diagnostic, truncate_text};
use crate::state::StoredIdentity;

/// Maximum number of bytes shown of a provider error.
const MAX_SHOWN_ERROR_LEN: usize = 4 << 10;

/// An object that the provider lists.
#[derive(Clone, Debug)]
pub struct ListedObject {
    /// Identity of the object.
    pub identity: Value,
    /// The identity as stored in the state.
    pub stored: StoredIdentity,
    /// The object.
    pub object: Plain,
}

/// The reason why a list cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListFailure {
    /// The provider cannot list the type, or requires a configuration for the list.
    Unsupported,
    /// The response of the provider is invalid. The string is one or more sentences.
    Failed(String),
}

impl ProviderClient {
    /// Lists all objects of one type.
    ///
    /// # Errors
    /// Returns an error if the provider cannot list them, or may have omitted one.
    pub async fn list_objects(&self, ty: &ResourceType) -> Result<Vec<ListedObject>, ListFailure> {
        let schema = self.loaded.provider_schema().list_resources.get(&ty.name);
        let (Some(schema), Some(form)) = (schema, &ty.identity) else {
            return Err(ListFailure::Unsupported);
        };
        let block = &schema.block;
        if block.attributes.values().any(|attribute| attribute.role == Role::Required) {
            return Err(ListFailure::Unsupported);
        }
        let request = Request::list(ListRequest {
            type_name: ty.name.clone(),
            config: encode_unmarked(&block.empty_value(), &block.implied_type()),
            // An object is recognised by the planned attributes, not by its identity.
            include_object: true,
            limit: i64::try_from(MAX_LISTED_OBJECTS).unwrap_or(i64::MAX),
        });
        let call = request.method().name();
        let listing = async {
            let events = self.call(request, &ty.name).await?;
            collect_objects(ty, form, events).await
        };
        let reason = match listing.await {
            Ok(Ok(objects)) => return Ok(objects),
            // A provider may quote values of the configuration, sensitive ones included.
            Ok(Err(reason)) => self.mask_secrets(reason),
            Err(failure) => {
                call_failure_diagnostic(self.addr(), call, Some(&ty.name), &failure).detail
            }
        };
        Err(ListFailure::Failed(reason))
    }
}

/// Collects the objects of a list. The inner error is an error of the list, in sentences, and the outer
/// one that of the connection.
async fn collect_objects(
    ty: &ResourceType,
    form: &IdentityType,
    mut events: StreamedResponse<ListEvent>,
) -> Result<Result<Vec<ListedObject>, String>, Failure> {
    let mut objects = Vec::new();
    while let Some(event) = events.next().await {
        // A partial list cannot be used, because a missing object could be the second match.
        match decode_listed_object(ty, form, event?) {
            Ok(object) => objects.push(object),
            Err(reason) => return Ok(Err(reason)),
        }
        // A provider may have stopped at the limit that was sent, so the list may be
        // incomplete.
        if objects.len() >= MAX_LISTED_OBJECTS {
            let reason = format!(
                "The provider listed {MAX_LISTED_OBJECTS} objects, the maximum, so more may exist."
            );
            return Ok(Err(reason));
        }
    }
    Ok(Ok(objects))
}

/// Decodes a listed object.
///
/// # Errors
/// Returns sentences for the user if the provider reports an error with the object, or if it cannot be
/// decoded.
fn decode_listed_object(
    ty: &ResourceType,
    form: &IdentityType,
    event: ListEvent,
) -> Result<ListedObject, String> {
    let errors = event.diagnostics.into_iter();
    let mut errors = errors.filter(|diagnostic| diagnostic.severity == Severity::Error);
    // A partial list cannot be used, so the first error is enough.
    if let Some(error) = errors.next() {
        let text = match error.detail.is_empty() {
            true => error.summary,
            false => format!("{}: {}", error.summary, error.detail),
        };
        let text = truncate_text(text, MAX_SHOWN_ERROR_LEN);
        return Err(format!("The provider reported an error: {text}"));
    }
    let identity = decode_part("identity", event.identity, &form.ty)?.into_value();
    let text = json::encode(&identity, &form.ty)
        .map_err(|error| describe_unusable_part("identity", &error.to_string()))?;
    let object = decode_part("object", event.object, &ty.ty)?;
    let stored = StoredIdentity { version: form.version, json: text.into() };
    Ok(ListedObject { identity, stored, object })
}

/// Decodes a required part of an event.
fn decode_part(part: &str, payload: Option<Payload>, ty: &Type) -> Result<Plain, String> {
    let decoded = payload.unwrap_or(Payload::Absent).decode(ty);
    let value = decoded.map_err(|error| describe_unusable_part(part, &error.to_string()))?;
    // An object without identity could not be adopted, and one without attributes would match
    // everything.
    match value.value().is_null() {
        true => Err(describe_unusable_part(part, "it is missing")),
        false => Ok(value),
    }
}

fn describe_unusable_part(part: &str, problem: &str) -> String {
    format!(
        "The {part} of a listed object cannot be used: {problem}. This is a bug in the provider; please report it to its authors."
    )
}
