//! Arguments of the commands for those who write providers.

use std::path::PathBuf;

use clap::Subcommand;

/// Tools for provider authors.
#[derive(Debug, Subcommand)]
pub(crate) enum ProviderCommand {
    /// Write a new provider that builds, tests and loads.
    New(ProviderNewArgs),
    /// Write the documentation of a provider from its schema, or check its examples.
    Docs(ProviderDocsArgs),
    /// Check a provider against the rules of the protocol.
    Check(Box<ProviderCheckArgs>),
    /// Pack programs of a provider for a registry or mirror: archives, checksums, signature, manifest.
    Package(ProviderPackageArgs),
    /// Play the calls of a finding again.
    Replay(ProviderReplayArgs),
}

/// Arguments of `provider new`.
#[derive(Debug, clap::Args)]
pub(crate) struct ProviderNewArgs {
    /// Name of the provider in configurations.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The namespace of its source address.
    #[arg(long, value_name = "NAMESPACE", default_value = "example")]
    pub(crate) namespace: String,
    /// The folder `sdk` of a checkout of Formwork, instead of the published packages. Found by itself if
    /// this program was built in a checkout.
    #[arg(long, value_name = "DIR")]
    pub(crate) sdk: Option<PathBuf>,
}

/// Arguments of `provider package`.
#[derive(Debug, clap::Args)]
pub(crate) struct ProviderPackageArgs {
    /// A program called terraform-provider-NAME, for this platform, or as OS_ARCH=PROGRAM for another one.
    #[arg(value_name = "PROGRAM", required = true)]
    pub(crate) programs: Vec<String>,
    /// The version of the release.
    #[arg(long, value_name = "VERSION")]
    pub(crate) version: String,
    /// A file with the secret OpenPGP key that signs the checksums, in text form. Its passphrase is taken
    /// from FORMWORK_SIGNING_PASSPHRASE.
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// The manifest, which names the protocols of the provider.
    #[arg(long, value_name = "FILE", default_value = "terraform-registry-manifest.json")]
    pub(crate) manifest: PathBuf,
    /// Folder for the files.
    #[arg(long, value_name = "DIR", default_value = "dist")]
    pub(crate) out: PathBuf,
}

/// Arguments of `provider docs`.
#[derive(Debug, clap::Args)]
pub(crate) struct ProviderDocsArgs {
    /// The provider: a program called terraform-provider-NAME.
    #[arg(value_name = "PROGRAM")]
    pub(crate) program: PathBuf,
    /// Folder for the pages.
    #[arg(long, value_name = "DIR", default_value = "docs")]
    pub(crate) out: PathBuf,
    /// Folder of the examples.
    #[arg(long, value_name = "DIR", default_value = "examples")]
    pub(crate) examples: PathBuf,
    /// Write nothing: plan every example, and compare the pages with what they should be.
    #[arg(long)]
    pub(crate) check: bool,
}

/// Arguments of `provider check`.
#[derive(Debug, clap::Args)]
pub(crate) struct ProviderCheckArgs {
    /// The provider: a program, or the source address of one that is installed or reattached.
    #[arg(value_name = "PROGRAM|ADDRESS")]
    pub(crate) provider: String,
    /// The highest level: 0 needs the program only, 1 configures and plans, 2 reads, 3 creates and
    /// destroys real objects.
    #[arg(long, value_name = "0..3", default_value_t = 1)]
    pub(crate) level: u8,
    /// A folder with examples in the layout of the registry.
    #[arg(long, value_name = "DIR")]
    pub(crate) examples: Option<PathBuf>,
    /// A file with the attributes and blocks of the provider's configuration.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The program of the previous release, to compare schemas with.
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) previous: Option<PathBuf>,
    /// The folder of the release: archives, checksums, signature and manifest.
    #[arg(long, value_name = "DIR")]
    pub(crate) release: Option<PathBuf>,
    /// A file with the public OpenPGP key of the release in text form.
    #[arg(long, value_name = "FILE", requires = "release")]
    pub(crate) release_key: Option<PathBuf>,
    /// Check only these rules.
    #[arg(long, value_name = "ID,...", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Leave out these rules.
    #[arg(long, value_name = "ID,...", value_delimiter = ',')]
    pub(crate) skip: Vec<String>,
    /// The seed of generated inputs.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The limit for the whole run: 90s, 10m, 1h.
    #[arg(long, value_name = "LIMIT", default_value = "10m")]
    pub(crate) time: String,
    /// Print the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a report as JUnit XML.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Write a report as SARIF.
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,
    /// Write a report as an HTML page.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write a line for a badge.
    #[arg(long, value_name = "FILE")]
    pub(crate) badge: Option<PathBuf>,
    /// Write a reproducer file for each finding into a folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) reproducers: Option<PathBuf>,
    /// Write every object that is created at level 3 into a journal.
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
    /// Keep what was examined in a file, so that after an interruption the same command continues
    /// there.
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<PathBuf>,
}

/// Arguments of `provider replay`.
#[derive(Debug, clap::Args)]
pub(crate) struct ProviderReplayArgs {
    /// The reproducer file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The provider's program.
    #[arg(value_name = "PROGRAM")]
    pub(crate) program: PathBuf,
}
