//! Visits a graph: concurrently, each vertex after its dependencies; records sequentially.
//!
//! All visits are polled on the caller's task, so they may borrow from it freely. The caller
//! defines the meaning of vertices and results.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::future::Future;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;

use super::walk_gate::{OpenGate, WalkGate};
use super::{Graph, VertexId};

/// The consequence of a recorded result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependentsDecision {
    /// The dependents of the vertex may start.
    StartDependents,
    /// The direct and indirect dependents of the vertex must not be visited.
    SkipDependents,
}

/// Options of a walk.
#[derive(Clone, Copy)]
pub struct WalkOptions<'s> {
    /// Maximum number of concurrent visits, at least one.
    pub limit: usize,
    /// Returns whether to start no more visits. It is called before every visit. Running visits are
    /// awaited.
    pub stop: &'s dyn Fn() -> bool,
    /// The order in which vertices are visited, and results recorded.
    pub finishing: RecordOrder,
    /// Limits the vertices that may start, beyond the edges.
    pub gate: &'s dyn WalkGate,
}

/// The order in which vertices are visited, and results recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordOrder {
    /// The order in which visits complete.
    Completion,
    /// A random order that the edges allow, reproducible for a seed: for tests that results do not
    /// depend on timing.
    Shuffled(u64),
    /// Sequential, with this vertex before everything that it does not wait for: for tests that it has
    /// no undeclared dependencies.
    OneEarly(VertexId),
}

/// The vertices that were not visited, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnvisitedVertices {
    /// Vertices that were skipped because a dependency failed.
    pub skipped: Vec<VertexId>,
    /// Vertices that were not visited because the walk was stopped.
    pub stopped: Vec<VertexId>,
}

impl WalkOptions<'_> {
    /// Returns options for a walk with `limit` concurrent visits, without a stop condition.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self { limit, stop: &|| false, finishing: RecordOrder::Completion, gate: &OpenGate }
    }
}

/// Number of recorded results between two yields to other tasks of the thread.
const RECORDS_PER_YIELD: u32 = 128;

