//! Creates plans.

use std::collections::BTreeSet;

use formwork_core::eval::Results;
use formwork_core::event::{EventObserver, NoEventObserver};
use formwork_core::plan::{Plan, PlanOptions, make_plan};
use formwork_core::state::State;
use formwork_core::state::file::StateFile;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::messages;
use crate::observer::EngineEventForwarder;
use crate::operation::{Operation, PhaseInputs};
use crate::plan_options::check_plan_options;
use crate::state_session::StateSession;
use crate::unmatched_options::{ConfigStateAndOptions, UnmatchedOptions};

/// A plan with the results of its evaluation.
///
/// ```
/// use formwork_operation::prelude::*;
///
/// /// Applies a plan unless it destroys something.
/// async fn apply_without_loss(
///     diags: &mut Diagnostics,
///     operation: &Operation<'_>,
///     session: &mut StateSession,
/// ) -> Result<bool, Reported> {
///     let made = operation.plan(diags, session, PlanOptions::default()).await?;
///     if made.plan.changes.values().any(|change| change.action == Action::Delete) {
///         return Ok(false);
///     }
///     let source = PlanSource::Made(Box::new(made));
///     Ok(operation.apply(diags, session, source).await?.is_complete)
/// }
/// ```
pub struct PlanOutcome {
    /// The plan.
    pub plan: Plan,
    /// The results of evaluation, with the configuration that was generated for imported objects.
    pub results: Results,
    /// Lineage and serial of the state that the plan was created for.
    state_version: (String, u64),
}

impl PlanOutcome {
    /// Returns the plan if the state has not changed since the plan was created.
    pub(crate) fn plan_if_state_unchanged(
        self,
        diags: &mut Diagnostics,
        file: &StateFile,
    ) -> Result<Plan, Reported> {
        if self.plan.errored {
            let detail = "The plan has errors, so it cannot be applied.";
            return Err(
                diags.error(Diagnostic::error(messages::CANNOT_APPLY_INCOMPLETE_PLAN, detail))
            );
        }
        // The session may have written the state between the plan and its approval.
        let (lineage, serial) = self.state_version;
        if (lineage.as_str(), serial) == (file.lineage.as_str(), file.serial) {
            return Ok(self.plan);
        }
        let detail = "The state was changed after the plan was created. Create a new plan.";
        Err(diags.error(Diagnostic::error(messages::PLAN_IS_STALE, detail)))
    }
}

/// A plan that is being created.
pub(crate) struct PlanInProgress {
    /// Options of the plan, with the objects that interrupted runs may have created.
    options: PlanOptions,
    /// Options that match nothing.
    pub(crate) unmatched: UnmatchedOptions,
    /// The results of the plan.
    results: Results,
}

/// Inputs of one plan.
#[derive(Clone, Copy)]
pub(crate) struct PlanInputs<'a> {
    pub(crate) results: &'a Results,
    pub(crate) state: &'a State,
    pub(crate) options: &'a PlanOptions,
    pub(crate) watch: &'a dyn EventObserver,
}

