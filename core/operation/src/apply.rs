//! Applies plans, and refreshes the state.

use formwork_core::addr;
use formwork_core::apply::{ApplyResult, ChangeCounts, apply_plan};
use formwork_core::eval::Results;
use formwork_core::plan::{Plan, PlanMode, PlanOptions};
use formwork_core::state::State;
use formwork_core::state::intent_log::StateAccess;
use formwork_core::state::journal::{Journal, RunHeader};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::claims::{ClaimError, PlanToClaim, move_plan_to_later_state, unshared_journal_warning};
use crate::messages;
use crate::observer::{ApprovalPrompt, EngineEventForwarder, OperationEvent};
use crate::operation::{Operation, PhaseInputs};
use crate::plan::PlanOutcome;
use crate::plan_options::check_plan_options;
use crate::saved_plan::SavedPlan;
use crate::state_session::{ResultsInJournal, StateSession};

/// The name of the operation in the journal, the same as in Terraform's lock information.
const JOURNAL_OPERATION_NAME: &str = "OperationTypeApply";

/// The plan to apply.
///
/// ```
/// use formwork_operation::prelude::*;
///
/// let options = PlanOptions { mode: PlanMode::Destroy, ..PlanOptions::default() };
/// let source = PlanSource::New(options);
/// ```
pub enum PlanSource {
    /// Create a new plan.
    New(PlanOptions),
    /// A plan that [`Operation::plan`] created in the same session and that has been approved.
    Made(Box<PlanOutcome>),
    /// A saved plan.
    Saved(Box<SavedPlan>),
}

impl PlanSource {
    /// Whether no object is changed, so that a run only takes over results and refreshes the state.
    fn takes_over_only(&self, purpose: PlanPurpose) -> bool {
        let mode = match self {
            Self::New(options) => options.mode,
            Self::Made(made) => made.plan.mode,
            Self::Saved(saved) => saved.plan().mode,
        };
        purpose == PlanPurpose::Refresh || mode == PlanMode::RefreshOnly
    }
}

/// The summary of an apply.
///
/// ```
/// use formwork_operation::ApplySummary;
///
/// fn describe(summary: &ApplySummary) -> String {
///     let counts = summary.counts;
///     format!("{} added, {} destroyed", counts.added, counts.destroyed)
/// }
///
/// assert_eq!(describe(&ApplySummary::default()), "0 added, 0 destroyed");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApplySummary {
    /// The numbers of changes by kind.
    pub counts: ChangeCounts,
    /// Whether all changes of the plan were made.
    pub is_complete: bool,
}

/// An approved plan, ready to be applied.
struct ApprovedPlan {
    plan: Plan,
    /// The stored state that the plan was created for, if a later state is stored now.
    planned_on: Option<State>,
    /// Errors to report at the end of the run: one for each operation that the plan leaves open.
    final_errors: Vec<Diagnostic>,
}

/// The result of settling the plan.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlanPurpose {
    /// The plan changes real objects.
    Apply,
    /// The plan only stores the refreshed state that it starts from.
    Refresh,
}

