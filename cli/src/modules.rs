//! Modules that are called: installs them below the data folder, and returns their location.
//!
//! A manifest, the same file that Terraform keeps, lists the installed modules, so either program
//! continues with the modules of the other. Fetching is in `fetch`.

mod commit;
mod complaint;
pub(crate) mod install;
pub(crate) mod installed;
pub(crate) mod lock;
pub(crate) mod manifest;
pub(crate) mod registry;
pub(crate) mod source;
#[cfg(test)]
mod tests;

use std::path::{Component, Path, PathBuf};

/// The name of the folder of modules in the data directory.
pub(crate) const FOLDER: &str = "modules";

/// The shortest path that means the same, by its text alone, as the manifest writes it.
fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => match clean.components().next_back() {
                Some(Component::Normal(_)) => {
                    clean.pop();
                }
                Some(Component::RootDir) => {}
                _ => clean.push(".."),
            },
            part => clean.push(part),
        }
    }
    if clean.as_os_str().is_empty() { PathBuf::from(".") } else { clean }
}
