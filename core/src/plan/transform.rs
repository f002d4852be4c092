//! The steps that build the plan graph, one per file, and their order.
//!
//! Within `add` and `connect` the order does not matter. An `Add` works from configuration and state
//! alone and cannot see edges; a `Connect` cannot add a vertex; a `Prune` can only remove.

mod add_orphans;
mod add_providers;
mod add_resources;
pub(super) mod connect_references;
mod prune_excluded;
mod prune_for_destroy;
pub(super) mod prune_targets;
pub(super) mod read_ahead;

use std::collections::BTreeMap;

use formwork_value::Diagnostics;

use super::Options;
use super::vertex::Vertex;
use crate::addr::{ProviderConfigAddr, ResourceAddr};
use crate::config::Config;
use crate::graph::{Draft, Edges};
use crate::session::Session;
use crate::shared_graph::{self, EdgeReason, Names};

/// Inputs of every transform.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'c> {
    pub(super) session: &'c Session<'c>,
    pub(super) options: &'c Options,
}

impl<'c> Inputs<'c> {
    /// The resources that neither configuration nor state has and of which an object is to be taken in,
    /// each once, and by which configuration of its provider it is found.
    pub(super) fn adopted_orphans(self) -> BTreeMap<ResourceAddr, &'c ProviderConfigAddr> {
        let Self { session, options } = self;
        let adopted = options.adoptions.iter();
        let adopted = adopted.filter_map(|(addr, it)| Some((addr.of(), it.unwritten.as_ref()?)));
        let is_new = |addr: &ResourceAddr| {
            session.config.resource(&addr.config()).is_none()
                && !session.state.resources.contains_key(addr)
        };
        adopted.filter(|(addr, _)| is_new(addr)).collect()
    }
}

/// Adds vertices.
pub(super) type Add = for<'c> fn(Inputs<'c>, &mut Diagnostics, &mut dyn FnMut(Vertex<'c>));
/// Adds edges.
pub(super) type Connect = for<'c> fn(&'c Config, &[Vertex<'c>], &Names, &mut Edges<EdgeReason>);
/// Says which vertices stay.
pub(super) type Prune = for<'c> fn(Inputs<'c>, &Draft<Vertex<'c>, EdgeReason>) -> Vec<bool>;
/// Adds vertices and edges for the vertices that stay.
pub(super) type Complete = for<'c> fn(&mut Draft<Vertex<'c>, EdgeReason>);

/// The steps of building a graph, in order. The kinds are the guarantee: see the types of their functions.
#[derive(Clone, Copy)]
pub(super) struct Steps<'s> {
    pub(super) add: &'s [Add],
    pub(super) connect: &'s [Connect],
    pub(super) prune: &'s [Prune],
    pub(super) complete: &'s [Complete],
}

/// All steps of the graph of a plan. Then `core/src/plan/build.rs` loads the providers that the graph needs and freezes
/// it. At last, when everything is computed that depends on the graph,
/// `core/src/plan/transform/read_ahead.rs` adds vertices that read objects early.
pub(super) const STEPS: Steps<'_> = Steps {
    add: &[
        |inputs, _, add| shared_graph::add_values(inputs.session.config, add),
        |inputs, _, add| shared_graph::add_calls(inputs.session.config, add),
        add_providers::add,
        add_resources::add,
        add_orphans::add,
    ],
    connect: &[
        connect_references::connect,
        |config, vertices, names, edges| {
            shared_graph::connect_modules(config, vertices, names, edges);
        },
        |_, vertices, names, edges| shared_graph::connect_providers(vertices, names, edges),
    ],
    prune: &[prune_for_destroy::prune, prune_targets::prune, prune_excluded::prune],
    complete: &[|draft| shared_graph::close_ephemeral(draft)],
};

/// The steps whose result does not depend on the limits of a plan.
pub(super) const WHOLE: Steps<'_> = Steps { prune: &[], complete: &[], ..STEPS };
