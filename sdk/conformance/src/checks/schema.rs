//! Checks of the schema (S): readability, the rules that hosts enforce, and the needs of users.

use std::time::Duration;

use formwork_value::schema::{Attribute, AttributeKind, Block, Role};
use sha2::{Digest as _, Sha256};

use crate::finding::Finding;
use crate::message::Msg;
use crate::offer::{Kind, Offer, OfferedType, SchemaProblem};
use crate::plugin::{Call, Plugin};
use crate::rpc::Rpc;
use crate::suite::Suite;

const SCHEMA_READING_RULES: [&str; 7] = ["S-03", "S-04", "S-05", "S-06", "S-07", "S-16", "S-17"];
/// The most a schema may weigh, as Terraform has it.
const MAX_SCHEMA_BYTES: usize = 64 << 20;

/// The number of concurrent calls.
const N_CONCURRENT_CALLS: usize = 2;

/// Checks the family.
pub(super) async fn run(suite: &mut Suite) {
    check_schema_size_and_time(suite).await;
    check_schema_stability(suite).await;
    report_schema_problems(suite);
    check_name_prefixes(suite);
    for (rule, visit) in [
        ("S-14", check_attribute_docs as AttributeCheck),
        ("S-15", check_secret_attributes),
        ("S-18", check_optional_computed_docs),
    ] {
        if suite.is_rule_wanted(rule) {
            check_each_attribute(suite, visit);
        }
    }
    check_type_descriptions(suite);
    check_previous_release(suite).await;
}

async fn check_schema_size_and_time(suite: &mut Suite) {
    let call = suite.call(Rpc::GetProviderSchema, &Msg::new()).await;
    let size = call.recorded.answers.iter().map(bytes::Bytes::len).sum::<usize>();
    let held = call.is_success()
        && call.recorded.duration < Duration::from_secs(10)
        && size <= MAX_SCHEMA_BYTES;
    suite.record_case("S-01", held, || {
        let message = match call.is_success() {
            true => "the schema is too large or comes too late",
            false => "the provider does not return its schema",
        };
        let measured = format!(
            "{} in {} ms, {size} bytes",
            call.describe_outcome(),
            call.recorded.duration.as_millis()
        );
        Finding::new("S-01", "provider", message)
            .with_call(&call)
            .with_expected_and_found("an answer within 10 s", measured)
    });
}

/// The hashes of the fields of an answer in a fixed order: entries of maps have none.
fn sorted_field_hashes(call: &Call) -> Option<Vec<[u8; 32]>> {
    let fields = call.first_message()?.0.iter();
    // Hashes, because several schemas of many megabytes would be in memory otherwise.
    let mut hashes: Vec<[u8; 32]> =
        fields.map(|field| Sha256::digest(Msg(vec![field.clone()]).encode()).into()).collect();
    // In protobuf, entries of a map have no order.
    hashes.sort_unstable();
    Some(hashes)
}

async fn check_schema_stability(suite: &mut Suite) {
    if !suite.is_rule_wanted("S-02") {
        return;
    }
    let first = suite.call(Rpc::GetProviderSchema, &Msg::new()).await;
    let Some(expected) = sorted_field_hashes(&first) else { return };
    // Not kept during the other calls, for its size.
    drop(first);
    let mut differing = None;
    for _ in 0..4 {
        let call = suite.call(Rpc::GetProviderSchema, &Msg::new()).await;
        if sorted_field_hashes(&call).as_ref() != Some(&expected) {
            differing = Some(call);
        }
    }
    let finding = |message: &str, call: Option<Call>| {
        let finding = Finding::new("S-02", "provider", message);
        call.map_or(finding.clone(), |call| finding.with_call(&call))
    };
    suite.record_case("S-02", differing.is_none(), || {
        finding("the schema differs between calls", differing)
    });
    if let Ok(other_process) = suite.start_another_process().await {
        // A schema may have many megabytes, so only those that differ are kept.
        let calls = (0..N_CONCURRENT_CALLS).map(|_| async {
            let limit = Duration::from_secs(30);
            let call = other_process.call(Rpc::GetProviderSchema, &EMPTY_REQUEST, limit).await;
            (sorted_field_hashes(&call).as_ref() != Some(&expected)).then_some(call)
        });
        let differing = await_all(calls).await.into_iter().flatten().next();
        suite.record_case("S-02", differing.is_none(), || {
            finding("the schema differs between processes", differing)
        });
    }
}

