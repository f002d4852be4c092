//! The `null` provider: objects that exist only in the dependency graph.

mod data_source;
mod resource;

use formwork_sdk::ProviderDef;

/// The provider.
#[must_use]
pub fn provider() -> ProviderDef {
    ProviderDef::new("registry.terraform.io/hashicorp/null")
        .resource("null_resource", resource::NullResource)
        .data_source("null_data_source", data_source::NullDataSource)
}

/// A random number that cannot be guessed, as a string.
fn random_number() -> String {
    // Within what a signed 64-bit reader takes.
    (rand::random::<u64>() >> 1).to_string()
}