impl Operation<'_> {
    /// Creates a plan or takes a saved one, requests its approval, and makes the changes. The state
    /// is stored even after failures, and a journal records each result as soon as it is known.
    ///
    /// A plan that destroys everything has the mode
    /// [`PlanMode::Destroy`](formwork_core::plan::PlanMode::Destroy).
    ///
    /// ```
    /// use formwork_operation::prelude::*;
    ///
    /// async fn destroy(
    ///     diags: &mut Diagnostics,
    ///     operation: &Operation<'_>,
    ///     session: &mut StateSession,
    /// ) -> Result<usize, Reported> {
    ///     let options = PlanOptions { mode: PlanMode::Destroy, ..PlanOptions::default() };
    ///     let applied = operation.apply(diags, session, PlanSource::New(options)).await?;
    ///     Ok(applied.counts.destroyed)
    /// }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the plan cannot be created, is not approved or is stale, or if the state
    /// cannot be written. Failed changes are reported, but return no error here: see
    /// [`ApplySummary::is_complete`].
    pub async fn apply(
        &self,
        diags: &mut Diagnostics,
        session: &mut StateSession,
        source: PlanSource,
    ) -> Result<ApplySummary, Reported> {
        let work = self.apply_with_new_plans(diags, session, source, PlanPurpose::Apply);
        self.run_with_graceful_cancel(work).await
    }

    /// Creates a plan and stores the state that it starts from, with the refreshed objects.
    ///
    /// ```
    /// use formwork_operation::prelude::*;
    ///
    /// async fn refresh_one(
    ///     diags: &mut Diagnostics,
    ///     operation: &Operation<'_>,
    ///     session: &mut StateSession,
    ///     target: Target,
    /// ) -> Result<(), Reported> {
    ///     let options = PlanOptions { targets: vec![target], ..PlanOptions::default() };
    ///     operation.refresh(diags, session, options).await
    /// }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the plan has errors or the state cannot be written.
    pub async fn refresh(
        &self,
        diags: &mut Diagnostics,
        session: &mut StateSession,
        options: PlanOptions,
    ) -> Result<(), Reported> {
        let source = PlanSource::New(options);
        let work = self.apply_with_new_plans(diags, session, source, PlanPurpose::Refresh);
        self.run_with_graceful_cancel(work).await.map(drop)
    }

    /// Applies or refreshes. Offers a new plan if other runs changed parts of the state during the approval.
    async fn apply_with_new_plans(
        &self,
        diags: &mut Diagnostics,
        session: &mut StateSession,
        mut source: PlanSource,
        purpose: PlanPurpose,
    ) -> Result<ApplySummary, Reported> {
        loop {
            let options = match &source {
                PlanSource::New(options) => Some(options.clone()),
                PlanSource::Made(_) | PlanSource::Saved(_) => None,
            };
            let overtaken = match self.apply_or_refresh(diags, session, source, purpose).await {
                Err(ClaimError::Overtaken(overtaken)) => *overtaken,
                Err(ClaimError::Reported(reported)) => return Err(reported),
                Ok(summary) => return Ok(summary),
            };
            // Results of interrupted runs that are not stored yet would be lost when the state is reread.
            let new_plan_offer = options.zip(self.approval).filter(|_| session.recovery.is_none());
            let Some((options, approval)) = new_plan_offer else {
                return Err(diags.error(overtaken));
            };
            if !approval.wants_new_plan(&overtaken).await {
                return Err(diags.error(overtaken));
            }
            session.read_again(diags).await?;
            source = PlanSource::New(options);
        }
    }

    async fn apply_or_refresh(
        &self,
        diags: &mut Diagnostics,
        session: &mut StateSession,
        source: PlanSource,
        purpose: PlanPurpose,
    ) -> Result<ApplySummary, ClaimError> {
        // Before the journal begins, so that a refused run leaves no journal.
        if let PlanSource::New(options) = &source {
            check_plan_options(diags, options)?;
        }
        if purpose == PlanPurpose::Refresh {
            warn_if_nothing_to_refresh(diags, &session.file.state);
        }
        // Before the first call of a provider. This also proves that results can be written to the
        // journal.
        session.store.check_writable().map_err(|error| diags.error(error.diagnostic()))?;
        session.store.cipher().check_identity_decrypts(diags)?;
        match source.takes_over_only(purpose) {
            true => session.refuse_if_journals_are_misplaced(diags)?,
            false => session.refuse_creation_if_journals_are_misplaced(diags)?,
        }
        if purpose == PlanPurpose::Apply {
            session.refuse_if_damage_hides_creation(diags).await?;
        }
        session.warn_of_concurrent_run(diags).await;
        let header = RunHeader {
            operation: JOURNAL_OPERATION_NAME,
            base: &session.file,
            read_from: session.store.file_read_instead(),
        };
        let journal = session.intents.begin_run(header).await;
        let journal = journal.map_err(|error| diags.error(error.diagnostic()))?;
        if let Some(reason) = session.intents.local_journal_only_reason() {
            diags.warn(unshared_journal_warning(&reason));
        }
        let approved = match self.take_or_make_approved_plan(diags, session, source, purpose).await
        {
            Ok(Some(approved)) => approved,
            // No change was made, so the journal has nothing for a later run to take over.
            no_plan => {
                end_journal(diags, journal).await;
                return no_plan.map(|_| ApplySummary::default()).map_err(ClaimError::Reported);
            }
        };
        let ApprovedPlan { plan, planned_on, final_errors } = approved;
        let run = journal.run_id();
        if purpose == PlanPurpose::Apply
            // Other runs may use the same state: no change is made before all affected instances
            // are claimed.
            && let Err(error) = session
                .claim_plan_changes(diags, PlanToClaim { plan: &plan, run, planned_on })
                .await
        {
            // No provider was called yet, and a leftover journal would look like an interrupted run.
            end_journal(diags, journal).await;
            return Err(error);
        }
        let result = match purpose {
            PlanPurpose::Refresh => self.store_refreshed_state(diags, session, plan, journal).await,
            PlanPurpose::Apply => {
                let applied = self.apply_plan(diags, session, &plan, journal).await;
                applied.inspect(|outcome| {
                    self.report_apply_if_successful(diags, session, &plan, outcome.counts);
                })
            }
        };
        // Reported last: the changes other than the open operations are made anyway.
        for problem in final_errors {
            let _ = diags.error(problem);
        }
        result.map_err(ClaimError::Reported)
    }

    /// Settles the plan: creates it if necessary, and requests its approval. Returns `None` if it has
    /// errors.
    async fn take_or_make_approved_plan(
        &self,
        diags: &mut Diagnostics,
        session: &mut StateSession,
        source: PlanSource,
        purpose: PlanPurpose,
    ) -> Result<Option<ApprovedPlan>, Reported> {
        let config = self.inputs.config;
        session.follow_moves_of_unresolved(config);
        let options = match source {
            PlanSource::Saved(saved) => {
                let (plan, planned_on) = plan_of_saved(diags, session, *saved)?;
                session.settle_by_search_results(diags, &plan);
                let final_errors = session.check_plan_avoids_unresolved(diags, &plan, config)?;
                self.observer.on_event(&OperationEvent::SavedPlan(&plan));
                return Ok(Some(ApprovedPlan { plan, planned_on, final_errors }));
            }
            // The caller already has the plan and has shown it, so the observer does not receive it
            // again.
            PlanSource::Made(outcome) => {
                let plan = outcome.plan_if_state_unchanged(diags, &session.file)?;
                let final_errors = session.check_plan_avoids_unresolved(diags, &plan, config)?;
                return Ok(Some(ApprovedPlan { plan, planned_on: None, final_errors }));
            }
            PlanSource::New(options) => options,
        };
        let mut planning = self.prepare_plan_options(session, options);
        let (plan, _) = self.plan_without_unresolved(diags, session, &planning).await?;
        self.report_unmatched_options(diags, session, &mut planning);
        session.settle_by_search_results(diags, &plan);
        // Shown before errors end the run: the partial plan helps to find their cause.
        if purpose == PlanPurpose::Apply {
            self.observer
                .on_event(&OperationEvent::Planned { plan: &plan, pool: self.inputs.pool });
        }
        diags.fail_if_errors()?;
        if plan.errored {
            return Ok(None);
        }
        let final_errors = session.check_plan_avoids_unresolved(diags, &plan, config)?;
        // A refresh changes no object, so it needs no approval.
        let needs_approval = purpose == PlanPurpose::Apply && plan.has_effect();
        let approval = self.approval.filter(|_| needs_approval);
        if approval.is_none() {
            // Results of checks help the user to decide. Without a decision, only their results
            // after the apply count.
            diags.drop_check_warnings();
        }
        self.offer_diagnostics(diags);
        if let Some(approval) = approval {
            let reminder = planning.unmatched.approval_reminder();
            let request = ApprovalPrompt { mode: plan.mode, reminder: &reminder };
            approval.approve(diags, request).await?;
        }
        Ok(Some(ApprovedPlan { plan, planned_on: None, final_errors }))
    }

    /// Stores the state that the plan starts from.
    async fn store_refreshed_state(
        &self,
        diags: &mut Diagnostics,
        session: &mut StateSession,
        plan: Plan,
        journal: Journal,
    ) -> Result<ApplySummary, Reported> {
        session.file.state = plan.prior;
        store_state_and_end_journal(diags, session, journal).await;
        diags.fail_if_errors()?;
        self.offer_diagnostics(diags);
        self.observer.on_event(&OperationEvent::Refreshed { state: &session.file.state });
        Ok(ApplySummary { is_complete: true, ..ApplySummary::default() })
    }

    /// Applies the plan and stores the state.
    async fn apply_plan(
        &self,
        diags: &mut Diagnostics,
        session: &mut StateSession,
        plan: &Plan,
        journal: Journal,
    ) -> Result<ApplySummary, Reported> {
        // A run that is interrupted must not leave an empty file as the first state.
        let is_first = !session.store.is_read_from_write_location();
        let must_store = plan.must_store_prior_state(&session.file.state)
            || session.must_store_drift_before_apply(plan);
        if is_first || session.has_unstored_recovery() || must_store {
            let stored = write_prior_state(diags, session, plan, &journal).await;
            if let Err(reported) = stored {
                // No change was made yet that another run would have to take over.
                end_journal(diags, journal).await;
                return Err(reported);
            }
        }
        let (results, world) = (Results::new(self.inputs.config), self.host_values(true));
        let watch = EngineEventForwarder(self.observer);
        let engine = self.engine_session(PhaseInputs {
            state: &session.file.state,
            results: &results,
            world: &world,
            watch: &watch,
        });
        let applied = match apply_plan(&engine, diags, plan, &journal).await {
            Ok(applied) => applied,
            Err(reported) => {
                end_journal(diags, journal).await;
                return Err(reported);
            }
        };
        let ApplyResult { state, checks, tally: counts, complete: is_complete } = applied;
        session.file.state = state;
        session.file.check_results = checks.to_json();
        store_state_and_end_journal(diags, session, journal).await;
        // Reported after the state is stored, so that the message is true.
        if self.cancellation.is_cancelled() {
            let _ = diags.error(Diagnostic::error(
                messages::EXECUTION_HALTED,
                "The run was interrupted. The changes that were made are in the state.",
            ));
        }
        Ok(ApplySummary { counts, is_complete })
    }

    /// Reports a completed run.
    fn report_apply_if_successful(
        &self,
        diags: &mut Diagnostics,
        session: &StateSession,
        plan: &Plan,
        counts: ChangeCounts,
    ) {
        warn_if_plan_was_limited(diags, plan);
        if !diags.has_errors() {
            self.offer_diagnostics(diags);
            let state = &session.file.state;
            self.observer.on_event(&OperationEvent::Applied { counts, state });
        }
    }
}

