//! Capabilities of both sides. Absent means none beyond the base protocol.

use crate::capability::{ClientCapabilities, ServerCapabilities};
use crate::wire::generated::tfplugin6 as v6;

impl From<ServerCapabilities> for v6::ServerCapabilities {
    fn from(server: ServerCapabilities) -> Self {
        Self {
            plan_destroy: server.plan_destroy,
            get_provider_schema_optional: server.get_provider_schema_optional,
            move_resource_state: server.move_resource_state,
            generate_resource_config: server.generate_resource_config,
        }
    }
}

impl From<v6::ServerCapabilities> for ServerCapabilities {
    fn from(wire: v6::ServerCapabilities) -> Self {
        Self {
            plan_destroy: wire.plan_destroy,
            get_provider_schema_optional: wire.get_provider_schema_optional,
            move_resource_state: wire.move_resource_state,
            generate_resource_config: wire.generate_resource_config,
        }
    }
}

/// Writes the capabilities of the host. Protocol 5 has no field for the last two; its readers
/// ignore them.
pub(super) fn encode_client_capabilities(
    client: ClientCapabilities,
) -> Option<v6::ClientCapabilities> {
    Some(v6::ClientCapabilities {
        deferral_allowed: client.deferral_allowed,
        write_only_attributes_allowed: client.write_only_attributes_allowed,
        store_planned_private: client.store_planned_private,
        computed_blocks_allowed: client.computed_blocks_allowed,
    })
}

/// Reads the capabilities of the host.
pub(super) fn decode_client_capabilities(
    wire: Option<v6::ClientCapabilities>,
) -> ClientCapabilities {
    // Hosts of before 5.6 and 6.6 send none.
    let wire = wire.unwrap_or_default();
    ClientCapabilities {
        deferral_allowed: wire.deferral_allowed,
        write_only_attributes_allowed: wire.write_only_attributes_allowed,
        store_planned_private: wire.store_planned_private,
        computed_blocks_allowed: wire.computed_blocks_allowed,
    }
}
