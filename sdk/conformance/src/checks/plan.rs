//! Checks of planning (P): plans to create from legal configurations, held to Terraform's rules, and
//! plans that must agree with one another.

mod plan_change;
mod reordered_config;
mod special_cases;

use bytes::Bytes;
use formwork_plugin_protocol::contract::conform::compatibility_violations;
use formwork_plugin_protocol::contract::propose::proposed_new;
use formwork_value::schema::Role;
use formwork_value::{Path, Type, Value};

use super::display_value;
use crate::finding::Finding;
use crate::generate;
use crate::message::Msg;
use crate::offer::{Kind, OfferedType};
use crate::plugin::Call;
use crate::request::{self, PlanInput, decode_dynamic};
use crate::rpc::Rpc;
use crate::suite::{READ_ONLY_CALL_TIMEOUT, Suite, to_plain};
use crate::violations::{
    plan_violations, private_data_limit, type_violations, write_only_violations,
};
use reordered_config::check_reordered_config;
use special_cases::{
    check_canary_stays_sensitive, check_config_as_proposal, check_deferral_reason,
    check_large_plan_speed, check_number_precision,
};

pub(super) const PLAN_RULES: [&str; 21] = [
    "P-01", "P-02", "P-03", "P-04", "P-05", "P-06", "P-07", "P-08", "P-09", "P-10", "P-12", "P-13",
    "P-14", "P-15", "P-17", "P-18", "P-19", "P-21", "P-22", "S-11", "K-02",
];

/// Checks the family.
pub(super) async fn run(suite: &mut Suite) {
    if !suite.configured || !suite.wants_any(&PLAN_RULES) {
        return;
    }
    let resources: Vec<OfferedType> =
        suite.offer.usable_types_of_kind(Kind::Resource).cloned().collect();
    for offered in &resources {
        let configs = suite.legal_configs(offered).await;
        if configs.is_empty() {
            suite.note_skipped_rules(
                &PLAN_RULES,
                "no legal configuration was found; give one with -examples",
            );
        }
        for (index, config) in configs.iter().take(3).enumerate() {
            if suite.is_run_over() {
                return;
            }
            check_plans_of_config(suite, offered, config, index == 0).await;
        }
    }
}

/// The input of a plan of a configuration over a prior object.
pub(super) fn plan_input(offered: &OfferedType, prior: Value, config: Value) -> PlanInput {
    let proposed =
        proposed_new(offered.block(), &to_plain(&prior), &to_plain(&config)).into_value();
    PlanInput { prior, proposed, config, private: Bytes::new(), identity: None }
}

/// A plan with its decoded value.
pub(super) struct UsablePlan {
    /// The call.
    pub(super) call: Call,
    /// The answer.
    pub(super) answer: Msg,
    /// The planned value.
    pub(super) value: Value,
}

/// Plans; `None` without a usable answer.
pub(super) async fn plan_or_none(
    suite: &mut Suite,
    offered: &OfferedType,
    input: &PlanInput,
) -> Option<UsablePlan> {
    let call = suite.call(Rpc::PlanResourceChange, &request::plan_request(offered, input)).await;
    decode_usable_plan(offered, call)
}

fn decode_usable_plan(offered: &OfferedType, call: Call) -> Option<UsablePlan> {
    if !call.is_success() {
        return None;
    }
    let answer = call.first_message()?.clone();
    let value = decode_dynamic(answer.get_msg(1), &offered.ty()).ok()??.into_value();
    Some(UsablePlan { call, answer, value })
}

