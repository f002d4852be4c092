//! The order in which objects come and go. A dependent object goes before its dependencies; a
//! dependency may only be changed once the dependent is gone; the successor of the dependent waits
//! for both.
//!
//! Dependencies of an object are taken from the state, where they were recorded when the object was
//! made: by now the configuration may say something else, which `written` looks at.

mod break_cycles;
mod reference_order;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

pub(super) use self::break_cycles::break_order_cycles;
use super::destroy_timing::DestroyTiming;
use super::vertex::{ApplyVertex, DestroyJoinVertex, DestroyVertex, InstanceVertex};
use super::vertex_index::{GraphBuilder, VertexIndex};
use crate::addr::{ConfigResourceAddr, InstanceAddr, ProviderConfigAddr, ResourceMode};
use crate::change::{Action, ReplaceOrder};
use crate::graph::{Adjacency, VertexId};
use crate::shared_graph::EdgeReason;

const REASON_DEPENDENTS_DESTROYED_FIRST: EdgeReason =
    EdgeReason::DestroyOrder("goes after what depends on it, as the state has it");
const REASON_DESTROYED_BEFORE_CHANGES: EdgeReason =
    EdgeReason::DestroyOrder("changes after what depended on it is destroyed, as the state has it");
const REASON_CHANGE_AFTER_DESTROY: EdgeReason =
    EdgeReason::DestroyOrder("comes after what it depended on is destroyed, as the state has it");
const REASON_PREDECESSOR_DESTROYED_FIRST: EdgeReason =
    EdgeReason::DestroyOrder("replaces it, and create_before_destroy is not set");
const REASON_DESTROYED_LAST: EdgeReason = EdgeReason::CreateBeforeDestroy;
/// For both of the orders that come of the configuration alone.
const REASON_REFERENCE_ORDER: EdgeReason =
    EdgeReason::DestroyOrder("comes after what mentions it is destroyed");
const REASON_CONFIGURES_PROVIDER: EdgeReason =
    EdgeReason::DestroyOrder("configures the provider that does the other");

/// Adds the edges that keep objects in order. `destroying` is set when everything goes.
pub(super) fn add_order_edges(draft: &mut GraphBuilder<'_>, index: &VertexIndex, destroying: bool) {
    connect_destroy_joins(draft, index);
    // In a full destroy nothing is changed, so no destruction can wait for a provider that a change
    // configures. The opposite order is added at the end instead.
    let behind =
        if destroying { ProviderDependencies::new() } else { provider_dependencies(draft, index) };
    connect_destroys(draft, index, &behind);
    connect_creations(draft, index);
    connect_replacement_halves(draft, index);
    if destroying {
        destroy_provider_users_first(draft, index);
    }
}

fn destroy_vertices<'v, 'c>(
    vertices: &'v [ApplyVertex<'c>],
    index: &'v VertexIndex,
) -> impl Iterator<Item = (VertexId, &'v DestroyVertex<'c>)> {
    index.destroys.iter().filter_map(|&id| Some((id, vertices[id.index()].as_destroy()?)))
}

fn config_resource_addr(addr: &InstanceAddr) -> ConfigResourceAddr {
    addr.resource_addr().config_addr()
}

/// The join of a resource's destroyed objects waits for each of them.
fn connect_destroy_joins(draft: &mut GraphBuilder<'_>, index: &VertexIndex) {
    let (vertices, edges) = draft.split_vertices_and_edges();
    for (id, destroy) in destroy_vertices(vertices, index) {
        if let Some(&gone) = index.gone.get(&config_resource_addr(&destroy.change.addr)) {
            edges.connect(gone, id, EdgeReason::DestroyOrder("belongs to that resource"));
        }
    }
}

/// Vertices of one resource.
#[derive(Default)]
struct ResourceVertices {
    /// The join of its destroyed objects.
    gone: Option<VertexId>,
    /// The join of its instances, if it is in the configuration.
    done: Option<VertexId>,
    /// Vertices that create or change its instances.
    makers: Vec<VertexId>,
    /// Vertices that read its instances, if it is a data source, other than one in a `check` block,
    /// which is read when everything is done.
    readers: Vec<VertexId>,
    /// Destroyed objects that go before anything takes their place.
    first: Vec<VertexId>,
    /// Destroyed objects that go last.
    last: Vec<VertexId>,
    /// Resources with objects that can go only when one of those that go last is gone.
    after_last: BTreeSet<usize>,
    /// Whether one of them is destroyed before its successor is created.
    destroyed_first: bool,
    /// Whether one of them is destroyed after its successor is created.
    created_first: bool,
}

