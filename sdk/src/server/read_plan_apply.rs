//! Calls of a managed resource: plan, apply, read.

use bytes::Bytes;
use formwork_plugin_protocol::capability::ClientCapabilities;
use formwork_plugin_protocol::message::resource::{ApplyRequest, PlanRequest, ReadRequest};
use formwork_plugin_protocol::{Payload, contract};
use formwork_value::{Path, Value};

use super::decode_and_check::ReturnedObject;
use super::{Server, decode_and_check, identity};
use crate::call::Call;
use crate::context::CallContext;
use crate::erased::{AnyResource, ChangeValues};
use crate::problem::OrFailWithSummary as _;
use crate::schema::Shape;
use crate::{Answer, plan};

/// An object with its private data, identity and diagnostics.
pub(super) struct ObjectAnswer {
    pub(super) object: Payload,
    pub(super) private: Bytes,
    pub(super) identity: Option<Payload>,
    /// Paths that force replacement; for plans only.
    pub(super) replace: Vec<Path>,
}

impl ObjectAnswer {
    /// An object in a handler's answer.
    fn from_handler_object(shape: &Shape, object: Payload, context: &CallContext) -> Self {
        let identity = identity::object_identity(shape, &object);
        Self { object, private: context.private.to_bytes(), identity, replace: Vec::new() }
    }
}

impl Server {
    pub(super) async fn handle_read_object(
        &self,
        call: &Call,
        request: &ReadRequest,
    ) -> Answer<ObjectAnswer> {
        let resource = self.find_resource(&request.type_name)?;
        let shape = resource.shape();
        let current = decode_and_check::decode_value(shape, &request.current)?;
        let call = call.with_configured_timeout(&current, "read");
        let context =
            self.new_context(&call, &request.private, &request.provider_meta, request.client)?;
        // A null object cannot be read. The handler would get a model with empty attributes.
        if current.is_null() {
            return Ok(ObjectAnswer::from_handler_object(
                shape,
                decode_and_check::encode_value(shape, &current),
                &context,
            ));
        }
        // A read may be dropped at a stop, because it has no effects. Changes are never dropped:
        // see `changed`.
        let object = match call.run_unless_stopped(resource.read(&current, context.clone())).await?
        {
            Some(object) => {
                let returned =
                    ReturnedObject { handler: "read", call: contract::Call::Read, object };
                decode_and_check::encode_checked(&call, shape, returned)
            }
            None => null_object(shape),
        };
        let outcome = ObjectAnswer::from_handler_object(shape, object, &context);
        let object = reuse_sent_if_unchanged(&request.current, &current, outcome.object);
        Ok(ObjectAnswer { object, ..outcome })
    }

    pub(super) async fn handle_plan_object(
        &self,
        call: &Call,
        request: &PlanRequest,
    ) -> Answer<ObjectAnswer> {
        let resource = self.find_resource(&request.type_name)?;
        let shape = resource.shape();
        let lives = decode_and_plan_by_rules(shape, request)?;
        let context =
            self.new_context(call, &request.prior_private, &request.provider_meta, request.client)?;
        if lives.planned.is_null() {
            return Ok(ObjectAnswer::from_handler_object(
                shape,
                decode_and_check::encode_value(shape, &lives.planned),
                &context,
            ));
        }
        let (planned, mut replace) =
            call.run_unless_stopped(resource.modify_plan(&lives, context.clone())).await?;
        if planned != lives.planned {
            // Only a plan that the handler changed has to be checked: the rules keep the author's
            // values by construction.
            decode_and_check::check_modified_plan(shape, &lives, &planned)?;
        }
        // After the handler, because it may have planned a change of an attribute that forces
        // replacement.
        replace.extend(plan::paths_forcing_replacement(
            shape,
            [&lives.prior, &lives.config, &planned],
        ));
        // Sorted and without duplicates, so that the answer does not depend on the order of the
        // rules.
        replace.sort();
        replace.dedup();
        Ok(ObjectAnswer {
            replace,
            ..ObjectAnswer::from_handler_object(
                shape,
                decode_and_check::encode_value(shape, &planned),
                &context,
            )
        })
    }

    /// Plans by only the rules, without the handler.
    pub(super) fn plan_by_rules(&self, request: &PlanRequest) -> Answer<Payload> {
        let shape = self.find_resource(&request.type_name)?.shape();
        Ok(decode_and_check::encode_value(
            shape,
            &decode_and_plan_by_rules(shape, request)?.planned,
        ))
    }

