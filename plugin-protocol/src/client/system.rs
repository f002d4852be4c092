//! Files of plugins, as far as systems differ in them: the identity of a program, the folder of a socket,
//! and the reasons of the system not to run a file.

#[cfg_attr(unix, path = "system/unix.rs")]
#[cfg_attr(not(unix), path = "system/no_unix.rs")]
mod files;

use std::io;
use std::path::Path;

pub(super) use files::{is_no_program, is_open_for_writing, is_socket, only_for_this_user};

/// The identity of a file and of its content, as the file system keeps it. On Unix nothing but the kernel
/// sets the time of the last change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity(files::Identity);

impl FileIdentity {
    /// The identity of the file that is at a path now, links followed.
    ///
    /// # Errors
    /// When there is none.
    pub fn of(path: &Path) -> io::Result<Self> {
        std::fs::metadata(path).map(|found| Self(files::Identity::of(&found)))
    }
}
