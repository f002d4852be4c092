//! Records the results of visits. Only this module changes the plan.

use std::sync::Arc;

use formwork_value::{Known, Str, Type, Value};

use super::planned_resources::PlannedResources;
use super::prefetch::PrefetchedObjects;
use super::prior_state::RefreshResult;
use super::resource_vertex::ResourceVertex;
use super::visit_outcome::{ObjectOutcome, ResourceOutcome};
use super::{InterruptedSearchResult, Plan, PlanMode, PlanOptions};
use crate::addr::{
    DeposedKey, InstanceAddr, ProviderConfigAddr, ResourceAddr, ResourceMode, Target,
};
use crate::change::{Action, OutputChange};
use crate::eval::condition_results::summarize_check_results;
use crate::event::Event;
use crate::moved::Moves;
use crate::session::Session;
use crate::state::checks::{CheckResults, CheckSubject};
use crate::state::{ObjectAttributes, ObjectState, OutputValue};

/// Makes a plan of the results of visits.
pub(crate) struct PlanRecorder<'r, 'a> {
    pub(super) session: &'r Session<'a>,
    pub(super) prefetched: &'r PrefetchedObjects,
    pub(super) planned_resources: &'r PlannedResources,
    pub(super) moves: &'r Moves,
    pub(super) plan: Plan,
}

impl PlanRecorder<'_, '_> {
    /// Records the results for a resource of the configuration, by instance of its module.
    pub(super) fn record_resource(
        &mut self,
        vertex: &ResourceVertex<'_>,
        outcomes: Vec<ResourceOutcome>,
    ) {
        if vertex.addr.resource.mode() == ResourceMode::Data {
            self.remove_data_objects(vertex);
        }
        self.prefetched.remove_objects(&vertex.addr);
        self.planned_resources.set_planned_resource(&vertex.addr, &outcomes);
        for outcome in outcomes {
            self.record_planned_resource(vertex, outcome);
        }
        for (module, prior) in &vertex.prior {
            // The state follows the block to another provider configuration, even if no object
            // changes.
            if prior.provider != vertex.provider
                && let Some(state) =
                    self.plan.prior.resources.get_mut(&vertex.addr_in_module(module))
            {
                Arc::make_mut(state).provider = vertex.provider.clone();
            }
        }
    }

    /// Records the result for one instance of the module.
    fn record_planned_resource(&mut self, vertex: &ResourceVertex<'_>, outcome: ResourceOutcome) {
        let ResourceOutcome { addr, expansion, objects } = outcome;
        let module = self.session.results.module_instance(&addr.module);
        let results = module.and_then(|module| module.resource_results(&addr.resource));
        if let (Some(results), Some(expansion)) = (results, expansion) {
            // The instance of an object may have been removed since its creation, or have another
            // kind of key.
            let placed = objects.iter().filter(|object| expansion.contains(&object.key));
            let placed: Vec<_> = placed.filter_map(|o| Some((&o.key, o.value.clone()?))).collect();
            results.set_expansion(expansion);
            placed.into_iter().for_each(|(key, value)| results.set_instance(key, value));
        }
        for object in objects {
            self.record_object(&addr, &vertex.provider, object);
        }
    }

    /// Drops the stored objects of a data source: only those read this time are kept.
    fn remove_data_objects(&mut self, vertex: &ResourceVertex<'_>) {
        for (module, _) in &vertex.prior {
            self.plan.prior.resources.remove(&vertex.addr_in_module(module));
        }
    }

    /// Records the result for one object.
    pub(super) fn record_object(
        &mut self,
        resource: &ResourceAddr,
        provider: &ProviderConfigAddr,
        outcome: ObjectOutcome,
    ) {
        let addr = resource.instance_addr(outcome.key.clone());
        if let RefreshResult::FoundInterrupted(_) = outcome.refreshed {
            self.plan.searches.insert(addr.clone(), InterruptedSearchResult::Found);
        }
        match outcome.refreshed {
            RefreshResult::Unchanged => {}
            RefreshResult::Gone => self.plan.prior.remove_object(&addr, outcome.deposed.as_ref()),
            RefreshResult::NotCreated => {
                self.plan.searches.insert(addr.clone(), InterruptedSearchResult::NotCreated);
            }
            RefreshResult::Changed(object) | RefreshResult::FoundInterrupted(object) => {
                self.put_in_prior_state(&addr, provider, outcome.deposed.as_ref(), object);
            }
            RefreshResult::ImportedTogether { object, along } => {
                self.put_in_prior_state(&addr, provider, None, object);
                along.into_iter().for_each(|(addr, object)| {
                    self.put_in_prior_state(&addr, provider, None, object);
                });
            }
        }
        let key = (addr, outcome.deposed);
        // The built-in provider returns the number that it was given.
        let is_read =
            resource.resource.mode() == ResourceMode::Managed && !provider.provider.is_builtin();
        if self.plan.mode == PlanMode::RefreshOnly && is_read {
            let read = self.plan.prior.find_object(&key.0, key.1.as_ref());
            self.plan.reread_numbers |= read.is_some_and(|object| match &object.attributes {
                ObjectAttributes::Json(text) => json_has_number(text),
                // Every number is a string there, and is written as a number from now on.
                ObjectAttributes::Flatmap(_) => true,
            });
        }
        // A full destroy does not report drift.
        if let Some(mut drift) = outcome.drift.filter(|_| self.plan.mode != PlanMode::Destroy) {
            drift.moved_from = self.moves.original_address(&key.0).cloned();
            self.plan.drift.insert(key.clone(), Box::new(drift));
        }
        if let Some(mut change) = outcome.change {
            // A full destroy removes the object at any address, so it reports no move.
            if self.plan.mode != PlanMode::Destroy {
                change.moved_from = self.moves.original_address(&key.0).cloned();
            }
            self.session.watch.on_event(&Event::Planned(&change));
            self.plan.changes.insert(key, Box::new(change));
        }
    }

