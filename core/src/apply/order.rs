//! The order in which objects come and go. A dependent object goes before what it depends on; what
//! it depends on may only be changed once it is gone; its successor waits for both.
//!
//! What an object depends on is taken from the state, where it was recorded when the object was
//! made: by now the configuration may say something else.

use std::collections::{BTreeMap, BTreeSet};

use super::build::{Building, Index};
use super::vertex::{DestroyVertex, Vertex};
use crate::addr::{ConfigResourceAddr, InstanceAddr};
use crate::graph::VertexId;
use crate::phase::Why;

const DEPENDENTS_FIRST: Why = Why::Order("must be destroyed before what it depends on");
const BEFORE_CHANGES: Why = Why::Order("must wait until what depended on it is destroyed");
const AFTER_DESTROY: Why = Why::Order("must wait until what it depended on is destroyed");
const OWN_PREDECESSOR: Why = Why::Order("replaces it");
const LAST: Why = Why::Order("is destroyed only when its successor and its users are there");

/// Adds the edges that keep objects in order. `destroying` is set when everything goes.
pub(super) fn connect(draft: &mut Building<'_>, index: &Index, destroying: bool) {
    join_gone(draft, index);
    connect_destroys(draft, index);
    connect_creators(draft, index);
    connect_own(draft, index);
    if destroying {
        connect_provider_users(draft, index);
    }
}

fn destroys<'v, 'c>(
    vertices: &'v [Vertex<'c>],
    index: &'v Index,
) -> impl Iterator<Item = (VertexId, &'v DestroyVertex<'c>)> {
    index.destroys.iter().filter_map(|&id| match &vertices[id.index()] {
        Vertex::Destroy(destroy) => Some((id, destroy)),
        _ => None,
    })
}

fn name(addr: &InstanceAddr) -> ConfigResourceAddr {
    addr.of().config()
}

/// The join of a resource's destroyed objects waits for each of them.
fn join_gone(draft: &mut Building<'_>, index: &Index) {
    let (vertices, edges) = draft.split();
    for (id, destroy) in destroys(vertices, index) {
        if let Some(&gone) = index.gone.get(&name(&destroy.change.addr)) {
            edges.connect(gone, id, Why::Order("belongs to that resource"));
        }
    }
}

/// The resources among the destroyed objects, and which of them have objects that go last.
struct Ends {
    first: BTreeSet<ConfigResourceAddr>,
    last: BTreeMap<ConfigResourceAddr, Vec<VertexId>>,
}

impl Ends {
    fn of(vertices: &[Vertex<'_>], index: &Index) -> Self {
        let mut ends = Self { first: BTreeSet::new(), last: BTreeMap::new() };
        for (id, destroy) in destroys(vertices, index) {
            let name = name(&destroy.change.addr);
            if destroy.is_last() {
                ends.last.entry(name).or_default().push(id);
            } else {
                ends.first.insert(name);
            }
        }
        ends
    }

    /// The vertices after which the objects of a resource that go first are gone: the join, unless
    /// that would wait for those that go last too.
    fn gone<'i>(
        &self,
        vertices: &'i [Vertex<'_>],
        index: &'i Index,
        name: &ConfigResourceAddr,
    ) -> Vec<VertexId> {
        if !self.first.contains(name) {
            return Vec::new();
        }
        if !self.last.contains_key(name) {
            return index.gone.get(name).copied().into_iter().collect();
        }
        let own = destroys(vertices, index)
            .filter(|(_, d)| !d.is_last() && self::name(&d.change.addr) == *name);
        own.map(|(id, _)| id).collect()
    }
}

/// An object goes after everything that was made after it is gone; and what it was made after is
/// changed or made anew only when it is gone, unless it goes last.
fn connect_destroys(draft: &mut Building<'_>, index: &Index) {
    let makers = makers(draft.vertices(), index);
    let (vertices, edges) = draft.split();
    let ends = Ends::of(vertices, index);
    // Objects of one resource usually share their dependencies, so pairs of resources are collected
    // first and joined once.
    let mut dependents: BTreeMap<ConfigResourceAddr, BTreeSet<ConfigResourceAddr>> =
        BTreeMap::new();
    let mut changed: BTreeSet<(ConfigResourceAddr, ConfigResourceAddr)> = BTreeSet::new();
    for (id, destroy) in destroys(vertices, index) {
        let own = name(&destroy.change.addr);
        for dependency in destroy.change.prior_dependencies.iter().filter(|on| **on != own) {
            if index.gone.contains_key(dependency) {
                dependents.entry(dependency.clone()).or_default().insert(own.clone());
            }
            match index.done.get(dependency) {
                Some(&done) if destroy.is_last() && makers.contains_key(dependency) => {
                    edges.connect(id, done, LAST);
                }
                _ if destroy.is_last() => {}
                _ => drop(changed.insert((dependency.clone(), own.clone()))),
            }
        }
    }
    for (dependency, own) in changed {
        for &maker in makers.get(&dependency).into_iter().flatten() {
            for gone in ends.gone(vertices, index, &own) {
                edges.connect(maker, gone, BEFORE_CHANGES);
            }
        }
    }
    for (id, destroy) in destroys(vertices, index) {
        for dependent in dependents.get(&name(&destroy.change.addr)).into_iter().flatten() {
            if let Some(&gone) = index.gone.get(dependent) {
                edges.connect(id, gone, DEPENDENTS_FIRST);
            }
        }
    }
}

