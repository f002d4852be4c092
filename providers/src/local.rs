//! The `local` provider: files on the machine that runs it.

mod command;
mod data_source;
mod direxists;
mod file;
mod file_content;
mod permission;
mod sensitive_file;

use formwork_sdk::ProviderDef;

/// The provider.
#[must_use]
pub fn provider() -> ProviderDef {
    ProviderDef::new("registry.terraform.io/hashicorp/local")
        .resource("local_file", file::LocalFile)
        .resource("local_sensitive_file", sensitive_file::LocalSensitiveFile)
        .data_source("local_command", command::LocalCommand)
        .data_source("local_file", data_source::LocalFile)
        .data_source("local_sensitive_file", data_source::LocalSensitiveFile)
        .ephemeral("local_command", command::EphemeralCommand)
        .function::<direxists::DirExists>("direxists")
}
