//! Where the folders of called modules are, and what must be known of a call to put one there.
//!
//! Whoever installs modules finds out which ones a folder calls with [`calls`], without the called
//! ones being there, and says later through [`ModuleFolders`] where they are. Nothing here fetches
//! anything.

use std::path::{Component, Path, PathBuf};

use formwork_value::diag::Sources;
use formwork_value::{Diagnostics, Reported, Span, Str};

use super::{Files, load};
use crate::addr::{ModulePath, ModuleSource};
use crate::version::LooseConstraints;

/// Which module a call asks for, as far as that can be said without having it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// The name of the call.
    pub name: Str,
    /// The source as written: a path, an address in a registry, or that of a package.
    pub source: String,
    /// What that means.
    pub address: ModuleSource,
    /// Where the source is written.
    pub source_span: Span,
    /// The versions asked for, and where that is written.
    pub version: Option<(LooseConstraints, Span)>,
    /// The block's header.
    pub span: Span,
}

/// Says where the folder of a called module is. The command line implements it over what is
/// installed, tests over texts in memory.
pub trait ModuleFolders {
    /// The folder of the module at `path`, which `call` asks for. `caller` is the folder that the call
    /// stands in.
    ///
    /// # Errors
    /// When the module is not there, or not the one that the call asks for.
    fn folder(
        &self,
        path: &ModulePath,
        call: &CallSite,
        caller: &Path,
    ) -> Result<PathBuf, NotInstalled>;
}

/// Why the folder of a called module cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotInstalled {
    /// What is wrong, in a few words.
    pub summary: String,
    /// What was found and what to do about it.
    pub detail: String,
    /// What of the call that is about.
    pub span: Span,
}

impl NotInstalled {
    /// The module was never installed.
    #[must_use]
    pub fn missing(call: &CallSite) -> Self {
        Self {
            span: call.span,
            summary: "Module not installed".to_owned(),
            detail: "This module is not yet installed. Run \"formwork init\" to install all modules required by this configuration.".to_owned(),
        }
    }
}

/// The folder that a local source names, without steps up and back again.
fn local_folder(caller: &Path, source: &str) -> PathBuf {
    let mut folder = PathBuf::new();
    for part in caller.join(source).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(folder.components().next_back(), Some(Component::Normal(_))) =>
            {
                folder.pop();
            }
            other => folder.push(other),
        }
    }
    if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder }
}

/// Knows modules with local sources only, which stand where their source says.
#[derive(Clone, Copy, Debug)]
pub struct LocalFolders;

impl ModuleFolders for LocalFolders {
    fn folder(
        &self,
        _: &ModulePath,
        call: &CallSite,
        caller: &Path,
    ) -> Result<PathBuf, NotInstalled> {
        match &call.address {
            ModuleSource::Local(source) => Ok(local_folder(caller, source)),
            _ => Err(NotInstalled::missing(call)),
        }
    }
}

/// The calls in the configuration of a folder, by name. The called modules need not be there.
///
/// # Errors
/// When a file cannot be read or parsed, or a block is malformed: what is called cannot be relied on.
pub fn calls(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    files: &dyn Files,
    dir: &Path,
) -> Result<Vec<CallSite>, Reported> {
    let mut found = Diagnostics::new();
    let read = load::read_module(&mut found, sources, files, (dir, false));
    diags.append(load::by_place(found))?;
    Ok(read?.0.calls.into_values().map(|call| call.site).collect())
}
