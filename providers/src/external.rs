//! The `external` provider: programs as data sources.

mod data_source;

use formwork_sdk::ProviderDef;

/// The provider.
#[must_use]
pub fn provider() -> ProviderDef {
    ProviderDef::new("registry.terraform.io/hashicorp/external")
        .data_source("external", data_source::ExternalDataSource)
}
