//! Applies a move to a state. If the destination is occupied, neither object is moved.

use std::collections::BTreeSet;
use std::sync::Arc;

use formwork_value::Span;

use super::statement::MoveStatement;
use super::{FormerResource, Moves};
use crate::addr::{
    InstanceAddr, InstanceKey, ModuleAddr, ProviderAddr, ResourceAddr, ResourceMode, ResourceName,
    Target,
};
use crate::state::{InstanceState, ResourceState, State};

/// Applies a move.
pub(super) fn apply_statement(statement: &MoveStatement, state: &mut State, moves: &mut Moves) {
    if statement.from.is_module() {
        move_modules(statement, state, moves);
    } else {
        move_resources(statement, state, moves);
    }
}

/// The modules in which the state has resources.
fn modules_in_state(state: &State) -> BTreeSet<ModuleAddr> {
    state.resources.keys().map(|addr| addr.module.clone()).collect()
}

/// The resources in a module.
fn resources_in_module(state: &State, module: &ModuleAddr) -> Vec<ResourceAddr> {
    // No mode comes before this one, and no name before the empty one.
    let first = ResourceName::new(ResourceMode::Data, "", "");
    let least = ResourceAddr { module: module.clone(), resource: first };
    let addrs = state.resources.range(least..).map(|(addr, _)| addr);
    addrs.take_while(|addr| addr.module == *module).cloned().collect()
}

fn move_modules(statement: &MoveStatement, state: &mut State, moves: &mut Moves) {
    for module in modules_in_state(state) {
        let Some(to) = statement.from.destination_of_module(&statement.to, &module) else {
            continue;
        };
        if !resources_in_module(state, &to).is_empty() {
            moves.blocked.insert(Target::Module(module), Target::Module(to));
            continue;
        }
        for addr in resources_in_module(state, &module) {
            let to = ResourceAddr { module: to.clone(), resource: addr.resource.clone() };
            let moved = ResourceMove { from: &addr, to: &to, span: statement.span };
            move_resource(state, moves, moved);
        }
    }
}

fn move_resources(statement: &MoveStatement, state: &mut State, moves: &mut Moves) {
    let (from, to) = (&statement.from, &statement.to);
    let Some(name) = from.resource_name() else { return };
    let modules = match from.exact_module() {
        Some(module) => vec![module],
        None => modules_in_state(state)
            .into_iter()
            .filter(|module| from.names_resource_in_module(module))
            .collect(),
    };
    for module in modules {
        let addr = ResourceAddr { module, resource: name.clone() };
        let Some(resource_state) = state.resources.get(&addr) else { continue };
        let keys: Vec<InstanceKey> = match from.instance_key() {
            Some(key) => vec![key.clone()],
            None => resource_state.instances.keys().take(1).cloned().collect(),
        };
        // If the whole resource moves, the first key represents all: they have the same destination.
        for key in keys {
            let instance = addr.instance_addr(key.clone());
            let Some(target) = from.destination_of(to, &instance) else { continue };
            if from.instance_key().is_some() {
                let moved = InstanceMove { from: instance, to: target, span: statement.span };
                move_instance(state, moves, moved);
                continue;
            }
            let target = target.resource_addr();
            if state.resources.contains_key(&target) {
                moves.blocked.insert(Target::Resource(addr.clone()), Target::Resource(target));
            } else {
                let moved = ResourceMove { from: &addr, to: &target, span: statement.span };
                move_resource(state, moves, moved);
            }
        }
    }
}

/// A move of a resource with all its instances.
#[derive(Clone, Copy)]
struct ResourceMove<'a> {
    from: &'a ResourceAddr,
    to: &'a ResourceAddr,
    span: Option<Span>,
}

/// A move of one instance.
struct InstanceMove {
    from: InstanceAddr,
    to: InstanceAddr,
    span: Option<Span>,
}

fn move_resource(state: &mut State, moves: &mut Moves, moved: ResourceMove<'_>) {
    let ResourceMove { from, to, span } = moved;
    let Some(resource_state) = state.resources.remove(from) else { return };
    let provider = &resource_state.provider.provider;
    for key in resource_state.instances.keys() {
        let (from, to) = (from.instance_addr(key.clone()), to.instance_addr(key.clone()));
        record_move(moves, InstanceMove { from, to, span }, provider);
    }
    state.resources.insert(to.clone(), resource_state);
}

fn move_instance(state: &mut State, moves: &mut Moves, moved: InstanceMove) {
    let InstanceMove { from, to, span } = moved;
    let Some(source) = state.resources.get(&from.resource_addr()) else { return };
    if !source.instances.contains_key(&from.key) {
        return;
    }
    let destination = state.resources.get(&to.resource_addr());
    if destination.is_some_and(|destination| destination.instances.contains_key(&to.key)) {
        moves.blocked.insert(Target::Instance(from), Target::Instance(to));
        return;
    }
    let provider = source.provider.clone();
    let Some(instance) = take_instance(state, &from) else { return };
    state
        .resource_or_insert(to.resource_addr(), &provider)
        .instances
        .insert(to.key.clone(), instance);
    record_move(moves, InstanceMove { from, to, span }, &provider.provider);
}

fn take_instance(state: &mut State, addr: &InstanceAddr) -> Option<InstanceState> {
    let resource = addr.resource_addr();
    let resource_state: &mut ResourceState = Arc::make_mut(state.resources.get_mut(&resource)?);
    let instance = resource_state.instances.remove(&addr.key);
    if resource_state.instances.is_empty() {
        state.resources.remove(&resource);
    }
    instance
}

/// Records the former address of an instance. Of a chain of moves, only the first address is recorded.
fn record_move(moves: &mut Moves, moved: InstanceMove, provider: &ProviderAddr) {
    let InstanceMove { from, to, span } = moved;
    let origin = moves.origins.remove(&from).unwrap_or_else(|| from.clone());
    let source = moves.retyped.remove(&from).unwrap_or_else(|| FormerResource {
        kind: from.resource.resource_type().clone(),
        provider: provider.clone(),
        span,
    });
    if source.kind != *to.resource.resource_type() {
        moves.retyped.insert(to.clone(), source);
    }
    // A move there and back is none.
    if origin != to {
        moves.origins.insert(to, origin);
    }
}
