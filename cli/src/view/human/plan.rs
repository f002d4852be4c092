//! The human-readable plan: drift, changes, their reasons and their number.

use formwork_core::addr::InstanceAddr;
use formwork_core::change::{Action, ActionReason, Change, ImportKey, ReplaceOrder};
use formwork_core::plan::{Plan, PlanMode};
use formwork_core::provider::ProviderPool;
use formwork_value::{Path, Type, Value};

use super::diff::{AlignedName, DiffRenderer};
use super::{drift as affecting, outputs};
use crate::view::{Paint, Screen, sanitize};

/// Renders a plan.
pub(crate) fn render_plan(screen: &Screen, plan: &Plan, pool: &ProviderPool<'_>) -> String {
    let mut text = String::new();
    let changes: Vec<&Change> =
        plan.changes.values().map(Box::as_ref).filter(|change| change.needs_apply()).collect();
    let outputs = outputs::render_output_changes(screen, plan.outputs.iter());
    // A plan that only refreshes shows all drift.
    let drifted = match plan.mode {
        PlanMode::RefreshOnly => plan.drift.values().map(|change| (**change).clone()).collect(),
        _ if changes.is_empty() && outputs.is_empty() => Vec::new(),
        _ => affecting::relevant_drift(plan),
    };
    if !drifted.is_empty() {
        text.push_str(&render_drift(screen, &drifted, plan.mode, pool));
        if !changes.is_empty() || !outputs.is_empty() {
            text.push_str(&format!("\n{}\n", screen.horizontal_line()));
        }
    }
    if changes.is_empty() && outputs.is_empty() {
        text.push_str(&no_changes_text(screen, plan));
        return text;
    }
    if !changes.is_empty() {
        text.push_str(&symbol_legend(screen, &changes));
        text.push_str(if plan.errored {
            "\nFormwork planned the following actions, but then encountered a problem:\n"
        } else {
            "\nFormwork will perform the following actions:\n"
        });
        for change in &changes {
            text.push('\n');
            text.push_str(&render_change(screen, change, pool));
        }
        text.push_str(&format!("\n{}\n", change_counts_text(screen, &changes)));
    }
    if !outputs.is_empty() {
        text.push_str(&format!(
            "\n{}\n{outputs}",
            screen.paint(Paint::Bold, "Changes to Outputs:")
        ));
        if changes.is_empty() {
            text.push_str(&screen.wrap("\nYou can apply this plan to save these new output values to the state, without changing any real infrastructure.\n"));
        }
    }
    text
}

fn no_changes_text(screen: &Screen, plan: &Plan) -> String {
    if plan.errored {
        return format!(
            "\n{} Formwork encountered an error while generating this plan.\n",
            screen.paint(Paint::BoldRed, "Planning failed.")
        );
    }
    let (title, detail) = match (plan.mode, plan.drift.is_empty()) {
        // The effect of applying it was printed after the changes.
        (PlanMode::RefreshOnly, false) => return String::new(),
        (PlanMode::RefreshOnly, true) => (
            "No changes. Your infrastructure still matches the configuration.",
            "Formwork has checked that the real remote objects still match the result of your most recent changes, and found no differences.",
        ),
        (PlanMode::Destroy, _) if !plan.open.is_empty() => (
            "No changes other than open operations.",
            "Formwork does not destroy instances whose last operation was interrupted, or objects that such an instance depends on. They were skipped; see below.",
        ),
        (PlanMode::Destroy, _) => (
            "No changes. No objects need to be destroyed.",
            "Either you have not created any objects yet or the existing objects were already deleted outside of Formwork.",
        ),
        (PlanMode::Normal, _) if !plan.open.is_empty() => (
            "No changes other than open operations.",
            "Formwork found no differences other than instances whose last operation was interrupted, and objects that depend on them. They were skipped; see below.",
        ),
        (PlanMode::Normal, _) => (
            "No changes. Your infrastructure matches the configuration.",
            "Formwork has compared your real infrastructure against your configuration and found no differences, so no changes are needed.",
        ),
    };
    format!("\n{}\n\n{}\n", screen.paint(Paint::BoldGreen, title), screen.wrap(detail))
}

