//! Faults of robustness (Z) and of secrets (K).

use std::fs;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use formwork_conformance::rpc::Rpc;
use formwork_value::Value;

use super::Fault::{After, Before, Release, Remote, Start};
use super::exchange::{get, set};
use super::{Continuation, Exchange, ReleaseBug, RemoteBug, Row, row, start};

/// Whether a value of the request cannot be read.
fn is_malformed(call: &Exchange) -> bool {
    let has_value = call.request().get_msg(2).is_some_and(|it| it.has_field(1));
    call.is_garbled || (call.is_validation() && has_value && call.config().is_none())
}

/// Prints the password of a configuration to stderr.
#[expect(clippy::print_stderr, reason = "the fault is a secret in the log")]
fn log_secret(call: &mut Exchange) -> Continuation {
    let config = call.config().filter(|_| call.is_of(Rpc::ValidateResourceConfig, "sound_item"));
    if let Some(Value::String(password)) = config.and_then(|it| get(&it, "password")) {
        eprintln!("[TRACE] password={}", password.as_str());
    }
    Continuation::Proceed
}

/// Prints a panic and ends.
#[expect(clippy::print_stderr, reason = "the fault is a panic that ends the process")]
fn panic_on_malformed(call: &mut Exchange) -> Continuation {
    if is_malformed(call) {
        eprintln!("panic: the value cannot be read\ngoroutine 1 [running]:");
        return Continuation::Exit;
    }
    Continuation::Proceed
}

/// Keeps memory of every call.
fn leak(_: &mut Exchange) -> Continuation {
    static KEPT: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());
    if let Ok(mut kept) = KEPT.lock() {
        kept.push(vec![1; 40 * 1024]);
    }
    Continuation::Proceed
}

/// Removes the socket, so that there is no second connection.
fn unlisten(_: &mut Exchange) -> Continuation {
    let directory = std::env::var_os("PLUGIN_UNIX_SOCKET_DIR").unwrap_or_default();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        drop(fs::remove_file(entry.path()));
    }
    Continuation::Proceed
}

/// Validates configurations in sequence and slowly, even if they are cancelled.
fn one_by_one(call: &mut Exchange) -> Continuation {
    static FREE_AT: Mutex<Option<Instant>> = Mutex::new(None);
    if !call.is(Rpc::ValidateProviderConfig) {
        return Continuation::Proceed;
    }
    let now = Instant::now();
    let Ok(mut free_at) = FREE_AT.lock() else { return Continuation::Proceed };
    let end = free_at.map_or(now, |free| free.max(now)) + Duration::from_secs(2);
    *free_at = Some(end);
    Continuation::Wait(u64::try_from((end - now).as_millis()).unwrap_or_default())
}

pub(super) const ROWS: &[Row] = &[
    row(
        "Z-01",
        0,
        Before(|call| if is_malformed(call) { Continuation::Exit } else { Continuation::Proceed }),
    ),
    row(
        "Z-02",
        0,
        Before(|call| {
            let value = call.request().get_msg(2).unwrap_or_default().get_bytes(1);
            if value.starts_with(&[0x91; 64]) { Continuation::Exit } else { Continuation::Proceed }
        }),
    ),
    row(
        "Z-03",
        0,
        After(|call| {
            if call.request().has_field(900) {
                call.refuse(3, "unknown field");
            }
            Continuation::Proceed
        }),
    ),
    row(
        "Z-04",
        0,
        Before(|call| {
            let is_bare = call.is(Rpc::PlanResourceChange) && !call.request().has_field(7);
            if is_bare { Continuation::Exit } else { Continuation::Proceed }
        }),
    ),
    row(
        "Z-05",
        0,
        After(|call| {
            if call.in_flight > 8 && call.is_validation() {
                call.diagnose(1, "Too many calls", "");
            }
            if call.is_validation() { Continuation::Wait(3) } else { Continuation::Proceed }
        }),
    ),
    row("Z-06", 0, Before(one_by_one)),
    row(
        "Z-07",
        0,
        Before(|call| {
            if call.is(Rpc::StopProvider) {
                Continuation::Wait(1_200)
            } else {
                Continuation::Proceed
            }
        }),
    ),
    row(
        "Z-08",
        3,
        Before(|call| {
            if call.is(Rpc::ApplyResourceChange) {
                Continuation::OutlastStop(31_000)
            } else {
                Continuation::Proceed
            }
        }),
    ),
    row("Z-09", 0, After(leak)),
    row(
        "Z-10",
        0,
        After(|call| {
            if call.is_validation() {
                call.change(|answer| answer.with_bytes(900, vec![0; 5 << 20]));
            }
            Continuation::Proceed
        }),
    ),
    row("Z-11", 0, Before(unlisten)),
    row(
        "Z-12",
        0,
        After(|call| {
            if call.is_validation() {
                call.diagnose(2, "Failed in goroutine 7", "");
            }
            Continuation::Proceed
        }),
    ),
    row("Z-13", 0, Before(panic_on_malformed)),
    row("Z-14", 0, Start(start::needs_temporary_dir)),
    row("K-01", 0, Before(log_secret)),
    row(
        "K-02",
        1,
        After(|call| {
            if call.is_of(Rpc::PlanResourceChange, "sound_item") {
                call.edit(1, |value| match get(value, "password") {
                    Some(password @ Value::String(_)) => set(value, "text", password),
                    _ => value.clone(),
                });
            }
            Continuation::Proceed
        }),
    ),
    row(
        "K-03",
        0,
        After(|call| {
            let is_set = std::env::var_os("ACME_MIRROR").is_some();
            if is_set && call.is(Rpc::ValidateProviderConfig) {
                call.diagnose(2, "The mirror is used", "");
            }
            Continuation::Proceed
        }),
    ),
    row("K-04", 3, Remote(RemoteBug::TrustsAnyone)),
    row("K-05", 0, Start(start::writes_cache)),
    row("K-06", 0, Start(start::spawns_program)),
    row("K-07", 0, Release(ReleaseBug::StaleChecksum)),
];
