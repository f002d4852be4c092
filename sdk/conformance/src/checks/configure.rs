//! Checks of Configure (C); leaves the running provider configured if that is possible.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use formwork_value::schema::Attribute;
use formwork_value::{Step, Type, Value};

use super::display_value;
use crate::finding::{Finding, path_as_message_prefix};
use crate::generate::{self, ConfigExtent};
use crate::message::Msg;
use crate::offer::{Kind, OfferedType};
use crate::plugin::{Call, Plugin};
use crate::request::{self, PlanInput, encode_dynamic};
use crate::rpc::Rpc;
use crate::suite::{CHANGING_CALL_TIMEOUT, Suite};

/// Checks the family.
pub(super) async fn run(suite: &mut Suite) {
    let Some(provider) = suite.offer.provider_schema().cloned() else {
        return suite.note_skipped_rules(
            &["C-01", "C-02", "C-04", "C-06", "C-07"],
            "no provider schema exists",
        );
    };
    check_calls_before_configure(suite).await;
    let ty = provider.ty();
    let empty = suite.generate_config(&provider, ConfigExtent::Nothing, 0);
    let unknown = suite.generate_config(&provider, ConfigExtent::Unknown, 0);
    for (rule, config, case) in [
        ("C-01", super::null_object(&ty), "a null configuration"),
        ("C-01", empty.clone(), "an empty configuration"),
        ("C-02", unknown, "a configuration of unknown values"),
    ] {
        if !suite.is_rule_wanted(rule) {
            continue;
        }
        // In a process of its own, because it may crash, and later checks need the other one.
        let Ok(new_process) = suite.start_another_process().await else { continue };
        let call = call_configure(&new_process, &encode_dynamic(&config, &ty)).await;
        suite.record_case(rule, call.has_reply(), || {
            Finding::new(rule, "provider", format!("{case} brings it down"))
                .with_call(&call)
                .with_input(display_value(&config))
        });
    }
    configure_provider(suite, &provider, &empty).await;
    check_unreachable_endpoints(suite, &provider).await;
    check_second_configure(suite).await;
    check_configure_writes_no_files(suite).await;
    check_configure_during_stop(suite).await;
}

async fn call_configure(plugin: &Plugin, config: &Msg) -> Call {
    plugin
        .call(Rpc::ConfigureProvider, &request::configure_request(config), CHANGING_CALL_TIMEOUT)
        .await
}

/// Calls before Configure.
async fn check_calls_before_configure(suite: &mut Suite) {
    if !suite.is_rule_wanted("C-03") {
        return;
    }
    let resources: Vec<OfferedType> =
        suite.offer.usable_types_of_kind(Kind::Resource).take(10).cloned().collect();
    if resources.is_empty() {
        return suite.note_skipped_rules(&["C-03"], "the provider has no resource");
    }
    for offered in resources {
        let ty = offered.ty();
        let config = suite.generate_config(&offered, ConfigExtent::Required, 0);
        let state = super::upgrade_and_move::generate_stored_object(suite, &offered, 0);
        let input = PlanInput {
            prior: super::null_object(&ty),
            proposed: config.clone(),
            config,
            private: Bytes::new(),
            identity: None,
        };
        for (rpc, request) in [
            (Rpc::PlanResourceChange, request::plan_request(&offered, &input)),
            (Rpc::ReadResource, request::read_request(&offered, &state, &Bytes::new(), None)),
            (
                Rpc::ImportResourceState,
                Msg::new().with_text(1, &offered.name).with_text(2, "conformance"),
            ),
        ] {
            // The running process is not configured yet: `choose` does that.
            let call = suite.call(rpc, &request).await;
            suite.record_case("C-03", call.has_reply(), || {
                Finding::new(
                    "C-03",
                    &offered.display_name(),
                    "a call before Configure brings it down",
                )
                .with_call(&call)
            });
        }
    }
}

