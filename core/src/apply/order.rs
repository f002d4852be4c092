//! The order in which objects are created and destroyed. A dependent object is destroyed before its
//! dependencies; a dependency may only be changed once the dependent is destroyed; the successor of
//! the dependent waits for both.
//!
//! Dependencies of an object are taken from the state, where they were recorded when the object was
//! created. The configuration may have changed since: `reference_order` reads it.

mod break_cycles;
mod reference_order;
mod resource_numbers;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(super) use self::break_cycles::break_order_cycles;
use self::resource_numbers::{ResourceNumbers, ResourceVertices};
use super::destroy_timing::DestroyTiming;
use super::vertex::{ApplyVertex, DestroyJoinVertex, DestroyVertex, InstanceVertex};
use super::vertex_index::{GraphBuilder, VertexIndex};
use crate::addr::{ConfigResourceAddr, InstanceAddr, ProviderConfigAddr};
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
/// For both orders that only the configuration requires.
const REASON_REFERENCE_ORDER: EdgeReason =
    EdgeReason::DestroyOrder("comes after what mentions it is destroyed");
const REASON_CONFIGURES_PROVIDER: EdgeReason =
    EdgeReason::DestroyOrder("configures the provider that does the other");

/// Adds the edges that keep objects in order. `destroying` is set if everything is destroyed.
pub(super) fn add_order_edges(draft: &mut GraphBuilder<'_>, index: &VertexIndex, destroying: bool) {
    connect_destroy_joins(draft, index);
    // In a full destroy nothing is changed, so no destruction can wait for a provider that a change
    // configures. The opposite order is added at the end instead.
    let dependencies =
        if destroying { ProviderDependencies::new() } else { provider_dependencies(draft, index) };
    connect_destroys(draft, index, &dependencies);
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
        if let Some(&join) = index.destroyed.get(&config_resource_addr(&destroy.change.addr)) {
            edges.connect(join, id, EdgeReason::DestroyOrder("belongs to that resource"));
        }
    }
}

/// A many-to-many dependency, stored as one join vertex.
struct JoinVertex {
    /// The resource of the dependency, as its dependents see it.
    resource: ConfigResourceAddr,
    dependents: Vec<VertexId>,
    dependencies: Vec<VertexId>,
    reason: EdgeReason,
}

/// Adds the edges, over a join where there would be one for each of many pairs.
fn connect_over_joins(draft: &mut GraphBuilder<'_>, waits: Vec<JoinVertex>) {
    for JoinVertex { resource, dependents, mut dependencies, reason } in waits {
        // n dependents on m dependencies would be n·m edges. With a thousand instances on each side
        // that is a million, and the graph would be slower to build than to walk.
        if dependents.len() > 1 && dependencies.len() > 1 {
            let join = draft.add(DestroyJoinVertex { addr: resource }.into());
            dependencies.iter().for_each(|&dependency| draft.connect(join, dependency, reason));
            dependencies = vec![join];
        }
        for &dependent in &dependents {
            for &dependency in &dependencies {
                draft.connect(dependent, dependency, reason);
            }
        }
    }
}

/// A dependency between two resources, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ResourcePair {
    dependency: u32,
    dependent: u32,
    /// Whether objects of the dependent are destroyed before the dependency is changed.
    destroyed_before_changes: bool,
}

impl ResourcePair {
    fn new(dependency: usize, dependent: usize, destroyed_before_changes: bool) -> Self {
        // There are fewer resources than vertices, whose numbers fit.
        let (dependency, dependent) = (dependency as u32, dependent as u32);
        Self { dependency, dependent, destroyed_before_changes }
    }
}

