//! A check of linearizability: concurrent applies to one state in PostgreSQL, with kills among them.
//!
//! Six processes apply to an object of their own, and in turns with it to one that all share. About
//! every third apply is killed by `SIGKILL` as soon as it prints a certain line, and its directory is
//! removed. The others continue and take it over. At the end one more run takes over what is
//! left.
//!
//! An object is a register, and an apply writes a value that no other apply writes. The serials of the
//! history name one order of all writes: a witness, so no order has to be searched for, as Knossos and
//! Porcupine do. What they do with operations without an answer is done here, too: an apply that was
//! killed is pending for ever. It has no effect, or one at any time after it began, also when another
//! run takes it over long after the kill.
//!
//! [`find_violations`] has the conditions. It does not check reads: a plan reads one row in one statement.

#[path = "../../../crash/rng.rs"]
mod rng;

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::Value;

use self::rng::Rng;
use super::{END_OTHER_SESSIONS, directory, history};
use crate::harness::{CommandResult, Postgres, Workdir};

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const SHARED: &str = "shared";
const ROUNDS: u64 = 6;
/// The source of the choice of kills. With this one, applies to the shared object are killed at each of the lines.
const SEED: u64 = 190;

/// The lines at which applies are killed: before the claims, in the call of the provider, before the
/// write of the state, and at the end.
const KILLED_AT: [&str; 4] = ["Plan:", "Modifying...", "Modifications complete", "Apply complete!"];

/// An apply, as its caller sees it.
struct Operation {
    name: &'static str,
    size: u64,
    start: Instant,
    end: End,
}

/// The end of an apply.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// Success, at this time.
    Done(Instant),
    /// A refusal before the first call.
    Refused,
    /// A kill: it is pending for ever.
    Killed,
}

/// A change of an object in the history.
struct Change {
    /// The index of its write among all writes.
    write: usize,
    name: String,
    size: u64,
}

/// Objects of a provider outside of the process, whose calls are in the journal one by one.
fn things(sizes: &[(&str, u64)]) -> String {
    let provider =
        "terraform {\n  required_providers {\n    bad = { source = \"formwork/bad\" }\n  }\n}\n";
    let block = |(name, size): &(&str, u64)| {
        format!("resource \"bad_thing\" \"{name}\" {{\n  name = \"{name}\"\n  size = {size}\n}}\n")
    };
    sizes.iter().map(block).fold(provider.to_owned(), |text, block| text + &block)
}

/// All objects, with sizes that begin at a number.
fn all_sizes(first: u64) -> Vec<(&'static str, u64)> {
    NAMES.into_iter().chain([SHARED]).zip(first..).collect()
}

/// The sizes in the stored state, by name.
fn stored_sizes(workdir: &Workdir) -> BTreeMap<String, u64> {
    let text = workdir.formwork("state pull").succeed().stdout;
    let state: Value = serde_json::from_str(&text).expect("it is a state");
    let size = |resource: &Value| {
        let size = resource["instances"][0]["attributes"]["size"].as_u64()?;
        Some((resource["name"].as_str()?.to_owned(), size))
    };
    state["resources"].as_array().into_iter().flatten().filter_map(size).collect()
}

/// The size of an object outside of the state.
fn real_size(workdir: &Workdir, name: &str) -> Option<u64> {
    let object: Value = serde_json::from_str(&workdir.service.object(&format!("{name}-1"))).ok()?;
    object["size"].as_u64()
}

