//! A frozen directed acyclic graph over any vertices, independent of the domain.
//!
//! A [`GraphDraft`] collects vertices and edges; freezing it detects cycles and stores the edges as
//! arrays in both directions. Vertices are numbered in the order in which they were added, and all
//! functions iterate in this order, so that no result depends on timing or hashing.

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

/// The ID of a vertex of a draft or graph: its position in the order of addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VertexId(pub u32);

impl VertexId {
    /// Returns the position, for arrays that are parallel to the vertices.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An edge: `dependent` may only be visited after `dependency`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge<E> {
    /// The vertex that waits.
    pub dependent: VertexId,
    /// The vertex that must be done first.
    pub dependency: VertexId,
    /// The reason, to explain a cycle.
    pub reason: E,
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
    reasons: Vec<E>,
    /// All vertices, each after its dependencies.
    order: Vec<VertexId>,
}

impl<E> Edges<E> {
    /// Adds an edge: `dependent` waits for `dependency`. Of several equal edges, the reason of the first
    /// is kept.
    pub fn connect(&mut self, dependent: VertexId, dependency: VertexId, reason: E) {
        self.0.push(Edge { dependent, dependency, reason });
    }

    /// Removes the edges for which `keep` returns false.
    pub fn retain_edges(&mut self, keep: impl FnMut(&Edge<E>) -> bool) {
        self.0.retain(keep);
    }

    /// Iterates over the edges in the order in which they were added.
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
    /// Creates an empty draft.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a vertex.
    ///
    /// # Panics
    /// Panics with more than 2^32 vertices, which exceed the memory first.
    pub fn add(&mut self, vertex: V) -> VertexId {
        let id = u32::try_from(self.vertices.len()).expect("fewer vertices than fit in 32 bits");
        self.vertices.push(vertex);
        VertexId(id)
    }

    /// Returns a function that adds vertices, the only access of an adding transform.
    pub fn vertex_adder(&mut self) -> impl FnMut(V) {
        |vertex| {
            self.add(vertex);
        }
    }

    /// Adds an edge: `dependent` waits for `dependency`. Of several equal edges, the reason of the first
    /// is kept.
    pub fn connect(&mut self, dependent: VertexId, dependency: VertexId, reason: E) {
        self.edges.connect(dependent, dependency, reason);
    }

    /// Returns the vertices, by ID.
    #[must_use]
    pub fn vertices(&self) -> &[V] {
        &self.vertices
    }

    /// Returns the edges in the order in which they were added, including equal ones.
    #[must_use]
    pub fn edges(&self) -> &Edges<E> {
        &self.edges
    }

    /// Returns the dependencies of each vertex, by the edges that satisfy a predicate.
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

    /// Returns the vertices, read-only, and the edges: the only access of a connecting transform.
    pub fn split_vertices_and_edges(&mut self) -> (&[V], &mut Edges<E>) {
        (&self.vertices, &mut self.edges)
    }

