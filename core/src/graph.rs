//! A frozen directed acyclic graph over any vertices. Knows nothing of our domain.
//!
//! A [`GraphDraft`] collects vertices and edges; freezing it finds cycles and lays the edges out as
//! arrays in both directions. Vertices are numbered in the order they were added, and everything
//! here goes through them in that order, so that nothing depends on timing or hashing.

mod adjacency;
mod cycle;
pub mod render;
#[cfg(test)]
mod tests;
pub mod transitive_reduction;
pub mod walk;
pub mod walk_gate;

pub use adjacency::Adjacency;
pub use cycle::{Cycle, CyclicDraft, component_numbers};

/// Names a vertex of one draft or graph: its position in the order of adding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VertexId(pub u32);

impl VertexId {
    /// The position, for indexing arrays that run parallel to the vertices.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An edge: `dependent` may only be visited after `dependency`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge<E> {
    /// The vertex that has to wait.
    pub dependent: VertexId,
    /// The vertex that it waits for.
    pub dependency: VertexId,
    /// The reason, to explain a cycle.
    pub why: E,
}

/// Edges being collected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edges<E>(Vec<Edge<E>>);

/// A graph being built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphDraft<V, E = ()> {
    vertices: Vec<V>,
    edges: Edges<E>,
}

/// A directed acyclic graph that no longer changes.
#[derive(Debug)]
pub struct Graph<V, E = ()> {
    vertices: Vec<V>,
    dependencies: Adjacency,
    dependents: Adjacency,
    /// Reasons, parallel to the ends of `dependencies`.
    why: Vec<E>,
    /// All vertices, each behind its dependencies.
    order: Vec<VertexId>,
}

impl<E> Edges<E> {
    /// Makes `dependent` wait for `dependency`. Of several equal edges the first one's reason stays.
    pub fn connect(&mut self, dependent: VertexId, dependency: VertexId, why: E) {
        self.0.push(Edge { dependent, dependency, why });
    }

    /// Removes the edges that `keep` turns down.
    pub fn retain_edges(&mut self, keep: impl FnMut(&Edge<E>) -> bool) {
        self.0.retain(keep);
    }

    /// Goes through the edges in the order they were added.
    pub fn iter(&self) -> std::slice::Iter<'_, Edge<E>> {
        self.0.iter()
    }
}

impl<V, E> Default for GraphDraft<V, E> {
    fn default() -> Self {
        Self { vertices: Vec::new(), edges: Edges(Vec::new()) }
    }
}

impl<V, E> GraphDraft<V, E> {
    /// Makes an empty draft.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a vertex.
    ///
    /// # Panics
    /// With more than four thousand million vertices: memory ends long before.
    pub fn add(&mut self, vertex: V) -> VertexId {
        let id = u32::try_from(self.vertices.len()).expect("fewer vertices than fit in 32 bits");
        self.vertices.push(vertex);
        VertexId(id)
    }

    /// All that an adding transform may do.
    pub fn vertex_adder(&mut self) -> impl FnMut(V) {
        |vertex| {
            self.add(vertex);
        }
    }

    /// Makes `dependent` wait for `dependency`. Of several equal edges the first one's reason stays.
    pub fn connect(&mut self, dependent: VertexId, dependency: VertexId, why: E) {
        self.edges.connect(dependent, dependency, why);
    }

    /// The vertices, by number.
    #[must_use]
    pub fn vertices(&self) -> &[V] {
        &self.vertices
    }

    /// The edges in the order they were added, equal ones included.
    #[must_use]
    pub fn edges(&self) -> &Edges<E> {
        &self.edges
    }

    /// Returns the dependencies of each vertex, by the edges that count.
    #[must_use]
    pub fn dependencies_by_edges_where(&self, counts: impl Fn(&Edge<E>) -> bool) -> Adjacency {
        let edges = self.edges.iter().filter(|edge| counts(edge));
        let pairs: Vec<_> = edges.map(|edge| (edge.dependent, edge.dependency)).collect();
        Adjacency::from_pairs(self.vertices.len(), pairs.into_iter())
    }

    /// Returns the dependents of each vertex.
    #[must_use]
    pub fn dependents(&self) -> Adjacency {
        let pairs = self.edges.0.iter().map(|edge| (edge.dependency, edge.dependent));
        Adjacency::from_pairs(self.vertices.len(), pairs)
    }

    /// The vertices to look at and the edges to add to: all that a connecting transform may touch.
    pub fn split_vertices_and_edges(&mut self) -> (&[V], &mut Edges<E>) {
        (&self.vertices, &mut self.edges)
    }

