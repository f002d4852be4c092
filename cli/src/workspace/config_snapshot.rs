//! Snapshot of the files that a configuration was read from. A saved plan holds it, whatever
//! happens to the files while the plan is made. Has no meaning by itself.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use formwork_core::config::ConfigFiles;
use formwork_core::config::files::FilesOnDisk;

use crate::install::lockfile::LockFile;
use crate::modules::manifest::ModuleManifest;

/// Files that the configuration of a command was read from.
#[derive(Debug, Default)]
pub(crate) struct ConfigSources {
    /// The content of its files, those of called modules among them.
    pub(crate) texts: BTreeMap<PathBuf, Vec<u8>>,
    /// The modules that were installed.
    pub(crate) modules: ModuleManifest,
    /// The providers that were selected.
    pub(crate) locks: LockFile,
}

/// The files of this machine, each kept as it was when it was read.
#[derive(Debug, Default)]
pub(super) struct RecordedFiles(RefCell<BTreeMap<PathBuf, Vec<u8>>>);

impl RecordedFiles {
    /// The source texts.
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
