//! Checks of data sources (D), ephemeral resources (E) and actions (X).

use formwork_value::schema::Role;
use formwork_value::{Path, Plain, Type, Value};

use super::{differing_paths, display_value};
use crate::finding::Finding;
use crate::generate::{self, ConfigExtent};
use crate::message::Msg;
use crate::offer::{Kind, OfferedType};
use crate::plugin::{Call, Reply};
use crate::request::{self, decode_dynamic, encode_dynamic};
use crate::rpc::Rpc;
use crate::suite::Suite;
use crate::violations::{type_violations, unknown_violations};

const NO_CONFIG_REASON: &str = "no legal configuration was found; give one with -examples";

/// Checks the families.
pub(super) async fn run(suite: &mut Suite) {
    if !suite.configured {
        let reason = "the provider cannot be configured";
        return suite.note_skipped_rules(
            &["D-01", "D-02", "D-03", "E-01", "E-02", "E-03", "X-01", "X-02"],
            reason,
        );
    }
    for kind in [Kind::DataSource, Kind::Ephemeral, Kind::Action] {
        let types: Vec<OfferedType> = suite.offer.usable_types_of_kind(kind).cloned().collect();
        for offered in types {
            if suite.is_run_over() {
                return;
            }
            match kind {
                Kind::DataSource if suite.wants_any(&["D-01", "D-02", "D-03"]) => {
                    check_data_source(suite, &offered).await;
                }
                Kind::Ephemeral if suite.wants_any(&["E-01", "E-02", "E-03"]) => {
                    check_ephemeral_resource(suite, &offered).await;
                }
                Kind::Action if suite.wants_any(&["X-01", "X-02"]) => {
                    check_action(suite, &offered).await;
                }
                _ => {}
            }
        }
    }
}

fn request_with_config(offered: &OfferedType, config: &Value) -> Msg {
    Msg::new().with_text(1, &offered.name).with_message(2, &encode_dynamic(config, &offered.ty()))
}

/// Looks for an object that does not exist.
async fn check_data_not_found(suite: &mut Suite, offered: &OfferedType, config: &Value) {
    if !suite.is_rule_wanted("D-03") {
        return;
    }
    let mut made_up_config = config.clone();
    // All strings together, because the one that an object is found by is not known.
    for (path, attribute) in generate::settable_paths(offered.block(), config) {
        let is_text = attribute.implied_type() == Type::String;
        if is_text && path.find(config).is_some_and(|it| !it.is_null()) {
            let text = Value::string("conformance-no-such-object-7f3a");
            made_up_config =
                generate::replace_part(&made_up_config, &path, text).unwrap_or(made_up_config);
        }
    }
    if made_up_config == *config
        || !suite.call_validate(offered, &made_up_config).await.is_success()
    {
        let reason = "no data source has a string argument to search by";
        return suite.note_skipped_rules(&["D-03"], reason);
    }
    let request = request_with_config(offered, &made_up_config)
        .with_message(4, &request::client_capabilities());
    let call = suite.call(Rpc::ReadDataSource, &request).await;
    let state = decode_dynamic(call.first_message().and_then(|it| it.get_msg(1)), &offered.ty())
        .ok()
        .flatten();
    let computed = offered.block().attributes.iter().filter(|(_, it)| it.role.is_computed());
    let parts: Vec<Value> = computed
        .filter_map(|(name, _)| {
            let state = state.as_ref()?;
            Path::root().attribute(name.clone()).find(state.value()).cloned()
        })
        .collect();
    // Null and an object of nulls both mean that no object was found.
    let is_nothing = state.as_ref().is_none_or(|it| it.value().is_null())
        || (!parts.is_empty() && parts.iter().all(Value::is_null));
    if call.is_success() && !is_nothing {
        return suite
            .note_skipped_rules(&["D-03"], "every data source finds an object for any string");
    }
    suite.record_case("D-03", !call.is_success(), || {
        Finding::new(
            "D-03",
            &offered.display_name(),
            "no object is found, and no error is reported",
        )
        .with_call(&call)
        .with_expected_and_found("an error", "null, or an object of nulls")
        .with_input(display_value(&made_up_config))
    });
}

