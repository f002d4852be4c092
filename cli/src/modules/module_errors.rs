//! Diagnostics for modules that cannot be installed.

use std::path::Path;

use formwork_core::addr::{ModuleSource, RegistryModuleAddr};
use formwork_core::config::ModuleCallSource;
use formwork_core::version::LooseVersion;
use formwork_value::Diagnostic;
use formwork_value::diag::{Blame, Sources, Summary};

use super::lock::{self, LockedModule, ModuleLock};
use super::manifest::ModuleManifest;
use super::registry::{ModuleVersions, RegistryError};
use super::source::ModuleInPackage;
use crate::fetch::http::HttpError;
use crate::fetch::limited_lists::quote_shortened;
use crate::messages;
use crate::redact;

/// Describes a call for messages: `"vpc" (main.tf:3)`.
pub(super) fn call_name(sources: &Sources, call: &ModuleCallSource) -> String {
    let file = sources.name(call.span.source);
    format!("\"{}\" ({file}:{})", call.name, sources.start_position(call.span).line)
}

fn outside_package_error(
    summary: impl Into<Summary>,
    detail: String,
    call: &ModuleCallSource,
) -> Diagnostic {
    Diagnostic::error(summary, detail).at(call.span).blamed_on(Blame::Environment)
}

pub(super) fn missing_module_dir_error(call: &ModuleCallSource, dir: &Path) -> Diagnostic {
    let detail = format!(
        "The directory {} could not be read for module \"{}\": there is no such directory.",
        dir.display(),
        call.name
    );
    Diagnostic::error(messages::UNREADABLE_MODULE_DIRECTORY, detail).at(call.source_span)
}

pub(super) fn source_escapes_package_error(
    key: &str,
    call: &ModuleCallSource,
    package: &str,
) -> Diagnostic {
    let package = redact::redact_address(package);
    let detail = format!(
        "The given source directory for module.{} would be outside of its containing package {package:?}. Local source addresses starting with \"../\" must stay within the same package that the calling module belongs to.",
        key.replace('.', ".module."),
    );
    Diagnostic::error(messages::LOCAL_MODULE_PATH_ESCAPES_MODULE_PACKAGE, detail)
        .at(call.source_span)
}

pub(super) fn calls_itself_error(key: &str, call: &ModuleCallSource, ancestor: &str) -> Diagnostic {
    let outer = if ancestor.is_empty() { "the root module" } else { ancestor };
    let detail = format!(
        "The module {key} is the same module as {outer}, which calls it directly or indirectly, so the calls would never end. Remove one of the calls between them."
    );
    Diagnostic::error(messages::MODULE_CALLS_ITSELF, detail).at(call.source_span)
}

pub(super) fn too_many_calls_error(
    limit: usize,
    subject: &str,
    call: &ModuleCallSource,
) -> Diagnostic {
    let detail = format!("The limit is {limit} {subject}.");
    Diagnostic::error(messages::TOO_MANY_MODULES, detail).at(call.span)
}

/// Returns the error for a module lock file that cannot be read.
pub(super) fn unreadable_lock_error(root: &Path, error: &std::io::Error) -> Diagnostic {
    let detail = format!(
        "{}: {error}. Correct the file, or remove it to stop locking modules.",
        root.join(lock::MODULE_LOCK_FILE_NAME).display()
    );
    Diagnostic::error(messages::FAILED_TO_READ_LOCK_FILE_MODULES, detail)
}

/// Returns the error for a module lock file that cannot be written.
pub(super) fn unwritten_lock_error(root: &Path, error: &std::io::Error) -> Diagnostic {
    let detail = format!("{}: {error}.", root.join(lock::MODULE_LOCK_FILE_NAME).display());
    Diagnostic::error(messages::FAILED_TO_WRITE_LOCK_FILE_MODULES, detail)
}

