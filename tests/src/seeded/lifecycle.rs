//! Faults of the life of an object (A) and of reading it (R).

use bytes::Bytes;
use formwork_conformance::message::Msg;
use formwork_conformance::rpc::Rpc;
use formwork_value::{Type, Value};

use super::Fault::{After, Bad, Before, Remote};
use super::exchange::{get, set};
use super::{Continuation, Exchange, RemoteBug, Row, row};

const APPLY: Rpc = Rpc::ApplyResourceChange;
const READ: Rpc = Rpc::ReadResource;

/// Whether the call applies a `sound_item`, and what it does: prior and planned are null or not.
fn applies(call: &Exchange, from: bool, to: bool) -> bool {
    let is_there = |field| call.requested_value(field).is_some_and(|it| !it.is_null());
    call.is_of(APPLY, "sound_item") && is_there(2) == from && is_there(3) == to
}

/// Sets an attribute of the result of a create or an update.
fn applied(call: &mut Exchange, name: &str, part: Value) -> Continuation {
    if applies(call, false, true) || applies(call, true, true) {
        call.put(1, name, part);
    }
    Continuation::Proceed
}

/// Fails the destruction of a `sound_item`.
fn undestroyed(call: &mut Exchange) -> Continuation {
    if applies(call, true, false) {
        let prior = call.request().get_msg(2).unwrap_or_default();
        call.reply(Msg::new().with_message(1, &prior));
        call.diagnose(1, "The item is in use", "");
    }
    Continuation::Proceed
}

/// Whether a read answers with an object.
fn reads(call: &Exchange) -> bool {
    call.is_of(READ, "sound_item")
}

/// Whether the object that is read exists.
fn is_there(call: &mut Exchange) -> bool {
    let mut exists = false;
    call.edit(1, |value| {
        exists = true;
        value.clone()
    });
    exists
}

