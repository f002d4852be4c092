//! Checks of complete lifecycles (A): objects are created, read, changed, imported and destroyed.
//! Only on request. Every object is written to a journal before its creation, and a final sweep
//! destroys the remaining ones.

mod concurrent_creates;
mod import_and_list;
mod journal;
mod remote_calls;
mod update_and_replace;

use bytes::Bytes;
use formwork_plugin_protocol::contract::conform::compatibility_violations;
use formwork_value::{Path, Plain, Value};

use super::display_value;
use super::plan::{UsablePlan, plan_input, plan_or_none};
use crate::finding::Finding;
use crate::message::Msg;
use crate::offer::{Kind, OfferedType};
use crate::plugin::Call;
use crate::request::{self, PlanInput, decode_dynamic};
use crate::rpc::Rpc;
use crate::suite::{Suite, to_plain};
use crate::violations::{type_violations, unknown_violations, write_only_violations};
use journal::Journal;

const LIFECYCLE_RULES: [&str; 32] = [
    "A-01", "A-02", "A-03", "A-04", "A-05", "A-06", "A-08", "A-10", "A-11", "A-12", "A-13", "A-17",
    "A-19", "A-20", "A-21", "A-25", "P-11", "P-20", "R-01", "R-03", "R-05", "R-06", "I-04", "I-05",
    "I-06", "I-08", "L-01", "Z-12", "H-21", "R-04", "A-07", "Z-08",
];

/// Checks the family.
pub(super) async fn run(suite: &mut Suite) {
    if !suite.wants_any(&LIFECYCLE_RULES) && !suite.wants_any(&remote_calls::REMOTE_CALL_RULES) {
        return;
    }
    if !suite.configured {
        return skip_lifecycle_rules(suite, "the provider cannot be configured");
    }
    // Before anything is created: without a journal, objects of an interrupted run would be lost.
    let mut journal = match Journal::open(suite.options.journal.as_deref()) {
        Ok(journal) => journal,
        Err(error) => {
            return skip_lifecycle_rules(suite, &format!("the journal cannot be written: {error}"));
        }
    };
    let resources: Vec<OfferedType> =
        suite.offer.usable_types_of_kind(Kind::Resource).cloned().collect();
    if resources.is_empty() {
        return skip_lifecycle_rules(suite, "the provider has no resource");
    }
    for offered in &resources {
        if !suite.wants_any(&LIFECYCLE_RULES) {
            break;
        }
        let configs = suite.legal_configs(offered).await;
        match configs.first() {
            Some(config) => check_lifecycle(suite, &mut journal, offered, config).await,
            None => suite.note_skipped_rules(
                &LIFECYCLE_RULES,
                "no legal configuration was found; give one with -examples",
            ),
        }
    }
    remote_calls::run(suite, &mut journal, &resources).await;
    destroy_leftovers(suite, &mut journal, &resources).await;
}

fn skip_lifecycle_rules(suite: &mut Suite, reason: &str) {
    suite.note_skipped_rules(&LIFECYCLE_RULES, reason);
    suite.note_skipped_rules(&remote_calls::REMOTE_CALL_RULES, reason);
}

/// An object that exists.
#[derive(Clone, Debug)]
struct Object {
    value: Value,
    private: Bytes,
    identity: Option<Msg>,
    config: Value,
}

impl Object {
    /// The input of a plan that gives it another configuration.
    fn plan_input_for(&self, offered: &OfferedType, config: Value) -> PlanInput {
        let mut change = plan_input(offered, self.value.clone(), config);
        change.private = self.private.clone();
        change.identity = self.identity.clone();
        change
    }
}

