//! Checks of reading (R) and importing (I) with made-up objects and ids.

use bytes::Bytes;
use formwork_value::{Path, Value};

use super::display_value;
use super::plan::identity_problem;
use crate::finding::Finding;
use crate::generate;
use crate::message::Msg;
use crate::offer::{Kind, OfferedType};
use crate::plugin::Call;
use crate::request::{self, decode_dynamic};
use crate::rpc::{Diag, Rpc};
use crate::suite::Suite;
use crate::violations::{type_violations, unknown_violations, write_only_violations};

const READ_RULES: [&str; 6] = ["R-01", "R-02", "R-05", "R-06", "R-07", "R-09"];
const IMPORT_RULES: [&str; 4] = ["I-01", "I-02", "I-03", "I-07"];

/// Checks the family.
pub(super) async fn run(suite: &mut Suite) {
    if !suite.configured {
        return suite.note_skipped_rules(&IMPORT_RULES, "the provider cannot be configured");
    }
    let resources: Vec<OfferedType> =
        suite.offer.usable_types_of_kind(Kind::Resource).cloned().collect();
    if resources.is_empty() {
        suite.note_skipped_rules(&READ_RULES, "the provider has no resource");
        suite.note_skipped_rules(&IMPORT_RULES, "the provider has no resource");
    }
    for offered in &resources {
        if suite.is_run_over() {
            return;
        }
        let mut tracks = false;
        if suite.wants_any(&READ_RULES) || suite.wants_any(&["I-01", "R-04", "A-07"]) {
            tracks = check_reads_of_generated_objects(suite, offered).await;
            if tracks {
                suite.tracked.insert(offered.name.clone());
            }
        }
        if suite.wants_any(&IMPORT_RULES) {
            check_imports_of_missing_objects(suite, offered, tracks).await;
        }
    }
}

/// The answer to a read.
pub(super) struct ReadAnswer {
    /// The object; `None` if the answer has none.
    pub(super) value: Option<Value>,
    /// The private data.
    pub(super) private: Bytes,
}

/// Holds the answer to a read to the rules of a host; returns it if it is usable.
pub(super) fn check_read_answer(
    suite: &mut Suite,
    offered: &OfferedType,
    call: &Call,
    input: &Value,
) -> Option<ReadAnswer> {
    let subject = offered.display_name();
    let answer = call.first_message()?;
    let (state, private) = (answer.get_msg(1), answer.get_bytes(3));
    let has_error = call.diagnostics().iter().any(Diag::is_error);
    // Terraform reads such a value as null, and would drop the object from the state.
    let is_absent = state.as_ref().is_none_or(|it| !it.has_field(1) && !it.has_field(2));
    suite.record_case("R-05", has_error || !is_absent || answer.has_field(4), || {
        Finding::new("R-05", &subject, "an answer without errors has no new state")
            .with_call(call)
            .with_expected_and_found("the object, or null", "nothing")
            .with_input(display_value(input))
    });
    if has_error || is_absent {
        return None;
    }
    let problem = identity_problem(suite, offered, answer.get_msg(5));
    if suite.offer.identities.contains_key(&offered.name) || problem.is_some() {
        suite.record_case("R-06", problem.is_none(), || {
            Finding::new("R-06", &subject, problem.unwrap_or_default()).with_call(call)
        });
    } else {
        suite.note_skipped_rules(&["R-06"], "no resource type has an identity");
    }
    let value = match decode_dynamic(state, &offered.ty()) {
        Ok(value) => value?,
        Err(reason) => {
            suite.record_case("R-01", false, || {
                Finding::new("R-01", &subject, reason)
                    .with_call(call)
                    .with_input(display_value(input))
            });
            return None;
        }
    };
    if value.value().is_null() {
        // Null is a good answer: there may be no such object.
        suite.record_case("R-01", true, || Finding::new("R-01", "", ""));
        return Some(ReadAnswer { value: Some(value.into_value()), private });
    }
    let mut violations = type_violations(offered.block(), &value);
    violations.extend(unknown_violations(&value, offered.block()));
    violations.extend(write_only_violations(offered.block(), &value));
    suite.record_case("R-01", violations.is_empty(), || {
        let first = violations.first();
        let message = first.map(|it| it.message.clone()).unwrap_or_default();
        let path = first.map(|it| it.path.clone()).unwrap_or_default();
        let returned_part = path.find(value.value()).map(display_value).unwrap_or_default();
        Finding::new("R-01", &subject, message)
            .with_path(&path)
            .with_call(call)
            .with_expected_and_found("a known value of the schema's type", returned_part)
            .with_input(display_value(input))
    });
    Some(ReadAnswer { value: Some(value.into_value()), private })
}