/// Visits every vertex once, after all its dependencies were visited and recorded.
///
/// `visit` may run alongside other visits; `record` gets the results one at a time, and the dependents
/// of a vertex start only after its `record` returned. Of the ready vertices, the smallest starts first.
/// A vertex that the gate holds back starts when the gate has capacity, or when no running visit could
/// release capacity.
pub async fn walk_graph<'g, V, E, O, F>(
    graph: &'g Graph<V, E>,
    pace: WalkOptions<'_>,
    visit: impl Fn(VertexId, &'g V) -> F,
    mut record: impl FnMut(VertexId, &'g V, O) -> DependentsDecision,
) -> UnvisitedVertices
where
    F: Future<Output = O>,
{
    let mut agenda = WalkState::new(graph, pace.finishing);
    // One visit at a time: the early vertex must not see results of concurrent visits, which the test
    // requires to be missing.
    let limit =
        if matches!(pace.finishing, RecordOrder::OneEarly(_)) { 1 } else { pace.limit.max(1) };
    // Polled within this task and not spawned: a spawned future must be `'static`, and visits
    // borrow.
    let mut under_way = FuturesUnordered::new();
    let mut finished: Vec<(VertexId, O)> = Vec::new();
    let mut n_records = 0;
    let begin = |id| {
        let result = visit(id, &graph[id]);
        async move { (id, result.await) }
    };
    loop {
        // Results that wait for their record count as well. Otherwise fast visits could pile up
        // results without bound.
        while under_way.len() + finished.len() < limit && !agenda.has_no_ready_vertex() {
            if (pace.stop)() {
                break;
            }
            let Some(id) = agenda.take_ready() else { break };
            if !pace.gate.may_start(id) {
                // Kept separately from the queue, from which the same vertex would be taken again
                // immediately.
                agenda.hold_back(id);
                continue;
            }
            under_way.push(begin(id));
        }
        if under_way.is_empty()
            && finished.is_empty()
            && !(pace.stop)()
            && let Some(id) = agenda.take_held_back()
        {
            // No visit is running and none can start, so no vertex can release capacity. One of them
            // must start beyond the limit.
            pace.gate.force_start(id);
            under_way.push(begin(id));
        }
        if let RecordOrder::Shuffled(_) = pace.finishing {
            // All visits that could have ended first have ended. The generator selects the one that is
            // recorded.
            while let Some(result) = under_way.next().await {
                finished.push(result);
            }
            // The order in which concurrent visits end is not deterministic, so the shuffle starts
            // from a sorted list.
            finished.sort_by_key(|(id, _)| *id);
        } else if let Some(result) = under_way.next().await {
            finished.push(result);
        }
        // No visit was running, so no vertex can become ready any more: the walk is complete or was
        // stopped.
        if finished.is_empty() {
            return agenda.unvisited_vertices();
        }
        let (id, result) = finished.remove(agenda.pick_finished(finished.len()));
        let next = record(id, &graph[id], result);
        agenda.mark_recorded(id, next, pace.gate);

        n_records += 1;
        if n_records % RECORDS_PER_YIELD == 0 {
            // Visits that never wait would otherwise prevent the detection of an interrupt.
            tokio::task::yield_now().await;
        }
    }
}

/// The ready vertices, and the number of dependencies that the others wait for.
struct WalkState<'g, V, E> {
    graph: &'g Graph<V, E>,
    /// Number of dependencies of each vertex that are not recorded yet.
    n_waiting: Vec<u32>,
    status: Vec<VertexStatus>,
    ready: BinaryHeap<Reverse<(bool, VertexId)>>,
    /// Whether each vertex must precede the early vertex, or is that vertex. Empty without an early
    /// vertex.
    early: Vec<bool>,
    /// The ready vertices that the gate holds back, in order of request.
    held_back: VecDeque<VertexId>,
    rng: Option<SeededRng>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum VertexStatus {
    Open,
    Started,
    Skipped,
}

impl<'g, V, E> WalkState<'g, V, E> {
    fn new(graph: &'g Graph<V, E>, finishing: RecordOrder) -> Self {
        let n_waiting: Vec<u32> = graph
            .vertex_ids()
            // `GraphDraft::freeze` does not accept more edges than fit.
            .map(|id| u32::try_from(graph.dependencies(id).len()).unwrap_or(u32::MAX))
            .collect();
        let (rng, early) = match finishing {
            RecordOrder::Completion => (None, Vec::new()),
            RecordOrder::Shuffled(seed) => (Some(SeededRng(seed)), Vec::new()),
            RecordOrder::OneEarly(id) => {
                let selected = graph.vertex_ids().map(|other| other == id).collect();
                (None, graph.dependencies.reachable_from(selected))
            }
        };
        let mut agenda = Self {
            graph,
            n_waiting,
            status: vec![VertexStatus::Open; graph.len()],
            ready: BinaryHeap::new(),
            early,
            held_back: VecDeque::new(),
            rng,
        };
        for id in graph.vertex_ids() {
            if agenda.n_waiting[id.index()] == 0 {
                agenda.add_ready(id);
            }
        }
        agenda
    }

    fn add_ready(&mut self, id: VertexId) {
        let is_late = !self.early.is_empty() && !self.early[id.index()];
        // `false` sorts first: all dependencies of the early vertex precede the rest.
        self.ready.push(Reverse((is_late, id)));
    }

    fn has_no_ready_vertex(&self) -> bool {
        self.ready.is_empty()
    }

    /// Takes the vertex that starts next.
    fn take_ready(&mut self) -> Option<VertexId> {
        let Reverse((_, id)) = self.ready.pop()?;
        self.status[id.index()] = VertexStatus::Started;
        Some(id)
    }

    /// Holds back a vertex until the gate has capacity.
    fn hold_back(&mut self, id: VertexId) {
        // Marked as open again, so that a walk that stops now counts the vertex as not visited.
        self.status[id.index()] = VertexStatus::Open;
        self.held_back.push_back(id);
    }

    /// Takes the vertex that has waited for the gate the longest.
    fn take_held_back(&mut self) -> Option<VertexId> {
        let id = self.held_back.pop_front()?;
        self.status[id.index()] = VertexStatus::Started;
        Some(id)
    }

    /// Selects the finished result that is recorded first.
    fn pick_finished(&mut self, n_finished: usize) -> usize {
        self.rng.as_mut().map_or(0, |rng| rng.random_below(n_finished))
    }

    /// Handles the record of a vertex. Its dependents become ready or, if it failed, are skipped with
    /// all their dependents.
    fn mark_recorded(&mut self, id: VertexId, next: DependentsDecision, gate: &dyn WalkGate) {
        let mut settled = vec![(id, next)];
        while let Some((id, next)) = settled.pop() {
            // A free slot may admit any of the waiting vertices, and the smallest starts first, as in a
            // run without a limit.
            if gate.on_finished(id) {
                std::mem::take(&mut self.held_back).into_iter().for_each(|id| self.add_ready(id));
            }
            for &dependent in self.graph.dependents(id) {
                let at = dependent.index();
                // Never below zero: freezing merges equal edges, so each dependency is counted
                // once.
                self.n_waiting[at] -= 1;
                if next == DependentsDecision::SkipDependents {
                    // Marked before the last dependency is recorded, because a later success of another
                    // one must not start the vertex.
                    self.status[at] = VertexStatus::Skipped;
                }
                if self.n_waiting[at] > 0 {
                    continue;
                }
                match self.status[at] {
                    // A loop with a list instead of recursion: a chain may have a million vertices.
                    VertexStatus::Skipped => {
                        settled.push((dependent, DependentsDecision::SkipDependents));
                    }
                    VertexStatus::Open | VertexStatus::Started => self.add_ready(dependent),
                }
            }
        }
    }

    /// Returns the vertices that were not visited. A dependent of a failed vertex counts as skipped,
    /// even if the walk was stopped before all its dependencies were done.
    fn unvisited_vertices(&self) -> UnvisitedVertices {
        let mut skipped: Vec<bool> =
            self.status.iter().map(|status| *status == VertexStatus::Skipped).collect();
        // Dependencies come first in this order, so one pass finds all dependents of a failed vertex.
        for &id in self.graph.topological_order() {
            let waits = self.graph.dependencies(id);
            skipped[id.index()] |= waits.iter().any(|dependency| skipped[dependency.index()]);
        }
        let with = |wanted: &dyn Fn(VertexId) -> bool| {
            self.graph.vertex_ids().filter(|id| wanted(*id)).collect::<Vec<_>>()
        };
        UnvisitedVertices {
            skipped: with(&|id| skipped[id.index()]),
            stopped: with(&|id| {
                self.status[id.index()] == VertexStatus::Open && !skipped[id.index()]
            }),
        }
    }
}

/// A reproducible random number generator: splitmix64, which only needs a seed.
struct SeededRng(u64);

impl SeededRng {
    fn random_below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        // The bias of the remainder is harmless: the shuffle must be reproducible, not fair.
        usize::try_from(mixed % limit.max(1) as u64).unwrap_or(0)
    }
}
