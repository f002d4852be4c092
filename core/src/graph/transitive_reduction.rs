//! Transitive reduction, for drawing only: omits edges that a longer path implies. The walk does not
//! need it.

use super::{Adjacency, Graph, VertexId};

/// The edges of a graph that are drawn.
#[derive(Debug)]
pub struct ReducedEdges {
    dependencies: Adjacency,
    is_complete: bool,
}

/// Maximum number of vertices and edges examined, over all blocks: about one or two seconds.
const MAX_EXAMINED_ITEMS: usize = 2_000_000_000;

/// Number of end vertices that are processed at a time, one bit each.
const ENDS_PER_BLOCK: usize = 64;

impl ReducedEdges {
    /// Returns the dependencies that a vertex is drawn with, ascending.
    #[must_use]
    pub fn dependencies(&self, of: VertexId) -> &[VertexId] {
        self.dependencies.neighbors(of)
    }

    /// Returns whether the reduction is complete. A graph that is too large keeps all its edges.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }
}

/// Computes the smallest set of edges with the same transitive closure. The time is proportional to
/// vertices times edges, divided by 64. Above a limit, no edges are omitted.
#[must_use]
pub fn reduce_transitively<V, E>(graph: &Graph<V, E>) -> ReducedEdges {
    reduce_with_limit(graph, MAX_EXAMINED_ITEMS)
}

fn reduce_with_limit<V, E>(graph: &Graph<V, E>, looks: usize) -> ReducedEdges {
    let n_blocks = graph.len().div_ceil(ENDS_PER_BLOCK);
    let is_complete = n_blocks.saturating_mul(graph.len() + graph.n_edges()) <= looks;
    let mut is_kept = vec![true; graph.n_edges()];
    if is_complete {
        let mut ends = ReachableEnds { below: vec![0; graph.len()], bits: vec![0; graph.len()] };
        for start in (0..graph.len()).step_by(ENDS_PER_BLOCK) {
            remove_implied_edges_in_block(graph, start, &mut ends, &mut is_kept);
        }
    }
    let dependencies = &graph.dependencies;
    let pairs: Vec<(VertexId, VertexId)> = graph
        .vertex_ids()
        .flat_map(|id| dependencies.neighbor_range(id).map(move |at| (id, at)))
        .filter(|(_, at)| is_kept[*at])
        .map(|(id, at)| (id, dependencies.ends[at]))
        .collect();
    ReducedEdges {
        dependencies: Adjacency::from_pairs(graph.len(), pairs.into_iter()),
        is_complete,
    }
}

/// Ends of edges in a block, as bits by vertex. All are zero between blocks.
struct ReachableEnds {
    /// The ends that can be reached from a vertex.
    below: Vec<u64>,
    /// The bit of a vertex that is an end itself.
    bits: Vec<u64>,
}

/// Marks the edges to omit whose end is one of the 64 vertices from `start` in the order of the graph.
fn remove_implied_edges_in_block<V, E>(
    graph: &Graph<V, E>,
    start: usize,
    ends: &mut ReachableEnds,
    is_kept: &mut [bool],
) {
    let ReachableEnds { below, bits } = ends;
    let order = graph.topological_order();
    let block = &order[start..order.len().min(start + ENDS_PER_BLOCK)];
    for (bit, id) in block.iter().enumerate() {
        bits[id.index()] = 1 << bit;
    }
    // Vertices before the block in the order cannot reach into it.
    for &id in &order[start..] {
        let reached_by = |dependency: &VertexId| below[dependency.index()];
        let through = graph.dependencies(id).iter().map(reached_by).fold(0, std::ops::BitOr::bitor);
        let mut direct = 0;
        for at in graph.dependencies.neighbor_range(id) {
            let bit = bits[graph.dependencies.ends[at].index()];
            direct |= bit;
            if through & bit != 0 {
                is_kept[at] = false;
            }
        }
        below[id.index()] = through | direct;
    }
    for id in block {
        bits[id.index()] = 0;
    }
    below.fill(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphDraft;

    fn diamond_with_a_short_cut() -> Graph<&'static str> {
        let mut draft = GraphDraft::new();
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| draft.add(name));
        for (dependent, dependency) in [(d, b), (d, c), (b, a), (c, a), (d, a)] {
            draft.connect(dependent, dependency, ());
        }
        draft.freeze().expect("no cycle")
    }

    #[test]
    fn an_edge_implied_by_a_longer_path_is_removed() {
        let graph = diamond_with_a_short_cut();
        let reduced = reduce_transitively(&graph);
        assert!(reduced.is_complete());
        assert_eq!(reduced.dependencies(VertexId(3)), [VertexId(1), VertexId(2)]);
        assert_eq!(reduced.dependencies(VertexId(1)), [VertexId(0)]);
    }

    #[test]
    fn a_graph_above_the_bound_keeps_all_edges() {
        let graph = diamond_with_a_short_cut();
        // Less than its vertices and edges.
        let reduced = reduce_with_limit(&graph, 3);
        assert!(!reduced.is_complete());
        assert_eq!(reduced.dependencies(VertexId(3)), graph.dependencies(VertexId(3)));
    }
}
