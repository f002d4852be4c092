//! The builder of the plan graph, and all of its steps in their order: the transforms, one per file, then the
//! providers that are loaded, the check for cycles, the analyses, and the vertices that read ahead.
//!
//! Within `add` and `connect` the order does not matter. An `AddingTransform` works from configuration and state
//! alone and cannot see edges; a `ConnectingTransform` cannot add a vertex; a `PruningTransform` can only remove.

mod add_orphans;
mod add_providers;
mod add_read_vertices;
mod add_resources;
pub(super) mod connect_references;
#[cfg(test)]
mod fixtures;
mod prune_excluded;
mod prune_for_destroy;
mod prune_targets;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use formwork_value::{Diagnostics, Reported};

use super::dependencies::find_graph_dependencies;
use super::excluded_from_destroy::ExcludedFromDestroy;
use super::forgotten_resources::ForgottenResources;
use super::graph_analysis::GraphAnalysis;
use super::replace_order::ReplaceOrders;
use super::vertex::PlanVertex;
use super::{PlanMode, PlanOptions};
use crate::addr::{ProviderConfigAddr, ResourceAddr};
use crate::config::Config;
use crate::graph::{Edges, Graph, GraphDraft};
use crate::moved::Moves;
use crate::session::Session;
use crate::shared_graph::{self, EdgeReason, VertexLookup};

/// The graph that is walked, with the results that its visits need.
pub(crate) struct AnalysedGraph<'c> {
    pub(crate) graph: Graph<PlanVertex<'c>, EdgeReason>,
    pub(crate) analysis: GraphAnalysis<'c>,
}

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
type AddingTransform =
    for<'c> fn(TransformInputs<'c>, &mut Diagnostics, &mut dyn FnMut(PlanVertex<'c>));
/// Adds edges.
type ConnectingTransform =
    for<'c> fn(&'c Config, &[PlanVertex<'c>], &VertexLookup, &mut Edges<EdgeReason>);
/// Says which vertices stay.
type PruningTransform =
    for<'c> fn(TransformInputs<'c>, &GraphDraft<PlanVertex<'c>, EdgeReason>) -> Vec<bool>;
/// Adds vertices and edges for the vertices that stay.
type CompletingTransform = for<'c> fn(&mut GraphDraft<PlanVertex<'c>, EdgeReason>);

/// The transforms of a graph, in order. The kinds are the guarantee: see the types of their functions.
#[derive(Clone, Copy)]
struct TransformSteps<'s> {
    add: &'s [AddingTransform],
    connect: &'s [ConnectingTransform],
    prune: &'s [PruningTransform],
    complete: &'s [CompletingTransform],
}

/// The transforms of the graph of a plan. [`PlanGraphBuilder::build`] has the steps that apply
/// them.
const PLAN_GRAPH_STEPS: TransformSteps<'_> = TransformSteps {
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

/// The transforms whose result does not depend on the limits of a plan.
const WHOLE_GRAPH_STEPS: TransformSteps<'_> =
    TransformSteps { prune: &[], complete: &[], ..PLAN_GRAPH_STEPS };

/// Builds the graph of a plan.
#[derive(Clone, Copy)]
pub(super) struct PlanGraphBuilder<'c> {
    inputs: TransformInputs<'c>,
}

impl<'c> PlanGraphBuilder<'c> {
    pub(super) fn new(session: &'c Session<'c>, options: &'c PlanOptions) -> Self {
        Self { inputs: TransformInputs { session, options } }
    }

