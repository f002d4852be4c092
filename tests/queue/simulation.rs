//! Simulates a queue of work: workers that claim ready vertices from a database, make their calls, and
//! commit the results. Discrete events, deterministic; time is in microseconds.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

/// A vertex.
type Vertex = u32;

/// Microseconds.
type Time = u64;

/// The case to simulate.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    /// Number of instances, and of those in one layer. An instance depends on two of the layer before.
    pub(crate) instances: usize,
    pub(crate) width: usize,
    /// Number of workers, each on a host of its own.
    pub(crate) workers: usize,
    /// Concurrent calls of one worker.
    pub(crate) calls: usize,
    /// The least time between two calls of one host: the processor time of a call in engine and
    /// provider, divided by the number of cores.
    pub(crate) host: Time,
    /// Mean time of a call. Times are spread exponentially.
    pub(crate) call: Time,
    /// The most vertices of one claim.
    pub(crate) group: usize,
    /// The least time between two calls, over all workers: the limit of the provider's API. 0 is none.
    pub(crate) spacing: Time,
    pub(crate) database: Database,
}

/// The times of a database.
#[derive(Clone, Copy)]
pub(crate) struct Database {
    /// Concurrent transactions.
    pub(crate) at_once: usize,
    /// The time of a claim or a commit, besides its rows, in microseconds.
    pub(crate) transaction: f64,
    /// The time for each row of a claim, and of a commit, in microseconds.
    pub(crate) claimed: f64,
    pub(crate) committed: f64,
}

/// The result of a simulation.
pub(crate) struct Run {
    /// The time from the first claim to the last commit.
    pub(crate) time: Time,
    /// The share of the time in which the database works.
    pub(crate) load: f64,
    /// The mean number of concurrent calls.
    pub(crate) concurrency: f64,
}

/// Something that happens at a time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A worker has the answer to a call.
    Answered { worker: usize, vertex: Vertex },
    /// The database has finished a transaction.
    Finished { worker: usize },
}

/// A transaction of a worker.
enum Transaction {
    /// It waits for the database, which then commits answers, or claims vertices if there are none.
    Waiting,
    Claim(Vec<Vertex>),
    Commit(Vec<Vertex>),
}

#[derive(Default)]
struct Worker {
    /// Claimed vertices without a call.
    claimed: VecDeque<Vertex>,
    /// Answers that are not committed.
    answered: Vec<Vertex>,
    running: usize,
    /// The time from which the host can make another call.
    next_call: Time,
    /// The transaction in the database: one at a time, as a worker has one session.
    transaction: Option<Transaction>,
}

struct Simulation {
    case: Case,
    now: Time,
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    /// Makes the order of events at one time that in which they were added.
    n_events: u64,
    workers: Vec<Worker>,
    /// Vertices without open dependencies, and the numbers of these.
    ready: VecDeque<Vertex>,
    waits: Vec<u8>,
    /// Workers whose transaction waits for the database, and the number of those that run.
    queue: VecDeque<usize>,
    n_running: usize,
    /// Workers that found nothing to claim.
    idle: BTreeSet<usize>,
    next_call: Time,
    random: u64,
    busy: f64,
    called: f64,
    n_done: usize,
}

/// Runs a case to its end.
pub(crate) fn simulate(case: Case) -> Run {
    let mut simulation = Simulation::new(case);
    for worker in 0..case.workers {
        simulation.continue_run(worker);
    }
    while simulation.n_done < case.instances {
        let Reverse((time, _, event)) = simulation.events.pop().expect("something is under way");
        simulation.now = time;
        match event {
            Event::Answered { worker, vertex } => {
                simulation.workers[worker].running -= 1;
                simulation.workers[worker].answered.push(vertex);
                simulation.continue_run(worker);
            }
            Event::Finished { worker } => simulation.finish(worker),
        }
    }
    let time = simulation.now.max(1);
    let load = simulation.busy / time as f64 / case.database.at_once as f64;
    let concurrency = simulation.called / time as f64;
    Run { time, load, concurrency }
}