    /// Removes the vertices for which `keep` returns false, with all their edges. The dependents of a
    /// removed vertex do *not* inherit its dependencies. The rest is renumbered, in the same order.
    pub fn retain_vertices(&mut self, mut keep: impl FnMut(VertexId, &V) -> bool) {
        // IDs are positions, so a gap would break every array that is parallel to the vertices.
        let mut renumbered: Vec<Option<VertexId>> = Vec::with_capacity(self.vertices.len());
        let mut next = 0;
        for (at, vertex) in enumerate_vertices(&self.vertices) {
            let is_kept = keep(at, vertex);
            renumbered.push(is_kept.then_some(VertexId(next)));
            next += u32::from(is_kept);
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
    /// Returns an error if the graph has cycles. The error contains the draft and one short cycle for
    /// each strongly connected component.
    ///
    /// # Panics
    /// Panics with 2^32 or more edges, or with an edge to a vertex of another draft.
    pub fn freeze(self) -> Result<Graph<V, E>, CyclicDraft<V, E>> {
        let Self { vertices, edges: Edges(mut edges) } = self;
        // The sort is stable, so that the first of several equal edges is kept.
        edges.sort_by_key(|edge| (edge.dependent, edge.dependency));
        edges.dedup_by(|b, a| (a.dependent, a.dependency) == (b.dependent, b.dependency));
        let ends = |edge: &Edge<E>| (edge.dependent, edge.dependency);
        let dependencies = Adjacency::from_pairs(vertices.len(), edges.iter().map(ends));
        match cycle::topological_order(&dependencies) {
            Ok(order) => {
                let reversed = edges.iter().map(|edge| (edge.dependency, edge.dependent));
                let dependents = Adjacency::from_pairs(vertices.len(), reversed);
                let reasons = edges.into_iter().map(|edge| edge.reason).collect();
                Ok(Graph { vertices, dependencies, dependents, reasons, order })
            }
            // The draft is returned too: the message about a cycle quotes the reasons of its edges.
            Err(cycles) => {
                Err(CyclicDraft { draft: Self { vertices, edges: Edges(edges) }, cycles })
            }
        }
    }
}

impl<V, E> Graph<V, E> {
    /// Returns the number of vertices.
    #[must_use]
    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Returns whether the graph has no vertices.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// Returns the number of distinct edges.
    #[must_use]
    pub fn n_edges(&self) -> usize {
        self.reasons.len()
    }

    /// Returns the IDs of all vertices, ascending.
    pub fn vertex_ids(&self) -> impl DoubleEndedIterator<Item = VertexId> + use<V, E> {
        vertex_ids(self.vertices.len())
    }

    /// Returns the vertices, by ID.
    #[must_use]
    pub fn vertices(&self) -> &[V] {
        &self.vertices
    }

    /// Converts the graph back to a draft, so that vertices and edges can be added. Vertices keep their
    /// IDs.
    #[must_use]
    pub fn into_draft(self) -> GraphDraft<V, E> {
        let Self { vertices, dependencies, reasons, .. } = self;
        let ends = vertex_ids(vertices.len()).flat_map(|dependent| {
            dependencies.neighbors(dependent).iter().map(move |dependency| (dependent, *dependency))
        });
        let edges = ends
            .zip(reasons)
            .map(|((dependent, dependency), reasons)| Edge {
                dependent,
                dependency,
                reason: reasons,
            })
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

    /// Returns the reasons for the dependencies of a vertex, in the order of [`Graph::dependencies`].
    #[must_use]
    pub fn edge_reasons(&self, of: VertexId) -> &[E] {
        &self.reasons[self.dependencies.neighbor_range(of)]
    }

    /// Returns all vertices in topological order, each after its dependencies.
    #[must_use]
    pub fn topological_order(&self) -> &[VertexId] {
        &self.order
    }
}

/// Returns the vertex with an ID, which must belong to this graph.
impl<V, E> std::ops::Index<VertexId> for Graph<V, E> {
    type Output = V;

    fn index(&self, id: VertexId) -> &V {
        &self.vertices[id.index()]
    }
}

/// Returns the vertex with an ID, which must belong to this draft.
impl<V, E> std::ops::Index<VertexId> for GraphDraft<V, E> {
    type Output = V;

    fn index(&self, id: VertexId) -> &V {
        &self.vertices[id.index()]
    }
}

/// Iterates over vertices with their IDs.
pub fn enumerate_vertices<V>(vertices: &[V]) -> impl Iterator<Item = (VertexId, &V)> {
    vertex_ids(vertices.len()).zip(vertices)
}

fn vertex_ids(n_vertices: usize) -> impl DoubleEndedIterator<Item = VertexId> {
    // `GraphDraft::add` does not accept more vertices than this type can count.
    (0..u32::try_from(n_vertices).unwrap_or(u32::MAX)).map(VertexId)
}