pub(super) const ROWS: &[Row] = &[
    row("A-01", 3, Bad("apply-garbage")),
    row("A-02", 3, After(|call| applied(call, "name", Value::string("another")))),
    row(
        "A-03",
        3,
        After(|call| {
            if applies(call, false, true) {
                call.edit(1, |value| match get(value, "kind") {
                    Some(kind) if kind.is_null() => set(value, "kind", Value::string("made-up")),
                    _ => value.clone(),
                });
            }
            Continuation::Proceed
        }),
    ),
    row("A-04", 3, After(|call| applied(call, "secret", Value::string("applied")))),
    row(
        "A-05",
        3,
        After(|call| {
            if reads(call) {
                call.put(1, "text", Value::string("not what was applied"));
            }
            Continuation::Proceed
        }),
    ),
    row(
        "A-06",
        3,
        After(|call| {
            if call.is_of(Rpc::PlanResourceChange, "sound_item") {
                call.edit(1, |value| match get(value, "id") {
                    Some(id) if id.is_unknown() => value.clone(),
                    _ => set(value, "generation", Value::unknown(Type::Number)),
                });
            }
            Continuation::Proceed
        }),
    ),
    row(
        "A-07",
        3,
        After(|call| {
            if reads(call) {
                let requested = call.requested_value(2).and_then(|it| get(&it, "name"));
                call.edit(1, |value| {
                    set(value, "name", requested.unwrap_or(Value::null(Type::String)))
                });
            }
            Continuation::Proceed
        }),
    ),
    row(
        "A-08",
        3,
        After(|call| {
            if applies(call, true, true) {
                call.change(|answer| {
                    let data = Msg::new().with_bytes(1, b"\x81\xa2id\xa5other".to_vec());
                    answer.without_field(5).with_message(5, &Msg::new().with_message(1, &data))
                });
            }
            Continuation::Proceed
        }),
    ),
    row("A-09", 3, Remote(RemoteBug::PutsUnchanged)),
    row("A-10", 3, Before(undestroyed)),
    row(
        "A-11",
        3,
        After(|call| {
            if applies(call, true, false) {
                let prior = call.request().get_msg(2).unwrap_or_default();
                call.change(|answer| answer.without_field(1).with_message(1, &prior));
            }
            Continuation::Proceed
        }),
    ),
    row(
        "A-12",
        3,
        Before(|call| {
            let is_again = call.history.is_repeated_apply;
            if is_again { undestroyed(call) } else { Continuation::Proceed }
        }),
    ),
    row(
        "A-13",
        3,
        After(|call| {
            if reads(call) && !is_there(call) {
                call.diagnose(1, "404 Not Found", "");
            }
            Continuation::Proceed
        }),
    ),
    row("A-14", 3, Remote(RemoteBug::ForgetsCreated)),
    row("A-15", 3, Remote(RemoteBug::KeepsPrior)),
    row("A-16", 3, Remote(RemoteBug::ForgetsUndestroyed)),
    row(
        "A-17",
        3,
        After(|call| {
            let is_stop = call.is(Rpc::StopProvider) && call.in_flight > 1;
            match call.rpc {
                _ if is_stop => Continuation::Exit,
                APPLY => Continuation::Wait(200),
                _ => Continuation::Proceed,
            }
        }),
    ),
    row("A-18", 3, Remote(RemoteBug::RegistersLate)),
    row(
        "A-19",
        3,
        Before(|call| {
            let is_again = applies(call, false, true) && call.history.is_repeated_apply;
            if is_again { Continuation::Exit } else { Continuation::Proceed }
        }),
    ),
    row(
        "A-20",
        3,
        After(|call| {
            if call.in_flight > 4 {
                return applied(call, "name", Value::string("of another call"));
            }
            if call.is(APPLY) { Continuation::Wait(30) } else { Continuation::Proceed }
        }),
    ),
    row(
        "A-21",
        3,
        Before(|call| {
            let is_bare = reads(call) && call.request().get_bytes(3).is_empty();
            if is_bare { Continuation::Exit } else { Continuation::Proceed }
        }),
    ),
    row("A-22", 3, Remote(RemoteBug::IgnoresTimeouts)),
    row("A-23", 3, Remote(RemoteBug::PostsAgain)),
    row("A-24", 3, Remote(RemoteBug::BelievesNotFound)),
    row("A-25", 3, Before(undestroyed)),
    row("R-01", 1, Bad("read-garbage")),
    row(
        "R-02",
        1,
        After(|call| {
            let turn = call.history.total();
            if call.is_of(READ, "sound_note") {
                call.put(1, "title", Value::string(format!("read in call {turn}")));
            }
            Continuation::Proceed
        }),
    ),
    row(
        "R-03",
        3,
        After(|call| {
            if reads(call) {
                call.edit(1, |value| match get(value, "name") {
                    Some(Value::String(name)) => {
                        set(value, "name", Value::string(name.as_str().to_uppercase()))
                    }
                    _ => value.clone(),
                });
            }
            Continuation::Proceed
        }),
    ),
    row(
        "R-04",
        3,
        After(|call| {
            if reads(call) && is_there(call) {
                let requested = call.request().get_msg(2).unwrap_or_default();
                call.change(|answer| answer.replace_field(1, requested.encode()));
            }
            Continuation::Proceed
        }),
    ),
    row("R-05", 1, Bad("read-absent")),
    row(
        "R-06",
        1,
        After(|call| {
            if call.is(READ) {
                let data = Msg::new().with_bytes(1, b"\x81\xa5other\xa1x".to_vec());
                call.change(|answer| {
                    answer.without_field(5).with_message(5, &Msg::new().with_message(1, &data))
                });
            }
            Continuation::Proceed
        }),
    ),
    row(
        "R-07",
        1,
        Before(|call| {
            let name = call.requested_value(2).and_then(|it| get(&it, "name"));
            let is_bare = reads(call) && name.is_some_and(|it| it.is_null());
            if is_bare { Continuation::Exit } else { Continuation::Proceed }
        }),
    ),
    row("R-08", 3, Remote(RemoteBug::ReadPuts)),
    row(
        "R-09",
        1,
        Before(|call| {
            let private = call.request().get_bytes(3);
            let is_foreign = call.is(READ) && private == Bytes::from_static(b"\xff\xfe not json");
            if is_foreign { Continuation::Exit } else { Continuation::Proceed }
        }),
    ),
];