/// Configures the running provider: with the given configuration, otherwise an empty one, otherwise one
/// that validation accepts.
async fn configure_provider(suite: &mut Suite, provider: &OfferedType, empty: &Value) {
    let ty = provider.ty();
    let mut candidates = Vec::new();
    if let Some(given_config) = &suite.options.config {
        match provider.block().coerce(given_config) {
            Ok(value) => {
                // Before it is sent, so that no finding and no report shows a secret of the user.
                suite.secrets.add_sensitive_strings(provider.block(), &value);
                candidates.push(value);
            }
            Err(error) => {
                let skip_reason =
                    format!("-config: {}{}", path_as_message_prefix(&error.path), error.reason);
                suite.note_skipped_rules(&RULES_NEEDING_CONFIGURATION, &skip_reason);
                return;
            }
        }
    } else {
        // The most likely first: examples, then an empty configuration, then generated values.
        candidates.extend(suite.examples_of(provider).into_iter().filter_map(|(_, it)| it.ok()));
        candidates.push(empty.clone());
        candidates.extend(suite.legal_configs(provider).await);
    }
    let mut outcome = String::new();
    for config in candidates {
        let message = encode_dynamic(&config, &ty);
        // The candidate before may have crashed it.
        if suite.ensure_running().await.is_err() {
            return;
        }
        let call = suite
            .call_changing(Rpc::ConfigureProvider, &request::configure_request(&message))
            .await;
        if call.is_success() {
            suite.config = message;
            suite.configured = true;
            return;
        }
        outcome = call.describe_outcome();
    }
    let reason =
        format!("the provider cannot be configured: {outcome}; give a configuration with -config");
    suite.note_skipped_rules(&RULES_NEEDING_CONFIGURATION, &reason);
}

/// Rules that are examined in a configured provider only.
const RULES_NEEDING_CONFIGURATION: [&str; 25] = [
    "P-01", "P-02", "P-03", "P-04", "P-05", "P-06", "P-07", "P-08", "P-09", "P-10", "P-12", "P-13",
    "P-14", "P-15", "P-17", "P-18", "P-19", "P-21", "P-22", "R-01", "R-02", "R-05", "R-06", "R-07",
    "R-09",
];

/// The longest wait for the answer of a service that does not exist.
const UNREACHABLE_ENDPOINT_TIMEOUT: Duration = Duration::from_secs(60);

/// Configures with addresses without a server.
async fn check_unreachable_endpoints(suite: &mut Suite, provider: &OfferedType) {
    if !suite.is_rule_wanted("C-05") {
        return;
    }
    let address_words = ["endpoint", "url", "uri", "host", "hostname", "address", "server"];
    let Some(base) = suite.legal_configs(provider).await.into_iter().next() else {
        return suite
            .note_skipped_rules(&["C-05"], "no legal configuration of the provider was found");
    };
    let full = suite.generate_config(provider, ConfigExtent::All, 0);
    let mut has_address = false;
    for (path, attribute) in generate::settable_paths(provider.block(), &full) {
        let Some(Step::Attribute(name)) = path.0.last() else { continue };
        let is_address = name.as_str().split('_').any(|word| address_words.contains(&word));
        if !is_address || attribute.implied_type() != Type::String {
            continue;
        }
        // Refused immediately, never answered (192.0.2.0/24 is reserved for documentation), and not a URL.
        for address in ["http://127.0.0.1:9/", "http://192.0.2.1:9/", "127.0.0.1"] {
            let text = Value::string(address);
            // Some attributes are in optional blocks, which only the full configuration has.
            let Some(config) = [&base, &full]
                .into_iter()
                .find_map(|config| generate::replace_part(config, &path, text.clone()))
            else {
                continue;
            };
            // Canaries instead of secrets show whether a diagnostic repeats one.
            let (config, _) = suite
                .secrets
                .plant_canary(provider.block(), &with_sensitive_strings_set(provider, config));
            if !suite.call_validate(provider, &config).await.is_success() {
                continue;
            }
            let Ok(new_process) = suite.start_another_process().await else { continue };
            has_address = true;
            let request = request::configure_request(&encode_dynamic(&config, &provider.ty()));
            let call = new_process
                .call(Rpc::ConfigureProvider, &request, UNREACHABLE_ENDPOINT_TIMEOUT)
                .await;
            suite.record_case("C-05", call.has_reply(), || {
                Finding::new("C-05", "provider", "an address without a server crashes or hangs it")
                    .with_path(&path)
                    .with_call(&call)
                    .with_expected_and_found("an answer within 60 s", call.describe_outcome())
            });
            let reported: Vec<String> = call.diagnostics().iter().map(|it| it.one_line()).collect();
            let leak =
                reported.iter().find(|it| suite.secrets.holds_canary(it.as_bytes())).cloned();
            suite.record_case("C-05", leak.is_none(), || {
                Finding::new("C-05", "provider", "a diagnostic of Configure has a secret")
                    .with_path(&path)
                    .with_call(&call)
                    .with_expected_and_found("no secret", leak.unwrap_or_default())
            });
        }
    }
    if !has_address {
        suite.note_skipped_rules(&["C-05"], "no attribute of the provider is named as an address");
    }
}

