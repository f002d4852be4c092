//! Events of planning and applying, one JSON object per line.

use std::time::Duration;

use formwork_core::addr::InstanceAddr;
use formwork_core::apply::ChangeCounts;
use formwork_core::change::{Action, ActionReason, Change};
use formwork_core::event::{EphemeralStage, EphemeralStep, Event, EventObserver, ObjectLabel};
use formwork_core::plan::Plan;
use formwork_core::state::State;
use formwork_value::Diagnostic;
use formwork_value::diag::{Severity, Sources};
use time::format_description::well_known::Rfc3339;

use super::json_builder::Json;
use super::{changes, state, terraform_version, value};
use crate::clock;
use crate::view::elapsed::format_seconds;
use crate::view::{ephemeral, print_data};

/// Prints events as they happen.
#[derive(Debug, Default)]
pub(crate) struct JsonStream;

/// Prints an event. The names identify its subjects.
pub(super) fn write_line(
    level: &str,
    message: &str,
    names: &[(&'static str, Json)],
    kind: &str,
    members: Vec<(&'static str, Json)>,
) {
    let time = clock::current_time().format(&Rfc3339).unwrap_or_default();
    let head = [
        ("@level", Json::text(level)),
        ("@message", Json::text(message)),
        ("@module", Json::text("terraform.ui")),
    ];
    let time = [("@timestamp", Json::text(time))];
    let head = head.into_iter().chain(names.iter().cloned()).chain(time);
    let members = head.chain(members).chain([("type", Json::text(kind))]);
    print_data(&format!("{}\n", Json::object(members).to_compact()));
}

impl JsonStream {
    /// Creates a stream that writes to stdout.
    pub(crate) fn new() -> Self {
        Self
    }

    fn print_event(
        &self,
        level: &str,
        message: &str,
        kind: &str,
        members: Vec<(&'static str, Json)>,
    ) {
        write_line(level, message, &[], kind, members);
    }

    fn print_info(&self, message: &str, kind: &str, members: Vec<(&'static str, Json)>) {
        self.print_event("info", message, kind, members);
    }

    fn print_provisioner_event(&self, event: &Event<'_>) {
        match event {
            Event::ProvisionStart { addr, kind } => {
                let message = format!("{addr}: Provisioning with '{kind}'...");
                self.print_info(&message, "provision_start", provisioner_members(addr, kind, None));
            }
            Event::ProvisionOutput { addr, kind, text } => {
                for line in text.split(['\n', '\r']).filter(|line| !line.is_empty()) {
                    let message = format!("{addr}: ({kind}): {line}");
                    let members = provisioner_members(addr, kind, Some(line));
                    self.print_info(&message, "provision_progress", members);
                }
            }
            Event::ProvisionDone { addr, kind } => {
                let message = format!("{addr}: ({kind}) Provisioning complete");
                self.print_info(
                    &message,
                    "provision_complete",
                    provisioner_members(addr, kind, None),
                );
            }
            Event::ProvisionFailed { addr, kind } => {
                let message = format!("{addr}: ({kind}) Provisioning errored");
                self.print_info(
                    &message,
                    "provision_errored",
                    provisioner_members(addr, kind, None),
                );
            }
            _ => {}
        }
    }

    fn print_ephemeral(&self, addr: &InstanceAddr, step: EphemeralStep, stage: EphemeralStage) {
        let action = match step {
            EphemeralStep::Open => "open",
            EphemeralStep::Renew => "renew",
            EphemeralStep::Close => "close",
        };
        let hook = [("resource", address_to_json(addr)), ("action", Json::text(action))];
        let hook = vec![("hook", Json::object(hook))];
        let (kind, hook) = match stage {
            EphemeralStage::Start => ("ephemeral_op_start", hook),
            EphemeralStage::Progress(elapsed) => {
                ("ephemeral_op_progress", with_elapsed(hook, elapsed))
            }
            EphemeralStage::Done(elapsed) => ("ephemeral_op_complete", with_elapsed(hook, elapsed)),
            EphemeralStage::Failed(elapsed) => {
                ("ephemeral_op_errored", with_elapsed(hook, elapsed))
            }
            // Not in the stream, as in Terraform.
            EphemeralStage::Deferred => return,
        };
        self.print_info(
            &format!("{addr}: {}", ephemeral::ephemeral_step_sentence(step, stage)),
            kind,
            hook,
        );
    }

    /// Prints the first line: program and version.
    pub(crate) fn print_version(&self) {
        let message = format!("Formwork {}", env!("CARGO_PKG_VERSION"));
        let members = vec![("terraform", terraform_version()), ("ui", Json::text("1.2"))];
        self.print_info(&message, "version", members);
    }

    /// Prints a step of `init`, with its code.
    pub(crate) fn print_step(&self, message: &str, code: &str) {
        self.print_info(message, "init_output", vec![("message_code", Json::text(code))]);
    }

    /// Prints a log event.
    pub(crate) fn print_log(&self, message: &str) {
        self.print_info(message, "log", Vec::new());
    }

    /// Prints a diagnostic.
    pub(crate) fn print_diagnostic(&self, sources: &Sources, diagnostic: &Diagnostic) {
        let (level, label) = match diagnostic.severity {
            Severity::Error => ("error", "Error"),
            Severity::Warning => ("warn", "Warning"),
        };
        let message = format!("{label}: {}", diagnostic.summary);
        let json = super::diagnostic::diagnostic_to_json(sources, diagnostic);
        self.print_event(level, &message, "diagnostic", vec![("diagnostic", json)]);
    }

    /// Prints a plan: drift, changes, and their number.
    pub(crate) fn print_plan(&self, plan: &Plan) {
        for change in plan.reported_drift() {
            let message =
                format!("{}: Drift detected ({})", change.addr, planned_action_word(change));
            self.print_info(
                &message,
                "resource_drift",
                vec![("change", change_summary_to_json(change))],
            );
        }
        let changed = plan.changes.values().filter(|change| change.needs_apply());
        changed.clone().for_each(|change| self.print_planned(change));
        let count = |is_counted: fn(Action) -> bool| {
            changed.clone().filter(|c| is_counted(c.action)).count()
        };
        let tally = ChangeCounts {
            imported: changed.clone().filter(|change| change.importing.is_some()).count(),
            added: count(Action::creates_object),
            changed: count(|action| action == Action::Update),
            destroyed: count(Action::destroys_object),
        };
        let imports = match tally.imported {
            0 => String::new(),
            n => format!("{n} to import, "),
        };
        let message = format!(
            "Plan: {imports}{} to add, {} to change, {} to destroy.",
            tally.added, tally.changed, tally.destroyed
        );
        self.print_summary(&message, tally, "plan");
        if !plan.outputs.is_empty() {
            let outputs = plan.outputs.iter().map(|(name, change)| {
                let json = Json::object([
                    ("sensitive", Json::Bool(change.sensitive)),
                    ("action", Json::text(action_word(change.action))),
                ]);
                (name.to_string(), json)
            });
            let message = format!("Outputs: {}", plan.outputs.len());
            self.print_info(
                &message,
                "outputs",
                vec![("outputs", Json::Object(outputs.collect()))],
            );
        }
    }

    /// Prints the start of the application of a saved plan.
    pub(crate) fn print_saved_plan(&self, plan: &Plan) {
        let acts = |change: &&Change| change.action != Action::NoOp;
        plan.changes
            .values()
            .map(Box::as_ref)
            .filter(acts)
            .for_each(|change| self.print_planned(change));
    }

    fn print_planned(&self, change: &Change) {
        let message = format!("{}: Plan to {}", change.addr, planned_action_word(change));
        self.print_info(
            &message,
            "planned_change",
            vec![("change", change_summary_to_json(change))],
        );
    }

    fn print_summary(&self, message: &str, tally: ChangeCounts, operation: &str) {
        let int = |n: usize| Json::Int(i64::try_from(n).unwrap_or(i64::MAX));
        let changes = Json::object([
            ("add", int(tally.added)),
            ("change", int(tally.changed)),
            ("import", int(tally.imported)),
            ("remove", int(tally.destroyed)),
            ("operation", Json::text(operation)),
        ]);
        self.print_info(message, "change_summary", vec![("changes", changes)]);
    }

    /// Prints the summary of the applied changes.
    pub(crate) fn print_applied(&self, tally: ChangeCounts, destroying: bool) {
        let ChangeCounts { imported: _, added, changed, destroyed } = tally;
        let (message, operation) = if destroying {
            (format!("Destroy complete! Resources: {destroyed} destroyed."), "destroy")
        } else {
            (
                format!(
                    "Apply complete! Resources: {}{added} added, {changed} changed, {destroyed} destroyed.",
                    import_count_text(tally)
                ),
                "apply",
            )
        };
        self.print_summary(&message, tally, operation);
    }

    /// Prints the current values of the outputs.
    pub(crate) fn print_outputs(&self, state: &State) {
        let outputs = state.outputs.iter().map(|(name, output)| {
            let value_json =
                (!output.sensitive).then(|| value::value_to_json(output.value.value()));
            let json = Json::object_of_some([
                ("sensitive", Some(Json::Bool(output.sensitive))),
                ("type", Some(value::type_to_json(&output.value.value().ty()))),
                ("value", value_json),
            ]);
            (name.to_string(), json)
        });
        let message = format!("Outputs: {}", state.outputs.len());
        self.print_info(&message, "outputs", vec![("outputs", Json::Object(outputs.collect()))]);
    }
}

/// The count of imported objects, if any, which precedes the other counts.
pub(crate) fn import_count_text(tally: ChangeCounts) -> String {
    match tally.imported {
        0 => String::new(),
        n => format!("{n} imported, "),
    }
}

/// Name of a planned action. It distinguishes cases that the provider's action does not.
fn planned_action_word(change: &Change) -> &'static str {
    match change.action {
        Action::NoOp if change.importing.is_some() => "import",
        Action::NoOp if change.moved_from.is_some() => "move",
        action => action_word(action),
    }
}

fn action_word(action: Action) -> &'static str {
    match action {
        Action::NoOp => "noop",
        Action::Create => "create",
        Action::Read => "read",
        Action::Update => "update",
        Action::Delete => "delete",
        Action::Forget => "remove",
        Action::Replace(_) => "replace",
    }
}

fn address_to_json(addr: &InstanceAddr) -> Json {
    let implied = formwork_core::addr::LocalProviderConfig::implied_by_resource(&addr.resource);
    Json::object([
        ("addr", Json::text(addr.to_string())),
        ("module", Json::text(addr.module.to_string())),
        (
            "resource",
            Json::text(InstanceAddr { module: Default::default(), ..addr.clone() }.to_string()),
        ),
        ("implied_provider", Json::text(implied.name.as_str())),
        ("resource_type", Json::text(addr.resource.resource_type().as_str())),
        ("resource_name", Json::text(addr.resource.name().as_str())),
        ("resource_key", state::index_to_json(&addr.key).unwrap_or(Json::Null)),
    ])
}

fn change_summary_to_json(change: &Change) -> Json {
    let reason = change.reason.map(|reason| {
        Json::text(match reason {
            ActionReason::ReplaceBecauseTainted => "tainted",
            ActionReason::ReplaceByRequest => "requested",
            ActionReason::ReplaceBecauseCannotUpdate => "cannot_update",
            ActionReason::ReplaceByTriggers => "replace_triggered_by",
            reason => changes::reason_name(reason),
        })
    });
    Json::object_of_some([
        ("resource", Some(address_to_json(&change.addr))),
        ("previous_resource", change.moved_from.as_ref().map(address_to_json)),
        ("action", Some(Json::text(planned_action_word(change)))),
        ("reason", reason),
        ("importing", change.importing.as_ref().map(changes::import_to_json)),
        ("generated_config", changes::generated_config(change)),
    ])
}

fn hook_members(
    addr: &InstanceAddr,
    action: Option<Action>,
    label: Option<&ObjectLabel>,
) -> Vec<(&'static str, Json)> {
    let value = |label: &ObjectLabel| Json::text(&label.value);
    let members = Json::object_of_some([
        ("resource", Some(address_to_json(addr))),
        ("action", action.map(|action| Json::text(action_word(action)))),
        ("id_key", label.map(|label| Json::text(label.key))),
        ("id_value", label.filter(|label| !label.value.is_empty()).map(value)),
    ]);
    match members {
        Json::Object(members) => vec![("hook", Json::Object(members))],
        _ => Vec::new(),
    }
}

fn provisioner_members(
    addr: &InstanceAddr,
    kind: &str,
    output: Option<&str>,
) -> Vec<(&'static str, Json)> {
    let members = Json::object_of_some([
        ("resource", Some(address_to_json(addr))),
        ("provisioner", Some(Json::text(kind))),
        ("output", output.map(Json::text)),
    ]);
    vec![("hook", members)]
}

fn with_elapsed(
    mut hook: Vec<(&'static str, Json)>,
    elapsed: Duration,
) -> Vec<(&'static str, Json)> {
    if let Some((_, Json::Object(members))) = hook.first_mut() {
        let seconds = i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX);
        members.push(("elapsed_seconds".to_owned(), Json::Int(seconds)));
    }
    hook
}

fn label_suffix(label: Option<&ObjectLabel>) -> String {
    match label {
        Some(ObjectLabel { key, value }) if !value.is_empty() => format!(" [{key}={value}]"),
        _ => String::new(),
    }
}

impl EventObserver for JsonStream {
    fn on_event(&self, event: &Event<'_>) {
        match event {
            Event::RefreshStart { addr, label, .. } => {
                let message =
                    format!("{addr}: Refreshing state...{}", label_suffix(label.as_ref()));
                self.print_info(
                    &message,
                    "refresh_start",
                    hook_members(addr, None, label.as_ref()),
                );
            }
            Event::RefreshDone { addr, label } => {
                let message = format!("{addr}: Refresh complete{}", label_suffix(label.as_ref()));
                self.print_info(
                    &message,
                    "refresh_complete",
                    hook_members(addr, None, label.as_ref()),
                );
            }
            Event::Planned(_)
            | Event::InstanceCount { .. }
            | Event::ImportStart { .. }
            | Event::ImportFound { .. }
            | Event::ImportDone { .. } => {}
            Event::ChangeStart { addr, action, label, .. } => {
                let progressive = progressive_verb(*action);
                let message = format!("{addr}: {progressive}...{}", label_suffix(label.as_ref()));
                self.print_info(
                    &message,
                    "apply_start",
                    hook_members(addr, Some(*action), label.as_ref()),
                );
            }
            Event::ChangeProgress { addr, action, label, elapsed } => {
                let progressive = progressive_verb(*action).to_lowercase();
                let message = format!(
                    "{addr}: Still {progressive}... [{} elapsed]",
                    format_seconds(*elapsed)
                );
                self.print_info(
                    &message,
                    "apply_progress",
                    with_elapsed(hook_members(addr, Some(*action), label.as_ref()), *elapsed),
                );
            }
            Event::ChangeDone { addr, action, label, elapsed, .. } => {
                let verb = past_verb(*action);
                // A deleted object no longer has an ID.
                let label = label.as_ref().filter(|_| *action != Action::Delete);
                let message = format!(
                    "{addr}: {verb} complete after {}{}",
                    format_seconds(*elapsed),
                    label_suffix(label)
                );
                let hook = hook_members(addr, Some(*action), label);
                self.print_info(&message, "apply_complete", with_elapsed(hook, *elapsed));
            }
            Event::ProvisionStart { .. }
            | Event::ProvisionOutput { .. }
            | Event::ProvisionDone { .. }
            | Event::ProvisionFailed { .. } => self.print_provisioner_event(event),
            Event::Ephemeral { addr, step, stage } => self.print_ephemeral(addr, *step, *stage),
            Event::ChangeFailed { addr, action, elapsed } => {
                let verb = past_verb(*action);
                let message = format!("{addr}: {verb} errored after {}", format_seconds(*elapsed));
                self.print_info(
                    &message,
                    "apply_errored",
                    with_elapsed(hook_members(addr, Some(*action), None), *elapsed),
                );
            }
        }
    }
}

fn progressive_verb(action: Action) -> &'static str {
    match action {
        Action::Create | Action::Replace(_) | Action::NoOp => "Creating",
        Action::Read => "Refreshing",
        Action::Update => "Modifying",
        Action::Delete | Action::Forget => "Destroying",
    }
}

fn past_verb(action: Action) -> &'static str {
    match action {
        Action::Create | Action::Replace(_) | Action::NoOp => "Creation",
        Action::Read => "Refresh",
        Action::Update => "Modifications",
        Action::Delete | Action::Forget => "Destruction",
    }
}
