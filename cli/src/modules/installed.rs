//! Lookup of installed modules, which must match their calls.

use std::path::{Path, PathBuf};

use formwork_core::addr::ModulePath;
use formwork_core::config::{ModuleCallSource, ModuleDirs, ModuleNotInstalled};
use formwork_value::diag::Message;

use super::manifest::ModuleManifest;
use crate::messages;

/// Installed modules, for the configuration loader.
#[derive(Debug, Default)]
pub(crate) struct InstalledModules(pub(crate) ModuleManifest);

const INSTALL_MODULES_ADVICE: &str =
    "Run \"formwork init\" to install all modules required by this configuration.";

/// Installed modules for the module of a run block, which is a separate root module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InstalledForRun<'a> {
    pub(crate) installed: &'a InstalledModules,
    /// The key of the run block's module.
    pub(crate) key: &'a str,
}

impl ModuleDirs for InstalledForRun<'_> {
    fn dir_of_call(
        &self,
        path: &ModulePath,
        call: &ModuleCallSource,
        _caller: &Path,
    ) -> Result<PathBuf, ModuleNotInstalled> {
        self.installed.locate(&format!("{}.{}", self.key, manifest_key(path)), call)
    }
}

impl ModuleDirs for InstalledModules {
    fn dir_of_call(
        &self,
        path: &ModulePath,
        call: &ModuleCallSource,
        _caller: &Path,
    ) -> Result<PathBuf, ModuleNotInstalled> {
        self.locate(&manifest_key(path), call)
    }
}

/// Returns the key of a module in the manifest.
fn manifest_key(path: &ModulePath) -> String {
    path.0.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(".")
}

impl InstalledModules {
    /// Returns the directory of the module with this key, for `call`.
    ///
    /// # Errors
    /// The module is not installed, or does not match the call.
    pub(crate) fn locate(
        &self,
        key: &str,
        call: &ModuleCallSource,
    ) -> Result<PathBuf, ModuleNotInstalled> {
        let not_installed = |summary: &'static Message, detail: String| ModuleNotInstalled {
            summary,
            detail,
            span: call.source_span,
        };
        let Some(record) = self.0.0.get(key) else {
            return Err(ModuleNotInstalled::never_installed(call));
        };
        if record.source != call.address.to_string() {
            let detail = format!(
                "The source address was changed since this module was installed. {INSTALL_MODULES_ADVICE}"
            );
            return Err(not_installed(messages::MODULE_SOURCE_HAS_CHANGED, detail));
        }
        let Some((constraints, _)) = &call.version else { return Ok(record.dir.clone()) };
        let detail = match &record.version {
            Some(version) if constraints.allows_version(version) => return Ok(record.dir.clone()),
            Some(version) => format!(
                "The version requirements have changed since this module was installed and the installed version ({version}) is no longer acceptable."
            ),
            None => "The version requirements have changed since this module was installed, which was without a version.".to_owned(),
        };
        let summary = messages::MODULE_VERSION_REQUIREMENTS_HAVE_CHANGED;
        Err(not_installed(summary, format!("{detail} {INSTALL_MODULES_ADVICE}")))
    }
}