/// The configuration with every sensitive string set, to be replaced with canaries.
fn with_sensitive_strings_set(provider: &OfferedType, config: Value) -> Value {
    let paths = generate::settable_paths(provider.block(), &config);
    let secret = |attribute: &Attribute| {
        (attribute.sensitive || attribute.write_only) && attribute.implied_type() == Type::String
    };
    paths.into_iter().filter(|(_, it)| secret(it)).fold(config, |config, (path, _)| {
        generate::replace_part(&config, &path, Value::string("conformance")).unwrap_or(config)
    })
}

async fn check_second_configure(suite: &mut Suite) {
    if !suite.is_rule_wanted("C-04") {
        return;
    }
    let Ok(new_process) = suite.start_another_process().await else { return };
    // This one may fail: the rule is about the second.
    call_configure(&new_process, &suite.config).await;
    let call = call_configure(&new_process, &suite.config).await;
    suite.record_case("C-04", call.has_reply(), || {
        Finding::new("C-04", "provider", "a second Configure brings it down").with_call(&call)
    });
}

fn file_names_in(directory: &Path) -> BTreeSet<std::ffi::OsString> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).collect()
}

async fn check_configure_writes_no_files(suite: &mut Suite) {
    if !suite.is_rule_wanted("C-06") {
        return;
    }
    let Some(program) = suite.program_path() else {
        return suite.note_skipped_rules(&["C-06"], "the provider runs already");
    };
    // Both are empty at first, so every file in them is the provider's.
    let (Ok(home), Ok(directory)) = (tempfile::tempdir(), tempfile::tempdir()) else { return };
    let mut launch = suite.launch_options();
    launch.env.push(("HOME".into(), home.path().into()));
    launch.directory = Some(directory.path().to_owned());
    let Ok(plugin) = Plugin::launch(&program, &launch).await else { return };
    call_configure(&plugin, &suite.config).await;
    plugin.shutdown(Duration::from_secs(2)).await;
    for (location, directory_path) in
        [("HOME", home.path()), ("the working directory", directory.path())]
    {
        let file_names = file_names_in(directory_path);
        suite.record_case("C-06", file_names.is_empty(), || {
            Finding::new("C-06", "provider", format!("Configure writes to {location}"))
                .with_expected_and_found("no file", format!("{file_names:?}"))
        });
    }
}

async fn check_configure_during_stop(suite: &mut Suite) {
    if !suite.is_rule_wanted("C-07") {
        return;
    }
    let Ok(new_process) = suite.start_another_process().await else { return };
    let request = request::configure_request(&suite.config);
    // Both concurrently, as when a user interrupts a host during Configure.
    let (configured, stopped) = tokio::join!(
        new_process.call(Rpc::ConfigureProvider, &request, Duration::from_secs(30)),
        new_process.call(Rpc::StopProvider, &EMPTY_REQUEST, Duration::from_secs(10)),
    );
    for call in [configured, stopped] {
        suite.record_case("C-07", !call.is_crash_or_hang(), || {
            Finding::new("C-07", "provider", "concurrent Configure and StopProvider hang or crash")
                .with_call(&call)
        });
    }
}

static EMPTY_REQUEST: Msg = Msg(Vec::new());
