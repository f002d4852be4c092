//! The working directory of a command: configuration, data directory, lock file, providers and state. It is
//! opened once, in the order in which errors should be reported.

pub(crate) mod backend;
mod config_snapshot;
mod dev_overrides;
mod environment;
mod installed_modules;
mod state;
mod test_modules;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use formwork_backend::DEFAULT_WORKSPACE;
use formwork_backend::encryption::Encryption;
use formwork_backend::local::Workspaces;
use formwork_core::addr::ProviderAddr;
use formwork_core::config::files::FilesOnDisk;
use formwork_core::config::{self, Config, ConfigFiles as _, ConfigSource, Module};
use formwork_core::disk::MAX_SMALL_FILE_LEN;
use formwork_core::eval::HostValues;
use formwork_core::version::VersionConstraints;
use formwork_operation::launcher::Launcher;
use formwork_plugin_protocol::reattach::Reattach;
use formwork_value::diag::{Blame, Sources};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use self::backend::StartedStores;
use self::config_snapshot::{ConfigSources, RecordedFiles};
use self::environment::{check_deadlines, print_settings_warnings, read_reattached};
use crate::clock;
use crate::data_dir::DataDir;
use crate::env::{self, Env};
use crate::install::lockfile::LockFile;
use crate::install::providers::ProviderDirs;
use crate::launcher::make_launcher;
use crate::messages;
use crate::settings::Settings;

pub(crate) use dev_overrides::OverrideWarningCondition;
pub(crate) use installed_modules::ModuleInstallOptions;
pub(crate) use state::state_in_named_file;
pub(crate) use test_modules::LoadedTest;

/// The name of the file that contains the selected workspace.
const SELECTED_WORKSPACE_FILE: &str = "environment";

/// The rule for workspace names.
const WORKSPACE_NAME_RULE: &str =
    "The name must contain only URL safe characters, and no path separators.";

/// The working directory of a command.
pub(crate) struct Workspace<'e> {
    /// The environment.
    pub(crate) env: &'e Env,
    /// The working directory, which contains the state, the lock files and the variable files.
    pub(crate) root: PathBuf,
    /// The root module's directory: the working directory, unless `import` specifies another one.
    pub(crate) config_dir: PathBuf,
    /// The data directory.
    pub(crate) data: DataDir,
    /// The sources for messages.
    pub(crate) sources: Sources,
    /// The settings of the CLI configuration.
    pub(crate) settings: Settings,
    /// Providers that are already running. They require neither an installation nor a lock.
    pub(crate) reattached: BTreeMap<ProviderAddr, Reattach>,
    /// The files of the configuration.
    pub(crate) config_sources: ConfigSources,
    /// The encryption of states and plans, after it is read.
    pub(crate) encryption: Option<Encryption>,
    /// The providers that were started as state stores.
    pub(crate) started_stores: StartedStores,
}

impl<'e> Workspace<'e> {
    /// Opens the working directory.
    ///
    /// # Errors
    /// The settings or the workspace selection cannot be read.
    pub(crate) fn open(env: &'e Env, diags: &mut Diagnostics) -> Result<Self, Reported> {
        let opened = Self::open_with_any_selection(env, diags)?;
        opened.selection_problem().map_or(Ok(opened), |problem| Err(diags.error(problem)))
    }

    /// Opens the working directory for a command that selects a workspace. Such a command must work even if
    /// the current selection is invalid.
    ///
    /// # Errors
    /// The settings or the environment cannot be read.
    pub(crate) fn open_with_any_selection(
        env: &'e Env,
        diags: &mut Diagnostics,
    ) -> Result<Self, Reported> {
        let settings = Settings::load(env).map_err(|error| {
            let summary = messages::SETTINGS_CANNOT_BE_READ;
            diags.error(Diagnostic::error(summary, error.to_string()).blamed_on(Blame::Environment))
        })?;
        print_settings_warnings(env, &settings);
        let reattached = read_reattached(env, diags)?;
        check_deadlines(env, diags)?;
        let opened = Self {
            env,
            root: PathBuf::from("."),
            config_dir: PathBuf::from("."),
            data: DataDir::from_env(env),
            sources: Sources::new(),
            settings,
            reattached,
            config_sources: ConfigSources::default(),
            encryption: None,
            started_stores: StartedStores::default(),
        };
        // A selection in the environment cannot be changed by a command.
        if let Some(name) = env.workspace.as_ref().filter(|name| !Workspaces::is_valid_name(name)) {
            let detail = format!(
                "The variable selects the workspace {name:?}. {WORKSPACE_NAME_RULE} Unset the variable, or correct it."
            );
            let summary = messages::INVALID_WORKSPACE_IN_ENVIRONMENT;
            return Err(
                diags.error(Diagnostic::error(summary, detail).blamed_on(Blame::Environment))
            );
        }
        Ok(opened)
    }

