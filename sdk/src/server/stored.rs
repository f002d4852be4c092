//! The calls that bring an object from elsewhere: upgrade, import, move.

use std::cmp::Ordering;

use bytes::Bytes;
use formwork_plugin_protocol::Payload;
use formwork_plugin_protocol::message::resource::{
    ImportRequest, ImportedResource, MoveRequest, UpgradeRequest,
};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::{Server, check, identity};
use crate::Answer;
use crate::erased::AnyResource;
use crate::resource::{Foreign, Stored};

impl Server {
    pub(super) async fn upgraded(
        &self,
        diags: &mut Diagnostics,
        request: UpgradeRequest,
    ) -> Answer<Payload> {
        let resource = self.resource(diags, &request.type_name)?;
        let stored = Stored { version: request.version, state: request.state };
        let object = match stored.version.cmp(&resource.version()) {
            Ordering::Less => resource.upgrade(diags, stored).await?,
            Ordering::Equal => stored.value(diags, resource.shape())?,
            Ordering::Greater => return Err(too_new(diags, resource, &stored)),
        };
        Ok(check::known(diags, resource.shape(), "upgrade", object))
    }

    pub(super) async fn found(
        &self,
        diags: &mut Diagnostics,
        request: &ImportRequest,
    ) -> Answer<ImportedResource> {
        let resource = self.resource(diags, &request.type_name)?;
        let shape = resource.shape();
        let object = match &request.identity {
            Some(given) if request.id.is_empty() => {
                let draft = identity::draft(diags, shape, given)?;
                resource.import_by_identity(diags, &draft).await?
            }
            _ => resource.import(diags, &request.id).await?,
        };
        let state = check::known(diags, shape, "import", object);
        // An import by id may not know yet what identifies the object; the read that follows does.
        let identity = identity::of(shape, &state).or_else(|| request.identity.clone());
        let type_name = request.type_name.clone();
        Ok(ImportedResource { type_name, state, private: Bytes::new(), identity })
    }

    pub(super) async fn moved(
        &self,
        diags: &mut Diagnostics,
        request: MoveRequest,
    ) -> Answer<(Payload, Option<Payload>)> {
        let resource = self.resource(diags, &request.target_type)?;
        let stored = Stored { version: request.source_version, state: request.source_state };
        let (provider, type_name) = (request.source_provider, request.source_type);
        let from = Foreign { provider, type_name, stored };
        let whence = format!("{} of {}", from.type_name, from.provider);
        let Some(object) = resource.take_over(diags, from).await? else {
            let detail =
                format!("Objects of {whence} cannot become objects of {}.", request.target_type);
            return Err(diags.error(Diagnostic::error("Unable to Move Resource State", detail)));
        };
        let state = check::known(diags, resource.shape(), "move", object);
        // What only the source's identity tells would be lost, were it not kept where it fits.
        let kept = || identity::kept(resource.shape(), request.source_identity.as_ref()?);
        let identity = identity::of(resource.shape(), &state).or_else(kept);
        Ok((state, identity))
    }
}

fn too_new(diags: &mut Diagnostics, resource: &dyn AnyResource, stored: &Stored) -> Reported {
    let detail = format!(
        "The object was stored with version {} of its schema, but this provider has version {}. Use \
         the version of the provider that stored it, or a newer one.",
        stored.version,
        resource.version()
    );
    diags.error(Diagnostic::error("Resource instance managed by newer provider version", detail))
}

#[cfg(test)]
mod tests;
