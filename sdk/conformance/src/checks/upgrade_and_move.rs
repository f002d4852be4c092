//! Checks of upgrading stored objects (U) and of moving them (M).

use formwork_value::codec::json;
use formwork_value::{Number, Type, Value};

use super::{differing_paths, display_value};
use crate::finding::Finding;
use crate::generate::{self, ConfigExtent};
use crate::message::Msg;
use crate::offer::{Kind, OfferedType};
use crate::plugin::{Call, Reply};
use crate::request::{self, decode_dynamic};
use crate::rpc::Rpc;
use crate::suite::Suite;

const STORED_OBJECT_RULES: [&str; 9] =
    ["U-01", "U-02", "U-03", "U-04", "U-05", "U-06", "U-07", "U-08", "U-10"];

/// Checks the family.
pub(super) async fn run(suite: &mut Suite) {
    let resources: Vec<OfferedType> =
        suite.offer.usable_types_of_kind(Kind::Resource).cloned().collect();
    if resources.is_empty() {
        suite.note_skipped_rules(&STORED_OBJECT_RULES, "the provider has no resource");
        suite.note_skipped_rules(&["U-09", "M-01"], "the provider has no resource");
    }
    for offered in &resources {
        if suite.wants_any(&STORED_OBJECT_RULES) {
            check_object_upgrades(suite, offered).await;
        }
        if suite.is_rule_wanted("U-09") {
            check_identity_upgrade(suite, offered).await;
        }
        if suite.is_rule_wanted("M-01") {
            check_move(suite, offered).await;
        }
    }
}

/// A stored object of a type, generated from its schema.
pub(super) fn generate_stored_object(suite: &Suite, offered: &OfferedType, number: u64) -> Value {
    // A state comes from the provider, and U-10 tries the large numbers.
    let extent = if number == 0 { ConfigExtent::All } else { ConfigExtent::Stored };
    let config = suite.generate_config(offered, extent, number);
    let block = offered.block();
    // Write-only values are never stored.
    let config = block.with_null_write_only(&config);
    let mut dice = suite.seeded_dice(&format!("state {}/{number}", offered.name));
    // Computed attributes are made up as well.
    let mut value = config;
    for (name, attribute) in &block.attributes {
        let path = formwork_value::Path::root().attribute(name.clone());
        let is_null = path.find(&value).is_some_and(Value::is_null);
        if attribute.role.is_computed() && is_null && !attribute.write_only {
            let ty = attribute.implied_type();
            // A value needs some type, and a dynamic attribute has none of its own.
            let ty = if ty == Type::Dynamic { Type::String } else { ty };
            let generated =
                generate::generate_value(name.as_str(), &ty, ConfigExtent::Required, &mut dice);
            if let Some(next) = generate::replace_part(&value, &path, generated) {
                value = next;
            }
        }
    }
    value
}

async fn call_upgrade(suite: &mut Suite, offered: &OfferedType, version: u64, text: &[u8]) -> Call {
    let request = request::upgrade_request(&offered.name, version, text);
    suite.call(Rpc::UpgradeResourceState, &request).await
}

async fn check_object_upgrades(suite: &mut Suite, offered: &OfferedType) {
    let (ty, version) = (offered.ty(), offered.schema.version);
    for number in 0..6 {
        let value = generate_stored_object(suite, offered, number);
        let Ok(text) = json::encode(&value, &ty) else { continue };
        let call = call_upgrade(suite, offered, version, text.as_bytes()).await;
        check_current_version_upgrade(suite, offered, &value, &call).await;
        // One state is enough: the effect of damage hardly depends on the values.
        if number == 0 {
            check_damaged_state(suite, offered, &text).await;
            check_other_versions(suite, offered, &text).await;
        }
    }
    check_upgrade_precision(suite, offered).await;
}