/// The plan in a saved plan, and the stored state that it was created for if other runs have changed other
/// parts since then.
fn plan_of_saved(
    diags: &mut Diagnostics,
    session: &StateSession,
    saved: SavedPlan,
) -> Result<(Plan, Option<State>), Reported> {
    let (file, recovered) = (&session.file, session.fingerprint_if_recovered());
    // A plan that only stores the findings of a refresh makes no claims that could be compared.
    if session.store.state_access() == StateAccess::Shared
        && saved.plan().mode != PlanMode::RefreshOnly
        && saved.is_for_earlier_serial(file)
    {
        let (mut plan, planned_on) = saved.plan_and_stored_state(diags, recovered.as_deref())?;
        move_plan_to_later_state(&mut plan, &planned_on, file);
        return Ok((plan, Some(planned_on)));
    }
    Ok((saved.plan_if_state_unchanged(diags, file, recovered.as_deref())?, None))
}

/// Stores the state that the plan starts from, and the findings about earlier runs.
async fn write_prior_state(
    diags: &mut Diagnostics,
    session: &mut StateSession,
    plan: &Plan,
    journal: &Journal,
) -> Result<(), Reported> {
    session.file.state = plan.prior.clone();
    let recorded = journal.record_state_fingerprint(&session.file).await;
    recorded.map_err(|error| diags.error(error.diagnostic()))?;
    session.write_state_and_archive_journals(diags).await
}

