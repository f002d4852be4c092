//! Faults of the handshake and of the process (H).

use formwork_conformance::message::Msg;
use formwork_conformance::rpc::Rpc;

use super::Fault::{AnswersUnknownMethods, Bad, Before, Release, Start};
use super::{Continuation, ReleaseBug, Row, row, start};

pub(super) const ROWS: &[Row] = &[
    row("H-01", 0, Start(start::quiet_without_host)),
    row("H-02", 0, Bad("start-log-line")),
    row("H-03", 0, Bad("start-core-version")),
    row("H-04", 0, Start(start::other_version)),
    row("H-05", 0, Start(start::late)),
    row("H-06", 0, Bad("start-foreign-certificate")),
    row("H-07", 0, Bad("start-mute")),
    row("H-08", 0, Start(start::insists_on_tls)),
    row("H-09", 0, Start(start::open_socket)),
    row("H-10", 0, Start(start::leaves_file)),
    row("H-11", 0, Bad("start-reads-stdin")),
    row("H-12", 0, Start(start::ends_on_interrupt)),
    row("H-13", 0, Bad("process-stays")),
    row("H-14", 0, Bad("process-stays")),
    row("H-15", 0, Start(start::leaves_child)),
    row("H-16", 0, Start(start::ends_soon)),
    row("H-17", 0, AnswersUnknownMethods),
    row("H-18", 0, Start(start::connects)),
    row("H-19", 0, Start(start::only_process)),
    row("H-20", 0, Start(start::needs_home)),
    row(
        "H-21",
        0,
        Before(|call| {
            if call.is(Rpc::GetProviderSchema) {
                start::print_late();
            }
            Continuation::Proceed
        }),
    ),
    row("H-22", 0, Release(ReleaseBug::ForeignProtocol)),
    row(
        "C-01",
        1,
        Before(|call| {
            if call.is(Rpc::ConfigureProvider) { Continuation::Exit } else { Continuation::Proceed }
        }),
    ),
    row(
        "C-02",
        1,
        Before(|call| {
            let config = call.requested_value(2).filter(|_| call.is(Rpc::ConfigureProvider));
            let is_unknown = config.is_some_and(|it| !it.is_wholly_known());
            if is_unknown { Continuation::Exit } else { Continuation::Proceed }
        }),
    ),
    row(
        "C-03",
        1,
        Before(|call| {
            let is_early = call.history.count(Rpc::ConfigureProvider) == 0;
            if is_early && call.is(Rpc::PlanResourceChange) {
                Continuation::Exit
            } else {
                Continuation::Proceed
            }
        }),
    ),
    row(
        "C-04",
        1,
        Before(|call| {
            let is_again = call.history.count(Rpc::ConfigureProvider) > 1;
            if is_again && call.is(Rpc::ConfigureProvider) {
                Continuation::Exit
            } else {
                Continuation::Proceed
            }
        }),
    ),
    row(
        "C-05",
        1,
        Before(|call| {
            if call.is(Rpc::ConfigureProvider)
                && let Some(config) = call.requested_value(2)
                && let Some(formwork_value::Value::String(token)) =
                    super::exchange::get(&config, "access_token")
            {
                let problem =
                    Msg::new().with_nonzero_int(1, 1).with_text(2, &format!("{token} is refused"));
                call.reply(Msg::new().with_message(1, &problem));
            }
            Continuation::Proceed
        }),
    ),
    row(
        "C-06",
        1,
        Before(|call| {
            if call.is(Rpc::ConfigureProvider) {
                start::write_home();
            }
            Continuation::Proceed
        }),
    ),
    row(
        "C-07",
        1,
        Before(
            |call| {
                if call.is(Rpc::StopProvider) { Continuation::Hang } else { Continuation::Proceed }
            },
        ),
    ),
];