async fn check_current_version_upgrade(
    suite: &mut Suite,
    offered: &OfferedType,
    value: &Value,
    call: &Call,
) {
    let ty = offered.ty();
    suite.record_case("U-06", call.has_reply(), || {
        Finding::new("U-06", &offered.display_name(), "upgrading before Configure crashes")
            .with_call(call)
    });
    let Some(answer) = call.first_message() else { return };
    if !call.is_success() {
        return suite.record_case("U-01", false, || {
            Finding::new(
                "U-01",
                &offered.display_name(),
                "a state of the current version is refused",
            )
            .with_call(call)
            .with_input(display_value(value))
        });
    }
    let upgraded = decode_dynamic(answer.get_msg(1), &ty);
    let is_there = matches!(&upgraded, Ok(Some(it)) if !it.value().is_null());
    suite.record_case("U-07", is_there || upgraded.is_err(), || {
        Finding::new("U-07", &offered.display_name(), "a stored object is lost")
            .with_call(call)
            .with_expected_and_found("the object", "null or absent")
            .with_input(display_value(value))
    });
    match upgraded {
        Err(reason) => suite.record_case("U-01", false, || {
            Finding::new(
                "U-01",
                &offered.display_name(),
                format!("the answer is not a value of the type: {reason}"),
            )
            .with_call(call)
            .with_input(display_value(value))
        }),
        Ok(Some(upgraded)) if is_there => {
            let changed = differing_paths(value, upgraded.value());
            suite.record_case("U-01", changed.is_empty(), || {
                let path = changed.first().cloned().unwrap_or_default();
                let part = |value: &Value| path.find(value).map(display_value).unwrap_or_default();
                Finding::new(
                    "U-01",
                    &offered.display_name(),
                    "a state of the current version is changed",
                )
                .with_path(&path)
                .with_call(call)
                .with_expected_and_found(part(value), part(upgraded.value()))
                .with_input(display_value(value))
            });
            let Ok(encoded_again) = json::encode(upgraded.value(), &ty) else { return };
            // A host calls it whenever it reads a state, even if the version is the same.
            let second =
                call_upgrade(suite, offered, offered.schema.version, encoded_again.as_bytes())
                    .await;
            let second = second.first_message().map(|it| decode_dynamic(it.get_msg(1), &ty));
            let held = matches!(&second, Some(Ok(Some(it))) if it.value() == upgraded.value());
            suite.record_case("U-06", held, || {
                Finding::new(
                    "U-06",
                    &offered.display_name(),
                    "upgrading twice gives another object",
                )
                .with_call(call)
            });
        }
        Ok(_) => {}
    }
}

async fn check_other_versions(suite: &mut Suite, offered: &OfferedType, text: &str) {
    let version = offered.schema.version;
    for older in 0..version.min(20) {
        let call = call_upgrade(suite, offered, older, text.as_bytes()).await;
        suite.record_case("U-02", call.has_reply(), || {
            Finding::new(
                "U-02",
                &offered.display_name(),
                format!("version {older} crashes the provider"),
            )
            .with_call(&call)
        });
    }
    if version == 0 {
        suite.note_skipped_rules(&["U-02"], "all schemas have version 0");
    }
    // Hosts refuse such a state themselves, but not every program that calls providers is one.
    let call = call_upgrade(suite, offered, version + 7, text.as_bytes()).await;
    let is_refused = call.has_reply() && !call.is_success();
    suite.record_case("U-03", is_refused, || {
        Finding::new("U-03", &offered.display_name(), "a version above the current one is accepted")
            .with_call(&call)
            .with_expected_and_found("an error", call.describe_outcome())
    });
    // An entry of a protobuf map: the key in field 1, the value in field 2.
    let flat = Msg::new().with_text(1, "id").with_text(2, "1");
    let raw = Msg::new().with_message(2, &flat);
    let request =
        Msg::new().with_text(1, &offered.name).with_nonzero_int(2, version).with_message(3, &raw);
    let call = suite.call(Rpc::UpgradeResourceState, &request).await;
    suite.record_case("U-08", call.has_reply(), || {
        Finding::new("U-08", &offered.display_name(), "a flatmap state crashes the provider")
            .with_call(&call)
    });
}

async fn check_damaged_state(suite: &mut Suite, offered: &OfferedType, text: &str) {
    let version = offered.schema.version;
    let members = text.trim_start_matches('{');
    let extra = format!("{{\"no_such_attribute_of_conformance\":[1,{{}}],{members}");
    let call = call_upgrade(suite, offered, version, extra.as_bytes()).await;
    suite.record_case("U-04", call.has_reply(), || {
        Finding::new("U-04", &offered.display_name(), "an unknown attribute crashes the provider")
            .with_call(&call)
    });
    // By characters, because a cut inside one would panic.
    let half = text.chars().take(text.chars().count() / 2).collect::<String>();
    let long = format!("{{\"id\":\"{}\"}}", "x".repeat(10 << 20));
    for (damage, broken) in [
        ("truncated JSON", half),
        ("a list", "[1,2]".to_owned()),
        ("null", "null".to_owned()),
        ("nothing", String::new()),
        ("wrong types", object_of_wrong_types(offered)),
        ("10 MB", long),
    ] {
        let call = call_upgrade(suite, offered, version, broken.as_bytes()).await;
        let held = match damage {
            // Null is a value of every type, and a long text is a string.
            "null" | "10 MB" | "nothing" => call.has_reply(),
            "wrong types" => {
                call.has_reply() && (!call.is_success() || is_upgraded_to_type(offered, &call))
            }
            _ => call.has_reply() && !call.is_success(),
        };
        suite.record_case("U-05", held, || {
            Finding::new("U-05", &offered.display_name(), format!("{damage} instead of a state"))
                .with_call(&call)
                .with_expected_and_found("an error", call.describe_outcome())
        });
    }
}

fn is_upgraded_to_type(offered: &OfferedType, call: &Call) -> bool {
    call.first_message().is_some_and(|it| decode_dynamic(it.get_msg(1), &offered.ty()).is_ok())
}

