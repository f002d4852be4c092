//! Checks of validation (V): generated, mutated and odd configurations of every type.

use std::time::Duration;

use bytes::Bytes;
use formwork_value::schema::{Attribute, Role};
use formwork_value::{Path, Type, Value};

use super::display_value;
use crate::finding::Finding;
use crate::generate::{self, ConfigExtent};
use crate::legal_config::diagnostic_path;
use crate::message::Msg;
use crate::offer::{Kind, OfferedType};
use crate::plugin::{Call, truncate};
use crate::request;
use crate::rpc::{Diag, Rpc};
use crate::suite::Suite;

/// The most attributes of one type that are mutated singly.
const MAX_MUTATED_ATTRIBUTES: usize = 40;

/// Checks the family.
pub(super) async fn run(suite: &mut Suite) {
    let mut types: Vec<OfferedType> =
        suite.offer.types.iter().filter(|it| it.is_whole).cloned().collect();
    // State stores are configured before anything else, so their validation is checked as well.
    types.sort_by_key(|it| it.kind);
    for offered in &types {
        if suite.is_run_over() {
            return;
        }
        if suite.wants_any(&["V-01", "V-05", "Z-12"]) {
            check_generated_configs(suite, offered).await;
        }
        if suite.wants_any(&["V-02", "V-03", "V-04", "V-06", "V-07", "V-08", "V-10"]) {
            check_variants_of_legal_configs(suite, offered).await;
        }
    }
    check_malformed_requests(suite, &types).await;
    check_examples(suite, &types).await;
}

async fn check_generated_configs(suite: &mut Suite, offered: &OfferedType) {
    let extents =
        [ConfigExtent::Nothing, ConfigExtent::Required, ConfigExtent::All, ConfigExtent::Unknown];
    let random = (0..20).map(|number| (ConfigExtent::Random, number));
    for (extent, number) in extents.into_iter().map(|it| (it, 0)).chain(random) {
        let config = suite.generate_config(offered, extent, number);
        let call = suite.call_validate(offered, &config).await;
        // Shrunk, so that the finding shows what matters.
        if call.is_crash_or_hang() && suite.is_rule_wanted("V-01") {
            let shrunk = suite.shrink_crashing_config(offered, &config).await;
            suite.record_case("V-01", false, || {
                Finding::new("V-01", &offered.display_name(), "validation crashes or hangs")
                    .with_call(&call)
                    .with_input(display_value(&shrunk))
            });
            // One crash is enough, and each costs a restart.
            return;
        }
        suite.record_case("V-01", true, || Finding::new("V-01", "", ""));
        check_diagnostic_form(suite, offered, &config, &call);
    }
}

/// Checks the form of the diagnostics of one call.
fn check_diagnostic_form(suite: &mut Suite, offered: &OfferedType, config: &Value, call: &Call) {
    if !suite.is_rule_wanted("V-05") {
        return;
    }
    for diag in call.diagnostics() {
        let path = diag.path.as_ref().map(diagnostic_path).unwrap_or_default();
        let first = path.0.first();
        let exists = first.is_none()
            || offered.block().attribute_at(&path).is_some()
            || path.find(config).is_some()
            || matches!(first, Some(formwork_value::Step::Attribute(name))
                if offered.block().blocks.contains_key(name.as_str()));
        let problem = if diag.summary.trim().is_empty() {
            Some("the summary is empty")
        // 0 is neither error nor warning: Terraform would show it and continue.
        } else if !matches!(diag.severity, 1 | 2) {
            Some("the severity is not known")
        } else if !diag.is_text {
            Some("the message is not valid UTF-8")
        } else if !exists {
            Some("the path is not in the schema")
        } else {
            None
        };
        suite.record_case("V-05", problem.is_none(), || {
            Finding::new("V-05", &offered.display_name(), problem.unwrap_or_default())
                .with_path(&path)
                .with_call(call)
                .with_expected_and_found(
                    "a diagnostic that can be shown",
                    truncate(&diag.one_line(), 200),
                )
                .with_input(display_value(config))
        });
    }
}

