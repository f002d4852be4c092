//! Makes or changes one instance, or reads a data source. One straight function from evaluation to
//! record, so that the order of calls and durable writes can be read from top to bottom.

use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use formwork_plugin_protocol::contract::{self, conform};
use formwork_value::diag::{Blame, Severity};
use formwork_value::{Diagnostic, Diagnostics, Path, Plain, Reported, Value};

use super::{InstanceOutcome, InstanceVertex};
use crate::addr::ResourceMode;
use crate::apply::visit::ApplyContext;
use crate::apply::visit::changing_call::{
    AnnouncedCall, ChangeCall, ObjectAfterCall, SalvagedResult,
};
use crate::apply::visit::provision::{self, ProvisionerRun};
use crate::change::{Action, Change};
use crate::config::ProvisionerTiming;
use crate::eval::ModuleScope;
use crate::event::Event;
use crate::instance_steps::{
    ChangeRequest, INVALID_PLAN_SUMMARY, InstanceConfig, PriorObject, ResourceClient,
    ResourceWithAddress, ViolationSummary, find_client_of_config, object_for_state, object_label,
    prior_object_label, sensitive_paths, unmark_value,
};
use crate::messages;
use crate::progress::{ProgressSubject, wait_with_progress};
use crate::provider::{ChangeValues, PlannedObject, ProviderClient, ResourceType, add_marks};
use crate::state::journal::{self, Intent};
use crate::state::{ObjectState, ObjectStatus};

/// Visits an instance.
pub(super) async fn visit_instance(
    view: ApplyContext<'_>,
    diags: &mut Diagnostics,
    vertex: &InstanceVertex<'_>,
) -> Result<InstanceOutcome, Reported> {
    let InstanceVertex { change, config: block, .. } = *vertex;
    let resource =
        ResourceWithAddress { addr: &change.addr.resource_addr().config_addr(), config: block };
    let (client, ty) = find_client_of_config(view.session, diags, &change.provider, resource)?;
    let scope = view.instance_scope(diags, &change.addr)?;
    let (session, addr, failure) = (view.session, &change.addr, Severity::Error);
    let written = InstanceConfig { session, config: block, addr, failure };
    // Evaluated again: values that were unknown in the plan are known now. Known ones give the same
    // result, which the comparison of the plans checks.
    let config = written.evaluate(diags, &ty, &scope).await?;
    let work = InstanceWork { view, vertex, written, client: &client, ty: &ty };
    let outcome = match change.addr.resource.mode() {
        ResourceMode::Data => work.read_data_source(diags, &config).await?,
        ResourceMode::Managed | ResourceMode::Ephemeral => {
            work.create_or_update(diags, &config, &scope).await?
        }
    };
    if let Some(value) = &outcome.value {
        // One that does not hold stops what depends on the instance, which is kept as it is. Errors
        // are in `diags`, and that is what stops dependents.
        let _ = written.check_postconditions(diags, scope, value).await;
    }
    Ok(outcome)
}

fn taint_object(object: &ObjectState) -> ObjectState {
    ObjectState { status: ObjectStatus::Tainted, ..object.clone() }
}

/// A planned object as the journal keeps it: sensitive parts are left unknown.
fn make_sensitive_parts_unknown(ty: &ResourceType, planned: &Value, secrets: &[Path]) -> Value {
    let mut paths = secrets.to_vec();
    paths.extend(ty.schema_block().sensitive_paths(planned));
    let hidden = |value: &Value| Value::unknown(value.ty());
    paths.into_iter().fold(planned.clone(), |partial, path| {
        let exact = partial.replace_at(&path, hidden);
        // Elements of sets have no path: then the whole attribute is hidden.
        // Hiding too much only costs a better comparison after a crash. Hiding too little would
        // write a secret to the disk.
        let hide_whole_attribute =
            || partial.replace_at(&Path(path.0.iter().take(1).cloned().collect()), hidden);
        exact.or_else(hide_whole_attribute).unwrap_or_else(|| partial.clone())
    })
}

/// Value of a configuration, and the scope in which it was evaluated.
#[derive(Clone, Copy)]
struct EvaluatedConfig<'a> {
    value: &'a Value,
    scope: &'a ModuleScope<'a>,
}

/// The work on one instance.
struct InstanceWork<'a> {
    view: ApplyContext<'a>,
    vertex: &'a InstanceVertex<'a>,
    written: InstanceConfig<'a>,
    client: &'a Rc<ProviderClient>,
    ty: &'a ResourceType,
}

