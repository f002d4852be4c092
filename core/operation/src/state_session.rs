//! The state while a command holds its lock, including the results of interrupted runs.

#[cfg(test)]
mod damaged_files_tests;
mod decisions;
mod diagnostics;
mod misplaced_journals;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use formwork_backend::local::save_errored_state;
use formwork_backend::{LockRequest, OpenState, StateLock, StateStore, StoreError};
use formwork_core::addr::InstanceAddr;
use formwork_core::change::{Action, Change};
use formwork_core::config::Config;
use formwork_core::moved;
use formwork_core::plan::{Plan, PlanMode};
use formwork_core::state::file::StateFile;
use formwork_core::state::intent_log::{IntentLog, StateAccess};
use formwork_core::state::operator::operation_display_name;
use formwork_core::state::recover::{InterruptedRun, JournalDamage, Recovery, UnresolvedOperation};
use formwork_value::codec::hex;
use formwork_value::{Diagnostic, Diagnostics, Reported};
use tracing::info;

use self::diagnostics::{
    ErroredStateCopy, continue_without_shared_journals, decision_needed_error,
    point_at_instance_block, report_unusable_state, state_saved_aside_warning,
};
pub(crate) use self::diagnostics::{ResultsInJournal, refuse_if_other_object_at_addr};
pub use self::diagnostics::{decision_commands, remedy_if_other_object_at_addr};
use crate::errored_state_report::ErroredState;
use crate::messages;
use crate::observer::{NoOperationObserver, OperationEvent, OperationObserver};

/// The time to wait for a lock before the wait is reported.
const LOCK_WAIT_REPORT_DELAY: Duration = Duration::from_millis(500);

/// Options for opening a state.
///
/// ```
/// use std::path::Path;
/// use std::time::Duration;
///
/// use formwork_operation::SessionOptions;
///
/// let options = SessionOptions::new("plan", Path::new("."));
/// assert_eq!(options.lock_timeout, Some(Duration::ZERO));
/// // Waits for the lock of another run.
/// let patient = SessionOptions { lock_timeout: Some(Duration::from_secs(60)), ..options };
/// ```
#[derive(Clone, Copy)]
pub struct SessionOptions<'a> {
    /// The name of the operation, which the lock shows to other processes.
    pub operation: &'a str,
    /// Maximum time to wait for a lock that another process holds. `None` takes no lock.
    pub lock_timeout: Option<Duration>,
    /// The working directory. An `errored.tfstate` in it is compared with the state, and a state
    /// that cannot be stored is written there.
    pub directory: &'a Path,
    /// The observer to which a long wait for the lock is reported.
    pub observer: &'a dyn OperationObserver,
}

impl<'a> SessionOptions<'a> {
    /// Creates options for an operation in a working directory, without waiting for a lock and without
    /// an observer.
    #[must_use]
    pub fn new(operation: &'a str, directory: &'a Path) -> Self {
        Self {
            operation,
            lock_timeout: Some(Duration::ZERO),
            directory,
            observer: &NoOperationObserver,
        }
    }
}

/// Locks the state. A longer wait is reported to the observer, with the holder of the lock.
async fn lock_with_wait_events(
    store: &mut dyn StateStore,
    options: &SessionOptions<'_>,
    timeout: Duration,
) -> Result<StateLock, StoreError> {
    let operation = options.operation;
    let request = |timeout| LockRequest { operation: operation.to_owned(), timeout };
    // Most locks are released within moments, which is not worth a report.
    let outcome = match store.lock(request(timeout.min(LOCK_WAIT_REPORT_DELAY))).await {
        Err(error) if timeout > LOCK_WAIT_REPORT_DELAY && error.is_lock_taken() => {
            let holder = error.lock_holder().unwrap_or_else(|| "another process".to_owned());
            options
                .observer
                .on_event(&OperationEvent::LockWait { holder: &holder, limit: timeout });
            store.lock(request(timeout - LOCK_WAIT_REPORT_DELAY)).await
        }
        outcome => outcome,
    };
    if outcome.is_ok() {
        info!(operation = operation_display_name(operation), "state locked");
    }
    outcome
}

