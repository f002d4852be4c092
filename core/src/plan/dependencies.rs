//! Dependencies of each resource, as the state records them.
//!
//! The state format holds the transitive closure, which for deep graphs grows with the square of
//! their size. While the closure stays within [`MIN_CLOSURE_ENTRY_LIMIT`] entries, or [`MAX_CLOSURE_ENTRIES_PER_RESOURCE`] a
//! resource on average, it is kept whole. Beyond that each resource keeps its nearest ones, every
//! direct one among them: the rest is found through the entries of those, as
//! [`DependencyClosures::has_dependency_where`] does.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::vertex_kind::PlanGraphVertex;
use crate::addr::ConfigResourceAddr;
use crate::graph::{Graph, VertexId};
use crate::shared_graph::EdgeReason;

/// The dependencies of each resource of a graph.
#[derive(Debug, Default)]
pub(crate) struct DependencyClosures {
    lists: BTreeMap<ConfigResourceAddr, Arc<Vec<ConfigResourceAddr>>>,
    /// Whether each list has everything that the resource is made after.
    are_whole: bool,
}

impl DependencyClosures {
    /// The resources that a resource is made after, sorted, as the state records them: the nearest ones
    /// where there are very many.
    pub(crate) fn dependencies_of(
        &self,
        addr: &ConfigResourceAddr,
    ) -> Arc<Vec<ConfigResourceAddr>> {
        self.lists.get(addr).cloned().unwrap_or_default()
    }

    /// Whether there is one of a kind among all the resources that a resource is made after.
    pub(crate) fn has_dependency_where(
        &self,
        addr: &ConfigResourceAddr,
        mut is_one: impl FnMut(&ConfigResourceAddr) -> bool,
    ) -> bool {
        let mut seen = BTreeSet::new();
        let mut queue = vec![addr];
        while let Some(list) = queue.pop().and_then(|addr| self.lists.get(addr)) {
            if self.are_whole {
                return list.iter().any(is_one);
            }
            for dependency in list.iter() {
                if !seen.insert(dependency) {
                    continue;
                }
                if is_one(dependency) {
                    return true;
                }
                queue.push(dependency);
            }
        }
        false
    }
}

/// Finds the dependencies of each resource of a graph.
pub(crate) fn find_graph_dependencies<'g, 'c: 'g, V: PlanGraphVertex<'c>>(
    graph: &'g Graph<V, EdgeReason>,
) -> DependencyClosures {
    let mut resources: Vec<DirectDependencies> = Vec::new();
    // For each vertex, the resources it reaches without passing through another one: a resource
    // represents itself. Vertices with one dependency share its set.
    let mut reach: Vec<Arc<Vec<u32>>> = vec![Arc::default(); graph.len()];
    for &id in graph.topological_order() {
        let dependencies = match graph.dependencies(id) {
            [only] => reach[only.index()].clone(),
            several => {
                let mut positions: Vec<u32> = several
                    .iter()
                    .flat_map(|dependency| reach[dependency.index()].iter().copied())
                    .collect();
                positions.sort_unstable();
                positions.dedup();
                Arc::new(positions)
            }
        };
        reach[id.index()] = match graph[id].as_resource() {
            Some(resource) => {
                let at = u32::try_from(resources.len()).unwrap_or(u32::MAX);
                let direct = match resource.imports.is_empty() {
                    true => dependencies.to_vec(),
                    false => reachable_without_imports(graph, id, &reach),
                };
                let found_by =
                    dependencies.iter().filter(|position| direct.binary_search(position).is_err());
                let (addr, found_by) = (resource.addr.clone(), found_by.copied().collect());
                resources.push(DirectDependencies { addr, dependencies: direct, found_by });
                Arc::new(vec![at])
            }
            None if graph[id].passes_dependencies_on() => dependencies,
            None => Arc::default(),
        };
    }
    let (closures, are_whole) = compute_closures(&resources);
    let lists = resources.into_iter().map(|resource| resource.addr).zip(closures).collect();
    DependencyClosures { lists, are_whole }
}

/// The resources that a resource reaches other than through an import. Dependents of the object do
/// not depend on the source of its import ID.
fn reachable_without_imports<V>(
    graph: &Graph<V, EdgeReason>,
    id: VertexId,
    reach: &[Arc<Vec<u32>>],
) -> Vec<u32> {
    let edges = graph.dependencies(id).iter().zip(graph.edge_reasons(id));
    let edges = edges.filter(|(_, reason)| !matches!(reason, EdgeReason::ImportReference(_)));
    let mut positions: Vec<u32> =
        edges.flat_map(|(dependency, _)| reach[dependency.index()].iter().copied()).collect();
    positions.sort_unstable();
    positions.dedup();
    positions
}

/// Up to how many entries a resource, on average, the whole closure is kept.
const MAX_CLOSURE_ENTRIES_PER_RESOURCE: usize = 16;
/// Small graphs keep their whole closure.
const MIN_CLOSURE_ENTRY_LIMIT: usize = 65_536;

/// A resource among the vertices of a graph, with its direct resources: those it reaches without
/// passing through another resource.
struct DirectDependencies {
    /// The resource.
    addr: ConfigResourceAddr,
    /// Positions of its direct resources in the list; they come before it.
    dependencies: Vec<u32>,
    /// Those that it needs only to find an object that is imported. Dependents do not inherit them.
    found_by: Vec<u32>,
}