async fn check_lifecycle(
    suite: &mut Suite,
    journal: &mut Journal,
    offered: &OfferedType,
    config: &Value,
) {
    let create = plan_input(offered, super::null_object(&offered.ty()), config.clone());
    let Some(planned) = plan_or_none(suite, offered, &create).await else {
        return suite.note_skipped_rules(&LIFECYCLE_RULES, "an object could not be planned");
    };
    let Some(object) = apply_create_plan(suite, journal, offered, &create, &planned).await else {
        return suite.note_skipped_rules(&LIFECYCLE_RULES, "an object could not be created");
    };
    // In this order, because later steps change and destroy the object.
    check_stable_after_apply(suite, offered, &object).await;
    import_and_list::check_import_and_list(suite, offered, &object).await;
    check_read_by_id(suite, offered, &object).await;
    let object = update_and_replace::check_attribute_changes(suite, journal, offered, object).await;
    destroy_and_check_absence(suite, journal, offered, object).await;
    concurrent_creates::check_parallel_creates(suite, journal, offered, config).await;
    concurrent_creates::check_stop_during_create(suite, journal, offered, &create, &planned).await;
    concurrent_creates::check_repeated_create(suite, journal, offered, &create, &planned).await;
}

/// Applies a plan to create; the journal has an entry before it is sent.
async fn apply_create_plan(
    suite: &mut Suite,
    journal: &mut Journal,
    offered: &OfferedType,
    create: &PlanInput,
    planned: &UsablePlan,
) -> Option<Object> {
    // Before the call, because the run may end during it.
    let entry = journal.record_create_intent(offered, &create.config);
    let request = request::apply_request(offered, create, &planned.answer);
    let call = suite.call_changing(Rpc::ApplyResourceChange, &request).await;
    let object = check_apply_answer(suite, offered, create, planned, &call);
    journal_create_result(journal, entry, offered, &call);
    suite.record_case("A-01", !call.is_crash_or_hang(), || {
        Finding::new("A-01", &offered.display_name(), "creating crashes or hangs")
            .with_call(&call)
            .with_input(display_value(&create.config))
    });
    object
}

/// Records the result of a create: the object, no object, or unknown.
fn journal_create_result(journal: &mut Journal, entry: usize, offered: &OfferedType, call: &Call) {
    let decoded = decode_dynamic(call.first_message().and_then(|it| it.get_msg(1)), &offered.ty());
    let private = call.first_message().map(|it| it.get_bytes(2)).unwrap_or_default();
    match decoded {
        Ok(Some(created)) if !created.value().is_null() => {
            journal.record_created(entry, offered, Some((created.value(), &private)));
        }
        // The provider reports that no object exists. An answer that cannot be read may hide an
        // object, so its entry stays open.
        Ok(_) if call.has_reply() => journal.forget_refused_create(entry),
        _ => journal.record_created(entry, offered, None),
    }
}

/// A change that was applied: the input of its plan, and the call.
struct AppliedChange<'a> {
    offered: &'a OfferedType,
    input: &'a PlanInput,
    call: &'a Call,
}

/// Holds the answer to an apply to the rules of a host.
fn check_apply_answer(
    suite: &mut Suite,
    offered: &OfferedType,
    input: &PlanInput,
    planned: &UsablePlan,
    call: &Call,
) -> Option<Object> {
    let subject = offered.display_name();
    let answer = call.first_message().filter(|_| call.is_success())?;
    let value = match decode_dynamic(answer.get_msg(1), &offered.ty()) {
        Ok(Some(value)) if !value.value().is_null() => value,
        other => {
            let reason =
                other.err().unwrap_or_else(|| "it contains no object and no error".to_owned());
            suite.record_case("A-01", false, || {
                Finding::new("A-01", &subject, reason)
                    .with_call(call)
                    .with_input(display_value(&input.config))
            });
            return None;
        }
    };
    let mut violations = type_violations(offered.block(), &value);
    violations.extend(unknown_violations(&value, offered.block()));
    let change = AppliedChange { offered, input, call };
    report_violations(suite, "A-01", &change, &violations);
    report_violations(suite, "A-04", &change, &write_only_violations(offered.block(), &value));
    // The flag excuses differences from the plan, and no other rule.
    let is_legacy = answer.get_bool(4);
    if is_legacy {
        suite.note_skipped_rules(
            &["A-02", "A-03", "P-11", "P-20"],
            "the legacy type system allows it",
        );
    } else {
        report_differences_from_plan(suite, &change, planned, &value);
    }
    Some(Object {
        value: value.into_value(),
        private: answer.get_bytes(2),
        identity: answer.get_msg(5),
        config: input.config.clone(),
    })
}

