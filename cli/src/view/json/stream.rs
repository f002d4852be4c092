//! Events of planning and applying, one JSON object a line.

use std::time::Duration;

use formwork_core::addr::InstanceAddr;
use formwork_core::apply::ChangeCounts;
use formwork_core::change::{Action, Change, Reason};
use formwork_core::event::{EphemeralStage, EphemeralStep, Event, EventObserver, ObjectLabel};
use formwork_core::plan::Plan;
use formwork_core::state::State;
use formwork_value::Diagnostic;
use formwork_value::diag::{Severity, Sources};
use time::format_description::well_known::Rfc3339;

use super::tree::Json;
use super::{changes, state, terraform_version, value};
use crate::clock;
use crate::view::elapsed::seconds;
use crate::view::{ephemeral, out_data};

/// Prints events as they happen.
#[derive(Debug, Default)]
pub(crate) struct Stream;

impl Stream {
    /// Makes a stream onto stdout.
    pub(crate) fn new() -> Self {
        Self
    }

    fn line(&self, level: &str, message: &str, kind: &str, members: Vec<(&'static str, Json)>) {
        let time = clock::now().format(&Rfc3339).unwrap_or_default();
        let head = [
            ("@level", Json::text(level)),
            ("@message", Json::text(message)),
            ("@module", Json::text("terraform.ui")),
            ("@timestamp", Json::text(time)),
        ];
        let members = head.into_iter().chain(members).chain([("type", Json::text(kind))]);
        out_data(&format!("{}\n", Json::object(members).compact()));
    }

    fn info(&self, message: &str, kind: &str, members: Vec<(&'static str, Json)>) {
        self.line("info", message, kind, members);
    }

    fn ephemeral(&self, addr: &InstanceAddr, step: EphemeralStep, stage: EphemeralStage) {
        let action = match step {
            EphemeralStep::Open => "open",
            EphemeralStep::Renew => "renew",
            EphemeralStep::Close => "close",
        };
        let hook = [("resource", resource(addr)), ("action", Json::text(action))];
        let hook = vec![("hook", Json::object(hook))];
        let (kind, hook) = match stage {
            EphemeralStage::Start => ("ephemeral_op_start", hook),
            EphemeralStage::Progress(elapsed) => ("ephemeral_op_progress", timed(hook, elapsed)),
            EphemeralStage::Done(elapsed) => ("ephemeral_op_complete", timed(hook, elapsed)),
            EphemeralStage::Failed(elapsed) => ("ephemeral_op_errored", timed(hook, elapsed)),
            // Not in the stream, as in Terraform.
            EphemeralStage::Deferred => return,
        };
        self.info(&format!("{addr}: {}", ephemeral::step_sentence(step, stage)), kind, hook);
    }

    /// The first line: program and version.
    pub(crate) fn version(&self) {
        let message = format!("Formwork {}", env!("CARGO_PKG_VERSION"));
        let members = vec![("terraform", terraform_version()), ("ui", Json::text("1.2"))];
        self.info(&message, "version", members);
    }

    /// A step of preparing the folder, with the name by which programs know it.
    pub(crate) fn step(&self, message: &str, code: &str) {
        self.info(message, "init_output", vec![("message_code", Json::text(code))]);
    }

    /// Something that happens.
    pub(crate) fn log(&self, message: &str) {
        self.info(message, "log", Vec::new());
    }

    /// A problem.
    pub(crate) fn diagnostic(&self, sources: &Sources, diagnostic: &Diagnostic) {
        let (level, label) = match diagnostic.severity {
            Severity::Error => ("error", "Error"),
            Severity::Warning => ("warn", "Warning"),
        };
        let message = format!("{label}: {}", diagnostic.summary);
        let json = super::diagnostic::one(sources, diagnostic);
        self.line(level, &message, "diagnostic", vec![("diagnostic", json)]);
    }

    /// A plan: drift, changes, and their number.
    pub(crate) fn plan(&self, plan: &Plan) {
        for change in plan.drifted() {
            let message = format!("{}: Drift detected ({})", change.addr, word_of(change));
            self.info(&message, "resource_drift", vec![("change", summary(change))]);
        }
        let changed = plan.changes.values().filter(|change| change.is_pending());
        changed.clone().for_each(|change| self.planned(change));
        let count =
            |wanted: fn(Action) -> bool| changed.clone().filter(|c| wanted(c.action)).count();
        let tally = ChangeCounts {
            imported: changed.clone().filter(|change| change.importing.is_some()).count(),
            added: count(Action::creates),
            changed: count(|action| action == Action::Update),
            destroyed: count(Action::destroys),
        };
        let imports = match tally.imported {
            0 => String::new(),
            n => format!("{n} to import, "),
        };
        let message = format!(
            "Plan: {imports}{} to add, {} to change, {} to destroy.",
            tally.added, tally.changed, tally.destroyed
        );
        self.summary(&message, tally, "plan");
        if !plan.outputs.is_empty() {
            let outputs = plan.outputs.iter().map(|(name, change)| {
                let json = Json::object([
                    ("sensitive", Json::Bool(change.sensitive)),
                    ("action", Json::text(word(change.action))),
                ]);
                (name.to_string(), json)
            });
            let message = format!("Outputs: {}", plan.outputs.len());
            self.info(&message, "outputs", vec![("outputs", Json::Object(outputs.collect()))]);
        }
    }

    /// Start of applying a plan that was made before.
    pub(crate) fn begin(&self, plan: &Plan) {
        let acts = |change: &&Change| change.action != Action::NoOp;
        plan.changes.values().map(Box::as_ref).filter(acts).for_each(|change| self.planned(change));
    }

    fn planned(&self, change: &Change) {
        let message = format!("{}: Plan to {}", change.addr, word_of(change));
        self.info(&message, "planned_change", vec![("change", summary(change))]);
    }

    fn summary(&self, message: &str, tally: ChangeCounts, operation: &str) {
        let int = |n: usize| Json::Int(i64::try_from(n).unwrap_or(i64::MAX));
        let changes = Json::object([
            ("add", int(tally.added)),
            ("change", int(tally.changed)),
            ("import", int(tally.imported)),
            ("remove", int(tally.destroyed)),
            ("operation", Json::text(operation)),
        ]);
        self.info(message, "change_summary", vec![("changes", changes)]);
    }

    /// Summary of the applied changes.
    pub(crate) fn applied(&self, tally: ChangeCounts, destroying: bool) {
        let ChangeCounts { imported: _, added, changed, destroyed } = tally;
        let (message, operation) = if destroying {
            (format!("Destroy complete! Resources: {destroyed} destroyed."), "destroy")
        } else {
            (
                format!(
                    "Apply complete! Resources: {}{added} added, {changed} changed, {destroyed} destroyed.",
                    imported(tally)
                ),
                "apply",
            )
        };
        self.summary(&message, tally, operation);
    }

    /// Current values of the outputs.
    pub(crate) fn outputs(&self, state: &State) {
        let outputs = state.outputs.iter().map(|(name, output)| {
            let shown = (!output.sensitive).then(|| value::known(output.value.value()));
            let json = Json::some([
                ("sensitive", Some(Json::Bool(output.sensitive))),
                ("type", Some(value::type_of(&output.value.value().ty()))),
                ("value", shown),
            ]);
            (name.to_string(), json)
        });
        let message = format!("Outputs: {}", state.outputs.len());
        self.info(&message, "outputs", vec![("outputs", Json::Object(outputs.collect()))]);
    }
}

/// Counts imported objects, if there are any, in front of the other counts.
pub(crate) fn imported(tally: ChangeCounts) -> String {
    match tally.imported {
        0 => String::new(),
        n => format!("{n} imported, "),
    }
}

/// Action of a change, where it is more than the provider's action.
fn word_of(change: &Change) -> &'static str {
    match change.action {
        Action::NoOp if change.importing.is_some() => "import",
        Action::NoOp if change.moved_from.is_some() => "move",
        action => word(action),
    }
}

fn word(action: Action) -> &'static str {
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

fn resource(addr: &InstanceAddr) -> Json {
    let implied = formwork_core::addr::LocalProvider::implied_by(&addr.resource);
    Json::object([
        ("addr", Json::text(addr.to_string())),
        ("module", Json::text(addr.module.to_string())),
        (
            "resource",
            Json::text(InstanceAddr { module: Default::default(), ..addr.clone() }.to_string()),
        ),
        ("implied_provider", Json::text(implied.name.as_str())),
        ("resource_type", Json::text(addr.resource.kind().as_str())),
        ("resource_name", Json::text(addr.resource.name().as_str())),
        ("resource_key", state::index(&addr.key).unwrap_or(Json::Null)),
    ])
}

fn summary(change: &Change) -> Json {
    let why = change.reason.map(|why| {
        Json::text(match why {
            Reason::ReplaceBecauseTainted => "tainted",
            Reason::ReplaceByRequest => "requested",
            Reason::ReplaceBecauseCannotUpdate => "cannot_update",
            Reason::ReplaceByTriggers => "replace_triggered_by",
            why => changes::reason(why),
        })
    });
    Json::some([
        ("resource", Some(resource(&change.addr))),
        ("previous_resource", change.moved_from.as_ref().map(resource)),
        ("action", Some(Json::text(word_of(change)))),
        ("reason", why),
        ("importing", change.importing.as_ref().map(changes::importing)),
        ("generated_config", changes::generated_config(change)),
    ])
}

fn hook(
    addr: &InstanceAddr,
    action: Option<Action>,
    label: Option<&ObjectLabel>,
) -> Vec<(&'static str, Json)> {
    let value = |label: &ObjectLabel| Json::text(&label.value);
    let members = Json::some([
        ("resource", Some(resource(addr))),
        ("action", action.map(|action| Json::text(word(action)))),
        ("id_key", label.map(|label| Json::text(label.key))),
        ("id_value", label.filter(|label| !label.value.is_empty()).map(value)),
    ]);
    match members {
        Json::Object(members) => vec![("hook", Json::Object(members))],
        _ => Vec::new(),
    }
}

fn provision(addr: &InstanceAddr, kind: &str, output: Option<&str>) -> Vec<(&'static str, Json)> {
    let members = Json::some([
        ("resource", Some(resource(addr))),
        ("provisioner", Some(Json::text(kind))),
        ("output", output.map(Json::text)),
    ]);
    vec![("hook", members)]
}

fn timed(mut hook: Vec<(&'static str, Json)>, elapsed: Duration) -> Vec<(&'static str, Json)> {
    if let Some((_, Json::Object(members))) = hook.first_mut() {
        let seconds = i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX);
        members.push(("elapsed_seconds".to_owned(), Json::Int(seconds)));
    }
    hook
}

fn labelled(label: Option<&ObjectLabel>) -> String {
    match label {
        Some(ObjectLabel { key, value }) if !value.is_empty() => format!(" [{key}={value}]"),
        _ => String::new(),
    }
}

impl EventObserver for Stream {
    fn see(&self, event: &Event<'_>) {
        match event {
            Event::RefreshStart { addr, label, .. } => {
                let message = format!("{addr}: Refreshing state...{}", labelled(label.as_ref()));
                self.info(&message, "refresh_start", hook(addr, None, label.as_ref()));
            }
            Event::RefreshDone { addr, label } => {
                let message = format!("{addr}: Refresh complete{}", labelled(label.as_ref()));
                self.info(&message, "refresh_complete", hook(addr, None, label.as_ref()));
            }
            Event::Planned(_)
            | Event::Count { .. }
            | Event::ImportStart { .. }
            | Event::ImportFound { .. }
            | Event::ImportDone { .. } => {}
            Event::Start { addr, action, label, .. } => {
                let doing = doing(*action);
                let message = format!("{addr}: {doing}...{}", labelled(label.as_ref()));
                self.info(&message, "apply_start", hook(addr, Some(*action), label.as_ref()));
            }
            Event::Progress { addr, action, label, elapsed } => {
                let doing = doing(*action).to_lowercase();
                let message = format!("{addr}: Still {doing}... [{} elapsed]", seconds(*elapsed));
                self.info(
                    &message,
                    "apply_progress",
                    timed(hook(addr, Some(*action), label.as_ref()), *elapsed),
                );
            }
            Event::Done { addr, action, label, elapsed, .. } => {
                let done = done(*action);
                // An object that is gone has no id any more.
                let label = label.as_ref().filter(|_| *action != Action::Delete);
                let message = format!(
                    "{addr}: {done} complete after {}{}",
                    seconds(*elapsed),
                    labelled(label)
                );
                let hook = hook(addr, Some(*action), label);
                self.info(&message, "apply_complete", timed(hook, *elapsed));
            }
            Event::ProvisionStart { addr, kind } => {
                let message = format!("{addr}: Provisioning with '{kind}'...");
                self.info(&message, "provision_start", provision(addr, kind, None));
            }
            Event::ProvisionOutput { addr, kind, text } => {
                for line in text.split(['\n', '\r']).filter(|line| !line.is_empty()) {
                    let message = format!("{addr}: ({kind}): {line}");
                    let members = provision(addr, kind, Some(line));
                    self.info(&message, "provision_progress", members);
                }
            }
            Event::ProvisionDone { addr, kind } => {
                let message = format!("{addr}: ({kind}) Provisioning complete");
                self.info(&message, "provision_complete", provision(addr, kind, None));
            }
            Event::ProvisionFailed { addr, kind } => {
                let message = format!("{addr}: ({kind}) Provisioning errored");
                self.info(&message, "provision_errored", provision(addr, kind, None));
            }
            Event::Ephemeral { addr, step, stage } => self.ephemeral(addr, *step, *stage),
            Event::Failed { addr, action, elapsed } => {
                let done = done(*action);
                let message = format!("{addr}: {done} errored after {}", seconds(*elapsed));
                self.info(
                    &message,
                    "apply_errored",
                    timed(hook(addr, Some(*action), None), *elapsed),
                );
            }
        }
    }
}

fn doing(action: Action) -> &'static str {
    match action {
        Action::Create | Action::Replace(_) | Action::NoOp => "Creating",
        Action::Read => "Refreshing",
        Action::Update => "Modifying",
        Action::Delete | Action::Forget => "Destroying",
    }
}

fn done(action: Action) -> &'static str {
    match action {
        Action::Create | Action::Replace(_) | Action::NoOp => "Creation",
        Action::Read => "Refresh",
        Action::Update => "Modifications",
        Action::Delete | Action::Forget => "Destruction",
    }
}
