//! The events of a run, its diagnostics, and the requests that a recording provider got, without the
//! parts that necessarily differ between two programs.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::interop::compare::scrub_ids;
use crate::interop::engine::Run;
use crate::interop::terraform_plans::is_about_unmatched_option;

/// The requests of one run, each with the diagnostics of its response.
pub(super) struct Record(Vec<Value>);

impl Record {
    pub(super) fn new(log: Vec<Value>) -> Self {
        Self(log)
    }

    /// Returns events and requests in an order that does not depend on timing.
    pub(super) fn events_and_requests(&self, run: &Run) -> Value {
        let events = run.events().into_iter().filter_map(event);
        let requests = self.0.iter().filter_map(request);
        json!({"events": counted(events), "requests": counted(requests)})
    }

    /// Returns the diagnostics of a run, each once: Terraform validates again in every phase. A detail
    /// and a position are compared if the diagnostic is the provider's; `mistakes.rs` compares those of
    /// the engines.
    pub(super) fn problems(&self, run: &Run) -> Vec<Value> {
        let events = run.events();
        let reported = events.iter().filter(|it| it["type"] == "diagnostic");
        let document = run.document().unwrap_or_default();
        let listed = document["diagnostics"].as_array().into_iter().flatten();
        let diagnostics = reported.map(|event| &event["diagnostic"]).chain(listed);
        let diagnostics =
            diagnostics.filter(|it| !is_about_unmatched_option(&json!({ "diagnostic": it })));
        let mut diagnostics: Vec<Value> = diagnostics.map(|it| self.problem(it)).collect();
        diagnostics.sort_by_key(Value::to_string);
        diagnostics.dedup();
        diagnostics
    }

    /// Returns the diagnostics of a run, without warnings of validation: of a run that applies or
    /// destroys, which Terraform begins by validating once more.
    pub(super) fn problems_after_validation(&self, run: &Run) -> Vec<Value> {
        let mut diagnostics = self.problems(run);
        let is_repeated = |it: &Value| {
            it["detail"].is_null()
                || ["Validate", "Prepare"].iter().any(|call| self.is_reported_by_provider(it, call))
        };
        diagnostics.retain(|it| it["severity"] == "error" || !is_repeated(it));
        diagnostics
    }

    fn problem(&self, diagnostic: &Value) -> Value {
        let is_of_provider = self.is_reported_by_provider(diagnostic, "");
        json!({
            "severity": diagnostic["severity"],
            "summary": diagnostic["summary"],
            "detail": is_of_provider.then(|| provider_detail(&diagnostic["detail"])),
            "range": is_of_provider.then(|| json!([diagnostic["address"], diagnostic["range"]])),
        })
    }

    /// Returns whether the provider reported the diagnostic in response to a call with this prefix.
    fn is_reported_by_provider(&self, diagnostic: &Value, prefix: &str) -> bool {
        let calls = self
            .0
            .iter()
            .filter(|line| line["call"].as_str().is_some_and(|call| call.starts_with(prefix)));
        let mut reported = calls.filter_map(|line| line["diagnostics"].as_array()).flatten();
        reported.any(|it| it["summary"] == diagnostic["summary"])
    }
}

/// The detail of a provider's diagnostic, without the advice that Formwork appends.
fn provider_detail(detail: &Value) -> &str {
    let text = detail.as_str().unwrap_or_default();
    text.split("The provider returned null for ").next().unwrap_or_default().trim_end()
}

/// Returns the number of times that each value occurs.
fn counted(values: impl Iterator<Item = Value>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for mut value in values {
        scrub_ids(&mut value);
        *counts.entry(value.to_string()).or_default() += 1;
    }
    counts
}

/// An event without times; `None` for one that only reports progress or is a diagnostic. Terraform reports
/// a state lock that takes longer than 400 milliseconds, as it does on a busy machine.
fn event(mut event: Value) -> Option<Value> {
    const SKIPPED: [&str; 7] = [
        "version",
        "log",
        "diagnostic",
        "apply_progress",
        "provision_progress",
        "state_lock_acquire",
        "state_lock_release",
    ];
    let kind = event["type"].as_str()?;
    if SKIPPED.contains(&kind) {
        return None;
    }
    let fields = event.as_object_mut()?;
    fields.remove("@timestamp");
    fields.remove("@message");
    if let Some(hook) = fields.get_mut("hook").and_then(Value::as_object_mut) {
        hook.remove("elapsed_seconds");
    }
    Some(event)
}

/// A request as it is compared; `None` for one that changes nothing and that each program makes as often
/// as its phases need it. Terraform 1.11 sends no identities.
fn request(line: &Value) -> Option<Value> {
    let call = line["call"].as_str()?;
    let skipped = ["Get", "Validate", "Prepare", "Configure", "Upgrade", "CallFunction"];
    if skipped.iter().any(|prefix| call.starts_with(prefix)) {
        return None;
    }
    let mut request = line["request"].clone();
    if let Some(fields) = request.as_object_mut() {
        fields.retain(|name, _| !name.ends_with("identity"));
    }
    Some(json!({ call: request }))
}
