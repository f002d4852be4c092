//! Installation of the modules that a configuration calls directly or indirectly.

mod fetch_root_module;
mod locked;
mod select_version;
mod test_run_modules;

use std::path::{Path, PathBuf};
use std::time::Duration;

use formwork_core::addr::ModuleSource;
use formwork_core::config::{ModuleCallSource, files, module_dirs};
use formwork_core::disk::symlink;
use formwork_core::version::LooseVersion;
use formwork_value::diag::Sources;
use formwork_value::{Diagnostics, Reported};

use super::lock::ModuleLock;
use super::manifest::{ModuleManifest, ModuleRecord};
use super::module_errors;
use super::registry::ModuleRegistries;
use super::source::{ModuleInPackage, RegistrySource};
use super::staging::Staging;
use crate::data_dir::DataDir;
use crate::env::Env;
use crate::fetch::host::Hosts;
use crate::fetch::http::Client;
use crate::fetch::netrc::Netrc;
use crate::fetch::oci::OciRegistries;
use crate::fetch::unpack_limits::UnpackLimits;
use crate::fetch::{self, AddressOrigin, FetchError, Fetcher, HiddenFiles};
use crate::redact;
use crate::settings::Settings;

pub(crate) use fetch_root_module::fetch_root_module;

/// Maximum depth of nested calls.
const MAX_CALL_DEPTH: usize = 64;
/// Maximum total number of calls.
const MAX_MODULE_CALLS: usize = 10_000;
/// Maximum length of the name of a module's directory, just below the limit of file systems.
const MAX_DIR_NAME_LEN: usize = 240;

/// The directory in which modules are installed, and the options of the installation.
pub(crate) struct ModulesDir<'a> {
    pub(crate) env: &'a Env,
    pub(crate) settings: &'a Settings,
    /// The root module's directory.
    pub(crate) root: &'a Path,
    /// The test directory, relative to that of the root module.
    pub(crate) tests: &'a Path,
    /// The data directory.
    pub(crate) data: &'a DataDir,
    /// Waits before a retry of a request to a registry.
    pub(crate) pause: fn(Duration),
    /// Whether the module lock file must not change.
    pub(crate) keeps_lock: bool,
}

/// Progress of the installation.
pub(crate) enum InstallProgress {
    /// The download of a package has started: its address, and the module it is for.
    Downloading(String, String),
    /// A module is installed: its name and directory.
    Installed(String, PathBuf),
    /// Waiting for another run that installs modules in this directory.
    Waiting(PathBuf),
}

/// Installs missing modules, or reinstalls all with `upgrade`.
///
/// # Errors
/// A configuration cannot be read, or a module cannot be fetched. The installed modules are then not changed,
/// unless only the configuration of a module has errors.
pub(crate) fn install_modules(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    modules_dir: &ModulesDir<'_>,
    upgrade: bool,
    on_progress: &dyn Fn(InstallProgress),
) -> Result<(), Reported> {
    let directory = modules_dir.data.path().join(super::MODULES_DIR_NAME);
    let unwritable = |diags: &mut Diagnostics, error: std::io::Error| {
        diags.error(module_errors::unwritten_manifest_error(&directory, &error))
    };
    let lock = ModuleLock::load(modules_dir.root).map_err(|error| {
        diags.error(module_errors::unreadable_lock_error(modules_dir.root, &error))
    })?;
    let wait = || on_progress(InstallProgress::Waiting(directory.clone()));
    let staging =
        Staging::open(modules_dir.data, &wait).map_err(|error| unwritable(diags, error))?;
    // The other run may have changed the manifest.
    let old = ModuleManifest::load(staging.final_modules_dir()).map_err(|error| {
        diags.error(module_errors::unreadable_manifest_error(&directory, &error))
    })?;
    let http = Client::new(modules_dir.env.proxies(), modules_dir.pause);
    let mut walk = ModuleWalk {
        old,
        new: ModuleManifest::default(),
        locked: lock.clone().filter(|_| !upgrade).unwrap_or_default(),
        new_lock: lock.is_some().then(ModuleLock::default),
        upgrade,
        staging,
        fetcher: make_fetcher(&http, modules_dir.env, modules_dir.settings),
        registries: ModuleRegistries::new(&http, Hosts::new(modules_dir.env, modules_dir.settings)),
        sources,
        on_progress,
        n_calls: 0,
        lacking: false,
        unread: false,
    };
    walk.install_from_root(diags, modules_dir);
    let ModuleWalk { old, mut new, staging, lacking, unread, new_lock, .. } = walk;
    let kept_modules = locked::keep_unvisited_modules(&staging, &old, &mut new, unread);
    let changed = match (new_lock, lock) {
        (Some(new_lock), Some(lock)) if !lacking => {
            let new_lock = locked::with_kept_locks(new_lock, &lock, &kept_modules);
            locked::lock_to_write(diags, modules_dir, &lock, new_lock)?
        }
        _ => None,
    };
    if !lacking {
        staging.commit(&old, &new).map_err(|error| unwritable(diags, error))?;
        if let Some(lock) = changed {
            lock.save(modules_dir.root).map_err(|error| {
                diags.error(module_errors::unwritten_lock_error(modules_dir.root, &error))
            })?;
        }
    }
    diags.fail_if_errors()
}

