//! The calls in the life of a managed resource: plan, apply, read.

use bytes::Bytes;
use formwork_plugin_protocol::Payload;
use formwork_plugin_protocol::message::DeferredReason;
use formwork_plugin_protocol::message::resource::{ApplyRequest, PlanRequest, ReadRequest};
use formwork_value::{Diagnostics, Path};

use super::{Server, caught, check, identity, reported};
use crate::context::{Context, Deferral, Meta};
use crate::erased::{AnyResource, Lives};
use crate::schema::Shape;
use crate::{Answer, plan};

/// An object, and what goes with it.
pub(super) struct Outcome {
    pub(super) object: Payload,
    pub(super) private: Bytes,
    pub(super) identity: Option<Payload>,
    pub(super) deferred: Option<DeferredReason>,
    /// What needs a new object; of plans only.
    pub(super) replace: Vec<Path>,
}

impl Outcome {
    /// An object that a handler answered with.
    fn of(shape: &Shape, object: Payload, context: &Context) -> Self {
        let identity = identity::of(shape, &object);
        let (private, deferred) = (context.private.to_bytes(), context.deferral.take());
        Self { object, private, identity, deferred, replace: Vec::new() }
    }
}

impl Server {
    /// What a call brings along.
    fn context(
        &self,
        diags: &mut Diagnostics,
        private: &Bytes,
        meta: &Payload,
        deferral_allowed: bool,
    ) -> Answer<Context> {
        let mut context = Context::new(self.stop.clone(), private);
        context.deferral = Deferral::new(deferral_allowed);
        if let Some(shape) = &self.provider.meta {
            let meta = check::decoded(diags, shape, meta)?;
            context.meta = Meta(Some(meta).filter(|meta| !meta.is_null()));
        }
        Ok(context)
    }

    pub(super) async fn real(
        &self,
        diags: &mut Diagnostics,
        request: &ReadRequest,
    ) -> Answer<Outcome> {
        let resource = self.resource(diags, &request.type_name)?;
        let shape = resource.shape();
        let current = check::decoded(diags, shape, &request.current)?;
        let allowed = request.client.deferral_allowed;
        let context = self.context(diags, &request.private, &request.provider_meta, allowed)?;
        if current.is_null() {
            return Ok(Outcome::of(shape, check::encoded(shape, &current), &context));
        }
        let object = match resource.read(diags, &current, context.clone()).await? {
            Some(object) => check::known(diags, shape, "read", object),
            None => Payload::Absent,
        };
        Ok(Outcome::of(shape, object, &context))
    }

    pub(super) async fn planned(
        &self,
        diags: &mut Diagnostics,
        request: &PlanRequest,
    ) -> Answer<Outcome> {
        let resource = self.resource(diags, &request.type_name)?;
        let shape = resource.shape();
        let prior = check::decoded(diags, shape, &request.prior)?;
        let config = check::decoded(diags, shape, &request.config)?;
        let proposed = check::decoded(diags, shape, &request.proposed)?;
        let allowed = request.client.deferral_allowed;
        let context =
            self.context(diags, &request.prior_private, &request.provider_meta, allowed)?;
        if proposed.is_null() {
            return Ok(Outcome::of(shape, check::encoded(shape, &proposed), &context));
        }
        let planned = plan::draw(shape, &prior, &config, &proposed);
        let lives = Lives { prior, config, planned };
        let (planned, mut replace) = resource.modify_plan(diags, &lives, context.clone()).await?;
        replace.extend(plan::forcing(shape, &lives.prior, &planned));
        replace.sort();
        replace.dedup();
        Ok(Outcome { replace, ..Outcome::of(shape, check::encoded(shape, &planned), &context) })
    }

    pub(super) async fn applied(
        &self,
        diags: &mut Diagnostics,
        request: &ApplyRequest,
    ) -> Answer<Outcome> {
        let resource = self.resource(diags, &request.type_name)?;
        let shape = resource.shape();
        let prior = check::decoded(diags, shape, &request.prior)?;
        let planned = check::decoded(diags, shape, &request.planned)?;
        let config = check::decoded(diags, shape, &request.config)?;
        let context =
            self.context(diags, &request.planned_private, &request.provider_meta, false)?;
        if planned.is_null() {
            if !prior.is_null() {
                resource.delete(diags, &prior, context.clone()).await?;
            }
            return Ok(Outcome::of(shape, Payload::Absent, &context));
        }
        let lives = Lives { prior, config, planned };
        let object = changed(diags, resource, lives, context.clone()).await?;
        Ok(Outcome::of(shape, object, &context))
    }
}

/// Creates or updates. A handler that fails, or panics, after it kept something leaves that behind.
async fn changed(
    diags: &mut Diagnostics,
    resource: &dyn AnyResource,
    lives: Lives,
    context: Context,
) -> Answer<Payload> {
    let shape = resource.shape();
    let (prior, planned) = (lives.prior.clone(), lives.planned.clone());
    let (handler, done) = if prior.is_null() {
        ("create", caught(resource.create(diags, lives, context.clone())).await)
    } else {
        ("update", caught(resource.update(diags, lives, context.clone())).await)
    };
    match reported(diags, done) {
        Ok(computed) => {
            let object = plan::carried(&planned, &computed);
            Ok(check::known(diags, shape, handler, object))
        }
        Err(receipt) => {
            let draft = context.take_partial().ok_or(receipt)?;
            let base = if prior.is_null() { plan::settled(&planned) } else { prior };
            Ok(check::encoded(shape, &plan::drafted(&base, &draft)))
        }
    }
}

#[cfg(test)]
mod tests;