async fn call_read(
    suite: &mut Suite,
    offered: &OfferedType,
    state: &Value,
    private: &Bytes,
) -> Call {
    suite.call(Rpc::ReadResource, &request::read_request(offered, state, private, None)).await
}

/// Reads made-up objects; returns whether the provider reports that they do not exist.
async fn check_reads_of_generated_objects(suite: &mut Suite, offered: &OfferedType) -> bool {
    let subject = offered.display_name();
    let mut tracks = false;
    for number in 0..3 {
        let state = super::upgrade_and_move::generate_stored_object(suite, offered, number);
        let call = call_read(suite, offered, &state, &Bytes::new()).await;
        suite.check_survives_call("R-01", &call, || {
            Finding::new("R-01", &subject, "reading crashes or hangs")
                .with_call(&call)
                .with_input(display_value(&state))
        });
        let Some(back) = check_read_answer(suite, offered, &call, &state) else {
            continue;
        };
        let Some(value) = back.value.filter(|it| !it.is_null()) else {
            // Null for an object that does not exist: the provider has queried a service.
            tracks |= has_id_if_declared(&state);
            continue;
        };
        // R-01 has reported that.
        if !value.is_wholly_known() {
            continue;
        }
        let second_read = call_read(suite, offered, &value, &back.private).await;
        let second =
            second_read.first_message().map(|it| decode_dynamic(it.get_msg(1), &offered.ty()));
        let held = matches!(&second, Some(Ok(Some(it))) if *it.value() == value);
        // An error is not a different object.
        suite.record_case("R-02", held || !second_read.is_success(), || {
            let second_value = second.and_then(Result::ok).flatten();
            let second_value = second_value.map(|it| display_value(it.value())).unwrap_or_default();
            Finding::new("R-02", &subject, "reading what was read gives another object")
                .with_call(&call)
                .with_call(&second_read)
                .with_expected_and_found(display_value(&value), second_value)
                .with_input(display_value(&state))
        });
    }
    check_reads_of_odd_states(suite, offered).await;
    tracks
}

/// Whether a made-up object has an id, if it has such an attribute. The legacy SDK treats an object
/// with an empty id as absent, without a query.
fn has_id_if_declared(state: &Value) -> bool {
    match Path::root().attribute("id").find(state) {
        Some(Value::String(id)) => !id.as_str().is_empty(),
        Some(id) => !id.is_null(),
        None => true,
    }
}

/// States as an import leaves them, and private data of another provider.
async fn check_reads_of_odd_states(suite: &mut Suite, offered: &OfferedType) {
    let subject = offered.display_name();
    let mut bare = offered.block().empty_value();
    let id = Path::root().attribute("id");
    let is_text = id.find(&bare).is_some_and(|it| it.ty() == formwork_value::Type::String);
    if is_text {
        bare = generate::replace_part(&bare, &id, Value::string("conformance")).unwrap_or(bare);
    }
    let call = call_read(suite, offered, &bare, &Bytes::new()).await;
    suite.check_survives_call("R-07", &call, || {
        Finding::new("R-07", &subject, "a state with an id only brings it down")
            .with_call(&call)
            .with_input(display_value(&bare))
    });
    let state = super::upgrade_and_move::generate_stored_object(suite, offered, 0);
    // Not UTF-8, JSON that is cut off, and a key of those that plugin-framework keeps for itself.
    for private in [&b"\xff\xfe not json"[..], b"{\"x\":[1,2", b"{\".frameworkKey\":7}"] {
        let call = call_read(suite, offered, &state, &Bytes::copy_from_slice(private)).await;
        suite.check_survives_call("R-09", &call, || {
            Finding::new("R-09", &subject, "foreign private data brings it down").with_call(&call)
        });
    }
}

