//! The calls that bring an object from elsewhere: upgrade, import, move.

use std::cmp::Ordering;

use bytes::Bytes;
use formwork_plugin_protocol::Payload;
use formwork_plugin_protocol::capability::ClientCapabilities;
use formwork_plugin_protocol::message::resource::{
    ImportRequest, ImportedResource, MoveRequest, UpgradeRequest,
};

use super::life::Outcome;
use super::{Server, check, identity};
use crate::call::Call;
use crate::context::Private;
use crate::erased::AnyResource;
use crate::resource::{Foreign, Stored};
use crate::{Answer, Problem};

impl Server {
    pub(super) async fn upgraded(&self, call: &Call, request: UpgradeRequest) -> Answer<Payload> {
        let resource = self.resource(&request.type_name)?;
        let stored = Stored { version: request.version, state: request.state };
        let object = match stored.version.cmp(&resource.version()) {
            Ordering::Less => resource.upgrade(stored, call.clone()).await?,
            Ordering::Equal => stored.value(resource.shape())?,
            Ordering::Greater => return Err(too_new(resource, &stored)),
        };
        Ok(check::known(call, resource.shape(), "upgrade", object))
    }

    pub(super) async fn found(
        &self,
        call: &Call,
        request: &ImportRequest,
    ) -> Answer<ImportedResource> {
        let resource = self.resource(&request.type_name)?;
        let shape = resource.shape();
        let no_deferral = ClientCapabilities::default();
        let context = self.context(call, &Bytes::new(), &Payload::Absent, no_deferral)?;
        let object = match &request.identity {
            Some(given) if request.id.is_empty() => {
                let draft = identity::draft(shape, given)?;
                call.unless_stopped(resource.import_by_identity(&draft, context.clone())).await?
            }
            _ => call.unless_stopped(resource.import(request.id.clone(), context.clone())).await?,
        };
        let state = check::known(call, shape, "import", object);
        // An import by id may not know yet what identifies the object; the read that follows does.
        let identity = identity::of(shape, &state).or_else(|| request.identity.clone());
        let (type_name, private) = (request.type_name.clone(), context.private.to_bytes());
        Ok(ImportedResource { type_name, state, private, identity })
    }

    pub(super) async fn moved(&self, call: &Call, request: MoveRequest) -> Answer<Outcome> {
        let resource = self.resource(&request.target_type)?;
        let source_identity = request.source_identity;
        let private = Private::of(&request.source_private);
        let from = Foreign {
            provider: request.source_provider,
            type_name: request.source_type,
            stored: Stored { version: request.source_version, state: request.source_state },
            private: private.clone(),
            identity: source_identity
                .clone()
                .map(|state| Stored { version: request.source_identity_version, state }),
            call: call.clone(),
        };
        let whence = format!("{} of {}", from.type_name, from.provider);
        let Some(object) = resource.take_over(from).await? else {
            let detail =
                format!("Objects of {whence} cannot become objects of {}.", request.target_type);
            return Err(Problem::new("Unable to Move Resource State", detail));
        };
        let object = check::known(call, resource.shape(), "move", object);
        // What only the source's identity tells would be lost, were it not kept where it fits.
        let kept = || identity::kept(resource.shape(), source_identity.as_ref()?);
        let identity = identity::of(resource.shape(), &object).or_else(kept);
        let private = private.to_bytes();
        Ok(Outcome { object, private, identity, deferred: None, replace: Vec::new() })
    }
}

fn too_new(resource: &dyn AnyResource, stored: &Stored) -> Problem {
    let detail = format!(
        "The object was stored with version {} of its schema, but this provider has version {}. Use \
         the version of the provider that stored it, or a newer one.",
        stored.version,
        resource.version()
    );
    Problem::new("Resource instance managed by newer provider version", detail)
}

#[cfg(test)]
mod tests;
