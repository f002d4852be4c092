//! Results of conditions, as plans and states contain them.

use formwork_core::addr::{InstanceKey, ResourceMode};
use formwork_core::state::checks::{CheckResult, CheckResults, CheckSubject, CheckedObject};

use super::json_builder::Json;
use super::state::index_to_json;

/// All results, in the order of their addresses.
pub(crate) fn checks_document(results: &CheckResults) -> Json {
    let mut checks_by_subject: Vec<(String, Json)> =
        results.0.iter().map(|result| (result.block_addr(), check_to_json(result))).collect();
    checks_by_subject.sort_by(|a, b| a.0.cmp(&b.0));
    Json::Array(checks_by_subject.into_iter().map(|(_, json)| json).collect())
}

fn check_to_json(result: &CheckResult) -> Json {
    let objects = result.objects.iter().flatten().map(|object| instance_to_json(result, object));
    Json::object_of_some([
        ("address", Some(address_to_json(result))),
        ("status", Some(Json::text(result.status.as_str()))),
        ("instances", Json::Array(objects.collect()).none_if_empty()),
    ])
}

fn address_to_json(result: &CheckResult) -> Json {
    let module = (!result.module.is_root()).then(|| Json::text(result.module.to_string()));
    let (kind, mode, ty, name) = match &result.subject {
        CheckSubject::Check(name) => ("check", None, None, name),
        CheckSubject::Output(name) => ("output_value", None, None, name),
        CheckSubject::Variable(name) => ("var", None, None, name),
        CheckSubject::Resource(name) => {
            let mode = match name.mode() {
                ResourceMode::Managed => "managed",
                ResourceMode::Data => "data",
                ResourceMode::Ephemeral => "ephemeral",
            };
            (
                "resource",
                Some(Json::text(mode)),
                Some(Json::text(name.resource_type().as_str())),
                name.name(),
            )
        }
    };
    Json::object_of_some([
        ("kind", Some(Json::text(kind))),
        ("mode", mode),
        ("module", module),
        ("name", Some(Json::text(name.as_str()))),
        ("to_display", Some(Json::text(result.block_addr()))),
        ("type", ty),
    ])
}

fn instance_to_json(result: &CheckResult, object: &CheckedObject) -> Json {
    let module = (!object.module.is_root()).then(|| Json::text(object.module.to_string()));
    let key = match &object.key {
        InstanceKey::None => None,
        key => index_to_json(key),
    };
    let address = Json::object_of_some([
        ("instance_key", key),
        ("module", module),
        ("to_display", Some(Json::text(result.object_addr(object)))),
    ]);
    let problems = object.messages.iter();
    let problems = problems.map(|message| Json::object([("message", Json::text(message))]));
    Json::object_of_some([
        ("address", Some(address)),
        ("status", Some(Json::text(object.status.as_str()))),
        ("problems", Json::Array(problems.collect()).none_if_empty()),
    ])
}
