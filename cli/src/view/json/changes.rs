//! Changes of objects and outputs, as plans and event streams contain them.

use formwork_core::addr::ResourceMode;
use formwork_core::change::{
    Action, ActionReason, Change, ImportKey, OutputChange, PlannedImport, ReplaceOrder,
};
use formwork_value::{Marks, Value};

use super::json_builder::Json;
use super::state::instance_members;
use super::value;

/// The names of an action, in order.
pub(crate) fn action_names(action: Action) -> Json {
    let names: &[&str] = match action {
        Action::NoOp => &["no-op"],
        Action::Create => &["create"],
        Action::Read => &["read"],
        Action::Update => &["update"],
        Action::Delete => &["delete"],
        Action::Forget => &["forget"],
        Action::Replace(ReplaceOrder::DestroyFirst) => &["delete", "create"],
        Action::Replace(ReplaceOrder::CreateFirst) => &["create", "delete"],
    };
    Json::Array(names.iter().map(|name| Json::text(*name)).collect())
}

/// The name of a reason.
pub(crate) fn reason_name(reason: ActionReason) -> &'static str {
    match reason {
        ActionReason::ReplaceBecauseTainted => "replace_because_tainted",
        ActionReason::ReplaceByRequest => "replace_by_request",
        ActionReason::ReplaceBecauseCannotUpdate => "replace_because_cannot_update",
        ActionReason::ReplaceByTriggers => "replace_by_triggers",
        ActionReason::DeleteBecauseNoResourceConfig => "delete_because_no_resource_config",
        ActionReason::DeleteBecauseWrongRepetition => "delete_because_wrong_repetition",
        ActionReason::DeleteBecauseCountIndex => "delete_because_count_index",
        ActionReason::DeleteBecauseEachKey => "delete_because_each_key",
        ActionReason::DeleteBecauseNoMoveTarget => "delete_because_no_move_target",
        ActionReason::DeleteBecauseNoModule => "delete_because_no_module",
        ActionReason::ReadBecauseConfigUnknown => "read_because_config_unknown",
        ActionReason::ReadBecauseDependencyPending => "read_because_dependency_pending",
        ActionReason::ReadBecauseCheckNested => "read_because_check_nested",
    }
}

/// The change of an object.
pub(crate) fn change_to_json(change: &Change) -> Json {
    let addr = &change.addr;
    let mut members = instance_members(addr, &change.provider.provider.to_string());
    if !addr.module.is_root() {
        members.insert(1, ("module_address", Some(Json::text(addr.module.to_string()))));
    }
    let previous = change.moved_from.as_ref().map(|from| Json::text(from.to_string()));
    members.insert(1, ("previous_address", previous));
    let replace = change.replace_paths.iter().map(value::path_to_json);
    let inner = Json::object_of_some([
        ("actions", Some(action_names(change.action))),
        ("before", Some(value::value_to_json(&change.before))),
        ("after", Some(value::value_to_json(&change.after))),
        ("after_unknown", Some(unknown_after(&change.after))),
        ("before_sensitive", Some(value::sensitive_to_json(&change.before))),
        ("after_sensitive", Some(value::sensitive_to_json(&change.after))),
        ("replace_paths", Json::Array(replace.collect()).none_if_empty()),
        ("importing", change.importing.as_ref().map(import_to_json)),
        ("generated_config", generated_config(change)),
    ]);
    members.extend([
        ("deposed", change.deposed.as_ref().map(|key| Json::text(key.0.as_str()))),
        ("change", Some(inner)),
        ("action_reason", change.reason.map(|reason| Json::text(reason_name(reason)))),
    ]);
    Json::object_of_some(members)
}

/// Import of an object.
pub(crate) fn import_to_json(importing: &PlannedImport) -> Json {
    match &importing.import_key {
        ImportKey::Id(id) => Json::object([("id", Json::text(id.as_str()))]),
        ImportKey::Identity(identity) => {
            Json::object([("identity", value::value_to_json(identity))])
        }
    }
}

/// The configuration that was generated for an imported object.
pub(crate) fn generated_config(change: &Change) -> Option<Json> {
    change.importing.as_ref()?.generated_config.as_ref().map(Json::text)
}

fn unknown_after(after: &Value) -> Json {
    if after.is_wholly_known() {
        return Json::Object(Vec::new());
    }
    value::unknown_to_json(after)
}

/// Whether a change is listed: the removal of a data source is not.
pub(crate) fn is_not_data_removal(change: &Change) -> bool {
    !(change.addr.resource.mode() == ResourceMode::Data && change.action == Action::Delete)
}

/// The change of an output.
pub(crate) fn output_change_to_json(change: &OutputChange) -> Json {
    let sensitive = Json::Bool(change.sensitive || change.after.marks().contains(Marks::SENSITIVE));
    let unknown = if change.after.is_wholly_known() {
        Json::Bool(false)
    } else {
        value::unknown_to_json(&change.after)
    };
    let after = (!change.after.is_unknown()).then(|| value::value_to_json(&change.after));
    Json::object_of_some([
        ("actions", Some(action_names(change.action))),
        ("before", Some(value::value_to_json(&change.before))),
        ("after", after),
        ("after_unknown", Some(unknown)),
        ("before_sensitive", Some(sensitive.clone())),
        ("after_sensitive", Some(sensitive)),
    ])
}
