//! Adds a vertex for each resource of the configuration, with its part of the state.

use std::collections::BTreeMap;

use formwork_value::Diagnostics;

use crate::addr::{ConfigResourceAddr, ModuleAddr};
use crate::config::{Config, ImportBlock};
use crate::plan::PlanMode;
use crate::plan::resource_vertex::ResourceVertex;
use crate::plan::transform::TransformInputs;
use crate::plan::vertex::PlanVertex;
use crate::state::{ResourceState, State};

pub(in crate::plan) fn add_resources<'c>(
    inputs: TransformInputs<'c>,
    _: &mut Diagnostics,
    add: &mut dyn FnMut(PlanVertex<'c>),
) {
    let config = inputs.session.config;
    let mut prior = state_by_resource(inputs.session.state);
    // A refresh or a destruction takes no new object in.
    let mut imports = match inputs.options.mode {
        PlanMode::Normal if !inputs.options.before_destroy => imports_by_resource(config),
        PlanMode::Normal | PlanMode::Destroy | PlanMode::RefreshOnly => BTreeMap::new(),
    };
    for (node, resource) in config.all_resources() {
        // A reference to a missing configuration was refused when it was read.
        let Some(provider) = config.provider_of_resource(node, resource) else { continue };
        let (module, name) = (node.path.clone(), resource.name.clone());
        let addr = ConfigResourceAddr { module, resource: name };
        let prior = prior.remove(&addr).unwrap_or_default();
        let imports = imports.remove(&addr).unwrap_or_default();
        let generated = !node.module.resources.contains_key(&resource.name);
        let config = resource;
        let resource = ResourceVertex { addr, node, config, generated, provider, imports, prior };
        add(resource.into());
    }
}

/// Returns the imports, by the resource that they import into.
fn imports_by_resource(config: &Config) -> BTreeMap<ConfigResourceAddr, Vec<&ImportBlock>> {
    let mut imports: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for import in &config.root.imports {
        imports.entry(import.config_addr()).or_default().push(import);
    }
    imports
}

/// Returns the part of the state of each resource, by module instance.
fn state_by_resource(
    state: &State,
) -> BTreeMap<ConfigResourceAddr, Vec<(&ModuleAddr, &ResourceState)>> {
    let mut resources: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (addr, resource) in &state.resources {
        resources.entry(addr.config_addr()).or_default().push((&addr.module, &**resource));
    }
    resources
}
