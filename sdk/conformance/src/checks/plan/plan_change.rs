//! Checks of plans for an existing object: no change, one attribute changed, destroyed.

use formwork_plugin_protocol::contract::requires_replace::is_unchanged;
use formwork_value::schema::Attribute;
use formwork_value::{Path, Type, Value};

use super::{UsablePlan, check_plan_answer, identity_problem, plan_input, plan_or_none};
use crate::checks::display_value;
use crate::finding::Finding;
use crate::generate::{self, ConfigExtent, Dice};
use crate::legal_config::diagnostic_path;
use crate::offer::{OfferedType, PLAN_DESTROY_CAPABILITY};
use crate::request::{self, PlanInput, decode_dynamic};
use crate::rpc::Rpc;
use crate::suite::{Suite, to_plain};

/// Checks plans for the object that a plan to create would have created.
pub(super) async fn check_plans_over_object(
    suite: &mut Suite,
    offered: &OfferedType,
    create: &PlanInput,
    planned: &UsablePlan,
) {
    if !suite.wants_any(&["P-02", "P-03", "P-07", "P-09", "P-10", "P-12", "P-19", "S-11"]) {
        return;
    }
    let mut dice = suite.seeded_dice(&format!("fill {}", offered.name));
    let object = generate::fill_unknown_parts(offered.block(), &planned.value, &mut dice);
    // Unknown elements of a set have no path by which they could be filled.
    if !object.is_wholly_known() {
        return;
    }
    check_no_op_plan(suite, offered, create, &object).await;
    check_single_changes(suite, offered, create, &object).await;
    check_planned_destroy(suite, offered, &object).await;
}

/// Planning the object's own configuration is a no-op.
async fn check_no_op_plan(
    suite: &mut Suite,
    offered: &OfferedType,
    create: &PlanInput,
    object: &Value,
) {
    let mut second_input = plan_input(offered, object.clone(), create.config.clone());
    // The object was made up and not created, so it has no private data.
    second_input.private = bytes::Bytes::new();
    let Some(planned) = plan_or_none(suite, offered, &second_input).await else { return };
    if planned.answer.get_bool(5) {
        return suite.note_skipped_rules(&["P-07"], "the legacy type system allows it");
    }
    let held = is_unchanged(&to_plain(object), &to_plain(&planned.value));
    let differs = crate::checks::differing_paths(object, &planned.value);
    suite.record_case("P-07", held, || {
        let path = differs.first().cloned().unwrap_or_default();
        let part = |value: &Value| path.find(value).map(display_value).unwrap_or_default();
        Finding::new("P-07", &offered.display_name(), "planning an unchanged object shows a change")
            .with_path(&path)
            .with_call(&planned.call)
            .with_expected_and_found(part(object), part(&planned.value))
            .with_input(display_value(&create.config))
    });
    // The object's identity must stay what it was.
    if let Some(requires_replace) = planned.answer.get_msg(7)
        && identity_problem(suite, offered, Some(requires_replace.clone())).is_none()
    {
        second_input.identity = Some(requires_replace);
        let call = suite
            .call(Rpc::PlanResourceChange, &request::plan_request(offered, &second_input))
            .await;
        check_plan_answer(suite, offered, &second_input, &call);
    }
}

/// Another value of the same type; `None` if there is none to be had.
fn changed_value(name: &str, part: &Value, ty: &Type) -> Option<Value> {
    match (part, ty) {
        (_, Type::Bool) => Some(Value::Bool(*part != Value::Bool(true))),
        // Small numbers fit most ranges.
        (_, Type::Number) => Some(Value::int(if *part == Value::int(2) { 3 } else { 2 })),
        // Longer by one letter, which most patterns still accept.
        (Value::String(text), Type::String) => Some(Value::string(format!("{}x", text.as_str()))),
        (_, Type::String) => Some(Value::string(generate::text_for_attribute(name))),
        (_, Type::List(_) | Type::Set(_) | Type::Map(_)) if part.children().is_empty() => Some(
            generate::generate_value(name, ty, ConfigExtent::Required, &mut Dice::new(1, name)),
        ),
        (_, Type::List(_) | Type::Set(_) | Type::Map(_)) => Some(Value::null(ty.clone())),
        _ => None,
    }
}

/// The part at a path of a value, steps into sets left out.
fn has_value_at_path(value: &Value, path: &Path) -> bool {
    path.find(value).is_some() || value.is_null()
}

/// Whether the description of an attribute states that a change forces a replacement; `None` if it
/// does not mention replacement.
fn documented_replacement(attribute: &Attribute) -> Option<bool> {
    const REPLACEMENT_PHRASES: [&str; 7] = [
        "forces replacement",
        "forces a replacement",
        "forces new resource",
        "forces a new resource",
        "forces a new object",
        "requires replacement",
        "new resource to be created",
    ];
    const IN_PLACE_PHRASES: [&str; 3] =
        ["updated in place", "updated in-place", "without replacement"];
    let text = attribute.docs.description.to_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|it| text.contains(it));
    // A denial of either is not understood.
    match (says(&REPLACEMENT_PHRASES), says(&IN_PLACE_PHRASES), text.contains(" not ")) {
        (true, false, false) => Some(true),
        (false, true, false) => Some(false),
        _ => None,
    }
}