    /// Checks that the name of the selected workspace can be read.
    ///
    /// # Errors
    /// The file with the name cannot be read.
    pub(crate) fn check_selection_readable(&self, diags: &mut Diagnostics) -> Result<(), Reported> {
        // A name that is not UTF-8 can be replaced by a valid one.
        let is_unreadable = |error: &io::Error| error.kind() != io::ErrorKind::InvalidData;
        if !self.selected_workspace().is_err_and(|error| is_unreadable(&error)) {
            return Ok(());
        }
        self.selection_problem().map_or(Ok(()), |problem| Err(diags.error(problem)))
    }

    /// Returns the error of the workspace selection in the data directory, if it is invalid.
    pub(crate) fn selection_problem(&self) -> Option<Diagnostic> {
        let path = self.data.path().join(SELECTED_WORKSPACE_FILE);
        let path = path.display();
        let remedy = "To select another workspace, run:\n  formwork workspace select default";
        let problem = match self.selected_workspace() {
            Ok(name) if Workspaces::is_valid_name(&name) => return None,
            Ok(name) => {
                let detail = format!(
                    "The file {path} selects the workspace {name:?}. {WORKSPACE_NAME_RULE} {remedy}"
                );
                Diagnostic::error(messages::INVALID_WORKSPACE_NAME, detail)
            }
            Err(error) => {
                let remedy = match error.kind() {
                    io::ErrorKind::InvalidData => remedy,
                    _ => "Remove it to select the default workspace.",
                };
                let detail = format!(
                    "{path}: {error}. The file contains the name of the selected workspace. {remedy}"
                );
                Diagnostic::error(messages::FAILED_TO_READ_SELECTED_WORKSPACE, detail)
            }
        };
        Some(problem.blamed_on(Blame::Environment))
    }

    /// Loads the configuration, and records its files.
    ///
    /// # Errors
    /// The configuration has errors.
    pub(crate) fn read_config(&mut self, diags: &mut Diagnostics) -> Result<Config, Reported> {
        let (config, dangling) = self.config_with_reference_errors(diags)?;
        let calls = config.check_module_calls(diags);
        diags.append(dangling).and(calls).map(|()| config)
    }

    /// Checks that the modules of the configuration can be read, and that this program meets their
    /// `required_version`. Terraform requires this for commands that change or copy a state.
    ///
    /// # Errors
    /// A module cannot be read, or requires another version.
    pub(crate) fn check_required_versions(
        &mut self,
        diags: &mut Diagnostics,
    ) -> Result<(), Reported> {
        if !self.has_config() {
            return Ok(());
        }
        let mut version_diags = Diagnostics::new();
        let config = self
            .read_config_requirements(&mut version_diags)
            .and_then(|config| config.check_required_versions(&mut version_diags));
        // Warnings are reported by commands that use the configuration.
        config.map_err(|reported| diags.append(version_diags).err().unwrap_or(reported))
    }

    /// Reads only the modules and providers that the configuration requires.
    ///
    /// # Errors
    /// The configuration cannot be read.
    pub(crate) fn read_config_requirements(
        &mut self,
        diags: &mut Diagnostics,
    ) -> Result<Config, Reported> {
        let installed = self.installed_modules(diags)?;
        let config_source =
            ConfigSource { files: &FilesOnDisk, dir: &self.config_dir, directories: &installed };
        Config::load_for_requirements(diags, &mut self.sources, config_source)
    }

    /// As [`Workspace::read_config`], but returns invalid references separately.
    ///
    /// # Errors
    /// The configuration has other errors.
    pub(crate) fn config_with_reference_errors(
        &mut self,
        diags: &mut Diagnostics,
    ) -> Result<(Config, Diagnostics), Reported> {
        let installed = self.installed_modules(diags)?;
        let files = RecordedFiles::default();
        let config_source =
            ConfigSource { files: &files, dir: &self.config_dir, directories: &installed };
        let config = Config::load_unvalidated(diags, &mut self.sources, config_source);
        self.config_sources.texts = files.into_texts();
        self.config_sources.modules = installed.0;
        config
    }

