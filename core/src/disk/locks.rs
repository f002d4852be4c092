//! File locks that are compatible with those of Terraform.
//!
//! On Linux, a lock is on the open file description (`F_OFD_SETLK`). It conflicts with the POSIX lock of
//! Terraform, and unlike that one it is not lost when any descriptor of the file is closed.

use std::fs::File;
use std::io;
use std::ops::Deref;

use super::system;

/// A file with a write lock. Dropping it releases the lock.
///
/// Closing the file is not enough: a child process that has been forked and has not yet executed its
/// program shares the open file description, and so the lock.
#[derive(Debug)]
pub struct LockedFile(File);

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // A failure leaves the lock to the closing of the file.
        system::unlock(&self.0).ok();
    }
}

/// Takes a write lock on the whole file, without waiting.
///
/// # Errors
/// With [`is_lock_held_error`] if another process holds the lock. Otherwise when the file system has no locks,
/// or fails.
pub fn lock(file: File) -> io::Result<LockedFile> {
    system::lock(&file)?;
    Ok(LockedFile(file))
}

/// Whether another process holds the lock of a file. On Linux this does not take the lock, so that no
/// process finds it held by a mere check.
///
/// # Errors
/// When the file system has no locks, or fails.
pub fn is_locked(file: File) -> io::Result<bool> {
    system::is_locked(&file)
}

/// Whether [`lock`] failed because another process holds the lock.
#[must_use]
pub fn is_lock_held_error(error: &io::Error) -> bool {
    system::is_lock_held_error(error)
}

/// Whether an error means that the file system has no locks, or none left.
#[must_use]
pub fn is_lock_unsupported_error(error: &io::Error) -> bool {
    system::is_lock_unsupported_error(error)
}

/// The remedy where files cannot be locked.
pub const NO_LOCKS_REMEDY: &str = "The file system of this file does not lock files: it is mounted without locks, or the lock service of a network file system is not running or is out of space. Mount the file system with locks, or move the directory to another one. Nothing was changed.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_lock_is_released_even_if_the_open_file_is_shared() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("locked");
        let open = || File::options().write(true).create(true).truncate(false).open(&path).unwrap();
        let locked = lock(open()).unwrap();
        // As in a child process between its fork and its program.
        let _shared = locked.try_clone().unwrap();
        assert!(is_lock_held_error(&lock(open()).unwrap_err()));
        drop(locked);
        lock(open()).unwrap();
    }

    #[test]
    fn checking_for_a_lock_does_not_take_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("locked");
        let open = || File::options().write(true).create(true).truncate(false).open(&path).unwrap();
        assert!(!is_locked(open()).unwrap());
        let locked = lock(open()).unwrap();
        assert!(is_locked(open()).unwrap());
        drop(locked);
        assert!(!is_locked(open()).unwrap());
        // A process that looks finds no lock of another one that looks.
        let look = || (0..1000).all(|_| !is_locked(open()).unwrap());
        std::thread::scope(|threads| {
            let thread = threads.spawn(look);
            assert!(look());
            assert!(thread.join().unwrap());
        });
    }
}
