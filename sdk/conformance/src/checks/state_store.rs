//! Checks of state stores (T): bytes there and back, locks between processes, torn writes, listing.
//! Only on request, in states of their own that are deleted at the end.

use std::time::Duration;

use formwork_value::Value;

use crate::finding::Finding;
use crate::message::Msg;
use crate::offer::{Kind, OfferedType};
use crate::plugin::{Call, Plugin, Reply};
use crate::request::encode_dynamic;
use crate::rpc::{Diag, Rpc};
use crate::suite::{CHANGING_CALL_TIMEOUT, Suite};

const STATE_STORE_RULES: [&str; 5] = ["T-01", "T-02", "T-03", "T-04", "T-05"];
/// The requested chunk size.
const REQUESTED_CHUNK_SIZE: u64 = 8 << 20;
/// The number of processes that are killed while they write.
const N_KILLED_WRITERS: u64 = 16;

/// Checks the family.
pub(super) async fn run(suite: &mut Suite) {
    if !suite.wants_any(&STATE_STORE_RULES) {
        return;
    }
    let stores: Vec<OfferedType> = suite.offer.usable_types_of_kind(Kind::Store).cloned().collect();
    if stores.is_empty() {
        return suite.note_skipped_rules(&STATE_STORE_RULES, "the provider has no state store");
    }
    for offered in stores {
        let configs = suite.legal_configs(&offered).await;
        let Some(config) = configs.first().cloned() else {
            let reason =
                "no legal configuration of a state store was found; give one with -examples";
            suite.note_skipped_rules(&STATE_STORE_RULES, reason);
            continue;
        };
        let store = StoreWithConfig { offered, config };
        match store.start_process(suite).await {
            Ok(user) => check_state_store(suite, &store, &user).await,
            Err(reason) => suite.note_skipped_rules(
                &STATE_STORE_RULES,
                &format!("the state store cannot be used: {reason}"),
            ),
        }
    }
}

/// A type of state store with a configuration.
struct StoreWithConfig {
    offered: OfferedType,
    config: Value,
}

/// A process that uses a configured state store.
struct StoreProcess {
    plugin: Plugin,
    name: String,
    chunk: usize,
}

impl StoreWithConfig {
    /// Starts a process and configures provider and store in it.
    async fn start_process(&self, suite: &Suite) -> Result<StoreProcess, String> {
        let plugin = suite.start_another_process().await.map_err(|error| error.to_string())?;
        let configure = crate::request::configure_request(&suite.config);
        plugin.call(Rpc::ConfigureProvider, &configure, CHANGING_CALL_TIMEOUT).await;
        let request = Msg::new()
            .with_text(1, &self.offered.name)
            .with_message(2, &encode_dynamic(&self.config, &self.offered.ty()))
            .with_message(3, &Msg::new().with_nonzero_int(1, REQUESTED_CHUNK_SIZE));
        let call = plugin.call(Rpc::ConfigureStateStore, &request, CHANGING_CALL_TIMEOUT).await;
        let Some(answer) = call.first_message().filter(|_| call.is_success()) else {
            return Err(call.describe_outcome());
        };
        // A size of 0 would panic when the state is split.
        let chosen = answer
            .get_msg(2)
            .map_or(REQUESTED_CHUNK_SIZE, |it| it.get_int(1))
            .clamp(1, REQUESTED_CHUNK_SIZE);
        let chunk = usize::try_from(chosen).unwrap_or(1 << 20);
        Ok(StoreProcess { plugin, name: self.offered.name.clone(), chunk })
    }
}

impl StoreProcess {
    fn state_request(&self, state: &str) -> Msg {
        Msg::new().with_text(1, &self.name).with_text(2, state)
    }

    async fn lock(&self, state: &str) -> Call {
        let request = self.state_request(state).with_text(3, "conformance");
        self.plugin.call(Rpc::LockState, &request, CHANGING_CALL_TIMEOUT).await
    }

    async fn unlock(&self, state: &str, id: &str) -> Call {
        self.plugin
            .call(
                Rpc::UnlockState,
                &self.state_request(state).with_text(3, id),
                CHANGING_CALL_TIMEOUT,
            )
            .await
    }

    async fn delete(&self, state: &str) -> Call {
        self.plugin.call(Rpc::DeleteState, &self.state_request(state), CHANGING_CALL_TIMEOUT).await
    }

    async fn list_states(&self) -> Call {
        self.plugin
            .call(Rpc::GetStates, &Msg::new().with_text(1, &self.name), CHANGING_CALL_TIMEOUT)
            .await
    }

