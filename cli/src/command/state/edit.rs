//! Edits a state: under its lock, with a backup, and only if open operations do not prevent it.

use formwork_operation::StateSession;
use formwork_value::{Diagnostics, Reported};

use super::super::encryption;
use super::super::state_session;
use super::report_no_state;
use crate::command_line::{LockArgs, StatePaths};
use crate::workspace::{Workspace, state_in_named_file};

/// State to edit, and name of the operation.
pub(in crate::command) struct StateEdit<'a> {
    /// Location of the state.
    pub(in crate::command) state_paths: StatePaths,
    /// Whether the options name local files with any backend.
    pub(in crate::command) any_backend: bool,
    /// Options of the lock.
    pub(in crate::command) lock: &'a LockArgs,
    /// Name of the operation that the lock shows to other processes.
    pub(in crate::command) operation: &'static str,
    /// Whether a missing state is an error.
    pub(in crate::command) must_exist: bool,
}

/// Outcome of an edit, with the text to print.
pub(in crate::command) enum EditOutcome {
    /// The state is not stored.
    Unchanged(String),
    /// The state is stored if it differs.
    Store(String),
}

/// Locks the state, changes it with `work`, and stores it.
///
/// # Errors
/// Returns an error if the state cannot be locked, read, changed or stored. The stored state is then
/// unchanged.
pub(in crate::command) async fn edit_state(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    editing: StateEdit<'_>,
    work: impl FnOnce(&mut Diagnostics, &mut StateSession) -> Result<EditOutcome, Reported>,
) -> Result<String, Reported> {
    let mut locked = lock_and_read_state(diags, workspace, &editing).await?;
    let ending = if editing.must_exist && !locked.found {
        Err(report_no_state(diags))
    } else {
        work(diags, &mut locked)
    };
    let text = match ending {
        Ok(EditOutcome::Unchanged(text)) => Ok(text),
        Ok(EditOutcome::Store(text)) => store_edited_state(diags, &mut locked).await.map(|()| text),
        Err(reported) => Err(reported),
    };
    locked.unlock(diags).await;
    text
}

async fn store_edited_state(
    diags: &mut Diagnostics,
    locked: &mut StateSession,
) -> Result<(), Reported> {
    // The results of an interrupted run could not be taken over into a state that was edited without them.
    locked.refuse_if_journals_are_misplaced(diags)?;
    locked.write_state_and_archive_journals(diags).await
}

/// Locks and reads the state.
///
/// # Errors
/// Returns an error if the state cannot be locked or read.
pub(super) async fn lock_and_read_state(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    editing: &StateEdit<'_>,
) -> Result<StateSession, Reported> {
    let backend = encryption::read_backend_and_encryption(diags, workspace)?;
    let store = match state_in_named_file(workspace, &editing.state_paths)
        .filter(|_| editing.any_backend)
    {
        Some(store) => store,
        None => workspace.open_state(diags, backend.as_ref(), &editing.state_paths).await?,
    };
    state_session::open_locked_state(diags, store, editing.lock, editing.operation).await
}