async fn check_plans_of_config(
    suite: &mut Suite,
    offered: &OfferedType,
    config: &Value,
    is_first: bool,
) {
    let create = plan_input(offered, super::null_object(&offered.ty()), config.clone());
    let call = suite.call(Rpc::PlanResourceChange, &request::plan_request(offered, &create)).await;
    if !call.is_success() {
        // A provider may refuse what it could not see while validating.
        let reason = format!("{} cannot be planned: {}", offered.name, call.describe_outcome());
        suite.check_survives_call("P-01", &call, || {
            Finding::new("P-01", &offered.display_name(), "planning crashes or hangs")
                .with_call(&call)
                .with_input(display_value(config))
        });
        return suite.note_skipped_rules(&PLAN_RULES, &reason);
    }
    check_plan_answer(suite, offered, &create, &call);
    let Some(planned) = decode_usable_plan(offered, call) else { return };
    check_repeated_plan(suite, offered, &create, &planned).await;
    check_unknown_parts(suite, offered, &create, &planned).await;
    // For one configuration: these take many calls, and hardly depend on its values.
    if is_first {
        check_reordered_config(suite, offered, &create).await;
        check_null_differs_from_empty(suite, offered, &create).await;
        check_number_precision(suite, offered, &create).await;
        check_large_plan_speed(suite, offered, &create).await;
        check_config_as_proposal(suite, offered, &create).await;
        check_deferral_reason(suite, offered, &create).await;
    }
    check_canary_stays_sensitive(suite, offered, config).await;
    plan_change::check_plans_over_object(suite, offered, &create, &planned).await;
}

fn first_violation_path(findings: &[formwork_plugin_protocol::contract::Violation]) -> Path {
    findings.first().map(|it| it.path.clone()).unwrap_or_default()
}

fn check_private_data_size(suite: &mut Suite, subject: &str, call: &Call) {
    let Some(answer) = call.first_message() else { return };
    let (private, limit) = (answer.get_bytes(3).len(), private_data_limit(call));
    suite.record_case("P-13", private <= limit, || {
        Finding::new("P-13", subject, "the private data is large")
            .with_call(call)
            .with_expected_and_found(format!("at most {limit} bytes"), format!("{private} bytes"))
    });
}

/// Holds one plan to the rules of a host.
pub(super) fn check_plan_answer(
    suite: &mut Suite,
    offered: &OfferedType,
    input: &PlanInput,
    call: &Call,
) {
    let subject = offered.display_name();
    let Some(answer) = call.first_message().filter(|_| call.is_success()) else { return };
    let is_deferred = answer.get_msg(6);
    suite.record_case("P-17", is_deferred.is_none(), || {
        Finding::new("P-17", &subject, "the plan is deferred although the host does not allow it")
            .with_call(call)
    });
    let is_legacy = answer.get_bool(5);
    suite.record_case("P-18", !is_legacy, || {
        Finding::new("P-18", &subject, "the resource uses the legacy type system").with_call(call)
    });
    check_private_data_size(suite, &subject, call);
    let decoded = decode_dynamic(answer.get_msg(1), &offered.ty());
    let value = match decoded {
        Ok(Some(value)) => value,
        other => {
            let reason = other.err().unwrap_or_else(|| "it contains no planned value".to_owned());
            return suite.record_case("P-01", false, || {
                Finding::new("P-01", &subject, reason)
                    .with_call(call)
                    .with_input(display_value(&input.config))
            });
        }
    };
    let violations = type_violations(offered.block(), &value);
    suite.record_case(
        "P-01",
        violations.is_empty() && (input.config.is_null() || !value.value().is_null()),
        || {
            let message = violations
                .first()
                .map_or("the planned value is null".to_owned(), |it| it.message.clone());
            Finding::new("P-01", &subject, message)
                .with_path(first_violation_path(&violations))
                .with_call(call)
        },
    );
    // The rules below could only repeat it.
    if !violations.is_empty() || value.value().is_null() {
        return;
    }
    let secret = write_only_violations(offered.block(), &value);
    suite.record_case("P-04", secret.is_empty(), || {
        Finding::new("P-04", &subject, "a write-only attribute is planned")
            .with_path(first_violation_path(&secret))
            .with_call(call)
            .with_expected_and_found("null", "a value")
    });
    check_planned_identity(suite, offered, input, answer, call);
    if is_legacy {
        // Hosts only log what such a provider does here.
        return suite.note_skipped_rules(&["P-02", "P-03"], "the legacy type system allows it");
    }
    // The configuration has write-only values, and the plan must not, which P-04 has checked.
    let config = offered.block().with_null_write_only(&input.config);
    let findings =
        plan_violations(offered.block(), &to_plain(&input.prior), &to_plain(&config), &value);
    for rule in ["P-02", "P-03"] {
        // A violation of a rule about blocks has the path of a block, which is not an attribute.
        let is_block = |path: &Path| match path.0.last() {
            Some(formwork_value::Step::Attribute(_)) => {
                offered.block().attribute_at(path).is_none() && !path.0.is_empty()
            }
            _ => false,
        };
        let own_paths: Vec<_> =
            findings.iter().filter(|it| is_block(&it.path) == (rule == "P-03")).collect();
        // A case that held counts too, or the rule would be skipped.
        if own_paths.is_empty() {
            suite.record_case(rule, true, || Finding::new(rule, "", ""));
        }
        for finding in own_paths {
            let configured =
                finding.path.find(&input.config).map(display_value).unwrap_or_default();
            let planned = finding.path.find(value.value()).map(display_value).unwrap_or_default();
            suite.record_case(rule, false, || {
                Finding::new(rule, &subject, finding.message.clone())
                    .with_path(&finding.path)
                    .with_call(call)
                    .with_expected_and_found(configured, planned)
                    .with_input(display_value(&input.config))
            });
        }
    }
}