/// Returns, for each resource in the list, the resources it depends on, sorted. Every resource in
/// the list comes after those it depends on. Returns also whether the lists are whole.
fn compute_closures(resources: &[DirectDependencies]) -> (Vec<Arc<Vec<ConfigResourceAddr>>>, bool) {
    let budget = MIN_CLOSURE_ENTRY_LIMIT + MAX_CLOSURE_ENTRIES_PER_RESOURCE * resources.len();
    let full_closure = transitive_closure(resources, budget);
    let are_whole = full_closure.is_some();
    let sets = full_closure.unwrap_or_else(|| truncate_to_nearest(resources));
    let mut named: Vec<Arc<Vec<ConfigResourceAddr>>> = Vec::with_capacity(sets.len());
    for (resource, set) in resources.iter().zip(&sets) {
        let found_by = resource.found_by.iter();
        let mut set = set.clone();
        set.extend(
            found_by
                .flat_map(|&position| sets[position as usize].iter().copied().chain([position])),
        );
        set.sort_unstable();
        set.dedup();
        let mut addrs: Vec<_> = set.iter().map(|&at| resources[at as usize].addr.clone()).collect();
        // Sorted by address: positions depend on the rest of the graph, and stored lists must not.
        addrs.sort();
        named.push(Arc::new(addrs));
    }
    (named, are_whole)
}

/// The transitive closure, unless it outgrows the budget.
fn transitive_closure(resources: &[DirectDependencies], budget: usize) -> Option<Vec<Vec<u32>>> {
    let mut sets: Vec<Vec<u32>> = Vec::with_capacity(resources.len());
    let mut total = 0;
    for resource in resources {
        let mut set = resource.dependencies.clone();
        for &position in &resource.dependencies {
            set.extend_from_slice(&sets[position as usize]);
            // Sets overlap, so the list could grow far beyond the budget before its duplicates are
            // removed.
            if set.len() > budget.saturating_mul(2) {
                set.sort_unstable();
                set.dedup();
            }
        }
        set.sort_unstable();
        set.dedup();
        total += set.len();
        if total > budget {
            return None;
        }
        sets.push(set);
    }
    Some(sets)
}

/// Every direct resource, and the nearest of the others.
fn truncate_to_nearest(resources: &[DirectDependencies]) -> Vec<Vec<u32>> {
    // `seen` holds the number of the search that saw a resource last, so that it needs no clearing.
    let mut seen = vec![u32::MAX; resources.len()];
    let mut queue = VecDeque::new();
    let mut sets = Vec::with_capacity(resources.len());
    for (search, resource) in (0_u32..).zip(resources) {
        let limit = MAX_CLOSURE_ENTRIES_PER_RESOURCE.max(resource.dependencies.len());
        let mut set = Vec::new();
        queue.clear();
        queue.extend(&resource.dependencies);
        while let Some(at) = queue.pop_front() {
            if set.len() >= limit {
                break;
            }
            if std::mem::replace(&mut seen[at as usize], search) != search {
                set.push(at);
                queue.extend(&resources[at as usize].dependencies);
            }
        }
        sets.push(set);
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::{ModulePath, ResourceMode, ResourceName};

    fn dependency_chain(n: usize, step: usize) -> Vec<DirectDependencies> {
        (0..n)
            .map(|at| DirectDependencies {
                addr: ConfigResourceAddr {
                    module: ModulePath::root(),
                    resource: ResourceName::new(ResourceMode::Managed, "t", format!("r{at:06}")),
                },
                dependencies: at
                    .checked_sub(step)
                    .map(|position| position as u32)
                    .into_iter()
                    .collect(),
                found_by: Vec::new(),
            })
            .collect()
    }

    #[test]
    fn a_chain_records_all_transitive_dependencies() {
        let (closures, are_whole) = compute_closures(&dependency_chain(30, 10));
        assert!(are_whole);
        let names: Vec<_> =
            closures[25].iter().map(|addr| addr.resource.name().to_string()).collect();
        assert_eq!(names, ["r000005", "r000015"]);
        assert!(closures[3].is_empty());
    }

    #[test]
    fn a_deep_graph_records_only_the_nearest_dependencies() {
        // Written out, these lists would have two hundred million entries.
        let resources = dependency_chain(20_000, 1);
        let (closures, are_whole) = compute_closures(&resources);
        assert!(!are_whole);
        let last = closures.last().unwrap();
        assert_eq!(last.len(), MAX_CLOSURE_ENTRIES_PER_RESOURCE);
        assert_eq!(last.last().unwrap().resource.name(), "r019998", "the direct one is among them");
        let total: usize = closures.iter().map(|set| set.len()).sum();
        assert!(total <= 20_000 * MAX_CLOSURE_ENTRIES_PER_RESOURCE);

        let addrs = || resources.iter().map(|resource| resource.addr.clone());
        let lists = addrs().zip(closures).collect();
        let closures = DependencyClosures { lists, are_whole };
        let (first, last) = (addrs().next().unwrap(), addrs().next_back().unwrap());
        assert!(
            closures.has_dependency_where(&last, |addr| *addr == first),
            "decisions see all of it"
        );
        assert!(!closures.has_dependency_where(&first, |_| true));
    }
}
