//! Objects that have another address than before: by `moved` blocks, or as the first instance of an
//! object that became repeated or no longer is. A pure transformation of the state, before anything
//! is planned.
//!
//! Whether the blocks are consistent is checked only when all instances are known; until then an
//! object without a valid destination is not moved.

mod apply;
mod endpoint;
mod order;
mod statement;
#[cfg(test)]
mod tests;
mod validate;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Str};

use crate::addr::{ConfigResourceAddr, InstanceAddr, ProviderAddr, ProviderConfigAddr, Target};
use crate::config::Config;
use crate::messages;
use crate::state::{InstanceState, State};

pub(crate) use validate::DeclaredObjects;

use statement::MoveStatement;

/// The former type and provider of an object that became one of another resource type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FormerResource {
    /// The resource type.
    pub(crate) kind: Str,
    /// The provider it belonged to.
    pub(crate) provider: ProviderAddr,
    /// The block in which the move is written.
    pub(crate) span: Option<Span>,
}

/// The completed moves, and the blocked ones.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    statements: Vec<MoveStatement>,
    /// The former address of each moved instance, by its current one.
    origins: BTreeMap<InstanceAddr, InstanceAddr>,
    /// Objects that stayed because their destination is occupied, with that destination.
    blocked: BTreeMap<Target, Target>,
    /// The resource type that an object was stored as, where it moved to another one.
    retyped: BTreeMap<InstanceAddr, FormerResource>,
    /// The names that resources have now, by the one that they had.
    renamed: BTreeMap<ConfigResourceAddr, BTreeSet<ConfigResourceAddr>>,
}

/// Returns the current address of the object of an instance: its own, unless the object has moved.
/// This also applies to an object that no state contains.
#[must_use]
pub fn current_address(
    config: &Config,
    addr: &InstanceAddr,
    provider: &ProviderConfigAddr,
) -> InstanceAddr {
    let mut state_of_instance = State::default();
    let instance = InstanceState::default();
    state_of_instance
        .resource_or_insert(addr.resource_addr(), provider)
        .instances
        .insert(addr.key.clone(), instance);
    let (_, state) = Moves::apply_all_moves(config, &state_of_instance);
    let mut all = state.resources.iter();
    let first = all.next().and_then(|(resource, resource_state)| {
        resource_state.instances.keys().next().map(|key| resource.instance_addr(key.clone()))
    });
    first.unwrap_or_else(|| addr.clone())
}

/// Returns a state after all moves.
#[must_use]
pub fn state_after_moves(config: &Config, state: &State) -> State {
    Moves::apply_all_moves(config, state).1
}

/// Whether a move transfers the object at one address of a state to another, together with all other
/// moves: an existing object at the destination blocks it.
#[must_use]
pub fn is_moved_to(config: &Config, state: &State, from: &InstanceAddr, to: &InstanceAddr) -> bool {
    Moves::apply_all_moves(config, state).0.original_address(to) == Some(from)
}

impl Moves {
    /// Moves the objects of a state. Returns the moves, and the state after.
    pub(crate) fn apply_all_moves(config: &Config, state: &State) -> (Self, State) {
        let mut state = state.clone();
        let statements = statement::collect_statements(config, &state);
        let mut moves = Self { statements, ..Self::default() };
        // Statements in a cycle have no order. This is reported when all instances are known.
        if let Ok(order) = order::order_statements(&moves.statements) {
            for at in order {
                // A copy, because the same table records the results of the statement.
                apply::apply_statement(&moves.statements[at].clone(), &mut state, &mut moves);
            }
        }
        for (to, from) in &moves.origins {
            let (from, to) = (from.resource_addr().config_addr(), to.resource_addr().config_addr());
            // Dependencies name no keys, so a move between instances of one resource renames
            // nothing.
            if from != to {
                moves.renamed.entry(from).or_default().insert(to);
            }
        }
        (moves, state)
    }

    /// Returns the address of an instance before it moved, if it did.
    pub(crate) fn original_address(&self, addr: &InstanceAddr) -> Option<&InstanceAddr> {
        self.origins.get(addr)
    }

    /// Returns the dependencies of an object, with the current names of these resources beside the
    /// former ones.
    pub(crate) fn renamed_dependencies(
        &self,
        dependencies: &Arc<Vec<ConfigResourceAddr>>,
    ) -> Arc<Vec<ConfigResourceAddr>> {
        let renamed =
            dependencies.iter().filter_map(|dependency| self.renamed.get(dependency)).flatten();
        let mut all: BTreeSet<&ConfigResourceAddr> = renamed.collect();
        if all.is_empty() {
            return dependencies.clone();
        }
        all.extend(dependencies.iter());
        Arc::new(all.into_iter().cloned().collect())
    }

    /// Returns the former type of the object of an instance, if it was stored as another resource
    /// type.
    pub(crate) fn former_resource(&self, addr: &InstanceAddr) -> Option<&FormerResource> {
        self.retyped.get(addr)
    }

    /// Refuses targets of which one end of a move is part and the other is not: the object would
    /// appear to be deleted, or to appear from nowhere.
    ///
    /// # Errors
    /// Returns an error if a target or exclusion separates the ends of a move.
    pub(crate) fn check_moves_within_targets(
        &self,
        diags: &mut Diagnostics,
        targets: &[Target],
    ) -> Result<(), Reported> {
        if targets.is_empty() {
            return Ok(());
        }
        let ends = self.origins.iter().flat_map(|(to, from)| [from, to]);
        let mut excluded: Vec<&InstanceAddr> =
            ends.filter(|end| !targets.iter().any(|target| target.contains(end))).collect();
        excluded.sort();
        excluded.dedup();
        if excluded.is_empty() {
            return Ok(());
        }
        let options: String = excluded
            .iter()
            .map(|addr| format!("\n  -target={}", crate::addr::quote_string(&addr.to_string())))
            .collect();
        let detail = format!(
            "Objects in the state have other addresses in the configuration, and the -target options \
             name only one end of these moves. Plan without -target, or add these options:{options}\n\n\
             The plan then also includes the dependencies of these objects."
        );
        let summary = messages::MOVED_RESOURCE_INSTANCES_EXCLUDED_BY_TARGETING;
        Err(diags.error(Diagnostic::error(summary, detail)))
    }

    /// Warns of objects that were not moved because another object has their new address.
    pub(crate) fn warn_of_blocked_moves(&self, diags: &mut Diagnostics) {
        if self.blocked.is_empty() {
            return;
        }
        let list: String = self
            .blocked
            .iter()
            .map(|(actual, wanted)| format!("\n  - {actual} could not move to {wanted}"))
            .collect();
        let detail = format!(
            "The configuration moves these objects to other addresses, but the state has other objects \
             at those addresses:{list}\n\nThe plan destroys these objects. To keep them, first free \
             the addresses with the \"formwork state\" commands, and plan again."
        );
        let summary = messages::UNRESOLVED_RESOURCE_INSTANCE_ADDRESS_CHANGES;
        diags.warn(Diagnostic::warning(summary, detail));
    }
}
