//! Runs jobs concurrently, and reports their events in the order of the jobs.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The number of concurrent jobs.
const MAX_WORKERS: usize = 4;

/// The interval between two calls of `idle`.
const IDLE_INTERVAL: Duration = Duration::from_millis(100);

enum WorkerMessage<E, R> {
    Event(E),
    Done(R),
}

/// Runs a job for each item on a few threads. `seen` receives the events in the order of the items, and
/// `idle` is called periodically while no event is available. Results are in the order of the items.
pub(crate) fn run_jobs<T: Sync, E: Send, R: Send>(
    items: &[T],
    job: impl Fn(usize, &T, &dyn Fn(E)) -> R + Sync,
    mut on_event: impl FnMut(&T, E),
    mut idle: impl FnMut(),
) -> Vec<R> {
    let (send, receive) = mpsc::channel::<(usize, WorkerMessage<E, R>)>();
    let next = AtomicUsize::new(0);
    let mut waiting: Vec<VecDeque<E>> = items.iter().map(|_| VecDeque::new()).collect();
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    let work = |send: mpsc::Sender<(usize, WorkerMessage<E, R>)>| {
        loop {
            let index = next.fetch_add(1, Ordering::SeqCst);
            let Some(item) = items.get(index) else { return };
            // The receiver is only dropped if the other thread has panicked.
            let emit = |event| drop(send.send((index, WorkerMessage::Event(event))));
            let result = job(index, item, &emit);
            drop(send.send((index, WorkerMessage::Done(result))));
        }
    };
    thread::scope(|scope| {
        let work = &work;
        let mut n_workers = 0;
        for _ in 0..MAX_WORKERS.min(items.len()) {
            let send = send.clone();
            let started = thread::Builder::new().spawn_scoped(scope, move || work(send));
            n_workers += usize::from(started.is_ok());
        }
        // If no thread can be started, this thread runs the jobs, and the events are reported at the
        // end.
        if n_workers == 0 {
            work(send.clone());
        }
        drop(send);
        let mut current = 0;
        loop {
            match receive.recv_timeout(IDLE_INTERVAL) {
                Ok((index, WorkerMessage::Event(event))) => waiting[index].push_back(event),
                Ok((index, WorkerMessage::Done(result))) => results[index] = Some(result),
                Err(RecvTimeoutError::Timeout) => idle(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            while let Some(item) = items.get(current) {
                waiting[current].drain(..).for_each(|event| on_event(item, event));
                if results[current].is_none() {
                    break;
                }
                current += 1;
            }
        }
    });
    results.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn jobs_overlap_and_their_events_come_in_order() {
        let items: Vec<usize> = (0..9).collect();
        // Passes only if as many jobs as workers run concurrently.
        let barrier = Barrier::new(MAX_WORKERS);
        let mut events = Vec::new();
        let job = |_, item: &usize, emit: &dyn Fn(usize)| {
            emit(*item * 10);
            if *item < MAX_WORKERS {
                barrier.wait();
            }
            emit(*item * 10 + 1);
            item * 2
        };
        let results = run_jobs(&items, job, |item, event| events.push((*item, event)), || ());
        assert_eq!(results, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        let expected: Vec<_> =
            items.iter().flat_map(|item| [(*item, item * 10), (*item, item * 10 + 1)]).collect();
        assert_eq!(events, expected);
        assert!(run_jobs(&[] as &[usize], |_, _, _: &dyn Fn(())| (), |_, ()| (), || ()).is_empty());
    }
}