fn action_symbol(screen: &Screen, action: Action) -> String {
    let plus = || screen.paint(Paint::Green, "+");
    let minus = || screen.paint(Paint::Red, "-");
    match action {
        Action::NoOp => "   ".into(),
        Action::Create => format!("  {}", plus()),
        Action::Read => format!(" {}", screen.paint(Paint::Cyan, "<=")),
        Action::Update => format!("  {}", screen.paint(Paint::Yellow, "~")),
        Action::Delete => format!("  {}", minus()),
        Action::Forget => " .".into(),
        Action::Replace(ReplaceOrder::DestroyFirst) => format!("{}/{}", minus(), plus()),
        Action::Replace(ReplaceOrder::CreateFirst) => format!("{}/{}", plus(), minus()),
    }
}

fn symbol_legend(screen: &Screen, changes: &[&Change]) -> String {
    let kinds = [
        (Action::Create, "create"),
        (Action::Update, "update in-place"),
        (Action::Delete, "destroy"),
        (Action::Replace(ReplaceOrder::DestroyFirst), "destroy and then create replacement"),
        (Action::Replace(ReplaceOrder::CreateFirst), "create replacement and then destroy"),
        (Action::Read, "read (data resources)"),
    ];
    let is_there = |action: Action| changes.iter().any(|change| change.action == action);
    // A change that only moves or imports has no symbol.
    if !is_there(Action::Forget) && !kinds.iter().any(|(action, _)| is_there(*action)) {
        return String::new();
    }
    let mut text = screen.wrap(
        "\nFormwork used the selected providers to generate the following execution plan. Resource actions are indicated with the following symbols:\n",
    );
    for (action, description) in kinds {
        if is_there(action) {
            text.push_str(&format!("{} {description}\n", action_symbol(screen, action)));
        }
    }
    text
}

/// The line below the header of a deposed object.
const DEPOSED_OBJECT_NOTE: &str =
    "# (left over from a partially-failed replacement of this instance)\n";

/// Renders a change: action and reason, then the block with its changes.
fn render_change(screen: &Screen, change: &Change, pool: &ProviderPool<'_>) -> String {
    let deposed = change.deposed.as_ref().map_or_else(String::new, |key| {
        format!(" (deposed object {})", sanitize::sanitize_line(&key.0))
    });
    let addr = screen.paint(Paint::Bold, &change.addr.to_string());
    if change.action == Action::Forget {
        return format!(
            " # {addr}{deposed} will no longer be managed by Formwork, but will not be destroyed\n # (destroy = false is set in the configuration)\n{}{}",
            if change.deposed.is_some() {
                format!(" {DEPOSED_OBJECT_NOTE}")
            } else {
                String::new()
            },
            render_change_block(screen, change, pool)
        );
    }
    let effect = match (change.action, change.reason) {
        (Action::Create, _) => "will be created",
        (Action::Read, _) => "will be read during apply",
        (Action::Update, _) => "will be updated in-place",
        (Action::Delete, _) => "will be destroyed",
        (Action::Replace(_), Some(ActionReason::ReplaceBecauseTainted)) => {
            "is tainted, so must be replaced"
        }
        (Action::Replace(_), Some(ActionReason::ReplaceByRequest)) => {
            "will be replaced, as requested"
        }
        (Action::Replace(_), Some(ActionReason::ReplaceByTriggers)) => {
            "will be replaced due to changes in replace_triggered_by"
        }
        (Action::Replace(_), _) => "must be replaced",
        (Action::NoOp, _) if change.importing.is_some() => "will be imported",
        (Action::NoOp | Action::Forget, _) => "is not changed",
    };
    let mut text = match (&change.moved_from, change.action) {
        (Some(from), Action::NoOp) => move_text(screen, from, &addr),
        _ => format!("  # {addr}{deposed} {effect}\n"),
    };
    if let Some(because) = reason_text(change) {
        text.push_str(&format!("  # ({because})\n"));
    }
    if change.deposed.is_some() && change.action == Action::Delete {
        text.push_str(&format!("  {DEPOSED_OBJECT_NOTE}"));
    }
    text.push_str(&origin_text(change));
    text.push_str(&render_change_block(screen, change, pool));
    text
}