/// Returns the error for a module manifest that cannot be read.
pub(super) fn unreadable_manifest_error(directory: &Path, error: &std::io::Error) -> Diagnostic {
    let path = ModuleManifest::path(directory);
    let detail = format!("{}: {error}. Remove the file to reinstall all modules.", path.display());
    let summary = messages::FAILED_TO_READ_MODULES_MANIFEST_FILE;
    Diagnostic::error(summary, detail).blamed_on(Blame::Environment)
}

/// Returns the error for a module manifest that cannot be written.
pub(super) fn unwritten_manifest_error(directory: &Path, error: &std::io::Error) -> Diagnostic {
    let detail = format!("{}: {error}.", directory.display());
    let summary = messages::FAILED_TO_UPDATE_MODULE_MANIFEST;
    Diagnostic::error(summary, detail).blamed_on(Blame::Environment)
}

/// Returns the error for a module that cannot be hashed.
pub(super) fn unhashable_module_error(
    key: &str,
    call: &ModuleCallSource,
    error: &std::io::Error,
) -> Diagnostic {
    let detail = format!("The contents of module {key:?} cannot be hashed: {error}.");
    Diagnostic::error(messages::FAILED_TO_READ_MODULE, detail).at(call.source_span)
}

/// Returns the error for a module that does not match its lock.
pub(super) fn content_mismatch_error(
    key: &str,
    call: &ModuleCallSource,
    locked: &LockedModule,
    fetched: &LockedModule,
) -> Diagnostic {
    let release = match &fetched.version {
        Some(version) => format!(" {version}"),
        None => String::new(),
    };
    let detail = format!(
        "The contents of module {key:?} from {}{release} have the hash {}, but {} requires {}. The release was published again, a branch or tag moved, or installed files were edited. If the change is intended, run \"formwork init -upgrade\" to lock the new contents. If installed files were edited, remove the directory .terraform/modules and run \"formwork init\".",
        redact::redact_address(&fetched.source),
        fetched.hash,
        lock::MODULE_LOCK_FILE_NAME,
        locked.hash
    );
    Diagnostic::error(messages::MODULE_CONTENT_HAS_CHANGED, detail).at(call.source_span)
}

/// Returns the error for a module lock file that is outdated, but must not change.
pub(super) fn readonly_lock_error(old: &ModuleLock, new: &ModuleLock) -> Diagnostic {
    let mut changes: Vec<String> = Vec::new();
    for (key, module) in &new.0 {
        match old.0.get(key) {
            None => changes.push(format!("{key} would be added")),
            Some(locked) if locked != module => changes.push(format!("{key} would change")),
            Some(_) => {}
        }
    }
    let removed = old.0.keys().filter(|key| !new.0.contains_key(*key));
    changes.extend(removed.map(|key| format!("{key} would be removed")));
    let detail = format!(
        "{} does not match the configuration, and -lockfile=readonly does not allow changes: {}. Run \"formwork init\" without -lockfile=readonly to record the changes.",
        lock::MODULE_LOCK_FILE_NAME,
        changes.join(", ")
    );
    Diagnostic::error(messages::MODULE_LOCK_FILE_CHANGES_DETECTED, detail)
}

pub(super) fn download_error(
    call_name: &str,
    call: &ModuleCallSource,
    package: &str,
    reason: &dyn std::fmt::Display,
) -> Diagnostic {
    let reason = reason.to_string();
    let reason = reason.strip_prefix(&format!("{package}: ")).unwrap_or(&reason);
    let detail =
        format!("Could not download module {call_name} source code from {package:?}: {reason}.");
    outside_package_error(messages::FAILED_TO_DOWNLOAD_MODULE, detail, call)
}

/// Returns the error for a package that does not contain the module's directory.
pub(super) fn missing_subdir_error(
    call_name: &str,
    call: &ModuleCallSource,
    source: &ModuleInPackage<'_>,
    reason: &str,
) -> Diagnostic {
    let (package, subdir) = (source.display_address(), source.subdir.as_str());
    let detail = format!(
        "The source of module {call_name} is {package:?}, and within it {subdir:?}: {reason}."
    );
    let summary = match call.address {
        ModuleSource::Registry(..) => messages::UNREADABLE_MODULE_SUBDIRECTORY,
        _ => messages::FAILED_TO_EXPAND_SUBDIR_GLOBS,
    };
    outside_package_error(summary, detail, call)
}