fn report_differences_from_plan(
    suite: &mut Suite,
    change: &AppliedChange<'_>,
    planned: &UsablePlan,
    value: &Plain,
) {
    let block = change.offered.block();
    // Compared once. The kind of a difference determines the broken rule.
    let broken = compatibility_violations(block, &to_plain(&planned.value), value);
    let was_null = |path: &Path| path.find(&planned.value).is_some_and(Value::is_null);
    let was_unknown = |path: &Path| path.find(&planned.value).is_some_and(Value::is_unknown);
    let is_computed =
        |path: &Path| block.attribute_at(path).is_some_and(|(it, _)| it.role.is_computed());
    let by = |want: &dyn Fn(&Path) -> bool| {
        broken.iter().filter(|it| want(&it.path)).cloned().collect::<Vec<_>>()
    };
    report_violations(suite, "A-02", change, &by(&|path| !was_null(path) && !was_unknown(path)));
    report_violations(suite, "A-03", change, &by(&|path| was_null(path)));
    report_violations(suite, "P-11", change, &by(&|path| was_null(path) && is_computed(path)));
    report_violations(suite, "P-20", change, &by(&|path| was_unknown(path)));
}

fn report_violations(
    suite: &mut Suite,
    rule: &'static str,
    change: &AppliedChange<'_>,
    findings: &[formwork_plugin_protocol::contract::Violation],
) {
    let AppliedChange { offered, input, call } = *change;
    suite.record_case(rule, findings.is_empty(), || {
        let first = findings.first();
        let message = first.map(|it| it.message.clone()).unwrap_or_default();
        Finding::new(rule, &offered.display_name(), message)
            .with_path(first.map(|it| it.path.clone()).unwrap_or_default())
            .with_call(call)
            .with_input(display_value(&input.config))
    });
}

/// Reads an object; `None` without a usable answer, null if it no longer exists.
async fn call_read(
    suite: &mut Suite,
    offered: &OfferedType,
    object: &Object,
) -> (Call, Option<Value>) {
    let request =
        request::read_request(offered, &object.value, &object.private, object.identity.as_ref());
    let call = suite.call(Rpc::ReadResource, &request).await;
    let back = super::read_and_import::check_read_answer(suite, offered, &call, &object.value);
    let value = back.and_then(|it| it.value).filter(|_| call.is_success());
    (call, value)
}

/// Checks right after an apply: a read returns the same object, and a plan has no changes.
async fn check_stable_after_apply(suite: &mut Suite, offered: &OfferedType, object: &Object) {
    let subject = offered.display_name();
    // More than once, because a service of several copies may not agree with itself at first.
    for _ in 0..3 {
        let (call, value) = call_read(suite, offered, object).await;
        let differs = value.as_ref().map(|it| super::differing_paths(&object.value, it));
        let path = differs.as_ref().and_then(|it| it.first()).cloned().unwrap_or_default();
        let part = |value: Option<&Value>| {
            value.and_then(|it| path.find(it)).map(display_value).unwrap_or_default()
        };
        suite.record_case("A-05", differs.as_ref().is_some_and(Vec::is_empty), || {
            Finding::new("A-05", &subject, "reading right after an apply gives another object")
                .with_path(&path)
                .with_call(&call)
                .with_expected_and_found(part(Some(&object.value)), part(value.as_ref()))
                .with_input(display_value(&object.config))
        });
        check_configured_values(suite, offered, object, value.as_ref(), &call);
    }
    let second_input = object.plan_input_for(offered, object.config.clone());
    let call =
        suite.call(Rpc::PlanResourceChange, &request::plan_request(offered, &second_input)).await;
    let planned = decode_dynamic(call.first_message().and_then(|it| it.get_msg(1)), &offered.ty());
    let held = matches!(&planned, Ok(Some(it)) if *it.value() == object.value);
    suite.record_case("A-06", held, || {
        let value = planned
            .ok()
            .flatten()
            .map(|it| it.into_value())
            .unwrap_or_else(|| object.value.clone());
        let path =
            super::differing_paths(&object.value, &value).first().cloned().unwrap_or_default();
        let part = |value: &Value| path.find(value).map(display_value).unwrap_or_default();
        Finding::new("A-06", &subject, "the plan after an apply is not empty")
            .with_path(&path)
            .with_call(&call)
            .with_expected_and_found(part(&object.value), part(&value))
            .with_input(display_value(&object.config))
    });
    // The private data may have been lost on the way.
    let bare = Object { private: Bytes::new(), ..object.clone() };
    let request = request::read_request(offered, &bare.value, &bare.private, None);
    let call = suite.call(Rpc::ReadResource, &request).await;
    suite.record_case("A-21", !call.is_crash_or_hang(), || {
        Finding::new("A-21", &subject, "without private data it crashes").with_call(&call)
    });
}