/// Stores the state after the last change, and closes the journal.
async fn store_state_and_end_journal(
    diags: &mut Diagnostics,
    session: &mut StateSession,
    journal: Journal,
) {
    // Recorded before the state is stored, so that a crash between the two does not replay stored
    // results. A failing journal is not a reason to lose the state, too.
    let snapshot = journal.record_state_fingerprint(&session.file).await;
    if session.write_results_or_errored_file(diags, ResultsInJournal::Yes).await.is_err() {
        // Without a stored state, the journal is the only record of the changes, and remains.
        if let Err(error) = snapshot {
            let _ = diags.error(error.diagnostic());
        }
        return;
    }
    // With a stored state, nothing is lost. The next command compares the rest of the journal with it.
    let has_open_calls = journal.has_open_calls();
    if let Err(error) = journal.end_run().await {
        // In this case the journal is still needed.
        if has_open_calls {
            let _ = diags.error(error.diagnostic());
            return;
        }
        let detail = format!(
            "The run is complete, and the state is stored. Its journal, which is not needed any more, could not be closed: {error}. The next command that writes the state deletes it."
        );
        diags.warn(Diagnostic::warning(messages::JOURNAL_COULD_NOT_BE_FINISHED, detail));
    }
}

fn warn_if_nothing_to_refresh(diags: &mut Diagnostics, state: &State) {
    // Every plan reads data sources, so they do not count as objects to refresh.
    let is_managed =
        |addr: &addr::ResourceAddr| addr.resource.mode() == addr::ResourceMode::Managed;
    if !state.resources.keys().any(is_managed) {
        diags.warn(Diagnostic::warning(
            messages::EMPTY_OR_NON_EXISTENT_STATE,
            "There are currently no remote objects tracked in the state, so there is nothing to refresh.",
        ));
    }
}

async fn end_journal(diags: &mut Diagnostics, journal: Journal) {
    if let Err(error) = journal.end_run().await {
        let _ = diags.error(error.diagnostic());
    }
}

/// Warns that the plan left something out.
fn warn_if_plan_was_limited(diags: &mut Diagnostics, plan: &Plan) {
    let option = if plan.targets.is_empty() { "-exclude" } else { "-target" };
    if plan.is_limited_by_user() {
        let detail = format!(
            "The plan was created with the {option} option in effect, so some changes requested in the configuration may have been ignored and the output values may not be fully updated. Run the following command to verify that no other changes are pending:\n    formwork plan\n\nNote that the {option} option is not suitable for routine use, and is provided only for exceptional situations such as recovering from errors or mistakes."
        );
        diags.warn(Diagnostic::warning(messages::APPLIED_CHANGES_MAY_BE_INCOMPLETE, detail));
    }
}