impl Operation<'_> {
    /// Creates a plan, and changes nothing. A plan that destroys everything has the mode
    /// [`PlanMode::Destroy`](formwork_core::plan::PlanMode::Destroy).
    ///
    /// Afterwards, the session has the results of interrupted runs that the providers could
    /// determine.
    ///
    /// ```
    /// use formwork_operation::prelude::*;
    ///
    /// async fn has_drifted(
    ///     diags: &mut Diagnostics,
    ///     operation: &Operation<'_>,
    ///     session: &mut StateSession,
    /// ) -> Result<bool, Reported> {
    ///     let options = PlanOptions { mode: PlanMode::RefreshOnly, ..PlanOptions::default() };
    ///     let outcome = operation.plan(diags, session, options).await?;
    ///     Ok(outcome.plan.has_effect())
    /// }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the plan cannot be created, or if options exclude each other. A plan whose errors
    /// were reported has [`Plan::errored`].
    pub async fn plan(
        &self,
        diags: &mut Diagnostics,
        session: &mut StateSession,
        options: PlanOptions,
    ) -> Result<PlanOutcome, Reported> {
        // Before the first call of a provider.
        check_plan_options(diags, &options)?;
        session.warn_of_misplaced_journals(diags);
        session.follow_moves_of_unresolved(self.inputs.config);
        let mut planning = self.prepare_plan_options(session, options);
        let planned = self
            .run_with_graceful_cancel(self.plan_without_unresolved(diags, session, &planning))
            .await;
        // After a failure too: an option that matches nothing may be its cause.
        self.report_unmatched_options(diags, session, &mut planning);
        if let Ok((plan, _)) = &planned {
            // The results of a search remain valid even if this plan is never applied.
            session.settle_by_search_results(diags, plan);
        }
        session.warn_of_needed_decisions(diags);
        let (plan, second_results) = planned?;
        let state_version = (session.file.lineage.clone(), session.file.serial);
        Ok(PlanOutcome { plan, results: second_results.unwrap_or(planning.results), state_version })
    }

    /// Compares the options with the configuration and the state, and shows those that match nothing.
    pub(crate) fn prepare_plan_options(
        &self,
        session: &StateSession,
        options: PlanOptions,
    ) -> PlanInProgress {
        let options =
            PlanOptions { interrupted_creations: session.interrupted_creations(), ..options };
        let (config, state) = (self.inputs.config, &session.file.state);
        let unmatched = UnmatchedOptions::find_before_plan(config, state, &options);
        PlanInProgress { options, unmatched, results: Results::new(config) }
    }

    /// Reports options that match no instance, based on the instance keys that are known now.
    pub(crate) fn report_unmatched_options(
        &self,
        diags: &mut Diagnostics,
        session: &StateSession,
        planning: &mut PlanInProgress,
    ) {
        let PlanInProgress { options, unmatched, results } = planning;
        let (config, state) = (self.inputs.config, &session.file.state);
        let planned = ConfigStateAndOptions { config, state, options };
        unmatched.find_and_warn_after_plan(diags, planned, results);
    }

    /// Creates a plan that leaves out the instances of operations with an unknown outcome, and their
    /// dependents. The provider may determine the outcome, so they are planned first, and left out of
    /// a second plan if it does not. Returns the results of the second plan, if one was created.
    pub(crate) async fn plan_without_unresolved(
        &self,
        diags: &mut Diagnostics,
        session: &StateSession,
        planning: &PlanInProgress,
    ) -> Result<(Plan, Option<Results>), Reported> {
        // Shown before the plan: planning may take minutes, and a wrong address makes the plan
        // useless.
        let mut warnings = planning.unmatched.to_warnings();
        self.offer_diagnostics(&mut warnings);
        let _ = diags.append(warnings);
        let inputs = PlanInputs {
            results: &planning.results,
            state: &session.file.state,
            options: &planning.options,
            watch: &EngineEventForwarder(self.observer),
        };
        // Kept separately until it is known whether a second plan reports the same diagnostics
        // again.
        let mut first_diags = Diagnostics::new();
        let first_plan = self.make_plan(&mut first_diags, inputs).await;
        let unresolved = match &first_plan {
            // A plan with errors is never applied, so nothing has to be left out of it.
            Ok(plan) if !plan.errored => session.unresolved_addrs_touched_by(plan),
            _ => BTreeSet::new(),
        };
        if unresolved.is_empty() {
            let _ = diags.append(first_diags);
            return first_plan.map(|plan| (plan, None));
        }
        // The second plan reports everything else again.
        let search_findings = first_diags
            .iter()
            .filter(|diagnostic| {
                diagnostic.is_about_message(messages::INTERRUPTED_OPERATION_COULD_NOT_BE_RESOLVED)
            })
            .cloned();
        search_findings.for_each(|diagnostic| diags.warn(diagnostic));
        let (options, results) =
            (planning.options.excluding_unresolved(unresolved), Results::new(self.inputs.config));
        // Objects that are refreshed again were shown before.
        let second_inputs =
            PlanInputs { options: &options, results: &results, watch: &NoEventObserver, ..inputs };
        let plan = self.make_plan(diags, second_inputs).await?;
        Ok((plan, Some(results)))
    }

    /// Creates one plan.
    pub(crate) async fn make_plan(
        &self,
        diags: &mut Diagnostics,
        inputs: PlanInputs<'_>,
    ) -> Result<Plan, Reported> {
        let PlanInputs { results, state, options, watch } = inputs;
        let world = self.host_values(false);
        let session = self.engine_session(PhaseInputs { state, results, world: &world, watch });
        make_plan(&session, diags, options).await
    }
}
