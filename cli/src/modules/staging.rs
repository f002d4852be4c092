//! Staging of packages until all are fetched. They are then installed together.
//!
//! Installed modules are not changed until all packages are fetched. Then the modules to be replaced are
//! removed from the manifest, the directories are moved, and the manifest is written. A run that is
//! killed at any time leaves the previous modules, the new modules, or modules that are reported as
//! missing, but never a module that differs from the manifest.

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

/// Prefix of the names of staging directories.
const STAGING_PREFIX: &str = ".new-";

/// Packages to be moved to the module directory.
pub(super) struct Staging {
    /// The module directory.
    directory: PathBuf,
    staging_dir: TempDir,
    /// The lock of the module directory, so that no other process installs modules concurrently.
    _lock: File,
    /// The staging directory of each package, by its destination.
    staged_dirs: BTreeMap<PathBuf, PathBuf>,
    /// The directory that each package was fetched to.
    fetched: BTreeMap<PackageAddr, PathBuf>,
}

impl Staging {
    /// Creates the staging directory, and deletes the files of killed runs. `wait` is called before waiting
    /// for another run that installs in this directory.
    pub(super) fn open(data: &DataDir, wait: &dyn Fn()) -> io::Result<Self> {
        let dir = data.open_or_create()?.open_or_create_subdir(super::MODULES_DIR_NAME)?;
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
        let staging_dir = dir.create_temp_dir(STAGING_PREFIX)?;
        let (staged_dirs, fetched) = (BTreeMap::new(), BTreeMap::new());
        let directory = data.path().join(super::MODULES_DIR_NAME);
        Ok(Self { directory, staging_dir, _lock: lock, staged_dirs, fetched })
    }

    /// Returns the module directory.
    pub(super) fn final_modules_dir(&self) -> &Dir {
        self.staging_dir.parent()
    }

    /// Returns the final directory of a module's package.
    pub(super) fn module_path(&self, key: &str) -> PathBuf {
        files::normalize_path(&self.directory.join(dir_name(key)))
    }

    /// Returns the directory of a package that is already fetched.
    pub(super) fn fetched_dir(&self, package: &PackageAddr) -> Option<PathBuf> {
        self.fetched.get(package).cloned()
    }

    /// Returns the staging directory for a module's package.
    pub(super) fn staging_dir(&self, key: &str) -> PathBuf {
        self.staging_dir.dir().path().join(dir_name(key))
    }

    /// Marks the package of a module as complete.
    pub(super) fn mark_complete(&mut self, key: &str, package: &PackageAddr) {
        let (final_dir, staged_dir) = (self.module_path(key), self.staging_dir(key));
        self.fetched.entry(package.clone()).or_insert_with(|| staged_dir.clone());
        self.staged_dirs.insert(final_dir, staged_dir);
    }

    /// Returns the current path of a file or directory while its package is staged.
    pub(super) fn staged_path(&self, path: &Path) -> PathBuf {
        let waiting = path.ancestors().find_map(|ancestor| {
            let (staged_dir, relative_path) =
                (self.staged_dirs.get(ancestor)?, path.strip_prefix(ancestor).ok()?);
            // Joining an empty path would add a slash, which would resolve a link.
            Some(if relative_path.as_os_str().is_empty() {
                staged_dir.clone()
            } else {
                staged_dir.join(relative_path)
            })
        });
        waiting.unwrap_or_else(|| path.to_owned())
    }

    /// Whether a staged package replaces the directory of a module.
    pub(super) fn is_replaced(&self, dir: &Path) -> bool {
        self.staged_dirs.keys().any(|final_dir| dir.starts_with(final_dir))
    }

    /// Installs the staged packages and writes the manifest.
    pub(super) fn commit(self, old: &ModuleManifest, new: &ModuleManifest) -> io::Result<()> {
        if !self.staged_dirs.is_empty() {
            let mut between = old.clone();
            between.0.retain(|_, record| !self.is_replaced(&record.dir));
            between.save(self.final_modules_dir())?;
        }
        let (dir, staging_dir) = (self.final_modules_dir(), self.staging_dir.dir());
        for (index, final_dir) in self.staged_dirs.keys().enumerate() {
            // A staging directory already has its final name.
            let name = final_dir.file_name().unwrap_or_default();
            if dir.has_entry(name) {
                dir.rename(name, staging_dir, format!("old-{index}"))?;
            }
            staging_dir.rename(name, dir, name)?;
        }
        new.save(dir)?;
        for key in old.0.keys().filter(|key| !key.is_empty() && is_manifest_key(key)) {
            let final_dir = self.module_path(key);
            let used = new.0.values().any(|record| record.dir.starts_with(&final_dir));
            if !used && dir.has_entry(key) {
                dir.rename(key, staging_dir, format!("gone-{key}"))?;
            }
        }
        Ok(())
    }
}

/// Returns the name of a module's directory. Names of calls and runs contain no separators. If one did, it
/// must not refer to another directory.
fn dir_name(key: &str) -> String {
    key.replace(['/', '\\'], "_")
}

/// Whether a key of a manifest, which is untrusted, is the name of a module directory.
fn is_manifest_key(key: &str) -> bool {
    key.split('.').all(|name| {
        name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-') && !name.is_empty()
    })
}

/// Files under their final names, including those of staged packages.
impl ConfigFiles for Staging {
    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        FilesOnDisk.list(&self.staged_path(dir))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        FilesOnDisk.read(&self.staged_path(path))
    }
}