/// A locked state, with the results and open operations of interrupted runs. Dropping it does not
/// release the lock: call [`StateSession::unlock`].
///
/// ```
/// use formwork_backend::local::StateFilePaths;
/// use formwork_operation::{SessionOptions, StateSession};
/// use formwork_value::Diagnostics;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let directory = tempfile::tempdir().unwrap();
/// let state = StateFilePaths::from_state_path(directory.path().join("terraform.tfstate")).into();
/// let mut diags = Diagnostics::new();
/// let options = SessionOptions::new("inspect", directory.path());
/// let session = StateSession::open(&mut diags, state, &options).await.unwrap();
/// assert!(!session.found && session.file.state.is_empty());
/// session.unlock(&mut diags).await;
/// assert!(!diags.has_errors());
/// # }
/// ```
#[must_use = "its lock stays until `unlock` releases it"]
pub struct StateSession {
    /// The store of the state.
    pub store: Box<dyn StateStore>,
    /// The store of the journals.
    pub intents: Arc<dyn IntentLog>,
    /// The state with its lineage and serial. Changes are stored by
    /// [`StateSession::write_state_and_archive_journals`].
    pub file: StateFile,
    /// The results and open operations of interrupted runs, if there are any.
    pub recovery: Option<Recovery>,
    /// Whether a state exists, even an empty one.
    pub found: bool,
    errored: Option<ErroredState>,
    lock: Option<StateLock>,
    /// The working directory.
    directory: PathBuf,
    /// Maximum time to wait for other runs.
    pub(crate) timeout: Duration,
}

impl StateSession {
    /// Locks and reads the state, and merges the results that interrupted runs left in the journal.
    ///
    /// # Errors
    /// Returns an error if another process holds the lock, or if the state cannot be read.
    pub async fn open(
        diags: &mut Diagnostics,
        mut state: OpenState,
        options: &SessionOptions<'_>,
    ) -> Result<Self, Reported> {
        let mut lock = None;
        if let Some(timeout) = options.lock_timeout {
            let locked = lock_with_wait_events(&mut *state.store, options, timeout).await;
            lock = Some(locked.map_err(|error| diags.error(error.diagnostic()))?);
        }
        let timeout = options.lock_timeout.unwrap_or_default();
        let read = Self::read_and_recover(diags, state, options.directory, lock).await;
        read.map(|session| Self { timeout, ..session })
    }

    /// Reads the state in a store that is locked or requires no lock, and merges the results that
    /// interrupted runs left in the journal. `directory` may contain an `errored.tfstate`.
    async fn read_and_recover(
        diags: &mut Diagnostics,
        state: OpenState,
        directory: &Path,
        mut lock: Option<StateLock>,
    ) -> Result<Self, Reported> {
        let OpenState { mut store, intents } = state;
        let recovered = match store.read().await {
            Ok(stored) => {
                let access = match lock {
                    Some(_) => store.state_access(),
                    None => StateAccess::ReadOnly,
                };
                match intents.recover_runs(stored.clone(), access).await {
                    // Only an operation that changes nothing has a lock that grants no access.
                    Err(error) if lock.is_some() && access == StateAccess::ReadOnly => {
                        continue_without_shared_journals(diags, &error, stored)
                            .map_err(|error| *error)
                    }
                    recovered => recovered.map_err(|error| error.diagnostic()),
                }
            }
            Err(error) => Err(error.diagnostic()),
        };
        let recovered = recovered
            .map_err(|error| report_unusable_state(diags, directory, store.cipher(), error));
        let recovery = match recovered {
            Ok(recovery) => recovery,
            Err(reported) => {
                // A remote lock does not end with the process.
                release_lock(diags, &mut *store, lock.take()).await;
                return Err(reported);
            }
        };
        store.adopt_claims_of_runs(
            recovery.runs.iter().filter_map(InterruptedRun::run_id).collect(),
        );
        let (file, recovery) = if recovery.is_empty() {
            store.take_warnings().into_iter().for_each(|warning| diags.warn(warning));
            (recovery.file, None)
        } else {
            let runs = recovery.runs.iter().flat_map(InterruptedRun::diagnostics);
            runs.for_each(|diagnostic| diags.warn(diagnostic));
            let settled_by_refresh =
                recovery.unresolved.iter().filter(|operation| !operation.needs_decision());
            settled_by_refresh.for_each(|operation| diags.warn(operation.diagnostic()));
            (recovery.file.clone(), Some(recovery))
        };
        let found = file.is_some();
        let errored = ErroredState::read_and_compare(directory, store.cipher(), file.as_ref());
        errored.iter().for_each(|errored| diags.warn(errored.warning()));
        let file = file.unwrap_or_else(StateFile::new_empty);
        let directory = directory.to_owned();
        let timeout = Duration::ZERO;
        Ok(Self { store, intents, file, recovery, found, errored, lock, directory, timeout })
    }

