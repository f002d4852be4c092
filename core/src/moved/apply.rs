//! Makes one move in a state. If the destination is occupied, both objects stay in place.

use std::collections::BTreeSet;
use std::sync::Arc;

use formwork_value::Span;

use super::statement::Statement;
use super::{Moves, Source};
use crate::addr::{
    InstanceAddr, InstanceKey, Mode, ModuleAddr, ProviderAddr, ResourceAddr, ResourceName, Target,
};
use crate::state::{InstanceState, ResourceState, State};

/// Makes one move.
pub(super) fn one(statement: &Statement, state: &mut State, moves: &mut Moves) {
    if statement.from.is_module() {
        move_modules(statement, state, moves);
    } else {
        move_resources(statement, state, moves);
    }
}

/// The modules in which the state has resources.
fn modules(state: &State) -> BTreeSet<ModuleAddr> {
    state.resources.keys().map(|addr| addr.module.clone()).collect()
}

/// The resources in a module.
fn resources_in(state: &State, module: &ModuleAddr) -> Vec<ResourceAddr> {
    // No mode comes before this one, and no name before the empty one.
    let first = ResourceName::new(Mode::Data, "", "");
    let least = ResourceAddr { module: module.clone(), resource: first };
    let found = state.resources.range(least..).map(|(addr, _)| addr);
    found.take_while(|addr| addr.module == *module).cloned().collect()
}

fn move_modules(statement: &Statement, state: &mut State, moves: &mut Moves) {
    for module in modules(state) {
        let Some(to) = statement.from.destination_of_module(&statement.to, &module) else {
            continue;
        };
        if !resources_in(state, &to).is_empty() {
            moves.blocked.insert(Target::Module(module), Target::Module(to));
            continue;
        }
        for addr in resources_in(state, &module) {
            let to = ResourceAddr { module: to.clone(), resource: addr.resource.clone() };
            let moved = ResourceMove { from: &addr, to: &to, span: statement.span };
            move_resource(state, moves, moved);
        }
    }
}

fn move_resources(statement: &Statement, state: &mut State, moves: &mut Moves) {
    let (from, to) = (&statement.from, &statement.to);
    let Some(name) = from.resource() else { return };
    let modules = match from.exact_module() {
        Some(module) => vec![module],
        None => modules(state).into_iter().filter(|module| from.is_in(module)).collect(),
    };
    for module in modules {
        let addr = ResourceAddr { module, resource: name.clone() };
        let Some(held) = state.resources.get(&addr) else { continue };
        let keys: Vec<InstanceKey> = match from.instance_key() {
            Some(key) => vec![key.clone()],
            None => held.instances.keys().take(1).cloned().collect(),
        };
        // The first key stands for all where the whole resource moves: all go the same way.
        for key in keys {
            let instance = addr.instance(key.clone());
            let Some(target) = from.destination_of(to, &instance) else { continue };
            if from.instance_key().is_some() {
                let moved = InstanceMove { from: instance, to: target, span: statement.span };
                move_instance(state, moves, moved);
                continue;
            }
            let target = target.of();
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
    let Some(held) = state.resources.remove(from) else { return };
    let provider = &held.provider.provider;
    for key in held.instances.keys() {
        let (from, to) = (from.instance(key.clone()), to.instance(key.clone()));
        note(moves, InstanceMove { from, to, span }, provider);
    }
    state.resources.insert(to.clone(), held);
}

fn move_instance(state: &mut State, moves: &mut Moves, moved: InstanceMove) {
    let InstanceMove { from, to, span } = moved;
    let Some(held) = state.resources.get(&from.of()) else { return };
    if !held.instances.contains_key(&from.key) {
        return;
    }
    let taken = state.resources.get(&to.of());
    if taken.is_some_and(|taken| taken.instances.contains_key(&to.key)) {
        moves.blocked.insert(Target::Instance(from), Target::Instance(to));
        return;
    }
    let provider = held.provider.clone();
    let Some(instance) = take(state, &from) else { return };
    state.resource_mut(to.of(), &provider).instances.insert(to.key.clone(), instance);
    note(moves, InstanceMove { from, to, span }, &provider.provider);
}

fn take(state: &mut State, addr: &InstanceAddr) -> Option<InstanceState> {
    let resource = addr.of();
    let held: &mut ResourceState = Arc::make_mut(state.resources.get_mut(&resource)?);
    let instance = held.instances.remove(&addr.key);
    if held.instances.is_empty() {
        state.resources.remove(&resource);
    }
    instance
}

/// Takes down where an instance was. Of a chain of moves only the first end counts.
fn note(moves: &mut Moves, moved: InstanceMove, provider: &ProviderAddr) {
    let InstanceMove { from, to, span } = moved;
    let origin = moves.origins.remove(&from).unwrap_or_else(|| from.clone());
    let source = moves.retyped.remove(&from).unwrap_or_else(|| Source {
        kind: from.resource.kind().clone(),
        provider: provider.clone(),
        span,
    });
    if source.kind != *to.resource.kind() {
        moves.retyped.insert(to.clone(), source);
    }
    // A move there and back is none.
    if origin != to {
        moves.origins.insert(to, origin);
    }
}
