//! `init -from-module`: copies a module into an empty directory.

use std::path::Path;

use formwork_core::addr::{ModuleSource, PackageAddr, Subdir};
use formwork_core::config::files::FilesOnDisk;
use formwork_core::config::module_dirs;
use formwork_value::diag::{Blame, Sources};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::fetch::unpack_limits::UnpackLimits;
use crate::fetch::{self, AddressOrigin, HiddenFiles};
use crate::messages;
use crate::modules::install::fetch_root_module;
use crate::modules::source::ModuleInPackage;
use crate::redact;
use crate::settings::UserSettings;
use crate::workspace::Workspace;

/// Copies the module into the working directory.
pub(super) fn copy_module(
    diags: &mut Diagnostics,
    workspace: &Workspace<'_>,
    text: &str,
) -> Result<(), Reported> {
    let disk = |diags: &mut Diagnostics, error: std::io::Error| {
        let detail = format!("The module cannot be copied: {error}.");
        diags.error(
            Diagnostic::error(messages::FAILED_TO_COPY_ROOT_MODULE, detail)
                .blamed_on(Blame::Environment),
        )
    };
    if !is_dir_empty(workspace).map_err(|error| disk(diags, error))? {
        let detail = "The target directory . is not empty, so it cannot be initialized with the -from-module=... option.";
        return Err(
            diags.error(Diagnostic::error(messages::CANNOT_POPULATE_NON_EMPTY_DIRECTORY, detail))
        );
    }
    let (package, subdir) = parse_source_package(diags, text)?;
    // On the same file system as the target, so that it can be renamed.
    let temp_dir = tempfile::Builder::new()
        .prefix(".from-module-")
        .tempdir_in(&workspace.root)
        .map_err(|error| disk(diags, error))?;
    let source =
        ModuleInPackage { package: &package, subdir: &subdir, origin: AddressOrigin::Local };
    let user = UserSettings { env: workspace.env, settings: &workspace.settings };
    let module = fetch_root_module(diags, user, &source, &temp_dir.path().join("module"))?;
    check_calls_stay_inside(diags, &module, text)?;
    let copied = temp_dir.path().join("copy");
    // As in Terraform, state files are copied, but not files whose names begin with a dot.
    fetch::copy_dir(&module, &copied, &UnpackLimits::MODULE, HiddenFiles::Left)
        .map_err(|error| disk(diags, std::io::Error::other(error)))?;
    let moved = || -> std::io::Result<()> {
        for entry in std::fs::read_dir(&copied)? {
            let entry = entry?;
            std::fs::rename(entry.path(), workspace.root.join(entry.file_name()))?;
        }
        Ok(())
    };
    moved().map_err(|error| disk(diags, error))
}

fn is_dir_empty(workspace: &Workspace<'_>) -> std::io::Result<bool> {
    for entry in std::fs::read_dir(&workspace.root)? {
        if workspace.data.path().file_name() != Some(&entry?.file_name()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The package of a source address. A local path is resolved from the working directory.
fn parse_source_package(
    diags: &mut Diagnostics,
    text: &str,
) -> Result<(PackageAddr, Subdir), Reported> {
    let invalid_source =
        |detail: String| Diagnostic::error(messages::INVALID_MODULE_SOURCE_ADDRESS, detail);
    match ModuleSource::parse(text, false) {
        Ok(ModuleSource::Package(package, subdir)) => Ok((package, subdir)),
        Ok(ModuleSource::Local(path)) => {
            let path = std::path::absolute(path).map_err(|error| {
                diags.error(invalid_source(format!("The path {text:?} is invalid: {error}.")))
            })?;
            let url = format!("file://{}", path.display());
            Ok((PackageAddr { forced: None, url }, Subdir::default()))
        }
        Ok(ModuleSource::Registry(..)) => Err(diags.error(invalid_source(format!(
            "{:?} is a module registry address, which cannot be copied; specify the address of the module package.",
            redact::redact_address(text)
        )))),
        Err(error) => Err(diags.error(Diagnostic::error(error.summary, error.detail))),
    }
}

/// Rejects a module that requires files outside its directory: only the directory is copied.
fn check_calls_stay_inside(
    diags: &mut Diagnostics,
    module: &Path,
    text: &str,
) -> Result<(), Reported> {
    let mut sources = Sources::new();
    let calls =
        module_dirs::root_module_calls(&mut Diagnostics::new(), &mut sources, &FilesOnDisk, module);
    // Configuration errors are reported by the commands that read the copy.
    for call in calls.into_iter().flatten() {
        if call.source.starts_with("../") {
            let detail = format!(
                "The requested module {:?} refers to a module via its parent directory, {:?}. To use this as a new root module this source string must be rewritten as a remote source address.",
                redact::redact_address(text),
                call.source
            );
            let summary = messages::ROOT_MODULE_REFERENCES_PARENT_DIRECTORY;
            return Err(diags.error(Diagnostic::error(summary, detail)));
        }
    }
    Ok(())
}
