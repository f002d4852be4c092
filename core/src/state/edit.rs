//! Changes to a state that a user requests by address. Pure: reads and stores no file, and calls no
//! provider about the real objects.

mod moves;
mod push;
mod status;
#[cfg(test)]
mod tests;

pub use moves::{MovedObjects, StateMove, StatesOfMove, plan_moves, put_objects, take_objects};
pub use push::{PushRefusal, check_push};
pub use status::set_object_status;

use std::sync::Arc;

use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::State;
use crate::addr::{InstanceAddr, ProviderAddr, ResourceAddr, Target};
use crate::messages;

/// The instances that a target picks, in the order of the state. None may be.
#[must_use]
pub fn matching_instances(state: &State, target: &Target) -> Vec<InstanceAddr> {
    let of = |addr: &ResourceAddr| -> Vec<InstanceAddr> {
        let keys = state
            .resources
            .get(addr)
            .into_iter()
            .flat_map(|resource_state| resource_state.instances.keys());
        keys.map(|key| addr.instance_addr(key.clone())).collect()
    };
    match target {
        Target::Instance(addr) => {
            // Looked up, as scripts name every instance of a large resource.
            let resource_state = state.resources.get(&addr.resource_addr());
            let is_held = resource_state
                .is_some_and(|resource_state| resource_state.instances.contains_key(&addr.key));
            is_held.then(|| addr.clone()).into_iter().collect()
        }
        Target::Resource(addr) => of(addr),
        Target::Module(_) => state
            .resources
            .keys()
            .filter(|addr| target.may_contain_resource(addr))
            .flat_map(of)
            .collect(),
    }
}

/// The instances that a target selects.
///
/// # Errors
/// When the target selects no instance.
pub fn require_matching_instances(
    diags: &mut Diagnostics,
    state: &State,
    target: &Target,
) -> Result<Vec<InstanceAddr>, Reported> {
    let instances = matching_instances(state, target);
    if !instances.is_empty() {
        return Ok(instances);
    }
    let (summary, detail) = match target {
        Target::Module(addr) => (
            messages::UNKNOWN_MODULE,
            format!(
                "The current state contains no module at {addr}. If you've just added this module to \
                 the configuration, you must run \"formwork apply\" first to create the module's \
                 entry in the state."
            ),
        ),
        Target::Instance(addr) if state.resources.contains_key(&addr.resource_addr()) => (
            messages::UNKNOWN_RESOURCE_INSTANCE,
            format!(
                "The current state contains no resource instance {addr}. If you've just added its \
                 resource to the configuration or have changed the count or for_each arguments, you \
                 must run \"formwork apply\" first to update the resource's entry in the state."
            ),
        ),
        Target::Resource(_) | Target::Instance(_) => (
            messages::UNKNOWN_RESOURCE,
            format!(
                "The current state contains no resource {target}. If you've just added this resource \
                 to the configuration, you must run \"formwork apply\" first to create the \
                 resource's entry in the state."
            ),
        ),
    };
    Err(diags.error(Diagnostic::error(summary, detail)))
}

/// Forgets an instance with all its objects. They go on to exist, unmanaged.
pub fn remove_instance(state: &mut State, addr: &InstanceAddr) {
    let resource = addr.resource_addr();
    let Some(resource_state) = state.resources.get_mut(&resource) else { return };
    let resource_state = Arc::make_mut(resource_state);
    resource_state.instances.remove(&addr.key);
    if resource_state.instances.is_empty() {
        state.resources.remove(&resource);
    }
}

/// The resources that belong to a provider, in the order of the state.
#[must_use]
pub fn resources_of_provider(state: &State, provider: &ProviderAddr) -> Vec<ResourceAddr> {
    let theirs = state
        .resources
        .iter()
        .filter(|(_, resource_state)| resource_state.provider.provider == *provider);
    theirs.map(|(addr, _)| addr.clone()).collect()
}

/// Replaces the provider of resources. Modules and aliases of the provider configurations do not change.
pub fn replace_provider(state: &mut State, from: &ProviderAddr, to: &ProviderAddr) {
    for resource_state in state
        .resources
        .values_mut()
        .filter(|resource_state| resource_state.provider.provider == *from)
    {
        Arc::make_mut(resource_state).provider.provider = to.clone();
    }
}
