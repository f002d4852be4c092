//! Arguments of the commands for those who write providers.

use std::path::PathBuf;

use clap::Subcommand;

/// What helps to write a provider.
#[derive(Debug, Subcommand)]
pub(crate) enum ProviderCommand {
    /// Write a new provider that builds, tests and loads.
    New(ProviderNewArgs),
    /// Write the documentation of a provider from its schema, or check its examples.
    Docs(ProviderDocsArgs),
}

/// Arguments of `provider new`.
#[derive(Debug, clap::Args)]
pub(crate) struct ProviderNewArgs {
    /// What the provider is called in configurations.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The namespace of its source address.
    #[arg(long, value_name = "NAMESPACE", default_value = "example")]
    pub(crate) namespace: String,
    /// The folder of the SDK; found beside this program if it was built from source.
    #[arg(long, value_name = "DIR")]
    pub(crate) sdk: Option<PathBuf>,
}

/// Arguments of `provider docs`.
#[derive(Debug, clap::Args)]
pub(crate) struct ProviderDocsArgs {
    /// The provider: a program called terraform-provider-NAME.
    #[arg(value_name = "PROGRAM")]
    pub(crate) program: PathBuf,
    /// Where the pages are written.
    #[arg(long, value_name = "DIR", default_value = "docs")]
    pub(crate) out: PathBuf,
    /// Where the examples are.
    #[arg(long, value_name = "DIR", default_value = "examples")]
    pub(crate) examples: PathBuf,
    /// Write nothing: plan every example, and compare the pages with what they should be.
    #[arg(long)]
    pub(crate) check: bool,
}