/// The changes of the writes from an index on, in the order of the serials.
fn changes_since(reader: &Workdir, first: usize) -> Vec<Change> {
    let writes = history(reader);
    let serials: Vec<u64> = writes.iter().filter_map(|write| write["serial"].as_u64()).collect();
    assert!(serials.windows(2).all(|pair| pair[1] == pair[0] + 1), "{serials:?}");
    let mut changes = Vec::new();
    for (write, entry) in writes.iter().enumerate().skip(first) {
        for change in entry["changes"].as_array().expect("a list") {
            let address = change["address"].as_str().expect("an address");
            let command = format!("state show -at={} {address}", entry["serial"]);
            let command = reader.formwork(&command).succeed().words();
            let size = command.split(" size = ").nth(1).and_then(|rest| rest.split(' ').next());
            let size = size.and_then(|text| text.parse().ok()).expect("a number");
            let name = address.trim_start_matches("bad_thing.").to_owned();
            changes.push(Change { write, name, size });
        }
    }
    changes
}

/// Finds violations of linearizability. A run is linearizable, as the order of its changes shows, if
///
/// 1. each change belongs to an apply, and no apply has two;
/// 2. each successful apply has one, a refused apply has none, and one that was killed has one or none;
/// 3. the change of an apply that had ended before another one began comes first.
///
/// One that was killed never ended, so only its beginning counts.
fn find_violations(operations: &[Operation], changes: &[Change]) -> Vec<String> {
    let mut violations = Vec::new();
    let makes = |operation: &Operation, change: &Change| {
        change.name == operation.name && change.size == operation.size
    };
    for change in changes {
        if !operations.iter().any(|operation| makes(operation, change)) {
            violations.push(format!("{} = {} comes from no apply", change.name, change.size));
        }
    }
    let write_of = |operation: &Operation| {
        changes.iter().find(|change| makes(operation, change)).map(|change| change.write)
    };
    for operation in operations {
        let description = format!("{} = {}", operation.name, operation.size);
        match (changes.iter().filter(|change| makes(operation, change)).count(), operation.end) {
            (0, End::Done(_)) => violations.push(format!("{description} is lost")),
            (1, End::Refused) => {
                violations.push(format!("{description} was refused, and is there"));
            }
            (2.., _) => violations.push(format!("{description} is there twice")),
            (0 | 1, _) => {}
        }
        let (End::Done(end), Some(write)) = (operation.end, write_of(operation)) else { continue };
        for later in operations.iter().filter(|later| end < later.start) {
            if write_of(later).is_some_and(|later| later <= write) {
                violations
                    .push(format!("{description} comes after {} = {}", later.name, later.size));
            }
        }
    }
    violations
}

/// Applies one size to one object.
fn apply(workdir: &Workdir, objects: &Path, killed_at: Option<&str>, name: &str) -> CommandResult {
    let command = workdir.formwork(&format!("apply -auto-approve -target=bad_thing.{name}"));
    // Objects outlive the directory of a run.
    let running = command.env("BAD_OBJECTS", &objects.to_string_lossy()).start();
    if killed_at.and_then(|words| running.find_line(words)).is_some() {
        running.signal(Signal::SIGKILL);
    }
    running.wait()
}

/// The applies of one process after another.
fn work(server: &Postgres, objects: &Path, worker: usize) -> Vec<Operation> {
    let number = u64::try_from(worker).expect("it is small");
    let mut choices = Rng::new(SEED + number);
    let mut workdir = directory(server, &things(&[]));
    let mut operations = Vec::new();
    for round in 0..ROUNDS {
        let name = if round % 2 == 1 { SHARED } else { NAMES[worker] };
        let size = 100 * (number + 1) + round;
        workdir.write("main.tf", &server.config(&things(&[(name, size)])));
        let is_killed = choices.chance(1, 3);
        let index = usize::try_from(choices.below(4)).expect("it is small");
        let start = Instant::now();
        let result = apply(&workdir, objects, is_killed.then_some(KILLED_AT[index]), name);
        let end = match result.code {
            Some(0) => End::Done(Instant::now()),
            // The claims of a run that was killed stay until it is taken over.
            Some(_) => {
                let words = result.words();
                let is_refused = words.contains("Another run is changing")
                    || words.contains("State has changed since");
                assert!(is_refused, "{words}");
                End::Refused
            }
            None => {
                workdir = directory(server, &things(&[]));
                End::Killed
            }
        };
        operations.push(Operation { name, size, start, end });
    }
    operations
}

