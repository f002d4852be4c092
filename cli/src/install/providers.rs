//! Chooses a version of each provider, installs it, and later finds it again.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Seek as _;
use std::path::{Path, PathBuf};

use formwork_core::addr::ProviderAddr;
use formwork_core::disk::Dir;
use formwork_core::version::{Constraints, Version};
use formwork_plugin_protocol::reattach::Reattach;
use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::lockfile::{Lock, LockFile};
use super::mirror::{self, Found};
use super::settings::{Method, MethodKind, Settings, implied_folders, matches};
use super::{hash, package, platform, shipped};
use crate::data_dir::DataDir;
use crate::env::Env;

/// The name of the folder of packages in the data directory.
const PACKAGES: &str = "providers";

/// Where providers are looked for and kept.
pub(crate) struct Places<'a> {
    pub(crate) env: &'a Env,
    pub(crate) settings: &'a Settings,
    /// Providers that are running already.
    pub(crate) reattached: &'a BTreeMap<ProviderAddr, Reattach>,
    /// The root module's folder.
    pub(crate) root: &'a Path,
    /// The data directory, `.terraform`.
    pub(crate) data: &'a DataDir,
    /// Folders given with `-plugin-dir`; if there are any, nothing else is looked at.
    pub(crate) plugin_dirs: &'a [PathBuf],
}

/// What was chosen for one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// The provider.
    pub(crate) addr: ProviderAddr,
    /// The version.
    pub(crate) version: Version,
    /// What the lock file named before.
    pub(crate) locked: Option<Lock>,
    /// Where it is.
    pub(crate) origin: Origin,
}

/// Where the package of a chosen version is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// In a folder of packages, from which it is installed.
    Found(Found),
    /// In the data folder: installed before, and still as it was locked.
    Installed,
    /// Beside this program, whose word is taken for it. Nothing is installed, and its hash is not
    /// locked: in the lock file stand the hashes of the public package of that version, which Terraform
    /// goes by in the same folder.
    Shipped,
}

