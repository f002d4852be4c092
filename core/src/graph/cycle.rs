//! Computes the topological order of a graph, or its cycles. The edges of a cycle are returned, not
//! reported.

use super::{Adjacency, Edge, GraphDraft, VertexId};

/// The error of a draft that cannot be frozen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CyclicDraft<V, E> {
    /// The draft, with its edges sorted and deduplicated.
    pub draft: GraphDraft<V, E>,
    /// One short cycle for each strongly connected component, by smallest vertex.
    pub cycles: Vec<Cycle>,
}

/// Vertices that each wait for the next one, and the last for the first. The cycle starts at the
/// smallest vertex. A vertex that waits for itself is a cycle of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle(pub Vec<VertexId>);

impl<V, E> CyclicDraft<V, E> {
    /// Returns the edges of a cycle, in order.
    pub fn edges_of_cycle<'c>(&'c self, cycle: &'c Cycle) -> impl Iterator<Item = &'c Edge<E>> {
        let next = cycle.0.iter().cycle().skip(1);
        cycle.0.iter().zip(next).filter_map(|(&dependent, &dependency)| {
            let edges = &self.draft.edges.0;
            let at = edges
                .binary_search_by_key(&(dependent, dependency), |e| (e.dependent, e.dependency))
                .ok()?;
            edges.get(at)
        })
    }
}

/// Number of vertices of a component that are tried as the start of its shortest cycle.
const MAX_STARTS_PER_COMPONENT: usize = 64;

/// Total number of edges followed to find shorter cycles, in addition to one search per component.
const MAX_EDGES_TO_FOLLOW: usize = 1_000_000;

const UNVISITED_INDEX: u32 = u32::MAX;

/// Returns all vertices in topological order, or the cycles that prevent it.
pub(super) fn topological_order(dependencies: &Adjacency) -> Result<Vec<VertexId>, Vec<Cycle>> {
    let components = find_components(dependencies);
    // Every vertex is in a component. A component of one vertex is a cycle only if it waits for itself.
    let is_knot = |members: &[VertexId]| match *members {
        [only] => dependencies.neighbors(only).contains(&only),
        _ => true,
    };
    let knots: Vec<&[VertexId]> = components.iter().filter(|members| is_knot(members)).collect();
    if knots.is_empty() {
        // Tarjan's algorithm completes a component after all components that it leads to, so this is
        // already the topological order, and no second sort is needed.
        return Ok(components.members);
    }
    let mut search = CycleSearch::new(dependencies);
    let mut cycles: Vec<Cycle> =
        knots.iter().map(|members| search.shortest_cycle(members)).collect();
    // The search completes components in topological order. Messages are sorted by smallest vertex,
    // which is the order of addition.
    cycles.sort_by(|a, b| a.0.cmp(&b.0));
    Err(cycles)
}

/// Returns a component number for each vertex: two vertices have the same number if each is reachable
/// from the other. The edges are pairs of positions below `n_vertices`.
#[must_use]
pub fn component_numbers(n_vertices: usize, edges: Vec<(usize, usize)>) -> Vec<usize> {
    let id = |at: usize| VertexId(u32::try_from(at).unwrap_or(u32::MAX));
    let edges: Vec<_> = edges.into_iter().map(|(from, to)| (id(from), id(to))).collect();
    let components = find_components(&Adjacency::from_pairs(n_vertices, edges.into_iter()));
    let mut knots = vec![0; n_vertices];
    for (number, members) in components.iter().enumerate() {
        members.iter().for_each(|member| knots[member.index()] = number);
    }
    knots
}

/// Strongly connected components, each after those that it depends on.
struct StronglyConnectedComponents {
    members: Vec<VertexId>,
    /// End of each component in `members`.
    ends: Vec<usize>,
}

impl StronglyConnectedComponents {
    fn iter(&self) -> impl Iterator<Item = &[VertexId]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.members[start..end])
    }
}