async fn check_variants_of_legal_configs(suite: &mut Suite, offered: &OfferedType) {
    let configs = suite.legal_configs(offered).await;
    if configs.is_empty() {
        let reason = "no legal configuration was found; give one with -examples";
        suite.note_skipped_rules(&["V-02", "V-03", "V-04", "V-07", "V-08", "V-10"], reason);
    }
    for config in configs.iter().take(2) {
        check_unknown_parts(suite, offered, config).await;
        check_repeated_call(suite, offered, config).await;
        check_missing_required(suite, offered, config).await;
        check_secret_leak(suite, offered, config).await;
        check_write_only_from_old_host(suite, offered, config).await;
    }
    if let Some(config) = configs.first() {
        check_large_config(suite, offered, config).await;
    }
}

fn first_error_line(call: &Call) -> String {
    let error = call.diagnostics().into_iter().find(Diag::is_error);
    error.map(|it| truncate(&it.one_line(), 300)).unwrap_or_else(|| call.describe_outcome())
}

/// A known value of an attribute.
fn generate_known_value(suite: &Suite, path: &Path, attribute: &Attribute) -> Value {
    let name = match path.0.last() {
        Some(formwork_value::Step::Attribute(name)) => name.as_str().to_owned(),
        _ => String::new(),
    };
    let mut dice = suite.seeded_dice(&name);
    generate::generate_value(&name, &attribute.implied_type(), ConfigExtent::Required, &mut dice)
}

async fn check_unknown_parts(suite: &mut Suite, offered: &OfferedType, config: &Value) {
    if !suite.wants_any(&["V-02", "V-03"]) {
        return;
    }
    for (path, attribute) in
        generate::settable_paths(offered.block(), config).into_iter().take(MAX_MUTATED_ATTRIBUTES)
    {
        let Some(part) = path.find(config) else { continue };
        let is_both = attribute.role == Role::OptionalComputed;
        if part.is_null() && !is_both {
            continue;
        }
        let unknown = Value::unknown(attribute.implied_type());
        let Some(changed) = generate::replace_part(config, &path, unknown) else { continue };
        // The unknown is legal only if some value is: `conflicts` may exclude them all, and the `id`
        // of the legacy SDK has none.
        if part.is_null() {
            let known_value = generate_known_value(suite, &path, &attribute);
            let Some(known_value) = generate::replace_part(config, &path, known_value) else {
                continue;
            };
            if !suite.call_validate(offered, &known_value).await.is_success() {
                continue;
            }
        }
        let call = suite.call_validate(offered, &changed).await;
        let rule = if is_both { "V-03" } else { "V-02" };
        suite.record_case(rule, call.is_success(), || {
            Finding::new(
                rule,
                &offered.display_name(),
                "a legal configuration is refused with an unknown value",
            )
            .with_path(&path)
            .with_call(&call)
            .with_expected_and_found("no error", first_error_line(&call))
            .with_input(display_value(&changed))
        });
    }
}

/// The diagnostics in an order that does not depend on maps.
fn sorted_diagnostic_lines(call: &Call) -> Vec<String> {
    let mut lines: Vec<String> =
        call.diagnostics().iter().map(|it| format!("{} {}", it.severity, it.one_line())).collect();
    // Diagnostics may come in any order, as from concurrent checks.
    lines.sort();
    lines.push(if call.has_reply() { String::new() } else { call.describe_outcome() });
    lines
}

async fn check_repeated_call(suite: &mut Suite, offered: &OfferedType, config: &Value) {
    if !suite.is_rule_wanted("V-04") {
        return;
    }
    let empty = suite.generate_config(offered, ConfigExtent::Nothing, 0);
    for value in [config.clone(), empty] {
        let first = suite.call_validate(offered, &value).await;
        for number in 0..3 {
            // Another call in between must not matter.
            let other_config = suite.generate_config(offered, ConfigExtent::Random, number);
            suite.call_validate(offered, &other_config).await;
            let second = suite.call_validate(offered, &value).await;
            suite.record_case(
                "V-04",
                sorted_diagnostic_lines(&first) == sorted_diagnostic_lines(&second),
                || {
                    Finding::new(
                        "V-04",
                        &offered.display_name(),
                        "the same configuration gets two answers",
                    )
                    .with_call(&first)
                    .with_call(&second)
                    .with_expected_and_found(first.describe_outcome(), second.describe_outcome())
                    .with_input(display_value(&value))
                },
            );
        }
    }
}

