//! Locations of the programs under test. Those of other packages are built when a test requires
//! them.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The bad provider.
pub(crate) fn bad_provider() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_terraform-provider-bad"))
}

/// The provider with one type of each kind.
pub(crate) fn test_provider() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_terraform-provider-test"))
}

/// The provider that holds every rule of the conformance suite.
pub(crate) fn sound_provider() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_terraform-provider-sound"))
}

/// The provider with random answers.
pub(crate) fn answers_provider() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_terraform-provider-answers"))
}

/// A program of another package of this workspace, as it is now: built first if it is not up to date.
pub(crate) fn built(program: &str) -> PathBuf {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(|| formwork_tests::programs::build(bad_provider())).join(program)
}

/// Terraform, if this machine has it.
pub(crate) fn terraform() -> Option<PathBuf> {
    in_path("terraform")
}

/// OpenTofu, if this machine has it.
pub(crate) fn opentofu() -> Option<PathBuf> {
    in_path("tofu")
}

fn in_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|directory| directory.join(program))
        .find(|file| file.is_file())
}
