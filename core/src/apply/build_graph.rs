//! Builds the apply graph: one vertex for each half of each change, joined by resource, so that the
//! number of edges grows with the number of changes and not with its square.

use std::collections::BTreeSet;

use super::destroy_timing::DestroyTimings;
use super::vertex::{
    AllChangedVertex, ApplyVertex, DestroyVertex, ExpandVertex, InstanceVertex,
    OpenEphemeralVertex, PlanNeeds, ResourceDestroyedVertex, ResourceDoneVertex, UnchangedVertex,
};
use super::vertex_index::{GraphBuilder, VertexIndex};
use super::{order, unknown_at_plan};
use crate::addr::{
    ConfigResourceAddr, DeposedKey, InstanceAddr, ProviderAddr, ResourceMode as Kind,
};
use crate::change::{Action, ReplaceOrder};
use crate::config::Config;
use crate::graph::{Edges, GraphDraft, VertexId, enumerate_vertices};
use crate::plan::{Plan, PlanMode};
use crate::session::Session;
use crate::shared_graph::{self, EdgeReason};

/// Builds the graph, not yet checked for cycles.
pub(super) fn build_apply_draft<'c>(session: &'c Session<'c>, plan: &'c Plan) -> GraphBuilder<'c> {
    let config = session.config;
    // The order of these steps matters: providers are selected from the changes, references need
    // all names, the order of destruction needs the edges of references, and pruning must precede
    // the ends of ephemeral resources.
    let mut draft = build_whole_reference_draft(config);
    add_changes(config, plan, &mut draft.vertex_adder());
    // Only providers with work in this graph: others would be started and configured for nothing.
    let used = draft.vertices().iter().filter_map(|vertex| vertex.provider_config());
    let used = used.cloned().collect();
    shared_graph::add_providers(config, used, &mut draft.vertex_adder());
    let index = VertexIndex::from_vertices(config, draft.vertices());
    connect_references_and_joins(config, &mut draft, &index, plan.mode);
    let (vertices, edges) = draft.split_vertices_and_edges();
    shared_graph::connect_providers(vertices, &index.names, edges);
    connect_checks(&mut draft, &index);
    order::add_order_edges(&mut draft, &index, plan.mode == PlanMode::Destroy);
    prune_unneeded(plan, &mut draft);
    // After the pruning: a pruned user must not keep an ephemeral resource open.
    shared_graph::add_ephemeral_close_vertices(&mut draft);
    // Last, so that a soft order is only given up for a cycle that exists among the remaining
    // vertices.
    order::break_order_cycles(&mut draft);
    draft
}

/// Blocks of the configuration and the objects that they refer to, whether or not they change.
pub(super) fn build_reference_draft<'c>(session: &'c Session<'c>) -> GraphBuilder<'c> {
    let mut draft = build_whole_reference_draft(session.config);
    let index = VertexIndex::from_vertices(session.config, draft.vertices());
    connect_references_and_joins(session.config, &mut draft, &index, PlanMode::Normal);
    draft
}

fn build_whole_reference_draft(config: &Config) -> GraphBuilder<'_> {
    let mut draft = GraphDraft::new();
    shared_graph::add_value_vertices(config, &mut draft.vertex_adder());
    shared_graph::add_module_call_vertices(config, &mut draft.vertex_adder());
    add_resources(config, &mut draft.vertex_adder());
    draft
}

fn connect_references_and_joins<'c>(
    config: &'c Config,
    draft: &mut GraphBuilder<'c>,
    index: &VertexIndex,
    mode: PlanMode,
) {
    connect_references(config, draft, index, mode);
    let (vertices, edges) = draft.split_vertices_and_edges();
    shared_graph::connect_modules(config, vertices, &index.names, edges);
    connect_resource_joins(vertices, index, edges);
}

/// The providers that the vertices need, including those that only decode a stored object that does
/// not change.
pub(super) fn providers_of_vertices(draft: &GraphBuilder<'_>, plan: &Plan) -> Vec<ProviderAddr> {
    let mut needed: Vec<ProviderAddr> = Vec::new();
    let mut seen: BTreeSet<&ConfigResourceAddr> = BTreeSet::new();
    for vertex in draft.vertices() {
        needed.extend(vertex.as_provider().map(|provider| provider.addr.provider.clone()));
        seen.extend(vertex.as_expand().map(|expand| &expand.addr));
    }
    let changes = |addr: InstanceAddr| plan.changes.contains_key(&(addr, None));
    let stored = plan.prior.resources.iter().filter(|(addr, stored)| {
        seen.contains(&addr.config_addr())
            // An unchanged instance needs the schema of its provider, to decode the stored object
            // for references.
            && !stored.instances.keys().all(|key| changes(addr.instance_addr(key.clone())))
    });
    needed.extend(stored.map(|(_, stored)| stored.provider.provider.clone()));
    needed
}

fn add_resources<'c>(config: &'c Config, add: &mut dyn FnMut(ApplyVertex<'c>)) {
    for node in &config.nodes {
        for block in node.module.resources.values() {
            let (module, resource) = (node.path.clone(), block.name.clone());
            let addr = ConfigResourceAddr { module, resource };
            if block.name.mode() == Kind::Ephemeral {
                // A reference to a missing configuration was refused when it was read.
                let Some(provider) = config.provider_of_resource(node, block) else { continue };
                add(OpenEphemeralVertex { addr, node, config: block, provider }.into());
            } else {
                add(ResourceDoneVertex { addr: addr.clone() }.into());
                add(ExpandVertex { addr, node, config: block }.into());
            }
        }
    }
}

