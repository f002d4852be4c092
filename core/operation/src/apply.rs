//! Applies plans, and brings the state up to date.

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

/// The name of the operation in the journal, as Terraform names it in locks.
const JOURNAL_OPERATION_NAME: &str = "OperationTypeApply";

/// The plan that is applied.
///
/// ```
/// use formwork_operation::prelude::*;
///
/// let options = PlanOptions { mode: PlanMode::Destroy, ..PlanOptions::default() };
/// let source = PlanSource::New(options);
/// ```
pub enum PlanSource {
    /// A plan that is still to be made.
    New(PlanOptions),
    /// A plan that [`Operation::plan`] has made in the same session, and that was approved since.
    Made(Box<PlanOutcome>),
    /// A plan that was saved.
    Saved(Box<SavedPlan>),
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
    /// The numbers of changes made.
    pub counts: ChangeCounts,
    /// Whether everything in the plan was done.
    pub is_complete: bool,
}

/// A plan that may be applied.
struct ApprovedPlan {
    plan: Plan,
    /// The stored state that it was made for, if the stored one is a later one by now.
    planned_on: Option<State>,
    /// Errors with which the run ends: those for operations that the plan leaves open.
    closing: Vec<Diagnostic>,
}

/// Outcome of the plan.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlanPurpose {
    /// The real objects become as they are written.
    Apply,
    /// The state that the plan starts from is stored.
    Refresh,
}

impl Operation<'_> {
    /// Makes a plan or takes a saved one, has it approved, and makes the changes. The state is stored
    /// also after failures, and a journal keeps each result from the moment it is known.
    ///
    /// A plan to destroy everything is one with
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
    /// When the plan is not made or not approved, does not hold for the state any more, or the state
    /// cannot be written. Changes that failed are reported without an error here: see
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

    /// Makes a plan and stores the state that it starts from: the stored objects as they are by now.
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
    /// When the plan has errors, or the state cannot be written.
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

    /// Applies or refreshes. Offers a new plan if other runs have changed parts of the state while the plan was approved.
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
            // Results of interrupted runs that are not stored yet would be lost when the state is read again.
            let offered = options.zip(self.approval).filter(|_| session.recovery.is_none());
            let Some((options, approval)) = offered else { return Err(diags.error(overtaken)) };
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
        // Before the journal begins, so that a run that is refused leaves nothing behind.
        if let PlanSource::New(options) = &source {
            check_plan_options(diags, options)?;
        }
        if purpose == PlanPurpose::Refresh {
            warn_if_nothing_to_refresh(diags, &session.file.state);
        }
        // Before any provider is asked anything: it also shows that what is done can be written down.
        session.store.check_writable().map_err(|error| diags.error(error.diagnostic()))?;
        session.store.cipher().check_identity_decrypts(diags)?;
        session.refuse_if_journals_are_misplaced(diags)?;
        if purpose == PlanPurpose::Apply {
            session.refuse_if_damage_hides_creation(diags).await?;
        }
        let begin = RunHeader {
            operation: JOURNAL_OPERATION_NAME,
            base: &session.file,
            read_from: session.store.file_read_instead(),
        };
        let journal = session.intents.begin_run(begin).await;
        let journal = journal.map_err(|error| diags.error(error.diagnostic()))?;
        if let Some(reason) = session.intents.local_journal_only_reason() {
            diags.warn(unshared_journal_warning(&reason));
        }
        let settled = match self.take_or_make_approved_plan(diags, session, source, purpose).await {
            Ok(Some(settled)) => settled,
            // Nothing was done, so there is nothing in the journal for a later run to take over.
            nothing => {
                end_journal(diags, journal).await;
                return nothing.map(|_| ApplySummary::default()).map_err(ClaimError::Reported);
            }
        };
        let ApprovedPlan { plan, planned_on, closing } = settled;
        let run = journal.run_id();
        if purpose == PlanPurpose::Apply
            // Other runs may work with the same state: no change is made before all of its
            // instances are claimed.
            && let Err(error) = session
                .claim_plan_changes(diags, PlanToClaim { plan: &plan, run, planned_on })
                .await
        {
            // No provider was called yet, and a journal that stays behind looks like an interrupted run.
            end_journal(diags, journal).await;
            return Err(error);
        }
        let done = match purpose {
            PlanPurpose::Refresh => self.store_refreshed_state(diags, session, plan, journal).await,
            PlanPurpose::Apply => {
                let applied = self.apply_plan(diags, session, &plan, journal).await;
                applied.inspect(|outcome| {
                    self.report_apply_if_successful(diags, session, &plan, outcome.counts);
                })
            }
        };
        // Reported last: the changes beside the open operations are made all the same.
        for problem in closing {
            let _ = diags.error(problem);
        }
        done.map_err(ClaimError::Reported)
    }

    /// Settles the plan: makes it if it is still to be made, and has it approved. Returns nothing if it
    /// has errors.
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
                let closing = session.check_plan_avoids_unresolved(diags, &plan, config)?;
                self.observer.on_event(&OperationEvent::SavedPlan(&plan));
                return Ok(Some(ApprovedPlan { plan, planned_on, closing }));
            }
            // The caller has the plan and has shown it, so the observer does not see it again.
            PlanSource::Made(made) => {
                let plan = made.plan_if_state_unchanged(diags, &session.file)?;
                let closing = session.check_plan_avoids_unresolved(diags, &plan, config)?;
                return Ok(Some(ApprovedPlan { plan, planned_on: None, closing }));
            }
            PlanSource::New(options) => options,
        };
        let mut planning = self.prepare_plan_options(session, options);
        let (plan, _) = self.plan_without_unresolved(diags, session, &planning).await?;
        self.report_unmatched_options(diags, session, &mut planning);
        session.settle_by_search_results(diags, &plan);
        // Seen before errors end the run: the part that was planned helps to find their cause.
        if purpose == PlanPurpose::Apply {
            self.observer
                .on_event(&OperationEvent::Planned { plan: &plan, pool: self.inputs.pool });
        }
        diags.fail_if_errors()?;
        if plan.errored {
            return Ok(None);
        }
        let closing = session.check_plan_avoids_unresolved(diags, &plan, config)?;
        // Refreshing changes no object, so there is nothing to ask for.
        let asks = purpose == PlanPurpose::Apply && plan.has_effect();
        let approval = self.approval.filter(|_| asks);
        if approval.is_none() {
            // Results of checks help the user to decide; without a decision, only their results
            // after the apply count.
            diags.drop_check_warnings();
        }
        self.offer_diagnostics(diags);
        if let Some(approval) = approval {
            let reminder = planning.unmatched.approval_reminder();
            let request = ApprovalPrompt { mode: plan.mode, reminder: &reminder };
            approval.approve(diags, request).await?;
        }
        Ok(Some(ApprovedPlan { plan, planned_on: None, closing }))
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
        // A run that is cut off must not leave an empty file in the place of the first state.
        let is_first = !session.store.is_read_from_write_location();
        let must_store = plan.must_store_prior_state(&session.file.state)
            || session.must_store_drift_before_apply(plan);
        if is_first || session.has_unstored_recovery() || must_store {
            let stored = write_prior_state(diags, session, plan, &journal).await;
            if let Err(reported) = stored {
                // Nothing was done yet that another run would have to take over.
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
                "The run was interrupted. What was done is in the state.",
            ));
        }
        Ok(ApplySummary { counts, is_complete })
    }

    /// Reports a run that came to its end.
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

