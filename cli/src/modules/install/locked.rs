//! Comparison of modules with the module lock file during installation.

use formwork_core::addr::ModuleSource;
use formwork_core::config::ModuleCallSource;
use formwork_value::{Diagnostics, Reported};

use super::super::staging::Staging;
use super::{ModuleWalk, ModulesDir, module_errors};
use crate::install::hash;
use crate::modules::lock::{LockedModule, ModuleLock};
use crate::modules::manifest::{ModuleManifest, ModuleRecord};

/// Keeps modules that were not visited, and returns them: those of tests in another directory, as in
/// Terraform, and all modules if the calls of a module could not be read.
pub(super) fn keep_unvisited_modules(
    staging: &Staging,
    old: &ModuleManifest,
    new: &mut ModuleManifest,
    unread: bool,
) -> ModuleManifest {
    let mut kept_records = ModuleManifest::default();
    for (key, record) in old.0.iter().filter(|(key, _)| unread || key.starts_with("test.")) {
        if !staging.is_replaced(&record.dir) && !new.0.contains_key(key) {
            new.0.insert(key.clone(), record.clone());
            kept_records.0.insert(key.clone(), record.clone());
        }
    }
    kept_records
}

/// Returns the new locks, together with those of modules that were not visited.
pub(super) fn with_kept_locks(
    mut new_lock: ModuleLock,
    lock: &ModuleLock,
    kept_records: &ModuleManifest,
) -> ModuleLock {
    for (key, locked) in &lock.0 {
        if kept_records.0.contains_key(key) {
            new_lock.0.entry(key.clone()).or_insert_with(|| locked.clone());
        }
    }
    new_lock
}

/// Returns the lock file to write, if it changes.
///
/// # Errors
/// The lock file would change, but is read-only.
pub(super) fn lock_to_write(
    diags: &mut Diagnostics,
    modules_dir: &ModulesDir<'_>,
    lock: &ModuleLock,
    new_lock: ModuleLock,
) -> Result<Option<ModuleLock>, Reported> {
    if new_lock == *lock {
        return Ok(None);
    }
    if modules_dir.keeps_lock {
        return Err(diags.error(module_errors::readonly_lock_error(lock, &new_lock)));
    }
    Ok(Some(new_lock))
}

impl ModuleWalk<'_> {
    /// Compares the contents of a module with the lock file, if it exists, and records the hash for the
    /// new lock file.
    pub(super) fn verify_module_content(
        &mut self,
        diags: &mut Diagnostics,
        call: &ModuleCallSource,
        key: &str,
        record: &ModuleRecord,
    ) -> Result<(), Reported> {
        // Local directories are not locked.
        let is_local =
            matches!(&call.address, ModuleSource::Package(package, _) if package.is_local());
        let Some(new_lock) = self.new_lock.as_mut().filter(|_| !is_local) else { return Ok(()) };
        let package = self.staging.staged_path(&self.staging.module_path(key));
        let hash = hash::hash_module(&package).map_err(|error| {
            diags.error(module_errors::unhashable_module_error(key, call, &error))
        })?;
        let module = LockedModule::for_record(record, hash);
        let locked = self.locked.0.get(key).filter(|locked| locked.is_same_release(&module));
        if let Some(locked) = locked.filter(|locked| locked.hash != module.hash) {
            return Err(
                diags.error(module_errors::content_mismatch_error(key, call, locked, &module))
            );
        }
        new_lock.0.insert(key.to_owned(), module);
        Ok(())
    }
}
