//! The programs that are compared: ours are built first, Terraform is looked for on the path.

use std::error::Error;
use std::path::PathBuf;
use std::process::Command;

use crate::options::Options;

/// Paths of the programs.
pub(crate) struct Programs {
    /// Our engine.
    pub(crate) ours: PathBuf,
    /// Terraform; `None` if it is not wanted.
    pub(crate) reference: Option<PathBuf>,
    /// The folder that holds the provider for both.
    pub(crate) provider_folder: PathBuf,
    /// Version that Terraform prints.
    pub(crate) reference_version: String,
}

impl Programs {
    /// Builds ours and finds the other.
    ///
    /// # Errors
    /// When one is not to be had.
    pub(crate) fn prepare(options: &Options) -> Result<Self, Box<dyn Error>> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let build = ["build", "--release", "-p", "formwork", "-p", "formwork-providers", "--bins"];
        if !Command::new(cargo).args(build).status()?.success() {
            return Err("our programs could not be built".into());
        }
        // This program is in `target/release/deps`, what was just built one level up.
        let own = std::env::current_exe()?;
        let folder = own.parent().and_then(|deps| deps.parent());
        let folder = folder.ok_or("this program is not where cargo puts it")?.to_owned();
        let (reference, reference_version) = if options.reference {
            let version = Command::new("terraform")
                .arg("version")
                .env_remove("TF_CLI_CONFIG_FILE")
                .env("CHECKPOINT_DISABLE", "1")
                .output()
                .map_err(|error| format!("terraform: {error}; try --no-reference"))?;
            let version =
                String::from_utf8_lossy(&version.stdout).lines().next().map(str::to_owned);
            (Some("terraform".into()), version.unwrap_or_default())
        } else {
            (None, String::new())
        };
        let ours = folder.join("formwork");
        Ok(Self { ours, reference, provider_folder: folder, reference_version })
    }
}