fn add_changes<'c>(config: &'c Config, plan: &'c Plan, add: &mut dyn FnMut(ApplyVertex<'c>)) {
    let timings = DestroyTimings::from_plan(plan);
    let unknown = unknown_at_plan::unchanged_with_unknown_conditions(plan);
    let mut destroyed = BTreeSet::new();
    for change in plan.changes.values() {
        let name = change.addr.resource_addr().config_addr();
        let deposes = match change.action {
            Action::Replace(ReplaceOrder::CreateFirst) => {
                // The key is chosen before the walk, because the vertices of both halves of the
                // replacement need it. 32 random bits can collide with a key in the state.
                let is_free = |key: &_| plan.prior.find_object(&change.addr, Some(key)).is_none();
                random_deposed_keys().find(is_free)
            }
            _ => None,
        };
        let is_created = change.action.creates_object()
            || matches!(change.action, Action::Update | Action::Read);
        if is_created && let Some(config) = config.find_resource(&name) {
            let deposes = deposes.clone();
            add(InstanceVertex { change, config, deposes }.into());
        }
        if change.action == Action::NoOp
            && unknown.contains(&change.addr)
            && let Some(config) = config.find_resource(&name)
        {
            add(UnchangedVertex { change, config }.into());
        }
        // A replacement adds two vertices, here and above, so that other objects can be ordered
        // between its halves.
        if change.action.destroys_object() {
            let deposed = deposes.or_else(|| change.deposed.clone());
            let timing = timings.timing_of(change);
            add(DestroyVertex { change, deposed, timing }.into());
            if destroyed.insert(name.clone()) {
                add(ResourceDestroyedVertex { addr: name }.into());
            }
        }
    }
}

/// Keys of eight hexadecimal digits at random, without end.
fn random_deposed_keys() -> impl Iterator<Item = DeposedKey> {
    std::iter::repeat_with(|| {
        let mut digits = uuid::Uuid::new_v4().simple().to_string();
        digits.truncate(8);
        DeposedKey(digits.into())
    })
}

fn connect_references<'c>(
    config: &'c Config,
    draft: &mut GraphBuilder<'c>,
    index: &VertexIndex,
    mode: PlanMode,
) {
    let (vertices, edges) = draft.split_vertices_and_edges();
    for (at, vertex) in enumerate_vertices(vertices) {
        if vertex.ignores_references(mode) {
            continue;
        }
        let own_done = vertex.as_expand().and_then(|expand| index.done.get(&expand.addr).copied());
        for (node, references) in vertex.references(config) {
            for reference in references {
                let whole_object = index.names.find_vertex(node, reference).copied();
                // A reference of a block to its own resource would make the vertex wait for itself.
                if whole_object == Some(at) || whole_object.is_some() && whole_object == own_done {
                    continue;
                }
                for &to in index.referenced_vertices(node, reference) {
                    edges.connect(at, to, EdgeReason::Reference(reference.whole));
                }
            }
        }
    }
}

/// An instance waits for its resource to be expanded, and the end of the resource for the instance.
fn connect_resource_joins(
    vertices: &[ApplyVertex<'_>],
    index: &VertexIndex,
    edges: &mut Edges<EdgeReason>,
) {
    let because = EdgeReason::DestroyOrder("belongs to that resource");
    // Directly too: without changing instances nothing else connects the two.
    for (name, &expand) in &index.expands {
        if let Some(&done) = index.done.get(name) {
            edges.connect(done, expand, because);
        }
    }
    for (at, vertex) in enumerate_vertices(vertices) {
        let changed = vertex.as_instance().map(|instance| instance.change);
        let unchanged = || vertex.as_unchanged().map(|instance| instance.change);
        let Some(change) = changed.or_else(unchanged) else { continue };
        let name = change.addr.resource_addr().config_addr();
        if let (Some(&expand), Some(&done)) = (index.expands.get(&name), index.done.get(&name)) {
            edges.connect(at, expand, because);
            edges.connect(done, at, because);
        }
    }
}

/// Connects `check` blocks: the objects that a `check` block refers to are read after all changes.
fn connect_checks(draft: &mut GraphBuilder<'_>, index: &VertexIndex) {
    // A `check` block reports on the result of the run, so its data sources must see all changes,
    // as in Terraform.
    let because = EdgeReason::DestroyOrder("is looked at when everything else is done");
    let is_nested =
        |id: &&VertexId| draft[**id].as_instance().is_some_and(|it| it.config.within.is_some());
    let (nested, changing): (Vec<VertexId>, Vec<VertexId>) =
        index.instances.iter().partition(|id| is_nested(id));
    if nested.is_empty() {
        return;
    }
    // One join, so that the number of edges is the sum of both sides and not their product.
    let changed = draft.add(AllChangedVertex.into());
    for id in changing.into_iter().chain(index.destroys.iter().copied()) {
        draft.connect(changed, id, because);
    }
    for id in nested {
        draft.connect(id, changed, because);
    }
}

/// Keeps the vertices that change something, the planned outputs, the parts that the plan could not
/// settle, and everything that these need.
fn prune_unneeded(plan: &Plan, draft: &mut GraphBuilder<'_>) {
    let unknown = unknown_at_plan::unknown_value_vertices(plan, draft);
    let wanted = draft.vertices().iter().zip(unknown);
    let wanted =
        wanted.map(|(vertex, is_unknown)| vertex.is_wanted(PlanNeeds { plan, is_unknown }));
    // Edges of order are followed too: an unchanged join between two changes must stay, or their
    // order would be lost.
    let keep = draft.dependencies_by_edges_where(|_| true).reachable_from(wanted.collect());
    draft.retain_vertices(|id, _| keep[id.index()]);
}