/// Whether an identity has the type of its schema.
pub(super) fn identity_problem(
    suite: &Suite,
    offered: &OfferedType,
    data: Option<Msg>,
) -> Option<String> {
    let data = data?;
    let Some((_, ty, _)) = suite.offer.identities.get(&offered.name) else {
        return Some("there is an identity, but no schema of it".to_owned());
    };
    match decode_dynamic(data.get_msg(1), ty) {
        Ok(_) => None,
        Err(reason) => Some(format!("the identity does not conform: {reason}")),
    }
}

fn check_planned_identity(
    suite: &mut Suite,
    offered: &OfferedType,
    input: &PlanInput,
    answer: &Msg,
    call: &Call,
) {
    if !suite.offer.identities.contains_key(&offered.name) && !answer.has_field(7) {
        return suite.note_skipped_rules(&["P-19"], "no resource type has an identity");
    }
    let mut problem = identity_problem(suite, offered, answer.get_msg(7));
    // Only a replacement may change it.
    if let (Some(prior), Some(planned), None) = (&input.identity, answer.get_msg(7), &problem)
        && let Some((_, ty, _)) = suite.offer.identities.get(&offered.name)
        && decode_dynamic(prior.get_msg(1), ty) != decode_dynamic(planned.get_msg(1), ty)
        && answer.repeated_messages(2).is_empty()
    {
        problem = Some("the identity of an existing object changes".to_owned());
    }
    suite.record_case("P-19", problem.is_none(), || {
        Finding::new("P-19", &offered.display_name(), problem.unwrap_or_default()).with_call(call)
    });
}

/// The same request again, and in another process.
async fn check_repeated_plan(
    suite: &mut Suite,
    offered: &OfferedType,
    create: &PlanInput,
    planned: &UsablePlan,
) {
    if !suite.is_rule_wanted("P-05") {
        return;
    }
    let request = request::plan_request(offered, create);
    let mut calls = Vec::new();
    for _ in 0..3 {
        calls.push(suite.call(Rpc::PlanResourceChange, &request).await);
    }
    // In another process, maps have another order and caches are empty.
    if let Ok(other_process) = suite.start_another_process().await {
        // A process without the configuration may lawfully have another plan.
        other_process
            .call(
                Rpc::ConfigureProvider,
                &request::configure_request(&suite.config),
                READ_ONLY_CALL_TIMEOUT,
            )
            .await;
        calls.push(
            other_process.call(Rpc::PlanResourceChange, &request, READ_ONLY_CALL_TIMEOUT).await,
        );
    }
    for call in calls {
        let second =
            decode_dynamic(call.first_message().and_then(|it| it.get_msg(1)), &offered.ty());
        let same_value = matches!(&second, Ok(Some(it)) if *it.value() == planned.value);
        // Sorted, because the order of the paths has no meaning.
        let paths = |message: Option<&Msg>| {
            let mut paths: Vec<_> = message
                .map(|it| it.repeated_messages(2).iter().map(Msg::encode).collect())
                .unwrap_or_default();
            paths.sort();
            paths
        };
        let held = same_value && paths(call.first_message()) == paths(Some(&planned.answer));
        let differs = match &second {
            Ok(Some(it)) => super::differing_paths(&planned.value, it.value()),
            _ => Vec::new(),
        };
        suite.record_case("P-05", held, || {
            let second_value =
                second.map(|it| it.map(|it| display_value(it.value())).unwrap_or_default());
            Finding::new("P-05", &offered.display_name(), "the same request gets two plans")
                .with_path(differs.first().cloned().unwrap_or_default())
                .with_call(&planned.call)
                .with_call(&call)
                .with_expected_and_found(
                    display_value(&planned.value),
                    second_value.unwrap_or_default(),
                )
                .with_input(display_value(&create.config))
        });
    }
}

