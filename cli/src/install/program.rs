//! Lookup of the programs of installed providers, whose packages are compared with the lock file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use formwork_core::addr::ProviderAddr;
use formwork_core::version::VersionConstraints;
use formwork_plugin_protocol::client::FileStamp;
use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::hash_memo::HashMemo;
use super::lockfile::{LockFile, ProviderLock};
use super::package;
use super::providers::ProviderDirs;
use super::shipped::ShippedProgram;
use crate::messages;

/// A program of a provider, ready to start.
#[derive(Clone, Debug)]
pub(crate) struct VerifiedProgram {
    pub(crate) path: PathBuf,
    /// The argument that selects the provider, if the program contains several.
    pub(crate) arg0: Option<OsString>,
    /// The identity of the file, if it was compared with the lock file.
    pub(crate) identity: Option<FileStamp>,
    /// The hash of the package, if it was compared with the lock file.
    pub(crate) hash: Option<String>,
}

impl VerifiedProgram {
    /// A program that is not in a locked package.
    fn unchecked(path: PathBuf) -> Self {
        Self { path, arg0: None, identity: None, hash: None }
    }
}

impl ProviderDirs<'_> {
    /// Finds the program of a provider that `init` installed, and verifies its package with the lock
    /// file.
    ///
    /// # Errors
    /// The provider is not installed, or its package does not match the lock.
    pub(crate) fn find_verified_program(
        &self,
        diags: &mut Diagnostics,
        addr: &ProviderAddr,
        locks: &LockFile,
    ) -> Result<VerifiedProgram, Reported> {
        if let Some(directory) = self.development_dir(addr) {
            return package::find_program(directory, addr).map(VerifiedProgram::unchecked).ok_or_else(|| {
                let detail = format!("The CLI configuration specifies {} for the program of {addr}, but this directory contains no file called terraform-provider-{}.", directory.display(), addr.provider_type());
                diags.error(Diagnostic::error(messages::PROVIDER_UNDER_DEVELOPMENT_NOT_FOUND, detail).blamed_on(Blame::Environment))
            });
        }
        let Some(lock) = locks.providers.get(addr) else {
            let reason = "required by this configuration but no version is selected";
            return Err(diags.error(inconsistent_lock_error(addr, reason)));
        };
        let package_dir = package::package_dir(&self.packages_path(), addr, &lock.version);
        let installed = package::find_program(&package_dir, addr);
        if installed.is_none() || lock.hashes.is_empty() {
            // A package without a lock is not run if the included provider can be used instead.
            let shipped =
                self.shipped_program(addr).filter(|(version, _)| *version == lock.version);
            if let Some((_, program)) = shipped {
                let ShippedProgram { path, arg0 } = program;
                return Ok(VerifiedProgram { path, arg0, identity: None, hash: None });
            }
        }
        let Some(path) = installed else {
            return Err(diags.error(missing_package_error(addr, lock, &self.packages_path())));
        };
        // The identity is read before the contents, so that the hash is that of this file.
        let identity = FileStamp::of_path(&path);
        let verified = identity.and_then(|identity| {
            Ok((identity, HashMemo::in_user_cache(self.env).hash_of_dir(&package_dir)?))
        });
        let (identity, hash) = verified.map_err(|error| {
            let detail = format!("The package of {addr} cannot be read: {error}.");
            diags.error(
                Diagnostic::error(messages::REQUIRED_PLUGINS_ARE_NOT_INSTALLED, detail)
                    .blamed_on(Blame::Environment),
            )
        })?;
        if !lock.hashes.is_empty() && !lock.hashes.contains(&hash) {
            let detail = format!(
                "The installed package does not match the lock file: {}. Run `formwork init` to reinstall it, or `formwork init -upgrade` if the package was changed intentionally.",
                package::locked_hash_mismatch_message(addr, &lock.version)
            );
            let summary = messages::REQUIRED_PLUGINS_ARE_NOT_INSTALLED;
            return Err(
                diags.error(Diagnostic::error(summary, detail).blamed_on(Blame::Environment))
            );
        }
        let hash = lock.hashes.contains(&hash).then_some(hash);
        Ok(VerifiedProgram { path, arg0: None, identity: Some(identity), hash })
    }

    /// Finds the programs of several providers, as [`ProviderDirs::find_verified_program`] does, except
    /// for providers that are built in or already running.
    ///
    /// # Errors
    /// A provider is not installed, or its package does not match the lock.
    pub(crate) fn find_programs(
        &self,
        diags: &mut Diagnostics,
        needed: &BTreeMap<ProviderAddr, VersionConstraints>,
        locks: &LockFile,
    ) -> Result<BTreeMap<ProviderAddr, VerifiedProgram>, Reported> {
        let mut programs = BTreeMap::new();
        let mut result = Ok(());
        // All providers are looked up, so that every missing one is reported.
        for addr in needed.keys() {
            if addr.is_builtin() || self.reattached.contains_key(addr) {
                continue;
            }
            match self.find_verified_program(diags, addr, locks) {
                Ok(path) => drop(programs.insert(addr.clone(), path)),
                Err(reported) => result = Err(reported),
            }
        }
        result.map(|()| programs)
    }
}

fn inconsistent_lock_error(addr: &ProviderAddr, reason: &str) -> Diagnostic {
    let detail = format!(
        "The following dependency selections recorded in the lock file are inconsistent with the current configuration:\n  - provider {addr}: {reason}\n\nTo make the initial dependency selections, or to update them, run:\n  formwork init"
    );
    Diagnostic::error(messages::INCONSISTENT_DEPENDENCY_LOCK_FILE, detail)
}

fn missing_package_error(addr: &ProviderAddr, lock: &ProviderLock, packages: &Path) -> Diagnostic {
    let detail = format!(
        "There is no package for {addr} {} cached in {}. Run:\n  formwork init",
        lock.version,
        packages.display()
    );
    Diagnostic::error(messages::REQUIRED_PLUGINS_ARE_NOT_INSTALLED, detail)
        .blamed_on(Blame::Environment)
}