    async fn write(&self, state: &str, bytes: &[u8]) -> Call {
        let total = bytes.len() as u64;
        let mut chunks: Vec<&[u8]> = bytes.chunks(self.chunk).collect();
        // The first chunk names the state, so an empty state has one too.
        if chunks.is_empty() {
            chunks.push(&[]);
        }
        let mut start = 0;
        let mut requests = Vec::new();
        for (index, chunk) in chunks.into_iter().enumerate() {
            let end = start + chunk.len() as u64;
            // The end of a range is inclusive.
            let range =
                Msg::new().with_nonzero_int(1, start).with_nonzero_int(2, end.saturating_sub(1));
            // Only in the first chunk.
            let meta = (index == 0).then(|| self.state_request(state));
            let request = Msg::new()
                .with_optional_message(1, meta.as_ref())
                .with_bytes(2, chunk.to_vec())
                .with_nonzero_int(3, total)
                .with_message(4, &range);
            requests.push(request.encode());
            start = end;
        }
        self.plugin.call_bytes(Rpc::WriteStateBytes, requests, CHANGING_CALL_TIMEOUT).await
    }

    async fn read(&self, state: &str) -> (Call, Option<Vec<u8>>) {
        let call = self
            .plugin
            .call(Rpc::ReadStateBytes, &self.state_request(state), CHANGING_CALL_TIMEOUT)
            .await;
        let bytes = match &call.reply {
            Reply::Answered(chunks) if call.is_success() => {
                Some(chunks.iter().flat_map(|it| it.get_bytes(1)).collect())
            }
            // An absent state may be a stream without chunks.
            Reply::Garbage if call.recorded.answers.is_empty() => Some(Vec::new()),
            _ => None,
        };
        (call, bytes)
    }

    /// Locks, writes and unlocks.
    async fn write_under_lock(&self, state: &str, bytes: &[u8]) -> Call {
        let lock = self.lock(state).await;
        let call = self.write(state, bytes).await;
        if let Some(id) = lock_id_in_response(&lock) {
            self.unlock(state, &id).await;
        }
        call
    }
}

fn lock_id_in_response(call: &Call) -> Option<String> {
    call.first_message()
        .filter(|_| call.is_success())
        .map(|it| it.get_text(1))
        .filter(|it| !it.is_empty())
}

/// Whether a call ended with an error of any kind, and the process still runs.
fn failed_without_crash(call: &Call) -> bool {
    matches!(call.reply, Reply::Refused(..)) || call.diagnostics().iter().any(Diag::is_error)
}

async fn check_state_store(suite: &mut Suite, store: &StoreWithConfig, user: &StoreProcess) {
    // By the seed, so that two runs with different ones do not meet in a store.
    let state = format!("conformance-{}", suite.options.seed);
    if suite.is_rule_wanted("T-01") {
        check_round_trip(suite, store, user, &state).await;
    }
    if suite.wants_any(&["T-02", "T-03"]) {
        check_locks(suite, store, user, &state).await;
    }
    if suite.is_rule_wanted("T-04") {
        check_killed_writers(suite, store, user, &state).await;
    }
    if suite.is_rule_wanted("T-05") {
        check_listed_states(suite, store, user, &state).await;
    }
    user.delete(&state).await;
}

async fn check_round_trip(
    suite: &mut Suite,
    store: &StoreWithConfig,
    user: &StoreProcess,
    state: &str,
) {
    let mut dice = suite.seeded_dice("state bytes");
    // Among them exactly one chunk of the usual size, and two chunks with a rest.
    for size in [1, 4 << 10, 0, 8 << 20, (20 << 20) + 1] {
        let bytes: Vec<u8> = (0..size).map(|_| dice.next_number().to_le_bytes()[0]).collect();
        let written = user.write_under_lock(state, &bytes).await;
        if size == 0 && failed_without_crash(&written) {
            // A state is never empty, so that may be refused.
            continue;
        }
        let (read, read_bytes) = user.read(state).await;
        let held = written.is_success() && read_bytes.as_ref() == Some(&bytes);
        suite.record_case("T-01", held, || {
            let read_bytes = read_bytes
                .map_or_else(|| read.describe_outcome(), |it| format!("{} bytes", it.len()));
            let message = "the bytes of a state are not the same afterwards";
            let finding = Finding::new("T-01", &store.offered.display_name(), message)
                .with_expected_and_found(
                    format!("{size} bytes, written: {}", written.describe_outcome()),
                    read_bytes,
                );
            // Its request may have megabytes, and a call without its request is not useful.
            Finding { call: written.rpc.name(), ..finding }
        });
    }
}

