//! The checks, one file per family, in the order in which they run.

use formwork_value::codec::json;
use formwork_value::{Path, Type, Value};

use crate::checkpoint::Checkpoint;
use crate::message::Msg;
use crate::offer::{Kind, Offer};
use crate::plugin::truncate;
use crate::rpc::Rpc;
use crate::rules;
use crate::suite::{ProgressCallback, Suite};

mod compare_answers;
mod configure;
mod data_ephemeral_action;
mod env_variables;
mod file_writes;
mod function;
mod handshake_and_process;
mod lifecycle;
mod listing;
mod metadata;
mod output;
mod plan;
mod read_and_import;
mod release;
mod resource_usage;
mod robustness;
mod schema;
mod secrets;
mod state_store;
mod upgrade_and_move;
mod validate;

/// Runs the checks of a step, unless an earlier run has completed them or this one is over.
macro_rules! run_step {
    ($run:ident, $name:literal, $($check:expr),+) => {
        if $run.should_run_step($name) {
            // Boxed, otherwise the state of this function would be as large as that of all checks
            // together.
            $(Box::pin($check(&mut *$run.suite)).await;)+
            $run.record_completed_step($name)?;
        }
    };
}

/// The steps of a run.
struct StepRunner<'r, 'p> {
    suite: &'r mut Suite,
    checkpoint: Checkpoint,
    progress: ProgressCallback<'p>,
}

impl StepRunner<'_, '_> {
    /// Whether a step is to be run.
    fn should_run_step(&mut self, step: &str) -> bool {
        (self.progress)(step, &self.suite.tallies);
        !self.checkpoint.is_step_completed(step) && !self.suite.is_run_over()
    }

    /// Notes a step that is complete.
    fn record_completed_step(&mut self, step: &str) -> Result<(), String> {
        // A step that ran out of time is repeated by the next run.
        if self.suite.is_run_over() {
            return Ok(());
        }
        let written = self.checkpoint.record_completed_step(self.suite, step);
        written.map_err(|error| format!("the file of -resume cannot be written: {error}"))
    }
}

/// Runs all selected checks. `Err` is the reason why the provider cannot be checked.
pub(crate) async fn run(suite: &mut Suite, progress: ProgressCallback<'_>) -> Result<(), String> {
    let checkpoint = Checkpoint::load_into_suite(suite);
    let mut run = StepRunner { suite, checkpoint, progress };
    if run.should_run_step("Handshake and process") {
        handshake_and_process::run(run.suite).await?;
        run.record_completed_step("Handshake and process")?;
    }
    // The checks of the handshake have ended their processes. All others share this one.
    run.suite.ensure_running().await?;
    load_schema(run.suite).await;
    run_step!(run, "Schema and metadata", schema::run, metadata::run);
    run_step!(run, "Validation", validate::run);
    run_step!(run, "Upgrade and move", upgrade_and_move::run);
    run_step!(run, "Functions", function::run);
    run_step!(run, "Robustness", robustness::run, resource_usage::run);
    let level = run.suite.options.level;
    if level >= 1 {
        // The provider must be configured, whatever an earlier run has done.
        if !run.suite.is_interrupted() {
            (run.progress)("Configure", &run.suite.tallies);
            configure::run(run.suite).await;
        }
        run_step!(run, "Planning", plan::run);
        run_step!(
            run,
            "Read and import",
            read_and_import::run,
            listing::run,
            data_ephemeral_action::run
        );
    }
    if level >= 3 {
        run_step!(run, "Apply life cycle", lifecycle::run);
        run_step!(run, "State stores", state_store::run);
    }
    run_step!(run, "Release", release::run);
    run_step!(run, "Environment", env_variables::run, file_writes::run);
    // Last, because they search the output that the other checks caused.
    if run.should_run_step("Secrets") {
        secrets::run(run.suite).await;
        output::run(run.suite).await;
    }
    run.suite.note_reasons_of_unexamined();
    if !run.suite.is_run_over() {
        Checkpoint::remove_file(run.suite);
    }
    (run.progress)("Done", &run.suite.tallies);
    Ok(())
}

