//! Snapshot of the files that a configuration was read from. A saved plan holds it, whatever
//! happens to the files while the plan is made. Has no meaning by itself.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use formwork_core::config::Files;
use formwork_core::config::files::Disk;

use crate::install::lockfile::LockFile;
use crate::modules::manifest::Manifest;

/// Files that the configuration of a command was read from.
#[derive(Debug, Default)]
pub(crate) struct ConfigSources {
    /// The content of its files, those of called modules among them.
    pub(crate) texts: BTreeMap<PathBuf, Vec<u8>>,
    /// The modules that were installed.
    pub(crate) modules: Manifest,
    /// The providers that were selected.
    pub(crate) locks: LockFile,
}

/// The files of this machine, each kept as it was when it was read.
#[derive(Debug, Default)]
pub(super) struct Recording(RefCell<BTreeMap<PathBuf, Vec<u8>>>);

impl Recording {
    /// The source texts.
    pub(super) fn into_texts(self) -> BTreeMap<PathBuf, Vec<u8>> {
        self.0.into_inner()
    }
}

impl Files for Recording {
    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        Disk.list(dir)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let text = Disk.read(path)?;
        self.0.borrow_mut().insert(path.to_owned(), text.clone());
        Ok(text)
    }
}