async fn check_missing_required(suite: &mut Suite, offered: &OfferedType, config: &Value) {
    if !suite.is_rule_wanted("V-06") {
        return;
    }
    for (path, attribute) in
        generate::settable_paths(offered.block(), config).into_iter().take(MAX_MUTATED_ATTRIBUTES)
    {
        if attribute.role != Role::Required || path.0.len() > 1 {
            continue;
        }
        let null = Value::null(attribute.implied_type());
        let Some(changed) = generate::replace_part(config, &path, null) else { continue };
        let call = suite.call_validate(offered, &changed).await;
        // A host refuses it before the provider receives it, so a missing error is harmless.
        let errors: Vec<Diag> = call.diagnostics().into_iter().filter(Diag::is_error).collect();
        let is_at_attribute = |it: &Diag| {
            it.path
                .as_ref()
                .map(diagnostic_path)
                .is_some_and(|diag_path| diag_path.starts_with(&path))
        };
        suite.record_case("V-06", errors.is_empty() || errors.iter().any(is_at_attribute), || {
            Finding::new(
                "V-06",
                &offered.display_name(),
                "a missing attribute is reported elsewhere",
            )
            .with_path(&path)
            .with_call(&call)
            .with_expected_and_found("an error at the attribute", first_error_line(&call))
            .with_input(display_value(&changed))
        });
    }
}

async fn check_secret_leak(suite: &mut Suite, offered: &OfferedType, config: &Value) {
    if !suite.is_rule_wanted("V-07") {
        return;
    }
    let full = suite.generate_config(offered, ConfigExtent::All, 0);
    for base in [config, &full] {
        let (planted, paths) = suite.secrets.plant_canary(offered.block(), base);
        if paths.is_empty() {
            continue;
        }
        let call = suite.call_validate(offered, &planted).await;
        let reported = call.diagnostics();
        let leak = reported
            .iter()
            .find(|it| suite.secrets.holds_canary(it.one_line().as_bytes()))
            .cloned();
        suite.record_case("V-07", leak.is_none(), || {
            Finding::new("V-07", &offered.display_name(), "a diagnostic contains a sensitive value")
                .with_call(&call)
                .with_expected_and_found(
                    "no value",
                    leak.map(|it| it.one_line()).unwrap_or_default(),
                )
                .with_input(display_value(&planted))
        });
    }
}

async fn check_write_only_from_old_host(suite: &mut Suite, offered: &OfferedType, config: &Value) {
    if !suite.is_rule_wanted("V-10") || offered.kind != Kind::Resource {
        return;
    }
    let is_set = |config: &Value| {
        let paths = generate::settable_paths(offered.block(), config);
        paths.iter().any(|(path, attribute)| {
            attribute.write_only && path.find(config).is_some_and(|it| !it.is_null())
        })
    };
    // The legal configuration may set no write-only value, and the full one does.
    let full = suite.generate_config(offered, ConfigExtent::All, 0);
    let Some(config) = [config, &full].into_iter().find(|it| is_set(it)) else { return };
    // Without capabilities, as of hosts before 5.8 and 6.8.
    let request = request::validate_request(offered, config).without_field(3);
    let call = suite.call(Rpc::ValidateResourceConfig, &request).await;
    let is_refused = call.diagnostics().iter().any(Diag::is_error);
    suite.record_case("V-10", is_refused, || {
        Finding::new(
            "V-10",
            &offered.display_name(),
            "a write-only value is accepted from an old host",
        )
        .with_call(&call)
        .with_expected_and_found("an error", call.describe_outcome())
        .with_input(display_value(config))
    });
}

/// The value with a thousand elements in one collection of strings or numbers.
pub(super) fn with_thousand_elements(
    offered: &OfferedType,
    config: &Value,
) -> Option<(Path, Value)> {
    let paths = generate::settable_paths(offered.block(), config);
    paths.into_iter().find_map(|(path, attribute)| {
        let part = path.find(config)?;
        if part.is_null() {
            return None;
        }
        let text = |index: usize| Value::string(format!("item{index}"));
        let large = match attribute.implied_type() {
            Type::List(element) if *element == Type::String => {
                Value::list(Type::String, (0..1000).map(text).collect())
            }
            Type::Set(element) if *element == Type::String => {
                Value::set(Type::String, (0..1000).map(text).collect())
            }
            Type::Map(element) if *element == Type::String => Value::map(
                Type::String,
                (0..1000).map(|index| (format!("key{index}"), text(index))),
            ),
            _ => return None,
        };
        Some((path.clone(), generate::replace_part(config, &path, large)?))
    })
}

