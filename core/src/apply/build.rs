//! Builds the apply graph: one vertex for each half of each change, joined by resource, so that the
//! number of edges grows with the number of changes and not with its square.

use std::collections::{BTreeMap, BTreeSet};

use super::last::Last;
use super::order;
use super::vertex::{DestroyVertex, ExpandVertex, InstanceVertex, OpenVertex, Vertex};
use crate::addr::{
    ConfigResourceAddr, DeposedKey, InstanceAddr, InstanceKey, Mode as Kind, ProviderAddr,
    ProviderConfigAddr, Reference, Subject,
};
use crate::change::{Action, ReplaceOrder};
use crate::config::{Config, ModuleNode};
use crate::eval::call::CallVertex;
use crate::eval::vertex::{NamedValue, ValueVertex};
use crate::graph::{Draft, VertexId};
use crate::phase::{Names, ProviderVertex, Why, add_closing, written_providers};
use crate::plan::{Mode, Plan};
use crate::session::Session;

/// Where things are among the vertices.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) names: Names,
    pub(super) providers: BTreeMap<ProviderConfigAddr, VertexId>,
    pub(super) expands: BTreeMap<ConfigResourceAddr, VertexId>,
    pub(super) done: BTreeMap<ConfigResourceAddr, VertexId>,
    pub(super) gone: BTreeMap<ConfigResourceAddr, VertexId>,
    pub(super) instances: Vec<VertexId>,
    /// The instances by key, in every instance of their module.
    by_key: BTreeMap<(ConfigResourceAddr, InstanceKey), Vec<VertexId>>,
    pub(super) destroys: Vec<VertexId>,
}

impl Index {
    fn new(config: &Config) -> Self {
        Self {
            names: Names::new(config),
            providers: BTreeMap::new(),
            expands: BTreeMap::new(),
            done: BTreeMap::new(),
            gone: BTreeMap::new(),
            instances: Vec::new(),
            by_key: BTreeMap::new(),
            destroys: Vec::new(),
        }
    }

    /// What a mention in a module waits for: one instance that changes where a constant key names it,
    /// so that whatever becomes of the others does not matter; otherwise all of what is mentioned.
    fn mentioned(&self, node: &ModuleNode, reference: &Reference) -> &[VertexId] {
        if let (Subject::Resource(resource), Some(key)) =
            (&reference.subject, reference.instance_key())
        {
            let addr = ConfigResourceAddr { module: node.path.clone(), resource: resource.clone() };
            if let Some(instances) = self.by_key.get(&(addr, key)) {
                return instances;
            }
        }
        self.names.find(node, reference).map_or(&[], std::slice::from_ref)
    }
}

/// A graph being built.
pub(super) type Building<'c> = Draft<Vertex<'c>, Why>;

/// Builds the graph, not yet checked for cycles.
pub(super) fn draft<'c>(session: &'c Session<'c>, plan: &'c Plan) -> Building<'c> {
    let mut draft = Draft::new();
    let mut index = Index::new(session.config);
    add_values(session, &mut draft, &mut index);
    add_calls(session, &mut draft, &mut index);
    add_resources(session, &mut draft, &mut index);
    add_changes(session, plan, &mut draft, &mut index);
    add_providers(session, &mut draft, &mut index);
    connect_references(session.config, &mut draft, &index, plan.mode);
    connect_modules(session.config, &mut draft, &index);
    connect_joins(&mut draft, &index);
    connect_providers(&mut draft, &index);
    connect_checks(&mut draft, &index);
    order::connect(&mut draft, &index, plan.mode == Mode::Destroy);
    prune(plan, &mut draft);
    close_ephemeral(&mut draft);
    draft
}

/// What is written and what it mentions, whatever becomes of it.
pub(super) fn as_written<'c>(session: &'c Session<'c>) -> Building<'c> {
    let mut draft = Draft::new();
    let mut index = Index::new(session.config);
    add_values(session, &mut draft, &mut index);
    add_calls(session, &mut draft, &mut index);
    add_resources(session, &mut draft, &mut index);
    connect_references(session.config, &mut draft, &index, Mode::Normal);
    connect_modules(session.config, &mut draft, &index);
    connect_joins(&mut draft, &index);
    draft
}

/// The providers that the vertices need, also those that only say how to read what is stored and does
/// not change.
pub(super) fn providers(draft: &Building<'_>, plan: &Plan) -> Vec<ProviderAddr> {
    let mut needed = Vec::new();
    let mut seen = BTreeSet::new();
    for vertex in draft.vertices() {
        match vertex {
            Vertex::Provider(provider) => needed.push(provider.addr.provider.clone()),
            Vertex::Expand(expand) => drop(seen.insert(&expand.addr)),
            _ => {}
        }
    }
    let changes = |addr: InstanceAddr| plan.changes.contains_key(&(addr, None));
    let stored = plan.prior.resources.iter().filter(|(addr, stored)| {
        seen.contains(&addr.config())
            && !stored.instances.keys().all(|key| changes(addr.instance(key.clone())))
    });
    needed.extend(stored.map(|(_, stored)| stored.provider.provider.clone()));
    needed
}

