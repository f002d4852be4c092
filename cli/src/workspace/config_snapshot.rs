//! Snapshot of the configuration files for a saved plan. Changes to the files during planning do not affect
//! it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use formwork_core::config::ConfigFiles;
use formwork_core::config::files::FilesOnDisk;

use crate::install::lockfile::LockFile;
use crate::modules::manifest::ModuleManifest;

/// The files that the configuration of a command was read from.
#[derive(Debug, Default)]
pub(crate) struct ConfigSources {
    /// The contents of all files, including those of called modules.
    pub(crate) texts: BTreeMap<PathBuf, Vec<u8>>,
    /// The installed modules.
    pub(crate) modules: ModuleManifest,
    /// The selected providers.
    pub(crate) locks: LockFile,
}

/// Local files, with the contents of each file at the time it was read.
#[derive(Debug, Default)]
pub(super) struct RecordedFiles(RefCell<BTreeMap<PathBuf, Vec<u8>>>);

impl RecordedFiles {
    /// Returns the contents of the files, by path.
    pub(super) fn into_texts(self) -> BTreeMap<PathBuf, Vec<u8>> {
        self.0.into_inner()
    }
}

impl ConfigFiles for RecordedFiles {
    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        FilesOnDisk.list(dir)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let text = FilesOnDisk.read(path)?;
        self.0.borrow_mut().insert(path.to_owned(), text.clone());
        Ok(text)
    }
}
