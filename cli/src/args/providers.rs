//! Arguments of `providers` and the commands below it.

use std::path::PathBuf;

use clap::{ArgAction, Subcommand};

/// Arguments of `providers`.
#[derive(Debug, clap::Args)]
pub(crate) struct ProvidersArgs {
    /// Print the required providers as JSON, with their selected versions, programs and hashes.
    #[arg(long)]
    pub(crate) json: bool,
    /// More about providers.
    #[command(subcommand)]
    pub(crate) command: Option<ProvidersCommand>,
}

/// More about providers.
#[derive(Debug, Subcommand)]
pub(crate) enum ProvidersCommand {
    /// Print the schemas of all providers that the configuration needs.
    Schema(ProvidersSchemaArgs),
    /// Record the checksums of providers for several platforms in the lock file.
    Lock(ProvidersLockArgs),
    /// Copy the packages of the required providers into a folder that serves as a mirror.
    Mirror(ProvidersMirrorArgs),
    /// Print a bill of materials of this folder: engine, providers and modules, with hashes, as CycloneDX.
    Sbom,
}

/// Arguments of `providers schema`.
#[derive(Debug, clap::Args)]
pub(crate) struct ProvidersSchemaArgs {
    /// Print them as JSON; there is no other form.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `providers lock`.
#[derive(Debug, clap::Args)]
pub(crate) struct ProvidersLockArgs {
    /// Source addresses of the providers to lock; without one, all.
    #[arg(value_name = "PROVIDER")]
    pub(crate) providers: Vec<String>,
    /// Record checksums for this platform, such as linux_amd64. May be given several times. Default:
    /// the platform of this machine.
    #[arg(long, value_name = "OS_ARCH")]
    pub(crate) platform: Vec<String>,
    /// Look in this folder instead of the origin registry.
    #[arg(long, value_name = "DIR")]
    pub(crate) fs_mirror: Option<PathBuf>,
    /// Look at this network mirror instead of the origin registry.
    #[arg(long, value_name = "URL")]
    pub(crate) net_mirror: Option<String>,
    /// Use the packages in the plugin cache whose checksums are locked.
    #[arg(long)]
    pub(crate) enable_plugin_cache: bool,
}

/// Arguments of `providers mirror`.
#[derive(Debug, clap::Args)]
pub(crate) struct ProvidersMirrorArgs {
    /// The folder to copy packages into.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Copy the packages for this platform, such as linux_amd64. May be given several times. Default:
    /// the platform of this machine.
    #[arg(long, value_name = "OS_ARCH")]
    pub(crate) platform: Vec<String>,
    /// Whether to copy the versions that are locked.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) lock_file: bool,
}