async fn check_large_config(suite: &mut Suite, offered: &OfferedType, config: &Value) {
    if !suite.is_rule_wanted("V-08") {
        return;
    }
    let full = suite.generate_config(offered, ConfigExtent::All, 0);
    let Some((path, value)) =
        with_thousand_elements(offered, config).or_else(|| with_thousand_elements(offered, &full))
    else {
        return;
    };
    let mut best: Option<Call> = None;
    // The best of several, so that a busy machine is not blamed on the provider.
    for _ in 0..3 {
        let call = suite.call_validate(offered, &value).await;
        if best.as_ref().is_none_or(|best| call.recorded.duration < best.recorded.duration) {
            best = Some(call);
        }
        // Quick enough: further attempts would only take time.
        if best.as_ref().is_some_and(|best| best.recorded.duration < Duration::from_millis(300)) {
            break;
        }
    }
    let Some(call) = best else { return };
    suite.record_case(
        "V-08",
        call.has_reply() && call.recorded.duration < Duration::from_secs(1),
        || {
            Finding::new("V-08", &offered.display_name(), "1,000 elements take long to validate")
                .with_path(&path)
                .with_call(&call)
                .with_expected_and_found(
                    "less than 1 s",
                    format!("{} ms", call.recorded.duration.as_millis()),
                )
        },
    );
}

async fn check_malformed_requests(suite: &mut Suite, types: &[OfferedType]) {
    if !suite.is_rule_wanted("V-09") {
        return;
    }
    for offered in types.iter().take(60) {
        let rpc = request::validate_rpc(offered.kind);
        let ty = offered.ty();
        let config = suite.generate_config(offered, ConfigExtent::Required, 0);
        let unknown_type = OfferedType { name: "no_such_type".to_owned(), ..offered.clone() };
        // An unknown type, no value, JSON (legal, though Terraform never sends it), and an empty
        // message.
        let requests = [
            request::validate_request(&unknown_type, &config),
            request::validate_request_with_dynamic(offered, &Msg::new()),
            request::validate_request_with_dynamic(
                offered,
                &request::encode_dynamic_json(&config, &ty),
            ),
            Msg::new(),
        ];
        for request in requests {
            let call = suite.call(rpc, &request).await;
            suite.record_case("V-09", call.has_reply(), || {
                Finding::new("V-09", &offered.display_name(), "an odd request crashes the provider")
                    .with_call(&call)
            });
        }
    }
    let call = suite.call_with_deadline(
        Rpc::ValidateProviderConfig,
        vec![Bytes::new()],
        crate::suite::READ_ONLY_CALL_TIMEOUT,
    );
    let call = call.await;
    suite.record_case("V-09", call.has_reply(), || {
        Finding::new("V-09", "provider", "an empty request crashes the provider").with_call(&call)
    });
}

async fn check_examples(suite: &mut Suite, types: &[OfferedType]) {
    if !suite.is_rule_wanted("V-11") {
        return;
    }
    if suite.options.examples.is_empty() {
        return suite.note_skipped_rules(&["V-11"], "no examples were given with -examples");
    }
    for offered in types {
        for (file, example) in suite.examples_of(offered) {
            let value = match example {
                Ok(value) => value,
                Err(reason) => {
                    suite.record_case("V-11", false, || {
                        Finding::new("V-11", &offered.display_name(), format!("{file}: {reason}"))
                    });
                    continue;
                }
            };
            let call = suite.call_validate(offered, &value).await;
            suite.record_case("V-11", call.is_success(), || {
                Finding::new("V-11", &offered.display_name(), format!("{file} does not validate"))
                    .with_call(&call)
                    .with_expected_and_found("no error", first_error_line(&call))
                    .with_input(display_value(&value))
            });
        }
    }
}