fn add_values<'c>(session: &'c Session<'c>, draft: &mut Building<'c>, index: &mut Index) {
    for node in &session.config.nodes {
        let module = &*node.module;
        let variables = module.variables.values().map(NamedValue::Variable);
        let locals = module.locals.values().map(NamedValue::Local);
        let outputs = module.outputs.values().map(NamedValue::Output);
        let checks = module.checks.values().map(NamedValue::Check);
        for value in variables.chain(locals).chain(outputs).chain(checks) {
            let vertex = ValueVertex { node, value };
            let id = draft.add(Vertex::Value(vertex));
            index.names.insert_value(&vertex, id);
        }
    }
}

fn add_calls<'c>(session: &'c Session<'c>, draft: &mut Building<'c>, index: &mut Index) {
    let config = session.config;
    for call in config.nodes.iter().filter_map(|node| CallVertex::of(config, node)) {
        let (opened, closed) =
            (draft.add(Vertex::Call(call)), draft.add(Vertex::Closed(call.node)));
        index.names.insert_call(call.node, opened);
        index.names.insert_closed(call.node, closed);
    }
}

fn add_resources<'c>(session: &'c Session<'c>, draft: &mut Building<'c>, index: &mut Index) {
    for node in &session.config.nodes {
        for config in node.module.resources.values() {
            let (module, resource) = (node.path.clone(), config.name.clone());
            let addr = ConfigResourceAddr { module, resource };
            if config.name.mode() == Kind::Ephemeral {
                // One that names a configuration that is not there was refused when it was read.
                let Some(provider) = session.config.provider_of(node, config) else { continue };
                let vertex = Vertex::Open(OpenVertex { addr, node, config, provider });
                let subject = Subject::Resource(config.name.clone());
                let id = draft.add(vertex);
                index.names.insert(node, subject, id);
                continue;
            }
            let done = draft.add(Vertex::Done(addr.clone()));
            let expand = ExpandVertex { addr: addr.clone(), node, config };
            let expand = draft.add(Vertex::Expand(expand));
            index.names.insert(node, Subject::Resource(config.name.clone()), done);
            index.expands.insert(addr.clone(), expand);
            index.done.insert(addr, done);
        }
    }
}