impl Places<'_> {
    pub(super) fn packages(&self) -> PathBuf {
        self.data.path().join(PACKAGES)
    }

    /// The folder of a provider under development, if the settings name one.
    pub(crate) fn overridden(&self, addr: &ProviderAddr) -> Option<&PathBuf> {
        let found = self.settings.overrides.iter().find(|(name, _)| matches(name, addr));
        found.map(|(_, folder)| folder)
    }

    /// Reports whether the lock file does not apply: built in, under development or running already.
    fn needs_no_lock(&self, addr: &ProviderAddr) -> bool {
        addr.is_builtin() || self.reattached.contains_key(addr) || self.overridden(addr).is_some()
    }

    /// All versions of a provider that can be had, the best place for each.
    fn available(&self, addr: &ProviderAddr) -> BTreeMap<Version, Found> {
        let mut found = BTreeMap::new();
        let mut add = |folder: &Path| {
            for (version, package) in mirror::versions(folder, addr) {
                found.entry(version).or_insert(package);
            }
        };
        if !self.plugin_dirs.is_empty() {
            self.plugin_dirs.iter().for_each(|folder| add(folder));
            return found;
        }
        match &self.settings.methods {
            Some(methods) => {
                for method in methods.iter().filter(|method| method.covers(addr)) {
                    if let MethodKind::Filesystem(folder) = &method.kind {
                        add(folder);
                    }
                }
            }
            None => implied_folders(self.env, self.root).iter().for_each(|folder| add(folder)),
        }
        found
    }

    /// The program and version of a provider that comes beside this one, in place of its registry.
    pub(super) fn shipped(&self, addr: &ProviderAddr) -> Option<(Version, PathBuf)> {
        let registry = |method: &Method| method.kind == MethodKind::Direct && method.covers(addr);
        let asked = match &self.settings.methods {
            Some(methods) => methods.iter().any(registry),
            None => true,
        };
        shipped::find(addr).filter(|_| asked && self.plugin_dirs.is_empty())
    }

    /// Whether what is locked was installed before and is still what was locked.
    fn is_installed(&self, addr: &ProviderAddr, lock: &Lock) -> bool {
        let place = package::place(&self.packages(), addr, &lock.version);
        package::program(&place, addr).is_some()
            && hash::of_folder(&place).is_ok_and(|hash| lock.hashes.contains(&hash))
    }

    /// Where one looks for a provider, for a message.
    fn looked_at(&self) -> String {
        let mut places: Vec<String> = Vec::new();
        let folder = |path: &Path| format!("\n  - the folder {}", path.display());
        if self.plugin_dirs.is_empty() {
            match &self.settings.methods {
                Some(methods) => places.extend(methods.iter().map(|method| match &method.kind {
                    MethodKind::Filesystem(path) => folder(path),
                    MethodKind::Network(url) => format!(
                        "\n  - not looked at, because nothing is downloaded yet: the mirror {url}"
                    ),
                    MethodKind::Direct => REGISTRY.into(),
                })),
                None => {
                    places.extend(
                        implied_folders(self.env, self.root).iter().map(|path| folder(path)),
                    );
                    places.push(REGISTRY.into());
                }
            }
        } else {
            places.extend(self.plugin_dirs.iter().map(|path| folder(path)));
        }
        places.concat()
    }

    /// Chooses what a configuration requires, installs what has to be, and locks it.
    ///
    /// # Errors
    /// When a provider cannot be had as required, or cannot be installed. All are tried.
    pub(crate) fn install(
        &self,
        diags: &mut Diagnostics,
        required: &BTreeMap<ProviderAddr, Constraints>,
        locks: &mut LockFile,
        upgrade: bool,
    ) -> Result<Vec<Chosen>, Reported> {
        let mut chosen = Vec::new();
        let mut result = Ok(());
        for (addr, constraints) in required {
            if self.needs_no_lock(addr) {
                continue;
            }
            let old = locks.providers.get(addr);
            let one = self.choose(diags, addr, constraints, (old, upgrade));
            match one.and_then(|one| Ok((self.lock(diags, &one, constraints, upgrade)?, one))) {
                Ok((lock, one)) => {
                    locks.providers.insert(addr.clone(), lock);
                    chosen.push(one);
                }
                Err(reported) => result = Err(reported),
            }
        }
        locks.providers.retain(|addr, _| required.contains_key(addr));
        result.map(|()| chosen)
    }

    /// Installs what was chosen where that is needed, and says what to lock.
    fn lock(
        &self,
        diags: &mut Diagnostics,
        one: &Chosen,
        constraints: &Constraints,
        upgrade: bool,
    ) -> Result<Lock, Reported> {
        let version = one.version.clone();
        let old = one.locked.as_ref().filter(|lock| lock.version == version);
        let mut hashes = old.map(|lock| lock.hashes.clone()).unwrap_or_default();
        if let Origin::Found(found) = &one.origin {
            // What is chosen anew may have another package than before under the same version.
            hashes =
                self.install_one(diags, (&one.addr, &version), found, old.filter(|_| !upgrade))?;
        }
        // What is locked still fits, so it stays as it was recorded.
        let recorded = one.locked.as_ref().filter(|_| !upgrade).map(|lock| &lock.constraints);
        Ok(Lock { version, constraints: recorded.unwrap_or(constraints).clone(), hashes })
    }

    fn install_one(
        &self,
        diags: &mut Diagnostics,
        (addr, version): (&ProviderAddr, &Version),
        found: &Found,
        old: Option<&Lock>,
    ) -> Result<BTreeSet<String>, Reported> {
        let place = package::place(&self.packages(), addr, version);
        let failed = |diags: &mut Diagnostics, why: &dyn std::fmt::Display| {
            let detail = format!("Error while installing {addr} v{version}: {why}.");
            diags.error(
                Diagnostic::error("Failed to install provider", detail).blame(Blame::Environment),
            )
        };
        if let (Found::Packed(archive), Some(lock)) = (found, old) {
            match is_locked(archive, lock) {
                Ok(true) => {}
                Ok(false) => return Err(failed(diags, &mismatch(addr, version))),
                Err(error) => return Err(failed(diags, &error)),
            }
        }
        self.put(found, (addr, version), old).map_err(|error| failed(diags, &error))?;
        if package::program(&place, addr).is_none() {
            let why =
                format!("the package holds no program called terraform-provider-{}", addr.kind());
            return Err(failed(diags, &why));
        }
        let hash = hash::of_folder(&place).map_err(|error| failed(diags, &error))?;
        let mut hashes = old.map(|lock| lock.hashes.clone()).unwrap_or_default();
        if hashes.iter().any(|hash| hash.starts_with("h1:")) && !hashes.contains(&hash) {
            return Err(failed(diags, &mismatch(addr, version)));
        }
        hashes.insert(hash);
        Ok(hashes)
    }

    /// Puts a package in its place, through the shared cache if there is one.
    fn put(
        &self,
        found: &Found,
        (addr, version): (&ProviderAddr, &Version),
        old: Option<&Lock>,
    ) -> std::io::Result<()> {
        let cached =
            self.settings.plugin_cache_dir.as_ref().filter(|_| matches!(found, Found::Packed(_)));
        let below = || self.data.create()?.create_subdir(PACKAGES);
        let Some(cache) = cached else { return package::install(found, below()?, (addr, version)) };
        let shared = package::place(cache, addr, version);
        // Others write to the cache as well, so only what is locked already is taken from it.
        let is_locked = || {
            let hash = hash::of_folder(&shared).ok();
            old.zip(hash).is_some_and(|(lock, hash)| lock.hashes.contains(&hash))
        };
        // The setting lets a package be used that no hash is known of. A lock that holds hashes has
        // been checked against the archive, so the cached package must be the same.
        let may_break = || {
            let is_archived = || {
                let Found::Packed(archive) = found else { return false };
                let archived = File::open(archive).and_then(hash::of_archive).ok();
                archived.is_some_and(|hash| hash::of_folder(&shared).is_ok_and(|it| it == hash))
            };
            self.settings.cache_may_break_lock
                && (old.is_none_or(|lock| lock.hashes.is_empty()) || is_archived())
        };
        let may_use = package::program(&shared, addr).is_some() && (is_locked() || may_break());
        if !may_use {
            // The user chose the cache, as a link perhaps.
            package::install(found, Dir::create(cache)?, (addr, version))?;
        }
        package::install(&Found::Unpacked(shared), below()?, (addr, version))
    }

    /// Chooses a version: what is locked, unless an upgrade is asked for, and else the newest that is
    /// allowed. What comes beside this program is used only where nothing else is there.
    fn choose(
        &self,
        diags: &mut Diagnostics,
        addr: &ProviderAddr,
        constraints: &Constraints,
        (locked, upgrade): (Option<&Lock>, bool),
    ) -> Result<Chosen, Reported> {
        let chosen = |version: Version, origin: Origin| {
            Ok(Chosen { addr: addr.clone(), version, locked: locked.cloned(), origin })
        };
        let mut available = self.available(addr);
        let shipped = self.shipped(addr).map(|(version, _)| version);
        let old = locked.filter(|_| !upgrade);
        if let Some(lock) = old {
            if !constraints.allows(&lock.version) {
                let detail = format!(
                    "Could not retrieve the list of available versions for provider {}: locked provider {addr} {} does not match configured version constraint {constraints}; must use `formwork init -upgrade` to allow selection of new versions.",
                    addr.display(),
                    lock.version
                );
                return Err(diags.error(Diagnostic::error(
                    "Failed to query available provider packages",
                    detail,
                )));
            }
            if self.is_installed(addr, lock) {
                return chosen(lock.version.clone(), Origin::Installed);
            }
            if let Some(found) = available.remove(&lock.version) {
                return chosen(lock.version.clone(), Origin::Found(found));
            }
            // Another version than the locked one is taken only when asked for.
            if shipped.as_ref() == Some(&lock.version) {
                return chosen(lock.version.clone(), Origin::Shipped);
            }
        } else {
            let newest = available.iter().rev().find(|(version, _)| constraints.allows(version));
            if let Some((version, found)) = newest {
                return chosen(version.clone(), Origin::Found(found.clone()));
            }
            let there = locked.filter(|lock| self.is_installed(addr, lock));
            let there = there.map(|lock| (lock.version.clone(), Origin::Installed));
            let shipped = shipped.clone().map(|version| (version, Origin::Shipped));
            let both = [shipped, there].into_iter().flatten();
            let allowed = both.filter(|(version, _)| constraints.allows(version));
            if let Some((version, origin)) = allowed.max_by(|a, b| a.0.cmp(&b.0)) {
                return chosen(version, origin);
            }
        }
        let detail = self.missing((addr, constraints), old, &available, shipped.as_ref());
        let summary = "Failed to query available provider packages";
        Err(diags.error(Diagnostic::error(summary, detail).blame(Blame::Environment)))
    }

    /// What to say when no version can be chosen: what was wanted, what is there, what can be done.
    fn missing(
        &self,
        (addr, constraints): (&ProviderAddr, &Constraints),
        old: Option<&Lock>,
        available: &BTreeMap<Version, Found>,
        shipped: Option<&Version>,
    ) -> String {
        let mut versions: Vec<_> = available.keys().map(ToString::to_string).collect();
        versions.extend(shipped.map(|version| format!("{version} (which comes with Formwork)")));
        let there = if versions.is_empty() {
            "No version of it was found.".to_owned()
        } else {
            format!("Only these versions were found: {}.", versions.join(", "))
        };
        let what = match (old, constraints.is_empty()) {
            (Some(lock), _) => {
                format!("version {} of {addr}, which the lock file names", lock.version)
            }
            (None, true) => format!("{addr}"),
            (None, false) => format!("a version of {addr} that meets {constraints}"),
        };
        let fits = |version: &&Version| constraints.allows(version);
        let others = available.keys().chain(shipped);
        let remedy = match (old, others.filter(fits).max()) {
            (Some(lock), Some(other)) => format!(
                "\n\nPut version {} into one of these places, or run `formwork init -upgrade` to go on with {other}.",
                lock.version
            ),
            _ => String::new(),
        };
        let places = self.looked_at();
        format!("Could not find {what}, for {}. {there} Looked at:{places}{remedy}", platform())
    }

    /// Checks that the configuration still wants what is locked.
    ///
    /// # Errors
    /// When a locked version does not meet the constraints.
    pub(crate) fn check(
        &self,
        diags: &mut Diagnostics,
        required: &BTreeMap<ProviderAddr, Constraints>,
        locks: &LockFile,
    ) -> Result<(), Reported> {
        let mut problems = String::new();
        for (addr, constraints) in required {
            if self.needs_no_lock(addr) {
                continue;
            }
            match locks.providers.get(addr) {
                None => problems.push_str(&format!("\n  - provider {addr}: required by this configuration but no version is selected")),
                Some(lock) if !constraints.allows(&lock.version) => {
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
        Err(diags.error(Diagnostic::error("Inconsistent dependency lock file", detail)))
    }
}

/// How a registry is named among the places where one looks.
const REGISTRY: &str = "\n  - the providers that come with Formwork; not the provider's registry, because nothing is downloaded yet";

/// Whether an archive is what was locked. Looked at before it is unpacked.
fn is_locked(archive: &Path, lock: &Lock) -> std::io::Result<bool> {
    let known = |hash: &&String| hash.starts_with("h1:") || hash.starts_with("zh:");
    if !lock.hashes.iter().any(|hash| known(&hash)) {
        return Ok(true);
    }
    let mut file = File::open(archive)?;
    if lock.hashes.contains(&hash::of_packed(&mut file)?) {
        return Ok(true);
    }
    file.rewind()?;
    Ok(lock.hashes.contains(&hash::of_archive(file)?))
}

pub(super) fn mismatch(addr: &ProviderAddr, version: &Version) -> String {
    format!(
        "the package of {addr} {version} does not match any of the checksums recorded in the dependency lock file"
    )
}
