//! Chooses a version of each provider, installs it, and later finds it again.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Seek as _;
use std::path::{Path, PathBuf};

use formwork_core::addr::ProviderAddr;
use formwork_core::version::{Constraints, Version};
use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::lockfile::{Lock, LockFile};
use super::mirror::{self, Found};
use super::settings::{MethodKind, Settings, implied_folders, matches};
use super::{hash, package, platform, shipped};
use crate::env::Env;

/// Where providers are looked for and kept.
pub(crate) struct Places<'a> {
    pub(crate) env: &'a Env,
    pub(crate) settings: &'a Settings,
    /// The root module's folder.
    pub(crate) root: &'a Path,
    /// The data folder, `.terraform`.
    pub(crate) data: &'a Path,
    /// Folders given with `-plugin-dir`; if there are any, nothing else is looked at.
    pub(crate) plugin_dirs: &'a [PathBuf],
}

/// What was chosen for one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Installed {
    /// The provider.
    pub(crate) addr: ProviderAddr,
    /// The version.
    pub(crate) version: Version,
    /// Whether the lock file had named it already.
    pub(crate) locked: bool,
    /// Whether it comes beside this program.
    pub(crate) shipped: bool,
}

impl Places<'_> {
    fn packages(&self) -> PathBuf {
        self.data.join("providers")
    }

    /// The folder of a provider under development, if the settings name one.
    pub(crate) fn overridden(&self, addr: &ProviderAddr) -> Option<&PathBuf> {
        let found = self.settings.overrides.iter().find(|(name, _)| matches(name, addr));
        found.map(|(_, folder)| folder)
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
        if let Some((version, program)) = shipped::find(addr) {
            found.entry(version).or_insert(Found::Program(program));
        }
        found
    }

    /// Where one looks for a provider, for a message.
    fn looked_at(&self) -> String {
        let mut places: Vec<String> = Vec::new();
        let folder = |path: &Path| format!("\n  - the folder {}", path.display());
        if self.plugin_dirs.is_empty() {
            match &self.settings.methods {
                Some(methods) => places.extend(methods.iter().map(|method| match &method.kind {
                    MethodKind::Filesystem(path) => folder(path),
                    MethodKind::Network(url) => format!("\n  - not looked at, because nothing is downloaded yet: the mirror {url}"),
                    MethodKind::Direct => "\n  - not looked at, because nothing is downloaded yet: the provider's registry".into(),
                })),
                None => {
                    places.extend(implied_folders(self.env, self.root).iter().map(|path| folder(path)));
                    places.push("\n  - the providers that come beside this program".into());
                    places.push("\n  - not looked at, because nothing is downloaded yet: the provider's registry".into());
                }
            }
        } else {
            places.extend(self.plugin_dirs.iter().map(|path| folder(path)));
        }
        places.concat()
    }

    /// Chooses and installs what a configuration requires, and locks it.
    ///
    /// # Errors
    /// When a provider cannot be had as required, or cannot be installed. All are tried.
    pub(crate) fn install(
        &self,
        diags: &mut Diagnostics,
        required: &BTreeMap<ProviderAddr, Constraints>,
        locks: &mut LockFile,
        upgrade: bool,
    ) -> Result<Vec<Installed>, Reported> {
        let mut installed = Vec::new();
        let mut result = Ok(());
        for (addr, constraints) in required {
            if addr.is_builtin() || self.overridden(addr).is_some() {
                continue;
            }
            let old = locks.providers.get(addr).cloned();
            match self.install_one(diags, addr, constraints, old.filter(|_| !upgrade)) {
                Ok((lock, one)) => {
                    locks.providers.insert(addr.clone(), lock);
                    installed.push(one);
                }
                Err(reported) => result = Err(reported),
            }
        }
        locks.providers.retain(|addr, _| required.contains_key(addr));
        result.map(|()| installed)
    }

    fn install_one(
        &self,
        diags: &mut Diagnostics,
        addr: &ProviderAddr,
        constraints: &Constraints,
        old: Option<Lock>,
    ) -> Result<(Lock, Installed), Reported> {
        let (version, found) = self.choose(diags, addr, constraints, old.as_ref())?;
        let place = package::place(&self.packages(), addr, &version);
        let failed = |diags: &mut Diagnostics, why: &dyn std::fmt::Display| {
            let detail = format!("Error while installing {addr} v{version}: {why}.");
            diags.error(
                Diagnostic::error("Failed to install provider", detail).blame(Blame::Environment),
            )
        };
        if let (Found::Packed(archive), Some(lock)) = (&found, &old) {
            match is_locked(archive, lock) {
                Ok(true) => {}
                Ok(false) => return Err(failed(diags, &mismatch(addr, &version))),
                Err(error) => return Err(failed(diags, &error)),
            }
        }
        self.put(&found, (addr, &version), old.as_ref(), &place)
            .map_err(|error| failed(diags, &error))?;
        if package::program(&place, addr).is_none() {
            let why =
                format!("the package holds no program called terraform-provider-{}", addr.kind());
            return Err(failed(diags, &why));
        }
        let hash = hash::of_folder(&place).map_err(|error| failed(diags, &error))?;
        let mut hashes = old.as_ref().map(|lock| lock.hashes.clone()).unwrap_or_default();
        if hashes.iter().any(|hash| hash.starts_with("h1:")) && !hashes.contains(&hash) {
            return Err(failed(diags, &mismatch(addr, &version)));
        }
        hashes.insert(hash);
        let one = Installed {
            addr: addr.clone(),
            version: version.clone(),
            locked: old.is_some(),
            shipped: matches!(found, Found::Program(_)),
        };
        // What is locked still fits, so it stays as it was recorded.
        let constraints = old.map_or_else(|| constraints.clone(), |lock| lock.constraints);
        Ok((Lock { version, constraints, hashes }, one))
    }

    /// Puts a package in its place, through the shared cache if there is one.
    fn put(
        &self,
        found: &Found,
        (addr, version): (&ProviderAddr, &Version),
        old: Option<&Lock>,
        place: &Path,
    ) -> std::io::Result<()> {
        let cached =
            self.settings.plugin_cache_dir.as_ref().filter(|_| matches!(found, Found::Packed(_)));
        let Some(cache) = cached else { return package::install(found, place) };
        let shared = package::place(cache, addr, version);
        // Others write to the cache as well, so only what is locked already is taken from it.
        let is_locked = || {
            let hash = hash::of_folder(&shared).ok();
            old.zip(hash).is_some_and(|(lock, hash)| lock.hashes.contains(&hash))
        };
        let may_use = package::program(&shared, addr).is_some()
            && (self.settings.cache_may_break_lock || is_locked());
        if !may_use {
            package::install(found, &shared)?;
        }
        package::install(&Found::Unpacked(shared), place)
    }

    fn choose(
        &self,
        diags: &mut Diagnostics,
        addr: &ProviderAddr,
        constraints: &Constraints,
        old: Option<&Lock>,
    ) -> Result<(Version, Found), Reported> {
        let mut available = self.available(addr);
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
            if let Some(found) = available.remove(&lock.version) {
                return Ok((lock.version.clone(), found));
            }
        }
        let wanted = match old {
            // Another version than the locked one is taken only when asked for.
            Some(_) => None,
            None => available.iter().rev().find(|(version, _)| constraints.allows(version)),
        };
        if let Some((version, found)) = wanted {
            return Ok((version.clone(), found.clone()));
        }
        let versions: Vec<_> = available.keys().map(ToString::to_string).collect();
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
        let detail = format!(
            "Could not find {what}, for {}. {there} Looked at:{}",
            platform(),
            self.looked_at()
        );
        let summary = "Failed to query available provider packages";
        Err(diags.error(Diagnostic::error(summary, detail).blame(Blame::Environment)))
    }

    /// Finds the program of a provider that `init` installed, and holds its package against the lock
    /// file.
    ///
    /// # Errors
    /// When it is not installed, or is not what was locked.
    pub(crate) fn program(
        &self,
        diags: &mut Diagnostics,
        addr: &ProviderAddr,
        locks: &LockFile,
    ) -> Result<PathBuf, Reported> {
        if let Some(folder) = self.overridden(addr) {
            return package::program(folder, addr).ok_or_else(|| {
                let detail = format!("The settings say that the program of {addr} is in {}, but there is no file called terraform-provider-{} there.", folder.display(), addr.kind());
                diags.error(Diagnostic::error("Provider under development not found", detail).blame(Blame::Environment))
            });
        }
        let inconsistent = |diags: &mut Diagnostics, why: String| {
            let detail = format!(
                "The following dependency selections recorded in the lock file are inconsistent with the current configuration:\n  - provider {addr}: {why}\n\nTo make the initial dependency selections, or to update them, run:\n  formwork init"
            );
            diags.error(Diagnostic::error("Inconsistent dependency lock file", detail))
        };
        let Some(lock) = locks.providers.get(addr) else {
            let why = "required by this configuration but no version is selected".to_owned();
            return Err(inconsistent(diags, why));
        };
        let place = package::place(&self.packages(), addr, &lock.version);
        let Some(program) = package::program(&place, addr) else {
            let detail = format!(
                "There is no package for {addr} {} cached in {}. Run:\n  formwork init",
                lock.version,
                self.packages().display()
            );
            return Err(diags.error(
                Diagnostic::error("Required plugins are not installed", detail)
                    .blame(Blame::Environment),
            ));
        };
        let hash = hash::of_folder(&place).map_err(|error| {
            let detail = format!("The package of {addr} cannot be read: {error}.");
            diags.error(
                Diagnostic::error("Required plugins are not installed", detail)
                    .blame(Blame::Environment),
            )
        })?;
        let checked = lock.hashes.is_empty() || lock.hashes.contains(&hash);
        if !checked && !self.settings.cache_may_break_lock {
            let detail = format!(
                "What is installed is not what was locked: {}. Run `formwork init` to install it anew, or `formwork init -upgrade` if the package was meant to change.",
                mismatch(addr, &lock.version)
            );
            let summary = "Required plugins are not installed";
            return Err(diags.error(Diagnostic::error(summary, detail).blame(Blame::Environment)));
        }
        Ok(program)
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
            if addr.is_builtin() || self.overridden(addr).is_some() {
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

fn mismatch(addr: &ProviderAddr, version: &Version) -> String {
    format!(
        "the package of {addr} {version} does not match any of the checksums recorded in the dependency lock file"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_locked_and_still_fits_stays_as_it_was_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let (env, settings) = (Env::default(), Settings::default());
        let addr: ProviderAddr = "example.com/acme/thing".parse().unwrap();
        let mirror = folder.path().join("mirror");
        for version in ["1.0.0", "1.1.0"] {
            let package = package::place(&mirror, &addr, &Version::parse(version).unwrap());
            std::fs::create_dir_all(&package).unwrap();
            std::fs::write(package.join("terraform-provider-thing"), version).unwrap();
        }
        let places = Places {
            env: &env,
            settings: &settings,
            root: folder.path(),
            data: &folder.path().join("data"),
            plugin_dirs: &[mirror],
        };
        let mut locks = LockFile::default();
        let mut install = |constraints: &str, upgrade: bool| {
            let required = [(addr.clone(), constraints.parse().unwrap())].into();
            let mut diags = Diagnostics::new();
            places.install(&mut diags, &required, &mut locks, upgrade).unwrap();
            let lock = &locks.providers[&addr];
            (lock.version.to_string(), lock.constraints.to_string())
        };
        let pair = |version: &str, constraints: &str| (version.to_owned(), constraints.to_owned());
        assert_eq!(install("1.0.0", false), pair("1.0.0", "1.0.0"));
        assert_eq!(install(">= 1.0.0", false), pair("1.0.0", "1.0.0"));
        assert_eq!(install(">= 1.0.0", true), pair("1.1.0", ">= 1.0.0"));
    }
}
