//! Calls for existing objects: upgrade, import, move.

use std::any::TypeId;
use std::cmp::Ordering;

use bytes::Bytes;
use formwork_plugin_protocol::message::resource::{
    ImportRequest, ImportedResource, MoveRequest, UpgradeIdentityRequest, UpgradeRequest,
};
use formwork_plugin_protocol::{Payload, contract};
use formwork_value::Value;

use super::decode_and_check::ReturnedObject;
use super::read_plan_apply::ObjectAnswer;
use super::{Server, decode_and_check, identity};
use crate::call::Call;
use crate::context::Private;
use crate::erased::AnyResource;
use crate::resource::{ForeignObject, StoredValue};
use crate::schema::Shape;
use crate::{Answer, Problem};

impl Server {
    pub(super) async fn handle_upgrade_object(
        &self,
        call: &Call,
        request: UpgradeRequest,
    ) -> Answer<Payload> {
        let resource = self.find_resource(&request.type_name)?;
        let stored = StoredValue { version: request.version, state: request.state };
        let object = match stored.version.cmp(&resource.version()) {
            Ordering::Less => resource.upgrade(stored, call.clone()).await?,
            // Without an upgrade too: a host sends the JSON of its state, which may lack attributes
            // or have more.
            Ordering::Equal => stored.decode_for_shape(resource.shape())?,
            Ordering::Greater => {
                return Err(too_new_problem("schema", resource.version(), &stored));
            }
        };
        let returned = ReturnedObject { handler: "upgrade", call: contract::Call::Upgrade, object };
        Ok(decode_and_check::encode_checked(call, resource.shape(), returned))
    }

    /// The requested object, followed by further objects of the import.
    pub(super) async fn handle_import_objects(
        &self,
        call: &Call,
        request: &ImportRequest,
    ) -> Answer<Vec<ImportedResource>> {
        let resource = self.find_resource(&request.type_name)?;
        let shape = resource.shape();
        let context = self.new_context(call, &Bytes::new(), &Payload::Absent, request.client)?;
        let object = match &request.identity {
            Some(identity_given) if request.id.is_empty() => {
                let identity_given = identity::decode_identity(shape, identity_given)?;
                call.run_unless_stopped(
                    resource.import_by_identity(&identity_given, context.clone()),
                )
                .await?
            }
            _ => {
                call.run_unless_stopped(resource.import(request.id.clone(), context.clone()))
                    .await?
            }
        };
        let state = encode_imported(call, shape, &request.type_name, object);
        // An import by id may not have the identity yet. The read that follows returns it.
        let identity =
            identity::object_identity(shape, &state).or_else(|| request.identity.clone());
        let (type_name, private) = (request.type_name.clone(), context.private.to_bytes());
        let mut resources = vec![ImportedResource { type_name, state, private, identity }];
        for (of, object) in context.further_objects.take() {
            let (type_name, further) = self.resource_of_handler(of)?;
            let state = encode_imported(call, further.shape(), type_name, object);
            let identity = identity::object_identity(further.shape(), &state);
            // Private data belongs to one object, and the handler has set that of the first.
            let (type_name, private) = (type_name.to_owned(), Bytes::new());
            resources.push(ImportedResource { type_name, state, private, identity });
        }
        Ok(resources)
    }

    /// The resource type that has this type of handler.
    fn resource_of_handler(&self, handler: TypeId) -> Answer<(&str, &dyn AnyResource)> {
        let resources = self.provider.resources.iter();
        let mut matching = resources.filter(|(_, resource)| resource.handler_type_id() == handler);
        let wrong_count = |count_phrase: &str| {
            let detail = format!(
                "The import found a further object, and the provider has {count_phrase} \
                 of that kind. This is a bug in the provider."
            );
            Err(Problem::new("Import found an object without a resource type", detail))
        };
        match (matching.next(), matching.next()) {
            (Some((name, resource)), None) => Ok((name, &**resource)),
            (Some(_), Some(_)) => wrong_count("several resource types"),
            (None, _) => wrong_count("no resource type"),
        }
    }

    pub(super) fn handle_upgrade_identity(
        &self,
        request: UpgradeIdentityRequest,
    ) -> Answer<Payload> {
        let resource = self.find_resource(&request.type_name)?;
        let stored = StoredValue { version: request.version, state: request.identity };
        let version = resource.identity_version();
        match stored.version.cmp(&version) {
            Ordering::Less => {
                let upgraded = resource.upgrade_identity(&stored)?;
                Ok(identity::encode_identity(resource.shape(), upgraded))
            }
            Ordering::Equal => identity::decode_stored_identity(resource.shape(), &stored.state),
            Ordering::Greater => Err(too_new_problem("identity", version, &stored)),
        }
    }

    pub(super) async fn handle_move_object(
        &self,
        call: &Call,
        request: MoveRequest,
    ) -> Answer<ObjectAnswer> {
        let resource = self.find_resource(&request.target_type)?;
        let source_identity = request.source_identity;
        let private = Private::from_bytes(&request.source_private);
        let from = ForeignObject {
            provider: request.source_provider,
            type_name: request.source_type,
            stored: StoredValue { version: request.source_version, state: request.source_state },
            private: private.clone(),
            identity: source_identity
                .clone()
                .map(|state| StoredValue { version: request.source_identity_version, state }),
            call: call.clone(),
        };
        let whence = format!("{} of {}", from.type_name, from.provider);
        let Some(object) = resource.take_over(from).await? else {
            let detail =
                format!("Objects of {whence} cannot become objects of {}.", request.target_type);
            return Err(Problem::new("Unable to Move Resource State", detail));
        };
        let returned = ReturnedObject { handler: "move", call: contract::Call::Move, object };
        let object = decode_and_check::encode_checked(call, resource.shape(), returned);
        // Attributes that only the source's identity has are kept where they fit. Otherwise they
        // would be lost.
        let kept_identity =
            || identity::identity_after_move(resource.shape(), source_identity.as_ref()?);
        let identity = identity::object_identity(resource.shape(), &object).or_else(kept_identity);
        let private = private.to_bytes();
        Ok(ObjectAnswer { object, private, identity, replace: Vec::new() })
    }
}

/// Prepares an imported object of a resource type for the host.
fn encode_imported(call: &Call, shape: &Shape, type_name: &str, object: Value) -> Payload {
    let contract_call = contract::Call::Import { asked: type_name, found: type_name };
    let returned = ReturnedObject { handler: "import", call: contract_call, object };
    decode_and_check::encode_checked(call, shape, returned)
}

/// `kind` names the version: of the schema, or of the identity.
fn too_new_problem(kind: &str, version: u64, stored: &StoredValue) -> Problem {
    let detail = format!(
        "The object was stored with version {} of its {kind}, but this provider has version {version}. \
         Use the version of the provider that stored it, or a newer one.",
        stored.version
    );
    Problem::new("Resource instance managed by newer provider version", detail)
}

#[cfg(test)]
mod tests;