/// Orders destructions. An object is destroyed after everything that was created after it. Its
/// dependencies are changed or recreated only after it is destroyed, unless it is destroyed last.
fn connect_destroys(
    draft: &mut GraphBuilder<'_>,
    index: &VertexIndex,
    provider_dependencies: &ProviderDependencies,
) {
    let resources = ResourceNumbers::from_vertices(draft.vertices(), index);
    connect_last_destroys(draft, index, &resources);
    let order = DestroyOrder::new(&resources, provider_dependencies);
    let stored = order.stored_pairs(draft.vertices(), index);
    let written = reference_order::reference_pairs(draft.vertices(), index, &order);
    // Of equal edges the first reason counts.
    // Edges from the state precede those from the configuration. `relax` removes only the latter if
    // they close a cycle, so an edge that both demand must carry the reason of the state.
    let stored = join_vertices_for_pairs(
        &resources,
        stored,
        [REASON_DESTROYED_BEFORE_CHANGES, REASON_DEPENDENTS_DESTROYED_FIRST],
    );
    let written = join_vertices_for_pairs(&resources, written, [REASON_REFERENCE_ORDER; 2]);
    connect_over_joins(draft, stored);
    connect_over_joins(draft, written);
}

/// Connects objects that go last: they are destroyed after the changes of their dependencies, while
/// all others are destroyed before them.
fn connect_last_destroys(
    draft: &mut GraphBuilder<'_>,
    index: &VertexIndex,
    resources: &ResourceNumbers<'_>,
) {
    let (vertices, edges) = draft.split_vertices_and_edges();
    for (id, destroy) in destroy_vertices(vertices, index) {
        if destroy.timing != DestroyTiming::Last {
            continue;
        }
        let Some(dependent) = resources.number_of(&config_resource_addr(&destroy.change.addr))
        else {
            continue;
        };
        for dependency in resources.numbers_except(dependent, &destroy.change.prior_dependencies) {
            let ResourceVertices { done, makers, .. } = &resources.parts[dependency];
            if let Some(done) = done.filter(|_| !makers.is_empty()) {
                edges.connect(id, done, REASON_DESTROYED_LAST);
            }
        }
    }
}

/// The rules by which destroyed objects precede the changes of their dependencies.
struct DestroyOrder<'r, 'i> {
    resources: &'r ResourceNumbers<'i>,
    provider_dependencies: &'r ProviderDependencies,
    /// Resources with objects that are destroyed only after an object that is destroyed last.
    after_last: BTreeSet<usize>,
}

impl<'r, 'i> DestroyOrder<'r, 'i> {
    fn new(
        resources: &'r ResourceNumbers<'i>,
        provider_dependencies: &'r ProviderDependencies,
    ) -> Self {
        let after_last = resources.parts.iter().flat_map(|parts| &parts.after_last);
        Self { resources, provider_dependencies, after_last: after_last.copied().collect() }
    }