static EMPTY_REQUEST: Msg = Msg(Vec::new());

/// Waits for several concurrent calls.
pub(super) async fn await_all<F: Future>(calls: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut calls: Vec<_> = calls.into_iter().map(|call| (Box::pin(call), None)).collect();
    std::future::poll_fn(|cx| {
        let mut is_done = true;
        for (call, output) in &mut calls {
            // A future must not be polled after its end.
            if output.is_none() {
                match call.as_mut().poll(cx) {
                    std::task::Poll::Ready(ready) => *output = Some(ready),
                    std::task::Poll::Pending => is_done = false,
                }
            }
        }
        if is_done { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    calls.into_iter().filter_map(|(_, output)| output).collect()
}

/// Reports the problems that were found when the schema was read.
fn report_schema_problems(suite: &mut Suite) {
    if suite.offer.types.is_empty() {
        let unreadable = "the schema cannot be read";
        return suite.note_skipped_rules(&SCHEMA_READING_RULES, unreadable);
    }
    let problems = suite.offer.problems.clone();
    for SchemaProblem { rule, path, message } in &problems {
        suite.record_case(rule, false, || Finding::new(rule, path, message.clone()));
    }
    let has_identities = !suite.offer.identities.is_empty();
    let has_functions = !suite.offer.functions.is_empty();
    for rule in SCHEMA_READING_RULES {
        let missing = match rule {
            "S-16" if !has_identities => Some("no resource type has an identity"),
            "S-17" if !has_functions => Some("the provider has no functions"),
            _ => None,
        };
        if let Some(reason) = missing {
            suite.note_skipped_rules(&[rule], reason);
        } else if !problems.iter().any(|it| it.rule == rule) {
            suite.record_case(rule, true, || Finding::new(rule, "", ""));
        }
    }
}

fn check_name_prefixes(suite: &mut Suite) {
    let kinds = [Kind::Resource, Kind::DataSource, Kind::Ephemeral, Kind::List, Kind::Action];
    let types = suite.offer.types.iter().filter(|it| kinds.contains(&it.kind));
    let names: Vec<(String, String)> =
        types.map(|it| (it.display_name(), it.name.clone())).collect();
    // The most frequent prefix of the names, unless the name of the program contains it.
    let name_of_program = suite.program_path().and_then(|path| {
        let file = path.file_name()?.to_str()?.to_owned();
        let rest = file.strip_prefix("terraform-provider-")?.to_owned();
        // A version or an extension follows the name.
        let end = rest.find(['_', '.']).unwrap_or(rest.len());
        Some(rest[..end].to_owned())
    });
    let first = names.first().and_then(|(_, name)| name.split('_').next()).map(str::to_owned);
    let Some(prefix) = name_of_program.or(first) else {
        return suite.note_skipped_rules(&["S-08"], "the provider has no types");
    };
    for (subject, name) in names {
        // A provider may have a type of just its own name, such as `http`.
        let held = name == prefix || name.starts_with(&format!("{prefix}_"));
        suite.record_case("S-08", held, || {
            Finding::new("S-08", &subject, "the name lacks the provider's prefix")
                .with_expected_and_found(format!("{prefix}_..."), name.clone())
        });
    }
}

type AttributeCheck = fn(&mut Suite, &str, &str, &Attribute);

fn check_each_attribute(suite: &mut Suite, visit: AttributeCheck) {
    for offered in suite.offer.types.clone() {
        visit_attributes(&offered.schema.block, "", &mut |path, attribute| {
            visit(suite, &offered.display_name(), path, attribute);
        });
    }
}

/// Visits all attributes of a block.
pub(super) fn visit_attributes(
    block: &Block,
    parent: &str,
    visit: &mut dyn FnMut(&str, &Attribute),
) {
    let join =
        |name: &str| if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") };
    for (name, attribute) in &block.attributes {
        let path = join(name.as_str());
        visit(&path, attribute);
        // Nested attributes are walked like a block without blocks.
        if let AttributeKind::Nested(nested) = &attribute.kind {
            let inner = Block { attributes: nested.attributes.clone(), ..Block::default() };
            visit_attributes(&inner, &path, visit);
        }
    }
    for (name, nested) in &block.blocks {
        visit_attributes(&nested.block, &join(name.as_str()), visit);
    }
}

/// Whether the attribute is the `id` that the legacy SDK adds to every type without a description.
fn is_legacy_sdk_id(path: &str, attribute: &Attribute) -> bool {
    path == "id" && attribute.role == Role::OptionalComputed
}

fn check_attribute_docs(suite: &mut Suite, subject: &str, path: &str, attribute: &Attribute) {
    let docs = &attribute.docs;
    if is_legacy_sdk_id(path, attribute) {
        return;
    }
    suite.record_case("S-14", !docs.description.trim().is_empty(), || {
        Finding::new("S-14", subject, "the attribute has no description").with_path(path)
    });
    // Older libraries have no field for the message.
    let has_texts = suite.offer.has_deprecation_texts;
    if docs.deprecated && has_texts {
        let says =
            !docs.deprecation.is_empty() || docs.description.to_lowercase().contains("deprecat");
        suite.record_case("S-14", says, || {
            Finding::new("S-14", subject, "the deprecation has no text").with_path(path)
        });
    }
}

fn check_type_descriptions(suite: &mut Suite) {
    for offered in suite.offer.types.clone() {
        if matches!(offered.kind, Kind::Resource | Kind::DataSource) {
            let held = !offered.block().docs.description.trim().is_empty();
            suite.record_case("S-14", held, || {
                Finding::new("S-14", &offered.display_name(), "the type has no description")
            });
        }
    }
    for function in suite.offer.functions.clone() {
        let held = !function.raw.get_text(4).is_empty() || !function.raw.get_text(5).is_empty();
        suite.record_case("S-14", held, || {
            let subject = format!("function {}", function.name);
            Finding::new("S-14", &subject, "the function has no description")
        });
    }
}

fn check_secret_attributes(suite: &mut Suite, subject: &str, path: &str, attribute: &Attribute) {
    let name = path.rsplit('.').next().unwrap_or(path);
    let is_text = attribute.implied_type() == formwork_value::Type::String;
    if is_text && is_secret_name(name) {
        suite.record_case("S-15", attribute.sensitive || attribute.write_only, || {
            Finding::new("S-15", subject, "the name smells of a secret, but it is not sensitive")
                .with_path(path)
                .with_expected_and_found("sensitive or write-only", "neither")
        });
    } else {
        suite.record_case("S-15", true, || Finding::new("S-15", subject, ""));
    }
}

/// Whether a string attribute of this name is usually a secret.
fn is_secret_name(name: &str) -> bool {
    let words: Vec<&str> = name.split('_').collect();
    let pair = |a: &str, b: &str| words.windows(2).any(|it| it == [a, b]);
    let smells = words.last().is_some_and(|it| ["password", "passphrase", "secret"].contains(it))
        || (words.last() == Some(&"token") && words.len() > 1)
        || pair("private", "key")
        || pair("secret", "key")
        || pair("api", "key");
    // A hash, a location or the name of a secret is none.
    let is_derived = words.iter().any(|it| NON_SECRET_NAME_WORDS.contains(it));
    smells && !is_derived
}

/// Words in names of attributes that describe a secret without its value.
const NON_SECRET_NAME_WORDS: [&str; 14] = [
    "hash",
    "fingerprint",
    "id",
    "name",
    "arn",
    "wo",
    "version",
    "algorithm",
    "file",
    "path",
    "type",
    "format",
    "scope",
    "scopes",
];

fn check_optional_computed_docs(
    suite: &mut Suite,
    subject: &str,
    path: &str,
    attribute: &Attribute,
) {
    let is_both = attribute.role == Role::OptionalComputed && !is_legacy_sdk_id(path, attribute);
    suite.record_case("S-18", !is_both || !attribute.docs.description.trim().is_empty(), || {
        Finding::new("S-18", subject, "optional and computed, without a word on the default")
            .with_path(path)
    });
}

/// Compares the schema with that of the previous release.
async fn check_previous_release(suite: &mut Suite) {
    if !suite.wants_any(&["S-12", "S-13"]) {
        return;
    }
    let negative: Vec<SchemaProblem> =
        suite.offer.problems.iter().filter(|it| it.rule == "S-12").cloned().collect();
    for SchemaProblem { path: schema_path, message, .. } in negative {
        suite.record_case("S-12", false, || Finding::new("S-12", &schema_path, message));
    }
    let Some(path) = suite.options.previous.clone() else {
        return suite
            .note_skipped_rules(&["S-12", "S-13"], "no previous release was given with -previous");
    };
    let older = match Plugin::launch(&path, &suite.launch_options()).await {
        Ok(plugin) => {
            plugin.call(Rpc::GetProviderSchema, &EMPTY_REQUEST, Duration::from_secs(60)).await
        }
        Err(error) => {
            return suite
                .note_skipped_rules(&["S-12", "S-13"], &format!("the previous release: {error}"));
        }
    };
    let Some(older) = older.first_message().map(Offer::from_schema_answer) else {
        return suite
            .note_skipped_rules(&["S-12", "S-13"], "the previous release has no readable schema");
    };
    for before in older.usable_types_of_kind(Kind::Resource) {
        let current_types = suite
            .offer
            .usable_types_of_kind(Kind::Resource)
            .find(|it| it.name == before.name)
            .cloned();
        // A removed type has no version that could be raised.
        let Some(current_types) = current_types else { continue };
        compare_with_previous_type(suite, before, &current_types);
    }
}

fn compare_with_previous_type(suite: &mut Suite, before: &OfferedType, current: &OfferedType) {
    let (old, new) = (before.schema.version, current.schema.version);
    suite.record_case("S-12", new >= old, || {
        Finding::new("S-12", &current.display_name(), "the schema version was lowered")
            .with_expected_and_found(format!("at least {old}"), new.to_string())
    });
    let mut types = std::collections::BTreeMap::new();
    visit_attributes(current.block(), "", &mut |path, attribute| {
        types.insert(path.to_owned(), attribute.implied_type());
    });
    let mut lost = Vec::new();
    visit_attributes(before.block(), "", &mut |path, attribute| {
        if types.get(path) != Some(&attribute.implied_type()) {
            lost.push(path.to_owned());
        }
    });
    for path in &lost {
        suite.record_case("S-13", new > old, || {
            Finding::new(
                "S-13",
                &current.display_name(),
                "removed or retyped without a new version",
            )
            .with_path(path)
        });
    }
    if lost.is_empty() {
        suite.record_case("S-13", true, || Finding::new("S-13", "", ""));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_location_or_kind_of_a_secret_is_not_a_secret() {
        for secret in ["password", "client_secret", "auth_token", "private_key_pem", "api_key"] {
            assert!(is_secret_name(secret), "{secret}");
        }
        for harmless in
            ["private_key_file", "api_key_path", "api_key_scope", "secret_key_type", "token", "key"]
        {
            assert!(!is_secret_name(harmless), "{harmless}");
        }
    }
}
