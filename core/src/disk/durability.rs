//! Degrees of durability of written files.

use std::fs::File;
use std::io;
use std::path::Path;

use super::system;

/// The event that written data has to survive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The loss of power: writes wait for the disk.
    #[default]
    PowerLoss,
    /// The end of the process: writes wait only for the operating system.
    ProcessEnd,
}

impl Durability {
    /// Makes the content and the attributes of a file durable.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn sync_file(self, file: &File) -> io::Result<()> {
        match self {
            Self::PowerLoss => file.sync_all(),
            Self::ProcessEnd => Ok(()),
        }
    }

    /// Makes the content of a file durable.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn sync_content(self, file: &File) -> io::Result<()> {
        match self {
            Self::PowerLoss => file.sync_data(),
            Self::ProcessEnd => Ok(()),
        }
    }

    /// Makes the names in a directory durable.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn sync_dir(self, path: &Path) -> io::Result<()> {
        match self {
            Self::PowerLoss => system::sync_dir(path),
            Self::ProcessEnd => Ok(()),
        }
    }
}
