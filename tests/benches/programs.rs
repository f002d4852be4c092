//! The compared programs: Formwork is built first, Terraform is found on the path.

use std::error::Error;
use std::path::PathBuf;
use std::process::Command;

use crate::options::Options;

/// Paths of the programs.
pub(crate) struct Programs {
    /// Path of Formwork.
    pub(crate) ours: PathBuf,
    /// Path of Terraform; `None` if it is not selected.
    pub(crate) terraform: Option<PathBuf>,
    /// The directory that holds the provider for both.
    pub(crate) provider_dir: PathBuf,
    /// Version that Terraform prints.
    pub(crate) terraform_version: String,
}

impl Programs {
    /// Builds Formwork and finds Terraform.
    ///
    /// # Errors
    /// When a program cannot be built or found.
    pub(crate) fn prepare(options: &Options) -> Result<Self, Box<dyn Error>> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let build = ["build", "--release", "-p", "formwork", "-p", "formwork-providers", "--bins"];
        if !Command::new(cargo).args(build).status()?.success() {
            return Err("our programs could not be built".into());
        }
        // This program is in `target/release/deps`; the built programs are one level up.
        let own_path = std::env::current_exe()?;
        let directory = own_path.parent().and_then(|deps| deps.parent());
        let directory = directory.ok_or("this program is not where cargo puts it")?.to_owned();
        let (terraform, terraform_version) = if options.terraform {
            let version = Command::new("terraform")
                .arg("version")
                .env_remove("TF_CLI_CONFIG_FILE")
                .env("CHECKPOINT_DISABLE", "1")
                .output()
                .map_err(|error| format!("terraform: {error}; try --no-terraform"))?;
            let version =
                String::from_utf8_lossy(&version.stdout).lines().next().map(str::to_owned);
            (Some("terraform".into()), version.unwrap_or_default())
        } else {
            (None, String::new())
        };
        let ours = directory.join("formwork");
        Ok(Self { ours, terraform, provider_dir: directory, terraform_version })
    }
}
