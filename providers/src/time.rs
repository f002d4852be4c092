//! The `time` provider.

use formwork_sdk::ProviderDef;

/// The provider.
#[must_use]
pub fn provider() -> ProviderDef {
    ProviderDef::new("registry.terraform.io/hashicorp/time")
}
