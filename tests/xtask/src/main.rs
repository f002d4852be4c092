//! Release tasks: `cargo xtask dist` creates a release directory.
//!
//! Builds nothing but the program, and publishes nothing.

mod deb;
mod dist;
mod pack;
mod provenance;
mod sbom;
mod source;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// Reason why a task failed, in words.
pub(crate) type Failure = Box<dyn std::error::Error>;

/// Tasks around releases.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
enum Task {
    /// Build the program and make a release directory: archive, Debian package, checksums, SBOM,
    /// provenance and install script.
    Dist(DistArgs),
}

/// Arguments of `dist`.
#[derive(Debug, clap::Args)]
pub(crate) struct DistArgs {
    /// The release directory. Files of an earlier release in it are replaced.
    #[arg(long, value_name = "DIR", default_value = "target/dist")]
    pub(crate) out: PathBuf,
    /// Pack this program instead of building one.
    #[arg(long, value_name = "FILE")]
    pub(crate) binary: Option<PathBuf>,
}

fn main() -> ExitCode {
    let Task::Dist(args) = Task::parse();
    match dist::run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without a terminal there is nowhere to report that nothing can be reported.
            drop(writeln!(io::stderr(), "error: {error}"));
            ExitCode::FAILURE
        }
    }
}
