//! Whole runs in this process: a configuration in one string, a provider over a world in memory, and
//! everything that came of it as text. No files but the journal, no other process, no clock.

mod ahead;
mod checks;
mod cloud;
mod contract;
mod crash;
mod cycles;
mod dangling;
mod data;
mod durable;
mod ephemeral;
mod excludes;
mod failures;
mod functions;
mod import;
mod interrupt;
mod lifecycle;
mod mending;
mod meta;
mod modules;
mod moved;
mod order;
mod outputs;
mod pace;
mod paths;
mod property;
mod provider_warnings;
mod providers;
mod provisioners;
mod refresh;
mod size;
mod targets;
mod unknown_at_plan;
mod values;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::future::Future;

use formwork_value::{Diagnostics, Str};

use self::cloud::{CallFault, FakeCloud};
use crate::addr::Target;
use crate::apply::{ApplyResult, apply_plan};
use crate::change::{Action, Change, ReplaceOrder};
use crate::config::config_from_text::{self, format_value};
use crate::config::inputs::ResolvedVariable;
use crate::config::{Config, inputs};
use crate::eval::{HostValues, Results};
use crate::graph::walk::RecordOrder;
use crate::plan::{self, Plan, PlanMode, PlanOptions, make_plan};
use crate::provider::ProviderPool;
use crate::provisioner::ProvisionerSet;
use crate::session::{Session, SessionInputs};
use crate::state::file::StateFile;
use crate::state::journal::{Journal, RunHeader};
use crate::state::{ObjectState, ObjectStatus, State};

/// A fake cloud, its state, and a directory for journals.
struct EngineFixture {
    cloud: FakeCloud,
    file: StateFile,
    directory: tempfile::TempDir,
    options: PlanOptions,
    parallelism: usize,
    finishing: RecordOrder,
    provisioners: ProvisionerSet,
    /// Whether nothing new is to start.
    stop: Cell<bool>,
    /// Number of times that the last apply synced its journal.
    n_syncs: Cell<usize>,
    /// Number of records that a journal can take before its disk is full.
    room: Option<u64>,
}

/// Result of a run.
struct RunResult {
    plan: Option<Plan>,
    applied: Option<ApplyResult>,
    diags: Diagnostics,
    calls: Vec<String>,
}

impl EngineFixture {
    fn new() -> Self {
        Self {
            cloud: FakeCloud::default(),
            file: StateFile::new_empty(),
            directory: tempfile::tempdir().unwrap(),
            options: PlanOptions::default(),
            // One after the other, so that the order of calls is the smallest one the graph allows.
            parallelism: 1,
            finishing: RecordOrder::Completion,
            provisioners: ProvisionerSet::default(),
            stop: Cell::default(),
            n_syncs: Cell::default(),
            room: None,
        }
    }

    /// A bench on which a configuration was applied without trouble.
    fn with_applied(config: &str) -> Self {
        let mut bench = Self::new();
        let run = bench.apply(config);
        assert!(!run.diags.has_errors(), "{}", run.describe_diagnostics());
        bench
    }

    fn set_fault(&self, call: &str, fault: CallFault) {
        self.cloud.lock_contents().faults.insert(call.to_owned(), fault);
    }

    fn clear_faults(&self) {
        self.cloud.lock_contents().faults.clear();
    }

    fn set_targets(&mut self, targets: &[&str]) {
        self.options.targets = targets.iter().map(|text| text.parse::<Target>().unwrap()).collect();
    }

    /// Plans and applies with other options, which hold for this run only.
    fn apply_with(&mut self, config: &str, change: impl FnOnce(&mut PlanOptions)) -> RunResult {
        let options = self.options.clone();
        change(&mut self.options);
        let run = self.apply(config);
        self.options = options;
        run
    }

    fn plan_with(&mut self, config: &str, change: impl FnOnce(&mut PlanOptions)) -> RunResult {
        let options = self.options.clone();
        change(&mut self.options);
        let run = self.plan(config);
        self.options = options;
        run
    }

    fn destroy(&mut self, config: &str) -> RunResult {
        self.apply_with(config, |options| options.mode = PlanMode::Destroy)
    }

    fn plan(&mut self, config: &str) -> RunResult {
        self.plan_and_maybe_apply(config, false)
    }

    /// Plans and, if that went well, applies; what is done then counts as stored.
    fn apply(&mut self, config: &str) -> RunResult {
        self.plan_and_maybe_apply(config, true)
    }

    fn plan_and_maybe_apply(&mut self, config: &str, applying: bool) -> RunResult {
        let loaded = LoadedConfig::load(config);
        let first = self.cloud.lock_contents().calls.len();
        // Nothing outlives the program.
        self.cloud.lock_contents().n_running = 0;
        let mut diags = Diagnostics::new();
        let (plan, applied) = block_on(async {
            let pool = ProviderPool::new(&self.cloud);
            self.plan_and_apply(&loaded, &pool, applying, &mut diags).await
        });
        if let Some(applied) = &applied {
            // After a failed run as well: what was done counts as stored.
            self.file.state = applied.state.clone();
        }
        let calls = self.cloud.lock_contents().calls[first..].to_vec();
        RunResult { plan, applied, diags, calls }
    }

