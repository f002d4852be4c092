//! The vertex of an instance that is made or changed, or of a data source that is read.

mod visit;

use std::fmt::{self, Display};
use std::sync::Arc;

use formwork_value::{Diagnostics, Value};

use super::{ApplyVertexKind, ApplyVisit, PlanNeeds};
use crate::addr::{DeposedKey, ProviderConfigAddr};
use crate::apply::record::{ApplyRecorder, reset_instance_statuses};
use crate::apply::visit::ApplyContext;
use crate::change::Change;
use crate::config::Resource;
use crate::graph::render::RenderedVertex;
use crate::instance_steps::point_diagnostics_at_parts;
use crate::shared_graph::VertexKind;
use crate::state::checks::CheckResults;
use crate::state::journal::Journal;
use crate::state::{ObjectState, State};

/// An instance that is made or changed.
#[derive(Debug)]
pub(crate) struct InstanceVertex<'c> {
    pub(crate) change: &'c Change,
    pub(crate) config: &'c Resource,
    /// Under which key the current object is deposed, if the new one is created first.
    pub(crate) deposes: Option<DeposedKey>,
}

/// An object that was created or changed, or the result of a failed attempt.
pub(crate) struct InstanceOutcome {
    /// The object; `None` if none exists.
    object: Option<Arc<ObjectState>>,
    /// Value that references to the instance see, if all went well.
    value: Option<Value>,
    /// Under which key the object before is deposed, if a new one was made first.
    deposes: Option<DeposedKey>,
    /// Whether the provider was called to change the object, and did.
    changed: bool,
}

// It follows the expansion of its resource, which waits for the module and for what the block
// mentions.
impl<'c> VertexKind<'c> for InstanceVertex<'c> {
    fn provider_config(&self) -> Option<&ProviderConfigAddr> {
        Some(&self.change.provider)
    }

    fn render(&self) -> RenderedVertex {
        let label = self.change.addr.resource_addr().config_addr().to_string();
        RenderedVertex::with_shape("box", self.to_string(), label)
    }
}

impl<'c> ApplyVertexKind<'c> for InstanceVertex<'c> {
    fn as_instance(&self) -> Option<&Self> {
        Some(self)
    }

    fn is_operation(&self) -> bool {
        true
    }

    fn is_wanted(&self, _: PlanNeeds<'_>) -> bool {
        true
    }

    fn reset_check_statuses(&self, checks: &mut CheckResults) {
        reset_instance_statuses(checks, &self.change.addr);
    }

    fn is_result_journaled(&self, journal: &Journal) -> bool {
        journal.may_start_dependents(&self.change.addr, None)
    }
}

impl<'c> ApplyVisit<'c> for InstanceVertex<'c> {
    type Outcome = InstanceOutcome;

    async fn visit(
        &self,
        view: ApplyContext<'_>,
        diags: &mut Diagnostics,
    ) -> Option<Self::Outcome> {
        // Much larger than what the other vertices need, which are many.
        let result = Box::pin(visit::visit_instance(view, diags, self)).await;
        point_diagnostics_at_parts(diags, &self.config.body, self.config.span);
        let mut outcome = result.ok()?;
        // Terraform counts successful operations only, even in the summary of a failed run.
        outcome.changed &= !diags.has_errors();
        Some(outcome)
    }

    fn record(&self, recorder: &mut ApplyRecorder<'_, '_>, outcome: Self::Outcome) {
        let InstanceOutcome { object, value, deposes, changed } = outcome;
        if changed {
            recorder.count_action(self.change.action);
        }
        self.record_in_state(&mut recorder.state.borrow_mut(), object, deposes);
        let addr = &self.change.addr;
        let module = recorder.session.results.module_instance(&addr.module);
        let results = module.and_then(|module| module.resource_results(&addr.resource));
        if let (Some(results), Some(value)) = (results, value) {
            results.set_instance(&addr.key, value);
        }
    }
}

impl InstanceVertex<'_> {
    fn record_in_state(
        &self,
        state: &mut State,
        object: Option<Arc<ObjectState>>,
        deposes: Option<DeposedKey>,
    ) {
        let addr = &self.change.addr;
        let Some(object) = object else {
            // A creation without effect keeps the previous object, if that is destroyed only later.
            if self.deposes.is_none() {
                state.remove_object(addr, None);
            }
            return;
        };
        let resource = state.resource_or_insert(addr.resource_addr(), &self.change.provider);
        // The state may name another provider configuration. The next run must read the object through
        // the one that has made it.
        resource.provider = self.change.provider.clone();
        let instance = resource.instances.or_default(&addr.key);
        let before = instance.current.replace(object);
        if let (Some(key), Some(before)) = (deposes, before) {
            instance.deposed.insert(key, before);
        }
    }
}

impl Display for InstanceVertex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.change.addr.fmt(f)
    }
}