    /// Warns a run without a lock if another run may be in progress, or was interrupted under a lock that is still
    /// held: its results are not taken over, and what it creates would be created twice.
    pub(crate) async fn warn_of_concurrent_run(&self, diags: &mut Diagnostics) {
        if self.lock.is_none() && self.recovery.is_none() && self.intents.has_unfinished_run().await
        {
            let detail = format!(
                "The state {} is not locked by this run, and the journal of another run exists. Objects that the other run creates may be created a second time. Repeat the command without `-lock=false` when that run has ended.",
                self.store.location()
            );
            diags.warn(Diagnostic::warning(messages::ANOTHER_RUN_MAY_BE_GOING_ON, detail));
        }
    }

    /// Stops a command that would create objects although a lost journal record may be about an
    /// existing object. The results of the intact records are stored first, and the journal is set
    /// aside, so that the next command can continue.
    ///
    /// # Errors
    /// Returns an error if such a journal exists, or if the state cannot be written.
    pub async fn refuse_if_damage_hides_creation(
        &mut self,
        diags: &mut Diagnostics,
    ) -> Result<(), Reported> {
        let runs = self.recovery.iter().flat_map(|recovery| &recovery.runs);
        let damages = runs.filter_map(|run| run.damage.as_ref());
        let hiding_damages = damages.filter(|damage| damage.hides_creation);
        let errors: Vec<Diagnostic> = hiding_damages.map(JournalDamage::damage_error).collect();
        if errors.is_empty() {
            return Ok(());
        }
        self.write_state_and_archive_journals(diags).await?;
        for error in errors {
            let _ = diags.error(error);
        }
        diags.fail_if_errors()
    }

    /// The fingerprint of the state, if interrupted runs have changed it since it was stored.
    pub fn fingerprint_if_recovered(&self) -> Option<String> {
        let has_replayed = self.recovery.as_ref()?.runs.iter().any(|run| run.n_replayed > 0);
        has_replayed.then(|| hex::encode(&self.file.fingerprint()))
    }

    /// Finds the current addresses of open operations in a configuration. The interrupted run may
    /// have used other addresses.
    pub fn follow_moves_of_unresolved(&mut self, config: &Config) {
        if let Some(recovery) = &mut self.recovery {
            recovery.follow_moves(|addr, provider| moved::current_address(config, addr, provider));
        }
    }

    /// Whether this state has changes of interrupted runs that the stored state lacks.
    pub fn has_unstored_recovery(&self) -> bool {
        self.recovery.as_ref().is_some_and(|recovery| !recovery.is_empty())
    }

    /// Operations that only the user can settle.
    pub fn unresolved_needing_decision(&self) -> impl Iterator<Item = &UnresolvedOperation> {
        let operations = self.recovery.iter().flat_map(|recovery| &recovery.unresolved);
        operations.filter(|operation| operation.needs_decision())
    }

    /// Warns about operations that only the user can settle.
    pub fn warn_of_needed_decisions(&self, diags: &mut Diagnostics) {
        // Warnings with the same summary are merged if they are about blocks, but each of these
        // matters.
        self.unresolved_needing_decision().for_each(|operation| diags.warn(operation.diagnostic()));
    }

    /// The instances that a plan would change although the outcome of an earlier operation on them
    /// is unknown.
    pub fn unresolved_addrs_touched_by(&self, plan: &Plan) -> BTreeSet<InstanceAddr> {
        let open = self.unresolved_needing_decision().map(UnresolvedOperation::current_addr);
        // The provider has determined the outcome of the instances that it was queried for.
        let open = open
            .filter(|addr| !plan.searches.contains_key(addr) && plan_touches_instance(plan, addr));
        open.cloned().collect()
    }

    /// Accepts a plan that changes no instance with an unknown outcome. Returns the errors to report
    /// at the end of the run: one for each operation that the plan left open.
    ///
    /// # Errors
    /// Returns an error if the plan changes such an instance, because it was saved before the
    /// operation became known.
    pub fn check_plan_avoids_unresolved(
        &self,
        diags: &mut Diagnostics,
        plan: &Plan,
        config: &Config,
    ) -> Result<Vec<Diagnostic>, Reported> {
        if let Some(errored) = &self.errored {
            errored.refuse_plan_that_recreates(diags, plan)?;
        }
        let destroys_all = plan.mode == PlanMode::Destroy && !plan.is_limited_by_user();
        let mut final_errors = Vec::new();
        for operation in self.unresolved_needing_decision() {
            let addr = operation.current_addr();
            let consequence = if plan_touches_instance(plan, addr) {
                let consequence = "Nothing was changed: this plan would repeat the operation or lose its object. Create a new plan";
                let _ = diags.error(point_at_instance_block(
                    decision_needed_error(operation, &self.file.state, consequence),
                    config,
                    operation,
                ));
                continue;
            } else if plan.open.contains(addr) {
                "This run did not change the instance or its dependents, and did everything else"
            } else if destroys_all {
                "This run destroyed everything else"
            } else {
                diags.warn(operation.diagnostic());
                continue;
            };
            final_errors.push(point_at_instance_block(
                decision_needed_error(operation, &self.file.state, consequence),
                config,
                operation,
            ));
        }
        diags.fail_if_errors().map(|()| final_errors)
    }