fn make_fetcher<'a>(http: &'a Client, env: &'a Env, settings: &'a Settings) -> Fetcher<'a> {
    let own_ssh =
        ["GIT_SSH", "GIT_SSH_COMMAND"].iter().any(|name| env.environment.contains_key(*name));
    Fetcher {
        http,
        netrc: Netrc::load(env),
        oci: OciRegistries::new(env, settings),
        own_ssh,
        limits: UnpackLimits::for_module(env.module_size),
    }
}

/// The module whose calls are installed.
struct CallingModule<'h> {
    key: String,
    /// The final path of its directory.
    dir: PathBuf,
    /// The package of the module. `None` for modules of the configuration itself.
    package: Option<InstalledPackage>,
    /// The source address, which identifies the module.
    identity: String,
    outer: Option<&'h Self>,
    depth: usize,
}

/// An installed package.
#[derive(Clone)]
struct InstalledPackage {
    dir: PathBuf,
    name: String,
    /// Whether the package is from a remote source.
    is_remote: bool,
}

impl<'h> CallingModule<'h> {
    /// Returns the origin of the addresses in the module.
    fn origin(&self) -> AddressOrigin {
        match self.package.as_ref().is_some_and(|package| package.is_remote) {
            true => AddressOrigin::Remote,
            false => AddressOrigin::Local,
        }
    }

    fn key_of_call(&self, call: &ModuleCallSource) -> String {
        if self.key.is_empty() {
            call.name.to_string()
        } else {
            format!("{}.{}", self.key, call.name)
        }
    }

    fn called_module(
        &'h self,
        key: String,
        dir: PathBuf,
        package: Option<InstalledPackage>,
        identity: String,
    ) -> Self {
        Self { key, dir, package, identity, outer: Some(self), depth: self.depth + 1 }
    }
}

/// A traversal of all calls.
struct ModuleWalk<'a> {
    old: ModuleManifest,
    new: ModuleManifest,
    /// The locks of modules that must not change.
    locked: ModuleLock,
    /// The locks for the new lock file, if the file exists.
    new_lock: Option<ModuleLock>,
    upgrade: bool,
    staging: Staging,
    fetcher: Fetcher<'a>,
    registries: ModuleRegistries<'a>,
    sources: &'a mut Sources,
    on_progress: &'a dyn Fn(InstallProgress),
    n_calls: usize,
    /// Whether a module could not be fetched, in which case no module is replaced.
    lacking: bool,
    /// Whether the calls of a called module could not be read, in which case no module is removed.
    unread: bool,
}

