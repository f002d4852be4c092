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
        .resource("local_file", file::LocalFileResource)
        .resource("local_sensitive_file", sensitive_file::LocalSensitiveFileResource)
        .data_source("local_command", command::LocalCommandDataSource)
        .data_source("local_file", data_source::LocalFileDataSource)
        .data_source("local_sensitive_file", data_source::LocalSensitiveFileDataSource)
        .ephemeral("local_command", command::EphemeralCommand)
        .function::<direxists::DirExists>("direxists")
}
