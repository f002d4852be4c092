//! Faults of upgrading and moving stored objects (U, M) and of importing (I).

use formwork_conformance::message::Msg;
use formwork_conformance::rpc::Rpc;
use formwork_value::codec::json;
use formwork_value::{Type, Value};

use super::Fault::{After, Bad, Before};
use super::exchange::{get, set};
use super::{Continuation, Exchange, Row, row};

const UPGRADE: Rpc = Rpc::UpgradeResourceState;
const IMPORT: Rpc = Rpc::ImportResourceState;

/// The stored JSON of a request to upgrade.
fn stored(call: &Exchange) -> Option<Msg> {
    call.request().get_msg(3).filter(|_| call.is(UPGRADE))
}

fn stored_text(call: &Exchange) -> String {
    stored(call).map(|it| it.get_text(1)).unwrap_or_default()
}

/// Answers an upgrade with the stored bytes as they are.
fn echo(call: &mut Exchange) {
    let text = stored_text(call);
    call.reply(Msg::new().with_message(1, &Msg::new().with_text(2, &text)));
}

/// Changes the objects that an import by id returns.
fn imported(call: &mut Exchange, change: impl Fn(Msg) -> Msg) -> Continuation {
    if call.is(IMPORT) {
        call.change(|answer| {
            let objects: Vec<Msg> = answer.repeated_messages(1);
            objects
                .into_iter()
                .map(change)
                .fold(answer.without_field(1), |answer, it| answer.with_message(1, &it))
        });
    }
    Continuation::Proceed
}

/// Plants an attribute in the objects that are read after an import: their other parts are not known.
fn read_after_import(call: &mut Exchange, part: Value) -> Continuation {
    let is_bare =
        call.requested_value(2).is_some_and(|it| get(&it, "name").is_some_and(|it| it.is_null()));
    if is_bare && call.is_of(Rpc::ReadResource, "sound_item") {
        call.put(1, "size", part);
    }
    Continuation::Proceed
}

pub(super) const ROWS: &[Row] = &[
    row("U-01", 0, Bad("upgrade-garbage")),
    row(
        "U-02",
        0,
        Before(|call| {
            let is_old = call.is_of(UPGRADE, "sound_item") && call.request().get_int(2) == 0;
            if is_old { Continuation::Exit } else { Continuation::Proceed }
        }),
    ),
    row(
        "U-03",
        0,
        After(|call| {
            if call.is(UPGRADE) && call.request().get_int(2) > 2 {
                echo(call);
            }
            Continuation::Proceed
        }),
    ),
    row(
        "U-04",
        0,
        Before(|call| {
            let is_extra = stored_text(call).contains("no_such_attribute_of_conformance");
            if is_extra { Continuation::Exit } else { Continuation::Proceed }
        }),
    ),
    row(
        "U-05",
        0,
        After(|call| {
            if stored_text(call).starts_with('[') {
                echo(call);
            }
            Continuation::Proceed
        }),
    ),
    row("U-06", 0, Bad("upgrade-dies")),
    row("U-07", 0, Bad("upgrade-absent")),
    row(
        "U-08",
        0,
        Before(|call| {
            let is_flat = stored(call).is_some_and(|it| it.has_field(2));
            if is_flat { Continuation::Exit } else { Continuation::Proceed }
        }),
    ),
    row(
        "U-09",
        0,
        After(|call| {
            if call.is(Rpc::UpgradeResourceIdentity) {
                let data = Msg::new().with_bytes(1, b"\x81\xa2id\xa5other".to_vec());
                call.change(|answer| {
                    answer.replace_field(1, Msg::new().with_message(1, &data).encode())
                });
            }
            Continuation::Proceed
        }),
    ),
    row(
        "U-10",
        0,
        After(|call| {
            if call.is_of(UPGRADE, "sound_item") {
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
        "M-01",
        0,
        After(|call| {
            if call.is(Rpc::MoveResourceState) {
                let request = call.request();
                let offered = call.offer.types.iter().find(|it| it.name == request.get_text(5));
                if let Some(offered) = offered {
                    let bare = offered.block().empty_value();
                    let text = json::encode(&bare, &offered.ty()).unwrap_or_default();
                    let state = Msg::new().with_text(2, &text);
                    call.reply(Msg::new().with_message(1, &state));
                }
            }
            Continuation::Proceed
        }),
    ),
    row(
        "I-01",
        1,
        After(|call| {
            let id = call.requested_value(2).and_then(|it| get(&it, "id"));
            let is_made_up = id == Some(Value::string("conformance-no-such-id"));
            if call.is_of(Rpc::ReadResource, "sound_item") && is_made_up {
                let state = call.request().get_msg(2).unwrap_or_default();
                call.change(|answer| answer.replace_field(1, state.encode()));
            }
            Continuation::Proceed
        }),
    ),
    row(
        "I-02",
        1,
        After(|call| {
            if call.is(IMPORT) {
                call.reply(Msg::new());
            }
            Continuation::Proceed
        }),
    ),
    row(
        "I-03",
        1,
        After(|call| imported(call, |object| object.replace_field(1, b"sound_other".to_vec()))),
    ),
    row("I-04", 3, After(|call| read_after_import(call, Value::int(77)))),
    row(
        "I-05",
        3,
        After(|call| {
            let is_bare =
                call.requested_value(2).and_then(|it| get(&it, "size")) == Some(Value::int(77));
            if is_bare && call.is_of(Rpc::PlanResourceChange, "sound_item") {
                call.put(1, "generation", Value::unknown(Type::Number));
            }
            read_after_import(call, Value::int(77))
        }),
    ),
    row(
        "I-06",
        3,
        After(|call| {
            // An import by identity leaves its mark in the private data, and the read obeys it.
            if call.request().has_field(4) && call.is(IMPORT) {
                return imported(call, |object| {
                    object.replace_field(3, b"{\"by\":\"identity\"}".to_vec())
                });
            }
            let is_marked = call.request().get_text(3).contains("identity");
            if is_marked && call.is_of(Rpc::ReadResource, "sound_item") {
                call.put(1, "size", Value::int(77));
            }
            Continuation::Proceed
        }),
    ),
    row(
        "I-07",
        1,
        Before(|call| {
            let is_empty = call.is(IMPORT) && call.request().get_text(2).is_empty();
            if is_empty { Continuation::Exit } else { Continuation::Proceed }
        }),
    ),
    row(
        "I-08",
        3,
        After(|call| {
            if call.is(Rpc::GenerateResourceConfig) {
                call.put(1, "id", Value::string("set"));
            }
            Continuation::Proceed
        }),
    ),
];
