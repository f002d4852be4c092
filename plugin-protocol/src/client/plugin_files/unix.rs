//! Files of plugins on Unix.

use std::fs::{FileType, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};

use nix::errno::Errno;
use tempfile::Builder;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StampedMetadata {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl StampedMetadata {
    pub(super) fn from_metadata(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// Configures a directory that no other user can enter.
pub(in crate::client) fn set_private_mode_on_unix(directory: &mut Builder<'_, '_>) {
    directory.permissions(Permissions::from_mode(0o700));
}

/// Whether a file is a socket.
pub(in crate::client) fn is_socket(file: FileType) -> bool {
    file.is_socket()
}

/// Whether a program was not started because a process has it open for writing.
pub(in crate::client) fn is_open_for_writing_error(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::ETXTBSY as i32)
}

/// Whether a program was not started because this machine cannot run it.
pub(in crate::client) fn is_exec_format_error(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::ENOEXEC as i32)
}
