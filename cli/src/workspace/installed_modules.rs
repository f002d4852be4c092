//! Installation and lookup of the modules of the configuration and its tests.

use std::path::{Path, PathBuf};

use formwork_core::config::files::FilesOnDisk;
use formwork_core::config::module_dirs;
use formwork_value::diag::{Blame, Sources};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::{Workspace, test_modules};
use crate::messages;
use crate::modules;
use crate::modules::install::{self, InstallProgress};
use crate::modules::installed::InstalledModules;
use crate::modules::manifest::ModuleManifest;
use crate::view::operation_report::OperationReport;

/// Options of a module installation.
#[derive(Clone, Copy)]
pub(crate) struct ModuleInstallOptions<'a> {
    /// Whether to reinstall all modules.
    pub(crate) upgrade: bool,
    /// Whether the module lock file must not change.
    pub(crate) keeps_lock: bool,
    /// The test directory, if it is not the default one.
    pub(crate) tests: Option<&'a Path>,
}

impl Workspace<'_> {
    /// Returns the installed modules.
    ///
    /// # Errors
    /// The module manifest cannot be read.
    pub(crate) fn installed_modules(
        &self,
        diags: &mut Diagnostics,
    ) -> Result<InstalledModules, Reported> {
        let directory = self.modules_dir();
        let load = || -> std::io::Result<ModuleManifest> {
            let Some(data) = self.data.open()? else { return Ok(ModuleManifest::default()) };
            data.subdir(modules::MODULES_DIR_NAME)?
                .as_ref()
                .map_or(Ok(ModuleManifest::default()), ModuleManifest::load)
        };
        load().map(InstalledModules).map_err(|error| {
            let path = ModuleManifest::path(&directory);
            let detail = format!(
                "{}: {error}. Remove the file, and run \"formwork init\" to reinstall all modules.",
                path.display()
            );
            let summary = messages::FAILED_TO_READ_MODULES_MANIFEST_FILE;
            diags.error(Diagnostic::error(summary, detail).blamed_on(Blame::Environment))
        })
    }

    /// Returns the path of the module directory.
    pub(crate) fn modules_dir(&self) -> PathBuf {
        self.data.path().join(modules::MODULES_DIR_NAME)
    }

    /// Whether the root module calls modules. Errors are reported when the configuration is loaded.
    pub(crate) fn calls_modules(&self) -> bool {
        let mut sources = Sources::new();
        module_dirs::root_module_calls(
            &mut Diagnostics::new(),
            &mut sources,
            &FilesOnDisk,
            &self.config_dir,
        )
        .map_or(true, |calls| !calls.is_empty())
    }

    /// Installs the modules that the configuration calls, and reports the progress.
    ///
    /// # Errors
    /// A module cannot be fetched, or a configuration has errors.
    pub(crate) fn install_modules(
        &mut self,
        diags: &mut Diagnostics,
        options: ModuleInstallOptions<'_>,
        report: &OperationReport,
    ) -> Result<(), Reported> {
        let ModuleInstallOptions { upgrade, keeps_lock, tests } = options;
        let modules_dir = install::ModulesDir {
            keeps_lock,
            tests: test_modules::tests_dir(tests),
            env: self.env,
            settings: &self.settings,
            root: &self.config_dir,
            data: &self.data,
            pause: std::thread::sleep,
        };
        install::install_modules(diags, &mut self.sources, &modules_dir, upgrade, &|progress| {
            report.report_event(&match progress {
                InstallProgress::Downloading(package, key) => {
                    format!("Downloading {package} for {key}...")
                }
                InstallProgress::Installed(key, dir) => format!("- {key} in {}", dir.display()),
                InstallProgress::Waiting(directory) => format!(
                    "Waiting for another command that installs modules in {}...",
                    directory.display()
                ),
            });
        })
    }
}