async fn check_locks(suite: &mut Suite, store: &StoreWithConfig, user: &StoreProcess, state: &str) {
    let subject = store.offered.display_name();
    let other_process = match store.start_process(suite).await {
        Ok(other_process) => other_process,
        Err(reason) => {
            return suite
                .note_skipped_rules(&["T-02", "T-03"], &format!("no second process: {reason}"));
        }
    };
    let lock = user.lock(state).await;
    let Some(id) = lock_id_in_response(&lock) else {
        return suite.record_case("T-02", false, || {
            Finding::new("T-02", &subject, "a lock is answered without an id").with_call(&lock)
        });
    };
    let second = other_process.lock(state).await;
    suite.record_case("T-02", failed_without_crash(&second), || {
        Finding::new("T-02", &subject, "two processes hold the lock of one state")
            .with_call(&second)
            .with_expected_and_found("an error", second.describe_outcome())
    });
    let stranger = other_process.write(state, b"written without the lock").await;
    suite.record_case("T-03", failed_without_crash(&stranger), || {
        Finding::new("T-03", &subject, "a state is written while another process holds its lock")
            .with_call(&stranger)
            .with_expected_and_found("an error", stranger.describe_outcome())
    });
    let wrong_unlock = user.unlock(state, "conformance-no-such-lock").await;
    suite.record_case("T-02", failed_without_crash(&wrong_unlock), || {
        Finding::new("T-02", &subject, "a lock is released with the id of another")
            .with_call(&wrong_unlock)
            .with_expected_and_found("an error", wrong_unlock.describe_outcome())
    });
    let right = user.unlock(state, &id).await;
    let second_lock = other_process.lock(state).await;
    suite.record_case(
        "T-02",
        right.is_success() && lock_id_in_response(&second_lock).is_some(),
        || {
            Finding::new("T-02", &subject, "a released lock cannot be taken")
                .with_call(&second_lock)
                .with_expected_and_found("a lock", second_lock.describe_outcome())
        },
    );
    if let Some(id) = lock_id_in_response(&second_lock) {
        other_process.unlock(state, &id).await;
    }
}

/// Kills processes while they write; the state is the old or the new one then.
async fn check_killed_writers(
    suite: &mut Suite,
    store: &StoreWithConfig,
    user: &StoreProcess,
    state: &str,
) {
    let old = vec![b'o'; 300_000];
    if !user.write_under_lock(state, &old).await.is_success() {
        return suite.note_skipped_rules(&["T-04"], "a state could not be written");
    }
    let mut pause = Duration::from_micros(500);
    for index in 0..N_KILLED_WRITERS {
        // From the first moment of a write to well after it.
        pause = pause * 8 / 5;
        if suite.is_run_over() {
            return;
        }
        let Ok(writer) = store.start_process(suite).await else { return };
        let Some(started) = &writer.plugin.started else {
            return suite
                .note_skipped_rules(&["T-04"], "the provider runs already, and cannot be killed");
        };
        let lock = writer.lock(state).await;
        // A different length in each round distinguishes the states of the rounds.
        let new = vec![b'n'; 2_000_000 + usize::try_from(index).unwrap_or(0)];
        let kill = async {
            tokio::time::sleep(pause).await;
            started.child.kill();
        };
        tokio::join!(writer.write(state, &new), kill);
        let (call, read_bytes) = user.read(state).await;
        let is_whole = read_bytes.as_ref().is_some_and(|it| {
            *it == old || (it.len() >= 2_000_000 && it.iter().all(|byte| *byte == b'n'))
        });
        suite.record_case("T-04", is_whole, || {
            let read_bytes = read_bytes
                .map_or_else(|| call.describe_outcome(), |it| format!("{} bytes", it.len()));
            let message = "a process killed while it writes leaves half a state";
            Finding::new("T-04", &store.offered.display_name(), message)
                .with_expected_and_found("the old bytes or the new ones", read_bytes)
        });
        // The lock of the killed process is still there.
        if let Some(id) = lock_id_in_response(&lock) {
            user.unlock(state, &id).await;
        }
        user.write_under_lock(state, &old).await;
    }
}

async fn check_listed_states(
    suite: &mut Suite,
    store: &StoreWithConfig,
    user: &StoreProcess,
    state: &str,
) {
    let subject = store.offered.display_name();
    let names =
        // With signs that paths and URLs give a meaning, because stores keep states under such
        // names.
        [state.to_owned(), format!("{state} \u{e9}\u{4e16}"), format!("{state}/../up:1%20.x")];
    for name in names {
        let written = user.write_under_lock(&name, b"{}").await;
        // A store may refuse an odd name, but not lose its state.
        if failed_without_crash(&written) && name != state {
            continue;
        }
        let lists_state = |call: &Call| {
            let contains_name = |it: &Msg| {
                it.repeated_bytes(1).any(|contains_name| contains_name[..] == *name.as_bytes())
            };
            call.first_message().is_some_and(contains_name)
        };
        let list = user.list_states().await;
        suite.record_case("T-05", lists_state(&list), || {
            Finding::new("T-05", &subject, "a written state is not listed")
                .with_call(&list)
                .with_input(format!("{name:?}"))
        });
        let deleted = user.delete(&name).await;
        let list = user.list_states().await;
        suite.record_case(
            "T-05",
            deleted.is_success() && list.is_success() && !lists_state(&list),
            || {
                Finding::new("T-05", &subject, "a deleted state is still listed")
                    .with_call(&deleted)
                    .with_call(&list)
                    .with_input(format!("{name:?}"))
            },
        );
    }
}
