//! Ways to find an object that exists: import by id and identity, listing, generated configuration
//! (I-04 to I-08, L-01).

use formwork_value::{Path, Value};

use super::Object;
use crate::checks::display_value;
use crate::checks::plan::plan_input;
use crate::finding::Finding;
use crate::message::Msg;
use crate::offer::{GENERATE_CONFIG_CAPABILITY, Kind, OfferedType};
use crate::plugin::Call;
use crate::request::{self, decode_dynamic, encode_dynamic};
use crate::rpc::Rpc;
use crate::suite::Suite;

/// Looks for an object that exists.
pub(super) async fn check_import_and_list(
    suite: &mut Suite,
    offered: &OfferedType,
    object: &Object,
) {
    let by_id = match object_id(object) {
        Some(id) if suite.wants_any(&["I-04", "I-05", "I-06"]) => {
            let request = Msg::new()
                .with_text(1, &offered.name)
                .with_text(2, &id)
                .with_message(3, &request::client_capabilities());
            import_and_read(suite, offered, &request).await
        }
        _ => None,
    };
    match &by_id {
        Some((call, value)) => check_imported_object(suite, offered, object, call, value).await,
        None => {
            suite.note_skipped_rules(&["I-04", "I-05"], "no object could be imported by its id");
        }
    }
    check_import_by_identity(suite, offered, object, by_id.as_ref()).await;
    check_object_is_listed(suite, offered, object).await;
    check_generated_config(suite, offered, object).await;
}

fn object_id(object: &Object) -> Option<String> {
    // The protocol does not define the id. By convention, it is the attribute `id`.
    match Path::root().attribute("id").find(&object.value) {
        Some(Value::String(text)) if !text.as_str().is_empty() => Some(text.as_str().to_owned()),
        _ => None,
    }
}

/// Imports and reads, as a host does.
pub(super) async fn import_and_read(
    suite: &mut Suite,
    offered: &OfferedType,
    request: &Msg,
) -> Option<(Call, Value)> {
    let call = suite.call(Rpc::ImportResourceState, request).await;
    let answer = call.first_message().filter(|_| call.is_success())?;
    // An import may return objects of further types.
    let object =
        answer.repeated_messages(1).into_iter().find(|it| it.get_text(1) == offered.name)?;
    let state = decode_dynamic(object.get_msg(2), &offered.ty()).ok()??;
    let identity = object.get_msg(4);
    // A host reads an object after its import, and only this read has to complete it.
    let request =
        request::read_request(offered, state.value(), &object.get_bytes(3), identity.as_ref());
    let back = suite.call(Rpc::ReadResource, &request).await;
    let value = decode_dynamic(
        back.first_message().filter(|_| back.is_success())?.get_msg(1),
        &offered.ty(),
    )
    .ok()??;
    (!value.value().is_null()).then(|| (call, value.into_value()))
}

async fn check_imported_object(
    suite: &mut Suite,
    offered: &OfferedType,
    object: &Object,
    call: &Call,
    value: &Value,
) {
    let differs = crate::checks::differing_paths(&object.value, value);
    suite.record_case("I-04", differs.is_empty(), || {
        let path = differs.first().cloned().unwrap_or_default();
        let part = |value: &Value| path.find(value).map(display_value).unwrap_or_default();
        Finding::new(
            "I-04",
            &offered.display_name(),
            "an imported object is not the one that was created",
        )
        .with_path(&path)
        .with_call(call)
        .with_expected_and_found(part(&object.value), part(value))
    });
    let second_input = plan_input(offered, value.clone(), object.config.clone());
    let plan =
        suite.call(Rpc::PlanResourceChange, &request::plan_request(offered, &second_input)).await;
    let planned = decode_dynamic(plan.first_message().and_then(|it| it.get_msg(1)), &offered.ty())
        .ok()
        .flatten();
    let held = plan.is_success() && planned.is_some_and(|it| it.value() == value);
    suite.record_case("I-05", held, || {
        Finding::new("I-05", &offered.display_name(), "the plan after an import is not empty")
            .with_call(&plan)
    });
}

