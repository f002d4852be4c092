//! The backup of a local state file, which is created before the first write of a run.

use std::io;

use formwork_core::disk::{MAX_STATE_LEN, is_same_file, open_file, read_file};

use super::replace_file::PipeHandling;
use super::{LocalStore, StoredContent, display_path, store_error};
use crate::known_state::KnownState;
use crate::store::{StoreError, StoreOperation};

impl LocalStore {
    /// Preserves the content of the file from before the first write of this run.
    pub(super) fn write_backup(&self) -> Result<(), StoreError> {
        let state_path = &self.files.state;
        let Some(backup) = &self.files.backup else { return Ok(()) };
        // A backup at the path of the state would replace the file that is locked and written. As
        // in Terraform, only the new state is kept in this case.
        if !self.holds_state_from_before_run() || is_same_file(backup, state_path) {
            return Ok(());
        }
        let state_file =
            open_file(state_path).map_err(store_error(StoreOperation::Read, state_path))?;
        let metadata =
            state_file.metadata().map_err(store_error(StoreOperation::Read, state_path))?;
        let pipe =
            if self.files.named.backup { PipeHandling::WriteInto } else { PipeHandling::Replace };
        self.disk.replace_file_without_lock(backup, pipe, Some(&metadata), &|writer| {
            if !self.cipher.encrypts() {
                return io::copy(&mut &state_file, writer).map(drop);
            }
            // A state that was not encrypted yet must not remain readable in its backup.
            writer.write_all(&self.cipher.encrypt_file_text(read_file(state_path, MAX_STATE_LEN)?)?)
        })
    }

    /// Whether the file that is written contains a state that existed before this run.
    fn holds_state_from_before_run(&self) -> bool {
        match &self.files.read_from {
            Some(_) => self.files.state.metadata().is_ok_and(|about| about.len() > 0),
            None => {
                matches!(&self.known, KnownState::Present { content: StoredContent::Read(_), .. })
            }
        }
    }

    /// Refuses a backup that would replace the file that the state is read from: a run that is
    /// interrupted after it would leave neither the state nor its successor.
    pub(super) fn check_backup_is_not_source(&self) -> Result<(), StoreError> {
        let (Some(backup), Some(source)) = (&self.files.backup, &self.files.read_from) else {
            return Ok(());
        };
        if !self.holds_state_from_before_run() || !is_same_file(backup, source) {
            return Ok(());
        }
        let location = display_path(&self.files.state);
        let cause = format!(
            "its backup {} would replace the file that the state is read from",
            backup.display()
        );
        let remedy = "Specify another file with -backup. Nothing was changed.".to_owned();
        let operation = StoreOperation::Write;
        Err(StoreError::Failed { operation, location, cause: cause.into(), remedy: Some(remedy) })
    }
}