/// Tarjan's algorithm in one pass, with its own stack: a chain may be a million vertices long.
fn find_components(graph: &Adjacency) -> StronglyConnectedComponents {
    let n_vertices = graph.n_vertices();
    let mut indices = vec![UNVISITED_INDEX; n_vertices];
    let mut low = vec![0_u32; n_vertices];
    let mut open: Vec<VertexId> = Vec::new();
    let mut is_open = vec![false; n_vertices];
    let mut path: Vec<(VertexId, usize)> = Vec::new();
    let mut result =
        StronglyConnectedComponents { members: Vec::with_capacity(n_vertices), ends: Vec::new() };
    let mut n_found = 0;

    for root in super::vertex_ids(n_vertices) {
        if indices[root.index()] == UNVISITED_INDEX {
            path.push((root, 0));
        }
        while let Some((vertex, n_followed)) = path.last_mut() {
            let (vertex, at) = (*vertex, vertex.index());
            if *n_followed == 0 && indices[at] == UNVISITED_INDEX {
                (indices[at], low[at]) = (n_found, n_found);
                n_found += 1;
                open.push(vertex);
                is_open[at] = true;
            }
            if let Some(&next) = graph.neighbors(vertex).get(*n_followed) {
                *n_followed += 1;
                if indices[next.index()] == UNVISITED_INDEX {
                    path.push((next, 0));
                // A closed vertex belongs to a complete component and cannot lead back here.
                } else if is_open[next.index()] {
                    low[at] = low[at].min(indices[next.index()]);
                }
                continue;
            }
            path.pop();
            if let Some((above, _)) = path.last() {
                low[above.index()] = low[above.index()].min(low[at]);
            }
            if low[at] == indices[at] {
                close_component(vertex, &mut open, &mut is_open, &mut result);
            }
        }
    }
    result
}

/// Moves a finished component from the open vertices to the result.
fn close_component(
    first: VertexId,
    open: &mut Vec<VertexId>,
    is_open: &mut [bool],
    result: &mut StronglyConnectedComponents,
) {
    while let Some(member) = open.pop() {
        is_open[member.index()] = false;
        result.members.push(member);
        if member == first {
            break;
        }
    }
    result.ends.push(result.members.len());
}

/// Searches for short cycles, within a work limit.
struct CycleSearch<'g> {
    graph: &'g Adjacency,
    /// The round of the search in which each vertex was last reached, and the vertex before it.
    reached: Vec<(u32, VertexId)>,
    inside: Vec<bool>,
    round: u32,
    n_followed: usize,
}

impl<'g> CycleSearch<'g> {
    fn new(graph: &'g Adjacency) -> Self {
        let n_vertices = graph.n_vertices();
        Self {
            graph,
            reached: vec![(0, VertexId(0)); n_vertices],
            inside: vec![false; n_vertices],
            round: 0,
            n_followed: 0,
        }
    }

    /// Returns the shortest cycle found through any of the first members of a component.
    fn shortest_cycle(&mut self, members: &[VertexId]) -> Cycle {
        let mut members = members.to_vec();
        members.sort_unstable();
        for member in &members {
            self.inside[member.index()] = true;
        }
        let mut best: Option<Vec<VertexId>> = None;
        for &start in members.iter().take(MAX_STARTS_PER_COMPONENT) {
            // The first search has no limit, because without any cycle nothing could be reported.
            if best.is_some() && self.n_followed > MAX_EDGES_TO_FOLLOW {
                break;
            }
            let shorter_than = best.as_ref().map_or(usize::MAX, Vec::len);
            best = self.shortest_cycle_through(start, shorter_than).or(best);
        }
        for member in &members {
            self.inside[member.index()] = false;
        }
        // Every member of a component is on a cycle, so the first start has already found one.
        let mut cycle = best.unwrap_or(members);
        let smallest = cycle.iter().enumerate().min_by_key(|(_, id)| **id).map_or(0, |(at, _)| at);
        cycle.rotate_left(smallest);
        Cycle(cycle)
    }

    /// Returns the shortest cycle through `start` inside the component, if it is shorter than the limit.
    fn shortest_cycle_through(
        &mut self,
        start: VertexId,
        shorter_than: usize,
    ) -> Option<Vec<VertexId>> {
        self.round += 1;
        let mut frontier = vec![start];
        for n_steps in 1..shorter_than {
            let mut next_frontier = Vec::new();
            for from in frontier {
                for &to in self.graph.neighbors(from) {
                    self.n_followed += 1;
                    if to == start {
                        return Some(self.trace_path(start, from, n_steps));
                    }
                    // Rounds are compared because clearing the array would cost as much as the
                    // graph has vertices, for each start.
                    if self.inside[to.index()] && self.reached[to.index()].0 != self.round {
                        self.reached[to.index()] = (self.round, from);
                        next_frontier.push(to);
                    }
                }
            }
            if next_frontier.is_empty() {
                return None;
            }
            frontier = next_frontier;
        }
        None
    }

    /// Returns the path from `start` to `last`, of known length.
    fn trace_path(&self, start: VertexId, last: VertexId, length: usize) -> Vec<VertexId> {
        let mut way = Vec::with_capacity(length);
        let mut at = last;
        while at != start {
            way.push(at);
            at = self.reached[at.index()].1;
        }
        way.push(start);
        way.reverse();
        way
    }
}
