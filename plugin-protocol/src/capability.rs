//! Capabilities of each side beyond the base protocol.

/// Capabilities of a provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerCapabilities {
    /// Wants to plan deletions too.
    pub plan_destroy: bool,
    /// Works in processes that have not served GetProviderSchema.
    pub get_provider_schema_optional: bool,
    /// Moves state from other resource types.
    pub move_resource_state: bool,
    /// Writes configuration for existing objects.
    pub generate_resource_config: bool,
}

/// Capabilities of the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCapabilities {
    /// The provider may defer.
    pub deferral_allowed: bool,
    /// Write-only attributes may be in the configuration.
    pub write_only_attributes_allowed: bool,
    /// Planned private data survives to apply on its own (6.11).
    pub store_planned_private: bool,
    /// Blocks may be computed (6.11).
    pub computed_blocks_allowed: bool,
}
