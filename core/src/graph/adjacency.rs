//! Adjacency lists: the dependencies or dependents of each vertex, all in one array.

use super::{VertexId, vertex_ids};

/// For each vertex, a run of adjacent vertices.
#[derive(Debug, Default)]
pub struct Adjacency {
    /// Start of the run of each vertex; one entry more than there are vertices.
    starts: Vec<u32>,
    pub(super) ends: Vec<VertexId>,
}

impl Adjacency {
    /// Stores edges, given as pairs of start and end. Runs keep the order of the pairs.
    pub(super) fn from_pairs(
        n_vertices: usize,
        pairs: impl ExactSizeIterator<Item = (VertexId, VertexId)> + Clone,
    ) -> Self {
        assert!(u32::try_from(pairs.len()).is_ok(), "fewer edges than fit in 32 bits");
        let mut starts = vec![0_u32; n_vertices + 1];
        for (from, _) in pairs.clone() {
            starts[from.index() + 1] += 1;
        }
        // A counting sort, because it is linear and stable: each run keeps the order of its pairs.
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut ends = vec![VertexId(0); pairs.len()];
        let mut next = starts.clone();
        for (from, to) in pairs {
            assert!(to.index() < n_vertices, "both ends of an edge are in the graph");
            let slot = &mut next[from.index()];
            ends[*slot as usize] = to;
            *slot += 1;
        }
        Self { starts, ends }
    }

    pub(super) fn n_vertices(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn neighbor_range(&self, of: VertexId) -> std::ops::Range<usize> {
        self.starts[of.index()] as usize..self.starts[of.index() + 1] as usize
    }

    /// Returns the adjacent vertices of a vertex.
    #[must_use]
    pub fn neighbors(&self, id: VertexId) -> &[VertexId] {
        &self.ends[self.neighbor_range(id)]
    }

    /// Returns the vertices that are reachable from a set of vertices, including the set itself. Both
    /// are one flag for each vertex.
    #[must_use]
    pub fn reachable_from(&self, from: Vec<bool>) -> Vec<bool> {
        let mut reached = from;
        let mut queue: Vec<VertexId> =
            vertex_ids(reached.len()).filter(|id| reached[id.index()]).collect();
        while let Some(id) = queue.pop() {
            for &next in self.neighbors(id) {
                if !std::mem::replace(&mut reached[next.index()], true) {
                    queue.push(next);
                }
            }
        }
        reached
    }
}
