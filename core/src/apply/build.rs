//! Builds the apply graph: one vertex for each half of each change, joined by resource, so that the
//! number of edges grows with the number of changes and not with its square.

use std::collections::BTreeMap;

use super::last::Last;
use super::order;
use super::vertex::{DestroyVertex, ExpandVertex, InstanceVertex, Vertex};
use crate::addr::{
    ConfigResourceAddr, DeposedKey, ProviderAddr, ProviderConfigAddr, Reference, ResourceAddr,
    Subject,
};
use crate::change::{Action, ReplaceOrder};
use crate::eval::vertex::ValueVertex;
use crate::graph::{Draft, VertexId};
use crate::phase::{ProviderVertex, Why, config_of};
use crate::plan::{Mode, Plan};
use crate::session::Session;

/// Where things are among the vertices.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) subjects: BTreeMap<Subject, VertexId>,
    pub(super) providers: BTreeMap<ProviderConfigAddr, VertexId>,
    pub(super) expands: BTreeMap<ConfigResourceAddr, VertexId>,
    pub(super) done: BTreeMap<ConfigResourceAddr, VertexId>,
    pub(super) gone: BTreeMap<ConfigResourceAddr, VertexId>,
    pub(super) instances: Vec<VertexId>,
    pub(super) destroys: Vec<VertexId>,
}

/// A graph being built.
pub(super) type Building<'c> = Draft<Vertex<'c>, Why>;

/// Builds the graph, not yet checked for cycles.
pub(super) fn draft<'c>(session: &'c Session<'c>, plan: &'c Plan) -> Building<'c> {
    let mut draft = Draft::new();
    let mut index = Index::default();
    add_values(session, &mut draft, &mut index);
    add_resources(session, &mut draft, &mut index);
    add_changes(session, plan, &mut draft, &mut index);
    add_providers(session, &mut draft, &mut index);
    connect_references(&mut draft, &index, plan.mode);
    connect_joins(&mut draft, &index);
    connect_providers(&mut draft, &index);
    order::connect(&mut draft, &index, plan.mode == Mode::Destroy);
    prune(plan, &mut draft);
    draft
}

/// The providers that the vertices need.
pub(super) fn providers(draft: &Building<'_>) -> Vec<ProviderAddr> {
    let needed = draft.vertices().iter().filter_map(|vertex| match vertex {
        Vertex::Provider(provider) => Some(provider.addr.provider.clone()),
        _ => None,
    });
    needed.collect()
}

fn add_values<'c>(session: &'c Session<'c>, draft: &mut Building<'c>, index: &mut Index) {
    let module = session.module();
    for variable in module.variables.values() {
        let id = draft.add(Vertex::Value(ValueVertex::Variable(variable)));
        index.subjects.insert(Subject::Variable(variable.name.clone()), id);
    }
    for local in module.locals.values() {
        let id = draft.add(Vertex::Value(ValueVertex::Local(local)));
        index.subjects.insert(Subject::Local(local.name.clone()), id);
    }
    for output in module.outputs.values() {
        draft.add(Vertex::Value(ValueVertex::Output(output)));
    }
}

fn add_resources<'c>(session: &'c Session<'c>, draft: &mut Building<'c>, index: &mut Index) {
    for config in session.module().resources.values() {
        let addr = ResourceAddr { module: session.module_addr(), resource: config.name.clone() };
        let name = addr.config();
        let expand = draft.add(Vertex::Expand(ExpandVertex { addr, config }));
        let done = draft.add(Vertex::Done(name.clone()));
        index.expands.insert(name.clone(), expand);
        index.done.insert(name, done);
        index.subjects.insert(Subject::Resource(config.name.clone()), done);
    }
}

fn add_changes<'c>(
    session: &'c Session<'c>,
    plan: &'c Plan,
    draft: &mut Building<'c>,
    index: &mut Index,
) {
    let resources = &session.module().resources;
    let last = Last::of(plan);
    for change in plan.changes.values() {
        let config = change.addr.module.is_root().then(|| resources.get(&change.addr.resource));
        let deposes = match change.action {
            Action::Replace(ReplaceOrder::CreateFirst) => Some(new_deposed_key()),
            _ => None,
        };
        let made =
            change.action.creates() || matches!(change.action, Action::Update | Action::Read);
        if made && let Some(Some(config)) = config {
            let deposes = deposes.clone();
            let vertex = InstanceVertex { change, config, deposes };
            index.instances.push(draft.add(Vertex::Instance(vertex)));
        }
        if change.action.destroys() {
            let deposed = deposes.or_else(|| change.deposed.clone());
            let (is_last, is_hurried) = (last.contains(change), last.is_hurried(change));
            let vertex = DestroyVertex { change, deposed, is_last, is_hurried };
            let id = draft.add(Vertex::Destroy(vertex));
            index.destroys.push(id);
            let name = change.addr.of().config();
            let gone = Vertex::Gone(name.clone());
            index.gone.entry(name).or_insert_with(|| draft.add(gone));
        }
    }
}