impl ModuleWalk<'_> {
    fn add_to_manifest(
        &mut self,
        key: &str,
        source: String,
        version: Option<LooseVersion>,
        dir: PathBuf,
    ) {
        self.new.0.insert(key.to_owned(), ModuleRecord { source, version, dir });
    }

    /// Installs the modules that a module calls. All calls are tried, so that every error is reported.
    fn install_calls(&mut self, diags: &mut Diagnostics, caller: &CallingModule<'_>) {
        let calls = module_dirs::root_module_calls(diags, self.sources, &self.staging, &caller.dir);
        let Ok(calls) = calls else {
            match caller.outer {
                Some(_) => self.unread = true,
                None => self.lacking = true,
            }
            return;
        };
        self.install_each_call(diags, caller, calls);
    }

    fn install_each_call(
        &mut self,
        diags: &mut Diagnostics,
        caller: &CallingModule<'_>,
        calls: Vec<ModuleCallSource>,
    ) {
        for call in calls {
            self.n_calls += 1;
            if self.n_calls > MAX_MODULE_CALLS || caller.depth == MAX_CALL_DEPTH {
                let (limit, subject) = if caller.depth == MAX_CALL_DEPTH {
                    (MAX_CALL_DEPTH, "nested calls")
                } else {
                    (MAX_MODULE_CALLS, "calls in total")
                };
                let _ = diags.error(module_errors::too_many_calls_error(limit, subject, &call));
                self.lacking = true;
                return;
            }
            match self.install_call(diags, caller, &call) {
                Ok(called) => self.install_calls(diags, &called),
                Err(_) => self.lacking = true,
            }
        }
    }

    fn install_call<'h>(
        &mut self,
        diags: &mut Diagnostics,
        caller: &'h CallingModule<'h>,
        call: &ModuleCallSource,
    ) -> Result<CallingModule<'h>, Reported> {
        let called = match &call.address {
            ModuleSource::Local(path) => self.install_local(diags, caller, call, path)?,
            ModuleSource::Registry(module, subdir) => {
                let source = RegistrySource { module, subdir };
                self.install_from_registry(diags, caller, call, source)?
            }
            ModuleSource::Package(package, subdir) => {
                let key = caller.key_of_call(call);
                let text = call.address.to_string();
                let may_name = caller.origin() == AddressOrigin::Local || !package.is_local();
                match self.find_kept_record(&key, &text, call).filter(|_| may_name) {
                    Some(record) => {
                        self.verify_module_content(diags, call, &key, &record)?;
                        self.keep_module(caller, key, record, !package.is_local())
                    }
                    None => {
                        let name = redact::redact_address(&package.to_string());
                        (self.on_progress)(InstallProgress::Downloading(name, key.clone()));
                        let source = ModuleInPackage { package, subdir, origin: caller.origin() };
                        let dir = self.fetch_to_staging(diags, call, &key, &source)?;
                        let record = ModuleRecord { source: text, version: None, dir };
                        self.verify_module_content(diags, call, &key, &record)?;
                        self.use_installed(caller, key, record, !package.is_local())
                    }
                }
            }
        };
        let mut outer = Some(caller);
        while let Some(ancestor) = outer {
            if ancestor.identity == called.identity {
                let complaint = module_errors::calls_itself_error(&called.key, call, &ancestor.key);
                return Err(diags.error(complaint));
            }
            outer = ancestor.outer;
        }
        Ok(called)
    }

    fn install_local<'h>(
        &mut self,
        diags: &mut Diagnostics,
        caller: &'h CallingModule<'h>,
        call: &ModuleCallSource,
        path: &str,
    ) -> Result<CallingModule<'h>, Reported> {
        let key = caller.key_of_call(call);
        let dir = files::normalize_path(&caller.dir.join(path));
        if let Some(package) =
            caller.package.as_ref().filter(|package| !dir.starts_with(&package.dir))
        {
            return Err(diags.error(module_errors::source_escapes_package_error(
                &key,
                call,
                &package.name,
            )));
        }
        let dir = self.resolve_links(&dir);
        if !self.staging.staged_path(&dir).is_dir() {
            return Err(diags.error(module_errors::missing_module_dir_error(call, &dir)));
        }
        let same = self.old.0.get(&key).is_some_and(|record| {
            record.source == path && record.dir == dir && record.version.is_none()
        });
        if !same || self.upgrade {
            (self.on_progress)(InstallProgress::Installed(key.clone(), dir.clone()));
        }
        self.add_to_manifest(&key, path.to_owned(), None, dir.clone());
        let identity = dir.display().to_string();
        Ok(caller.called_module(key, dir, caller.package.clone(), identity))
    }

    /// Resolves the links in a path. The result stays relative if the targets are relative.
    fn resolve_links(&self, path: &Path) -> PathBuf {
        // The limit of the system.
        let mut n_remaining = 40;
        let mut clean = PathBuf::new();
        let mut rest: Vec<_> =
            path.components().rev().map(|part| part.as_os_str().to_owned()).collect();
        while let Some(part) = rest.pop() {
            let next = files::normalize_path(&clean.join(&part));
            match std::fs::read_link(self.staging.staged_path(&next)) {
                Ok(target) if n_remaining > 0 => {
                    n_remaining -= 1;
                    rest.extend(target.components().rev().map(|part| part.as_os_str().to_owned()));
                }
                _ => clean = next,
            }
        }
        clean
    }

    fn install_from_registry<'h>(
        &mut self,
        diags: &mut Diagnostics,
        caller: &'h CallingModule<'h>,
        call: &ModuleCallSource,
        source: RegistrySource<'_>,
    ) -> Result<CallingModule<'h>, Reported> {
        let RegistrySource { module, subdir } = source;
        let key = caller.key_of_call(call);
        let source = call.address.to_string();
        if let Some(record) = self.find_kept_record(&key, &source, call) {
            self.verify_module_content(diags, call, &key, &record)?;
            return Ok(self.keep_module(caller, key, record, true));
        }
        let version = match self.locked_version(&key, &source, call) {
            Some(version) => version,
            None => self.choose_newest_version(diags, call, module)?,
        };
        (self.on_progress)(InstallProgress::Downloading(
            format!("{module} {version}"),
            key.clone(),
        ));
        let location = self.registries.package_location(module, &version);
        let (package, outer) = location.map_err(|error| {
            diags.error(module_errors::no_location_error(call, module, &version, &error))
        })?;
        let subdir = outer.join(subdir);
        let package_location =
            ModuleInPackage { package: &package, subdir: &subdir, origin: AddressOrigin::Remote };
        let dir = self.fetch_to_staging(diags, call, &key, &package_location)?;
        let record = ModuleRecord { source, version: Some(version), dir };
        self.verify_module_content(diags, call, &key, &record)?;
        Ok(self.use_installed(caller, key, record, true))
    }

    /// Returns the installed record, if it still matches the call.
    fn find_kept_record(
        &self,
        key: &str,
        source: &str,
        call: &ModuleCallSource,
    ) -> Option<ModuleRecord> {
        let record = self.old.0.get(key).filter(|_| !self.upgrade)?;
        let meets_constraints = match (&record.version, &call.version) {
            (Some(version), Some((constraints, _))) => constraints.allows_version(version),
            (None, Some(_)) => false,
            (_, None) => true,
        };
        (meets_constraints && record.source == source && record.dir.is_dir())
            .then(|| record.clone())
    }

    fn keep_module<'h>(
        &mut self,
        caller: &'h CallingModule<'h>,
        key: String,
        record: ModuleRecord,
        is_remote: bool,
    ) -> CallingModule<'h> {
        // A source in a remote package stays remote, even if an earlier run fetched it for another
        // call.
        let is_remote = is_remote || caller.origin() == AddressOrigin::Remote;
        let (dir, name) = (self.staging.module_path(&key), record.source.clone());
        let package = InstalledPackage { dir, name, is_remote };
        let version = record.version.as_ref().map(ToString::to_string).unwrap_or_default();
        let (identity, dir) = (format!("{} {version}", record.source), record.dir.clone());
        self.new.0.insert(key.clone(), record);
        caller.called_module(key, dir, Some(package), identity)
    }

    fn use_installed<'h>(
        &mut self,
        caller: &'h CallingModule<'h>,
        key: String,
        record: ModuleRecord,
        is_remote: bool,
    ) -> CallingModule<'h> {
        (self.on_progress)(InstallProgress::Installed(key.clone(), record.dir.clone()));
        self.keep_module(caller, key, record, is_remote)
    }

    /// Fetches a package to the staging directory, and returns the final directory of its module.
    fn fetch_to_staging(
        &mut self,
        diags: &mut Diagnostics,
        call: &ModuleCallSource,
        key: &str,
        source: &ModuleInPackage<'_>,
    ) -> Result<PathBuf, Reported> {
        let ModuleInPackage { package, subdir, origin } = *source;
        if key.len() > MAX_DIR_NAME_LEN {
            let subject = "bytes in the names of nested calls";
            return Err(diags.error(module_errors::too_many_calls_error(
                MAX_DIR_NAME_LEN,
                subject,
                call,
            )));
        }
        let staging_dir = self.staging.staging_dir(key);
        let result = match self.staging.fetched_dir(package) {
            Some(staged) if staged.is_symlink() => std::fs::read_link(&staged)
                .and_then(|target| symlink(&target, &staging_dir))
                .map_err(FetchError::from),
            Some(staged) => {
                fetch::copy_dir(&staged, &staging_dir, &self.fetcher.limits, HiddenFiles::Copied)
                    .map_err(FetchError::from)
            }
            None => self.fetcher.fetch(package, &staging_dir, origin),
        };
        let address = source.display_address();
        let call_name = module_errors::call_name(self.sources, call);
        result.map_err(|error| {
            diags.error(module_errors::download_error(&call_name, call, &address, &error))
        })?;
        let module_dir =
            fetch::find_single_match(&staging_dir, subdir.as_str()).and_then(|module_dir| {
                let is_dir = module_dir.is_dir();
                is_dir.then_some(module_dir).ok_or_else(|| "it is not a directory".to_owned())
            });
        let module_dir = module_dir.map_err(|reason| {
            diags.error(module_errors::missing_subdir_error(&call_name, call, source, &reason))
        })?;
        self.staging.mark_complete(key, package);
        let subdir = module_dir.strip_prefix(&staging_dir).unwrap_or(Path::new(""));
        Ok(files::normalize_path(&self.staging.module_path(key).join(subdir)))
    }
}
