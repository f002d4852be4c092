//! Locates installed modules, and refuses those that do not match their call.

use std::path::{Path, PathBuf};

use formwork_core::addr::ModulePath;
use formwork_core::config::{CallSite, ModuleFolders, NotInstalled};
use formwork_value::diag::Message;

use super::manifest::Manifest;
use crate::messages;

/// Installed modules, as the loader of configurations requests them.
#[derive(Debug, Default)]
pub(crate) struct Installed(pub(crate) Manifest);

const ADVICE: &str = "Run \"formwork init\" to install all modules required by this configuration.";

impl ModuleFolders for Installed {
    fn folder(
        &self,
        path: &ModulePath,
        call: &CallSite,
        _caller: &Path,
    ) -> Result<PathBuf, NotInstalled> {
        let refused = |summary: &'static Message, detail: String| NotInstalled {
            summary,
            detail,
            span: call.source_span,
        };
        let key = path.0.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(".");
        let Some(record) = self.0.0.get(&key) else { return Err(NotInstalled::missing(call)) };
        if record.source != call.address.to_string() {
            let detail =
                format!("The source address was changed since this module was installed. {ADVICE}");
            return Err(refused(messages::MODULE_SOURCE_HAS_CHANGED, detail));
        }
        let Some((wanted, _)) = &call.version else { return Ok(record.dir.clone()) };
        let detail = match &record.version {
            Some(version) if wanted.allows(version) => return Ok(record.dir.clone()),
            Some(version) => format!(
                "The version requirements have changed since this module was installed and the installed version ({version}) is no longer acceptable."
            ),
            None => "The version requirements have changed since this module was installed, which was without a version.".to_owned(),
        };
        let summary = messages::MODULE_VERSION_REQUIREMENTS_HAVE_CHANGED;
        Err(refused(summary, format!("{detail} {ADVICE}")))
    }
}