    /// Validates only the configuration, with unknown variables.
    fn validate(&self, config: &str) -> RunResult {
        self.validate_loaded(LoadedConfig::load(config))
    }

    fn validate_loaded(&self, mut loaded: LoadedConfig) -> RunResult {
        let variables = loaded.config.root.variables.iter();
        loaded.variables = variables
            .map(|(name, variable)| {
                (
                    name.clone(),
                    ResolvedVariable::from_value(inputs::unknown_variable_value(variable)),
                )
            })
            .collect();
        let mut diags = Diagnostics::new();
        let (results, world, stop) =
            (Results::new(&loaded.config), host_values(false), Cell::new(false));
        let pool = ProviderPool::new(&self.cloud);
        let with = SessionParts { pool: &pool, results: &results, world: &world, stop: &stop };
        let session = self.new_session(&loaded, with);
        let _valid = block_on(plan::validate_config(&session, &mut diags));
        RunResult { plan: None, applied: None, diags, calls: Vec::new() }
    }

    async fn plan_and_apply(
        &self,
        loaded: &LoadedConfig,
        pool: &ProviderPool<'_>,
        applying: bool,
        diags: &mut Diagnostics,
    ) -> (Option<Plan>, Option<ApplyResult>) {
        let planned = self.plan_in_session(loaded, pool, diags).await;
        match planned {
            Some(plan) if applying && !plan.errored => {
                // Through the form it is saved in, and in part with another process.
                let saved = plan.to_bytes().unwrap();
                let read = Plan::from_bytes(&saved, plan.prior.clone()).unwrap();
                assert!(read == plan, "a saved plan is read as it was");
                let applied = self.apply_in_session(loaded, pool, &read, diags).await;
                (Some(plan), applied)
            }
            planned => (planned, None),
        }
    }

    async fn plan_in_session(
        &self,
        loaded: &LoadedConfig,
        pool: &ProviderPool<'_>,
        diags: &mut Diagnostics,
    ) -> Option<Plan> {
        let (results, world) = (Results::new(&loaded.config), host_values(false));
        let with = SessionParts { pool, results: &results, world: &world, stop: &self.stop };
        let session = self.new_session(loaded, with);
        make_plan(&session, diags, &self.options).await.ok()
    }

    async fn apply_in_session(
        &self,
        loaded: &LoadedConfig,
        pool: &ProviderPool<'_>,
        plan: &Plan,
        diags: &mut Diagnostics,
    ) -> Option<ApplyResult> {
        let (results, world) = (Results::new(&loaded.config), host_values(true));
        let with = SessionParts { pool, results: &results, world: &world, stop: &self.stop };
        let session = self.new_session(loaded, with);
        let begin =
            RunHeader { operation: "OperationTypeApply", base: &self.file, read_from: None };
        let journal = Journal::begin_run(self.directory.path(), begin).unwrap();
        if let Some(room) = self.room {
            journal.fill_disk_after(room);
        }
        let applied = apply_plan(&session, diags, plan, &journal).await.ok();
        self.n_syncs.set(journal.disk_sync_count());
        let stored = applied.as_ref().map(|ApplyResult { state, .. }| state.clone());
        let stored = stored.map(|state| StateFile { state, ..StateFile::new_empty() });
        let kept = match &stored {
            Some(stored) => journal.record_state_fingerprint(stored).await,
            None => Ok(()),
        };
        // An error of a record that does not fit any more is reported where it happened.
        let kept = match kept {
            Ok(()) => journal.end_run().await,
            Err(error) => Err(error),
        };
        // Only a full disk may keep a journal from its end.
        kept.map_or_else(|error| assert!(self.room.is_some(), "{error}"), drop);
        applied
    }

    fn new_session<'a>(&'a self, loaded: &'a LoadedConfig, with: SessionParts<'a>) -> Session<'a> {
        let SessionParts { pool, results, world, stop } = with;
        let session_inputs = SessionInputs {
            config: &loaded.config,
            sources: &loaded.sources,
            state: &self.file.state,
            pool,
            provisioners: &self.provisioners,
            results,
            world,
            variables: &loaded.variables,
            stop,
        };
        Session::new(session_inputs)
            .with_parallelism(self.parallelism)
            .with_record_order(self.finishing)
    }

    /// The objects in the state, one a line.
    fn describe_state(&self) -> String {
        show_state(&self.file.state)
    }

    /// Number of remaining journals.
    fn journal_count(&self) -> usize {
        self.directory.path().read_dir().map_or(0, Iterator::count)
    }
}

/// Parts of a session besides the state and the configuration.
struct SessionParts<'a> {
    pool: &'a ProviderPool<'a>,
    results: &'a Results,
    world: &'a HostValues,
    stop: &'a Cell<bool>,
}

