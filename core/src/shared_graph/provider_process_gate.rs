//! Tracks the period in which each provider configuration is in use: from its vertex to its last
//! user, with any outcome. If the number of concurrent plugins is limited, a
//! configuration starts when a slot is free. Starting and ending plugins is the pool's business.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::{PhaseVertex, VertexKind as _};
use crate::addr::ProviderConfigAddr;
use crate::graph::VertexId;
use crate::graph::walk_gate::WalkGate;
use crate::provider::ProviderPool;

/// Configurations that have a slot, and vertices that still need one.
pub(crate) struct ProviderProcessGate<'p, 'l> {
    pool: &'p ProviderPool<'l>,
    /// The configuration that a vertex is or uses, by vertex.
    uses: Vec<Option<usize>>,
    users: RefCell<Vec<ProviderConfigUsage<'p>>>,
    n_slots_taken: Cell<usize>,
}

struct ProviderConfigUsage<'p> {
    addr: &'p ProviderConfigAddr,
    /// Number of vertices still to pass: the one that configures, and those that use it.
    n_left: usize,
    has_slot: bool,
}

impl<'p, 'l> ProviderProcessGate<'p, 'l> {
    /// Records the configuration that each vertex is or uses.
    pub(crate) fn from_vertices<'c: 'p, V: PhaseVertex<'c>>(
        pool: &'p ProviderPool<'l>,
        vertices: &'p [V],
    ) -> Self {
        // The built-in provider needs no process, and so no slot.
        let opened = vertices
            .iter()
            .filter_map(|vertex| Some((vertex.opened_ephemeral()?, vertex.provider_config()?)));
        let opened: BTreeMap<_, _> = opened.collect();
        let mut numbers = BTreeMap::new();
        let mut users: Vec<ProviderConfigUsage<'p>> = Vec::new();
        let uses = vertices.iter().map(|vertex| {
            // The end of an ephemeral resource is a use as well: closing needs the provider.
            let part = match (vertex.as_provider(), vertex.closed_ephemeral()) {
                (Some(provider), _) => Some(&provider.addr),
                (None, Some(addr)) => opened.get(addr).copied(),
                (None, None) => vertex.provider_config(),
            };
            let addr = part.filter(|addr| !addr.provider.is_builtin())?;
            let number = *numbers.entry(addr).or_insert(users.len());
            if number == users.len() {
                users.push(ProviderConfigUsage { addr, n_left: 0, has_slot: false });
            }
            users[number].n_left += 1;
            Some(number)
        });
        let uses = uses.collect();
        Self { pool, uses, users: RefCell::new(users), n_slots_taken: Cell::new(0) }
    }

    fn reserve_process(&self, user: &mut ProviderConfigUsage<'p>) {
        user.has_slot = true;
        self.n_slots_taken.set(self.n_slots_taken.get() + 1);
    }
}

impl WalkGate for ProviderProcessGate<'_, '_> {
    fn may_start(&self, id: VertexId) -> bool {
        let Some(number) = self.uses[id.index()] else { return true };
        let user = &mut self.users.borrow_mut()[number];
        // A configuration with a slot admits all its users, even at the limit. Otherwise users of
        // one provider could wait for each other.
        if user.has_slot {
            return true;
        }
        let is_full =
            self.pool.max_processes().is_some_and(|limit| self.n_slots_taken.get() >= limit);
        if !is_full {
            self.reserve_process(user);
        }
        !is_full
    }

    fn force_start(&self, id: VertexId) {
        if let Some(number) = self.uses[id.index()] {
            let user = &mut self.users.borrow_mut()[number];
            let addr = user.addr;
            // All slots can be held by configurations whose users wait for this one. The limit
            // saves memory and must never block a run.
            tracing::info!(provider = %addr, "starts beyond the limit, for nothing else can go on");
            self.reserve_process(user);
        }
    }

    fn on_finished(&self, id: VertexId) -> bool {
        let Some(number) = self.uses[id.index()] else { return false };
        let user = &mut self.users.borrow_mut()[number];
        user.n_left -= 1;
        // Vertices that were skipped pass as well, so the count reaches zero after failures too.
        if user.n_left > 0 || !user.has_slot {
            return false;
        }
        user.has_slot = false;
        self.n_slots_taken.set(self.n_slots_taken.get() - 1);
        self.pool.release_config(user.addr);
        true
    }
}