/// Reads an object by only its id: all configured values must come from the service.
async fn check_read_by_id(suite: &mut Suite, offered: &OfferedType, object: &Object) {
    if !suite.is_rule_wanted("A-07") {
        return;
    }
    if !suite.tracked.contains(&offered.name) {
        return suite.note_skipped_rules(&["A-07"], "the objects exist only in the state");
    }
    let id = Path::root().attribute("id");
    let Some(object_id) = id.find(&object.value).filter(|it| matches!(it, Value::String(_))) else {
        return suite.note_skipped_rules(&["A-07"], "the objects have no id");
    };
    // As after an import, which has only the id.
    let bare = offered.block().empty_value();
    let Some(bare) = crate::generate::replace_part(&bare, &id, object_id.clone()) else { return };
    let request = request::read_request(offered, &bare, &object.private, object.identity.as_ref());
    let call = suite.call(Rpc::ReadResource, &request).await;
    let read_back =
        decode_dynamic(call.first_message().and_then(|it| it.get_msg(1)), &offered.ty())
            .ok()
            .flatten();
    let Some(read_back) = read_back.filter(|it| call.is_success() && !it.value().is_null()) else {
        return suite.note_skipped_rules(&["A-07"], "no object can be read by only its id");
    };
    for (name, attribute) in &offered.block().attributes {
        let path = Path::root().attribute(name.clone());
        let (Some(configured), Some(returned)) =
            (path.find(&object.config), path.find(read_back.value()))
        else {
            continue;
        };
        if configured.is_null() || attribute.write_only || path == id {
            continue;
        }
        suite.record_case("A-07", !returned.is_null(), || {
            let message = "a configured attribute is not read from the service";
            Finding::new("A-07", &offered.display_name(), message)
                .with_path(&path)
                .with_call(&call)
                .with_expected_and_found(display_value(configured), display_value(returned))
        });
    }
}

/// Checks that configured values read as they were written.
fn check_configured_values(
    suite: &mut Suite,
    offered: &OfferedType,
    object: &Object,
    value: Option<&Value>,
    call: &Call,
) {
    let Some(value) = value.filter(|it| !it.is_null()) else { return };
    for (name, attribute) in &offered.block().attributes {
        let path = Path::root().attribute(name.clone());
        let (Some(configured), Some(returned)) = (path.find(&object.config), path.find(value))
        else {
            continue;
        };
        // A value that was stored in another form has been judged when it was applied.
        if configured.is_null()
            || attribute.write_only
            || path.find(&object.value) != Some(configured)
        {
            continue;
        }
        suite.record_case("R-03", configured == returned, || {
            Finding::new("R-03", &offered.display_name(), "a configured value reads differently")
                .with_path(&path)
                .with_call(call)
                .with_expected_and_found(display_value(configured), display_value(returned))
        });
    }
}

