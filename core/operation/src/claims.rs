//! Claims of a run that applies a plan, where other runs apply to the same state at the same time.

use std::time::Duration;

use formwork_backend::claims::Claims;
use formwork_core::addr::ResourceMode;
use formwork_core::change::Action;
use formwork_core::plan::Plan;
use formwork_core::state::intent_log::StateAccess;
use formwork_core::state::merge::StateDifference;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::messages;
use crate::state_session::StateSession;

impl StateSession {
    /// Claims everything that a plan changes, for the run of a journal, where other runs may go on at
    /// the same time.
    ///
    /// # Errors
    /// When another run has claimed or changed some of it.
    pub(crate) async fn claim_plan_changes(
        &mut self,
        diags: &mut Diagnostics,
        plan: &Plan,
        run: &str,
    ) -> Result<(), Reported> {
        let claims = claims_of_plan(plan, run, self.timeout);
        self.store.claim_changes(claims).await.map_err(|error| diags.error(error.diagnostic()))
    }

    /// Whether the state that a plan starts from has to be stored before anything is done, because other
    /// runs write meanwhile: a refresh has found changes of the objects that the plan changes. A reader
    /// of the journal could not tell these from changes of another run.
    pub(crate) fn must_store_drift_before_apply(&self, plan: &Plan) -> bool {
        if self.store.state_access() != StateAccess::Shared {
            return false;
        }
        let differing = StateDifference::between(&self.file.state, &plan.prior).instances;
        let mut changed = plan.changes.values().filter(|change| change.needs_apply());
        changed.any(|change| differing.contains(&change.addr))
    }
}

/// The claims of a run that applies a plan.
fn claims_of_plan(plan: &Plan, run: &str, timeout: Duration) -> Claims {
    let mut claims = Claims { run: run.to_owned(), timeout, ..Claims::default() };
    let pending = plan.changes.values().filter(|change| change.needs_apply());
    // A data source has no object that two runs could change.
    for change in pending.filter(|change| change.addr.resource.mode() == ResourceMode::Managed) {
        claims.changes.insert(change.addr.clone());
        // A move empties the old address, where another run could create something.
        claims.changes.extend(change.moved_from.clone());
        // A destroy follows the dependencies in the state, which the configuration may not have any
        // more.
        let needed = change.dependencies.iter().chain(&*change.prior_dependencies);
        claims.reads.extend(needed.cloned());
    }
    let outputs = plan.outputs.iter().filter(|(_, change)| change.action != Action::NoOp);
    claims.outputs.extend(outputs.map(|(name, _)| name.clone()));
    claims
}

/// Warns that only this machine has the intents of a run, although its state is shared.
pub(crate) fn unshared_journal_warning(reason: &str) -> Diagnostic {
    let detail = format!(
        "{reason}. If this machine is lost while this run goes on, what it did since it began is \
         not known anywhere else. `docs/backends.md` says what the backend needs to keep it."
    );
    Diagnostic::warning(messages::JOURNAL_ON_THIS_MACHINE_ONLY, detail)
}
