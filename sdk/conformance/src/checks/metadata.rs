//! Checks of the provider's declarations other than the schema (S-09 to S-11).

use std::collections::BTreeSet;
use std::time::Duration;

use crate::finding::Finding;
use crate::message::Msg;
use crate::offer::{
    GENERATE_CONFIG_CAPABILITY, Kind, MOVE_STATE_CAPABILITY, SCHEMA_OPTIONAL_CAPABILITY,
};
use crate::plugin::Reply;
use crate::request;
use crate::rpc::Rpc;
use crate::suite::Suite;

/// Checks the family.
pub(super) async fn run(suite: &mut Suite) {
    check_metadata(suite).await;
    check_calls_without_schema(suite).await;
    check_capabilities(suite).await;
}

async fn check_metadata(suite: &mut Suite) {
    if !suite.is_rule_wanted("S-09") {
        return;
    }
    let call = suite.call(Rpc::GetMetadata, &Msg::new()).await;
    // Terraform never calls it. It is for programs that join several providers into one.
    if matches!(&call.reply, Reply::Refused(code, _) if code == "Unimplemented") {
        return suite.note_skipped_rules(&["S-09"], "the provider does not implement GetMetadata");
    }
    let Some(answer) = call.first_message() else {
        return suite.record_case("S-09", false, || {
            Finding::new("S-09", "provider", "GetMetadata has no answer").with_call(&call)
        });
    };
    // Actions and state stores have changed their numbers between versions, so they are compared as one.
    let kinds = [
        (&[Kind::DataSource][..], &[3][..]),
        (&[Kind::Resource], &[4]),
        (&[Kind::Ephemeral], &[6]),
        (&[Kind::List], &[7]),
        (&[Kind::Action, Kind::Store], &[8, 9]),
    ];
    for (kinds, fields) in kinds {
        let listed: BTreeSet<String> = fields
            .iter()
            .flat_map(|field| answer.repeated_messages(*field))
            .map(|it| it.get_text(1))
            .collect();
        let offered_types = suite.offer.types.iter().filter(|it| kinds.contains(&it.kind));
        let expected: BTreeSet<String> = offered_types.map(|it| it.name.clone()).collect();
        check_listed_types(suite, kinds[0].noun(), &expected, &listed, &call);
    }
    let listed: BTreeSet<String> =
        answer.repeated_messages(5).iter().map(|it| it.get_text(1)).collect();
    let expected = suite.offer.functions.iter().map(|it| it.name.clone()).collect();
    check_listed_types(suite, "function", &expected, &listed, &call);
    let capabilities = |message: Option<Msg>| {
        let message = message.unwrap_or_default();
        (1..=4).map(|number| message.get_bool(number)).collect::<Vec<_>>()
    };
    let (schema_names, listed_names) =
        (capabilities(suite.offer.raw.get_msg(6)), capabilities(answer.get_msg(1)));
    suite.record_case("S-09", schema_names == listed_names, || {
        Finding::new("S-09", "provider", "the capabilities differ from those of the schema")
            .with_expected_and_found(format!("{schema_names:?}"), format!("{listed_names:?}"))
            .with_call(&call)
    });
}

fn check_listed_types(
    suite: &mut Suite,
    difference: &str,
    expected: &BTreeSet<String>,
    listed: &BTreeSet<String>,
    call: &crate::plugin::Call,
) {
    let differing_names: Vec<&String> = expected.symmetric_difference(listed).take(10).collect();
    suite.record_case("S-09", differing_names.is_empty(), || {
        Finding::new("S-09", difference, "GetMetadata and the schema list different types")
            .with_expected_and_found(
                format!("{} in the schema", expected.len()),
                format!("only in one of them: {differing_names:?}"),
            )
            .with_call(call)
    });
}

/// Calls in a process that never served its schema.
async fn check_calls_without_schema(suite: &mut Suite) {
    if !suite.is_rule_wanted("S-10") {
        return;
    }
    if !suite.offer.has_capability(SCHEMA_OPTIONAL_CAPABILITY) {
        return suite.note_skipped_rules(&["S-10"], "the provider does not claim it");
    }
    // A process that never served its schema.
    let Ok(new_process) = suite.start_another_process().await else { return };
    let types: Vec<_> = suite.offer.types.iter().filter(|it| it.is_whole).cloned().collect();
    for offered in types.iter().take(40) {
        let config = suite.generate_config(offered, crate::generate::ConfigExtent::Required, 0);
        let request = request::validate_request(offered, &config);
        let rpc = request::validate_rpc(offered.kind);
        let expected = suite.call(rpc, &request).await;
        let call = new_process.call(rpc, &request, Duration::from_secs(20)).await;
        let held =
            super::compare_answers::matches_usual_answer(suite, &request, &expected, &call).await;
        suite.record_case("S-10", held, || {
            Finding::new(
                "S-10",
                &offered.display_name(),
                "another answer before the schema was requested",
            )
            .with_call(&call)
            .with_expected_and_found(expected.describe_outcome(), call.describe_outcome())
        });
    }
}

/// Whether claimed capabilities are implemented. The capability of planning destruction is checked there.
async fn check_capabilities(suite: &mut Suite) {
    if !suite.is_rule_wanted("S-11") {
        return;
    }
    let Some(resource) = suite.offer.usable_types_of_kind(Kind::Resource).next().cloned() else {
        return suite.note_skipped_rules(&["S-11"], "the provider has no resource");
    };
    // An empty object is enough: the rule checks whether the call exists, and not its answer.
    let state = Msg::new().with_bytes(1, b"{}".to_vec());
    let moved = Msg::new()
        .with_text(1, "registry.terraform.io/a/b")
        .with_text(2, "a_b")
        .with_message(4, &state);
    let null = request::encode_dynamic(&super::null_object(&resource.ty()), &resource.ty());
    for (capability, rpc, request) in [
        (MOVE_STATE_CAPABILITY, Rpc::MoveResourceState, moved.with_text(5, &resource.name)),
        (
            GENERATE_CONFIG_CAPABILITY,
            Rpc::GenerateResourceConfig,
            Msg::new().with_text(1, &resource.name).with_message(2, &null),
        ),
    ] {
        if suite.offer.has_capability(capability) {
            let call = suite.call(rpc, &request).await;
            let lacks = matches!(&call.reply, Reply::Refused(code, _) if code == "Unimplemented");
            suite.record_case("S-11", !lacks, || {
                Finding::new("S-11", "provider", "a capability is claimed but not implemented")
                    .with_call(&call)
            });
        }
    }
}
