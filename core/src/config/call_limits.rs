//! Limits of module calls, and the errors for calls whose module cannot be used.

use std::path::Path;

use formwork_value::Diagnostic;

use super::ModuleCallSource;
use crate::addr::ModulePath;
use crate::messages;

/// Maximum depth of calls. Deeper calls are caused by modules that call themselves.
pub(super) const MAX_CALL_DEPTH: usize = 64;
/// Maximum number of modules: a chain of modules that each call the next twice grows without bound.
pub(super) const MAX_MODULES: usize = 100_000;

/// The error for a module whose installation directory cannot be read any more.
pub(super) fn missing_module_dir_error(site: &ModuleCallSource, dir: &Path) -> Diagnostic {
    let detail = format!(
        "This module's local cache directory {} could not be read. Run \"formwork init\" to install all modules required by this configuration.",
        dir.display()
    );
    Diagnostic::error(messages::MODULE_NOT_INSTALLED, detail).at(site.span)
}

/// The error for a module that calls itself, maybe through others.
pub(super) fn recursive_call_error(
    site: &ModuleCallSource,
    path: &ModulePath,
    above: &ModulePath,
) -> Diagnostic {
    let above = if above.is_root() { "the root module".to_owned() } else { format!("`{above}`") };
    let detail = format!(
        "The source \"{}\" of `{path}` is the directory of {above}, which calls it, so the calls would never end. Remove the call.",
        site.source
    );
    Diagnostic::error(messages::MODULE_CALLS_ITSELF, detail).at(site.source_span)
}

/// The error for a call below too many others.
pub(super) fn call_too_deep_error(site: &ModuleCallSource) -> Diagnostic {
    let detail = format!(
        "Modules may be called at most {MAX_CALL_DEPTH} levels deep. The likely cause is a module that calls itself, directly or through other modules."
    );
    Diagnostic::error(messages::TOO_MANY_LEVELS_MODULES, detail).at(site.span)
}

/// The error for the call that is one too many.
pub(super) fn too_many_modules_error(site: &ModuleCallSource) -> Diagnostic {
    let detail = format!("A configuration may have at most {MAX_MODULES} module calls in total.");
    Diagnostic::error(messages::TOO_MANY_MODULES, detail).at(site.span)
}

/// The error for a further call of a module whose errors are reported already.
pub(super) fn module_already_failed_error(site: &ModuleCallSource, dir: &Path) -> Diagnostic {
    let detail =
        format!("The module in `{}` has errors, which are reported separately.", dir.display());
    Diagnostic::error(messages::MODULE_CANNOT_BE_USED, detail).at(site.span)
}