async fn check_import_by_identity(
    suite: &mut Suite,
    offered: &OfferedType,
    object: &Object,
    by_id: Option<&(Call, Value)>,
) {
    let Some(identity) = object.identity.as_ref().filter(|_| suite.is_rule_wanted("I-06")) else {
        return suite.note_skipped_rules(&["I-06"], "no object has an identity");
    };
    // Without an id, because hosts send one of the two.
    let request = Msg::new()
        .with_text(1, &offered.name)
        .with_message(3, &request::client_capabilities())
        .with_message(4, identity);
    let Some((call, value)) = import_and_read(suite, offered, &request).await else {
        return suite.note_skipped_rules(&["I-06"], "no object could be imported by its identity");
    };
    // Without an import by id, the created object is the measure.
    let expected = by_id.map_or(&object.value, |(_, value)| value);
    suite.record_case("I-06", value == *expected, || {
        Finding::new(
            "I-06",
            &offered.display_name(),
            "import by identity gives another object than by id",
        )
        .with_call(&call)
        .with_expected_and_found(display_value(expected), display_value(&value))
    });
}

async fn check_object_is_listed(suite: &mut Suite, offered: &OfferedType, object: &Object) {
    let list =
        suite.offer.usable_types_of_kind(Kind::List).find(|it| it.name == offered.name).cloned();
    let Some(list) = list.filter(|_| suite.wants_any(&["L-01", "L-03"])) else { return };
    let Some(identity) = &object.identity else {
        return suite.note_skipped_rules(&["L-01"], "no listed type has an identity");
    };
    let configs = suite.legal_configs(&list).await;
    let Some(config) = configs.first() else {
        return suite.note_skipped_rules(
            &["L-01"],
            "no legal configuration of the list resource was found",
        );
    };
    let call = crate::checks::listing::list_objects(suite, &list, config, 1000).await;
    let ty = suite.offer.identities.get(&offered.name).map(|(_, ty, _)| ty.clone());
    let Some(ty) = ty else { return };
    // Compared as values, because equal ones may have different bytes.
    let own_identity = decode_dynamic(identity.get_msg(1), &ty).ok().flatten();
    let events = match &call.reply {
        crate::plugin::Reply::Answered(events) => events.clone(),
        _ => Vec::new(),
    };
    crate::checks::listing::check_listed_objects(suite, &list, &events, &call);
    let is_listed = events.iter().any(|event| {
        let data = event.get_msg(1).and_then(|it| it.get_msg(1));
        decode_dynamic(data, &ty).ok().flatten() == own_identity
    });
    suite.record_case("L-01", is_listed, || {
        Finding::new("L-01", &list.display_name(), "listing does not find an object that exists")
            .with_call(&call)
    });
}

async fn check_generated_config(suite: &mut Suite, offered: &OfferedType, object: &Object) {
    if !suite.is_rule_wanted("I-08") {
        return;
    }
    if !suite.offer.has_capability(GENERATE_CONFIG_CAPABILITY) {
        return suite.note_skipped_rules(&["I-08"], "the provider does not generate configuration");
    }
    let ty = offered.ty();
    let request =
        Msg::new().with_text(1, &offered.name).with_message(2, &encode_dynamic(&object.value, &ty));
    let call = suite.call(Rpc::GenerateResourceConfig, &request).await;
    let config = decode_dynamic(
        call.first_message().filter(|_| call.is_success()).and_then(|it| it.get_msg(1)),
        &ty,
    );
    let Ok(Some(config)) = config else {
        return suite.record_case("I-08", false, || {
            Finding::new("I-08", &offered.display_name(), "no configuration is generated")
                .with_call(&call)
        });
    };
    let verdict = suite.call_validate(offered, config.value()).await;
    suite.record_case("I-08", verdict.is_success(), || {
        Finding::new("I-08", &offered.display_name(), "generated configuration is not valid")
            .with_call(&verdict)
            .with_input(display_value(config.value()))
    });
    let second_input = plan_input(offered, object.value.clone(), config.into_value());
    let plan =
        suite.call(Rpc::PlanResourceChange, &request::plan_request(offered, &second_input)).await;
    let planned =
        decode_dynamic(plan.first_message().and_then(|it| it.get_msg(1)), &ty).ok().flatten();
    suite.record_case("I-08", planned.is_some_and(|it| *it.value() == object.value), || {
        Finding::new("I-08", &offered.display_name(), "generated configuration plans a change")
            .with_call(&plan)
    });
}
