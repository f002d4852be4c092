//! The lock on a local state file: one that the reference sees and whose locks we see.
//!
//! It is a lock on the open file description (`F_OFD_SETLK`). It conflicts with the POSIX lock of the
//! reference, and unlike that one it is not lost when any descriptor of the file is closed.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;

use super::{Files, is_no_file};
use crate::disk::{MAX_RECORD, read_file};
use crate::state::store::{LockInfo, StoreError};

/// How often the file may be replaced between opening and locking before we give up.
const ATTEMPTS: usize = 10;

/// A lock that is held. Dropping it gives it back.
#[derive(Debug)]
pub(super) struct Held {
    /// The locked file, which is the state file.
    pub(super) file: File,
    /// Files that were the state file before. Whoever opened one in time finds it locked.
    former: Vec<File>,
    state: PathBuf,
    info: PathBuf,
    /// Whether the file was made only to be locked.
    pub(super) is_ours: bool,
}

impl Held {
    /// Takes the lock, making the file if there is none. There is nothing to hold of what is no file:
    /// no state is kept there.
    pub(super) fn take(files: &Files, operation: &str) -> Result<Option<Self>, StoreError> {
        let path = &files.state;
        if is_no_file(path) {
            return Ok(None);
        }
        let failed = |error| StoreError::io("lock", path)(error);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let info = files.beside(".lock.info");
        for _ in 0..ATTEMPTS {
            let is_ours = !path.exists();
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                // A state may hold secrets.
                .mode(0o600)
                .open(path)
                .map_err(failed)?;
            match lock(&file) {
                Ok(()) => {}
                Err(Errno::EAGAIN | Errno::EACCES) => {
                    let holder = read_info(&info).map(Box::new);
                    return Err(StoreError::Held { state: path.clone(), holder });
                }
                Err(errno) => return Err(failed(errno.into())),
            }
            if !is_at(&file, path).map_err(failed)? {
                continue;
            }
            let state = path.clone();
            let held = Self { file, former: Vec::new(), state, info, is_ours };
            // From here on, whatever was made goes with the lock.
            held.write_info(operation).map_err(StoreError::io("lock", &held.info))?;
            return Ok(Some(held));
        }
        Err(StoreError::Replaced(path.clone()))
    }

    /// Writes down who holds the lock, for everybody who may read the state.
    fn write_info(&self, operation: &str) -> io::Result<()> {
        let text = serde_json::to_vec(&info(&self.state, operation)?)?;
        // Left over from a run that was killed, perhaps one of another user.
        std::fs::remove_file(&self.info).ok();
        let mode = self.file.metadata()?.mode() & 0o666;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(mode);
        options.open(&self.info)?.write_all(&text)
    }

    /// Fails if the locked file is no longer the one at the path.
    pub(super) fn check_in_place(&self, path: &Path) -> Result<(), StoreError> {
        match is_at(&self.file, path) {
            Ok(true) => Ok(()),
            Ok(false) => Err(StoreError::Replaced(path.to_owned())),
            Err(error) => Err(StoreError::io("write", path)(error)),
        }
    }

    /// Holds another file, already locked, that took the place of the one held.
    pub(super) fn move_to(&mut self, file: File) {
        self.former.push(std::mem::replace(&mut self.file, file));
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let is_empty = self.file.metadata().is_ok_and(|found| found.len() == 0);
        if self.is_ours && is_empty && is_at(&self.file, &self.state).unwrap_or(false) {
            // Nothing can be done about a failure: at worst an empty file stays, which means nothing.
            std::fs::remove_file(&self.state).ok();
        }
        std::fs::remove_file(&self.info).ok();
    }
}

/// Takes a write lock on the whole file, without waiting.
pub(in crate::state) fn lock(file: &File) -> Result<(), Errno> {
    let range = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    fcntl(file, FcntlArg::F_OFD_SETLK(&range)).map(|_| ())
}

/// Whether the path leads to this open file.
pub(super) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let ours = file.metadata()?;
    match path.metadata() {
        Ok(there) => Ok((ours.dev(), ours.ino()) == (there.dev(), there.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn read_info(path: &Path) -> Option<LockInfo> {
    serde_json::from_slice(&read_file(path, MAX_RECORD).ok()?).ok()
}

#[expect(clippy::disallowed_methods, reason = "a lock says since when it is held")]
fn info(state: &Path, operation: &str) -> io::Result<LockInfo> {
    let now = time::OffsetDateTime::now_utc();
    Ok(LockInfo {
        id: uuid::Uuid::new_v4().to_string(),
        operation: operation.to_owned(),
        info: String::new(),
        who: who(),
        version: crate::version::LANGUAGE_VERSION.to_string(),
        created: now
            .format(&time::format_description::well_known::Rfc3339)
            .map_err(io::Error::other)?,
        path: state.display().to_string(),
    })
}

/// The user and host, as others are told.
pub(in crate::state) fn who() -> String {
    let uid = nix::unistd::getuid();
    let user = nix::unistd::User::from_uid(uid).ok().flatten();
    let user = user.map_or_else(|| uid.to_string(), |user| user.name);
    let host = nix::unistd::gethostname().unwrap_or_default();
    format!("{user}@{}", host.to_string_lossy())
}
