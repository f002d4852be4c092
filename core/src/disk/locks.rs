//! Locks on files, of the kind that Terraform sees and whose locks we see.
//!
//! A lock is on the open file description (`F_OFD_SETLK`). It conflicts with the POSIX lock of
//! Terraform, and unlike that one it is not lost when any descriptor of the file is closed.

use std::fs::File;
use std::io;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;

/// Takes a write lock on the whole file, without waiting.
///
/// # Errors
/// With [`is_held`] for another holder's lock, else when the file system has no locks or fails.
pub fn lock(file: &File) -> io::Result<()> {
    let range = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    fcntl(file, FcntlArg::F_OFD_SETLK(&range)).map(drop).map_err(io::Error::from)
}

/// Whether [`lock`] failed because another process holds the lock.
#[must_use]
pub fn is_held(error: &io::Error) -> bool {
    matches!(error.raw_os_error().map(Errno::from_raw), Some(Errno::EAGAIN | Errno::EACCES))
}

/// Whether an error means that the place has no locks at all, or no more of them.
#[must_use]
pub fn has_no_locks(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw);
    matches!(errno, Some(Errno::ENOLCK | Errno::EOPNOTSUPP | Errno::ENOSYS | Errno::EINVAL))
}

/// The remedy where files cannot be locked.
pub const NO_LOCKS: &str = "The file system that this file is on does not lock files: it is mounted without locks, or the service that keeps them for a network file system does not run or has no room. Have it mounted with locks, or put the folder on another file system. Nothing was changed.";