/// Checks that values planned while an input was unknown hold when it is known.
async fn check_unknown_parts(
    suite: &mut Suite,
    offered: &OfferedType,
    create: &PlanInput,
    planned: &UsablePlan,
) {
    if !suite.is_rule_wanted("P-06") {
        return;
    }
    let paths = generate::settable_paths(offered.block(), &create.config);
    for (path, attribute) in paths.into_iter().take(20) {
        let is_set = path.find(&create.config).is_some_and(|it| !it.is_null());
        let unknown = Value::unknown(attribute.implied_type());
        let Some(config) =
            generate::replace_part(&create.config, &path, unknown).filter(|_| is_set)
        else {
            continue;
        };
        let earlier = plan_input(offered, create.prior.clone(), config);
        let Some(before) = plan_or_none(suite, offered, &earlier).await else { continue };
        if before.answer.get_bool(5) {
            return suite.note_skipped_rules(&["P-06"], "the legacy type system allows it");
        }
        // As between plan and apply: a known planned value must hold.
        let violations = compatibility_violations(
            offered.block(),
            &to_plain(&before.value),
            &to_plain(&planned.value),
        );
        suite.record_case("P-06", violations.is_empty(), || {
            let violation_path = first_violation_path(&violations);
            let part =
                |value: &Value| violation_path.find(value).map(display_value).unwrap_or_default();
            let message = format!("when {path} becomes known, a planned value changes");
            Finding::new("P-06", &offered.display_name(), message.replace(" .", " "))
                .with_path(&violation_path)
                .with_call(&before.call)
                .with_call(&planned.call)
                .with_expected_and_found(part(&before.value), part(&planned.value))
                .with_input(display_value(&earlier.config))
        });
    }
}

async fn check_null_differs_from_empty(
    suite: &mut Suite,
    offered: &OfferedType,
    create: &PlanInput,
) {
    if !suite.is_rule_wanted("P-15") {
        return;
    }
    for (path, attribute) in generate::settable_paths(offered.block(), &create.config) {
        // A computed attribute need not have the configured value.
        if attribute.role != Role::Optional || attribute.write_only {
            continue;
        }
        let empty = match attribute.implied_type() {
            Type::List(element) => Value::list((*element).clone(), Vec::new()),
            Type::Set(element) => Value::set((*element).clone(), Vec::new()),
            Type::Map(element) => Value::map((*element).clone(), Vec::<(String, Value)>::new()),
            _ => continue,
        };
        for part in [Value::null(attribute.implied_type()), empty] {
            let Some(config) = generate::replace_part(&create.config, &path, part.clone()) else {
                continue;
            };
            if !suite.call_validate(offered, &config).await.is_success() {
                continue;
            }
            let input = plan_input(offered, create.prior.clone(), config);
            let Some(planned) = plan_or_none(suite, offered, &input).await else { continue };
            // The old SDK cannot distinguish null from empty.
            if planned.answer.get_bool(5) {
                return suite.note_skipped_rules(&["P-15"], "the legacy type system allows it");
            }
            let got = path.find(&planned.value).cloned();
            suite.record_case("P-15", got.as_ref() == Some(&part), || {
                Finding::new("P-15", &offered.display_name(), "null and empty are not kept apart")
                    .with_path(&path)
                    .with_call(&planned.call)
                    .with_expected_and_found(
                        display_value(&part),
                        got.as_ref().map(display_value).unwrap_or_default(),
                    )
                    .with_input(display_value(&input.config))
            });
        }
    }
}