    /// Collects the pairs of destroyed resources and their dependencies by the state.
    fn stored_pairs(&self, vertices: &[ApplyVertex<'_>], index: &VertexIndex) -> Vec<ResourcePair> {
        let resources = self.resources;
        let mut pairs = Vec::new();
        let mut previous_group = None;
        for (_, destroy) in destroy_vertices(vertices, index) {
            let Some(dependent) = resources.number_of(&config_resource_addr(&destroy.change.addr))
            else {
                continue;
            };
            let (names, timing) = (&destroy.change.prior_dependencies, destroy.timing);
            // Objects of one resource usually share their dependencies: the lists are shared, so
            // comparing pointers recognises equal ones without comparing the lists. Distinct but
            // equal lists only cost time.
            let group = Some((dependent, Arc::as_ptr(names), timing));
            if std::mem::replace(&mut previous_group, group) == group {
                continue;
            }
            let goes_first =
                timing == DestroyTiming::First && !self.after_last.contains(&dependent);
            for dependency in resources.numbers_except(dependent, names) {
                let configures = self.configures(dependency, &destroy.change.provider);
                if !(configures && resources.parts[dependency].destroyed_first) {
                    let is_before_changes = goes_first && !configures;
                    pairs.push(ResourcePair::new(dependency, dependent, is_before_changes));
                }
            }
        }
        pairs
    }

    /// Whether objects of a resource may be destroyed before one of its dependencies is changed,
    /// given their provider.
    fn may_precede_changes(
        &self,
        dependency: usize,
        dependent: usize,
        provider: &ProviderConfigAddr,
    ) -> bool {
        // An object destroyed only after one that is destroyed last may have to wait for a change:
        // the change follows the successor of the object that is destroyed last, which may use
        // the changed object.
        self.resources.parts[dependent].last.is_empty()
            && !self.after_last.contains(&dependent)
            && !self.configures(dependency, provider)
    }

    /// Whether a provider configuration depends on a resource.
    fn configures(&self, resource: usize, provider: &ProviderConfigAddr) -> bool {
        // Its objects are changed before the provider can do anything, so they cannot wait for an
        // object of the provider.
        let dependencies = self.provider_dependencies.get(provider);
        dependencies.is_some_and(|names| names.contains(self.resources.names[resource]))
    }
}

/// Edges between vertices, given the pairs in which resources depend on each other.
fn join_vertices_for_pairs(
    resources: &ResourceNumbers<'_>,
    mut pairs: Vec<ResourcePair>,
    reasons: [EdgeReason; 2],
) -> Vec<JoinVertex> {
    pairs.sort_unstable();
    pairs.dedup();
    // Sorted by dependency, so that each dependency gets one pair of joins, whatever the number of
    // its dependents.
    pairs
        .chunk_by(|a, b| a.dependency == b.dependency)
        .flat_map(|pairs| join_vertices_of_resource(resources, pairs, reasons))
        .collect()
}

/// Vertices of a resource that wait, given the pairs in which others depend on it: those that
/// create or change, and those that destroy.
fn join_vertices_of_resource(
    resources: &ResourceNumbers<'_>,
    pairs: &[ResourcePair],
    [before_changes, dependents_first]: [EdgeReason; 2],
) -> [JoinVertex; 2] {
    let dependency = pairs.first().map_or(0, |pair| pair.dependency as usize);
    let (name, parts) = (resources.names[dependency], &resources.parts[dependency]);
    let first_destroyed = pairs
        .iter()
        .filter(|pair| pair.destroyed_before_changes)
        .flat_map(|pair| resources.parts[pair.dependent as usize].first_destroyed_vertices())
        .copied();
    let mut dependents: Vec<usize> = pairs.iter().map(|pair| pair.dependent as usize).collect();
    // Pairs are sorted, so equal dependents are neighbours.
    dependents.dedup();
    let destroyed = dependents.iter().filter_map(|&number| resources.parts[number].destroyed);
    let destroys = parts.first.iter().chain(&parts.last).copied();
    let join = |dependents, dependencies, reason| JoinVertex {
        resource: name.clone(),
        dependents,
        dependencies,
        reason,
    };
    [
        join(parts.makers.clone(), first_destroyed.collect(), before_changes),
        join(destroys.collect(), destroyed.collect(), dependents_first),
    ]
}

/// Orders creations. A vertex that creates, changes or reads waits for the destruction of objects
/// that it depends on by the state or the configuration. Those that are destroyed last wait for the
/// vertex instead.
fn connect_creations(draft: &mut GraphBuilder<'_>, index: &VertexIndex) {
    let resources = ResourceNumbers::from_vertices(draft.vertices(), index);
    let vertices = draft.vertices();
    let mut waits = Vec::new();
    let mut users: Vec<Vec<VertexId>> = vec![Vec::new(); resources.parts.len()];
    for (dependent, parts) in resources.parts.iter().enumerate() {
        let mut depends_on = BTreeSet::new();
        let mut previous_lists = None;
        for &id in parts.makers.iter().chain(&parts.readers) {
            let Some(InstanceVertex { change, .. }) = vertices[id.index()].as_instance() else {
                continue;
            };
            let lists =
                Some((Arc::as_ptr(&change.prior_dependencies), Arc::as_ptr(&change.dependencies)));
            // Instances of one resource share their lists, so most of a thousand instances are
            // skipped here.
            if std::mem::replace(&mut previous_lists, lists) == lists {
                continue;
            }
            // Both lists count: the recorded dependencies are in use now, and those of the
            // configuration will be.
            depends_on.extend(resources.numbers_except(dependent, &change.prior_dependencies));
            depends_on.extend(resources.numbers_except(dependent, &change.dependencies));
        }
        // Objects that it used until now go after it, and the objects that those were made after go
        // after them.
        let after_last: BTreeSet<usize> = depends_on
            .iter()
            .flat_map(|&dependency| &resources.parts[dependency].after_last)
            .copied()
            .collect();
        // An object destroyed after the old object cannot be destroyed before its successor exists.
        if !parts.created_first {
            let destroyed = depends_on
                .difference(&after_last)
                .flat_map(|&dependency| resources.parts[dependency].first_destroyed_vertices());
            waits.push(JoinVertex {
                resource: resources.names[dependent].clone(),
                dependents: parts.makers.iter().chain(&parts.readers).copied().collect(),
                dependencies: destroyed.copied().collect(),
                reason: REASON_CHANGE_AFTER_DESTROY,
            });
        }
        for &dependency in &depends_on {
            // The join and not the instances: a dependent without changes has none in this graph.
            users[dependency].extend(parts.done);
        }
    }
    for (number, users) in users.into_iter().enumerate() {
        waits.push(JoinVertex {
            resource: resources.names[number].clone(),
            dependents: resources.parts[number].last.clone(),
            dependencies: users,
            reason: REASON_DESTROYED_LAST,
        });
    }
    connect_over_joins(draft, waits);
}

/// Connects the two halves of a replacement. Objects deposed by earlier runs are destroyed after the
/// instance is changed, as in Terraform: if nothing can be created, they may be all that exists.
fn connect_replacement_halves(draft: &mut GraphBuilder<'_>, index: &VertexIndex) {
    // One that has to be destroyed before a replaced object is connected to nothing.
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

/// For each provider configuration, the resources it depends on.
type ProviderDependencies = BTreeMap<ProviderConfigAddr, BTreeSet<ConfigResourceAddr>>;

fn provider_dependencies(draft: &GraphBuilder<'_>, index: &VertexIndex) -> ProviderDependencies {
    let dependencies = required_vertices(draft);
    let needed = index.names.provider_vertices().iter();
    // Most provider configurations depend on no object. Without this the graph would be searched
    // for each of them.
    let needed = needed.filter(|(_, id)| !dependencies.neighbors(**id).is_empty());
    needed
        .map(|(addr, &id)| {
            (addr.clone(), resources_of_provider_config(draft.vertices(), index, &dependencies, id))
        })
        .collect()
}

/// Vertices that each vertex needs for its own sake, not for the sake of order.
fn required_vertices(draft: &GraphBuilder<'_>) -> Adjacency {
    // Edges of order lead from nearly every vertex to nearly every other, so following them would
    // make each provider depend on all resources.
    draft.dependencies_by_edges_where(|edge| !edge.reason.is_order_only())
}

/// In a full destroy, orders the objects that configure a provider after all objects of that
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
        let needed = resources_of_provider_config(draft.vertices(), index, &dependencies, provider);
        let waiting = destroy_vertices(draft.vertices(), index)
            .filter(|(_, destroy)| needed.contains(&config_resource_addr(&destroy.change.addr)));
        let dependents: Vec<_> = waiting.map(|(id, _)| id).collect();
        // An object of the provider that configures the provider itself cannot go after itself.
        let others = users.iter().filter(|user| !needed.contains(user));
        let dependencies = others.filter_map(|user| index.destroyed.get(user).copied()).collect();
        if let Some(resource) = needed.first().cloned() {
            let reason = REASON_CONFIGURES_PROVIDER;
            waits.push(JoinVertex { resource, dependents, dependencies, reason });
        }
    }
    connect_over_joins(draft, waits);
}

/// The resources that a provider's configuration depends on, including through values.
fn resources_of_provider_config(
    vertices: &[ApplyVertex<'_>],
    index: &VertexIndex,
    dependencies: &Adjacency,
    provider: VertexId,
) -> BTreeSet<ConfigResourceAddr> {
    let mut names = BTreeSet::new();
    let mut seen = BTreeSet::from([provider]);
    let mut queue = vec![provider];
    while let Some(id) = queue.pop() {
        for &dependency in dependencies.neighbors(id) {
            let vertex = &vertices[dependency.index()];
            let changed = vertex.as_instance();
            let changed = changed.map(|instance| config_resource_addr(&instance.change.addr));
            let resource = changed.or_else(|| vertex.done_resource().cloned());
            if let Some(name) = resource {
                // The provider also depends on the dependencies of that resource.
                if let Some(&expand) = index.expands.get(&name)
                    && seen.insert(expand)
                {
                    queue.push(expand);
                }
                names.insert(name);
            }
            if seen.insert(dependency) {
                queue.push(dependency);
            }
        }
    }
    names
}
