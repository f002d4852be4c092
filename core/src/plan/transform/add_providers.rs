//! Adds a vertex for each provider configuration that something in the configuration or the state
//! uses. A configuration that is used but not written has only nulls.

use std::collections::{BTreeMap, BTreeSet};

use formwork_value::{Diagnostic, Diagnostics};

use crate::addr::ProviderConfigAddr;
use crate::phase::{ProviderVertex, config_of};
use crate::plan::build::{Inputs, provider_of};
use crate::plan::vertex::Vertex;

pub(in crate::plan) fn add<'c>(
    inputs: Inputs<'c>,
    diags: &mut Diagnostics,
    add: &mut dyn FnMut(Vertex<'c>),
) {
    let module = inputs.session.module();
    let written: BTreeMap<_, _> =
        module.providers.values().map(|block| (config_of(block), block)).collect();
    let mut used: BTreeSet<_> = module.resources.values().map(provider_of).collect();
    for (addr, state) in &inputs.session.state.resources {
        if module.resources.contains_key(&addr.resource) && addr.module.is_root() {
            continue;
        }
        if state.provider.alias.is_some() && !written.contains_key(&state.provider) {
            let _ = diags.error(missing(addr, &state.provider));
        } else {
            used.insert(state.provider.clone());
        }
    }
    for addr in used {
        let block = written.get(&addr).copied();
        add(Vertex::Provider(ProviderVertex { addr, block }));
    }
}

fn missing(resource: &dyn std::fmt::Display, provider: &ProviderConfigAddr) -> Diagnostic {
    Diagnostic::error(
        "Provider configuration not present",
        format!("To work with {resource} its original provider configuration at {provider} is required, but it has been removed. This occurs when a provider configuration is removed while objects created by that provider still exist in the state. Re-add the provider configuration to destroy {resource}, after which you can remove the provider configuration again."),
    )
    .about(resource.to_string())
}
