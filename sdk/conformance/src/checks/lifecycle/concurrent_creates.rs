//! Creates with other calls: twenty concurrently, one together with StopProvider, the same one
//! twice (A-17, A-19, A-20, Z-08).

use formwork_plugin_protocol::contract::conform::compatibility_violations;
use formwork_value::Value;

use super::journal::Journal;
use super::{check_apply_answer, destroy_object, journal_create_result};
use crate::checks::null_object;
use crate::checks::plan::{UsablePlan, plan_input, plan_or_none};
use crate::finding::Finding;
use crate::message::Msg;
use crate::offer::OfferedType;
use crate::request::{self, PlanInput};
use crate::rpc::Rpc;
use crate::suite::{Suite, to_plain};

/// Twenty concurrent objects.
pub(super) async fn check_parallel_creates(
    suite: &mut Suite,
    journal: &mut Journal,
    offered: &OfferedType,
    config: &Value,
) {
    if !suite.is_rule_wanted("A-20") {
        return;
    }
    let create = plan_input(offered, null_object(&offered.ty()), config.clone());
    let Some(planned) = plan_or_none(suite, offered, &create).await else { return };
    let request = request::apply_request(offered, &create, &planned.answer);
    // All are announced before the first is sent, because any of them may be lost.
    let entries: Vec<_> = (0..20).map(|_| journal.record_create_intent(offered, config)).collect();
    if suite.ensure_running().await.is_err() {
        return;
    }
    let Some(plugin) = suite.plugin() else { return };
    let calls = (0..20).map(|_| {
        plugin.call(Rpc::ApplyResourceChange, &request, crate::suite::CHANGING_CALL_TIMEOUT)
    });
    let calls = crate::checks::schema::await_all(calls).await;
    for (entry, call) in entries.into_iter().zip(calls) {
        let object = check_apply_answer(suite, offered, &create, &planned, &call);
        journal_create_result(journal, entry, offered, &call);
        suite.record_case("A-20", !call.is_crash_or_hang(), || {
            Finding::new("A-20", &offered.display_name(), "creating in parallel crashes")
                .with_call(&call)
        });
        let Some(object) = object else { continue };
        let violations = compatibility_violations(
            offered.block(),
            &to_plain(&planned.value),
            &to_plain(&object.value),
        );
        suite.record_case("A-20", violations.is_empty(), || {
            let first = violations.first().map(ToString::to_string).unwrap_or_default();
            Finding::new("A-20", &offered.display_name(), "objects created in parallel mix")
                .with_call(&call)
                .with_expected_and_found("the planned object", first)
        });
        if destroy_object(suite, offered, &object).await.is_success() {
            journal.record_destroyed(offered, &object.value);
        }
    }
}

/// StopProvider during a create.
pub(super) async fn check_stop_during_create(
    suite: &mut Suite,
    journal: &mut Journal,
    offered: &OfferedType,
    create: &PlanInput,
    planned: &UsablePlan,
) {
    if !suite.wants_any(&["A-17", "Z-08"]) {
        return;
    }
    // A process of its own, because a provider may refuse calls after `StopProvider`.
    let Ok(new_process) = suite.start_another_process().await else { return };
    // A newly started process is not configured yet.
    new_process
        .call(
            Rpc::ConfigureProvider,
            &request::configure_request(&suite.config),
            crate::suite::CHANGING_CALL_TIMEOUT,
        )
        .await;
    let entry = journal.record_create_intent(offered, &create.config);
    let request = request::apply_request(offered, create, &planned.answer);
    let apply =
        new_process.call(Rpc::ApplyResourceChange, &request, crate::suite::CHANGING_CALL_TIMEOUT);
    let stop =
        new_process.call(Rpc::StopProvider, &EMPTY_REQUEST, std::time::Duration::from_secs(10));
    // `join!` polls in this order, so the create begins before the stop.
    let (call, _stop) = tokio::join!(apply, stop);
    suite.record_case("A-17", !call.is_crash_or_hang(), || {
        Finding::new("A-17", &offered.display_name(), "a create during StopProvider has no answer")
            .with_call(&call)
    });
    let limit = std::time::Duration::from_secs(30);
    suite.record_case("Z-08", call.recorded.duration <= limit, || {
        Finding::new("Z-08", &offered.display_name(), "a call runs on after StopProvider")
            .with_call(&call)
            .with_expected_and_found(
                "ended within 30 s",
                format!("{} s", call.recorded.duration.as_secs()),
            )
    });
    journal_create_result(journal, entry, offered, &call);
}

/// The same create request twice.
pub(super) async fn check_repeated_create(
    suite: &mut Suite,
    journal: &mut Journal,
    offered: &OfferedType,
    create: &PlanInput,
    planned: &UsablePlan,
) {
    if !suite.is_rule_wanted("A-19") {
        return;
    }
    let request = request::apply_request(offered, create, &planned.answer);
    // Both objects are left to the sweep.
    for _ in 0..2 {
        let entry = journal.record_create_intent(offered, &create.config);
        let call = suite.call_changing(Rpc::ApplyResourceChange, &request).await;
        suite.record_case("A-19", call.has_reply(), || {
            Finding::new("A-19", &offered.display_name(), "the same create twice crashes")
                .with_call(&call)
        });
        journal_create_result(journal, entry, offered, &call);
    }
}

static EMPTY_REQUEST: Msg = Msg(Vec::new());