impl ResourceVertices {
    /// The vertices after which the objects that go first are gone: the join, unless that would wait
    /// for those that go last too.
    fn first_destroyed_vertices(&self) -> &[VertexId] {
        match &self.gone {
            // With few objects the join has the same effect as single edges, and with many it keeps
            // their number linear. It is only wrong if objects of both groups share it.
            _ if self.first.is_empty() => &[],
            Some(gone) if self.last.is_empty() => std::slice::from_ref(gone),
            _ => &self.first,
        }
    }
}

/// The resources among the vertices by number: dependencies are compared in many pairs, and numbers
/// are small and quickly compared.
struct ResourceNumbers<'i> {
    numbers: HashMap<&'i ConfigResourceAddr, usize>,
    names: Vec<&'i ConfigResourceAddr>,
    parts: Vec<ResourceVertices>,
}

impl<'i> ResourceNumbers<'i> {
    fn from_vertices(vertices: &[ApplyVertex<'_>], index: &'i VertexIndex) -> Self {
        let mut resources = Self { numbers: HashMap::new(), names: Vec::new(), parts: Vec::new() };
        for (name, &done) in &index.done {
            resources.add_resource(name).done = Some(done);
        }
        for (name, &gone) in &index.gone {
            resources.add_resource(name).gone = Some(gone);
        }
        for (id, destroy) in destroy_vertices(vertices, index) {
            let Some(at) = resources.number_of(&config_resource_addr(&destroy.change.addr)) else {
                continue;
            };
            if destroy.timing == DestroyTiming::AfterSuccessor {
                // Collected, because `resources` is borrowed for the names and changed in the next
                // line.
                let on: Vec<_> =
                    resources.numbers_except(at, &destroy.change.prior_dependencies).collect();
                resources.parts[at].after_last.extend(on);
            }
            let parts = &mut resources.parts[at];
            let group = match destroy.timing {
                DestroyTiming::First => &mut parts.first,
                DestroyTiming::AfterSuccessor | DestroyTiming::Last => &mut parts.last,
            };
            group.push(id);
            if let Action::Replace(order) = destroy.change.action {
                parts.destroyed_first |= order == ReplaceOrder::DestroyFirst;
                parts.created_first |= order == ReplaceOrder::CreateFirst;
            }
        }
        for &id in &index.instances {
            if let Some(InstanceVertex { change, config, .. }) = vertices[id.index()].as_instance()
                && let Some(at) = resources.number_of(&config_resource_addr(&change.addr))
            {
                let parts = &mut resources.parts[at];
                match change.addr.resource.mode() {
                    ResourceMode::Managed => parts.makers.push(id),
                    // A read after a destruction must not see the destroyed object, for example in
                    // a list of all objects of a service.
                    _ if config.within.is_none() => parts.readers.push(id),
                    _ => {}
                }
            }
        }
        resources
    }

    fn add_resource(&mut self, name: &'i ConfigResourceAddr) -> &mut ResourceVertices {
        let at = *self.numbers.entry(name).or_insert(self.parts.len());
        if at == self.parts.len() {
            self.names.push(name);
            self.parts.push(ResourceVertices::default());
        }
        &mut self.parts[at]
    }

    fn number_of(&self, name: &ConfigResourceAddr) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// The numbers of the named resources other than `own`. A resource that is neither in the
    /// configuration nor destroyed has none.
    fn numbers_except(
        &self,
        own: usize,
        names: &[ConfigResourceAddr],
    ) -> impl Iterator<Item = usize> {
        names.iter().filter_map(|name| self.number_of(name)).filter(move |on| *on != own)
    }
}

/// Many that wait for many.
struct JoinVertex {
    /// The resource of the dependency, as its dependents see it.
    of: ConfigResourceAddr,
    waiting: Vec<VertexId>,
    on: Vec<VertexId>,
    why: EdgeReason,
}

/// Adds the edges, over a join where there would be one for each of many pairs.
fn connect_over_joins(draft: &mut GraphBuilder<'_>, waits: Vec<JoinVertex>) {
    for JoinVertex { of, waiting, mut on, why } in waits {
        // n dependents on m dependencies would be n·m edges. With a thousand instances on each side
        // that is a million, and the graph would be slower to build than to walk.
        if waiting.len() > 1 && on.len() > 1 {
            let join = draft.add(DestroyJoinVertex { addr: of }.into());
            on.iter().for_each(|&on| draft.connect(join, on, why));
            on = vec![join];
        }
        for &waiting in &waiting {
            on.iter().for_each(|&on| draft.connect(waiting, on, why));
        }
    }
}

/// Orders destructions. An object goes after everything that was made after it is gone. Its
/// dependencies are changed or recreated only when it is gone, unless it goes last.
fn connect_destroys(
    draft: &mut GraphBuilder<'_>,
    index: &VertexIndex,
    behind: &ProviderDependencies,
) {
    let resources = ResourceNumbers::from_vertices(draft.vertices(), index);
    // An object that goes only after something that goes last may have to wait for a change: the
    // change comes after the successor of the object that goes last, and the successor may use the
    // changed object.
    let after_last: BTreeSet<usize> =
        resources.parts.iter().flat_map(|parts| &parts.after_last).copied().collect();
    // Objects that a provider configuration depends on are changed before the provider can do
    // anything, so they cannot wait for the object.
    let configures = |on: usize, provider: &ProviderConfigAddr| {
        behind.get(provider).is_some_and(|behind| behind.contains(resources.names[on]))
    };
    let (vertices, edges) = draft.split_vertices_and_edges();
    // Objects of one resource usually share their dependencies, so pairs of resources are collected
    // first and joined once: the dependency, the dependent, and whether objects of the dependent go
    // first.
    let mut pairs: Vec<(u32, u32, bool)> = Vec::new();
    let mut before = None;
    for (id, destroy) in destroy_vertices(vertices, index) {
        let Some(own) = resources.number_of(&config_resource_addr(&destroy.change.addr)) else {
            continue;
        };
        let (names, timing) = (&destroy.change.prior_dependencies, destroy.timing);
        let configures = |on| configures(on, &destroy.change.provider);
        // The lists are shared between instances of one resource, so comparing pointers recognises
        // equal ones without comparing the lists. Distinct but equal lists only cost time.
        let group = Some((own, Arc::as_ptr(names), timing));
        if before != group {
            // There are fewer resources than vertices, whose numbers fit.
            let goes_first = timing == DestroyTiming::First && !after_last.contains(&own);
            let pair = |on| (on as u32, own as u32, goes_first && !configures(on));
            let others = resources.numbers_except(own, names);
            let free =
                others.filter(|&on| !(resources.parts[on].destroyed_first && configures(on)));
            pairs.extend(free.map(pair));
        }
        before = group;
        for on in resources.numbers_except(own, names).filter(|_| timing == DestroyTiming::Last) {
            let ResourceVertices { done, makers, .. } = &resources.parts[on];
            if let Some(done) = done.filter(|_| !makers.is_empty()) {
                // An object that goes last is destroyed after the changes of its dependencies,
                // while all others are destroyed before them.
                edges.connect(id, done, REASON_DESTROYED_LAST);
            }
        }
    }
    let goes_first = |on: usize, own: usize, provider: &ProviderConfigAddr| {
        let parts = &resources.parts[own];
        parts.last.is_empty() && !after_last.contains(&own) && !configures(on, provider)
    };
    let written = reference_order::reference_pairs(vertices, index, &resources, goes_first);
    // Of equal edges the first reason counts.
    // Edges from the state precede those from the configuration. `relax` removes only the latter if
    // they close a cycle, so an edge that both demand must carry the reason of the state.
    let stored = join_vertices_for_pairs(
        &resources,
        pairs,
        [REASON_DESTROYED_BEFORE_CHANGES, REASON_DEPENDENTS_DESTROYED_FIRST],
    );
    let written = join_vertices_for_pairs(&resources, written, [REASON_REFERENCE_ORDER; 2]);
    connect_over_joins(draft, stored);
    connect_over_joins(draft, written);
}

/// Edges between vertices, given the pairs in which resources depend on each other.
fn join_vertices_for_pairs(
    resources: &ResourceNumbers<'_>,
    mut pairs: Vec<(u32, u32, bool)>,
    whys: [EdgeReason; 2],
) -> Vec<JoinVertex> {
    pairs.sort_unstable();
    pairs.dedup();
    // Sorted by dependency, so that each dependency gets one pair of joins, whatever the number of
    // its dependents.
    pairs
        .chunk_by(|a, b| a.0 == b.0)
        .flat_map(|pairs| join_vertices_of_resource(resources, pairs, whys))
        .collect()
}

/// Vertices of a resource that wait, given the pairs in which others depend on it: those that
/// create or change, and those that destroy.
fn join_vertices_of_resource(
    resources: &ResourceNumbers<'_>,
    pairs: &[(u32, u32, bool)],
    [before_changes, dependents_first]: [EdgeReason; 2],
) -> [JoinVertex; 2] {
    let of = pairs.first().map_or(0, |pair| pair.0 as usize);
    let (name, parts) = (resources.names[of], &resources.parts[of]);
    let dependents = |pairs: &[(u32, u32, bool)]| -> Vec<usize> {
        pairs.iter().map(|(_, dependent, _)| *dependent as usize).collect()
    };
    let first: Vec<_> = pairs.iter().copied().filter(|(_, _, goes_first)| *goes_first).collect();
    let first_gone = dependents(&first);
    let first_gone =
        first_gone.iter().flat_map(|&at| resources.parts[at].first_destroyed_vertices()).copied();
    let mut all = dependents(pairs);
    // Pairs are sorted, so equal dependents are neighbours.
    all.dedup();
    let gone = all.iter().filter_map(|&at| resources.parts[at].gone);
    let destroys = parts.first.iter().chain(&parts.last).copied();
    let wait = |waiting, on, why| JoinVertex { of: name.clone(), waiting, on, why };
    [
        wait(parts.makers.clone(), first_gone.collect(), before_changes),
        wait(destroys.collect(), gone.collect(), dependents_first),
    ]
}

/// Orders creations. A vertex that creates, changes or reads waits until the objects that it
/// depends on, by the state or the configuration, and that are destroyed are gone; those that go
/// last wait for it instead.
fn connect_creations(draft: &mut GraphBuilder<'_>, index: &VertexIndex) {
    let resources = ResourceNumbers::from_vertices(draft.vertices(), index);
    let vertices = draft.vertices();
    let mut waits = Vec::new();
    let mut users: Vec<Vec<VertexId>> = vec![Vec::new(); resources.parts.len()];
    for (own, parts) in resources.parts.iter().enumerate() {
        let mut depends_on = BTreeSet::new();
        let mut before = None;
        for &id in parts.makers.iter().chain(&parts.readers) {
            let Some(InstanceVertex { change, .. }) = vertices[id.index()].as_instance() else {
                continue;
            };
            let lists =
                Some((Arc::as_ptr(&change.prior_dependencies), Arc::as_ptr(&change.dependencies)));
            // Instances of one resource share their lists, so most of a thousand instances are
            // skipped here.
            if std::mem::replace(&mut before, lists) == lists {
                continue;
            }
            // Both lists count: the recorded dependencies are in use now, and those of the
            // configuration will be.
            depends_on.extend(resources.numbers_except(own, &change.prior_dependencies));
            depends_on.extend(resources.numbers_except(own, &change.dependencies));
        }
        // Objects that it used until now go after it, and the objects that those were made after go
        // after them.
        let after_last: BTreeSet<usize> =
            depends_on.iter().flat_map(|&on| &resources.parts[on].after_last).copied().collect();
        let gone = depends_on.difference(&after_last);
        let gone = gone.flat_map(|&on| resources.parts[on].first_destroyed_vertices()).copied();
        // An object that goes after the old object cannot go before the new one comes.
        if !parts.created_first {
            let of = resources.names[own].clone();
            let waiting = parts.makers.iter().chain(&parts.readers).copied().collect();
            let (on, why) = (gone.collect(), REASON_CHANGE_AFTER_DESTROY);
            waits.push(JoinVertex { of, waiting, on, why });
        }
        for &on in &depends_on {
            // The join and not the instances: a dependent without changes has none in this graph.
            users[on].extend(parts.done);
        }
    }
    for (at, users) in users.into_iter().enumerate() {
        let (of, waiting) = (resources.names[at].clone(), resources.parts[at].last.clone());
        waits.push(JoinVertex { of, waiting, on: users, why: REASON_DESTROYED_LAST });
    }
    connect_over_joins(draft, waits);
}

/// Connects the two halves of a replacement. Objects deposed before go when the instance is as planned,
/// as in Terraform: they may be all that exists, if nothing can be made.
fn connect_replacement_halves(draft: &mut GraphBuilder<'_>, index: &VertexIndex) {
    // Unless one has to go before something that is replaced: then it waits for nothing, and
    // nothing for it.
    let (vertices, edges) = draft.split_vertices_and_edges();
    let mut makers: BTreeMap<&InstanceAddr, VertexId> = BTreeMap::new();
    for &id in &index.instances {
        if let Some(instance) = vertices[id.index()].as_instance() {
            makers.insert(&instance.change.addr, id);
        }
    }
    for (id, destroy) in destroy_vertices(vertices, index) {
        // Names and ports are often unique, so the new object can only be created after the old one
        // is gone.
        let holds_up = destroy.change.deposed.is_none();
        if let Some(&maker) = makers.get(&destroy.change.addr) {
            if destroy.timing.is_after_successor() {
                edges.connect(id, maker, REASON_DESTROYED_LAST);
            } else if holds_up {
                edges.connect(maker, id, REASON_PREDECESSOR_DESTROYED_FIRST);
            }
        }
    }
}

/// For each provider configuration, the resources it is made of.
type ProviderDependencies = BTreeMap<ProviderConfigAddr, BTreeSet<ConfigResourceAddr>>;

fn provider_dependencies(draft: &GraphBuilder<'_>, index: &VertexIndex) -> ProviderDependencies {
    let dependencies = required_vertices(draft);
    let needed = index.names.provider_vertices().iter();
    // Most provider configurations depend on no object. Without this the graph would be searched
    // for each of them.
    let needed = needed.filter(|(_, id)| !dependencies.neighbors(**id).is_empty());
    needed
        .map(|(addr, &id)| {
            (addr.clone(), resources_behind_provider(draft.vertices(), index, &dependencies, id))
        })
        .collect()
}

/// Vertices that each vertex needs for its own sake, not for the sake of order.
fn required_vertices(draft: &GraphBuilder<'_>) -> Adjacency {
    // Edges of order lead from nearly every vertex to nearly every other, so following them would
    // put all resources behind each provider.
    draft.dependencies_by_edges_where(|edge| !edge.why.is_order_only())
}

/// When everything is destroyed, the objects that configure a provider go after all objects of that
/// provider.
fn destroy_provider_users_first(draft: &mut GraphBuilder<'_>, index: &VertexIndex) {
    let dependencies = required_vertices(draft);
    let mut users: BTreeMap<VertexId, BTreeSet<ConfigResourceAddr>> = BTreeMap::new();
    for (_, destroy) in destroy_vertices(draft.vertices(), index) {
        if let Some(&provider) = index.names.provider_vertices().get(&destroy.change.provider) {
            users.entry(provider).or_default().insert(config_resource_addr(&destroy.change.addr));
        }
    }
    let mut waits = Vec::new();
    for (provider, users) in users {
        let needed = resources_behind_provider(draft.vertices(), index, &dependencies, provider);
        let behind = destroy_vertices(draft.vertices(), index);
        let behind = behind
            .filter(|(_, destroy)| needed.contains(&config_resource_addr(&destroy.change.addr)));
        let waiting: Vec<_> = behind.map(|(id, _)| id).collect();
        // An object of the provider that configures the provider itself cannot go after itself.
        let others = users.iter().filter(|user| !needed.contains(user));
        let gone = others.filter_map(|user| index.gone.get(user).copied());
        if let Some(of) = needed.first().cloned() {
            let (on, why) = (gone.collect(), REASON_CONFIGURES_PROVIDER);
            waits.push(JoinVertex { of, waiting, on, why });
        }
    }
    connect_over_joins(draft, waits);
}

/// The resources that a provider's configuration mentions, through values too.
fn resources_behind_provider(
    vertices: &[ApplyVertex<'_>],
    index: &VertexIndex,
    dependencies: &Adjacency,
    provider: VertexId,
) -> BTreeSet<ConfigResourceAddr> {
    let mut names = BTreeSet::new();
    let mut seen = BTreeSet::from([provider]);
    let mut queue = vec![provider];
    while let Some(id) = queue.pop() {
        for &on in dependencies.neighbors(id) {
            let vertex = &vertices[on.index()];
            let made = vertex.as_instance();
            let made = made.map(|instance| instance.change.addr.resource_addr().config_addr());
            let mentioned = made.or_else(|| vertex.done_resource().cloned());
            if let Some(name) = mentioned {
                // Vertices behind that resource are behind the provider too.
                if let Some(&expand) = index.expands.get(&name)
                    && seen.insert(expand)
                {
                    queue.push(expand);
                }
                names.insert(name);
            }
            if seen.insert(on) {
                queue.push(on);
            }
        }
    }
    names
}
