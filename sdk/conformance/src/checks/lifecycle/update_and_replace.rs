//! Updates in place and replacements.

use formwork_plugin_protocol::contract::conform::compatibility_violations;
use formwork_value::schema::{Attribute, Role};
use formwork_value::{Type, Value};

use super::journal::Journal;
use super::{
    AppliedChange, Object, apply_create_plan, check_apply_answer, check_stable_after_apply,
    destroy_object, report_violations,
};
use crate::checks::display_value;
use crate::checks::plan::{UsablePlan, plan_input};
use crate::finding::Finding;
use crate::generate;
use crate::message::Msg;
use crate::offer::OfferedType;
use crate::request::{self, PlanInput, decode_dynamic};
use crate::rpc::Rpc;
use crate::suite::{Suite, to_plain};

/// Changes attributes one by one; returns the object as it is then.
pub(super) async fn check_attribute_changes(
    suite: &mut Suite,
    journal: &mut Journal,
    offered: &OfferedType,
    mut object: Object,
) -> Object {
    if !suite.wants_any(&["A-08", "A-10", "R-04"]) {
        return object;
    }
    let mut replaced = false;
    for (path, attribute) in
        // A sample: each change costs calls of a real service.
        generate::settable_paths(offered.block(), &object.config).into_iter().take(12)
    {
        let Some(current) = path.find(&object.config).cloned() else { continue };
        let Some(changed) = another_value(&current, &attribute) else { continue };
        let Some(config) = generate::replace_part(&object.config, &path, changed) else { continue };
        // The other value is a guess, so validation decides first.
        if suite.is_run_over() || !suite.call_validate(offered, &config).await.is_success() {
            continue;
        }
        let change = object.plan_input_for(offered, config);
        let call =
            suite.call(Rpc::PlanResourceChange, &request::plan_request(offered, &change)).await;
        let Some(answer) = call.first_message().filter(|_| call.is_success()).cloned() else {
            continue;
        };
        let Ok(Some(value)) = decode_dynamic(answer.get_msg(1), &offered.ty()) else { continue };
        let planned = UsablePlan { call, answer, value: value.into_value() };
        let is_replacement = !planned.answer.repeated_messages(2).is_empty();
        if !is_replacement {
            let planned = PlannedUpdate { object, input: &change, planned: &planned };
            object = check_update(suite, journal, offered, planned).await;
        // Once is enough: it destroys one object and creates another.
        } else if !replaced {
            replaced = true;
            object = check_replacement(suite, journal, offered, object, &change).await;
        }
    }
    object
}

/// Another value for an attribute, if there is one that is likely to be legal.
fn another_value(current: &Value, attribute: &Attribute) -> Option<Value> {
    match (current, attribute.implied_type()) {
        (Value::String(text), _) => Some(Value::string(format!("{}x", text.as_str()))),
        (Value::Bool(truth), _) => Some(Value::Bool(!truth)),
        (Value::Number(_), _) => Some(Value::int(if *current == Value::int(2) { 3 } else { 2 })),
        (Value::Null(_), Type::String) if attribute.role == Role::Optional => {
            Some(Value::string("conformance-changed"))
        }
        _ => None,
    }
}

/// A change that can be an update in place, if one is found.
pub(super) async fn find_in_place_change(
    suite: &mut Suite,
    offered: &OfferedType,
    object: &Object,
) -> Option<(PlanInput, UsablePlan)> {
    for (path, attribute) in
        generate::settable_paths(offered.block(), &object.config).into_iter().take(12)
    {
        let current = path.find(&object.config).cloned();
        let Some(changed) = current.and_then(|current| another_value(&current, &attribute)) else {
            continue;
        };
        let Some(config) = generate::replace_part(&object.config, &path, changed) else { continue };
        if attribute.write_only || !suite.call_validate(offered, &config).await.is_success() {
            continue;
        }
        let change = object.plan_input_for(offered, config);
        let Some(planned) = crate::checks::plan::plan_or_none(suite, offered, &change).await else {
            continue;
        };
        if planned.answer.repeated_messages(2).is_empty() && planned.value != object.value {
            return Some((change, planned));
        }
    }
    None
}

/// An update in place: the object, and the input and answer of its plan.
struct PlannedUpdate<'a> {
    object: Object,
    input: &'a PlanInput,
    planned: &'a UsablePlan,
}

