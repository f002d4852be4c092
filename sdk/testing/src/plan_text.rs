//! A plan as text, for tests: short and deterministic.

use std::fmt::Write as _;

use formwork_core::change::{Action, Change, ReplaceOrder};
use formwork_core::plan::Plan;
use formwork_value::{Path, Value};

/// The changes of a plan, one object after the other.
pub(crate) fn render_plan(plan: &Plan) -> String {
    let mut out = String::new();
    for drifted in plan.reported_drift() {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "drift {}", drifted.addr);
        write_changed_attributes(&mut out, drifted);
    }
    for change in plan.changes.values().filter(|change| change.needs_apply()) {
        let _ = write!(out, "{} {}", action_sign(change.action), change.addr);
        if let Some(importing) = &change.importing {
            let _ = write!(out, " (imported by {})", importing.import_key);
        }
        if let Some(from) = &change.moved_from {
            let _ = write!(out, " (was {from})");
        }
        out.push('\n');
        write_changed_attributes(&mut out, change);
    }
    for (name, output) in plan.outputs.iter().filter(|(_, output)| output.action != Action::NoOp) {
        let _ = writeln!(
            out,
            "{} output.{name} = {}",
            action_sign(output.action),
            render_value(&output.after)
        );
    }
    if out.is_empty() { "nothing to do\n".to_owned() } else { out }
}

fn action_sign(action: Action) -> &'static str {
    match action {
        Action::NoOp => "=",
        Action::Create => "+",
        Action::Read => "<=",
        Action::Update => "~",
        Action::Delete => "-",
        Action::Forget => ".",
        Action::Replace(ReplaceOrder::DestroyFirst) => "-/+",
        Action::Replace(ReplaceOrder::CreateFirst) => "+/-",
    }
}

/// Changed attributes of an object. A deleted object has none, because all are removed.
fn write_changed_attributes(out: &mut String, change: &Change) {
    // An object that is deleted has no attributes to show.
    let Value::Object(after) = change.after.without_own_marks() else { return };
    let before = match change.before.without_own_marks() {
        Value::Object(before) => Some(before),
        _ => None,
    };
    for (name, new) in after.iter() {
        let old = before.and_then(|before| before.get(name));
        // A new object would otherwise list every attribute that is not set.
        if old.map_or(is_null_or_empty_list_or_set(new), |old| old == new) {
            continue;
        }
        let _ = match old {
            Some(old) => write!(out, "    {name} = {} -> {}", render_value(old), render_value(new)),
            None => write!(out, "    {name} = {}", render_value(new)),
        };
        let path = Path::root().attribute(name);
        // A path may lead further in, to an element or to a nested attribute.
        if change.replace_paths.iter().any(|forcing| forcing.starts_with(&path)) {
            out.push_str(" # forces replacement");
        }
        out.push('\n');
    }
}

/// Whether the value is not shown: null, or no elements, as for absent blocks.
fn is_null_or_empty_list_or_set(part: &Value) -> bool {
    // A sensitive null is not set either.
    match part.without_own_marks() {
        Value::Null(_) => true,
        Value::List(_) | Value::Set(_) => part.children().is_empty(),
        _ => false,
    }
}

fn render_value(part: &Value) -> String {
    let list = |items: &[Value]| items.iter().map(render_value).collect::<Vec<_>>().join(", ");
    match part {
        Value::Marked(_) => "(sensitive)".to_owned(),
        Value::Null(_) => "null".to_owned(),
        Value::Unknown(_) => "(known after apply)".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("{text:?}"),
        Value::List(items) => format!("[{}]", list(items.items())),
        Value::Set(items) => format!("[{}]", list(items.items())),
        Value::Tuple(items) => format!("[{}]", list(items.items())),
        Value::Map(map) => {
            let pairs = map.iter().map(|(key, item)| format!("{key:?} = {}", render_value(item)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        Value::Object(object) => {
            let set = object.iter().filter(|(_, item)| !is_null_or_empty_list_or_set(item));
            let pairs = set.map(|(name, item)| format!("{name} = {}", render_value(item)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}
