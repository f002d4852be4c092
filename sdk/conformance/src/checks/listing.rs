//! Checks of list resources (L) without objects of the run.

use formwork_value::Value;

use super::plan::identity_problem;
use crate::finding::Finding;
use crate::message::Msg;
use crate::offer::{Kind, OfferedType};
use crate::plugin::{Call, Reply};
use crate::request::{decode_dynamic, encode_dynamic};
use crate::rpc::Rpc;
use crate::suite::Suite;

/// The requested limit.
const REQUESTED_LIST_LIMIT: u64 = 2;

/// Checks the family.
pub(super) async fn run(suite: &mut Suite) {
    let lists: Vec<OfferedType> = suite.offer.usable_types_of_kind(Kind::List).cloned().collect();
    // A list queries the service, which needs a configured provider.
    if !suite.wants_any(&["L-02", "L-03"]) || !suite.configured {
        return;
    }
    for offered in &lists {
        let configs = suite.legal_configs(offered).await;
        if configs.is_empty() {
            suite.note_skipped_rules(
                &["L-02", "L-03"],
                "no legal configuration was found; give one with -examples",
            );
        }
        for config in configs.iter().take(2) {
            let call = list_objects(suite, offered, config, REQUESTED_LIST_LIMIT).await;
            check_list_answer(suite, offered, &call);
        }
    }
}

/// Lists objects with their content.
pub(super) async fn list_objects(
    suite: &mut Suite,
    offered: &OfferedType,
    config: &Value,
    limit: u64,
) -> Call {
    // Field 3 requests whole objects, so that they can be checked.
    let request = Msg::new()
        .with_text(1, &offered.name)
        .with_message(2, &encode_dynamic(config, &offered.ty()))
        .with_nonzero_int(3, 1)
        .with_nonzero_int(4, limit);
    suite.call(Rpc::ListResource, &request).await
}

fn check_list_answer(suite: &mut Suite, offered: &OfferedType, call: &Call) {
    let subject = offered.display_name();
    let events = match &call.reply {
        Reply::Answered(events) => events.clone(),
        // A stream without events has no message.
        Reply::Garbage if call.recorded.answers.is_empty() => Vec::new(),
        Reply::Refused(..) => {
            return suite.note_skipped_rules(&["L-02", "L-03"], "listing is refused");
        }
        _ => {
            return suite.record_case("L-02", false, || {
                Finding::new("L-02", &subject, "listing does not end or crashes").with_call(call)
            });
        }
    };
    // An event with only diagnostics is not an object.
    let number = events.iter().filter(|it| it.has_field(1) || it.has_field(3)).count() as u64;
    suite.record_case("L-02", number <= REQUESTED_LIST_LIMIT, || {
        Finding::new("L-02", &subject, "more objects than the limit")
            .with_call(call)
            .with_expected_and_found(REQUESTED_LIST_LIMIT.to_string(), number.to_string())
    });
    check_listed_objects(suite, offered, &events, call);
}

/// Holds listed objects to the schema of their resource type.
pub(super) fn check_listed_objects(
    suite: &mut Suite,
    offered: &OfferedType,
    events: &[Msg],
    call: &Call,
) {
    let subject = offered.display_name();
    let resource = suite
        .offer
        .usable_types_of_kind(Kind::Resource)
        .find(|it| it.name == offered.name)
        .cloned();
    for event in events {
        let mut problem = match (event.get_msg(3), &resource) {
            (Some(object), Some(resource)) => decode_dynamic(Some(object), &resource.ty()).err(),
            _ => None,
        };
        if let (None, Some(resource)) = (&problem, &resource) {
            problem = identity_problem(suite, resource, event.get_msg(1));
        }
        suite.record_case("L-03", problem.is_none(), || {
            Finding::new("L-03", &subject, problem.unwrap_or_default()).with_call(call)
        });
    }
    if events.is_empty() {
        suite.note_skipped_rules(&["L-03"], "no object was listed");
    }
}
