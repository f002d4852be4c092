//! The files a configuration is read from. The one place in the engine's configuration code that
//! touches a disk.

use std::io;
use std::path::Path;

/// Where files are read from.
pub trait Files {
    /// The names of everything in a folder, in any order.
    ///
    /// # Errors
    /// When the folder cannot be read.
    fn list(&self, dir: &Path) -> io::Result<Vec<String>>;

    /// The content of a file.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
}

/// The files of this machine, below the folder the process is in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let entries = std::fs::read_dir(dir)?;
        // A name that is not Unicode cannot end in a suffix we look for and still be readable text
        // to the author; it is passed over like any foreign file.
        entries
            .filter_map(|entry| match entry {
                Ok(entry) => entry.file_name().into_string().ok().map(Ok),
                Err(error) => Some(Err(error)),
            })
            .collect()
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }
}
