//! Installation of the providers that a configuration requires, and later comparison with the lock file.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use formwork_core::addr::ProviderAddr;
use formwork_core::disk::Dir;
use formwork_core::version::{Version, VersionConstraints};
use formwork_plugin_protocol::reattach::Reattach;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::event::InstallEvent;
use super::hash_memo::HashMemo;
use super::installer::{DownloadProgress, InstallJob, Installer};
use super::lockfile::{LockFile, ProviderLock};
use super::module_constraints::ModuleConstraints;
use super::shipped::ShippedProgram;
use super::source::{ServerAccess, SourceSearch, local_packages};
use super::{hash, install_failure, package, parallel, shipped};
use crate::data_dir::DataDir;
use crate::env::Env;
use crate::messages;
use crate::settings::{
    InstallMethod, InstallMethodKind, Settings, implied_mirror_dirs, matches_pattern,
};

/// The name of the package directory in the data directory.
const PROVIDER_PACKAGES_DIR: &str = "providers";

/// The directories in which providers are found and installed.
pub(crate) struct ProviderDirs<'a> {
    pub(crate) env: &'a Env,
    pub(crate) settings: &'a Settings,
    /// Providers that are already running.
    pub(crate) reattached: &'a BTreeMap<ProviderAddr, Reattach>,
    /// The root module's directory.
    pub(crate) root: &'a Path,
    /// The data directory, `.terraform`.
    pub(crate) data: &'a DataDir,
    /// The directories of `-plugin-dir`. If any are given, no other source is used.
    pub(crate) plugin_dirs: &'a [PathBuf],
}

/// The result of an installation.
#[derive(Debug, Default)]
pub(crate) struct InstallResult {
    /// Whether a package was downloaded that is signed by its developers instead of HashiCorp.
    pub(crate) third_party: bool,
    /// The providers whose locks contain only hashes of the current platform.
    pub(crate) incomplete: Vec<String>,
}

/// Options of an installation.
pub(crate) struct ProviderInstallOptions<'a> {
    /// Whether to select the newest allowed versions instead of the locked ones.
    pub(crate) upgrade: bool,
    pub(crate) module_constraints: &'a ModuleConstraints,
    /// Receives the events of each provider, in the order of the providers.
    pub(crate) event: &'a dyn Fn(&ProviderAddr, &InstallEvent),
    /// Called periodically while no event is available.
    pub(crate) progress: &'a dyn Fn(&[InstallJob]),
}