impl<'a> InstanceWork<'a> {
    fn planned_change(&self) -> &'a Change {
        self.vertex.change
    }

    fn send_event(&self, event: &Event<'_>) {
        self.view.session.watch.on_event(event);
    }

    /// Action that is done now: the second half of a replacement is a creation.
    fn current_action(&self) -> Action {
        match self.planned_change().action {
            Action::Replace(_) => Action::Create,
            action => action,
        }
    }

    /// Whether the change creates an object beside which provisioners run.
    fn has_create_provisioners(&self) -> bool {
        let provisioners = &*self.written.config.provisioners;
        self.current_action() == Action::Create
            && provision::has_provisioner_at(provisioners, ProvisionerTiming::Create)
    }

    async fn read_data_source(
        &self,
        diags: &mut Diagnostics,
        config: &Value,
    ) -> Result<InstanceOutcome, Reported> {
        let addr = &self.planned_change().addr;
        if !config.is_wholly_known() {
            let detail = format!(
                "The configuration of {addr} holds values that are still not known while applying."
            );
            return Err(diags.error(
                Diagnostic::error(messages::CONFIGURATION_CONTAINS_UNKNOWN_VALUE, detail)
                    .blamed_on(Blame::Internal),
            ));
        }
        // The provider has not judged yet what was unknown while planning.
        self.client
            .validate_resource_config(diags, self.ty, config, self.written.call_context())
            .await?;
        let resource_client = ResourceClient { client: self.client, ty: self.ty };
        let read = self.written.read_data_source(diags, resource_client, config).await?;
        // Without an answer, the state keeps the stored object, and checks see the request.
        let object = match read.is_answered {
            true => Some(read.object),
            false => self.prior_object().cloned(),
        };
        let (value, changed) = (Some(read.value), read.is_answered);
        Ok(InstanceOutcome { object, value, deposes: None, changed })
    }

    async fn create_or_update(
        &self,
        diags: &mut Diagnostics,
        config: &Value,
        scope: &ModuleScope<'_>,
    ) -> Result<InstanceOutcome, Reported> {
        let about = self.written.call_context();
        // A wholly known configuration was validated while planning. A partly unknown one was
        // validated with the unknown parts, so a provider may reject it only now.
        if !self.planned_change().config_known {
            self.client.validate_resource_config(diags, self.ty, config, about).await?;
        }
        // The second half of a replacement is a creation: the provider must not see the private
        // data of the old object.
        let stored = self.prior_object().filter(|_| self.planned_change().action == Action::Update);
        let prior = match stored {
            Some(_) => unmark_value(&self.planned_change().before),
            // The prior value of a creation is null of the object's type (protocol,
            // PlanResourceChange).
            None => conform::default_destroy_plan(self.ty.schema_block()),
        };
        let secrets = self.secret_paths(config);
        let change_request =
            ChangeRequest { client: self.client, ty: self.ty, about, secrets: &secrets };
        let plain_config = unmark_value(config);
        let prior_object = PriorObject { value: &prior, object: stored.map(|object| &**object) };
        let planned =
            self.replan_and_compare(diags, change_request, prior_object, &plain_config).await?;
        // The final plan may be no change any more, for example when an unknown value turned out to
        // be the stored one. A call would then change something that the user has not approved.
        if planned.value == prior {
            return self.record_unchanged(diags, planned, config);
        }
        let predecessor = match self.vertex.deposes {
            Some(_) => unmark_value(&self.planned_change().before),
            None => conform::default_destroy_plan(self.ty.schema_block()),
        };
        // The planned value goes to the journal, where the attributes serve to find the object
        // after a crash.
        let announced = make_sensitive_parts_unknown(self.ty, planned.value.value(), &secrets);
        let call = ChangeCall {
            view: self.view,
            client: self.client,
            ty: self.ty,
            about,
            intent: self.intent_to_announce(stored, &announced),
            values: ChangeValues {
                prior: &prior,
                proposed: &planned.value,
                config: &plain_config,
                private: &planned.private,
                identity: planned.identity.as_ref(),
            },
            object: stored.map(|object| &**object),
            predecessor: predecessor.value(),
            secrets: &secrets,
            has_provisioners: self.has_create_provisioners(),
        };
        self.call_provider(diags, call, EvaluatedConfig { value: config, scope }).await
    }

    /// Returns the paths that are sensitive in the configuration or in one of the planned values.
    fn secret_paths(&self, config: &Value) -> Vec<Path> {
        let mut secrets = sensitive_paths(config);
        secrets.extend(sensitive_paths(&self.planned_change().before));
        secrets.extend(sensitive_paths(&self.planned_change().after));
        secrets
    }

    /// Asks for the plan again, now that more is known, and holds it against the one the user saw.
    async fn replan_and_compare(
        &self,
        diags: &mut Diagnostics,
        change_request: ChangeRequest<'_>,
        prior: PriorObject<'_>,
        config: &Plain,
    ) -> Result<PlannedObject, Reported> {
        let ignored = &self.written.config.lifecycle.ignore_changes;
        let mut planned = change_request.plan_change(diags, prior, config, ignored).await?;
        let replaced = change_request.paths_requiring_replace(diags, prior.value, &planned)?;
        if !replaced.is_empty() {
            // As in Terraform, the replacement is held against the update that was shown, so every
            // path that it changes is reported.
            planned = change_request.plan_replacement(diags, config, &planned.private).await?;
        }
        let shown = unmark_value(&self.planned_change().after);
        let summary = messages::PROVIDER_PRODUCED_INCONSISTENT_FINAL_PLAN;
        let reported_as = ViolationSummary { summary, ..INVALID_PLAN_SUMMARY };
        let call = contract::Call::FinalPlan { shown: &shown, replaced: &replaced };
        change_request.check_contract(diags, reported_as, call, &planned.value)?;
        Ok(planned)
    }

    fn intent_to_announce<'i>(
        &'i self,
        stored: Option<&'i Arc<ObjectState>>,
        planned: &'i Value,
    ) -> Intent<'i> {
        let Change { addr, provider, .. } = self.planned_change();
        let deposes = self.vertex.deposes.as_ref();
        let (action, prior) = match stored {
            Some(object) => (journal::CallAction::Update, Some(object)),
            // With `deposes` the old object is still in this slot. Before any other creation the
            // slot is empty.
            None => {
                (journal::CallAction::Create, self.prior_object().filter(|_| deposes.is_some()))
            }
        };
        let prior = prior.map(|object| &**object);
        Intent { addr, provider, deposed: None, deposes, action, prior, planned }
    }

    fn prior_object(&self) -> Option<&'a Arc<ObjectState>> {
        self.view.plan.prior.current_object(&self.vertex.change.addr)
    }

    /// Handles an instance for which the provider need not be called: only its record in the state
    /// changes. A change of sensitivity is reported as a change, as planned.
    fn record_unchanged(
        &self,
        diags: &mut Diagnostics,
        planned: PlannedObject,
        config: &Value,
    ) -> Result<InstanceOutcome, Reported> {
        let value = add_marks(self.ty, planned.value, &sensitive_paths(config));
        let prior = self.prior_object();
        let object = ObjectState {
            private: prior.map_or_else(Bytes::new, |object| object.private.clone()),
            identity: prior.and_then(|object| object.identity.clone()),
            ..self.object_for_state(diags, &value)?
        };
        let object = Some(Arc::new(object));
        let Change { addr, before, action, .. } = self.planned_change();
        let changed = value != *before;
        if changed {
            let (action, deposed, label, elapsed) =
                (*action, None, object_label(&value), Duration::ZERO);
            self.send_event(&Event::ChangeStart { addr, deposed, action, label: label.clone() });
            self.send_event(&Event::ChangeDone { addr, deposed, action, label, elapsed });
        }
        Ok(InstanceOutcome { object, value: Some(value), deposes: None, changed })
    }

    /// Announces the call, makes it, keeps the answer, and only then looks at it.
    async fn call_provider(
        &self,
        diags: &mut Diagnostics,
        call: ChangeCall<'_>,
        config: EvaluatedConfig<'_>,
    ) -> Result<InstanceOutcome, Reported> {
        let (change, action) = (self.planned_change(), self.current_action());
        let (addr, deposed) = (&change.addr, None);
        let announced = call.announce(diags).await?;
        let before = prior_object_label(&change.before).filter(|_| action == Action::Update);
        self.send_event(&Event::ChangeStart { addr, deposed, action, label: before.clone() });
        let work = pin!(async {
            let salvaged = announced.send(diags).await;
            self.record_result(diags, announced, salvaged, config).await
        });
        let subject = ProgressSubject { addr, action, label: before.as_ref() };
        let (outcome, elapsed) = wait_with_progress(self.view.session, subject, work).await;
        match &outcome {
            Ok(InstanceOutcome { value: Some(value), .. }) => {
                let label = object_label(value);
                self.send_event(&Event::ChangeDone { addr, deposed, action, label, elapsed });
            }
            _ => self.send_event(&Event::ChangeFailed { addr, action, elapsed }),
        }
        outcome
    }

    /// Records the result of the call, whether it went well or not, and runs the provisioners of an
    /// object that was made.
    async fn record_result(
        &self,
        diags: &mut Diagnostics,
        announced: AnnouncedCall<'_>,
        salvaged: SalvagedResult,
        config: EvaluatedConfig<'_>,
    ) -> Result<InstanceOutcome, Reported> {
        let SalvagedResult { result, after_call } = salvaged;
        let creating = self.current_action() == Action::Create;
        let provisioners = &*self.written.config.provisioners;
        let provisions = self.has_create_provisioners();
        let in_doubt = matches!(after_call, ObjectAfterCall::Unknown);
        // Provisioners of a new object have not run when its creation failed.
        let sound = matches!(after_call, ObjectAfterCall::FromRead(_)) && !provisions;
        let (value, mut object) = match after_call {
            ObjectAfterCall::Unchanged | ObjectAfterCall::Unknown => {
                // A failed update leaves the object as it is in the state. A failed creation leaves
                // none.
                (None, self.prior_object().filter(|_| !creating).cloned())
            }
            ObjectAfterCall::FromAnswer(seen) | ObjectAfterCall::FromRead(seen) => {
                let is_gone = seen.value.value().is_null();
                let value = add_marks(self.ty, seen.value, &sensitive_paths(config.value));
                // An answer without an identity must not erase the stored one.
                let prior_identity = self.prior_object().filter(|_| !creating);
                let prior_identity = prior_identity.and_then(|object| object.identity.clone());
                // As in Terraform, an object from a failed creation is tainted and replaced by the
                // next apply. One that a later read found as planned is complete.
                let half_made = result.is_err() && creating && !sound;
                let object = match is_gone {
                    true => None,
                    false => Some(Arc::new(ObjectState {
                        status: if half_made { ObjectStatus::Tainted } else { ObjectStatus::Ready },
                        private: seen.private,
                        identity: seen.identity.or(prior_identity),
                        ..self.object_for_state(diags, &value)?
                    })),
                };
                (Some(value), object)
            }
        };
        let mut value = value.filter(|_| result.is_ok());
        if let Some(made) = value.as_ref().filter(|_| provisions) {
            // Tainted in the journal as long as that runs: if the program is interrupted in the
            // meantime, the object is half made.
            let half_made = object.as_deref().map(taint_object);
            announced.record_interim_result(diags, half_made.as_ref());
            let scope = config.scope.clone().with_self(made.clone());
            let addr = &self.planned_change().addr;
            let run = ProvisionerRun { addr, provisioners, when: ProvisionerTiming::Create };
            let done = Box::pin(provision::run_provisioners(self.view, diags, run, &scope)).await;
            if done.is_err() {
                // Terraform looks at the object after its provisioners, whether they failed or not.
                let scope = config.scope.clone();
                let _ = self.written.check_postconditions(diags, scope, made).await;
                value = None;
                object = half_made.map(Arc::new);
            }
        }
        // An operation without a known effect must stay open. A record here would count as its
        // result.
        if !in_doubt {
            announced.settle_operation(diags, object.as_deref());
        }
        // Without a successor the old object remains the current one, so that the instance does not
        // vanish from the state.
        let deposes = self.vertex.deposes.clone().filter(|_| object.is_some());
        Ok(InstanceOutcome { object, value, deposes, changed: true })
    }

    /// The object for the state, as far as the plan describes it.
    fn object_for_state(
        &self,
        diags: &mut Diagnostics,
        value: &Value,
    ) -> Result<ObjectState, Reported> {
        let Change { addr, dependencies, create_before_destroy, .. } = self.planned_change();
        let object = object_for_state(diags, self.ty, addr, value)?;
        let (dependencies, create_before_destroy) = (dependencies.clone(), *create_before_destroy);
        Ok(ObjectState { dependencies, create_before_destroy, ..object })
    }
}
