//! Claims of a run that applies a plan while other runs may apply to the same state concurrently.

use std::time::Duration;

use formwork_backend::StoreError;
use formwork_backend::claims::{ClaimConflict, Claims};
use formwork_core::addr::{InstanceAddr, ResourceMode};
use formwork_core::change::Action;
use formwork_core::plan::Plan;
use formwork_core::state::State;
use formwork_core::state::checks::{CheckResult, CheckResults, CheckStatus};
use formwork_core::state::file::StateFile;
use formwork_core::state::intent_log::StateAccess;
use formwork_core::state::merge::{StateDifference, StateOwnership, merge_states};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::messages;
use crate::state_session::StateSession;

/// The reason why a plan was not claimed.
pub(crate) enum ClaimError {
    /// Other runs have changed parts of the plan since it was created. A new plan could be claimed.
    Overtaken(Box<Diagnostic>),
    /// Another failure, which was reported.
    Reported(Reported),
}

impl From<Reported> for ClaimError {
    fn from(reported: Reported) -> Self {
        Self::Reported(reported)
    }
}

/// A plan to claim.
pub(crate) struct PlanToClaim<'a> {
    pub(crate) plan: &'a Plan,
    /// The run that owns the journal.
    pub(crate) run: &'a str,
    /// The stored state that the plan was created for, if a later state is stored now.
    pub(crate) planned_on: Option<State>,
}

impl StateSession {
    /// Claims everything that a plan changes, for the run that owns a journal, if other runs may use
    /// the state concurrently.
    ///
    /// # Errors
    /// Returns an error if another run has claimed or changed a part of the plan. A changed part is
    /// not reported yet.
    pub(crate) async fn claim_plan_changes(
        &mut self,
        diags: &mut Diagnostics,
        plan_to_claim: PlanToClaim<'_>,
    ) -> Result<(), ClaimError> {
        let PlanToClaim { plan, run, planned_on } = plan_to_claim;
        let planned_on = planned_on.map(Box::new);
        let stores_other_changes = !self.store.is_read_from_write_location()
            || self.has_unstored_recovery()
            || stores_unclaimed_changes(plan, &self.file);
        let claims = claims_of_plan(plan, run, self.timeout);
        let claims = Claims { planned_on, stores_other_changes, ..claims };
        match self.store.claim_changes(claims).await {
            Err(StoreError::Conflict(conflict)) if matches!(*conflict, ClaimConflict::Moved(_)) => {
                Err(ClaimError::Overtaken(Box::new(conflict.diagnostic())))
            }
            Err(error) => Err(ClaimError::Reported(diags.error(error.diagnostic()))),
            Ok(()) => Ok(()),
        }
    }

    /// Rereads the state, which other runs may have changed.
    ///
    /// # Errors
    /// Returns an error if the state cannot be read.
    pub(crate) async fn read_again(&mut self, diags: &mut Diagnostics) -> Result<(), Reported> {
        let file = self.store.read().await.map_err(|error| diags.error(error.diagnostic()))?;
        self.found = file.is_some();
        self.file = file.unwrap_or_else(StateFile::new_empty);
        Ok(())
    }

    /// Whether the state that a plan starts from has to be stored before the first change, because other
    /// runs write concurrently: a refresh has found drift of the objects that the plan changes. A reader
    /// of the journal could not distinguish this drift from the changes of another run.
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
        // A move vacates the old address, where another run could create an object.
        claims.changes.extend(change.moved_from.clone());
        // A destroy follows the dependencies in the state, which may not be in the configuration
        // any more.
        let dependencies = change.dependencies.iter().chain(&*change.prior_dependencies);
        claims.reads.extend(dependencies.cloned());
    }
    let outputs = plan.outputs.iter().filter(|(_, change)| change.action != Action::NoOp);
    claims.outputs.extend(outputs.map(|(name, _)| name.clone()));
    claims
}

/// Whether the apply of a plan stores something beside the changes that it claims: other addresses, drift, or other
/// results of checks.
fn stores_unclaimed_changes(plan: &Plan, file: &StateFile) -> bool {
    let stored = file.check_results.as_deref().map(CheckResults::from_json).unwrap_or_default();
    let is_same = |one: &CheckResult, other: &CheckResult| {
        (&one.module, &one.subject) == (&other.module, &other.subject)
    };
    // An unknown result depends on a change, which is claimed. The results of data sources are not kept.
    let mut known = plan
        .checks
        .0
        .iter()
        .filter(|planned| planned.status != CheckStatus::Unknown && !planned.subject.is_data());
    let has_new_status = known.any(|planned| {
        !stored.0.iter().any(|old| is_same(old, planned) && old.status == planned.status)
    });
    let mut dropped =
        stored.0.iter().filter(|old| !plan.checks.0.iter().any(|it| is_same(it, old)));
    plan.prior != file.state || has_new_status || dropped.next().is_some()
}