/// The vertices that make or change instances, by resource.
fn makers(vertices: &[Vertex<'_>], index: &Index) -> BTreeMap<ConfigResourceAddr, Vec<VertexId>> {
    let mut makers: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for &id in &index.instances {
        if let Vertex::Instance(instance) = &vertices[id.index()]
            && instance.change.addr.resource.mode() == crate::addr::Mode::Managed
        {
            makers.entry(name(&instance.change.addr)).or_default().push(id);
        }
    }
    makers
}

/// What is made or changed waits until the objects it depended on are gone; those that go last wait
/// for it instead.
fn connect_creators(draft: &mut Building<'_>, index: &Index) {
    let makers = makers(draft.vertices(), index);
    let (vertices, edges) = draft.split();
    let ends = Ends::of(vertices, index);
    for (own, makers) in &makers {
        let mut dependencies = BTreeSet::new();
        for &id in makers {
            let Vertex::Instance(instance) = &vertices[id.index()] else { continue };
            dependencies.extend(instance.change.prior_dependencies.iter().filter(|on| *on != own));
            // The old object of something it depends on now may be one that goes last, too.
            dependencies.extend(
                instance.change.dependencies.iter().filter(|on| ends.last.contains_key(on)),
            );
        }
        for dependency in dependencies {
            for gone in ends.gone(vertices, index, dependency) {
                for &id in makers {
                    edges.connect(id, gone, AFTER_DESTROY);
                }
            }
            if let Some(&done) = index.done.get(own) {
                for &destroy in ends.last.get(dependency).into_iter().flatten() {
                    edges.connect(destroy, done, LAST);
                }
            }
        }
    }
}

/// The two halves of a replacement.
fn connect_own(draft: &mut Building<'_>, index: &Index) {
    let (vertices, edges) = draft.split();
    let mut makers: BTreeMap<&InstanceAddr, VertexId> = BTreeMap::new();
    for &id in &index.instances {
        if let Vertex::Instance(instance) = &vertices[id.index()] {
            makers.insert(&instance.change.addr, id);
        }
    }
    for (id, destroy) in destroys(vertices, index) {
        // An object that was deposed before has no successor to wait for or to hold up.
        if destroy.change.deposed.is_some() {
            continue;
        }
        if let Some(&maker) = makers.get(&destroy.change.addr) {
            if destroy.is_last() {
                edges.connect(id, maker, LAST);
            } else {
                edges.connect(maker, id, OWN_PREDECESSOR);
            }
        }
    }
}

/// When everything goes, what a provider is configured with goes after everything that provider does.
fn connect_provider_users(draft: &mut Building<'_>, index: &Index) {
    let mut dependencies = vec![Vec::new(); draft.vertices().len()];
    for edge in draft.edges().iter() {
        if !matches!(edge.why, Why::Order(_)) {
            dependencies[edge.dependent.index()].push(edge.dependency);
        }
    }
    let mut users: BTreeMap<VertexId, BTreeSet<ConfigResourceAddr>> = BTreeMap::new();
    for (_, destroy) in destroys(draft.vertices(), index) {
        if let Some(&provider) = index.providers.get(&destroy.change.provider) {
            users.entry(provider).or_default().insert(name(&destroy.change.addr));
        }
    }
    let mut add = Vec::new();
    for (provider, users) in users {
        let needed = resources_behind(draft.vertices(), index, &dependencies, provider);
        for (id, destroy) in destroys(draft.vertices(), index) {
            let own = name(&destroy.change.addr);
            if needed.contains(&own) {
                let others = users.iter().filter(|user| **user != own && !needed.contains(user));
                add.extend(others.filter_map(|user| Some((id, *index.gone.get(user)?))));
            }
        }
    }
    for (id, gone) in add {
        draft.connect(id, gone, Why::Order("configures the provider that does the other"));
    }
}

/// The resources that a provider's configuration mentions, through values too.
fn resources_behind(
    vertices: &[Vertex<'_>],
    index: &Index,
    dependencies: &[Vec<VertexId>],
    provider: VertexId,
) -> BTreeSet<ConfigResourceAddr> {
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::from([provider]);
    let mut queue = vec![provider];
    while let Some(id) = queue.pop() {
        for &on in &dependencies[id.index()] {
            if let Vertex::Done(name) = &vertices[on.index()] {
                found.insert(name.clone());
                // What stands behind that resource is behind the provider too.
                if let Some(&expand) = index.expands.get(name)
                    && seen.insert(expand)
                {
                    queue.push(expand);
                }
            }
            if seen.insert(on) {
                queue.push(on);
            }
        }
    }
    found
}
