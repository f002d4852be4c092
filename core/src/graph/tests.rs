//! The graph against naive models of its guarantees.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use proptest::prelude::*;

use super::walk::{DependentsDecision, RecordOrder, UnvisitedVertices, WalkOptions, walk_graph};
use super::walk_gate::WalkGate;
use super::*;

/// Polls until the future ends; none of ours waits for anything outside.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
            return result;
        }
    }
}

/// Is pending a number of times before it is ready.
async fn after_polls(mut n_polls: u32) {
    std::future::poll_fn(|context| {
        if n_polls == 0 {
            return Poll::Ready(());
        }
        n_polls -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn draft_with_edges(n_vertices: u32, edges: &[(u32, u32)]) -> GraphDraft<u32, usize> {
    let mut draft = GraphDraft::new();
    for number in 0..n_vertices {
        draft.add(number);
    }
    for (reason, &(dependent, dependency)) in edges.iter().enumerate() {
        draft.connect(VertexId(dependent), VertexId(dependency), reason);
    }
    draft
}

fn graph_with_edges(n_vertices: u32, edges: &[(u32, u32)]) -> Graph<u32, usize> {
    draft_with_edges(n_vertices, edges).freeze().expect("the example has no cycle")
}

/// Edges from greater to smaller numbers only, hence without cycles.
fn acyclic_edges() -> impl Strategy<Value = (u32, Vec<(u32, u32)>)> {
    (2_u32..14).prop_flat_map(|n| {
        let edge = (1..n).prop_flat_map(|dependent| (Just(dependent), 0..dependent));
        (Just(n), proptest::collection::vec(edge, 0..30))
    })
}

fn any_edges() -> impl Strategy<Value = (u32, Vec<(u32, u32)>)> {
    (1_u32..12).prop_flat_map(|n| (Just(n), proptest::collection::vec((0..n, 0..n), 0..24)))
}

/// Returns the pairs of vertices of which the first reaches the second in one step or more.
fn reachable_pairs(n: u32, edges: &[(u32, u32)]) -> BTreeSet<(u32, u32)> {
    let mut pairs: BTreeSet<(u32, u32)> = edges.iter().copied().collect();
    for middle in 0..n {
        for from in 0..n {
            for to in 0..n {
                if pairs.contains(&(from, middle)) && pairs.contains(&(middle, to)) {
                    pairs.insert((from, to));
                }
            }
        }
    }
    pairs
}

proptest! {
    #[test]
    fn freezing_keeps_every_edge_once_in_both_directions((n, edges) in acyclic_edges()) {
        let frozen = graph_with_edges(n, &edges);
        let distinct: BTreeSet<(u32, u32)> = edges.iter().copied().collect();
        prop_assert_eq!(frozen.n_edges(), distinct.len());
        for id in frozen.vertex_ids() {
            let below: Vec<u32> = distinct.iter().filter(|e| e.0 == id.0).map(|e| e.1).collect();
            let above: Vec<u32> = distinct.iter().filter(|e| e.1 == id.0).map(|e| e.0).collect();
            let numbers = |ids: &[VertexId]| ids.iter().map(|id| id.0).collect::<Vec<u32>>();
            prop_assert_eq!(numbers(frozen.dependencies(id)), below.clone());
            prop_assert_eq!(numbers(frozen.dependents(id)), above);
            for (&why, &on) in frozen.edge_reasons(id).iter().zip(&below) {
                prop_assert_eq!(Some(why), edges.iter().position(|e| *e == (id.0, on)));
            }
        }
    }

    #[test]
    fn freezing_fails_exactly_when_something_waits_for_itself((n, edges) in any_edges()) {
        let pairs = reachable_pairs(n, &edges);
        match draft_with_edges(n, &edges).freeze() {
            Ok(frozen) => {
                prop_assert!((0..n).all(|v| !pairs.contains(&(v, v))));
                let mut position = vec![0; frozen.len()];
                for (at, id) in frozen.topological_order().iter().enumerate() {
                    position[id.index()] = at;
                }
                prop_assert!(edges.iter().all(|e| position[e.0 as usize] > position[e.1 as usize]));
            }
            Err(cyclic) => check_cycles(n, &edges, &pairs, &cyclic)?,
        }
    }

    #[test]
    fn reduction_keeps_what_is_reachable_and_nothing_more((n, edges) in acyclic_edges()) {
        let frozen = graph_with_edges(n, &edges);
        let reduced = transitive_reduction::reduce_transitively(&frozen);
        let kept: Vec<(u32, u32)> = frozen
            .vertex_ids()
            .flat_map(|id| reduced.dependencies(id).iter().map(move |on| (id.0, on.0)))
            .collect();
        prop_assert_eq!(reachable_pairs(n, &kept), reachable_pairs(n, &edges));
        for at in 0..kept.len() {
            let mut fewer = kept.clone();
            fewer.remove(at);
            prop_assert_ne!(reachable_pairs(n, &fewer), reachable_pairs(n, &edges));
        }
    }

    #[test]
    fn a_walk_records_every_vertex_after_what_it_waits_for(
        (n, edges) in acyclic_edges(), limit in 1_usize..5, seed in any::<Option<u64>>(),
    ) {
        let frozen = graph_with_edges(n, &edges);
        let recorded = RefCell::new(vec![false; frozen.len()]);
        let (n_running, most) = (Cell::new(0_usize), Cell::new(0_usize));
        let visit = |id: VertexId, &number: &u32| {
            let ready = frozen.dependencies(id).iter().all(|on| recorded.borrow()[on.index()]);
            let (n_running, most) = (&n_running, &most);
            async move {
                n_running.set(n_running.get() + 1);
                most.set(most.get().max(n_running.get()));
                // So that they end in another order than they begin.
                after_polls(number * 7 % 5).await;
                n_running.set(n_running.get() - 1);
                ready
            }
        };
        let record = |id: VertexId, _: &u32, ready: bool| {
            assert!(ready, "started before a dependency was recorded");
            assert!(!std::mem::replace(&mut recorded.borrow_mut()[id.index()], true));
            DependentsDecision::StartDependents
        };
        let finishing = seed.map_or(RecordOrder::Completion, RecordOrder::Shuffled);
        let pace = WalkOptions { finishing, ..WalkOptions::with_limit(limit) };
        let unvisited = block_on(walk_graph(&frozen, pace, visit, record));
        prop_assert_eq!(unvisited, UnvisitedVertices::default());
        prop_assert!(recorded.borrow().iter().all(|done| *done));
        prop_assert!(most.get() <= limit);
    }

    #[test]
    fn only_dependents_of_a_failure_are_skipped(
        (n, edges) in acyclic_edges(), failing in proptest::collection::btree_set(0_u32..14, 0..4),
        seed in any::<u64>(),
    ) {
        let frozen = graph_with_edges(n, &edges);
        let pairs = reachable_pairs(n, &edges);
        let must_skip = |v: u32| failing.iter().any(|&f| f < n && pairs.contains(&(v, f)));
        let record = |id: VertexId, _: &u32, ()| {
            assert!(!must_skip(id.0));
            if failing.contains(&id.0) { DependentsDecision::SkipDependents } else { DependentsDecision::StartDependents }
        };
        let pace = WalkOptions { finishing: RecordOrder::Shuffled(seed), ..WalkOptions::with_limit(3) };
        let unvisited = block_on(walk_graph(&frozen, pace, |_, _| async {}, record));
        let expected: Vec<VertexId> = frozen.vertex_ids().filter(|id| must_skip(id.0)).collect();
        prop_assert_eq!(unvisited, UnvisitedVertices { skipped: expected, stopped: Vec::new() });
    }

    #[test]
    fn retaining_drops_vertices_with_their_edges(
        (n, edges) in acyclic_edges(), gone in proptest::collection::btree_set(0_u32..14, 0..10),
    ) {
        let mut thinned = draft_with_edges(n, &edges);
        thinned.retain_vertices(|id, _| !gone.contains(&id.0));
        let kept: Vec<u32> = (0..n).filter(|v| !gone.contains(v)).collect();
        prop_assert_eq!(thinned.vertices(), &kept);
        let numbers: Vec<(u32, u32)> =
            thinned.edges().iter().map(|e| (thinned[e.dependent], thinned[e.dependency])).collect();
        let expected: Vec<(u32, u32)> =
            edges.iter().copied().filter(|e| !gone.contains(&e.0) && !gone.contains(&e.1)).collect();
        prop_assert_eq!(numbers, expected);
    }
}

fn check_cycles(
    n: u32,
    edges: &[(u32, u32)],
    pairs: &BTreeSet<(u32, u32)>,
    cyclic: &CyclicDraft<u32, usize>,
) -> Result<(), TestCaseError> {
    let same_knot = |a: u32, b: u32| pairs.contains(&(a, b)) && pairs.contains(&(b, a));
    let knots: BTreeSet<u32> = (0..n)
        .filter(|&v| same_knot(v, v))
        .map(|v| (0..n).find(|&w| same_knot(v, w)).unwrap_or(v))
        .collect();
    prop_assert_eq!(cyclic.cycles.len(), knots.len());
    for cycle in &cyclic.cycles {
        let way: Vec<&Edge<usize>> = cyclic.edges_of_cycle(cycle).collect();
        prop_assert_eq!(way.len(), cycle.0.len(), "every step of the cycle is an edge");
        for edge in way {
            prop_assert_eq!(edges[edge.reason], (edge.dependent.0, edge.dependency.0));
        }
        let shortest = cycle.0.len();
        let first = cycle.0[0].0;
        let shorter = (0..n)
            .filter(|&v| same_knot(v, first))
            .any(|v| shortest_cycle_len(n, edges, v) < shortest);
        prop_assert!(!shorter, "there is a shorter cycle than {:?}", cycle);
    }
    Ok(())
}

/// The length of the shortest way from a vertex back to itself.
fn shortest_cycle_len(n: u32, edges: &[(u32, u32)], start: u32) -> usize {
    let mut frontier = BTreeSet::from([start]);
    for n_steps in 1..=n as usize {
        frontier = edges.iter().filter(|e| frontier.contains(&e.0)).map(|e| e.1).collect();
        if frontier.contains(&start) {
            return n_steps;
        }
    }
    usize::MAX
}

/// Admits a limited number of concurrent vertices. An admitted vertex releases capacity only after its
/// partner has passed.
struct LimitedGate {
    n_free: Cell<usize>,
    forced: RefCell<Vec<u32>>,
}

impl WalkGate for LimitedGate {
    fn may_start(&self, id: VertexId) -> bool {
        let is_tenant = id.0.is_multiple_of(2);
        if is_tenant && self.n_free.get() == 0 {
            return false;
        }
        self.n_free.set(self.n_free.get() - usize::from(is_tenant));
        true
    }

    fn force_start(&self, id: VertexId) {
        self.forced.borrow_mut().push(id.0);
    }

    fn on_finished(&self, id: VertexId) -> bool {
        let is_last = !id.0.is_multiple_of(2) && !self.forced.borrow().contains(&(id.0 - 1));
        self.n_free.set(self.n_free.get() + usize::from(is_last));
        is_last
    }
}

fn walk_with_limited_gate(n_free: usize, n: u32, edges: &[(u32, u32)]) -> (Vec<u32>, Vec<u32>) {
    let frozen = graph_with_edges(n, edges);
    let gate = LimitedGate { n_free: Cell::new(n_free), forced: RefCell::default() };
    let started = RefCell::new(Vec::new());
    let visit = |id: VertexId, _: &u32| {
        started.borrow_mut().push(id.0);
        after_polls(id.0 % 3)
    };
    let pace = WalkOptions { gate: &gate, ..WalkOptions::with_limit(9) };
    let fails = |id: VertexId, _: &u32, ()| {
        if id.0 == 4 {
            DependentsDecision::SkipDependents
        } else {
            DependentsDecision::StartDependents
        }
    };
    block_on(walk_graph(&frozen, pace, visit, fails));
    (started.into_inner(), gate.forced.into_inner())
}

#[test]
fn gated_vertices_start_when_the_gate_has_room() {
    // Pairs of a vertex with a limited resource and its last user; the third fails, so its user is
    // never visited.
    let pairs = [(1, 0), (3, 2), (5, 4), (7, 6)];
    let (started, forced) = walk_with_limited_gate(1, 8, &pairs);
    assert_eq!((started, forced), (vec![0, 1, 2, 3, 4, 6, 7], vec![]));
}

#[test]
fn gated_vertices_start_when_nothing_else_can_free_the_gate() {
    // The user of the first resource waits for that of the second.
    let (started, forced) = walk_with_limited_gate(1, 4, &[(1, 0), (3, 2), (1, 3)]);
    assert_eq!((started, forced), (vec![0, 2, 3, 1], vec![2]));
    // Without any capacity, each must be admitted.
    let (started, forced) = walk_with_limited_gate(0, 4, &[(1, 0), (3, 2)]);
    assert_eq!(started.len(), 4);
    assert_eq!(forced, [0, 2]);
}

#[test]
fn a_cycle_names_its_edges_with_their_reasons() {
    let mut draft = GraphDraft::new();
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| draft.add(name));
    draft.connect(b, a, "main.tf:1");
    draft.connect(c, b, "main.tf:2");
    draft.connect(b, c, "main.tf:3");
    draft.connect(b, c, "main.tf:4");
    draft.connect(d, d, "main.tf:5");
    let cyclic = draft.freeze().expect_err("b and c wait for each other");
    assert_eq!(cyclic.cycles, [Cycle(vec![b, c]), Cycle(vec![d])]);
    // Of two edges between the same vertices the first one is named.
    let reasons = |cycle| cyclic.edges_of_cycle(cycle).map(|edge| edge.reason).collect::<Vec<_>>();
    assert_eq!(reasons(&cyclic.cycles[0]), ["main.tf:3", "main.tf:2"]);
    assert_eq!(reasons(&cyclic.cycles[1]), ["main.tf:5"]);
}

#[test]
fn the_smallest_vertex_that_can_start_starts_first() {
    let frozen = graph_with_edges(6, &[(0, 5), (3, 4)]);
    let started = RefCell::new(Vec::new());
    let visit = |id: VertexId, _: &u32| {
        started.borrow_mut().push(id.0);
        async {}
    };
    block_on(walk_graph(&frozen, WalkOptions::with_limit(1), visit, |_, _, ()| {
        DependentsDecision::StartDependents
    }));
    assert_eq!(*started.borrow(), [1, 2, 4, 3, 5, 0]);
}

#[test]
fn a_stopped_walk_waits_for_running_visits_and_starts_no_others() {
    let frozen = graph_with_edges(6, &[(5, 0), (4, 2)]);
    let stopped = Cell::new(false);
    let stop = || stopped.get();
    let recorded = RefCell::new(Vec::new());
    // The first ends immediately, while the second is running.
    let visit = |id: VertexId, _: &u32| after_polls(id.0);
    let record = |id: VertexId, _: &u32, ()| {
        stopped.set(true);
        recorded.borrow_mut().push(id.0);
        if id.0 == 0 {
            DependentsDecision::SkipDependents
        } else {
            DependentsDecision::StartDependents
        }
    };
    let pace = WalkOptions { stop: &stop, ..WalkOptions::with_limit(2) };
    let unvisited = block_on(walk_graph(&frozen, pace, visit, record));
    assert_eq!(*recorded.borrow(), [0, 1]);
    assert_eq!(unvisited.skipped, [VertexId(5)]);
    assert_eq!(unvisited.stopped, [VertexId(2), VertexId(3), VertexId(4)]);
}

#[test]
fn a_seed_decides_the_order_of_recording() {
    let frozen = graph_with_edges(12, &[]);
    let order = |seed| {
        let mut recorded = Vec::new();
        let pace =
            WalkOptions { finishing: RecordOrder::Shuffled(seed), ..WalkOptions::with_limit(4) };
        block_on(walk_graph(
            &frozen,
            pace,
            |_, _| async {},
            |id, _, ()| {
                recorded.push(id.0);
                DependentsDecision::StartDependents
            },
        ));
        recorded
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
}

#[test]
fn a_long_walk_yields_to_other_tasks() {
    // None of these ever waits, so without pauses the walk would end within one poll.
    let frozen = graph_with_edges(1_000, &[]);
    let mut future = pin!(walk_graph(
        &frozen,
        WalkOptions::with_limit(4),
        |_, _| async {},
        |_, _, ()| DependentsDecision::StartDependents
    ));
    let mut context = Context::from_waker(Waker::noop());
    assert!(future.as_mut().poll(&mut context).is_pending());
}

#[test]
fn a_chain_of_a_million_vertices_is_walked_in_linear_time() {
    // What recurses along a chain would end its stack here.
    const N: u32 = 1_000_000;
    let mut draft: GraphDraft<()> = GraphDraft::new();
    for number in 0..N {
        draft.add(());
        if number > 0 {
            draft.connect(VertexId(number), VertexId(number - 1), ());
        }
    }
    let frozen = draft.freeze().expect("a chain has no cycle");
    let mut n_recorded = 0;
    block_on(walk_graph(
        &frozen,
        WalkOptions::with_limit(10),
        |_, ()| async {},
        |_, (), ()| {
            n_recorded += 1;
            DependentsDecision::StartDependents
        },
    ));
    assert_eq!(n_recorded, N);
}

#[test]
fn a_failure_at_the_head_of_a_long_chain_is_handled_in_linear_time() {
    const N: u32 = 100_000;
    let mut draft: GraphDraft<()> = GraphDraft::new();
    for number in 0..N {
        draft.add(());
        if number > 0 {
            draft.connect(VertexId(number), VertexId(number - 1), ());
        }
    }
    let frozen = draft.freeze().expect("a chain has no cycle");
    let fail = |_, (): &(), ()| DependentsDecision::SkipDependents;
    let unvisited =
        block_on(walk_graph(&frozen, WalkOptions::with_limit(10), |_, ()| async {}, fail));
    assert_eq!(unvisited.skipped.len(), N as usize - 1);
}

proptest! {
    #[test]
    fn a_graph_that_was_thawed_freezes_to_the_same((n, edges) in acyclic_edges()) {
        let (before, after) = (graph_with_edges(n, &edges), graph_with_edges(n, &edges).into_draft().freeze());
        let after = after.expect("it had no cycle before");
        prop_assert_eq!(before.topological_order(), after.topological_order());
        for id in before.vertex_ids() {
            prop_assert_eq!(before.dependencies(id), after.dependencies(id));
            prop_assert_eq!(before.dependents(id), after.dependents(id));
            prop_assert_eq!(before.edge_reasons(id), after.edge_reasons(id));
        }
    }
}

#[test]
fn a_walk_runs_as_many_visits_as_allowed_and_no_more() {
    const N: u32 = 1_500;
    let graph = graph_with_edges(N, &[]);
    // Nothing could ever start with 0, so it counts as 1.
    for limit in [0, 1, 2, 10, 1_000, 2_000, usize::MAX] {
        let (under_way, most, started) = (Cell::new(0), Cell::new(0), RefCell::new(Vec::new()));
        let visit = |id: VertexId, _: &u32| {
            started.borrow_mut().push(id);
            under_way.set(under_way.get() + 1);
            most.set(most.get().max(under_way.get()));
            let under_way = &under_way;
            async move {
                after_polls(id.0 % 7).await;
                under_way.set(under_way.get() - 1);
            }
        };
        block_on(walk_graph(&graph, WalkOptions::with_limit(limit), visit, |_, _, ()| {
            DependentsDecision::StartDependents
        }));
        assert_eq!(most.get(), limit.clamp(1, N as usize));
        // No ready vertex is overtaken by a later one.
        assert!(started.borrow().is_sorted() && started.borrow().len() == N as usize);
    }
}

#[test]
fn mutually_reachable_vertices_are_one_component() {
    let knots = component_numbers(6, vec![(0, 1), (1, 2), (2, 1), (2, 3), (4, 4), (5, 0)]);
    let same = |a: usize, b: usize| knots[a] == knots[b];
    assert!(same(1, 2));
    let isolated = [0, 3, 4, 5];
    assert!(isolated.iter().all(|&at| (0..6).all(|other| at == other || !same(at, other))));
}