fn move_text(screen: &Screen, from: &InstanceAddr, to: &str) -> String {
    format!("  # {} has moved to {to}\n", screen.paint(Paint::Bold, &from.to_string()))
}

/// Origin of an object that is moved or imported and also changed.
fn origin_text(change: &Change) -> String {
    let mut text = String::new();
    let changes = change.action != Action::NoOp;
    if let Some(from) = change.moved_from.as_ref().filter(|_| changes) {
        text.push_str(&format!("  # (moved from {from})\n"));
    }
    let Some(importing) = &change.importing else { return text };
    if changes {
        text.push_str(&match &importing.import_key {
            ImportKey::Id(id) => format!("  # (imported from \"{id}\")\n"),
            import_key @ ImportKey::Identity(_) => {
                format!("  # (imported by {})\n", sanitize::sanitize_line(&import_key.to_string()))
            }
        });
    }
    if importing.generated_config.is_some() && !changes {
        text.push_str("  # (config will be generated)\n");
    }
    if change.action.destroys_object() {
        text.push_str("  # Warning: this will destroy the imported resource\n");
    }
    text
}

fn reason_text(change: &Change) -> Option<String> {
    let addr = &change.addr;
    Some(match change.reason? {
        ActionReason::DeleteBecauseNoResourceConfig => {
            // As in Terraform, without the module.
            format!("because {} is not in configuration", addr.resource)
        }
        ActionReason::DeleteBecauseWrongRepetition => match addr.key {
            formwork_core::addr::InstanceKey::None => {
                "because resource uses count or for_each".into()
            }
            formwork_core::addr::InstanceKey::Int(_) => {
                "because resource does not use count".into()
            }
            formwork_core::addr::InstanceKey::Str(_) => {
                "because resource does not use for_each".into()
            }
        },
        ActionReason::DeleteBecauseCountIndex => {
            format!("because index {} is out of range for count", instance_key_text(change))
        }
        ActionReason::DeleteBecauseEachKey => {
            format!("because key {} is not in for_each map", instance_key_text(change))
        }
        ActionReason::DeleteBecauseNoMoveTarget => format!(
            "because {} was moved to {addr}, which is not in configuration",
            change.moved_from.as_ref().unwrap_or(addr)
        ),
        ActionReason::DeleteBecauseNoModule => {
            format!("because {} is not in configuration", addr.module)
        }
        ActionReason::ReadBecauseConfigUnknown => "config refers to values not yet known".into(),
        ActionReason::ReadBecauseCheckNested => {
            "config will be reloaded to verify a check block".into()
        }
        ActionReason::ReadBecauseDependencyPending => {
            "depends on a resource or a module with changes pending".into()
        }
        _ => return None,
    })
}

fn instance_key_text(change: &Change) -> String {
    match &change.addr.key {
        formwork_core::addr::InstanceKey::Int(index) => format!("[{index}]"),
        formwork_core::addr::InstanceKey::Str(key) => format!("[{key:?}]"),
        formwork_core::addr::InstanceKey::None => String::new(),
    }
}

