//! The `http` provider: responses of HTTP servers.

mod data_source;
mod redirected_body;
mod send_request;

use formwork_sdk::ProviderDef;

/// The provider.
#[must_use]
pub fn provider() -> ProviderDef {
    ProviderDef::new("registry.terraform.io/hashicorp/http")
        .data_source("http", data_source::HttpDataSource)
}