fn import_request(offered: &OfferedType, id: &str) -> Msg {
    Msg::new()
        .with_text(1, &offered.name)
        .with_text(2, id)
        .with_message(3, &request::client_capabilities())
}

async fn check_imports_of_missing_objects(suite: &mut Suite, offered: &OfferedType, tracks: bool) {
    let subject = offered.display_name();
    let long = "x".repeat(64 * 1024);
    // An id goes into URLs, paths and commands, where each of these may have a meaning.
    let unusual_ids =
        ["", " ", "\u{0}", "../../x", "a/b/c,d:e|f", "\u{1f600}\u{202e}", "%s%n{{}}", "-1", &long];
    for id in unusual_ids {
        let call = suite.call(Rpc::ImportResourceState, &import_request(offered, id)).await;
        suite.check_survives_call("I-07", &call, || {
            let shown_id = crate::plugin::truncate(id, 40);
            Finding::new("I-07", &subject, "an odd import id brings it down")
                .with_call(&call)
                .with_input(format!("{shown_id:?}"))
        });
    }
    let call = suite
        .call(Rpc::ImportResourceState, &import_request(offered, "conformance-no-such-id"))
        .await;
    let Some(answer) = call.first_message() else { return };
    let imported = answer.repeated_messages(1);
    let silent = !call.diagnostics().iter().any(Diag::is_error) && !answer.has_field(3);
    suite.record_case("I-02", !silent || !imported.is_empty(), || {
        Finding::new("I-02", &subject, "an import without a result returns no error")
            .with_call(&call)
            .with_expected_and_found("an error", "no object and no error")
    });
    for object in imported.iter().filter(|_| silent) {
        let name = object.get_text(1);
        let Some(own_import) =
            suite.offer.usable_types_of_kind(Kind::Resource).find(|it| it.name == name).cloned()
        else {
            suite.record_case("I-03", false, || {
                Finding::new("I-03", &subject, format!("the imported type {name:?} does not exist"))
                    .with_call(&call)
            });
            continue;
        };
        let decoded = decode_dynamic(object.get_msg(2), &own_import.ty());
        let problem = match &decoded {
            Err(reason) => Some(reason.clone()),
            Ok(None) => Some("the imported object has no state".to_owned()),
            Ok(Some(value)) if value.value().is_null() => {
                Some("the imported object is null".to_owned())
            }
            Ok(Some(value)) => {
                unknown_violations(value, own_import.block()).first().map(ToString::to_string)
            }
        };
        suite.record_case("I-03", problem.is_none(), || {
            Finding::new("I-03", &subject, problem.clone().unwrap_or_default()).with_call(&call)
        });
        // A provider without a service accepts every id.
        let (Ok(Some(state)), true) = (decoded, tracks) else {
            suite.note_skipped_rules(
                &["I-01"],
                "no resource type can detect whether an object \
                exists",
            );
            continue;
        };
        let back = call_read(suite, &own_import, state.value(), &object.get_bytes(3)).await;
        let read_message = back.first_message().filter(|_| back.is_success());
        let exists = read_message
            .and_then(|it| decode_dynamic(it.get_msg(1), &own_import.ty()).ok().flatten())
            .is_some_and(|it| !it.value().is_null());
        suite.record_case("I-01", !exists, || {
            Finding::new("I-01", &subject, "an id that does not exist is imported and read")
                .with_call(&call)
                .with_call(&back)
                .with_expected_and_found("an error, or null when reading", "an object")
        });
    }
    // The error is the right answer.
    if !silent {
        suite.record_case("I-01", true, || Finding::new("I-01", "", ""));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_id_is_ignored() {
        let with = |id: Value| Value::object([("id", id), ("name", Value::string(""))]);
        assert!(has_id_if_declared(&with(Value::string("conformance"))));
        assert!(has_id_if_declared(&with(Value::int(0))));
        assert!(has_id_if_declared(&Value::object([("name", Value::string(""))])));
        for id in [Value::string(""), Value::null(formwork_value::Type::String)] {
            assert!(!has_id_if_declared(&with(id)));
        }
    }
}