    /// Removes the vertices that `keep` turns down, with all their edges. The dependents of a
    /// removed vertex do *not* inherit its dependencies. The rest is renumbered, in the same order.
    pub fn retain_vertices(&mut self, mut keep: impl FnMut(VertexId, &V) -> bool) {
        // Numbers are positions, so a gap would break every array that runs parallel to the
        // vertices.
        let mut renumbered: Vec<Option<VertexId>> = Vec::with_capacity(self.vertices.len());
        let mut next = 0;
        for (at, vertex) in enumerate_vertices(&self.vertices) {
            let kept = keep(at, vertex);
            renumbered.push(kept.then_some(VertexId(next)));
            next += u32::from(kept);
        }
        let mut at = 0;
        self.vertices.retain(|_| {
            at += 1;
            renumbered[at - 1].is_some()
        });
        self.edges.0.retain_mut(|edge| {
            let ends = (renumbered[edge.dependent.index()], renumbered[edge.dependency.index()]);
            let (Some(dependent), Some(dependency)) = ends else { return false };
            (edge.dependent, edge.dependency) = (dependent, dependency);
            true
        });
    }

    /// Freezes the draft.
    ///
    /// # Errors
    /// When there are cycles; the error holds the draft and one short cycle for each knot.
    ///
    /// # Panics
    /// With more than four thousand million edges, or an edge to a vertex of another draft.
    pub fn freeze(self) -> Result<Graph<V, E>, CyclicDraft<V, E>> {
        let Self { vertices, edges: Edges(mut edges) } = self;
        // Sorting is stable, so that the first of several equal edges is the one that stays.
        edges.sort_by_key(|edge| (edge.dependent, edge.dependency));
        edges.dedup_by(|b, a| (a.dependent, a.dependency) == (b.dependent, b.dependency));
        let ends = |edge: &Edge<E>| (edge.dependent, edge.dependency);
        let dependencies = Adjacency::from_pairs(vertices.len(), edges.iter().map(ends));
        match cycle::topological_order(&dependencies) {
            Ok(order) => {
                let reversed = edges.iter().map(|edge| (edge.dependency, edge.dependent));
                let dependents = Adjacency::from_pairs(vertices.len(), reversed);
                let why = edges.into_iter().map(|edge| edge.why).collect();
                Ok(Graph { vertices, dependencies, dependents, why, order })
            }
            // The draft is returned too: the message about a cycle quotes the reasons of its edges.
            Err(cycles) => {
                Err(CyclicDraft { draft: Self { vertices, edges: Edges(edges) }, cycles })
            }
        }
    }
}

impl<V, E> Graph<V, E> {
    /// Number of vertices.
    #[must_use]
    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Whether there are no vertices.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// Number of different edges.
    #[must_use]
    pub fn n_edges(&self) -> usize {
        self.why.len()
    }

    /// The numbers of all vertices, ascending.
    pub fn vertex_ids(&self) -> impl DoubleEndedIterator<Item = VertexId> + use<V, E> {
        vertex_ids(self.vertices.len())
    }

    /// The vertices, by number.
    #[must_use]
    pub fn vertices(&self) -> &[V] {
        &self.vertices
    }

    /// Takes the graph apart again, so that something can be added. Vertices keep their numbers.
    #[must_use]
    pub fn into_draft(self) -> GraphDraft<V, E> {
        let Self { vertices, dependencies, why, .. } = self;
        let ends = vertex_ids(vertices.len()).flat_map(|dependent| {
            dependencies.neighbors(dependent).iter().map(move |on| (dependent, *on))
        });
        let edges = ends
            .zip(why)
            .map(|((dependent, dependency), why)| Edge { dependent, dependency, why })
            .collect();
        GraphDraft { vertices, edges: Edges(edges) }
    }

    /// Returns the direct dependencies of a vertex, ascending.
    #[must_use]
    pub fn dependencies(&self, of: VertexId) -> &[VertexId] {
        self.dependencies.neighbors(of)
    }

    /// Returns the direct dependents of a vertex, ascending.
    #[must_use]
    pub fn dependents(&self, of: VertexId) -> &[VertexId] {
        self.dependents.neighbors(of)
    }

    /// Why a vertex waits for its dependencies, in the order of [`Graph::dependencies`].
    #[must_use]
    pub fn edge_reasons(&self, of: VertexId) -> &[E] {
        &self.why[self.dependencies.neighbor_range(of)]
    }

    /// All vertices, each behind everything it depends on.
    #[must_use]
    pub fn topological_order(&self) -> &[VertexId] {
        &self.order
    }
}

/// The vertex with this number, which must be one of this graph.
impl<V, E> std::ops::Index<VertexId> for Graph<V, E> {
    type Output = V;

    fn index(&self, id: VertexId) -> &V {
        &self.vertices[id.index()]
    }
}

/// The vertex with this number, which must be one of this draft.
impl<V, E> std::ops::Index<VertexId> for GraphDraft<V, E> {
    type Output = V;

    fn index(&self, id: VertexId) -> &V {
        &self.vertices[id.index()]
    }
}

/// Vertices with their numbers.
pub fn enumerate_vertices<V>(vertices: &[V]) -> impl Iterator<Item = (VertexId, &V)> {
    vertex_ids(vertices.len()).zip(vertices)
}

fn vertex_ids(n_vertices: usize) -> impl DoubleEndedIterator<Item = VertexId> {
    // `GraphDraft::add` lets no more vertices in than this can count.
    (0..u32::try_from(n_vertices).unwrap_or(u32::MAX)).map(VertexId)
}