pub(super) fn no_versions_error(
    call_name: &str,
    call: &ModuleCallSource,
    host: &str,
    error: &RegistryError,
) -> Diagnostic {
    match error {
        RegistryError::NotFound => {
            let detail =
                format!("Module {call_name} cannot be found in the module registry at {host}.");
            outside_package_error(messages::MODULE_NOT_FOUND, detail, call)
        }
        RegistryError::Malformed(reason) => {
            let detail = format!(
                "The registry at {host} returned an invalid response when Formwork requested available versions for module {call_name}: {reason}."
            );
            outside_package_error(
                messages::INVALID_RESPONSE_FROM_REMOTE_MODULE_REGISTRY,
                detail,
                call,
            )
        }
        error => {
            let advice = match error {
                RegistryError::Http(HttpError::Status { status: 401 | 403, .. }) => format!(
                    " Set a token for the registry in TF_TOKEN_{} or in a credentials block of the CLI configuration.",
                    host.replace('-', "__").replace('.', "_")
                ),
                _ => String::new(),
            };
            let detail = format!(
                "Failed to retrieve available versions for module {call_name} from {host}: {error}.{advice}"
            );
            outside_package_error(messages::ERROR_ACCESSING_REMOTE_MODULE_REGISTRY, detail, call)
        }
    }
}

pub(super) fn no_location_error(
    call: &ModuleCallSource,
    module: &RegistryModuleAddr,
    version: &LooseVersion,
    error: &RegistryError,
) -> Diagnostic {
    let host = &module.host;
    if let RegistryError::Location(location) = error {
        let location = redact::redact_address(location);
        let detail = format!(
            "Module registry {host} returned invalid source location {location:?} for {module} {version}: {error}."
        );
        return outside_package_error(
            messages::INVALID_PACKAGE_LOCATION_FROM_MODULE_REGISTRY,
            detail,
            call,
        );
    }
    let detail =
        format!("Failed to retrieve a download URL for {module} {version} from {host}: {error}.");
    outside_package_error(messages::ERROR_ACCESSING_REMOTE_MODULE_REGISTRY, detail, call)
}

pub(super) fn ignored_version_warning(
    call_name: &str,
    call: &ModuleCallSource,
    host: &str,
    text: &str,
) -> Diagnostic {
    let detail = format!(
        "The registry at {host} returned an invalid version string {} for module {call_name}, which Formwork ignored.",
        quote_shortened(text)
    );
    Diagnostic::warning(messages::INVALID_RESPONSE_FROM_REMOTE_MODULE_REGISTRY, detail)
        .at(call.span)
}

pub(super) fn no_matching_version_error(
    sources: &Sources,
    call: &ModuleCallSource,
    module: &RegistryModuleAddr,
    listed: &ModuleVersions,
) -> Diagnostic {
    let position = sources.start_position(call.span);
    let location = format!("{}:{}", sources.name(call.span.source), position.line);
    let newest = listed.versions.iter().rfind(|version| !version.is_prerelease());
    let Some(newest) = newest else {
        let failure = match listed.versions.is_empty() {
            true => "no versions available",
            false => "only prereleases, which require an exact version constraint,",
        };
        let detail = format!("Module \"{module}\" ({location}) has {failure} on {}.", module.host);
        return outside_package_error(messages::MODULE_HAS_NO_VERSIONS, detail, call);
    };
    let constraints = call
        .version
        .as_ref()
        .map(|(constraints, _)| format!(", {constraints}"))
        .unwrap_or_default();
    let detail = format!(
        "There is no available version of module \"{module}\" ({location}) which matches the given version constraint{constraints}. The newest available version is {newest}."
    );
    let position = call.version.as_ref().map_or(call.span, |(_, span)| *span);
    Diagnostic::error(messages::UNRESOLVABLE_MODULE_VERSION_CONSTRAINT, detail).at(position)
}
