//! The calls in the life of a managed resource: upgrade, read, plan, apply.

use std::cmp::Ordering;

use formwork_plugin_protocol::Payload;
use formwork_plugin_protocol::message::resource::{
    ApplyRequest, PlanRequest, RawState, ReadRequest, UpgradeRequest,
};
use formwork_value::codec::json::{self, Extra};
use formwork_value::{Diagnostic, Diagnostics, Path};

use super::{Server, check};
use crate::erased::AnyResource;
use crate::resource::{Change, Create, Delete, Read, Stored, Update, unreadable};
use crate::{Answer, plan};

impl Server {
    pub(super) async fn upgraded(
        &self,
        diags: &mut Diagnostics,
        request: UpgradeRequest,
    ) -> Answer<Payload> {
        let resource = self.resource(diags, &request.type_name)?;
        let RawState::Json(json) = request.state else {
            return Err(diags.error(unreadable("it is in the form of Terraform before 0.12")));
        };
        let stored = Stored { version: request.version, json };
        let object = match stored.version.cmp(&resource.version()) {
            Ordering::Less => resource.upgrade(diags, stored).await?,
            Ordering::Equal => current(diags, resource, &stored)?,
            Ordering::Greater => return Err(too_new(diags, resource, &stored)),
        };
        Ok(check::known(diags, resource.shape(), "upgrade", object))
    }

    pub(super) async fn real(
        &self,
        diags: &mut Diagnostics,
        request: &ReadRequest,
    ) -> Answer<Payload> {
        let resource = self.resource(diags, &request.type_name)?;
        let shape = resource.shape();
        let current = check::decoded(diags, shape, &request.current)?;
        if current.is_null() {
            return Ok(check::encoded(shape, &current));
        }
        let read = Read { current, stop: self.stop.clone() };
        match resource.read(diags, read).await? {
            Some(object) => Ok(check::known(diags, shape, "read", object)),
            None => Ok(Payload::Absent),
        }
    }

    pub(super) async fn planned(
        &self,
        diags: &mut Diagnostics,
        request: &PlanRequest,
    ) -> Answer<(Payload, Vec<Path>)> {
        let resource = self.resource(diags, &request.type_name)?;
        let shape = resource.shape();
        let prior = check::decoded(diags, shape, &request.prior)?;
        let config = check::decoded(diags, shape, &request.config)?;
        let proposed = check::decoded(diags, shape, &request.proposed)?;
        if proposed.is_null() {
            return Ok((check::encoded(shape, &proposed), Vec::new()));
        }
        let planned = plan::draw(shape, &prior, &config, &proposed);
        let known_prior = (!prior.is_null()).then(|| prior.clone());
        let mut change = Change { prior: known_prior, config, planned, replace: Vec::new() };
        resource.modify_plan(diags, &mut change).await?;
        let Change { planned, mut replace, .. } = change;
        replace.extend(plan::forcing(shape, &prior, &planned));
        replace.sort();
        replace.dedup();
        Ok((check::encoded(shape, &planned), replace))
    }

    pub(super) async fn applied(
        &self,
        diags: &mut Diagnostics,
        request: &ApplyRequest,
    ) -> Answer<Payload> {
        let resource = self.resource(diags, &request.type_name)?;
        let shape = resource.shape();
        let prior = check::decoded(diags, shape, &request.prior)?;
        let planned = check::decoded(diags, shape, &request.planned)?;
        let config = check::decoded(diags, shape, &request.config)?;
        let stop = self.stop.clone();
        if planned.is_null() {
            if !prior.is_null() {
                resource.delete(diags, Delete { prior, stop }).await?;
            }
            return Ok(Payload::Absent);
        }
        let (handler, object) = if prior.is_null() {
            ("create", resource.create(diags, Create { config, planned, stop }).await?)
        } else {
            ("update", resource.update(diags, Update { config, prior, planned, stop }).await?)
        };
        Ok(check::known(diags, shape, handler, object))
    }
}

/// Reads an object of the version that there is. A host that differs in what it has left out or in
/// should not break anything, so what is missing is null and what is too much is dropped.
fn current(
    diags: &mut Diagnostics,
    resource: &dyn AnyResource,
    stored: &Stored,
) -> Answer<formwork_value::Value> {
    let ty = resource.shape().block.implied_type();
    json::decode_with(&stored.json, &ty, Extra::Drop)
        .map_err(|error| diags.error(unreadable(&error.to_string())))
}

fn too_new(
    diags: &mut Diagnostics,
    resource: &dyn AnyResource,
    stored: &Stored,
) -> formwork_value::Reported {
    let detail = format!(
        "The object was stored with version {} of its schema, but this provider has version {}. Use \
         the version of the provider that stored it, or a newer one.",
        stored.version,
        resource.version()
    );
    diags.error(Diagnostic::error("Resource instance managed by newer provider version", detail))
}
