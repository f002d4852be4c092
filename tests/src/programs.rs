//! The programs of the workspace that the tests run, as they are now.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the programs of the workspace that are not up to date, and the one that embeds the engine.
/// Returns their directory: that of `program`, which is one of them.
///
/// # Panics
/// When they cannot be built.
///
/// # Example
/// ```no_run
/// let program = std::env::current_exe().unwrap();
/// let formwork = formwork_tests::programs::build(&program).join("formwork");
/// ```
#[must_use]
pub fn build(program: &Path) -> PathBuf {
    let directory = program.parent().expect("a program is in a directory").to_owned();
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // With the selection of `cargo test --workspace`, whose libraries are linked again. A smaller one, or one
    // without an example, has other features of shared packages, and compiles most of them a second time.
    cargo.args(["build", "--quiet", "--workspace", "--bins", "--example", "embed"]);
    if directory.ends_with("release") {
        cargo.arg("--release");
    }
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the programs under test cannot be built:\n{errors}");
    directory
}