/// Rebases a plan on a later state than the one that it was created for. The claim is refused if other runs
/// have changed parts that the plan changes or depends on, so only other parts of the state differ here.
pub(crate) fn move_plan_to_later_state(plan: &mut Plan, planned_on: &State, file: &StateFile) {
    let claims = claims_of_plan(plan, "", Duration::ZERO);
    let to_file = |state: &State| StateFile { state: state.clone(), ..StateFile::new_empty() };
    let (mut base, planned) = (to_file(planned_on), to_file(&plan.prior));
    // The plan keeps the data sources that it has read, whatever the state has of them.
    base.state.resources.retain(|addr, _| addr.resource.mode() != ResourceMode::Data);
    let prior = merge_states(&base, &planned, file, &PlannedParts(&claims)).state;
    let differing = StateDifference::between(&plan.prior, &prior).instances;
    // References use the stored object if no change is planned, and the planned state has an outdated one.
    plan.changes.retain(|(addr, _), change| change.needs_apply() || !differing.contains(addr));
    // The value of an output that the plan does not change may have changed since then.
    plan.outputs.retain(|_, change| change.action != Action::NoOp);
    plan.prior = prior;
}

/// The parts of a state that a plan changes, and the data sources that it reads.
struct PlannedParts<'a>(&'a Claims);

impl StateOwnership for PlannedParts<'_> {
    fn has_claimed(&self, addr: &InstanceAddr) -> bool {
        addr.resource.mode() == ResourceMode::Data || self.0.changes.contains(addr)
    }

    fn has_claimed_output(&self, name: &str) -> bool {
        self.0.outputs.contains(name)
    }

    fn is_claimed_by_others(&self, _addr: &InstanceAddr) -> bool {
        false
    }
}

/// Warns that only this machine has the intents of a run, although its state is shared.
pub(crate) fn unshared_journal_warning(reason: &str) -> Diagnostic {
    let detail = format!(
        "{reason}. If this machine is lost during this run, the changes it has made are \
         not recorded anywhere else. `docs/backends.md` lists what the backend requires to store the journal."
    );
    Diagnostic::warning(messages::JOURNAL_ON_THIS_MACHINE_ONLY, detail)
}

#[cfg(test)]
mod tests {
    use formwork_core::addr::ModulePath;
    use formwork_core::state::checks::CheckSubject;

    use super::*;

    /// Creates a state with objects by mode, name and id.
    fn state_of(objects: &[(&str, &str, &str)]) -> StateFile {
        let resource = |(mode, name, id): &(&str, &str, &str)| {
            format!(
                r#"{{"mode":"{mode}","type":"t","name":"{name}","provider":"provider[\"example.com/acme/t\"]","instances":[{{"schema_version":0,"attributes":{{"id":"{id}"}}}}]}}"#
            )
        };
        let resources: Vec<String> = objects.iter().map(resource).collect();
        let text = format!(
            r#"{{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"one","outputs":{{}},"resources":[{}]}}"#,
            resources.join(",")
        );
        StateFile::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn an_apply_stores_moves_drift_and_results_of_checks_without_a_claim() {
        let check = |name: &str, status: CheckStatus| CheckResult {
            module: ModulePath::root(),
            subject: CheckSubject::Check(name.into()),
            status,
            objects: Some(Vec::new()),
        };
        let (pass, fail) = (CheckStatus::Pass, CheckStatus::Fail);
        let checks = |status| CheckResults(vec![check("c", status)]);
        let a_1 = || state_of(&[("managed", "a", "1")]);
        let stores = |prior: StateFile, checks: CheckResults| {
            let stored = CheckResults(vec![check("c", pass)]).to_json();
            let file = StateFile { check_results: stored, ..a_1() };
            let plan = Plan { prior: prior.state, checks, ..Plan::default() };
            assert_eq!(claims_of_plan(&plan, "", Duration::ZERO), Claims::default());
            stores_unclaimed_changes(&plan, &file)
        };
        assert!(!stores(a_1(), checks(pass)));
        assert!(!stores(a_1(), checks(CheckStatus::Unknown)));
        assert!(stores(a_1(), checks(fail)));
        assert!(stores(a_1(), CheckResults(vec![check("c", pass), check("new", pass)])));
        assert!(stores(a_1(), CheckResults::default()));
        assert!(stores(state_of(&[("managed", "a", "drift")]), checks(pass)));
        assert!(stores(state_of(&[("managed", "moved", "1")]), checks(pass)));
    }

    #[test]
    fn a_plan_is_rebased_on_a_later_state_with_its_drift_and_data() {
        let planned_on = state_of(&[("managed", "a", "1"), ("managed", "b", "1")]);
        let prior =
            state_of(&[("data", "d", "read"), ("managed", "a", "drift"), ("managed", "b", "1")]);
        let later = state_of(&[("data", "d", "0"), ("managed", "a", "1"), ("managed", "b", "2")]);
        let mut plan = Plan { prior: prior.state, ..Plan::default() };
        move_plan_to_later_state(&mut plan, &planned_on.state, &later);
        let expected =
            state_of(&[("data", "d", "read"), ("managed", "a", "drift"), ("managed", "b", "2")]);
        assert_eq!(plan.prior, expected.state);
    }
}
