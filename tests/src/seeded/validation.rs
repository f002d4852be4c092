//! Faults of validation (V).

use formwork_conformance::rpc::Rpc;
use formwork_value::Value;

use super::Fault::{After, Bad, Before};
use super::exchange::get;
use super::{Continuation, Exchange, Row, row};

/// The configuration of a `sound_item` that is validated.
fn item_config(call: &Exchange) -> Option<Value> {
    call.config()
        .filter(|it| call.is_of(Rpc::ValidateResourceConfig, "sound_item") && !it.is_null())
}

fn attribute(call: &Exchange, name: &str) -> Option<Value> {
    get(&item_config(call)?, name)
}

pub(super) const ROWS: &[Row] = &[
    row("V-01", 0, Bad("validate-dies")),
    row(
        "V-02",
        0,
        After(|call| {
            if attribute(call, "name").is_some_and(|it| it.is_unknown()) {
                call.diagnose(1, "The name must be known", "name");
            }
            Continuation::Proceed
        }),
    ),
    row(
        "V-03",
        0,
        After(|call| {
            if attribute(call, "text").is_some_and(|it| it.is_unknown()) {
                call.diagnose(1, "The text must be known", "text");
            }
            Continuation::Proceed
        }),
    ),
    row(
        "V-04",
        0,
        After(|call| {
            if call.is_validation() {
                let turn = call.history.total();
                call.diagnose(2, &format!("Validated in call {turn}"), "");
            }
            Continuation::Proceed
        }),
    ),
    row(
        "V-05",
        0,
        After(|call| {
            if item_config(call).is_some() {
                call.diagnose(2, "Strange attribute", "no_such_attribute");
            }
            Continuation::Proceed
        }),
    ),
    row(
        "V-06",
        0,
        After(|call| {
            if attribute(call, "name").is_some_and(|it| it.is_null()) {
                call.silence();
                call.diagnose(1, "Something is missing", "");
            }
            Continuation::Proceed
        }),
    ),
    row(
        "V-07",
        0,
        After(|call| {
            if let Some(Value::String(password)) = attribute(call, "password") {
                call.diagnose(2, &format!("Weak password {}", password.as_str()), "password");
            }
            Continuation::Proceed
        }),
    ),
    row(
        "V-08",
        0,
        Before(|call| {
            let is_large = call.request().encode().len() > 6_000;
            if call.is_validation() && is_large {
                Continuation::Wait(1_100)
            } else {
                Continuation::Proceed
            }
        }),
    ),
    row(
        "V-09",
        0,
        Before(|call| {
            let is_odd = call.is_validation() && call.request().get_text(1) == "no_such_type";
            if is_odd { Continuation::Exit } else { Continuation::Proceed }
        }),
    ),
    row(
        "V-10",
        0,
        After(|call| {
            if item_config(call).is_some() && !call.request().has_field(3) {
                call.silence();
            }
            Continuation::Proceed
        }),
    ),
    row(
        "V-11",
        2,
        After(|call| {
            let config = call.config().filter(|_| call.is(Rpc::ValidateDataResourceConfig));
            if config.and_then(|it| get(&it, "name")) == Some(Value::string("alpha")) {
                call.diagnose(1, "Old name", "name");
            }
            Continuation::Proceed
        }),
    ),
];
