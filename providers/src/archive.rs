//! The `archive` provider: files packed into one.

mod collect;
mod data_source;
mod file;
mod model;
mod pack;
mod resource;

use formwork_sdk::ProviderDef;

/// The provider.
#[must_use]
pub fn provider() -> ProviderDef {
    ProviderDef::new("registry.terraform.io/hashicorp/archive")
        .resource("archive_file", resource::ArchiveFileResource)
        .data_source("archive_file", data_source::ArchiveFileSource)
}

#[cfg(test)]
mod tests;