async fn check_update(
    suite: &mut Suite,
    journal: &mut Journal,
    offered: &OfferedType,
    update: PlannedUpdate<'_>,
) -> Object {
    let PlannedUpdate { object, input, planned } = update;
    let request = request::apply_request(offered, input, &planned.answer);
    let call = suite.call_changing(Rpc::ApplyResourceChange, &request).await;
    suite.record_case("A-08", !call.is_crash_or_hang(), || {
        Finding::new("A-08", &offered.display_name(), "updating crashes or hangs").with_call(&call)
    });
    let Some(updated) = check_apply_answer(suite, offered, input, planned, &call) else {
        return object;
    };
    if !call.first_message().is_some_and(|it| it.get_bool(4)) {
        let violations = compatibility_violations(
            offered.block(),
            &to_plain(&planned.value),
            &to_plain(&updated.value),
        );
        report_violations(
            suite,
            "A-08",
            &AppliedChange { offered, input, call: &call },
            &violations,
        );
    }
    let same = |a: &Option<Msg>, b: &Option<Msg>| match (a, b) {
        // An absent identity is not evidence.
        (Some(a), Some(b)) => a == b,
        _ => true,
    };
    suite.record_case("A-08", same(&object.identity, &updated.identity), || {
        Finding::new("A-08", &offered.display_name(), "an update changes the identity")
            .with_call(&call)
    });
    // First of all, so that the sweep has the object as it is now.
    journal.record_changed(offered, &object.value, &updated.value, &updated.private);
    check_read_finds_drift(suite, offered, &object, &updated).await;
    check_stable_after_apply(suite, offered, &updated).await;
    updated
}

/// Reads a changed object with the state from before: the change must show.
async fn check_read_finds_drift(
    suite: &mut Suite,
    offered: &OfferedType,
    before: &Object,
    after: &Object,
) {
    if !suite.is_rule_wanted("R-04") {
        return;
    }
    if !suite.tracked.contains(&offered.name) {
        return suite.note_skipped_rules(&["R-04"], "the objects exist only in the state");
    }
    let request =
        request::read_request(offered, &before.value, &before.private, before.identity.as_ref());
    let call = suite.call(Rpc::ReadResource, &request).await;
    let read_object =
        decode_dynamic(call.first_message().and_then(|it| it.get_msg(1)), &offered.ty())
            .ok()
            .flatten();
    let Some(read_object) = read_object.filter(|_| call.is_success()) else { return };
    for path in crate::checks::differing_paths(&before.value, &after.value) {
        let (Some(new), Some(got)) = (path.find(&after.value), path.find(read_object.value()))
        else {
            continue;
        };
        // Only what an author sets: computed parts may change by themselves.
        let is_own =
            offered.block().attribute_at(&path).is_some_and(|(it, _)| it.role.is_settable());
        if !is_own {
            continue;
        }
        suite.record_case("R-04", new == got, || {
            let message = "a change outside of the provider is not read";
            Finding::new("R-04", &offered.display_name(), message)
                .with_path(&path)
                .with_call(&call)
                .with_expected_and_found(display_value(new), display_value(got))
        });
    }
}

/// Destroys the old object and creates the new one, as a host does.
async fn check_replacement(
    suite: &mut Suite,
    journal: &mut Journal,
    offered: &OfferedType,
    object: Object,
    change: &PlanInput,
) -> Object {
    let create =
        plan_input(offered, crate::checks::null_object(&offered.ty()), change.config.clone());
    // UsablePlan while the old object exists, so that one remains if it cannot be.
    let Some(planned) = crate::checks::plan::plan_or_none(suite, offered, &create).await else {
        return object;
    };
    let call = destroy_object(suite, offered, &object).await;
    suite.record_case("A-10", call.is_success(), || {
        Finding::new(
            "A-10",
            &offered.display_name(),
            "the old object of a replacement cannot be destroyed",
        )
        .with_call(&call)
    });
    if !call.is_success() {
        return object;
    }
    journal.record_destroyed(offered, &object.value);
    let replacement = apply_create_plan(suite, journal, offered, &create, &planned).await;
    suite.record_case("A-10", replacement.is_some(), || {
        Finding::new(
            "A-10",
            &offered.display_name(),
            "the new object of a replacement cannot be created",
        )
        .with_input(display_value(&change.config))
    });
    replacement.unwrap_or(object)
}