async fn check_single_changes(
    suite: &mut Suite,
    offered: &OfferedType,
    create: &PlanInput,
    object: &Value,
) {
    if !suite.wants_any(&["P-02", "P-03", "P-09", "P-10"]) {
        return;
    }
    let paths = generate::settable_paths(offered.block(), &create.config);
    // A type with hundreds of attributes must not take the whole time of the run.
    for (path, attribute) in paths.into_iter().take(25) {
        let name = match path.0.last() {
            Some(formwork_value::Step::Attribute(name)) => name.as_str().to_owned(),
            _ => String::new(),
        };
        let Some(current) = path.find(&create.config) else { continue };
        let Some(changed) = changed_value(&name, current, &attribute.implied_type()) else {
            continue;
        };
        let Some(config) = generate::replace_part(&create.config, &path, changed) else { continue };
        if suite.is_run_over() || !suite.call_validate(offered, &config).await.is_success() {
            continue;
        }
        let change = plan_input(offered, object.clone(), config);
        let call =
            suite.call(Rpc::PlanResourceChange, &request::plan_request(offered, &change)).await;
        check_plan_answer(suite, offered, &change, &call);
        let Some(answer) = call.first_message().filter(|_| call.is_success()) else { continue };
        let Ok(Some(planned)) = decode_dynamic(answer.get_msg(1), &offered.ty()) else { continue };
        for raw in answer.repeated_messages(2) {
            let replaced = diagnostic_path(&raw);
            let in_schema = offered.block().attribute_at(&replaced).is_some()
                || replaced.0.first().is_some_and(|step| matches!(step, formwork_value::Step::Attribute(name) if offered.block().blocks.contains_key(name.as_str())));
            let is_there = has_value_at_path(object, &replaced)
                || has_value_at_path(planned.value(), &replaced);
            let same = replaced.find(object) == replaced.find(planned.value());
            // Such a value is null before and after, and only the provider sees the change.
            let is_write_only = attribute.write_only;
            // The legacy SDK names `id` together with every attribute that requires replacement,
            // and Terraform ignores a path whose value is unchanged.
            let is_beside = answer.repeated_messages(2).len() > 1;
            let is_legacy_id = is_beside && replaced == Path::root().attribute("id");
            let problem = if !in_schema || !is_there {
                Some("a path that does not exist demands a replacement")
            } else if same && replaced.find(object).is_some() && !is_write_only && !is_legacy_id {
                Some("an attribute that does not change demands a replacement")
            } else {
                None
            };
            suite.record_case("P-09", problem.is_none(), || {
                Finding::new("P-09", &offered.display_name(), problem.unwrap_or_default())
                    .with_path(&replaced)
                    .with_call(&call)
                    .with_expected_and_found(display_value(object), display_value(planned.value()))
                    .with_input(display_value(&change.config))
            });
        }
        // A plan without replacements is a case too.
        if answer.repeated_messages(2).is_empty() {
            suite.record_case("P-09", true, || Finding::new("P-09", "", ""));
        }
        let is_changed = path.find(object) != path.find(planned.value());
        if let Some(forces) = documented_replacement(&attribute).filter(|_| is_changed) {
            // A path of a whole block covers its attributes.
            let replaced = answer
                .repeated_messages(2)
                .iter()
                .any(|raw| path.starts_with(&diagnostic_path(raw)));
            let action_phrase = |it| if it { "a replacement" } else { "an update in place" };
            suite.record_case("P-10", replaced == forces, || {
                Finding::new(
                    "P-10",
                    &offered.display_name(),
                    "a change does not have the documented effect",
                )
                .with_path(&path)
                .with_call(&call)
                .with_expected_and_found(action_phrase(forces), action_phrase(replaced))
                .with_input(display_value(&change.config))
            });
        }
    }
}

async fn check_planned_destroy(suite: &mut Suite, offered: &OfferedType, object: &Value) {
    if !suite.wants_any(&["P-12", "S-11"]) {
        return;
    }
    if !suite.offer.has_capability(PLAN_DESTROY_CAPABILITY) {
        return suite.note_skipped_rules(&["P-12"], "the provider does not plan destruction");
    }
    let null = crate::checks::null_object(&offered.ty());
    let input = PlanInput {
        prior: object.clone(),
        proposed: null.clone(),
        config: null,
        private: bytes::Bytes::new(),
        identity: None,
    };
    let call = suite.call(Rpc::PlanResourceChange, &request::plan_request(offered, &input)).await;
    let decoded = decode_dynamic(call.first_message().and_then(|it| it.get_msg(1)), &offered.ty());
    if call.is_success() {
        // Terraform reads an absent value as null.
        let held = matches!(&decoded, Ok(None))
            || matches!(&decoded, Ok(Some(it)) if it.value().is_null());
        suite.record_case("P-12", held, || {
            Finding::new("P-12", &offered.display_name(), "a destroy plan is not null")
                .with_call(&call)
        });
    }
    suite.record_case(
        "S-11",
        call.has_reply() && !matches!(&call.reply, crate::plugin::Reply::Refused(..)),
        || {
            Finding::new(
                "S-11",
                &offered.display_name(),
                "plan_destroy is claimed, but a destroy plan fails",
            )
            .with_call(&call)
        },
    );
}