    /// Reads only the root module, for its backend configuration.
    ///
    /// # Errors
    /// The files of the module cannot be read.
    pub(crate) fn root_module(&mut self, diags: &mut Diagnostics) -> Result<Module, Reported> {
        config::load_root_module(diags, &mut self.sources, &FilesOnDisk, &self.config_dir)
    }

    /// Whether the directory contains a configuration. An unreadable directory counts as a configuration, so
    /// that the error is reported when it is read.
    pub(crate) fn has_config(&self) -> bool {
        match FilesOnDisk.list(&self.config_dir) {
            Ok(names) => names.iter().any(|name| config::is_config_file_name(name)),
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }

    /// Whether the directory contains a configuration. Warns if it contains only OpenTofu files.
    pub(crate) fn has_config_or_warn(&self, diags: &mut Diagnostics) -> bool {
        let has_config = self.has_config();
        if !has_config {
            config::opentofu_files::warn_of_opentofu_files_in(
                diags,
                &FilesOnDisk,
                &self.config_dir,
            );
        }
        has_config
    }

    /// Returns the name of the selected workspace.
    pub(crate) fn name(&self) -> String {
        // The file was already read when the directory was opened.
        self.selected_workspace().unwrap_or_else(|_| DEFAULT_WORKSPACE.into())
    }

    fn selected_workspace(&self) -> io::Result<String> {
        match &self.env.workspace {
            Some(name) => Ok(name.clone()),
            None => self.workspace_of_data_dir(),
        }
    }

    /// The workspace that the data directory selects, which `TF_WORKSPACE` overrides.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn workspace_of_data_dir(&self) -> io::Result<String> {
        let data = self.data.open()?;
        let text = data
            .map(|data| data.read_text(SELECTED_WORKSPACE_FILE, MAX_SMALL_FILE_LEN))
            .transpose()?
            .flatten();
        let name = text.as_deref().map(str::trim).filter(|name| !name.is_empty());
        Ok(name.unwrap_or(DEFAULT_WORKSPACE).to_owned())
    }

    /// Returns the environment values for expressions outside of a plan or apply.
    pub(crate) fn host_values(&self) -> HostValues {
        HostValues {
            cwd: self.env.cwd.as_str().into(),
            directory: env::current_dir().into(),
            root: ".".into(),
            home: self.env.home.as_ref().map(|home| home.to_string_lossy().into_owned()),
            workspace: self.name().as_str().into(),
            applying: false,
            plan_time: None,
            clock: clock::current_time,
        }
    }

    /// Selects another workspace, for this and later commands.
    ///
    /// # Errors
    /// The selection cannot be written.
    pub(crate) fn select(&self, diags: &mut Diagnostics, name: &str) -> Result<(), Reported> {
        let path = self.data.path().join(SELECTED_WORKSPACE_FILE);
        let data = self.data.open_or_create();
        let written =
            data.and_then(|data| data.replace(SELECTED_WORKSPACE_FILE, name.as_bytes(), 0o644));
        written.map_err(|error| {
            let detail = format!("{} cannot be written: {error}.", path.display());
            let diagnostic = Diagnostic::error(messages::FAILED_TO_SELECT_WORKSPACE, detail);
            diags.error(diagnostic.blamed_on(Blame::Environment))
        })
    }

    /// Reads the lock file.
    ///
    /// # Errors
    /// The lock file cannot be read or is invalid.
    pub(crate) fn read_lock_file(&mut self, diags: &mut Diagnostics) -> Result<LockFile, Reported> {
        let root = self.root.clone();
        LockFile::load(diags, &mut self.sources, &root)
    }

    /// Reads the lock file for a command that only uses it. As in Terraform, warnings about ignored parts are
    /// reported by the commands that write it.
    fn read_locks_to_use(&mut self, diags: &mut Diagnostics) -> Result<LockFile, Reported> {
        let mut lock_diags = Diagnostics::default();
        let locks = self.read_lock_file(&mut lock_diags);
        if locks.is_err() {
            diags.append(lock_diags)?;
        }
        locks
    }

    /// Checks that the lock file can be read. As in Terraform, a command that uses the state requires this,
    /// even if it uses no provider.
    ///
    /// # Errors
    /// The lock file cannot be read or is invalid.
    pub(crate) fn check_lock_file_readable(
        &mut self,
        diags: &mut Diagnostics,
    ) -> Result<(), Reported> {
        self.read_locks_to_use(diags).map(drop)
    }

