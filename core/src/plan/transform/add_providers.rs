//! Adds a vertex for each provider configuration that something in the configuration or the state
//! uses. A configuration that is used but not written has only nulls.

use std::collections::BTreeSet;

use formwork_value::{Diagnostic, Diagnostics};

use crate::addr::{ProviderConfigAddr, ResourceMode};
use crate::messages;
use crate::plan::transform::TransformInputs;
use crate::plan::vertex::PlanVertex;
use crate::shared_graph::{self, written_providers};

pub(in crate::plan) fn add_providers<'c>(
    inputs: TransformInputs<'c>,
    diags: &mut Diagnostics,
    add: &mut dyn FnMut(PlanVertex<'c>),
) {
    let (config, state) = (inputs.session.config, inputs.session.state);
    let written = written_providers(config);
    let resources = config.all_resources();
    let mut used: BTreeSet<_> = resources
        .filter_map(|(node, resource)| config.provider_of_resource(node, resource))
        .collect();
    let orphans = inputs.adopted_orphans();
    let stored = state
        .resources
        .iter()
        .map(|(addr, resource_state)| (addr, &resource_state.provider, REMOVED_PROVIDER_DETAIL));
    let adopted = orphans.iter().map(|(addr, provider)| (addr, *provider, ADOPTED_PROVIDER_DETAIL));
    for (addr, provider, reason) in stored.chain(adopted) {
        // A resource with a block is done by the provider of the block, whatever the state names.
        if config.find_resource(&addr.config_addr()).is_some() || used.contains(provider) {
            continue;
        }
        // One without an alias exists implicitly in the root module.
        let implied = provider.alias.is_none() && provider.module.is_root();
        if implied || written.contains_key(provider) {
            used.insert(provider.clone());
        // Data sources that are only in the state are dropped without their provider.
        } else if addr.resource.mode() == ResourceMode::Managed {
            let _ = diags.error(missing_provider_error(addr, provider, reason));
        }
    }
    shared_graph::add_providers(config, used, add);
}

/// The cause of a missing provider configuration that an object needs, and the remedy.
const REMOVED_PROVIDER_DETAIL: &str = "This occurs when a provider configuration is removed while objects created by that provider still exist in the state. Re-add the provider configuration to destroy RESOURCE, after which you can remove the provider configuration again.";
const ADOPTED_PROVIDER_DETAIL: &str = "Re-add the provider configuration for as long as it takes to find the object. If it is not there, or is to stay out of the state, `formwork recover forget` settles that without a provider.";

fn missing_provider_error(
    resource: &dyn std::fmt::Display,
    provider: &ProviderConfigAddr,
    reason: &str,
) -> Diagnostic {
    let resource = resource.to_string();
    let reason = reason.replace("RESOURCE", &resource);
    let detail = format!(
        "To work with {resource} its original provider configuration at {provider} is required, but it has been removed. {reason}"
    );
    Diagnostic::error(messages::PROVIDER_CONFIGURATION_NOT_PRESENT, detail).about(resource)
}