impl Simulation {
    fn new(case: Case) -> Self {
        let first = case.width.min(case.instances);
        let waits = (0..case.instances).map(|vertex| if vertex < first { 0 } else { 2 }).collect();
        Self {
            case,
            now: 0,
            events: BinaryHeap::new(),
            n_events: 0,
            workers: (0..case.workers).map(|_| Worker::default()).collect(),
            ready: (0..first as Vertex).collect(),
            waits,
            queue: VecDeque::new(),
            n_running: 0,
            idle: BTreeSet::new(),
            next_call: 0,
            random: 0x9e37_79b9_7f4a_7c15,
            busy: 0.0,
            called: 0.0,
            n_done: 0,
        }
    }

    fn add(&mut self, time: Time, event: Event) {
        self.n_events += 1;
        self.events.push(Reverse((time, self.n_events, event)));
    }

    /// Starts everything that a worker can do now.
    fn continue_run(&mut self, worker: usize) {
        while self.workers[worker].running < self.case.calls {
            let Some(vertex) = self.workers[worker].claimed.pop_front() else { break };
            self.call(worker, vertex);
        }
        let state = &mut self.workers[worker];
        let needs_claim = !state.answered.is_empty() || state.claimed.len() < self.case.calls;
        if state.transaction.is_none() && needs_claim {
            state.transaction = Some(Transaction::Waiting);
            self.idle.remove(&worker);
            self.queue.push_back(worker);
            self.serve();
        }
    }

    fn call(&mut self, worker: usize, vertex: Vertex) {
        let start = self.now.max(self.next_call).max(self.workers[worker].next_call);
        self.next_call = self.now.max(self.next_call) + self.case.spacing;
        self.workers[worker].next_call = start + self.case.host;
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let uniform = ((self.random >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
        let time = (-uniform.ln() * self.case.call as f64) as Time;
        self.workers[worker].running += 1;
        self.called += time as f64;
        self.add(start + time, Event::Answered { worker, vertex });
    }

    /// Starts the waiting transactions that the database can run.
    fn serve(&mut self) {
        while self.n_running < self.case.database.at_once {
            let Some(worker) = self.queue.pop_front() else { return };
            let Case { group, database, .. } = self.case;
            let state = &mut self.workers[worker];
            // Results first, because they make other vertices ready. All that have arrived are committed
            // together.
            let rows = if state.answered.is_empty() {
                let n_served = group.min(self.ready.len());
                if n_served == 0 {
                    // It waits for a notification, which costs the database nothing until then.
                    state.transaction = None;
                    self.idle.insert(worker);
                    continue;
                }
                state.transaction =
                    Some(Transaction::Claim(self.ready.drain(..n_served).collect()));
                database.claimed * n_served as f64
            } else {
                let n_served = state.answered.len().min(group);
                let answers = state.answered.drain(..n_served).collect();
                state.transaction = Some(Transaction::Commit(answers));
                database.committed * n_served as f64
            };
            let time = database.transaction + rows;
            self.busy += time;
            self.n_running += 1;
            self.add(self.now + time as Time, Event::Finished { worker });
        }
    }

    fn finish(&mut self, worker: usize) {
        self.n_running -= 1;
        match self.workers[worker].transaction.take() {
            Some(Transaction::Claim(vertices)) => self.workers[worker].claimed.extend(vertices),
            Some(Transaction::Commit(vertices)) => {
                self.n_done += vertices.len();
                for vertex in vertices {
                    self.release(vertex as usize);
                }
            }
            Some(Transaction::Waiting) | None => {}
        }
        self.serve();
        self.continue_run(worker);
        // One notification wakes as many workers as there is work for.
        let woken = self.idle.len().min(self.ready.len().div_ceil(self.case.group));
        for _ in 0..woken {
            if let Some(idle) = self.idle.pop_first() {
                self.continue_run(idle);
            }
        }
    }

    /// Lowers the counts of the dependents of a vertex.
    fn release(&mut self, vertex: usize) {
        let width = self.case.width;
        let next = (vertex / width + 1) * width;
        for step in 0..2 {
            let dependent = next + (vertex % width + step) % width;
            let Some(waits) = self.waits.get_mut(dependent) else { continue };
            *waits -= 1;
            if *waits == 0 {
                self.ready.push_back(dependent as Vertex);
            }
        }
    }
}