/// The plan of a saved one, and the stored state that it was made for if other runs have changed other parts since.
fn plan_of_saved(
    diags: &mut Diagnostics,
    session: &StateSession,
    saved: SavedPlan,
) -> Result<(Plan, Option<State>), Reported> {
    let (file, recovered) = (&session.file, session.fingerprint_if_recovered());
    // A plan that only stores what a refresh has found claims nothing that could be compared.
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
    let said = journal.record_state_fingerprint(&session.file).await;
    said.map_err(|error| diags.error(error.diagnostic()))?;
    session.write_state_and_archive_journals(diags).await
}

/// Stores the state after the last change, and ends the journal.
async fn store_state_and_end_journal(
    diags: &mut Diagnostics,
    session: &mut StateSession,
    journal: Journal,
) {
    // Said before it is stored, so that a crash between the two does not replay what is there. A journal
    // that fails is no reason to lose the state, too.
    let snapshot = journal.record_state_fingerprint(&session.file).await;
    if session.write_results_or_errored_file(diags, ResultsInJournal::Yes).await.is_err() {
        // Without a stored state the journal has the only record of what was done, and stays.
        if let Err(error) = snapshot {
            let _ = diags.error(error.diagnostic());
        }
        return;
    }
    // With a stored state nothing is lost. The next command compares what is left of the journal with it.
    let has_open_calls = journal.has_open_calls();
    if let Err(error) = journal.end_run().await {
        // Then the journal is still needed.
        if has_open_calls {
            let _ = diags.error(error.diagnostic());
            return;
        }
        let detail = format!(
            "The run is complete, and the state is stored. Only its journal, which is not needed any more, could not be finished: {error}. The next command that writes the state removes it."
        );
        diags.warn(Diagnostic::warning(messages::JOURNAL_COULD_NOT_BE_FINISHED, detail));
    }
}

fn warn_if_nothing_to_refresh(diags: &mut Diagnostics, state: &State) {
    // Data sources are read by every plan, so they are nothing to refresh.
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
