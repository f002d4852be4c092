//! The lock on a local state file, with the file beside it that names the holder.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use formwork_core::disk::locks::{LockedFile, is_lock_held_error, lock};
use formwork_core::disk::{
    FileAccess, FileId, FileOptions as _, MAX_SMALL_FILE_LEN, parse_json_object, read_file,
};

use super::{StateFilePaths, display_path, is_device_or_pipe, store_error};
use crate::lock::LockInfo;
use crate::store::{LockEnd, StoreError, StoreOperation};

/// Greatest number of replacements of the file between opening and locking before the attempt
/// fails.
const MAX_LOCK_ATTEMPTS: usize = 10;

/// A lock that is held. Dropping it gives it back.
pub(super) struct HeldLock {
    /// Its id, as others see it.
    pub(super) id: String,
    /// The locked file, which is the state file.
    pub(super) file: LockedFile,
    /// Files that were the state file before. A program that opened one in time finds it locked.
    former: Vec<LockedFile>,
    state: PathBuf,
    info: PathBuf,
    /// Whether the file was made only to be locked.
    pub(super) is_ours: bool,
}

impl HeldLock {
    /// Takes the lock, making the file if there is none.
    pub(super) fn try_lock(
        files: &StateFilePaths,
        operation: &str,
    ) -> Result<Option<Self>, StoreError> {
        // There is nothing to hold of what is no file: no state is kept there.
        let path = &files.state;
        if is_device_or_pipe(path) {
            return Ok(None);
        }
        let lock_failed = |error| store_error(StoreOperation::Lock, path)(error);
        if let Some(folder) = path.parent() {
            // A planted link in the place of the folder of workspaces leads anywhere.
            if !folder.is_dir() && folder.parent().is_some_and(Path::is_symlink) {
                let reason = "its folder would be made behind a symbolic link";
                return Err(lock_failed(io::Error::other(reason)));
            }
            std::fs::create_dir_all(folder).map_err(lock_failed)?;
        }
        let info = files.sibling_path(".lock.info");
        for _ in 0..MAX_LOCK_ATTEMPTS {
            let is_ours = !path.exists();
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                // The file is the state itself, so opening it for the lock must not empty it.
                .truncate(false)
                // A state may hold secrets.
                .owner_only()
                .open(path)
                .map_err(lock_failed)?;
            let file = match lock(file) {
                Ok(file) => file,
                Err(error) if is_lock_held_error(&error) => {
                    let holder = read_lock_info(&info).map(Box::new);
                    let location = display_path(path);
                    return Err(StoreError::Held { location, holder, ends: LockEnd::WithProcess });
                }
                Err(error) => return Err(lock_failed(error)),
            };
            // Another process may have replaced the file since it was opened: a lock on the old one
            // would protect nothing.
            if !is_file_at_path(&file, path).map_err(lock_failed)? {
                continue;
            }
            let about = LockInfo::new(operation, display_path(path));
            let (id, state) = (about.id.clone(), path.clone());
            let held = Self { id, file, former: Vec::new(), state, info, is_ours };
            // From here on, whatever was made goes with the lock.
            held.write_lock_info(&about).map_err(store_error(StoreOperation::Lock, &held.info))?;
            return Ok(Some(held));
        }
        Err(StoreError::Replaced { location: display_path(path) })
    }

    /// Writes the information about the lock, readable by all users that can read the state.
    fn write_lock_info(&self, about: &LockInfo) -> io::Result<()> {
        let text = serde_json::to_vec(about)?;
        // Left over from a run that was killed, perhaps one of another user.
        std::fs::remove_file(&self.info).ok();
        let mode = FileAccess::of(&self.file.metadata()?).mode_for_public_file();
        let mut options = OpenOptions::new();
        // A new file: a link that was planted under the name meanwhile is not followed.
        options.write(true).create_new(true).with_mode(mode);
        options.open(&self.info)?.write_all(&text)
    }

    /// Fails if the locked file is no longer the one at the path.
    pub(super) fn check_not_replaced(&self, path: &Path) -> Result<(), StoreError> {
        match is_file_at_path(&self.file, path) {
            Ok(true) => Ok(()),
            Ok(false) => Err(StoreError::Replaced { location: display_path(path) }),
            Err(error) => Err(store_error(StoreOperation::Write, path)(error)),
        }
    }

    /// Holds another file, already locked, that took the place of the one held.
    pub(super) fn hold_file_instead(&mut self, file: LockedFile) {
        self.former.push(std::mem::replace(&mut self.file, file));
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        let is_empty = self.file.metadata().is_ok_and(|found| found.len() == 0);
        // A file made for the lock must not stay: later commands would take it for an emptied
        // state.
        if self.is_ours && is_empty && is_file_at_path(&self.file, &self.state).unwrap_or(false) {
            // Nothing can be done about a failure: at worst an empty file stays, which means nothing.
            std::fs::remove_file(&self.state).ok();
        }
        std::fs::remove_file(&self.info).ok();
    }
}

/// Whether the path leads to this open file.
pub(super) fn is_file_at_path(file: &File, path: &Path) -> io::Result<bool> {
    let ours = FileId::of(file)?;
    match FileId::at(path) {
        Ok(there) => Ok(ours == there),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn read_lock_info(path: &Path) -> Option<LockInfo> {
    parse_json_object(&read_file(path, MAX_SMALL_FILE_LEN).ok()?).ok()
}
