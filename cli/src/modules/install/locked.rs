//! Compares modules with their lock file while they are installed.

use formwork_core::addr::ModuleSource;
use formwork_core::config::CallSite;
use formwork_value::{Diagnostics, Reported};

use super::{ModulesFolder, Walk, complaint};
use crate::install::hash;
use crate::modules::lock::{LockedModule, ModuleLock};
use crate::modules::manifest::{Manifest, Record};

/// The lock file to be written, if it is to change. Where the calls of a module could not be read, the
/// locks of `kept` modules stay.
///
/// # Errors
/// When it must stay as it is.
pub(super) fn changed(
    diags: &mut Diagnostics,
    place: &ModulesFolder<'_>,
    (lock, mut found): (&ModuleLock, ModuleLock),
    kept: Option<&Manifest>,
) -> Result<Option<ModuleLock>, Reported> {
    for (key, one) in &lock.0 {
        if kept.is_some_and(|kept| kept.0.contains_key(key)) {
            found.0.entry(key.clone()).or_insert_with(|| one.clone());
        }
    }
    if found == *lock {
        return Ok(None);
    }
    if place.keeps_lock {
        return Err(diags.error(complaint::lock_is_kept(lock, &found)));
    }
    Ok(Some(found))
}

impl Walk<'_> {
    /// Compares the content of a module with the lock file, if there is one, and takes it down for the
    /// next one.
    pub(super) fn verify(
        &mut self,
        diags: &mut Diagnostics,
        call: &CallSite,
        key: &str,
        record: &Record,
    ) -> Result<(), Reported> {
        // A folder of this machine is as it is.
        let is_local =
            matches!(&call.address, ModuleSource::Package(package, _) if package.is_local());
        let Some(found) = self.found.as_mut().filter(|_| !is_local) else { return Ok(()) };
        let package = self.staging.staged_path(&self.staging.place(key));
        let hash = hash::of_module(&package)
            .map_err(|error| diags.error(complaint::no_hash(key, call, &error)))?;
        let module = LockedModule::of(record, hash);
        let locked = self.locked.0.get(key).filter(|locked| locked.is_same_release(&module));
        if let Some(locked) = locked.filter(|locked| locked.hash != module.hash) {
            return Err(diags.error(complaint::other_content(key, call, locked, &module)));
        }
        found.0.insert(key.to_owned(), module);
        Ok(())
    }
}