    /// Takes all steps: builds the graph that a plan walks, with the results that its visits need.
    ///
    /// # Errors
    /// Returns an error if the graph cannot be built or has a cycle, or if a provider cannot be
    /// loaded.
    pub(super) async fn build(
        self,
        diags: &mut Diagnostics,
        moves: &'c Moves,
    ) -> Result<AnalysedGraph<'c>, Reported> {
        let TransformInputs { session, options } = self.inputs;
        // Add, connect, prune, complete, load, freeze.
        let graph = self.build_frozen(diags).await?;
        // Analyse.
        let analysis = self.analyse(&graph, moves);
        // Read ahead. After the analyses, because these vertices carry no information about resources.
        let graph = add_read_vertices::add_read_vertices(graph, session, options);
        Ok(AnalysedGraph { graph, analysis })
    }

    /// Takes the steps until the graph has an order, and its providers are loaded.
    ///
    /// # Errors
    /// As [`PlanGraphBuilder::build`].
    pub(super) async fn build_frozen(
        self,
        diags: &mut Diagnostics,
    ) -> Result<Graph<PlanVertex<'c>, EdgeReason>, Reported> {
        let session = self.inputs.session;
        let draft = self.build_draft(diags)?;
        // Before the graph is frozen, so that one run reports both missing providers and cycles.
        let loaded = load_providers(diags, session, &draft).await;
        let graph = freeze_draft(diags, session, draft)?;
        loaded.map(|()| graph)
    }

    /// Takes the transforms. The graph is not yet checked for cycles.
    ///
    /// # Errors
    /// Returns an error if the graph cannot be built.
    pub(super) fn build_draft(
        self,
        diags: &mut Diagnostics,
    ) -> Result<GraphDraft<PlanVertex<'c>, EdgeReason>, Reported> {
        build_draft_by_steps(diags, self.inputs, PLAN_GRAPH_STEPS)
    }

    /// Builds the graph of everything that is written and in the state, whatever the plan is limited to.
    /// Targets, and a full destroy, prune much of the graph between two resources; their order stays the
    /// same.
    fn build_whole(self) -> Option<Graph<PlanVertex<'c>, EdgeReason>> {
        // Errors were reported when the graph was built, and a cycle has no order.
        build_draft_by_steps(&mut Diagnostics::new(), self.inputs, WHOLE_GRAPH_STEPS)
            .ok()?
            .freeze()
            .ok()
    }

    /// Computes what depends on the whole graph.
    fn analyse(
        self,
        graph: &Graph<PlanVertex<'c>, EdgeReason>,
        moves: &'c Moves,
    ) -> GraphAnalysis<'c> {
        let TransformInputs { session, options } = self.inputs;
        // Built only for the plans that need it: it takes as long as the graph itself.
        let needs_whole = match options.mode {
            PlanMode::Normal => !options.targets.is_empty(),
            PlanMode::Destroy => true,
            PlanMode::RefreshOnly => false,
        };
        let full_graph = if needs_whole { self.build_whole() } else { None };
        let is_normal = options.mode == PlanMode::Normal;
        GraphAnalysis {
            orders: ReplaceOrders::from_graph(graph),
            // As in Terraform, a plan of targets replaces them in the order that only the targets
            // need, but the state gets the order that everything needs.
            unlimited_orders: full_graph
                .as_ref()
                .filter(|_| is_normal)
                .map(ReplaceOrders::from_graph),
            closures: match options.mode {
                PlanMode::Destroy => {
                    full_graph.as_ref().map(find_graph_dependencies).unwrap_or_default()
                }
                PlanMode::Normal | PlanMode::RefreshOnly => find_graph_dependencies(graph),
            },
            destroyed_dependents: prune_targets::dependents_to_destroy(session, options),
            excluded_from_destroy: ExcludedFromDestroy::from_options(
                session, options, moves, graph,
            ),
            moves,
            forgotten: ForgottenResources::from_config(session.config),
        }
    }
}

/// Has the providers loaded that a graph needs.
///
/// # Errors
/// Returns an error if a provider cannot be loaded.
pub(super) async fn load_providers(
    diags: &mut Diagnostics,
    session: &Session<'_>,
    draft: &GraphDraft<PlanVertex<'_>, EdgeReason>,
) -> Result<(), Reported> {
    let configured = draft.vertices().iter().filter_map(|vertex| vertex.as_provider());
    let needed = configured.map(|provider| provider.addr.provider.clone()).collect::<Vec<_>>();
    session.pool.load_providers(diags, needed).await
}

/// Finds the order of a graph, or reports its cycles.
pub(super) fn freeze_draft<'c>(
    diags: &mut Diagnostics,
    session: &Session<'_>,
    draft: GraphDraft<PlanVertex<'c>, EdgeReason>,
) -> Result<Graph<PlanVertex<'c>, EdgeReason>, Reported> {
    draft.freeze().map_err(|cyclic| shared_graph::report_cycles(diags, session.sources, &cyclic))
}

/// Takes transforms in their order.
fn build_draft_by_steps<'c>(
    diags: &mut Diagnostics,
    inputs: TransformInputs<'c>,
    steps: TransformSteps<'_>,
) -> Result<GraphDraft<PlanVertex<'c>, EdgeReason>, Reported> {
    let mut draft = GraphDraft::new();
    for add in steps.add {
        add(inputs, diags, &mut draft.vertex_adder());
    }
    // Connecting a graph with missing vertices would report references to them a second time.
    diags.fail_if_errors()?;
    let (vertices, edges) = draft.split_vertices_and_edges();
    let config = inputs.session.config;
    let names = VertexLookup::from_vertices(config, vertices);
    for connect in steps.connect {
        connect(config, vertices, &names, edges);
    }
    for prune in steps.prune {
        let keep = prune(inputs, &draft);
        // Most plans have no targets, so nothing is pruned and the graph need not be copied.
        if keep.contains(&false) {
            draft.retain_vertices(|id, _| keep[id.index()]);
        }
    }
    for complete in steps.complete {
        complete(&mut draft);
    }
    Ok(draft)
}
