//! The lock on a local state file, with the file next to it that describes the holder.

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

/// Maximum number of times that the file may be replaced between opening and locking before the
/// attempt fails.
const MAX_LOCK_ATTEMPTS: usize = 10;

/// A lock that is held. Dropping it releases it.
pub(super) struct HeldLock {
    /// Its ID, which other processes see.
    pub(super) id: String,
    /// The locked file, which is the state file.
    pub(super) file: LockedFile,
    /// Files that were the state file before. A program that opened one in time finds it locked.
    former: Vec<LockedFile>,
    state: PathBuf,
    info: PathBuf,
    /// Whether the file was created only to be locked.
    pub(super) is_ours: bool,
}

impl HeldLock {
    /// Acquires the lock, and creates the file if it does not exist.
    pub(super) fn try_lock(
        files: &StateFilePaths,
        operation: &str,
    ) -> Result<Option<Self>, StoreError> {
        // A path that is not a file has nothing to lock, because no state is stored there.
        let path = &files.state;
        if is_device_or_pipe(path) {
            return Ok(None);
        }
        let lock_failed = |error| store_error(StoreOperation::Lock, path)(error);
        if let Some(directory) = path.parent() {
            // A planted link instead of the directory of workspaces could lead anywhere.
            if !directory.is_dir() && directory.parent().is_some_and(Path::is_symlink) {
                let reason = "its directory would be created through a symbolic link";
                return Err(lock_failed(io::Error::other(reason)));
            }
            std::fs::create_dir_all(directory).map_err(lock_failed)?;
        }
        let info = files.sibling_path(".lock.info");
        for _ in 0..MAX_LOCK_ATTEMPTS {
            let is_ours = !path.exists();
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                // The file is the state itself, so opening it for the lock must not truncate it.
                .truncate(false)
                // A state may contain secrets.
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
            // Another process may have replaced the file since it was opened. A lock on the old
            // file would protect nothing.
            if !is_file_at_path(&file, path).map_err(lock_failed)? {
                continue;
            }
            let lock_info = LockInfo::new(operation, display_path(path));
            let (id, state) = (lock_info.id.clone(), path.clone());
            let held_lock = Self { id, file, former: Vec::new(), state, info, is_ours };
            // From here on, created files are deleted with the lock.
            held_lock
                .write_lock_info(&lock_info)
                .map_err(store_error(StoreOperation::Lock, &held_lock.info))?;
            return Ok(Some(held_lock));
        }
        Err(StoreError::Replaced { location: display_path(path) })
    }

    /// Writes the information about the lock, readable by all users that can read the state.
    fn write_lock_info(&self, about: &LockInfo) -> io::Result<()> {
        let text = serde_json::to_vec(about)?;
        // Left over from a run that was killed, possibly by another user.
        std::fs::remove_file(&self.info).ok();
        let mode = FileAccess::of(&self.file.metadata()?).mode_for_public_file();
        let mut options = OpenOptions::new();
        // A new file: a link that was planted under the name in the meantime is not followed.
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

    /// Holds another file, which is already locked and has replaced the held one.
    pub(super) fn hold_file_instead(&mut self, file: LockedFile) {
        self.former.push(std::mem::replace(&mut self.file, file));
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        let is_empty = self.file.metadata().is_ok_and(|metadata| metadata.len() == 0);
        // A file that was created for the lock must not remain: later commands would mistake it for
        // an emptied state.
        if self.is_ours && is_empty && is_file_at_path(&self.file, &self.state).unwrap_or(false) {
            // A failure is ignored: at worst an empty file remains, which is harmless.
            std::fs::remove_file(&self.state).ok();
        }
        std::fs::remove_file(&self.info).ok();
    }
}

/// Whether the path leads to this open file.
pub(super) fn is_file_at_path(file: &File, path: &Path) -> io::Result<bool> {
    let own_id = FileId::of(file)?;
    match FileId::at(path) {
        Ok(path_id) => Ok(own_id == path_id),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn read_lock_info(path: &Path) -> Option<LockInfo> {
    parse_json_object(&read_file(path, MAX_SMALL_FILE_LEN).ok()?).ok()
}
