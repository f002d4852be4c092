//! Modes of files on Unix. Windows has none, and files have the access of their directories there.

use std::fs::Metadata;
#[cfg(unix)]
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates a directory and its parents with a mode.
#[cfg(unix)]
pub(crate) fn create_dir_with_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    DirBuilder::new().recursive(true).mode(mode).create(path)
}

/// Creates a directory and its parents.
#[cfg(not(unix))]
pub(crate) fn create_dir_with_mode(path: &Path, _mode: u32) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// Creates a file with a mode, or truncates the existing one.
#[cfg(unix)]
pub(crate) fn create_file_with_mode(path: &Path, mode: u32) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(path)
}

/// Creates a file, or truncates the existing one.
#[cfg(not(unix))]
pub(crate) fn create_file_with_mode(path: &Path, _mode: u32) -> io::Result<std::fs::File> {
    std::fs::File::create(path)
}

/// The mode of a file.
#[cfg(unix)]
pub(crate) fn mode_from_metadata(metadata: &Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    Some(metadata.permissions().mode())
}

/// There is none.
#[cfg(not(unix))]
pub(crate) fn mode_from_metadata(_found: &Metadata) -> Option<u32> {
    None
}