/// Plans and applies the destruction of an object.
async fn destroy_object(suite: &mut Suite, offered: &OfferedType, object: &Object) -> Call {
    let null = super::null_object(&offered.ty());
    let input = PlanInput {
        prior: object.value.clone(),
        proposed: null.clone(),
        config: null.clone(),
        private: object.private.clone(),
        identity: object.identity.clone(),
    };
    // As a host plans it for providers that do not: null, with the prior private data.
    let mut planned = Msg::new()
        .with_message(1, &request::encode_dynamic(&null, &offered.ty()))
        .with_bytes(3, object.private.clone());
    if suite.offer.has_capability(crate::offer::PLAN_DESTROY_CAPABILITY) {
        let call =
            suite.call(Rpc::PlanResourceChange, &request::plan_request(offered, &input)).await;
        if let Some(answer) = call.first_message().filter(|_| call.is_success()) {
            planned = answer.clone();
        }
    }
    suite
        .call_changing(Rpc::ApplyResourceChange, &request::apply_request(offered, &input, &planned))
        .await
}

fn answer_has_null_object(offered: &OfferedType, call: &Call) -> bool {
    let decoded = decode_dynamic(call.first_message().and_then(|it| it.get_msg(1)), &offered.ty());
    call.is_success() && decoded.is_ok_and(|it| it.is_none_or(|it| it.value().is_null()))
}

/// Destroys an object, and then reads it again.
async fn destroy_and_check_absence(
    suite: &mut Suite,
    journal: &mut Journal,
    offered: &OfferedType,
    object: Object,
) {
    let subject = offered.display_name();
    let call = destroy_object(suite, offered, &object).await;
    suite.record_case("A-11", answer_has_null_object(offered, &call), || {
        Finding::new("A-11", &subject, "destroying does not end with null").with_call(&call)
    });
    if !call.is_success() {
        return;
    }
    journal.record_destroyed(offered, &object.value);
    let request =
        request::read_request(offered, &object.value, &object.private, object.identity.as_ref());
    let call = suite.call(Rpc::ReadResource, &request).await;
    // A resource without a real object cannot detect that it was deleted.
    let back = decode_dynamic(call.first_message().and_then(|it| it.get_msg(1)), &offered.ty());
    let echoes = matches!(&back, Ok(Some(it)) if *it.value() == object.value);
    if echoes {
        let reason = "the objects exist only in the state";
        suite.note_skipped_rules(&["A-12", "A-13"], reason);
    } else {
        suite.record_case("A-13", answer_has_null_object(offered, &call), || {
            Finding::new("A-13", &subject, "reading a deleted object does not return null")
                .with_call(&call)
        });
    }
    // As after a lost answer: the host has no information about the deletion.
    let call = destroy_object(suite, offered, &object).await;
    for rule in ["A-11", "A-12"] {
        if rule == "A-12" && echoes {
            continue;
        }
        suite.record_case(rule, answer_has_null_object(offered, &call), || {
            Finding::new(rule, &subject, "destroying a deleted object fails").with_call(&call)
        });
    }
}

/// Destroys everything that the journal still has, and reports the rest.
async fn destroy_leftovers(suite: &mut Suite, journal: &mut Journal, resources: &[OfferedType]) {
    for leftover in journal.leftover_objects() {
        let Some(offered) = resources.iter().find(|it| it.name == leftover.name) else { continue };
        // Nothing is known by which it could be destroyed, so the user must look for it.
        let Some(value) = leftover.value.clone() else {
            suite.record_case("A-25", false, || {
                Finding::new(
                    "A-25",
                    &offered.display_name(),
                    "an object may exist that no answer described",
                )
                .with_input(leftover.config.clone())
            });
            continue;
        };
        let object = Object {
            value: value.clone(),
            private: leftover.private.clone(),
            identity: None,
            config: super::null_object(&offered.ty()),
        };
        let call = destroy_object(suite, offered, &object).await;
        if call.is_success() {
            journal.record_destroyed(offered, &value);
        }
        suite.record_case("A-25", call.is_success(), || {
            Finding::new(
                "A-25",
                &offered.display_name(),
                "an object of the run cannot be destroyed",
            )
            .with_call(&call)
            .with_input(display_value(&value))
        });
    }
    if journal.has_no_leftovers() {
        suite.record_case("A-25", true, || Finding::new("A-25", "", ""));
    }
    journal.record_run_end();
}