/// Eight hexadecimal digits that no other object of the instance has, in all likelihood.
fn new_deposed_key() -> DeposedKey {
    let mut digits = uuid::Uuid::new_v4().simple().to_string();
    digits.truncate(8);
    DeposedKey(digits.into())
}

fn add_providers<'c>(session: &'c Session<'c>, draft: &mut Building<'c>, index: &mut Index) {
    let written: BTreeMap<_, _> =
        session.module().providers.values().map(|block| (config_of(block), block)).collect();
    let used: std::collections::BTreeSet<_> =
        draft.vertices().iter().filter_map(provider_used).cloned().collect();
    for addr in used {
        let block = written.get(&addr).copied();
        let id = draft.add(Vertex::Provider(ProviderVertex { addr: addr.clone(), block }));
        index.providers.insert(addr, id);
    }
}

fn provider_used<'v>(vertex: &'v Vertex<'_>) -> Option<&'v ProviderConfigAddr> {
    match vertex {
        Vertex::Instance(instance) => Some(&instance.change.provider),
        Vertex::Destroy(destroy) => Some(&destroy.change.provider),
        _ => None,
    }
}

fn connect_references(draft: &mut Building<'_>, index: &Index, mode: Mode) {
    let (vertices, edges) = draft.split();
    for (at, vertex) in (0..).map(VertexId).zip(vertices) {
        let mentioned: &[Reference] = match vertex {
            Vertex::Value(ValueVertex::Variable(variable)) => &variable.references,
            Vertex::Value(ValueVertex::Local(local)) => &local.references,
            Vertex::Value(ValueVertex::Output(output)) => &output.references,
            Vertex::Provider(provider) => provider.block.map_or(&[], |block| &block.references),
            // While everything is destroyed the state says what there is, and what the block mentions
            // may not have a value any more.
            Vertex::Expand(expand) if mode == Mode::Destroy && expand.is_managed() => &[],
            Vertex::Expand(expand) => &expand.config.references,
            Vertex::Instance(_)
            | Vertex::Destroy(_)
            | Vertex::Done(_)
            | Vertex::Gone(_)
            | Vertex::Free(_) => &[],
        };
        for reference in mentioned {
            let Some(&to) = index.subjects.get(&reference.subject) else { continue };
            let own = matches!(vertex, Vertex::Expand(e) if index.done.get(&e.addr.config()) == Some(&to));
            if to != at && !own {
                edges.connect(at, to, Why::Mention(reference.whole));
            }
        }
    }
}

/// An instance waits for its resource to be expanded, and the end of the resource for the instance.
fn connect_joins(draft: &mut Building<'_>, index: &Index) {
    let because = Why::Order("belongs to that resource");
    let (vertices, edges) = draft.split();
    for (name, &expand) in &index.expands {
        if let Some(&done) = index.done.get(name) {
            edges.connect(done, expand, because);
        }
    }
    for (at, vertex) in (0..).map(VertexId).zip(vertices) {
        let Vertex::Instance(instance) = vertex else { continue };
        let name = instance.change.addr.of().config();
        if let (Some(&expand), Some(&done)) = (index.expands.get(&name), index.done.get(&name)) {
            edges.connect(at, expand, because);
            edges.connect(done, at, because);
        }
    }
}

fn connect_providers(draft: &mut Building<'_>, index: &Index) {
    let (vertices, edges) = draft.split();
    for (at, vertex) in (0..).map(VertexId).zip(vertices) {
        if let Some(&to) = provider_used(vertex).and_then(|addr| index.providers.get(addr)) {
            edges.connect(at, to, Why::Provider);
        }
    }
}

/// Keeps what changes something, the planned outputs, and what these need. Values nobody needs were
/// checked by the plan.
fn prune(plan: &Plan, draft: &mut Building<'_>) {
    let mut dependencies = vec![Vec::new(); draft.vertices().len()];
    for edge in draft.edges().iter() {
        dependencies[edge.dependent.index()].push(edge.dependency);
    }
    let mut keep: Vec<bool> = draft
        .vertices()
        .iter()
        .map(|vertex| match vertex {
            Vertex::Instance(_) | Vertex::Destroy(_) => true,
            Vertex::Value(ValueVertex::Output(output)) => {
                plan.mode == Mode::Normal && plan.outputs.contains_key(&output.name)
            }
            _ => false,
        })
        .collect();
    let mut queue: Vec<usize> = (0..keep.len()).filter(|&at| keep[at]).collect();
    while let Some(at) = queue.pop() {
        for on in &dependencies[at] {
            if !std::mem::replace(&mut keep[on.index()], true) {
                queue.push(on.index());
            }
        }
    }
    draft.retain(|id, _| keep[id.index()]);
}
