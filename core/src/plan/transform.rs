//! The steps that build the plan graph, one per file, and their order.
//!
//! Within `add` and `connect` the order does not matter. An `AddingTransform` works from configuration and state
//! alone and cannot see edges; a `ConnectingTransform` cannot add a vertex; a `PruningTransform` can only remove.

mod add_orphans;
mod add_providers;
pub(super) mod add_read_vertices;
mod add_resources;
pub(super) mod connect_references;
mod prune_excluded;
mod prune_for_destroy;
pub(super) mod prune_targets;

use std::collections::BTreeMap;

use formwork_value::Diagnostics;

use super::PlanOptions;
use super::vertex::PlanVertex;
use crate::addr::{ProviderConfigAddr, ResourceAddr};
use crate::config::Config;
use crate::graph::{Edges, GraphDraft};
use crate::session::Session;
use crate::shared_graph::{self, EdgeReason, VertexLookup};

/// Inputs of every transform.
#[derive(Clone, Copy)]
pub(super) struct TransformInputs<'c> {
    pub(super) session: &'c Session<'c>,
    pub(super) options: &'c PlanOptions,
}

impl<'c> TransformInputs<'c> {
    /// The resources that neither configuration nor state has and of which an object is to be taken in,
    /// each once, and by which configuration of its provider it is found.
    pub(super) fn adopted_orphans(self) -> BTreeMap<ResourceAddr, &'c ProviderConfigAddr> {
        let Self { session, options } = self;
        let adopted = options.adoptions.iter();
        let adopted =
            adopted.filter_map(|(addr, it)| Some((addr.resource_addr(), it.unwritten.as_ref()?)));
        let is_new = |addr: &ResourceAddr| {
            session.config.find_resource(&addr.config_addr()).is_none()
                && !session.state.resources.contains_key(addr)
        };
        adopted.filter(|(addr, _)| is_new(addr)).collect()
    }
}

/// Adds vertices.
pub(super) type AddingTransform =
    for<'c> fn(TransformInputs<'c>, &mut Diagnostics, &mut dyn FnMut(PlanVertex<'c>));
/// Adds edges.
pub(super) type ConnectingTransform =
    for<'c> fn(&'c Config, &[PlanVertex<'c>], &VertexLookup, &mut Edges<EdgeReason>);
/// Says which vertices stay.
pub(super) type PruningTransform =
    for<'c> fn(TransformInputs<'c>, &GraphDraft<PlanVertex<'c>, EdgeReason>) -> Vec<bool>;
/// Adds vertices and edges for the vertices that stay.
pub(super) type CompletingTransform = for<'c> fn(&mut GraphDraft<PlanVertex<'c>, EdgeReason>);

/// The steps of building a graph, in order. The kinds are the guarantee: see the types of their functions.
#[derive(Clone, Copy)]
pub(super) struct TransformSteps<'s> {
    pub(super) add: &'s [AddingTransform],
    pub(super) connect: &'s [ConnectingTransform],
    pub(super) prune: &'s [PruningTransform],
    pub(super) complete: &'s [CompletingTransform],
}

/// All steps of the graph of a plan. Then `core/src/plan/build_graph.rs` loads the providers that the graph needs and freezes
/// it. At last, when everything is computed that depends on the graph,
/// `core/src/plan/transform/add_read_vertices.rs` adds vertices that read objects early.
pub(super) const PLAN_GRAPH_STEPS: TransformSteps<'_> = TransformSteps {
    add: &[
        |inputs, _, add| shared_graph::add_value_vertices(inputs.session.config, add),
        |inputs, _, add| shared_graph::add_module_call_vertices(inputs.session.config, add),
        add_providers::add_providers,
        add_resources::add_resources,
        add_orphans::add_orphans,
    ],
    connect: &[
        connect_references::connect_references,
        |config, vertices, names, edges| {
            shared_graph::connect_modules(config, vertices, names, edges);
        },
        |_, vertices, names, edges| shared_graph::connect_providers(vertices, names, edges),
    ],
    prune: &[
        prune_for_destroy::prune_for_destroy,
        prune_targets::prune_targets,
        prune_excluded::prune_excluded,
    ],
    complete: &[|draft| shared_graph::add_ephemeral_close_vertices(draft)],
};

/// The steps whose result does not depend on the limits of a plan.
pub(super) const WHOLE_GRAPH_STEPS: TransformSteps<'_> =
    TransformSteps { prune: &[], complete: &[], ..PLAN_GRAPH_STEPS };
