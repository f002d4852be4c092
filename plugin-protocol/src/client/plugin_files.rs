//! Platform-specific handling of plugin files: the identity of a program, the directory of a
//! socket, and the reasons why the system refuses to run a file.

#[cfg_attr(unix, path = "plugin_files/unix.rs")]
#[cfg_attr(not(unix), path = "plugin_files/windows.rs")]
mod files;

use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

pub(super) use files::{is_exec_format_error, is_open_for_writing_error, is_socket};

/// Longest path, in bytes, of a temporary directory in which sockets can be created. The path of a
/// Unix socket is limited to 107 bytes (`sun_path`), and CI systems have long temporary
/// directories.
const MAX_TEMP_DIR_PATH_BYTES: usize = 60;

/// A temporary directory whose path leaves room for the name of a socket.
#[must_use]
pub fn short_temp_dir() -> PathBuf {
    let directory = std::env::temp_dir();
    // Sockets of Windows are not files.
    let is_short = cfg!(not(unix)) || directory.as_os_str().len() <= MAX_TEMP_DIR_PATH_BYTES;
    if is_short { directory } else { PathBuf::from("/tmp") }
}

/// Creates a directory for the sockets of a plugin, which only this user can enter. Its name begins
/// with `prefix`.
///
/// # Errors
/// When it cannot be created.
pub fn make_socket_dir(prefix: &str) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    files::set_private_mode_on_unix(builder.prefix(prefix));
    builder.tempdir_in(short_temp_dir())
}

/// The identity of a file and of its content, as the file system keeps it. On Unix only the kernel
/// sets the time of the last change of a file (ctime).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp(files::StampedMetadata);

impl FileStamp {
    /// The identity of the file that is at a path now, links followed.
    ///
    /// # Errors
    /// When there is none.
    pub fn of_path(path: &Path) -> io::Result<Self> {
        std::fs::metadata(path)
            .map(|metadata| Self(files::StampedMetadata::from_metadata(&metadata)))
    }
}
