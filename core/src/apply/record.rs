//! The recorder of an apply: the state and the counts. Records of vertices are the only ones that change
//! them, and each kind of vertex has its own.

use std::cell::RefCell;

use formwork_value::{Known, Str, Value};

use super::visit::ExpandedResource;
use crate::addr::{InstanceAddr, ResourceAddr, ResourceMode, ResourceName};
use crate::change::{Action, OutputChange};
use crate::config::Output;
use crate::instance_steps::unknown_to_null;
use crate::plan::{Plan, PlanMode};
use crate::session::Session;
use crate::state::checks::{CheckResults, CheckSubject};
use crate::state::{OutputValue, State};

/// Numbers of objects created, changed and destroyed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangeCounts {
    /// There before, and managed from now on.
    pub imported: usize,
    /// Made.
    pub added: usize,
    /// Changed in place.
    pub changed: usize,
    /// Destroyed.
    pub destroyed: usize,
}

/// Makes a state of the results of visits.
pub(crate) struct ApplyRecorder<'r, 'a> {
    pub(super) session: &'r Session<'a>,
    pub(super) plan: &'r Plan,
    /// The state so far. Visits read it only before they wait for anything, records change it between
    /// visits, all on one task.
    pub(super) state: &'r RefCell<State>,
    pub(super) tally: ChangeCounts,
}

impl ApplyRecorder<'_, '_> {
    /// Records the value of an output of the root module.
    pub(super) fn record_output(&self, output: &Output, value: &Value) {
        // As in Terraform, an output that was known when it was planned is stored as planned, whatever
        // the applied objects hold.
        let planned = self.plan.outputs.get(&output.name).map(|change| &change.after);
        let value = planned.filter(|it| it.is_wholly_known()).unwrap_or(value);
        record_output(&mut self.state.borrow_mut(), &output.name, value, output.sensitive);
    }

    /// Records the instances of a resource, by instance of its module.
    pub(super) fn record_expanded(&self, resource: &ResourceName, expanded: Vec<ExpandedResource>) {
        for ExpandedResource { module, expansion, known_values } in expanded {
            let module = self.session.results.module_instance(&module);
            if let Some(results) = module.and_then(|module| module.resource_results(resource)) {
                results.set_expansion(expansion);
                known_values.into_iter().for_each(|(key, value)| results.set_instance(&key, value));
            }
        }
    }

    /// Counts a successful operation.
    pub(super) fn count_action(&mut self, action: Action) {
        match action {
            // The other half of a replacement is counted by its own vertex.
            Action::Create | Action::Replace(_) => self.tally.added += 1,
            Action::Update => self.tally.changed += 1,
            Action::NoOp | Action::Read | Action::Delete | Action::Forget => {}
        }
    }
}

/// Resets the results of the conditions of an instance.
pub(super) fn reset_instance_statuses(checks: &mut CheckResults, addr: &InstanceAddr) {
    let subject = CheckSubject::Resource(addr.resource.clone());
    checks
        .reset_statuses(&subject, |object| object.module == addr.module && object.key == addr.key);
}

/// Makes the changes that need no visit: outputs that go or were known while planning, objects that are no longer
/// managed, and data sources, of which nothing stays when what they stood beside is destroyed.
pub(super) fn apply_unvisited_changes(state: &mut State, plan: &Plan) {
    // Forgetting calls no provider, so it has no vertex.
    for change in plan.changes.values().filter(|change| change.action == Action::Forget) {
        state.remove_object(&change.addr, change.deposed.as_ref());
    }
    for (name, change) in &plan.outputs {
        if change.action == Action::Delete {
            state.outputs.remove(name);
        } else if plan.mode == PlanMode::RefreshOnly {
            record_output(state, name, &change.after, change.sensitive);
            store_null_for_unknown_output(state, name, change);
        }
    }
    if plan.mode == PlanMode::Destroy {
        let stays = |addr: &ResourceAddr| {
            // With `-target`, data sources outside of the targets may still be used by objects that
            // stay.
            plan.is_limited()
                && !plan.targets.iter().any(|target| target.may_contain_resource(addr))
        };
        state.resources.retain(|addr, _| addr.resource.mode() != ResourceMode::Data || stays(addr));
    }
}

/// Stores an output. An output without a value, or that must not be stored, is not in the state. A
/// value that is still unknown belongs to an object that is not a target.
fn record_output(state: &mut State, name: &Str, value: &Value, sensitive: bool) {
    match Known::new(unknown_to_null(&value.without_signed_zeros()).split_marks().0.into_value()) {
        Ok(value) if !value.value().is_null() => {
            state.outputs.insert(name.clone(), OutputValue { value, sensitive });
        }
        _ => drop(state.outputs.remove(name)),
    }
}

/// Stores null of its type for an output that is unknown as a whole, because the object that it comes
/// from does not exist. Terraform does so only after a refresh-only plan.
fn store_null_for_unknown_output(state: &mut State, name: &Str, change: &OutputChange) {
    if let Value::Unknown(unknown) = change.after.without_own_marks()
        && let Ok(value) = Known::new(Value::null(unknown.ty().clone()))
    {
        state.outputs.insert(name.clone(), OutputValue { value, sensitive: change.sensitive });
    }
}