#[test]
fn concurrent_applies_are_linearizable_even_if_some_are_killed() {
    let Some(server) = Postgres::start() else { return };
    let reader = directory(&server, &things(&all_sizes(0)));
    reader.formwork("apply -auto-approve").succeed();
    let first = history(&reader).len();
    let objects = reader.service.path();
    let mut operations: Vec<Operation> = thread::scope(|scope| {
        let work = |worker| {
            let server = &server;
            scope.spawn(move || work(server, objects, worker))
        };
        let workers: Vec<_> = (0..NAMES.len()).map(work).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("it ends")).collect()
    });
    // Otherwise the object that all share would show nothing about concurrent applies.
    let shared = || operations.iter().filter(|operation| operation.name == SHARED);
    assert!(shared().any(|operation| operation.end == End::Killed), "none was killed");
    assert!(
        shared().any(|operation| matches!(operation.end, End::Done(_))),
        "all were refused or killed"
    );

    // Takes over the rest: a call without an answer has had its effect or not. The server may not have
    // seen the end of the last one that was killed.
    server.execute(END_OTHER_SESSIONS);
    reader.formwork("apply -refresh-only -auto-approve").succeed();
    let settled = stored_sizes(&reader);
    for (name, size) in &settled {
        assert_eq!(real_size(&reader, name), Some(*size), "{name}");
    }
    // Nothing is in the way of a later run.
    let (start, last) = (Instant::now(), all_sizes(900));
    reader.write("main.tf", &server.config(&things(&last)));
    reader.formwork("apply -auto-approve").succeed().says("0 added, 7 changed, 0 destroyed");
    let end = End::Done(Instant::now());
    operations.extend(last.iter().map(|&(name, size)| Operation { name, size, start, end }));

    let changes = changes_since(&reader, first);
    let violations = find_violations(&operations, &changes);
    assert!(violations.is_empty(), "{violations:#?}");
    let last: BTreeMap<String, u64> =
        changes.iter().map(|change| (change.name.clone(), change.size)).collect();
    assert_eq!(stored_sizes(&reader), last);
}

#[test]
fn the_check_finds_histories_without_a_linear_order() {
    let start = Instant::now();
    let time = |second: u64| start + Duration::from_secs(second);
    let operation = |name, size, began, end| Operation { name, size, start: time(began), end };
    let done = |second| End::Done(time(second));
    let violations = |second: End, order: &[(usize, u64)]| {
        let operations = [operation("a", 1, 0, done(1)), operation("a", 2, 2, second)];
        let change = |&(write, size): &(usize, u64)| Change { write, name: "a".to_owned(), size };
        find_violations(&operations, &order.iter().map(change).collect::<Vec<_>>())
    };
    let no_violations: [String; 0] = [];
    assert_eq!(violations(done(3), &[(0, 1), (1, 2)]), no_violations);
    assert_eq!(violations(done(3), &[(0, 1)]), ["a = 2 is lost"]);
    assert_eq!(violations(done(3), &[(0, 2), (1, 1)]), ["a = 1 comes after a = 2"]);
    assert_eq!(violations(done(3), &[(0, 1), (1, 2), (2, 1)]), ["a = 1 is there twice"]);
    assert_eq!(violations(done(3), &[(0, 1), (1, 2), (2, 3)]), ["a = 3 comes from no apply"]);
    assert_eq!(violations(End::Refused, &[(0, 1)]), no_violations);
    assert_eq!(violations(End::Refused, &[(0, 1), (1, 2)]), ["a = 2 was refused, and is there"]);
    assert_eq!(violations(End::Killed, &[(0, 1)]), no_violations);
    assert_eq!(violations(End::Killed, &[(0, 1), (1, 2)]), no_violations);
    // It may come late, but not before it began.
    assert_eq!(violations(End::Killed, &[(0, 2), (1, 1)]), ["a = 1 comes after a = 2"]);
}