    fn put_in_prior_state(
        &mut self,
        addr: &InstanceAddr,
        provider: &ProviderConfigAddr,
        deposed: Option<&DeposedKey>,
        object: Arc<ObjectState>,
    ) {
        let state = self.plan.prior.resource_or_insert(addr.resource_addr(), provider);
        let instance = state.instances.or_default(&addr.key);
        match deposed {
            Some(key) => drop(instance.deposed.insert(key.clone(), object)),
            None => instance.current = Some(object),
        }
    }

    /// Records the value of an output of the root module.
    pub(super) fn record_output(&mut self, name: &Str, after: Value, sensitive: bool) {
        if self.plan.mode == PlanMode::Destroy {
            return;
        }
        let after = after.without_signed_zeros();
        let stored = self.session.state.outputs.get(name);
        self.refresh_output_in_state(name, &after, sensitive);
        let change = output_change(stored, after, sensitive);
        self.plan.outputs.insert(name.clone(), change);
    }

    /// Records the known value of an output in the state before applying, so that a plan that only
    /// refreshes brings outputs up to date as well.
    fn refresh_output_in_state(&mut self, name: &Str, after: &Value, sensitive: bool) {
        let outputs = &mut self.plan.prior.outputs;
        let bare = after.clone().split_marks().0.into_value();
        match Known::new(bare) {
            // As in Terraform, an output that is null is not stored.
            Ok(value) if value.value().is_null() => drop(outputs.remove(name)),
            Ok(value) => drop(outputs.insert(name.clone(), OutputValue { value, sensitive })),
            Err(_) => {}
        }
    }

    /// Completes the plan with everything that has no vertex.
    pub(super) fn into_plan(self, options: &PlanOptions) -> Plan {
        let Self { session, mut plan, .. } = self;
        let declared = &session.config.root.outputs;
        let limited = plan.is_limited();
        for (name, output) in &session.state.outputs {
            // As in Terraform, a limited plan keeps stored outputs unchanged.
            let is_deleted =
                !limited && (options.mode == PlanMode::Destroy || !declared.contains_key(name));
            if is_deleted {
                let change = OutputChange {
                    action: Action::Delete,
                    before: output.value.value().clone(),
                    after: Value::null(Type::Dynamic),
                    sensitive: output.sensitive,
                };
                plan.outputs.insert(name.clone(), change);
            }
        }
        remove_lost_data_sources(&mut plan, session);
        let whole_end = plan.mode == PlanMode::Destroy && plan.targets.is_empty();
        // Data sources that are read later, and outputs that go with everything, are listed all the
        // same.
        let is_listed = |subject: &CheckSubject| {
            subject.is_data() || whole_end && matches!(subject, CheckSubject::Output(_))
        };
        let before = CheckResults::default();
        plan.checks = summarize_check_results(session.config, session.results, &before, is_listed);
        plan.functions = session.results.provider_functions().function_hashes();
        plan
    }
}

/// Data sources that are only in the state are dropped, unless the plan leaves them alone: there is
/// nothing else to do about them.
fn remove_lost_data_sources(plan: &mut Plan, session: &Session<'_>) {
    let Plan { prior, targets, excludes, .. } = plan;
    let touches =
        |some: &[Target], addr: &_| some.iter().any(|target| target.may_contain_resource(addr));
    prior.resources.retain(|addr, _| {
        addr.resource.mode() != ResourceMode::Data
            || session.config.find_resource(&addr.config_addr()).is_some()
            || !targets.is_empty() && !touches(targets, addr)
            || touches(excludes, addr)
    });
}

/// Whether a JSON document holds a number.
fn json_has_number(json: &[u8]) -> bool {
    // Scanned instead of parsed, because this is done for every object of the state.
    let (mut in_string, mut escaped) = (false, false);
    json.iter().any(|byte| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            _ => return !in_string && byte.is_ascii_digit(),
        }
        false
    })
}

fn output_change(stored: Option<&OutputValue>, after: Value, sensitive: bool) -> OutputChange {
    let before = stored.map_or_else(
        || Value::null(Type::Dynamic),
        |stored| Known::into_value(stored.value.clone()),
    );
    let bare = |value: &Value| value.clone().split_marks().0.into_value();
    let same_secrecy = stored.is_none_or(|stored| stored.sensitive == sensitive);
    let action = match (stored, after.is_null()) {
        (None, true) => Action::NoOp,
        (None, false) => Action::Create,
        (Some(_), false) if same_secrecy && bare(&before) == bare(&after) => Action::NoOp,
        (Some(_), _) => Action::Update,
    };
    // A value that was secret until now is not shown beside the one that no longer is.
    let sensitive = sensitive || stored.is_some_and(|stored| stored.sensitive);
    OutputChange { action, before, after, sensitive }
}