/// A configuration with values for its variables.
struct LoadedConfig {
    config: Config,
    sources: formwork_value::diag::Sources,
    variables: BTreeMap<Str, ResolvedVariable>,
}

impl LoadedConfig {
    fn load(config: &str) -> Self {
        let (config, mut sources) = config_from_text::load_valid_fixture(config);
        let mut diags = Diagnostics::new();
        let inputs = inputs::resolve_variables(
            &mut diags,
            &mut sources,
            &config.root,
            Vec::new(),
            inputs::UnsetVariableTreatment::Error,
        )
        .unwrap();
        Self { config, sources, variables: inputs }
    }
}

fn host_values(applying: bool) -> HostValues {
    // A stopped clock, so that no expected output contains a time.
    HostValues { applying, ..HostValues::for_dir("/work", || time::OffsetDateTime::UNIX_EPOCH) }
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    // One thread, so that calls come in the same order each time. The timer is for renewals.
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
}

impl RunResult {
    /// The planned changes, one a line.
    fn describe_changes(&self) -> String {
        let mut out = String::new();
        let Some(plan) = &self.plan else { return "no plan\n".into() };
        for change in plan.changes.values().filter(|change| change.needs_apply()) {
            let _ = writeln!(out, "{}", show_change(change));
        }
        for change in plan.drift.values() {
            let _ = writeln!(out, "drift {}", show_change(change));
        }
        for (name, output) in &plan.outputs {
            let sign = action_sign(output.action);
            if output.action != Action::NoOp {
                let _ = writeln!(out, "{sign} output.{name} {}", format_value(&output.after));
            }
        }
        if out.is_empty() && !plan.errored { "nothing\n".into() } else { out }
    }

    /// The calls that change or read something out there, in order.
    fn changing_calls(&self) -> String {
        let wanted = ["create", "update", "delete", "look up", "configure"];
        let calls =
            self.calls.iter().filter(|call| wanted.iter().any(|prefix| call.starts_with(prefix)));
        let mut out: Vec<&str> = calls.map(String::as_str).collect();
        // Every run configures the provider without arguments: that is not worth a line.
        out.retain(|call| *call != "configure -");
        format!("{}\n", out.join(", "))
    }

    /// Every call, in order.
    fn all_calls(&self) -> String {
        format!("{}\n", self.calls.join(", "))
    }

    /// The problems, one a line.
    fn describe_diagnostics(&self) -> String {
        let mut out = String::new();
        for diagnostic in self.diags.iter() {
            let kind = if diagnostic.is_error() { "error" } else { "warning" };
            let about = diagnostic.address.as_deref().unwrap_or("-");
            let _ = writeln!(out, "{kind} {about}: {}", diagnostic.summary);
        }
        out
    }

    fn has_no_diagnostics(&self) -> bool {
        !self.diags.has_errors() && self.plan.as_ref().is_some_and(|plan| !plan.has_changes())
    }

    /// Changes, order and problems together.
    fn describe_run(&self) -> String {
        format!(
            "{}calls: {}{}",
            self.describe_changes(),
            self.changing_calls(),
            self.describe_diagnostics()
        )
    }
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

fn show_change(change: &Change) -> String {
    let mut out = format!("{} {}", action_sign(change.action), change.addr);
    if change.deposed.is_some() {
        out += " (deposed)";
    }
    if let Some(from) = &change.moved_from {
        let _ = write!(out, " (was {from})");
    }
    if let Some(importing) = &change.importing {
        let _ = write!(out, " (imported by {})", importing.import_key);
    }
    if let Some(reason) = change.reason {
        let _ = write!(out, " {reason:?}");
    }
    for path in &change.replace_paths {
        let _ = write!(out, " {path}");
    }
    out
}

fn show_state(state: &State) -> String {
    let mut out = String::new();
    for (addr, resource) in &state.resources {
        for (key, instance) in &resource.instances {
            let name = addr.instance_addr(key.clone());
            if let Some(object) = &instance.current {
                let _ = writeln!(out, "{name}{}", show_object(object));
            }
            for object in instance.deposed.values() {
                let _ = writeln!(out, "{name} (deposed){}", show_object(object));
            }
        }
    }
    for (name, output) in &state.outputs {
        let _ = writeln!(out, "output.{name} {}", format_value(output.value.value()));
    }
    out
}

/// Name of an object, with its special properties.
fn show_object(object: &ObjectState) -> String {
    let json = object.attributes.to_json_value();
    let mut out = String::new();
    for name in ["id", "size", "answer"] {
        match &json[name] {
            serde_json::Value::Null => {}
            value => drop(write!(out, " {}", value.to_string().trim_matches('"'))),
        }
    }
    if object.status == ObjectStatus::Tainted {
        out += " tainted";
    }
    if object.create_before_destroy {
        out += " create-first";
    }
    if !object.dependencies.is_empty() {
        let names: Vec<_> = object.dependencies.iter().map(ToString::to_string).collect();
        let _ = write!(out, " after {}", names.join(" "));
    }
    out
}