    /// Refuses to change an object whose existence only the user can determine, and warns about
    /// such objects that are not changed.
    ///
    /// # Errors
    /// Returns an error if such an object would be changed.
    pub fn check_touches_no_unresolved(
        &self,
        diags: &mut Diagnostics,
        touches: impl Fn(&InstanceAddr) -> bool,
    ) -> Result<(), Reported> {
        for operation in self.unresolved_needing_decision() {
            if !touches(operation.current_addr()) {
                diags.warn(operation.diagnostic());
                continue;
            }
            let consequence =
                "Nothing was changed: to continue might repeat the operation or lose its object";
            let _ = diags.error(decision_needed_error(operation, &self.file.state, consequence));
        }
        diags.fail_if_errors()
    }

    /// Writes the state, and then archives the journals whose results it contains.
    ///
    /// # Errors
    /// Returns an error if the state cannot be written. The previous state still exists in this
    /// case.
    pub async fn write_state_and_archive_journals(
        &mut self,
        diags: &mut Diagnostics,
    ) -> Result<(), Reported> {
        self.store.write(&mut self.file).await.map_err(|error| diags.error(error.diagnostic()))?;
        self.archive_journals(diags).await
    }

    /// Writes the state after real objects were changed. If it cannot be written to its store, it
    /// is written to the configuration directory instead.
    ///
    /// # Errors
    /// Returns an error if the state cannot be written to its store.
    pub async fn write_state_or_errored_file(
        &mut self,
        diags: &mut Diagnostics,
    ) -> Result<(), Reported> {
        self.write_results_or_errored_file(diags, ResultsInJournal::No).await
    }

    /// Like [`StateSession::write_state_or_errored_file`], for results that may be recorded
    /// elsewhere.
    pub(crate) async fn write_results_or_errored_file(
        &mut self,
        diags: &mut Diagnostics,
        in_journal: ResultsInJournal,
    ) -> Result<(), Reported> {
        if let Err(error) = self.store.write(&mut self.file).await {
            let reported = diags.error(error.diagnostic());
            match save_errored_state(&self.file, self.store.cipher(), &self.directory) {
                Ok((path, former_copy)) => {
                    let copy = ErroredStateCopy {
                        path: &path,
                        former: former_copy.as_deref(),
                        in_journal,
                    };
                    diags.warn(state_saved_aside_warning(&error, &copy));
                }
                Err(error) => drop(diags.error(error.diagnostic())),
            }
            return Err(reported);
        }
        self.archive_journals(diags).await
    }

    /// Replaces this state with another one, which gets its lineage and serial.
    ///
    /// # Errors
    /// Returns an error if the state cannot be written. The previous state still exists in this
    /// case.
    pub async fn overwrite_stored_state(
        &mut self,
        diags: &mut Diagnostics,
        file: StateFile,
    ) -> Result<(), Reported> {
        if self.recovery.is_some() {
            // Results of an interrupted run are stored first, so that they are in the backup.
            self.write_state_and_archive_journals(diags).await?;
        }
        self.store.cipher().check_identity_decrypts(diags)?;
        self.store.overwrite(file).await.map_err(|error| diags.error(error.diagnostic()))
    }

    async fn archive_journals(&mut self, diags: &mut Diagnostics) -> Result<(), Reported> {
        // Only after the state is stored: until then the journals are the only record.
        let Some(recovery) = self.recovery.take() else { return Ok(()) };
        let finished = self.intents.finish_recovery(&recovery).await;
        finished.map_err(|error| diags.error(error.diagnostic()))
    }

    /// Releases the lock.
    pub async fn unlock(mut self, diags: &mut Diagnostics) {
        release_lock(diags, &mut *self.store, self.lock.take()).await;
    }
}

/// Releases a lock, if one is held. A failure is reported.
async fn release_lock(
    diags: &mut Diagnostics,
    store: &mut dyn StateStore,
    lock: Option<StateLock>,
) {
    if let Some(lock) = lock
        && let Err(error) = store.unlock(lock).await
    {
        let _ = diags.error(error.diagnostic());
    }
}

/// Whether applying a plan would change an instance.
fn plan_touches_instance(plan: &Plan, addr: &InstanceAddr) -> bool {
    let touches = |change: &Change| {
        change.addr == *addr && !matches!(change.action, Action::NoOp | Action::Read)
    };
    plan.changes.values().any(|change| touches(change))
}