    /// Returns the directories in which providers are searched.
    pub(crate) fn provider_dirs<'a>(&'a self, plugin_dirs: &'a [PathBuf]) -> ProviderDirs<'a> {
        ProviderDirs {
            env: self.env,
            settings: &self.settings,
            reattached: &self.reattached,
            root: &self.root,
            data: &self.data,
            plugin_dirs,
        }
    }

    /// Finds the programs of the required providers, and verifies them with the lock file.
    ///
    /// # Errors
    /// A provider is not installed, or does not match the lock.
    pub(crate) fn make_launcher(
        &mut self,
        diags: &mut Diagnostics,
        required: &BTreeMap<ProviderAddr, VersionConstraints>,
    ) -> Result<Launcher, Reported> {
        self.load_locks(diags, required)?;
        let provider_dirs = self.provider_dirs(&[]);
        provider_dirs.check_locked_versions(diags, required, &self.config_sources.locks)?;
        let programs = provider_dirs.find_programs(diags, required, &self.config_sources.locks)?;
        Ok(make_launcher(self.env, self.remote_state_reader(), programs, &self.reattached))
    }

    /// As [`Workspace::make_launcher`], for callers that only check a configuration: the installed
    /// providers are used, even if the configuration now requires other versions.
    ///
    /// # Errors
    /// A provider is not installed.
    pub(crate) fn launcher_of_installed(
        &mut self,
        diags: &mut Diagnostics,
        required: &BTreeMap<ProviderAddr, VersionConstraints>,
    ) -> Result<Launcher, Reported> {
        self.load_locks(diags, required)?;
        let provider_dirs = self.provider_dirs(&[]);
        let locks = &self.config_sources.locks;
        let is_selected = |addr: &ProviderAddr| {
            provider_dirs.needs_no_lock(addr) || locks.providers.contains_key(addr)
        };
        let mut missing = Diagnostics::new();
        let mut selected = required.clone();
        selected.retain(|addr, _| is_selected(addr));
        for addr in required.keys().filter(|addr| !is_selected(addr)) {
            let detail = format!(
                "This configuration requires provider {addr}, but that provider isn't available. You may be able to install it automatically by running:\n  formwork init"
            );
            let _ = missing.error(Diagnostic::error(messages::MISSING_REQUIRED_PROVIDER, detail));
        }
        let programs = provider_dirs.find_programs(&mut missing, &selected, locks);
        let all_found = missing.fail_if_errors();
        for problem in missing {
            let summary = messages::MISSING_REQUIRED_PROVIDER;
            let _ = diags.push(problem.with_summary(summary));
        }
        all_found?;
        Ok(make_launcher(self.env, self.remote_state_reader(), programs?, &self.reattached))
    }

    /// Checks that the lock file selects an allowed version of each provider.
    ///
    /// # Errors
    /// A provider has no selected version, or the version is not allowed.
    pub(crate) fn check_provider_selections(
        &mut self,
        diags: &mut Diagnostics,
        required: &BTreeMap<ProviderAddr, VersionConstraints>,
    ) -> Result<(), Reported> {
        self.load_locks(diags, required)?;
        self.provider_dirs(&[]).check_locked_versions(diags, required, &self.config_sources.locks)
    }

    /// Reads the lock file for the programs of these providers.
    ///
    /// # Errors
    /// The lock file cannot be read, or a required built-in provider does not exist.
    fn load_locks(
        &mut self,
        diags: &mut Diagnostics,
        required: &BTreeMap<ProviderAddr, VersionConstraints>,
    ) -> Result<(), Reported> {
        let mut result = Ok(());
        for addr in
            required.keys().filter(|addr| addr.is_builtin() && addr.provider_type() != "terraform")
        {
            let detail = format!(
                "The address {addr} is that of a built-in provider, but the only built-in provider is terraform."
            );
            result =
                Err(diags.error(Diagnostic::error(messages::MISSING_REQUIRED_PROVIDER, detail)));
        }
        result?;
        self.config_sources.locks = self.read_locks_to_use(diags)?;
        Ok(())
    }
}

/// Returns the error for an invalid workspace name.
pub(crate) fn bad_workspace_name_error(name: &str) -> Diagnostic {
    let detail = format!("The workspace name {name:?} is not allowed. {WORKSPACE_NAME_RULE}");
    Diagnostic::error(messages::INVALID_WORKSPACE_NAME, detail)
}
