//! Asks a provider for all objects of one type, to find an object of which only the plan is known.
//! Whether a found object may be taken is decided elsewhere.

use formwork_plugin_protocol::Request;
use formwork_plugin_protocol::message::list::{ListEvent, ListRequest};
use formwork_value::codec::json;
use formwork_value::diag::Severity;
use formwork_value::schema::Role;
use formwork_value::{Plain, Value};
use futures_util::StreamExt as _;

use super::{ProviderClient, encode_unmarked};
use crate::provider::ResourceType;
use crate::provider::call_layers::MAX_LISTED_OBJECTS;
use crate::provider::identity_type::{IdentityType, StoredIdentity};

/// An object that the provider lists.
#[derive(Clone, Debug)]
pub struct ListedObject {
    /// Identity of the object.
    pub identity: Value,
    /// The same, as a state has it.
    pub stored: StoredIdentity,
    /// The object.
    pub object: Plain,
}

impl ProviderClient {
    /// Lists all objects of one type; `None` if the provider cannot list them, or not without a
    /// configuration of where to look.
    pub async fn list_objects(&self, ty: &ResourceType) -> Option<Vec<ListedObject>> {
        let schema = self.loaded.provider_schema().list_resources.get(&ty.name)?;
        let form = ty.identity.as_ref()?;
        let block = &schema.block;
        if block.attributes.values().any(|attribute| attribute.role == Role::Required) {
            return None;
        }
        let request = Request::list(ListRequest {
            type_name: ty.name.clone(),
            config: encode_unmarked(&block.empty_value(), &block.implied_type()),
            // An object is recognised by the planned attributes, not by its identity.
            include_object: true,
            limit: i64::try_from(MAX_LISTED_OBJECTS).ok()?,
        });
        // A list that lacks something is of no use, whatever the reason.
        let mut events = self.call(request, &ty.name).await.ok()?;
        let mut found = Vec::new();
        while let Some(event) = events.next().await {
            // Part of a list is of no use: a missing object could be the second match.
            found.push(decode_listed_object(ty, form, event.ok()?)?);
        }
        // A provider may have stopped at the limit that was sent, so the list may be incomplete.
        (found.len() < MAX_LISTED_OBJECTS).then_some(found)
    }
}

/// Decodes an object as the provider lists it; `None` if there is an error in it.
fn decode_listed_object(
    ty: &ResourceType,
    form: &IdentityType,
    event: ListEvent,
) -> Option<ListedObject> {
    if event.diagnostics.iter().any(|said| said.severity == Severity::Error) {
        return None;
    }
    let identity = event.identity?.decode(&form.ty).ok()?.into_value();
    let text = json::encode(&identity, &form.ty).ok()?;
    let object = event.object?.decode(&ty.ty).ok()?;
    Some(ListedObject { identity, stored: (form.version, text.into()), object })
}