fn render_change_block(screen: &Screen, change: &Change, pool: &ProviderPool<'_>) -> String {
    let name = &change.addr.resource;
    let kind =
        if name.mode() == formwork_core::addr::ResourceMode::Data { "data" } else { "resource" };
    // An imported object is shown without changes.
    let (signs, keeps, forces) = (true, change.importing.is_some(), &change.replace_paths);
    let differ = DiffRenderer { screen, signs, keeps, forces };
    let before = &change.before;
    // A forgotten object is not changed.
    let after = if change.action == Action::Forget { before } else { &change.after };
    let ty = pool
        .loaded_provider(&change.provider.provider)
        .and_then(|loaded| loaded.find_resource_type(name.mode(), name.resource_type()));
    let object = match ty {
        Some(ty) => differ.render_object(ty.schema_block(), before, after, 4),
        None => format!("{{\n{}    }}", render_object_without_schema(&differ, before, after)),
    };
    format!(
        "{} {kind} {:?} {:?} {object}\n",
        action_symbol(screen, change.action),
        name.resource_type().as_str(),
        name.name().as_str()
    )
}

/// The attributes of an object without an available schema.
fn render_object_without_schema(
    differ: &DiffRenderer<'_>,
    before: &Value,
    after: &Value,
) -> String {
    let names = [before, after].into_iter().flat_map(|value| match value.without_own_marks() {
        Value::Object(object) => object.names().to_vec(),
        _ => Vec::new(),
    });
    let names: std::collections::BTreeSet<_> = names.collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let null = Value::null(Type::Dynamic);
    let mut text = String::new();
    for name in names {
        let path = Path::root().attribute(&name);
        let old = path.find(before).unwrap_or(&null);
        let new = path.find(after).unwrap_or(&null);
        text.push_str(&differ.render_changed(AlignedName { text: &name, width }, old, new, 8));
    }
    text
}

fn change_counts_text(screen: &Screen, changes: &[&Change]) -> String {
    let count = |is_counted: fn(Action) -> bool| {
        changes.iter().filter(|change| is_counted(change.action)).count()
    };
    let (add, update, destroy) = (
        count(Action::creates_object),
        count(|a| a == Action::Update),
        count(Action::destroys_object),
    );
    let import = match changes.iter().filter(|change| change.importing.is_some()).count() {
        0 => String::new(),
        n => format!("{n} to import, "),
    };
    format!(
        "{} {import}{add} to add, {update} to change, {destroy} to destroy.",
        screen.paint(Paint::Bold, "Plan:")
    )
}

fn render_drift(
    screen: &Screen,
    drifted: &[Change],
    mode: PlanMode,
    pool: &ProviderPool<'_>,
) -> String {
    let after = match mode {
        PlanMode::RefreshOnly => {
            "This is a refresh-only plan, so Formwork will not take any actions to undo these. If you were expecting these changes then you can apply this plan to record the updated values in the state without changing any remote objects."
        }
        PlanMode::Normal | PlanMode::Destroy => {
            "Unless you have made equivalent changes to your configuration, or ignored the relevant attributes using ignore_changes, the following plan may include actions to undo or respond to these changes."
        }
    };
    let before = "Formwork detected the following changes made outside of Formwork since the last \"formwork apply\" which may have affected this plan:";
    let mut text = format!(
        "\n{}\n\n{}\n",
        screen.paint(Paint::BoldYellow, "Note: Objects have changed outside of Formwork"),
        screen.wrap(before)
    );
    for change in drifted {
        let addr = screen.paint(Paint::Bold, &change.addr.to_string());
        text.push('\n');
        text.push_str(&match (change.action, &change.moved_from) {
            (Action::NoOp, Some(from)) => move_text(screen, from, &addr),
            (Action::Delete, _) => format!("  # {addr} has been deleted\n"),
            _ => format!("  # {addr} has changed\n"),
        });
        text.push_str(&origin_text(change));
        text.push_str(&render_change_block(screen, change, pool));
    }
    text.push_str(&format!("\n\n{}\n", screen.wrap(after)));
    text
}
