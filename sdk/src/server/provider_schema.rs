//! Answers about the definition of the provider: capabilities, schemas, and errors in it.

use formwork_plugin_protocol::capability::ServerCapabilities;
use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_plugin_protocol::message::schema::{Metadata, ProviderSchema};
use formwork_value::diag::Severity;
use formwork_value::{Path, Schema};

use super::Server;
use crate::schema::Shape;

const SERVER_CAPABILITIES: ServerCapabilities = ServerCapabilities {
    // Without it a host plans destruction itself, as null. `modify_plan` is not called for it.
    plan_destroy: false,
    // Hosts may start further processes without requesting the schema again, which saves most of
    // the start time of a large provider.
    get_provider_schema_optional: true,
    move_resource_state: true,
    // Hosts then generate the configuration of imports from schema and object, which the rules of
    // the model allow.
    generate_resource_config: false,
};

impl Server {
    /// The schemas of everything that the provider offers.
    pub(super) fn provider_schema(&self) -> ProviderSchema {
        let resources = self.provider.resources.iter();
        let data_sources = self.provider.data_sources.iter();
        let ephemeral = self.provider.ephemeral.iter();
        ProviderSchema {
            provider: versioned_schema(0, self.provider.configure.shape()),
            provider_meta: self.provider.meta.as_ref().map(|meta| versioned_schema(0, meta)),
            resources: resources
                .map(|(name, resource)| {
                    (name.clone(), versioned_schema(resource.version(), resource.shape()))
                })
                .collect(),
            data_sources: data_sources
                .map(|(name, data_source)| (name.clone(), versioned_schema(0, data_source.shape())))
                .collect(),
            ephemeral_resources: ephemeral
                .map(|(name, ephemeral)| (name.clone(), versioned_schema(0, ephemeral.shape())))
                .collect(),
            list_resources: self
                .provider
                .lists
                .iter()
                .map(|(name, list)| (name.clone(), versioned_schema(0, list.shape())))
                .collect(),
            actions: self
                .provider
                .actions
                .iter()
                .map(|(name, action)| (name.clone(), versioned_schema(0, action.shape())))
                .collect(),
            state_stores: self
                .provider
                .state_stores
                .iter()
                .map(|(name, store)| (name.clone(), versioned_schema(0, store.shape())))
                .collect(),
            functions: self.function_signatures(),
            capabilities: SERVER_CAPABILITIES,
            // Reported here and not by a panic in `main`: the host shows diagnostics of the schema,
            // while a process that ends before the handshake gives the user no reason.
            diagnostics: self
                .provider
                .mistakes
                .iter()
                .map(|mistake| definition_error(mistake))
                .collect(),
        }
    }

    /// The names of everything that the provider offers.
    pub(super) fn metadata(&self) -> Metadata {
        Metadata {
            capabilities: SERVER_CAPABILITIES,
            resources: self.provider.resources.keys().cloned().collect(),
            data_sources: self.provider.data_sources.keys().cloned().collect(),
            ephemeral_resources: self.provider.ephemeral.keys().cloned().collect(),
            functions: self.provider.functions.keys().cloned().collect(),
            list_resources: self.provider.lists.keys().cloned().collect(),
            actions: self.provider.actions.keys().cloned().collect(),
            state_stores: self.provider.state_stores.keys().cloned().collect(),
            ..Metadata::default()
        }
    }
}

fn versioned_schema(version: u64, shape: &Shape) -> Schema {
    Schema { version, block: shape.block.clone() }
}

/// An error in the provider's definition.
fn definition_error(mistake: &str) -> ProviderDiagnostic {
    ProviderDiagnostic {
        severity: Severity::Error,
        summary: "Provider produced invalid schema".to_owned(),
        detail: format!("In this provider {mistake}. This is a bug in the provider."),
        path: Path::root(),
        code: None,
    }
}
