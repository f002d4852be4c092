//! Finds the directories of called modules, and lists the calls that require one.
//!
//! An installer of modules lists the calls of a directory with [`root_module_calls`], for which the called
//! modules need not be installed, and returns their directories later through [`ModuleDirs`]. Nothing here
//! fetches anything.

use std::path::{Component, Path, PathBuf};

use formwork_value::diag::{Message, Sources};
use formwork_value::{Diagnostics, Reported, Span, Str};

use super::module_draft::ModuleDir;
use super::{ConfigFiles, load};
use crate::addr::{ModulePath, ModuleSource};
use crate::messages;
use crate::version::LooseConstraints;

/// The module that a call requires, as far as that can be determined before its installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleCallSource {
    /// The name of the call.
    pub name: Str,
    /// The source as written: a path, an address in a registry, or that of a package.
    pub source: String,
    /// The address of the source.
    pub address: ModuleSource,
    /// The span of the source.
    pub source_span: Span,
    /// The version constraints, and their span.
    pub version: Option<(LooseConstraints, Span)>,
    /// The block's header.
    pub span: Span,
}

/// Returns the directory of a called module. The command line implements it over installed modules,
/// tests over files in memory.
pub trait ModuleDirs {
    /// The directory of the module at `path`, which `call` requires. `caller` is the directory that contains
    /// the call.
    ///
    /// # Errors
    /// When the module is not installed, or is not the one that the call requires.
    fn dir_of_call(
        &self,
        path: &ModulePath,
        call: &ModuleCallSource,
        caller: &Path,
    ) -> Result<PathBuf, ModuleNotInstalled>;
}

/// The reason why the directory of a called module cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleNotInstalled {
    /// A short description of the problem.
    pub summary: &'static Message,
    /// The finding, and its remedy.
    pub detail: String,
    /// The part of the call that is at fault.
    pub span: Span,
}

impl ModuleNotInstalled {
    /// The module was never installed.
    #[must_use]
    pub fn never_installed(call: &ModuleCallSource) -> Self {
        Self {
            span: call.span,
            summary: messages::MODULE_NOT_INSTALLED,
            detail: "This module is not yet installed. Run \"formwork init\" to install all modules required by this configuration.".to_owned(),
        }
    }
}

/// The directory of a local source, as a normalized path.
fn resolve_local_source(caller: &Path, source: &str) -> PathBuf {
    let mut directory = PathBuf::new();
    // Without access to the disk, as in Terraform: links in the path are not resolved.
    for part in caller.join(source).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(directory.components().next_back(), Some(Component::Normal(_))) =>
            {
                directory.pop();
            }
            other => directory.push(other),
        }
    }
    if directory.as_os_str().is_empty() { PathBuf::from(".") } else { directory }
}

/// Supports only modules with local sources, whose directory is their source.
#[derive(Clone, Copy, Debug)]
pub struct LocalModuleDirs;

impl ModuleDirs for LocalModuleDirs {
    fn dir_of_call(
        &self,
        _: &ModulePath,
        call: &ModuleCallSource,
        caller: &Path,
    ) -> Result<PathBuf, ModuleNotInstalled> {
        match &call.address {
            ModuleSource::Local(source) => Ok(resolve_local_source(caller, source)),
            _ => Err(ModuleNotInstalled::never_installed(call)),
        }
    }
}

/// The calls in the configuration of a directory, by name. The called modules need not be installed.
///
/// # Errors
/// When a file cannot be read or parsed, or a block is malformed: the list of calls would not be
/// reliable.
pub fn root_module_calls(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    files: &dyn ConfigFiles,
    dir: &Path,
) -> Result<Vec<ModuleCallSource>, Reported> {
    let mut load_diags = Diagnostics::new();
    let directory = ModuleDir { dir, is_root: false };
    let read = load::read_module(&mut load_diags, sources, files, directory);
    diags.append(load::sort_diagnostics_by_position(load_diags))?;
    let read = read?;
    diags.append(read.unmet_versions)?;
    Ok(read.module.calls.into_values().map(|call| call.site).collect())
}
