//! Builds the apply graph: one vertex for each half of each change, joined by resource, so that the
//! number of edges grows with the number of changes and not with its square.

use std::collections::BTreeSet;

use super::destroy_timing::DestroyTimings;
use super::index::{GraphBuilder, Index};
use super::vertex::{
    DestroyVertex, ExpandVertex, InstanceVertex, OpenVertex, UnchangedVertex, Vertex,
};
use super::{order, unknown_at_plan};
use crate::addr::{ConfigResourceAddr, DeposedKey, InstanceAddr, Mode as Kind, ProviderAddr};
use crate::change::{Action, Change, ReplaceOrder};
use crate::config::Config;
use crate::eval::vertex::NamedValue;
use crate::graph::{Draft, Edges, VertexId, numbered};
use crate::plan::{Mode, Plan};
use crate::session::Session;
use crate::shared_graph::{self, EdgeReason, Mentions, SharedVertex, Vertex as _};

/// Builds the graph, not yet checked for cycles.
pub(super) fn draft<'c>(session: &'c Session<'c>, plan: &'c Plan) -> GraphBuilder<'c> {
    let config = session.config;
    // The order of these steps matters: providers are selected from the changes, references need
    // all names, the order of destruction needs the edges of references, and pruning must precede
    // the ends of ephemeral resources.
    let mut draft = written(config);
    add_changes(config, plan, &mut draft.adding());
    // Only providers with work in this graph: others would be started and configured for nothing.
    let used = draft.vertices().iter().filter_map(Vertex::provider).cloned().collect();
    shared_graph::add_providers(config, used, &mut draft.adding());
    let index = Index::of(config, draft.vertices());
    connect_config(config, &mut draft, &index, plan.mode);
    let (vertices, edges) = draft.split();
    shared_graph::connect_providers(vertices, &index.names, edges);
    connect_checks(&mut draft, &index);
    order::connect(&mut draft, &index, plan.mode == Mode::Destroy);
    prune(plan, &mut draft);
    // After the pruning: a pruned user must not keep an ephemeral resource open.
    shared_graph::close_ephemeral(&mut draft);
    // Last, so that a soft order is only given up for a cycle that exists among the remaining
    // vertices.
    order::relax(&mut draft);
    draft
}

/// Objects as written and the objects that they mention, whether or not they change.
pub(super) fn as_written<'c>(session: &'c Session<'c>) -> GraphBuilder<'c> {
    let mut draft = written(session.config);
    let index = Index::of(session.config, draft.vertices());
    connect_config(session.config, &mut draft, &index, Mode::Normal);
    draft
}

fn written(config: &Config) -> GraphBuilder<'_> {
    let mut draft = Draft::new();
    shared_graph::add_values(config, &mut draft.adding());
    shared_graph::add_calls(config, &mut draft.adding());
    add_resources(config, &mut draft.adding());
    draft
}

fn connect_config<'c>(config: &'c Config, draft: &mut GraphBuilder<'c>, index: &Index, mode: Mode) {
    connect_references(config, draft, index, mode);
    let (vertices, edges) = draft.split();
    shared_graph::connect_modules(config, vertices, &index.names, edges);
    connect_joins(vertices, index, edges);
}

/// The providers that the vertices need, also those that only say how to read what is stored and does
/// not change.
pub(super) fn providers(draft: &GraphBuilder<'_>, plan: &Plan) -> Vec<ProviderAddr> {
    let mut needed = Vec::new();
    let mut seen = BTreeSet::new();
    for vertex in draft.vertices() {
        match vertex {
            Vertex::SharedVertex(shared) => needed.extend(shared.provider().cloned()),
            Vertex::Expand(expand) => drop(seen.insert(&expand.addr)),
            _ => {}
        }
    }
    let changes = |addr: InstanceAddr| plan.changes.contains_key(&(addr, None));
    let stored = plan.prior.resources.iter().filter(|(addr, stored)| {
        seen.contains(&addr.config())
            // An unchanged instance needs the schema of its provider, to decode the stored object
            // for references.
            && !stored.instances.keys().all(|key| changes(addr.instance(key.clone())))
    });
    needed.extend(stored.map(|(_, stored)| stored.provider.provider.clone()));
    needed
}