impl ProviderDirs<'_> {
    pub(super) fn packages_path(&self) -> PathBuf {
        self.data.path().join(PROVIDER_PACKAGES_DIR)
    }

    /// Returns the directory of a provider under development, if the settings specify one.
    pub(crate) fn development_dir(&self, addr: &ProviderAddr) -> Option<&PathBuf> {
        let override_entry =
            self.settings.overrides.iter().find(|(name, _)| matches_pattern(name, addr));
        override_entry.map(|(_, directory)| directory)
    }

    /// Whether the lock file does not apply: the provider is built in, under development or running.
    pub(crate) fn needs_no_lock(&self, addr: &ProviderAddr) -> bool {
        addr.is_builtin()
            || self.reattached.contains_key(addr)
            || self.development_dir(addr).is_some()
    }

    /// Returns the directory of installed packages, and creates it if it does not exist.
    pub(super) fn packages_dir(&self) -> std::io::Result<Dir> {
        self.data.open_or_create()?.open_or_create_subdir(PROVIDER_PACKAGES_DIR)
    }

    /// Returns the installation methods, in Terraform's order.
    fn search_methods(
        &self,
        required: &BTreeMap<ProviderAddr, VersionConstraints>,
    ) -> Vec<InstallMethod> {
        let directory = |path: &PathBuf| {
            InstallMethod::for_all_providers(InstallMethodKind::Filesystem(path.clone()))
        };
        if !self.plugin_dirs.is_empty() {
            return self.plugin_dirs.iter().map(directory).collect();
        }
        if let Some(methods) = &self.settings.methods {
            return methods.clone();
        }
        let directories = implied_mirror_dirs(self.env, self.root);
        let directories: Vec<_> =
            directories.into_iter().filter(|directory| directory.is_dir()).collect();
        // A provider in one of these directories is not searched in other sources.
        let is_local = |addr: &&ProviderAddr| {
            let has_packages = |directory: &PathBuf| {
                local_packages(directory, addr).is_ok_and(|packages| !packages.is_empty())
            };
            directories.iter().any(has_packages)
        };
        let exclude = required.keys().filter(is_local).map(ToString::to_string).collect();
        let direct =
            InstallMethod { kind: InstallMethodKind::Direct, include: Vec::new(), exclude };
        directories.iter().map(directory).chain([direct]).collect()
    }

    /// Returns the package of a version in the shared cache, if it can be used: it is locked, or the user
    /// allows packages without a locked hash.
    pub(super) fn cached_package(
        &self,
        addr: &ProviderAddr,
        version: &Version,
        locked: &BTreeSet<String>,
    ) -> Option<PathBuf> {
        let cache = self.settings.plugin_cache_dir.as_ref()?;
        let shared = package::package_dir(cache, addr, version);
        package::find_program(&shared, addr)?;
        let is_locked = || hash::hash_dir(&shared).is_ok_and(|hash| locked.contains(&hash));
        // A lock with hashes must match in any case.
        let may_break = self.settings.cache_may_break_lock && locked.is_empty();
        (may_break || is_locked()).then_some(shared)
    }

    /// Returns the program and version of an included provider, which is used instead of its registry.
    pub(super) fn shipped_program(&self, addr: &ProviderAddr) -> Option<(Version, ShippedProgram)> {
        let registry = |method: &InstallMethod| {
            method.kind == InstallMethodKind::Direct && method.serves(addr)
        };
        let is_asked = match &self.settings.methods {
            Some(methods) => methods.iter().any(registry),
            None => true,
        };
        // If the settings specify the services of the host, its registry is used, not the included
        // providers.
        let is_named = self.settings.hosts.contains_key(addr.host().as_str());
        shipped::find_shipped(addr, self.env.bundled)
            .filter(|_| is_asked && !is_named && self.plugin_dirs.is_empty())
    }

    /// Whether the locked package is installed and matches its hashes.
    pub(super) fn is_installed(&self, addr: &ProviderAddr, lock: &ProviderLock) -> bool {
        let package_dir = package::package_dir(&self.packages_path(), addr, &lock.version);
        package::find_program(&package_dir, addr).is_some()
            && HashMemo::in_user_cache(self.env)
                .hash_of_dir(&package_dir)
                .is_ok_and(|hash| lock.hashes.contains(&hash))
    }

    /// Installs the providers that a configuration requires, concurrently, and locks them.
    ///
    /// # Errors
    /// A provider is not available in an allowed version, or cannot be installed. All providers are tried.
    pub(crate) fn install_required(
        &self,
        diags: &mut Diagnostics,
        required: &BTreeMap<ProviderAddr, VersionConstraints>,
        locks: &mut LockFile,
        options: &ProviderInstallOptions<'_>,
    ) -> Result<InstallResult, Reported> {
        let servers = ServerAccess::new(self.env, self.settings);
        let methods = self.search_methods(required);
        let is_mirror = |method: &&InstallMethod| method.kind != InstallMethodKind::Direct;
        let installer = Installer {
            provider_dirs: self,
            servers: &servers,
            mirrors: SourceSearch::new(methods.iter().filter(is_mirror).cloned(), &servers),
            search: SourceSearch::new(methods.iter().cloned(), &servers),
            upgrade: options.upgrade,
        };
        let needed = required.iter().filter(|(addr, _)| !self.needs_no_lock(addr));
        let jobs: Vec<InstallJob> = needed
            .map(|(addr, constraints)| InstallJob {
                addr: addr.clone(),
                constraints: constraints.clone(),
                old: locks.providers.get(addr).cloned(),
                progress: DownloadProgress::default(),
            })
            .collect();
        let results = parallel::run_jobs(
            &jobs,
            |_, job, emit| installer.install(job, emit),
            |job, event| (options.event)(&job.addr, &event),
            || (options.progress)(&jobs),
        );
        let mut installed = InstallResult::default();
        let mut result = Ok(());
        for (job, job_result) in jobs.iter().zip(results) {
            match job_result {
                Ok(job_result) => {
                    if !job_result.warnings.is_empty() {
                        diags.warn(registry_remarks_warning(&job.addr, &job_result.warnings));
                    }
                    installed.third_party |= job_result.third_party;
                    installed
                        .incomplete
                        .extend(job_result.incomplete.then(|| job.addr.display_string()));
                    locks.providers.insert(job.addr.clone(), job_result.lock);
                }
                Err(problem) => {
                    let shipped = self.shipped_program(&job.addr).map(|(version, _)| version);
                    let shipped = shipped.filter(|version| job.constraints.allows_version(version));
                    let context = install_failure::FailureContext {
                        required,
                        module_constraints: options.module_constraints,
                        shipped,
                    };
                    result = Err(diags.error(problem.diagnostic(&job.addr, &context)));
                }
            }
        }
        locks.providers.retain(|addr, _| required.contains_key(addr));
        result.map(|()| installed)
    }

    /// Checks that the configuration still allows the locked versions.
    ///
    /// # Errors
    /// A locked version does not meet the constraints.
    pub(crate) fn check_locked_versions(
        &self,
        diags: &mut Diagnostics,
        required: &BTreeMap<ProviderAddr, VersionConstraints>,
        locks: &LockFile,
    ) -> Result<(), Reported> {
        let mut problems = String::new();
        for (addr, constraints) in required {
            if self.needs_no_lock(addr) {
                continue;
            }
            match locks.providers.get(addr) {
                None => problems.push_str(&format!("\n  - provider {addr}: required by this configuration but no version is selected")),
                Some(lock) if !constraints.allows_version(&lock.version) => {
                    problems.push_str(&format!("\n  - provider {addr}: locked version selection {} doesn't match the updated version constraints {:?}", lock.version, constraints.to_string()));
                }
                Some(_) => {}
            }
        }
        if problems.is_empty() {
            return Ok(());
        }
        let remedy = if locks.providers.is_empty() {
            "To make the initial dependency selections that will initialize the dependency lock file, run:\n  formwork init"
        } else {
            "To update the locked dependency selections to match a changed configuration, run:\n  formwork init -upgrade"
        };
        let detail = format!(
            "The following dependency selections recorded in the lock file are inconsistent with the current configuration:{problems}\n\n{remedy}"
        );
        Err(diags.error(Diagnostic::error(messages::INCONSISTENT_DEPENDENCY_LOCK_FILE, detail)))
    }
}

/// Returns the warning with the messages of a registry.
fn registry_remarks_warning(addr: &ProviderAddr, remarks: &[String]) -> Diagnostic {
    let lines: Vec<String> = remarks.iter().map(|remark| format!("- {remark}")).collect();
    let detail = format!("The remote registry returned warnings for {addr}:\n{}", lines.join("\n"));
    Diagnostic::warning(messages::ADDITIONAL_PROVIDER_INFORMATION_FROM_REGISTRY, detail)
}