async fn check_data_source(suite: &mut Suite, offered: &OfferedType) {
    let subject = offered.display_name();
    let configs = suite.legal_configs(offered).await;
    match configs.first() {
        Some(config) => check_data_not_found(suite, offered, config).await,
        None => suite.note_skipped_rules(&["D-01", "D-02", "D-03"], NO_CONFIG_REASON),
    }
    for config in configs.iter().take(3) {
        let request =
            request_with_config(offered, config).with_message(4, &request::client_capabilities());
        let call = suite.call(Rpc::ReadDataSource, &request).await;
        suite.check_survives_call("D-01", &call, || {
            Finding::new("D-01", &subject, "reading crashes or hangs")
                .with_call(&call)
                .with_input(display_value(config))
        });
        let Some(answer) = call.first_message().filter(|_| call.is_success()) else {
            suite.note_skipped_rules(&["D-01", "D-02"], "no data source could be read");
            continue;
        };
        let state = decode_dynamic(answer.get_msg(1), &offered.ty());
        let problem = find_state_problem(offered, config, &state);
        suite.record_case("D-01", problem.is_none(), || {
            let (path, message) = problem.unwrap_or_default();
            Finding::new("D-01", &subject, message)
                .with_path(path)
                .with_call(&call)
                .with_input(display_value(config))
        });
        // Data is read again in every run, where each difference looks like a change.
        let repeated = suite.call(Rpc::ReadDataSource, &request).await;
        let second =
            decode_dynamic(repeated.first_message().and_then(|it| it.get_msg(1)), &offered.ty());
        if let (Ok(Some(first)), Ok(Some(second))) = (state, second) {
            let differs = differing_paths(first.value(), second.value());
            suite.record_case("D-02", differs.is_empty(), || {
                Finding::new("D-02", &subject, "reading twice gives two answers")
                    .with_path(differs.first().cloned().unwrap_or_default())
                    .with_call(&call)
                    .with_call(&repeated)
                    .with_expected_and_found(
                        display_value(first.value()),
                        display_value(second.value()),
                    )
                    .with_input(display_value(config))
            });
        }
    }
}

/// Returns the first fault of the state that a data source answered, with its path.
fn find_state_problem(
    offered: &OfferedType,
    config: &Value,
    state: &Result<Option<Plain>, String>,
) -> Option<(Path, String)> {
    match state {
        Err(reason) => Some((Path::root(), reason.clone())),
        Ok(None) => Some((Path::root(), "the answer has no state".to_owned())),
        Ok(Some(value)) if value.value().is_null() => {
            Some((Path::root(), "the state is null without an error".to_owned()))
        }
        Ok(Some(value)) => type_violations(offered.block(), value)
            .into_iter()
            .chain(unknown_violations(value, offered.block()))
            .next()
            .map(|it| (it.path, it.message))
            // Terraform does not compare these, but expressions over the data rely on them.
            .or_else(|| find_altered_attribute(offered, config, value.value())),
    }
}

/// The first configured attribute that is not returned as it was configured.
fn find_altered_attribute(
    offered: &OfferedType,
    config: &Value,
    state: &Value,
) -> Option<(Path, String)> {
    offered.block().attributes.iter().find_map(|(name, attribute)| {
        let path = Path::root().attribute(name.clone());
        let (configured, returned) = (path.find(config)?, path.find(state)?);
        let is_own = matches!(attribute.role, Role::Required | Role::Optional);
        let counts = is_own && !configured.is_null() && !attribute.write_only;
        (counts && configured != returned).then(|| {
            (
                path.clone(),
                format!(
                    "configured {}, returned {}",
                    display_value(configured),
                    display_value(returned)
                ),
            )
        })
    })
}

async fn check_ephemeral_resource(suite: &mut Suite, offered: &OfferedType) {
    let subject = offered.display_name();
    let configs = suite.legal_configs(offered).await;
    let Some(config) = configs.first() else {
        return suite.note_skipped_rules(&["E-01", "E-02", "E-03"], NO_CONFIG_REASON);
    };
    let request =
        request_with_config(offered, config).with_message(3, &request::client_capabilities());
    let open = suite.call_changing(Rpc::OpenEphemeralResource, &request).await;
    suite.check_survives_call("E-01", &open, || {
        Finding::new("E-01", &subject, "opening crashes or hangs")
            .with_call(&open)
            .with_input(display_value(config))
    });
    let Some(answer) = open.first_message().filter(|_| open.is_success()).cloned() else {
        return suite.note_skipped_rules(
            &["E-01", "E-02", "E-03"],
            "no ephemeral resource could be opened",
        );
    };
    let result = decode_dynamic(answer.get_msg(3), &offered.ty());
    let problem = match &result {
        Err(reason) => Some(reason.clone()),
        Ok(None) => Some("the answer has no result".to_owned()),
        Ok(Some(value)) => {
            unknown_violations(value, offered.block()).first().map(ToString::to_string)
        }
    };
    suite.record_case("E-01", problem.is_none(), || {
        Finding::new("E-01", &subject, problem.clone().unwrap_or_default()).with_call(&open)
    });
    let private = answer.get_bytes(4);
    let keep = || Msg::new().with_text(1, &offered.name).with_bytes(2, private.clone());
    if let Some(renew_at) = answer.get_msg(2) {
        let now = now_seconds();
        // Whole seconds are compared, so one is granted for rounding.
        suite.record_case("E-01", renew_at.get_int(1) + 1 >= now, || {
            Finding::new("E-01", &subject, "the time to renew is over already")
                .with_call(&open)
                .with_expected_and_found(format!("after {now}"), renew_at.get_int(1).to_string())
        });
        let renew = suite.call_changing(Rpc::RenewEphemeralResource, &keep()).await;
        suite.record_case("E-01", renew.has_reply(), || {
            Finding::new("E-01", &subject, "renewing brings it down").with_call(&renew)
        });
    }
    // With the private data of the opening, as Terraform does it.
    let close = suite.call_changing(Rpc::CloseEphemeralResource, &keep()).await;
    suite.record_case("E-01", close.is_success(), || {
        Finding::new("E-01", &subject, "closing fails").with_call(&close)
    });
    let second_close = suite.call_changing(Rpc::CloseEphemeralResource, &keep()).await;
    suite.record_case("E-03", !second_close.is_crash_or_hang(), || {
        Finding::new("E-03", &subject, "closing twice brings it down").with_call(&second_close)
    });
    if let Ok(Some(value)) = result {
        check_no_secret_leak(suite, offered, value.value(), &open);
    }
}