fn add_changes<'c>(
    session: &'c Session<'c>,
    plan: &'c Plan,
    draft: &mut Building<'c>,
    index: &mut Index,
) {
    let last = Last::of(plan);
    for change in plan.changes.values() {
        let config = session.config.resource(&change.addr.of().config());
        let deposes = match change.action {
            Action::Replace(ReplaceOrder::CreateFirst) => {
                let is_free = |key: &_| plan.prior.object(&change.addr, Some(key)).is_none();
                deposed_keys().find(is_free)
            }
            _ => None,
        };
        let made =
            change.action.creates() || matches!(change.action, Action::Update | Action::Read);
        if made && let Some(config) = config {
            let deposes = deposes.clone();
            let vertex = InstanceVertex { change, config, deposes };
            let id = draft.add(Vertex::Instance(vertex));
            index.instances.push(id);
            let name = (change.addr.of().config(), change.addr.key.clone());
            index.by_key.entry(name).or_default().push(id);
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

/// Keys of eight hexadecimal digits by chance, without end.
fn deposed_keys() -> impl Iterator<Item = DeposedKey> {
    std::iter::repeat_with(|| {
        let mut digits = uuid::Uuid::new_v4().simple().to_string();
        digits.truncate(8);
        DeposedKey(digits.into())
    })
}

fn add_providers<'c>(session: &'c Session<'c>, draft: &mut Building<'c>, index: &mut Index) {
    let written = written_providers(session.config);
    let used: BTreeSet<_> =
        draft.vertices().iter().filter_map(Vertex::provider_used).cloned().collect();
    for addr in used {
        let written = written.get(&addr).copied();
        let id = draft.add(Vertex::Provider(ProviderVertex { addr: addr.clone(), written }));
        index.providers.insert(addr, id);
    }
}

fn connect_references(config: &Config, draft: &mut Building<'_>, index: &Index, mode: Mode) {
    let (vertices, edges) = draft.split();
    for (at, vertex) in (0..).map(VertexId).zip(vertices) {
        let own = match vertex {
            Vertex::Expand(expand) => index.done.get(&expand.addr).copied(),
            _ => None,
        };
        for (node, references) in mentions(config, vertex, mode) {
            for reference in references {
                let whole = index.names.find(node, reference).copied();
                if whole == Some(at) || whole.is_some() && whole == own {
                    continue;
                }
                for &to in index.mentioned(node, reference) {
                    edges.connect(at, to, Why::Mention(reference.whole));
                }
            }
        }
    }
}

fn mentions<'c>(
    config: &'c Config,
    vertex: &Vertex<'c>,
    mode: Mode,
) -> Vec<(&'c ModuleNode, &'c [Reference])> {
    match vertex {
        Vertex::Value(value) => value.mentions(config),
        Vertex::Call(call) => vec![call.mentions()],
        Vertex::Provider(provider) => provider.mentions().into_iter().collect(),
        // While everything is destroyed the state says what there is, and what the block mentions may
        // not have a value any more.
        Vertex::Expand(expand) if mode == Mode::Destroy && expand.is_managed() => Vec::new(),
        Vertex::Expand(expand) => vec![(expand.node, &expand.config.references)],
        Vertex::Open(open) => vec![(open.node, &open.config.references)],
        Vertex::Closed(_)
        | Vertex::Close(_)
        | Vertex::Instance(_)
        | Vertex::Destroy(_)
        | Vertex::Done(_)
        | Vertex::Gone(_)
        | Vertex::Free(_)
        | Vertex::Changed => Vec::new(),
    }
}

/// Everything in a called module waits until its instances are known, and the end of the module waits
/// for everything in it.
fn connect_modules(config: &Config, draft: &mut Building<'_>, index: &Index) {
    let (vertices, edges) = draft.split();
    for (at, vertex) in (0..).map(VertexId).zip(vertices) {
        if let Some(call) = vertex.module().and_then(|node| index.names.call(node)) {
            edges.connect(at, call, Why::Module);
        }
        let around = match vertex {
            Vertex::Closed(node) => node.caller.map(|caller| &config.nodes[caller]),
            Vertex::Done(addr) => config.node(&addr.module),
            other => other.module(),
        };
        if let Some(closed) = around.and_then(|node| index.names.closed(node)) {
            edges.connect(closed, at, Why::Module);
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

/// What a `check` block looks at is read when everything is as it will be.
fn connect_checks(draft: &mut Building<'_>, index: &Index) {
    let because = Why::Order("is looked at when everything else is done");
    let is_nested =
        |id: &&VertexId| matches!(&draft[**id], Vertex::Instance(i) if i.config.within.is_some());
    let (nested, changing): (Vec<VertexId>, Vec<VertexId>) =
        index.instances.iter().partition(|id| is_nested(id));
    if nested.is_empty() {
        return;
    }
    let changed = draft.add(Vertex::Changed);
    for id in changing.into_iter().chain(index.destroys.iter().copied()) {
        draft.connect(changed, id, because);
    }
    for id in nested {
        draft.connect(id, changed, because);
    }
}

fn connect_providers(draft: &mut Building<'_>, index: &Index) {
    let (vertices, edges) = draft.split();
    for (at, vertex) in (0..).map(VertexId).zip(vertices) {
        if let Some(&to) = vertex.provider_used().and_then(|addr| index.providers.get(addr)) {
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
            // The reference opens also those that nothing needs.
            Vertex::Open(_) => plan.mode == Mode::Normal && plan.targets.is_empty(),
            Vertex::Value(value) => match value.value {
                NamedValue::Output(output) if value.is_root_output() => {
                    plan.mode == Mode::Normal && plan.outputs.contains_key(&output.name)
                }
                NamedValue::Check(_) => plan.mode == Mode::Normal && plan.targets.is_empty(),
                _ => false,
            },
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

/// Adds a vertex for the end of each ephemeral resource, behind everything that uses it.
fn close_ephemeral(draft: &mut Building<'_>) {
    let opened =
        (0..).map(VertexId).zip(draft.vertices()).filter_map(|(id, vertex)| match vertex {
            Vertex::Open(open) => Some((id, Vertex::Close(open.addr.clone()))),
            _ => None,
        });
    let opened = opened.collect();
    add_closing(draft, opened, |vertex| match vertex {
        Vertex::Value(_)
        | Vertex::Call(_)
        | Vertex::Provider(_)
        | Vertex::Expand(_)
        | Vertex::Open(_) => true,
        Vertex::Closed(_)
        | Vertex::Close(_)
        | Vertex::Instance(_)
        | Vertex::Destroy(_)
        | Vertex::Done(_)
        | Vertex::Gone(_)
        | Vertex::Free(_)
        | Vertex::Changed => false,
    });
}
