//! Answers about the definition of the provider: capabilities, schemas, and errors in it.

use formwork_plugin_protocol::capability::ServerCapabilities;
use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_value::diag::Severity;
use formwork_value::{Path, Schema};

use crate::schema::Shape;

pub(super) const CAPABILITIES: ServerCapabilities = ServerCapabilities {
    // Without it a host plans destruction itself, by null. `modify_plan` has nothing to say about
    // it.
    plan_destroy: false,
    // Hosts may start further processes without requesting the schema again, which saves most of
    // the start time of a large provider.
    get_provider_schema_optional: true,
    move_resource_state: true,
    // Hosts then generate the configuration of imports from schema and object, which the rules of
    // the model allow.
    generate_resource_config: false,
};

pub(super) fn schema(version: u64, shape: &Shape) -> Schema {
    Schema { version, block: shape.block.clone() }
}

/// An error in the provider's definition.
pub(super) fn wrong(mistake: &str) -> ProviderDiagnostic {
    ProviderDiagnostic {
        severity: Severity::Error,
        summary: "Provider produced invalid schema".to_owned(),
        detail: format!("In this provider {mistake}. This is a bug in the provider."),
        path: Path::root(),
    }
}
