//! Files of plugins on Windows. Its errors have the numbers of `winerror.h`.

use std::fs::{FileType, Metadata};
use std::io;
use std::time::SystemTime;

use tempfile::Builder;

const ERROR_SHARING_VIOLATION: i32 = 32;
const ERROR_BAD_EXE_FORMAT: i32 = 193;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StampedMetadata {
    size: u64,
    created: Option<SystemTime>,
    modified: Option<SystemTime>,
}

impl StampedMetadata {
    pub(super) fn from_metadata(metadata: &Metadata) -> Self {
        let (created, modified) = (metadata.created().ok(), metadata.modified().ok());
        Self { size: metadata.len(), created, modified }
    }
}

/// The temporary directory already belongs to the user.
pub(in crate::client) fn set_private_mode_on_unix(_dir: &mut Builder<'_, '_>) {}

/// Plugins listen on TCP here.
pub(in crate::client) fn is_socket(_file: FileType) -> bool {
    false
}

/// Whether a program was not started because a process has it open for writing.
pub(in crate::client) fn is_open_for_writing_error(error: &io::Error) -> bool {
    error.raw_os_error() == Some(ERROR_SHARING_VIOLATION)
}

/// Whether a program was not started because this machine cannot run it.
pub(in crate::client) fn is_exec_format_error(error: &io::Error) -> bool {
    error.raw_os_error() == Some(ERROR_BAD_EXE_FORMAT)
}