/// Reads the schema, on which all further checks rest.
async fn load_schema(suite: &mut Suite) {
    let call = suite.call(Rpc::GetProviderSchema, &Msg::new()).await;
    if let Some(message) = call.first_message() {
        suite.offer = Offer::from_schema_answer(message);
        // Providers from before 5.9 and 6.9 do not have this call, which is not an error.
        let identities = suite.call(Rpc::GetResourceIdentitySchemas, &Msg::new()).await;
        if let Some(message) = identities.first_message() {
            suite.offer.add_identity_schemas(message);
        }
    }
    // Checks that need a schema are skipped with the reason.
    if suite.offer.types.is_empty() {
        let reason = format!("the provider has no readable schema: {}", call.describe_outcome());
        // Rules of the handshake (H) and of the schema itself (S) need no types.
        let dependent = rules::all_rules().filter(|rule| !rule.id.starts_with(['H', 'S']));
        for rule in dependent {
            suite.tallies.note_skipped_rule(rule.id, reason.clone());
        }
    }
    for (kind, ids) in [
        (
            Kind::Resource,
            &["P-01", "P-02", "P-03", "P-04", "P-05", "P-06", "P-07", "P-08", "P-09"][..],
        ),
        (Kind::DataSource, &["D-01", "D-02", "D-03"]),
        (Kind::Ephemeral, &["E-01", "E-02", "E-03"]),
        (Kind::List, &["L-01", "L-02", "L-03"]),
        (Kind::Action, &["X-01", "X-02"]),
        (Kind::Store, &["T-01", "T-02", "T-03", "T-04", "T-05"]),
    ] {
        if suite.offer.usable_types_of_kind(kind).next().is_none() {
            suite.note_skipped_rules(ids, &format!("the provider has no {}", kind.noun()));
        }
    }
    if suite.offer.functions.is_empty() {
        suite.note_skipped_rules(
            &["F-01", "F-02", "F-03", "F-04", "F-05", "S-17"],
            "the provider has no functions",
        );
    }
}

/// A value as a finding shows it.
pub(crate) fn display_value(value: &Value) -> String {
    let mut plain_value = value.clone();
    // Unknown parts have no form in JSON.
    // So many are enough: a finding shows the beginning of a value only.
    for _ in 0..100 {
        let mut first = None;
        plain_value.walk(&mut |path, part| {
            if first.is_none() && part.is_unknown() {
                first = Some(path.clone());
            }
            first.is_none() && !part.is_wholly_known()
        });
        let Some(path) = first else { break };
        match plain_value.replace_at(&path, |_| Value::string("(unknown)")) {
            Some(next) if next != plain_value => plain_value = next,
            // No path leads to an element of a set, so nothing in it can be replaced.
            _ => break,
        }
    }
    match json::encode_untyped(&without_nulls(&plain_value)) {
        Ok(text) => truncate(&text, 4_000),
        Err(_) => "(a value)".to_owned(),
    }
}

/// The value without attributes that are null, so that inputs stay short.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(object) => Value::object(
            object
                .iter()
                .filter(|(_, part)| !part.is_null())
                .map(|(name, part)| (name.clone(), without_nulls(part)))
                .collect::<Vec<_>>(),
        ),
        other if other.is_unknown() => Value::string("(unknown)"),
        other => other.clone(),
    }
}

/// The paths at which two values differ, at most a few.
pub(crate) fn differing_paths(a: &Value, b: &Value) -> Vec<Path> {
    let mut paths = Vec::new();
    collect_differences(a, b, &Path::root(), &mut paths);
    paths
}

fn collect_differences(a: &Value, b: &Value, path: &Path, paths: &mut Vec<Path>) {
    // A finding names a few paths, and comparing the rest of a large object would cost time.
    if a == b || paths.len() >= 10 {
        return;
    }
    if let (Value::Object(first), Value::Object(right)) = (a, b)
        && first.names() == right.names()
    {
        for ((name, first_part), (_, second_part)) in first.iter().zip(right.iter()) {
            collect_differences(first_part, second_part, &path.attribute(name.clone()), paths);
        }
        return;
    }
    paths.push(path.clone());
}

/// The null object of a type.
pub(crate) fn null_object(ty: &Type) -> Value {
    Value::null(ty.clone())
}