    pub(super) async fn handle_apply_object(
        &self,
        call: &Call,
        request: &ApplyRequest,
    ) -> Answer<ObjectAnswer> {
        let resource = self.find_resource(&request.type_name)?;
        let shape = resource.shape();
        let lives = ChangeValues {
            prior: decode_and_check::decode_value(shape, &request.prior)?,
            planned: decode_and_check::decode_value(shape, &request.planned)?,
            config: decode_and_check::decode_value(shape, &request.config)?,
        };
        let (operation, verb, object) = match (&lives.prior, &lives.planned) {
            (prior, Value::Null(_)) => ("delete", "delete ", prior),
            (Value::Null(_), planned) => ("create", "create ", planned),
            (_, planned) => ("update", "update ", planned),
        };
        // The timeouts are those of the new object, or for a deletion those of the stored one: the
        // configuration is null then.
        let call = call.with_configured_timeout(object, operation).with_default_summary_verb(verb);
        let (private, meta) = (&request.planned_private, &request.provider_meta);
        // `ApplyResourceChange` carries no capabilities, and every deferral is an error in it.
        let context = self.new_context(&call, private, meta, ClientCapabilities::default())?;
        let object = match apply_change(resource, operation, lives, &context).await {
            Ok(Payload::Absent) => null_object(shape),
            Ok(object) => object,
            Err(problem) => return Err(problem).or_fail(call.default_summary()),
        };
        Ok(ObjectAnswer::from_handler_object(shape, object, &context))
    }
}

/// The answer, in the received bytes if the object is unchanged, which is the usual case. This
/// saves the encoding.
fn reuse_sent_if_unchanged(sent: &Payload, current: &Value, answer: Payload) -> Payload {
    match (sent, &answer) {
        (Payload::Msgpack(_), Payload::Value(object, _)) if object.value() == current => {
            sent.clone()
        }
        _ => answer,
    }
}

/// The prior object and the object planned by the rules of the model; the latter is null to destroy
/// it.
fn decode_and_plan_by_rules(shape: &Shape, request: &PlanRequest) -> Answer<ChangeValues> {
    let prior = decode_and_check::decode_value(shape, &request.prior)?;
    let config = decode_and_check::decode_value(shape, &request.config)?;
    let proposed = decode_and_check::decode_value(shape, &request.proposed)?;
    // A destruction is null, and the rules do not apply to it.
    let planned = match proposed.is_null() {
        true => proposed,
        false => plan::plan_by_rules(shape, &prior, &config, &proposed),
    };
    Ok(ChangeValues { prior, config, planned })
}

/// An object that no longer exists: null, because hosts treat an absent value as an error.
fn null_object(shape: &Shape) -> Payload {
    decode_and_check::encode_value(shape, &Value::null(shape.ty().clone()))
}

/// Creates, updates or deletes. A deleted object has no result. A handler that fails, or panics,
/// after `keep` leaves the partial result.
async fn apply_change(
    resource: &dyn AnyResource,
    operation: &str,
    lives: ChangeValues,
    context: &CallContext,
) -> Answer<Payload> {
    if lives.planned.is_null() {
        // Otherwise no object exists that a handler could delete.
        if !lives.prior.is_null() {
            resource.delete(&lives.prior, context.clone()).await?;
        }
        return Ok(Payload::Absent);
    }
    let (shape, call) = (resource.shape(), &context.call);
    let (prior, planned) = (lives.prior.clone(), lives.planned.clone());
    let outcome = if prior.is_null() {
        // Caught here, and not only by the caller, because `keep` may have left a partial result,
        // which a panic must not lose.
        call.catch_panic(resource.create(lives, context.clone())).await
    } else {
        call.catch_panic(resource.update(lives, context.clone())).await
    };
    let problem = match outcome {
        Ok(computed) => {
            // Known planned values win over those of the handler, so a service that changes letter
            // case, for example, cannot make the result inconsistent with the plan.
            let object = plan::fill_unknown(&planned, &computed);
            let planned = decode_and_check::plain(&planned);
            let contract_call = contract::Call::Apply { planned: &planned, legacy: false };
            let returned = ReturnedObject { handler: operation, call: contract_call, object };
            return Ok(decode_and_check::encode_checked(call, shape, returned));
        }
        Err(problem) => problem,
    };
    let Some(draft) = context.partial.take() else { return Err(problem) };
    call.report(problem);
    // A partial update starts from the prior object: only the parts that the handler kept are known
    // to have changed.
    let base = if prior.is_null() { plan::replace_unknown_with_null(&planned) } else { prior };
    Ok(decode_and_check::encode_value(shape, &plan::merge_known_parts_of_draft(&base, &draft)))
}

#[cfg(test)]
mod tests;