fn add_resources<'c>(config: &'c Config, add: &mut dyn FnMut(Vertex<'c>)) {
    for node in &config.nodes {
        for block in node.module.resources.values() {
            let (module, resource) = (node.path.clone(), block.name.clone());
            let addr = ConfigResourceAddr { module, resource };
            if block.name.mode() == Kind::Ephemeral {
                // One that names a configuration that is not there was refused when it was read.
                let Some(provider) = config.provider_of(node, block) else { continue };
                add(Vertex::Open(OpenVertex { addr, node, config: block, provider }));
            } else {
                add(Vertex::Done(addr.clone()));
                add(Vertex::Expand(ExpandVertex { addr, node, config: block }));
            }
        }
    }
}

fn add_changes<'c>(config: &'c Config, plan: &'c Plan, add: &mut dyn FnMut(Vertex<'c>)) {
    let timings = DestroyTimings::of(plan);
    let unknown = unknown_at_plan::unchanged(plan);
    let mut gone = BTreeSet::new();
    for change in plan.changes.values() {
        let name = change.addr.of().config();
        let deposes = match change.action {
            Action::Replace(ReplaceOrder::CreateFirst) => {
                // The key is chosen before the walk, because the vertices of both halves of the
                // replacement need it. 32 random bits can collide with a key in the state.
                let is_free = |key: &_| plan.prior.object(&change.addr, Some(key)).is_none();
                deposed_keys().find(is_free)
            }
            _ => None,
        };
        let made =
            change.action.creates() || matches!(change.action, Action::Update | Action::Read);
        if made && let Some(config) = config.resource(&name) {
            let deposes = deposes.clone();
            add(Vertex::Instance(InstanceVertex { change, config, deposes }));
        }
        if change.action == Action::NoOp
            && unknown.contains(&change.addr)
            && let Some(config) = config.resource(&name)
        {
            add(Vertex::Unchanged(UnchangedVertex { change, config }));
        }
        // A replacement adds two vertices, here and above, so that other objects can be ordered
        // between its halves.
        if change.action.destroys() {
            let deposed = deposes.or_else(|| change.deposed.clone());
            let timing = timings.timing(change);
            add(Vertex::Destroy(DestroyVertex { change, deposed, timing }));
            if gone.insert(name.clone()) {
                add(Vertex::Gone(name));
            }
        }
    }
}

/// Keys of eight hexadecimal digits at random, without end.
fn deposed_keys() -> impl Iterator<Item = DeposedKey> {
    std::iter::repeat_with(|| {
        let mut digits = uuid::Uuid::new_v4().simple().to_string();
        digits.truncate(8);
        DeposedKey(digits.into())
    })
}

fn connect_references<'c>(
    config: &'c Config,
    draft: &mut GraphBuilder<'c>,
    index: &Index,
    mode: Mode,
) {
    let (vertices, edges) = draft.split();
    for (at, vertex) in numbered(vertices) {
        let own = match vertex {
            Vertex::Expand(expand) => index.done.get(&expand.addr).copied(),
            _ => None,
        };
        for (node, references) in mentions(config, vertex, mode) {
            for reference in references {
                let whole = index.names.find(node, reference).copied();
                // A reference of a block to its own resource would make the vertex wait for itself.
                if whole == Some(at) || whole.is_some() && whole == own {
                    continue;
                }
                for &to in index.mentioned(node, reference) {
                    edges.connect(at, to, EdgeReason::Mention(reference.whole));
                }
            }
        }
    }
}

fn mentions<'c>(config: &'c Config, vertex: &Vertex<'c>, mode: Mode) -> Vec<Mentions<'c>> {
    match vertex {
        Vertex::SharedVertex(shared) => shared.mentions(config),
        // While everything is destroyed the state says what there is, and what the block mentions may
        // not have a value any more.
        Vertex::Expand(expand) if mode == Mode::Destroy && expand.is_managed() => Vec::new(),
        Vertex::Expand(expand) => vec![(expand.node, &expand.config.references)],
        Vertex::Open(open) => vec![(open.node, &open.config.references)],
        Vertex::Instance(_)
        | Vertex::Unchanged(_)
        | Vertex::Destroy(_)
        | Vertex::Done(_)
        | Vertex::Gone(_)
        | Vertex::Free(_)
        | Vertex::Changed => Vec::new(),
    }
}

