//! Installs the modules of the configuration and of its tests, and finds the installed ones.

use std::path::{Path, PathBuf};

use formwork_core::config::files::Disk;
use formwork_core::config::folders;
use formwork_value::diag::{Blame, Sources};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::{Workspace, test_modules};
use crate::messages;
use crate::modules;
use crate::modules::install::{self, Progress};
use crate::modules::installed::Installed;
use crate::modules::manifest::Manifest;
use crate::view::report::Report;

/// Options of an installation of modules.
#[derive(Clone, Copy)]
pub(crate) struct InstallOptions<'a> {
    /// Whether to reinstall all modules.
    pub(crate) upgrade: bool,
    /// Whether the lock file of modules must stay as it is.
    pub(crate) keeps_lock: bool,
    /// The folder for tests, if it is not the usual one.
    pub(crate) tests: Option<&'a Path>,
}

impl Workspace<'_> {
    /// The modules that are installed.
    ///
    /// # Errors
    /// When the manifest cannot be read.
    pub(crate) fn installed_modules(&self, diags: &mut Diagnostics) -> Result<Installed, Reported> {
        let folder = self.modules_folder();
        let load = || -> std::io::Result<Manifest> {
            let Some(data) = self.data.open()? else { return Ok(Manifest::default()) };
            data.subdir(modules::FOLDER)?.as_ref().map_or(Ok(Manifest::default()), Manifest::load)
        };
        load().map(Installed).map_err(|error| {
            let path = Manifest::path(&folder);
            let detail = format!(
                "{}: {error}. Remove the file, and run \"formwork init\" to reinstall all modules.",
                path.display()
            );
            let summary = messages::FAILED_TO_READ_MODULES_MANIFEST_FILE;
            diags.error(Diagnostic::error(summary, detail).blame(Blame::Environment))
        })
    }

    /// The folder of modules.
    pub(crate) fn modules_folder(&self) -> PathBuf {
        self.data.path().join(modules::FOLDER)
    }

    /// Whether the root module calls any. Errors are reported when the whole is read.
    pub(crate) fn calls_modules(&self) -> bool {
        let mut sources = Sources::new();
        folders::calls(&mut Diagnostics::new(), &mut sources, &Disk, &self.config_folder)
            .map_or(true, |calls| !calls.is_empty())
    }

    /// Installs the modules that the configuration calls, telling what happens.
    ///
    /// # Errors
    /// When one cannot be had, or a configuration has errors.
    pub(crate) fn install_modules(
        &mut self,
        diags: &mut Diagnostics,
        options: InstallOptions<'_>,
        report: &Report,
    ) -> Result<(), Reported> {
        let InstallOptions { upgrade, keeps_lock, tests } = options;
        let place = install::ModulesFolder {
            keeps_lock,
            tests: test_modules::folder(tests),
            env: self.env,
            settings: &self.settings,
            root: &self.config_folder,
            data: &self.data,
            pause: std::thread::sleep,
        };
        install::install(diags, &mut self.sources, &place, upgrade, &|progress| {
            report.log(&match progress {
                Progress::Downloading(package, key) => {
                    format!("Downloading {package} for {key}...")
                }
                Progress::Installed(key, dir) => format!("- {key} in {}", dir.display()),
                Progress::Waiting(folder) => format!(
                    "Waiting for another command that installs modules in {}...",
                    folder.display()
                ),
            });
        })
    }
}
