//! Checks of unusual plans (P): large collections, other proposals, deferral and tainted objects.

use formwork_value::{Number, Path, Type, Value};

use super::super::{display_value, null_object, validate};
use super::{plan_input, plan_or_none};
use crate::finding::Finding;
use crate::generate;
use crate::message::Msg;
use crate::offer::OfferedType;
use crate::plugin::Call;
use crate::request::{self, PlanInput};
use crate::rpc::Rpc;
use crate::suite::Suite;

pub(super) async fn check_large_plan_speed(
    suite: &mut Suite,
    offered: &OfferedType,
    create: &PlanInput,
) {
    if !suite.is_rule_wanted("P-22") {
        return;
    }
    let mut configs = vec![create.config.clone()];
    configs.extend(suite.legal_configs(offered).await);
    let enlarged =
        configs.iter().find_map(|config| validate::with_thousand_elements(offered, config));
    let Some((path, config)) = enlarged else { return };
    // A refusal is quick, and is not a measure for the time of a plan.
    if !suite.call_validate(offered, &config).await.is_success() {
        return;
    }
    let input = plan_input(offered, create.prior.clone(), config);
    let mut best: Option<Call> = None;
    // The quickest of three, because other work can only make a call slower.
    for _ in 0..3 {
        let call =
            suite.call(Rpc::PlanResourceChange, &request::plan_request(offered, &input)).await;
        if best.as_ref().is_none_or(|best| call.recorded.duration < best.recorded.duration) {
            best = Some(call);
        }
    }
    let Some(call) = best else { return };
    suite.record_case(
        "P-22",
        call.has_reply() && call.recorded.duration.as_millis() < 2000,
        || {
            Finding::new("P-22", &offered.display_name(), "1,000 elements take long to plan")
                .with_path(&path)
                .with_call(&call)
                .with_expected_and_found(
                    "less than 2 s",
                    format!("{} ms", call.recorded.duration.as_millis()),
                )
        },
    );
}

/// Plans with the plain configuration as the proposed value, to create and over an existing object:
/// hosts merge them in their own way.
pub(super) async fn check_config_as_proposal(
    suite: &mut Suite,
    offered: &OfferedType,
    create: &PlanInput,
) {
    if !suite.is_rule_wanted("P-08") {
        return;
    }
    let mut inputs = vec![PlanInput { proposed: create.config.clone(), ..create.clone() }];
    if let Some(planned) = plan_or_none(suite, offered, create).await {
        let mut dice = suite.seeded_dice(&format!("fill {}", offered.name));
        let prior = generate::fill_unknown_parts(offered.block(), &planned.value, &mut dice);
        inputs.push(PlanInput { prior, proposed: create.config.clone(), ..create.clone() });
    }
    for input in inputs {
        let call =
            suite.call(Rpc::PlanResourceChange, &request::plan_request(offered, &input)).await;
        suite.record_case("P-08", call.has_reply(), || {
            Finding::new(
                "P-08",
                &offered.display_name(),
                "the plain configuration as proposed value crashes it",
            )
            .with_call(&call)
            .with_input(display_value(&create.config))
        });
    }
}

pub(super) async fn check_deferral_reason(
    suite: &mut Suite,
    offered: &OfferedType,
    create: &PlanInput,
) {
    // In this request, the host allows deferral.
    let request = request::plan_request(offered, create)
        .replace_field(7, Msg::new().with_nonzero_int(1, 1).with_nonzero_int(2, 1).encode());
    let call = suite.call(Rpc::PlanResourceChange, &request).await;
    let reason = call.first_message().and_then(|it| it.get_msg(6)).map(|it| it.get_int(1));
    // 0 is not a valid reason.
    let held = reason.is_none_or(|reason| (1..=3).contains(&reason));
    suite.record_case("P-17", held, || {
        Finding::new("P-17", &offered.display_name(), "a deferral has no reason")
            .with_call(&call)
            .with_expected_and_found("1 to 3", format!("{reason:?}"))
    });
}

/// A canary in a sensitive attribute must not show up in one that is not.
pub(super) async fn check_canary_stays_sensitive(
    suite: &mut Suite,
    offered: &OfferedType,
    config: &Value,
) {
    if !suite.is_rule_wanted("K-02") {
        return;
    }
    let (planted, paths) = suite.secrets.plant_canary(offered.block(), config);
    if paths.is_empty() || !suite.call_validate(offered, &planted).await.is_success() {
        return;
    }
    let input = plan_input(offered, null_object(&offered.ty()), planted);
    let Some(planned) = plan_or_none(suite, offered, &input).await else { return };
    // Hosts redact these attributes, so they may contain a secret.
    let mut hidden = offered.block().sensitive_paths(&planned.value);
    hidden.extend(offered.block().write_only_paths(&planned.value));
    let mut leak: Option<Path> = None;
    let secrets = suite.secrets.clone();
    planned.value.walk(&mut |path, part| {
        if let Value::String(text) = part
            && secrets.holds_canary(text.as_str().as_bytes())
            && !hidden.iter().any(|sensitive_path| path.starts_with(sensitive_path))
        {
            leak = Some(path.clone());
        }
        true
    });
    suite.record_case("K-02", leak.is_none(), || {
        Finding::new(
            "K-02",
            &offered.display_name(),
            "a sensitive value shows up in an attribute that is not",
        )
        .with_path(leak.unwrap_or_default())
        .with_call(&planned.call)
        .with_input(display_value(&input.config))
    });
}

pub(super) async fn check_number_precision(
    suite: &mut Suite,
    offered: &OfferedType,
    create: &PlanInput,
) {
    if !suite.is_rule_wanted("P-21") {
        return;
    }
    for (path, attribute) in generate::settable_paths(offered.block(), &create.config) {
        if attribute.implied_type() != Type::Number || attribute.write_only {
            continue;
        }
        // 2^53 + 1, which a float rounds; more than 64 bits; and more digits than a fixed point
        // has.
        for text in ["9007199254740993", "10000000000000000000000000000000000000000", "1e-30"] {
            let Some(number) = Number::parse(text).map(Value::Number) else { continue };
            let Some(config) = generate::replace_part(&create.config, &path, number.clone()) else {
                continue;
            };
            if !suite.call_validate(offered, &config).await.is_success() {
                continue;
            }
            let input = plan_input(offered, create.prior.clone(), config);
            let Some(planned) = plan_or_none(suite, offered, &input).await else { continue };
            let got = path.find(&planned.value).cloned();
            suite.record_case("P-21", got.as_ref() == Some(&number), || {
                Finding::new("P-21", &offered.display_name(), "a number is rounded")
                    .with_path(&path)
                    .with_call(&planned.call)
                    .with_expected_and_found(
                        text,
                        got.as_ref().map(display_value).unwrap_or_default(),
                    )
                    .with_input(display_value(&input.config))
            });
        }
    }
}