/// The result must not be in the log or in diagnostics.
fn check_no_secret_leak(suite: &mut Suite, offered: &OfferedType, result: &Value, open: &Call) {
    let mut secrets: Vec<String> = Vec::new();
    let paths = offered.block().sensitive_paths(result);
    result.walk(&mut |path, part| {
        let is_secret = paths.iter().any(|secret_path| path.starts_with(secret_path));
        if let Value::String(text) = part
            && is_secret
            // A shorter string may be in a log by chance.
            && text.as_str().len() >= 8
        {
            secrets.push(text.as_str().to_owned());
        }
        true
    });
    if secrets.is_empty() {
        return suite.note_skipped_rules(
            &["E-02"],
            "no ephemeral resource has a sensitive text in its result",
        );
    }
    let printed = suite.plugin().map(|it| it.stderr()).unwrap_or_default();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    let reported: Vec<String> = open.diagnostics().iter().map(|it| it.one_line()).collect();
    let leak = secrets
        .iter()
        .any(|it| printed.contains(it) || reported.iter().any(|line| line.contains(it)));
    suite.record_case("E-02", !leak, || {
        Finding::new("E-02", &offered.display_name(), "the result is in the log or in a diagnostic")
    });
}

#[expect(clippy::disallowed_methods, reason = "deadlines of leases are times of day")]
fn now_seconds() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |it| it.as_secs())
}

async fn check_action(suite: &mut Suite, offered: &OfferedType) {
    let subject = offered.display_name();
    let unknown = suite.generate_config(offered, ConfigExtent::Unknown, 0);
    let configs = suite.legal_configs(offered).await;
    let mut requests = vec![unknown];
    requests.extend(configs.first().cloned());
    if let Some(config) = configs.first() {
        // An action may be planned while values of its configuration are still to come.
        for (path, attribute) in
            generate::settable_paths(offered.block(), config).into_iter().take(10)
        {
            let part = Value::unknown(attribute.implied_type());
            requests.extend(generate::replace_part(config, &path, part));
        }
    }
    for config in requests {
        let request =
            request_with_config(offered, &config).with_message(3, &request::client_capabilities());
        let call = suite.call(Rpc::PlanAction, &request).await;
        suite.record_case("X-01", call.has_reply(), || {
            Finding::new("X-01", &subject, "planning an action brings it down")
                .with_call(&call)
                .with_input(display_value(&config))
        });
    }
    if !suite.is_rule_wanted("X-02") {
        return;
    }
    let Some(config) = configs.first() else {
        return suite.note_skipped_rules(&["X-02"], NO_CONFIG_REASON);
    };
    let request =
        request_with_config(offered, config).with_message(3, &request::client_capabilities());
    let call = suite.call_changing(Rpc::InvokeAction, &request).await;
    let problem = match &call.reply {
        Reply::Answered(events) => {
            // The protocol requires one completion as the last event. gRPC does not enforce this.
            let ends = events.iter().filter(|it| it.has_field(2)).count();
            let is_last = events.last().is_some_and(|it| it.has_field(2));
            (ends != 1 || !is_last)
                .then(|| format!("{ends} completions in {} events", events.len()))
        }
        Reply::Refused(..) => None,
        _ => Some("no event, or the provider has exited".to_owned()),
    };
    suite.record_case("X-02", problem.is_none(), || {
        Finding::new("X-02", &subject, problem.unwrap_or_default())
            .with_call(&call)
            .with_expected_and_found("one completion as the last event", "")
            .with_input(display_value(config))
    });
}
