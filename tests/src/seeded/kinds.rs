//! Faults of lists (L), data sources (D), ephemeral resources (E), functions (F), actions (X) and
//! state stores (T).

use formwork_conformance::message::Msg;
use formwork_conformance::rpc::Rpc;
use formwork_value::Value;

use super::Fault::{After, Before};
use super::{Continuation, Exchange, Row, row};

const LIST: Rpc = Rpc::ListResource;

/// Changes all answers of a stream.
fn answers(call: &mut Exchange, change: impl FnOnce(&mut Vec<Msg>)) -> Continuation {
    if let Some(Ok(answers)) = &mut call.answers {
        change(answers);
    }
    Continuation::Proceed
}

fn data(call: &mut Exchange, change: impl FnOnce(&mut Exchange)) -> Continuation {
    if call.is(Rpc::ReadDataSource) {
        change(call);
    }
    Continuation::Proceed
}

fn function(call: &mut Exchange, result: &[u8]) -> Continuation {
    let has_result = call.answer().is_some_and(|it| it.has_field(1));
    if call.is(Rpc::CallFunction) && has_result {
        let result = Msg::new().with_bytes(1, result.to_vec());
        call.reply(Msg::new().with_message(1, &result));
    }
    Continuation::Proceed
}

pub(super) const ROWS: &[Row] = &[
    row(
        "L-01",
        3,
        After(|call| if call.is(LIST) { answers(call, Vec::clear) } else { Continuation::Proceed }),
    ),
    row(
        "L-02",
        1,
        After(|call| {
            if !call.is(LIST) {
                return Continuation::Proceed;
            }
            answers(call, |events| {
                let data = Msg::new().with_bytes(1, b"\x81\xa2id\xa5other".to_vec());
                let event = Msg::new()
                    .with_message(1, &Msg::new().with_message(1, &data))
                    .with_text(2, "another");
                *events = vec![event; 7];
            })
        }),
    ),
    row(
        "L-03",
        1,
        After(|call| {
            if !call.is(LIST) {
                return Continuation::Proceed;
            }
            answers(call, |events| {
                let garbage = Msg::new().with_bytes(1, b"\xc1".to_vec());
                *events = vec![Msg::new().with_text(2, "garbage").with_message(3, &garbage)];
            })
        }),
    ),
    row("D-01", 2, After(|call| data(call, |it| it.put(1, "name", Value::string("another"))))),
    row(
        "D-02",
        2,
        After(|call| {
            let turn = call.history.total();
            data(call, |it| it.put(1, "text", Value::string(format!("read in call {turn}"))))
        }),
    ),
    row(
        "D-03",
        2,
        After(|call| {
            data(call, |it| {
                let config = it.request().get_msg(2).unwrap_or_default();
                if it.requested_value(2).and_then(|it| super::exchange::get(&it, "name"))
                    != Some(Value::string("alpha"))
                {
                    it.reply(Msg::new().with_message(1, &config));
                }
            })
        }),
    ),
    row(
        "E-01",
        3,
        Before(|call| {
            if call.is(Rpc::CloseEphemeralResource) {
                Continuation::Exit
            } else {
                Continuation::Proceed
            }
        }),
    ),
    row(
        "E-02",
        3,
        After(|call| {
            if call.is(Rpc::OpenEphemeralResource) {
                call.diagnose(2, "Opened token-only-for-its-owner", "");
            }
            Continuation::Proceed
        }),
    ),
    row(
        "E-03",
        3,
        Before(|call| {
            let is_again = call.history.count(Rpc::CloseEphemeralResource) > 1;
            if is_again && call.is(Rpc::CloseEphemeralResource) {
                Continuation::Exit
            } else {
                Continuation::Proceed
            }
        }),
    ),
    row(
        "F-01",
        0,
        After(|call| {
            let turn = u8::try_from(call.history.total() % 10).unwrap_or_default();
            function(call, &[0xa1, b'0' + turn])
        }),
    ),
    row("F-02", 0, After(|call| function(call, b"\x91\xc3"))),
    row(
        "F-03",
        0,
        After(|call| {
            if call.is(Rpc::CallFunction) {
                let error = Msg::new().with_text(1, "wrong").with_nonzero_int(2, 99);
                call.reply(Msg::new().with_message(2, &error));
            }
            Continuation::Proceed
        }),
    ),
    row(
        "F-04",
        0,
        Before(|call| {
            if call.is(Rpc::CallFunction) { Continuation::Wait(120) } else { Continuation::Proceed }
        }),
    ),
    row(
        "F-05",
        0,
        Before(|call| {
            let is_long = call.request().encode().len() > 60_000;
            if call.is(Rpc::CallFunction) && is_long {
                Continuation::Exit
            } else {
                Continuation::Proceed
            }
        }),
    ),
    row(
        "X-01",
        1,
        Before(|call| {
            let is_unknown = call.requested_value(2).is_some_and(|it| !it.is_wholly_known());
            if call.is(Rpc::PlanAction) && is_unknown {
                Continuation::Exit
            } else {
                Continuation::Proceed
            }
        }),
    ),
    row(
        "X-02",
        3,
        After(|call| {
            if !call.is(Rpc::InvokeAction) {
                return Continuation::Proceed;
            }
            answers(call, |events| {
                let end = events.last().cloned();
                events.extend(end);
            })
        }),
    ),
    row(
        "T-01",
        3,
        After(|call| {
            if !call.is(Rpc::ReadStateBytes) {
                return Continuation::Proceed;
            }
            answers(call, |chunks| {
                if let Some(chunk) = chunks.last_mut() {
                    let mut bytes = chunk.get_bytes(1).to_vec();
                    bytes.pop();
                    *chunk = std::mem::take(chunk).replace_field(1, bytes);
                }
            })
        }),
    ),
    row(
        "T-02",
        3,
        After(|call| {
            if call.is(Rpc::LockState) {
                call.silence();
                call.change(|answer| answer.replace_field(1, b"always".to_vec()));
            }
            Continuation::Proceed
        }),
    ),
    row(
        "T-03",
        3,
        After(|call| {
            if call.is(Rpc::WriteStateBytes) {
                call.silence();
            }
            Continuation::Proceed
        }),
    ),
    row("T-04", 3, Before(|call| torn(call))),
    row(
        "T-05",
        3,
        After(|call| {
            if call.is(Rpc::GetStates) {
                call.change(|answer| answer.without_field(1));
            }
            Continuation::Proceed
        }),
    ),
];

/// Writes the state in place and slowly, so that a kill leaves half of it.
fn torn(call: &Exchange) -> Continuation {
    if call.is(Rpc::WriteStateBytes) {
        let state = call.request().get_msg(1).map(|it| it.get_text(2)).unwrap_or_default();
        let name: String = state.bytes().map(|byte| format!("{byte:02x}")).collect();
        let directory = std::env::var_os("SOUND_OBJECTS").unwrap_or_default();
        let path = std::path::Path::new(&directory).join("store").join(format!("{name}.state"));
        let half = call.requests.first().map(|it| it.get_bytes(2)).unwrap_or_default();
        drop(std::fs::write(path, &half[..half.len() / 2]));
        return Continuation::Wait(1_500);
    }
    Continuation::Proceed
}
