//! Stages packages until all are fetched, then installs them together.
//!
//! Nothing that is installed is touched before everything was fetched. Then the modules about to be
//! replaced are taken out of the manifest, the folders are moved, and the manifest is written: a
//! run that is killed at any moment leaves the previous modules, the new modules, or modules that
//! are reported as missing, but never a module that differs from the manifest.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use formwork_core::addr::PackageAddr;
use formwork_core::config::ConfigFiles;
use formwork_core::config::files::{self, FilesOnDisk};
use formwork_core::disk::{Dir, TempDir};

use super::manifest::ModuleManifest;
use crate::data_dir::DataDir;

/// Prefix of the names of folders in which packages are staged.
const STAGING_PREFIX: &str = ".new-";

/// Packages that are on their way into the folder of modules.
pub(super) struct Staging {
    /// The folder of modules.
    folder: PathBuf,
    aside: TempDir,
    /// Held as long as this exists: no other process installs here meanwhile.
    _lock: File,
    /// Staging folder of each package, by its destination.
    places: BTreeMap<PathBuf, PathBuf>,
    /// Folder that each package was fetched to.
    fetched: BTreeMap<PackageAddr, PathBuf>,
}

impl Staging {
    /// Makes room, and clears away the files of a run that was killed. `wait` is called before another run
    /// that installs here is waited for.
    pub(super) fn open(data: &DataDir, wait: &dyn Fn()) -> io::Result<Self> {
        let dir = data.open_or_create()?.open_or_create_subdir(super::MODULES_FOLDER_NAME)?;
        let lock = dir.open_lock_file(".lock")?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                wait();
                lock.lock()?;
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        for name in dir.entry_names()? {
            if name.as_encoded_bytes().starts_with(STAGING_PREFIX.as_bytes()) && dir.is_dir(&name) {
                dir.remove(name)?;
            }
        }
        let aside = dir.create_temp_dir(STAGING_PREFIX)?;
        let (places, fetched) = (BTreeMap::new(), BTreeMap::new());
        let folder = data.path().join(super::MODULES_FOLDER_NAME);
        Ok(Self { folder, aside, _lock: lock, places, fetched })
    }

    /// The folder of modules.
    pub(super) fn final_modules_dir(&self) -> &Dir {
        self.aside.parent()
    }

    /// The folder in which the package of a module belongs.
    pub(super) fn module_path(&self, key: &str) -> PathBuf {
        files::normalize_path(&self.folder.join(folder_name(key)))
    }

    /// Folder of a package that was fetched before.
    pub(super) fn fetched_folder(&self, package: &PackageAddr) -> Option<PathBuf> {
        self.fetched.get(package).cloned()
    }

    /// Staging folder of a module's package, to be written there.
    pub(super) fn staging_folder(&self, key: &str) -> PathBuf {
        self.aside.dir().path().join(folder_name(key))
    }

    /// Says that the package of a module waits complete.
    pub(super) fn mark_complete(&mut self, key: &str, package: &PackageAddr) {
        let (place, aside) = (self.module_path(key), self.staging_folder(key));
        self.fetched.entry(package.clone()).or_insert_with(|| aside.clone());
        self.places.insert(place, aside);
    }

    /// Current path of a file or folder while its package is staged.
    pub(super) fn staged_path(&self, path: &Path) -> PathBuf {
        let waiting = path.ancestors().find_map(|place| {
            let (aside, within) = (self.places.get(place)?, path.strip_prefix(place).ok()?);
            // Joining nothing would add a slash, which means what a link leads to.
            Some(if within.as_os_str().is_empty() { aside.clone() } else { aside.join(within) })
        });
        waiting.unwrap_or_else(|| path.to_owned())
    }

    /// Whether a package that waits replaces the folder of a module.
    pub(super) fn is_replaced(&self, dir: &Path) -> bool {
        self.places.keys().any(|place| dir.starts_with(place))
    }

    /// Brings everything into force.
    pub(super) fn commit(self, old: &ModuleManifest, new: &ModuleManifest) -> io::Result<()> {
        if !self.places.is_empty() {
            let mut between = old.clone();
            between.0.retain(|_, record| !self.is_replaced(&record.dir));
            between.save(self.final_modules_dir())?;
        }
        let (dir, aside) = (self.final_modules_dir(), self.aside.dir());
        for (at, place) in self.places.keys().enumerate() {
            // A staged folder already has its final name.
            let name = place.file_name().unwrap_or_default();
            if dir.has_entry(name) {
                dir.rename(name, aside, format!("old-{at}"))?;
            }
            aside.rename(name, dir, name)?;
        }
        new.save(dir)?;
        for key in old.0.keys().filter(|key| !key.is_empty() && is_manifest_key(key)) {
            let place = self.module_path(key);
            let used = new.0.values().any(|record| record.dir.starts_with(&place));
            if !used && dir.has_entry(key) {
                dir.rename(key, aside, format!("gone-{key}"))?;
            }
        }
        Ok(())
    }
}

/// The name of the folder of a module. Names of calls and runs have no separators; should one come here, it
/// must not lead elsewhere.
fn folder_name(key: &str) -> String {
    key.replace(['/', '\\'], "_")
}

/// Whether a key of a manifest, which is untrusted, names a folder of ours.
fn is_manifest_key(key: &str) -> bool {
    key.split('.').all(|name| {
        name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-') && !name.is_empty()
    })
}

/// Files, also those of packages that wait, under the names they will have.
impl ConfigFiles for Staging {
    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        FilesOnDisk.list(&self.staged_path(dir))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        FilesOnDisk.read(&self.staged_path(path))
    }
}
