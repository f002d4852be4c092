//! Faults of planning (P).

use formwork_conformance::message::Msg;
use formwork_conformance::rpc::Rpc;
use formwork_value::{Refinement, Type, Unknown, Value};

use super::Fault::{After, Bad, Before, Remote};
use super::exchange::{get, set};
use super::{Continuation, Exchange, RemoteBug, Row, row};

const PLAN: Rpc = Rpc::PlanResourceChange;

/// Whether the call plans to create or change a `sound_item`.
fn plans(call: &Exchange) -> bool {
    call.is_of(PLAN, "sound_item") && call.requested_value(4).is_some_and(|it| !it.is_null())
}

fn plans_create(call: &Exchange) -> bool {
    plans(call) && call.requested_value(2).is_some_and(|it| it.is_null())
}

fn plans_change(call: &Exchange) -> bool {
    plans(call) && call.requested_value(2).is_some_and(|it| !it.is_null())
}

/// Sets an attribute of the planned value.
fn put(call: &mut Exchange, name: &str, part: Value) -> Continuation {
    if plans(call) {
        call.put(1, name, part);
    }
    Continuation::Proceed
}

pub(super) const ROWS: &[Row] = &[
    row("P-01", 1, Bad("plan-garbage")),
    row("P-02", 1, After(|call| put(call, "name", Value::string("another")))),
    row(
        "P-03",
        1,
        After(|call| {
            if plans(call) {
                call.edit(1, |value| match get(value, "part") {
                    Some(part) => {
                        let empty_list = Value::list(element(&part), Vec::new());
                        let is_empty = part.children().is_empty();
                        if is_empty { value.clone() } else { set(value, "part", empty_list) }
                    }
                    None => value.clone(),
                });
            }
            Continuation::Proceed
        }),
    ),
    row("P-04", 1, After(|call| put(call, "secret", Value::string("planned")))),
    row(
        "P-05",
        1,
        After(|call| {
            let turn = call.history.total();
            put(call, "text", Value::string(format!("turn {turn}")))
        }),
    ),
    row(
        "P-06",
        1,
        After(|call| {
            let is_known = call.requested_value(4).is_some_and(|it| it.is_wholly_known());
            put(call, "text", Value::string(if is_known { "late" } else { "early" }))
        }),
    ),
    row(
        "P-07",
        1,
        After(|call| {
            if plans_change(call) {
                call.put(1, "generation", Value::unknown(Type::Number));
            }
            Continuation::Proceed
        }),
    ),
    row(
        "P-08",
        1,
        Before(|call| {
            let proposed = call.requested_value(3).and_then(|it| get(&it, "id"));
            let is_odd = plans_change(call) && proposed.is_some_and(|it| it.is_null());
            if is_odd { Continuation::Exit } else { Continuation::Proceed }
        }),
    ),
    row(
        "P-09",
        1,
        After(|call| {
            if plans_change(call) {
                let step = Msg::new().with_text(1, "nowhere");
                call.change(|answer| answer.with_message(2, &Msg::new().with_message(1, &step)));
            }
            Continuation::Proceed
        }),
    ),
    row(
        "P-10",
        1,
        After(|call| {
            if plans_change(call) {
                call.change(|answer| answer.without_field(2));
            }
            Continuation::Proceed
        }),
    ),
    row(
        "P-11",
        3,
        After(|call| {
            if plans_create(call) {
                call.put(1, "generation", Value::null(Type::Number));
            }
            if call.is_of(Rpc::ApplyResourceChange, "sound_item") {
                call.put(1, "generation", Value::int(1));
            }
            Continuation::Proceed
        }),
    ),
    row(
        "P-12",
        1,
        After(|call| {
            let prior = call.request().get_msg(2);
            if call.is_of(PLAN, "sound_item") && !plans(call) {
                call.change(|answer| {
                    answer.without_field(1).with_optional_message(1, prior.as_ref())
                });
            }
            Continuation::Proceed
        }),
    ),
    row(
        "P-13",
        1,
        After(|call| {
            if plans(call) {
                call.change(|answer| answer.replace_field(3, vec![b'x'; 70_000]));
            }
            Continuation::Proceed
        }),
    ),
    row(
        "P-14",
        1,
        After(|call| {
            let config = call.request().get_msg(4).unwrap_or_default().get_bytes(1);
            let sum = config
                .iter()
                .fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)));
            put(call, "text", Value::string(format!("sum {sum}")))
        }),
    ),
    row(
        "P-15",
        1,
        After(|call| {
            if plans(call) {
                call.edit(1, |value| match get(value, "notes") {
                    Some(notes) if notes.is_null() => {
                        set(value, "notes", Value::list(Type::String, Vec::new()))
                    }
                    _ => value.clone(),
                });
            }
            Continuation::Proceed
        }),
    ),
    row("P-16", 3, Remote(RemoteBug::PlanPosts)),
    row(
        "P-17",
        1,
        After(|call| {
            if plans(call) {
                call.change(|answer| answer.with_message(6, &Msg::new().with_nonzero_int(1, 1)));
            }
            Continuation::Proceed
        }),
    ),
    row(
        "P-18",
        1,
        After(|call| {
            if plans(call) {
                call.change(|answer| answer.with_nonzero_int(5, 1));
            }
            Continuation::Proceed
        }),
    ),
    row(
        "P-19",
        1,
        After(|call| {
            if plans(call) {
                let data = Msg::new().with_bytes(1, b"\x81\xa5other\xa1x".to_vec());
                let identity = Msg::new().with_message(1, &data);
                call.change(|answer| answer.without_field(7).with_message(7, &identity));
            }
            Continuation::Proceed
        }),
    ),
    row(
        "P-20",
        3,
        After(|call| {
            if plans_create(call) {
                let prefix = Refinement { prefix: Some("never-".into()), ..Refinement::not_null() };
                let unknown = Unknown::refined(Type::String, prefix);
                call.put(1, "id", Value::Unknown(unknown.into()));
            } else if call.is(Rpc::ApplyResourceChange) {
                // The SDK finds that its provider breaks the promise, and reports it.
                call.change(|answer| answer.without_field(3));
            }
            Continuation::Proceed
        }),
    ),
    row(
        "P-21",
        1,
        After(|call| {
            if plans(call) {
                call.edit(1, |value| match get(value, "size") {
                    Some(size) if size == Value::int(9_007_199_254_740_993) => {
                        set(value, "size", Value::int(9_007_199_254_740_992))
                    }
                    _ => value.clone(),
                });
            }
            Continuation::Proceed
        }),
    ),
    row(
        "P-22",
        1,
        Before(|call| {
            let is_large = call.request().encode().len() > 12_000;
            if plans(call) && is_large { Continuation::Wait(2_100) } else { Continuation::Proceed }
        }),
    ),
];

fn element(list: &Value) -> Type {
    match list.ty() {
        Type::List(element) => (*element).clone(),
        other => other,
    }
}
