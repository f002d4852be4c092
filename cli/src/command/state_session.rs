//! Opens states by the options for locks, and reports waiting for a lock.

use std::path::Path;
use std::time::Duration;

use formwork_backend::OpenState;
use formwork_backend::encryption::{StateCipher, encrypt_intent_log};
use formwork_backend::local::StateFilePaths;
use formwork_core::state::file::StateFile;
use formwork_core::state::recover::JournaledPlace;
use formwork_operation::{OperationEvent, OperationObserver, SessionOptions, StateSession};
use formwork_value::{Diagnostic, Diagnostics, Reported, duration};
use tracing::info;

use crate::command_line::LockArgs;
use crate::messages;
use crate::view::elapsed::format_seconds;
use crate::view::{self, sanitize};

/// Locks and reads the state, and puts in the results that interrupted runs left in the journal.
///
/// # Errors
/// When another process holds the lock, or the state cannot be read.
pub(crate) async fn open_locked_state(
    diags: &mut Diagnostics,
    state: OpenState,
    args: &LockArgs,
    operation: &str,
) -> Result<StateSession, Reported> {
    let lock_timeout =
        args.lock.then(|| parse_lock_timeout(diags, &args.lock_timeout)).transpose()?;
    let folder = Path::new(".");
    let options = SessionOptions { operation, lock_timeout, folder, observer: &LockWaitReport };
    StateSession::open(diags, state, &options).await
}

/// Checks that no run has results which a state file lacks: a command that goes on from the file alone
/// would create their objects again.
///
/// # Errors
/// When a run that was cut off, or that goes on, has left a journal beside the file.
pub(super) async fn check_no_unfinished_run(
    diags: &mut Diagnostics,
    path: &Path,
) -> Result<(), Reported> {
    if !StateFilePaths::from_state_path(path).intent_log().has_unfinished_run().await {
        return Ok(());
    }
    let detail = format!(
        "A run that was cut off, or that goes on, has results that {} does not have yet, so its objects would be created again. Run `formwork apply -refresh-only` in the folder of that state first: it takes them over. Nothing was changed.",
        path.display()
    );
    Err(diags.error(Diagnostic::error(messages::STATE_LACKS_RESULTS_OF_RUN, detail)))
}

/// Checks that no interrupted run on a state of another name has results which a state lacks that was read
/// from a file: the file was moved or copied after that run.
///
/// # Errors
/// When a run has some.
pub(super) fn check_no_misplaced_journals(
    diags: &mut Diagnostics,
    path: &Path,
    file: &StateFile,
    cipher: &StateCipher,
) -> Result<(), Reported> {
    let intents = StateFilePaths::from_state_path(path).intent_log();
    let found = encrypt_intent_log(intents, cipher).misplaced_journals(file);
    // One whose lineage is lost may be of any other state.
    let Some(journals) = found.iter().find(|journals| journals.is_of_lineage) else {
        return Ok(());
    };
    let (ours, folder) = (path.display(), journals.folder.display());
    let lacks = format!(
        "Its journal in {folder} has results or operations of unknown outcome that {ours} lacks, so objects would be created again."
    );
    let detail = match &journals.place {
        JournaledPlace::File { path: theirs, .. } => {
            let theirs = theirs.display();
            format!(
                "A run on the state file {theirs} was cut off. {lacks} If {ours} is that file under a new name, rename it back. Then run `formwork apply -refresh-only` for {theirs}: it takes over the results. `formwork recover list` shows the operations. Nothing was changed."
            )
        }
        JournaledPlace::Remote => format!(
            "A run on a remote state, of which {ours} is a copy, was cut off. {lacks} Run `formwork apply -refresh-only` with the backend of that state first: it takes over the results. `formwork recover list` shows the operations. Nothing was changed."
        ),
    };
    Err(diags.error(Diagnostic::error(messages::STATE_LACKS_RESULTS_OF_RUN, detail)))
}

/// Reports a wait for a lock on stderr.
pub(crate) struct LockWaitReport;

impl OperationObserver for LockWaitReport {
    fn on_event(&self, event: &OperationEvent<'_>) {
        let OperationEvent::LockWait { holder, limit } = event else { return };
        let holder = sanitize::sanitize_line(holder);
        let limit = format_seconds(*limit);
        info!(holder, limit, "waiting for the state lock");
        view::print_err(&format!(
            "The state is locked by {holder}. Waiting up to {limit} for the lock...\n"
        ));
    }
}

/// Time to wait for a lock: a negative one is zero.
///
/// # Errors
/// When the text is no duration.
pub(super) fn parse_lock_timeout(
    diags: &mut Diagnostics,
    text: &str,
) -> Result<Duration, Reported> {
    let read = duration::parse_nanoseconds(text).map_err(|reason| {
        let detail = format!("{text:?} is not a duration like 30s, 5m or 1h30m: {reason}.");
        diags.error(Diagnostic::error(messages::INVALID_LOCK_TIMEOUT, detail))
    })?;
    Ok(Duration::from_nanos(u64::try_from(read).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_waits_for_a_lock_as_long_as_the_option_says() {
        let check = |text: &str| {
            parse_lock_timeout(&mut Diagnostics::new(), text).map(|d| d.as_millis()).ok()
        };
        assert_eq!(check("1.5m"), Some(90_000));
        assert_eq!(check("+5s"), Some(5_000));
        assert_eq!(check("-5s"), Some(0));
        assert_eq!(check("5"), None);
    }
}