/// An instance waits for its resource to be expanded, and the end of the resource for the instance.
fn connect_joins(vertices: &[Vertex<'_>], index: &Index, edges: &mut Edges<EdgeReason>) {
    let because = EdgeReason::Order("belongs to that resource");
    // Directly too: without changing instances nothing else connects the two.
    for (name, &expand) in &index.expands {
        if let Some(&done) = index.done.get(name) {
            edges.connect(done, expand, because);
        }
    }
    for (at, vertex) in numbered(vertices) {
        let (Vertex::Instance(InstanceVertex { change, .. })
        | Vertex::Unchanged(UnchangedVertex { change, .. })) = vertex
        else {
            continue;
        };
        let name = change.addr.of().config();
        if let (Some(&expand), Some(&done)) = (index.expands.get(&name), index.done.get(&name)) {
            edges.connect(at, expand, because);
            edges.connect(done, at, because);
        }
    }
}

/// Connects `check` blocks: the objects that a `check` block refers to are read after all changes.
fn connect_checks(draft: &mut GraphBuilder<'_>, index: &Index) {
    // A `check` block reports on the result of the run, so its data sources must see all changes,
    // as in Terraform.
    let because = EdgeReason::Order("is looked at when everything else is done");
    let is_nested =
        |id: &&VertexId| matches!(&draft[**id], Vertex::Instance(i) if i.config.within.is_some());
    let (nested, changing): (Vec<VertexId>, Vec<VertexId>) =
        index.instances.iter().partition(|id| is_nested(id));
    if nested.is_empty() {
        return;
    }
    // One join, so that the number of edges is the sum of both sides and not their product.
    let changed = draft.add(Vertex::Changed);
    for id in changing.into_iter().chain(index.destroys.iter().copied()) {
        draft.connect(changed, id, because);
    }
    for id in nested {
        draft.connect(id, changed, because);
    }
}

/// Keeps the vertices that change something, the planned outputs, the parts that the plan could not
/// settle, and everything that these need.
fn prune(plan: &Plan, draft: &mut GraphBuilder<'_>) {
    let is_whole = plan.mode != Mode::Destroy && plan.targets.is_empty();
    // Objects that a refresh takes in must satisfy the conditions, and here they do more than warn.
    let stays = plan.mode != Mode::Destroy;
    // An object that is no target itself comes along where a target needs it. That may be an object
    // that only makes way for its successor, but not one that goes when nothing uses it any more:
    // objects that are no targets may still use it.
    let is_meant = |change: &Change| {
        plan.mode == Mode::Destroy
            || plan.targets.is_empty()
            || plan.targets.iter().any(|target| target.contains(&change.addr))
    };
    let unknown = unknown_at_plan::values(plan, draft);
    let wanted = draft.vertices().iter().zip(unknown).map(|(vertex, is_unknown)| match vertex {
        Vertex::Instance(_) | Vertex::Unchanged(_) => true,
        Vertex::Destroy(destroy) => {
            !destroy.timing.is_after_successor() || is_meant(destroy.change)
        }
        // Terraform also opens ephemeral resources that nothing needs, after a refresh-only plan too.
        Vertex::Open(_) => is_whole,
        Vertex::SharedVertex(SharedVertex::Value(value)) => {
            match (value.value, value.root_output()) {
                (NamedValue::Check(_), _) => stays && plan.targets.is_empty(),
                (_, Some(output)) => stays && plan.outputs.contains_key(&output.name),
                (_, None) => is_unknown,
            }
        }
        // Joins, expansions and providers are kept only for a vertex that needs them.
        _ => false,
    });
    // Edges of order are followed too: an unchanged join between two changes must stay, or their
    // order would be lost.
    let keep = draft.dependencies(|_| true).reach(wanted.collect());
    draft.retain(|id, _| keep[id.index()]);
}
