//! Results of conditions, as plans and states contain them.

use formwork_core::addr::{InstanceKey, Mode};
use formwork_core::state::checks::{CheckResult, CheckResults, CheckSubject, CheckedObject};

use super::state::index;
use super::tree::Json;

/// All results, in the order of their addresses.
pub(crate) fn document(results: &CheckResults) -> Json {
    let mut all: Vec<(String, Json)> =
        results.0.iter().map(|result| (result.addr(), one(result))).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    Json::Array(all.into_iter().map(|(_, json)| json).collect())
}

fn one(result: &CheckResult) -> Json {
    let objects = result.objects.iter().flatten().map(|object| instance(result, object));
    Json::some([
        ("address", Some(address(result))),
        ("status", Some(Json::text(result.status.word()))),
        ("instances", Json::Array(objects.collect()).filled()),
    ])
}

fn address(result: &CheckResult) -> Json {
    let module = (!result.module.is_root()).then(|| Json::text(result.module.to_string()));
    let (kind, mode, ty, name) = match &result.subject {
        CheckSubject::Check(name) => ("check", None, None, name),
        CheckSubject::Output(name) => ("output_value", None, None, name),
        CheckSubject::Variable(name) => ("var", None, None, name),
        CheckSubject::Resource(name) => {
            let mode = match name.mode() {
                Mode::Managed => "managed",
                Mode::Data => "data",
                Mode::Ephemeral => "ephemeral",
            };
            (
                "resource",
                Some(Json::text(mode)),
                Some(Json::text(name.kind().as_str())),
                name.name(),
            )
        }
    };
    Json::some([
        ("kind", Some(Json::text(kind))),
        ("mode", mode),
        ("module", module),
        ("name", Some(Json::text(name.as_str()))),
        ("to_display", Some(Json::text(result.addr()))),
        ("type", ty),
    ])
}

fn instance(result: &CheckResult, object: &CheckedObject) -> Json {
    let module = (!object.module.is_root()).then(|| Json::text(object.module.to_string()));
    let key = match &object.key {
        InstanceKey::None => None,
        key => index(key),
    };
    let address = Json::some([
        ("instance_key", key),
        ("module", module),
        ("to_display", Some(Json::text(result.object_addr(object)))),
    ]);
    let problems = object.messages.iter();
    let problems = problems.map(|message| Json::object([("message", Json::text(message))]));
    Json::some([
        ("address", Some(address)),
        ("status", Some(Json::text(object.status.word()))),
        ("problems", Json::Array(problems.collect()).filled()),
    ])
}
