//! Changes of objects and outputs, as plans and event streams contain them.

use formwork_core::addr::Mode;
use formwork_core::change::{
    Action, Change, ImportKey, Importing, OutputChange, Reason, ReplaceOrder,
};
use formwork_value::{Marks, Value};

use super::state::head;
use super::tree::Json;
use super::value;

/// The names of an action, in order.
pub(crate) fn actions(action: Action) -> Json {
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
pub(crate) fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::ReplaceBecauseTainted => "replace_because_tainted",
        Reason::ReplaceByRequest => "replace_by_request",
        Reason::ReplaceBecauseCannotUpdate => "replace_because_cannot_update",
        Reason::ReplaceByTriggers => "replace_by_triggers",
        Reason::DeleteBecauseNoResourceConfig => "delete_because_no_resource_config",
        Reason::DeleteBecauseWrongRepetition => "delete_because_wrong_repetition",
        Reason::DeleteBecauseCountIndex => "delete_because_count_index",
        Reason::DeleteBecauseEachKey => "delete_because_each_key",
        Reason::DeleteBecauseNoMoveTarget => "delete_because_no_move_target",
        Reason::DeleteBecauseNoModule => "delete_because_no_module",
        Reason::ReadBecauseConfigUnknown => "read_because_config_unknown",
        Reason::ReadBecauseDependencyPending => "read_because_dependency_pending",
        Reason::ReadBecauseCheckNested => "read_because_check_nested",
    }
}

/// The change of an object.
pub(crate) fn resource(change: &Change) -> Json {
    let addr = &change.addr;
    let mut members = head(addr, &change.provider.provider.to_string());
    if !addr.module.is_root() {
        members.insert(1, ("module_address", Some(Json::text(addr.module.to_string()))));
    }
    let previous = change.moved_from.as_ref().map(|from| Json::text(from.to_string()));
    members.insert(1, ("previous_address", previous));
    let replace = change.replace_paths.iter().map(value::path);
    let inner = Json::some([
        ("actions", Some(actions(change.action))),
        ("before", Some(value::known(&change.before))),
        ("after", Some(value::known(&change.after))),
        ("after_unknown", Some(unknown_after(&change.after))),
        ("before_sensitive", Some(value::sensitive(&change.before))),
        ("after_sensitive", Some(value::sensitive(&change.after))),
        ("replace_paths", Json::Array(replace.collect()).filled()),
        ("importing", change.importing.as_ref().map(importing)),
        ("generated_config", generated_config(change)),
    ]);
    members.extend([
        ("deposed", change.deposed.as_ref().map(|key| Json::text(key.0.as_str()))),
        ("change", Some(inner)),
        ("action_reason", change.reason.map(|why| Json::text(reason(why)))),
    ]);
    Json::some(members)
}

/// Import of an object.
pub(crate) fn importing(importing: &Importing) -> Json {
    match &importing.import_key {
        ImportKey::Id(id) => Json::object([("id", Json::text(id.as_str()))]),
        ImportKey::Identity(identity) => Json::object([("identity", value::known(identity))]),
    }
}

/// The configuration that was made for an imported object.
pub(crate) fn generated_config(change: &Change) -> Option<Json> {
    change.importing.as_ref()?.generated_config.as_ref().map(Json::text)
}

fn unknown_after(after: &Value) -> Json {
    if after.is_wholly_known() {
        return Json::Object(Vec::new());
    }
    value::unknown(after)
}

/// Whether a change is listed: the removal of a data source is not.
pub(crate) fn is_listed(change: &Change) -> bool {
    !(change.addr.resource.mode() == Mode::Data && change.action == Action::Delete)
}

/// The change of an output.
pub(crate) fn output(change: &OutputChange) -> Json {
    let sensitive = Json::Bool(change.sensitive || change.after.marks().contains(Marks::SENSITIVE));
    let unknown = if change.after.is_wholly_known() {
        Json::Bool(false)
    } else {
        value::unknown(&change.after)
    };
    let after = (!change.after.is_unknown()).then(|| value::known(&change.after));
    Json::some([
        ("actions", Some(actions(change.action))),
        ("before", Some(value::known(&change.before))),
        ("after", after),
        ("after_unknown", Some(unknown)),
        ("before_sensitive", Some(sensitive.clone())),
        ("after_sensitive", Some(sensitive)),
    ])
}