/// An object whose every attribute has a type that does not fit.
fn object_of_wrong_types(offered: &OfferedType) -> String {
    let parts = offered.block().attributes.iter().map(|(name, attribute)| {
        let other_value = match attribute.implied_type() {
            Type::String | Type::Number | Type::Bool => "[[]]",
            _ => "\"text\"",
        };
        format!("\"{}\":{other_value}", name.as_str())
    });
    format!("{{{}}}", parts.collect::<Vec<_>>().join(","))
}

/// Large numbers and unusual text through an upgrade.
async fn check_upgrade_precision(suite: &mut Suite, offered: &OfferedType) {
    if !suite.is_rule_wanted("U-10") {
        return;
    }
    let ty = offered.ty();
    let base = generate_stored_object(suite, offered, 0);
    let mut value = base.clone();
    let mut changed = Vec::new();
    for (name, attribute) in &offered.block().attributes {
        let special = match attribute.implied_type() {
            // 2^53 + 1: the first whole number that a float rounds.
            Type::Number => Number::parse("9007199254740993").map(Value::Number),
            Type::String if !attribute.write_only => Some(Value::string("\u{e9}\u{4e16}\u{1f600}")),
            _ => None,
        };
        let path = formwork_value::Path::root().attribute(name.clone());
        if let Some(next) = special.and_then(|it| generate::replace_part(&value, &path, it))
            && !attribute.write_only
        {
            value = next;
            changed.push(path);
        }
    }
    let Ok(text) = json::encode(&value, &ty) else { return };
    let call = call_upgrade(suite, offered, offered.schema.version, text.as_bytes()).await;
    let Some(Ok(Some(upgraded))) =
        call.first_message().map(|it| decode_dynamic(it.get_msg(1), &ty))
    else {
        return;
    };
    if !call.is_success() {
        return;
    }
    for path in changed {
        let (Some(before), Some(after)) = (path.find(&value), path.find(upgraded.value())) else {
            continue;
        };
        suite.record_case("U-10", before == after, || {
            Finding::new(
                "U-10",
                &offered.display_name(),
                "a number or text is not the same afterwards",
            )
            .with_path(&path)
            .with_call(&call)
            .with_expected_and_found(display_value(before), display_value(after))
        });
    }
}

async fn check_identity_upgrade(suite: &mut Suite, offered: &OfferedType) {
    let Some((version, ty, _)) = suite.offer.identities.get(&offered.name).cloned() else {
        return suite.note_skipped_rules(&["U-09"], "no resource type has an identity");
    };
    let mut dice = suite.seeded_dice("identity");
    let value = generate::generate_value("identity", &ty, ConfigExtent::Required, &mut dice);
    let Ok(text) = json::encode(&value, &ty) else { return };
    let request = request::upgrade_request(&offered.name, version, text.as_bytes());
    let call = suite.call(Rpc::UpgradeResourceIdentity, &request).await;
    if matches!(&call.reply, Reply::Refused(code, _) if code == "Unimplemented") {
        return suite.note_skipped_rules(
            &["U-09"],
            "the provider does not implement UpgradeResourceIdentity",
        );
    }
    let data = call.first_message().and_then(|it| it.get_msg(1)).and_then(|it| it.get_msg(1));
    let upgraded = decode_dynamic(data, &ty);
    // Hosts call it only for other versions, so a refusal is also correct.
    let is_refused = call.has_reply() && !call.is_success();
    let held = is_refused || matches!(&upgraded, Ok(Some(it)) if *it.value() == value);
    suite.record_case("U-09", held, || {
        Finding::new(
            "U-09",
            &offered.display_name(),
            "an identity of the current version is changed",
        )
        .with_call(&call)
        .with_expected_and_found(
            display_value(&value),
            match upgraded {
                Ok(Some(upgraded)) => display_value(upgraded.value()),
                Ok(None) => call.describe_outcome(),
                Err(reason) => reason,
            },
        )
    });
}

async fn check_move(suite: &mut Suite, offered: &OfferedType) {
    let state = Msg::new().with_bytes(1, b"{\"id\":\"1\"}".to_vec());
    for source in ["conformance_thing", &offered.name] {
        let request = Msg::new()
            .with_text(1, "registry.terraform.io/conformance/conformance")
            .with_text(2, source)
            .with_message(4, &state)
            .with_text(5, &offered.name);
        let call = suite.call(Rpc::MoveResourceState, &request).await;
        let target = call.first_message().and_then(|it| it.get_msg(1));
        let is_made_up = call.is_success() && target.is_some();
        let ty = offered.ty();
        let conforms =
            decode_dynamic(target, &ty).is_ok_and(|it| it.is_some_and(|it| !it.value().is_null()));
        // A type of the same name may well be understood, but then the answer must conform.
        let held = match source == offered.name {
            true => call.has_reply() && (!is_made_up || conforms),
            false => call.has_reply() && !is_made_up,
        };
        suite.record_case("M-01", held, || {
            Finding::new(
                "M-01",
                &offered.display_name(),
                format!("a move from {source} of another provider"),
            )
            .with_call(&call)
            .with_expected_and_found("an error", call.describe_outcome())
        });
    }
}
