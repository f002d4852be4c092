//! The `archive` provider: files packed into one.

mod archive_request;
mod collect_entries;
mod data_source;
mod model;
mod resource;
mod write_archive;

use formwork_sdk::ProviderDef;

/// The provider.
#[must_use]
pub fn provider() -> ProviderDef {
    ProviderDef::new("registry.terraform.io/hashicorp/archive")
        .resource("archive_file", resource::ArchiveFileResource)
        .data_source("archive_file", data_source::ArchiveFileDataSource)
}

#[cfg(test)]
mod tests;
