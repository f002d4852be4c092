//! Same input, same output, in whatever order visits end: the graph is walked under many seeds, and
//! plan, diagnostics and state must come out the same. Providers answer in this process.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use formwork_core::addr::ProviderAddr;
use formwork_core::apply::{ApplyResult, apply_plan};
use formwork_core::config::files::ConfigFiles;
use formwork_core::config::inputs::ResolvedVariable;
use formwork_core::config::module_dirs::LocalModuleDirs;
use formwork_core::config::{Config, ConfigSource};
use formwork_core::eval::{HostValues, Results};
use formwork_core::graph::walk::RecordOrder;
use formwork_core::plan::{Plan, PlanOptions, make_plan};
use formwork_core::provider::{ProviderLauncher, ProviderPool};
use formwork_core::provisioner::ProvisionerSet;
use formwork_core::session::{Session, SessionInputs};
use formwork_core::state::State;
use formwork_core::state::file::StateFile;
use formwork_core::state::journal::{Journal, RunHeader};
use formwork_plugin_protocol::{Failure, Provider};
use formwork_value::Diagnostics;
use formwork_value::diag::Sources;
use time::OffsetDateTime;

/// Wide enough that many visits wait to be recorded at once, deep enough that order matters.
const BEFORE: &str = r#"
variable "size" { default = 3 }
locals {
  names  = toset(["x", "y", "z"])
  joined = join(",", [for a in terraform_data.a : a.output])
}
resource "terraform_data" "a" {
  count = var.size
  input = "a${count.index}"
}
resource "terraform_data" "b" {
  for_each = local.names
  input    = "${each.key}-${terraform_data.a[0].output}"
}
resource "terraform_data" "c" {
  input            = { of = local.joined, ids = [for b in terraform_data.b : b.id] }
  triggers_replace = terraform_data.a[1].output
  lifecycle { create_before_destroy = true }
}
resource "terraform_data" "goes1" { input = terraform_data.a[2].id }
resource "terraform_data" "goes2" { input = terraform_data.goes1.id }
output "joined" { value = local.joined }
output "c" { value = terraform_data.c.output }
"#;

/// Creates, updates, replaces and destroys, over what `BEFORE` made; some instances
/// fail their postcondition, each with a message of its own.
const AFTER: &str = r#"
variable "size" { default = 4 }
locals {
  names  = toset(["w", "x", "y"])
  joined = join(",", [for a in terraform_data.a : a.output])
}
resource "terraform_data" "a" {
  count = var.size
  input = "A${count.index}"
}
resource "terraform_data" "b" {
  for_each = local.names
  input    = "${each.key}+${terraform_data.a[0].output}"
}
resource "terraform_data" "c" {
  input            = { of = local.joined, ids = [for b in terraform_data.b : b.id] }
  triggers_replace = terraform_data.a[1].output
  lifecycle { create_before_destroy = true }
}
resource "terraform_data" "fails" {
  for_each = local.names
  input    = each.key
  lifecycle {
    postcondition {
      condition     = self.id == "never"
      error_message = "not good enough: ${each.key}"
    }
  }
}
resource "terraform_data" "fails_too" {
  input = terraform_data.a[0].output
  lifecycle {
    postcondition {
      condition     = self.id == "never"
      error_message = "nor is this"
    }
  }
}
resource "terraform_data" "skipped" { input = terraform_data.fails_too.id }
output "joined" { value = local.joined }
output "c" { value = terraform_data.c.output }
"#;

/// Errors that only evaluation finds, far apart in the graph.
const WRONG: &str = r#"
locals {
  one = tonumber("one")
  two = [1, 2][5]
  ok  = "fine"
}
resource "terraform_data" "a" { input = upper([]) }
resource "terraform_data" "b" { input = local.ok.missing }
resource "terraform_data" "c" {
  count = "many"
}
output "needs_one" { value = local.one }
output "wrong" { value = cidrhost("nonsense", 1) }
"#;

/// A single file, held in memory.
struct Text(&'static str);

impl ConfigFiles for Text {
    fn list(&self, _: &Path) -> io::Result<Vec<String>> {
        Ok(vec!["main.tf".to_owned()])
    }

    fn read(&self, _: &Path) -> io::Result<Vec<u8>> {
        Ok(self.0.into())
    }
}

/// Only the built-in provider is needed, and that one the engine has.
struct NoPlugins;

#[async_trait(?Send)]
impl ProviderLauncher for NoPlugins {
    async fn launch_provider(&self, _: &ProviderAddr) -> Result<Arc<dyn Provider>, Failure> {
        unreachable!("the configurations here use the built-in provider alone")
    }
}

/// Result of one command.
#[derive(Debug)]
struct Outcome {
    plan: Plan,
    diags: Diagnostics,
    state: State,
}

impl Outcome {
    /// Everything that a user could see of it, one after the other.
    fn messages(&self) -> String {
        let file = StateFile {
            lineage: "fixed".to_owned(),
            state: self.state.clone(),
            ..StateFile::new_empty()
        };
        let state = String::from_utf8(file.to_bytes()).expect("state files are text");
        let Plan { changes, drift, outputs, errored, .. } = &self.plan;
        let diags: Vec<_> = self.diags.iter().collect();
        scrub(&format!("{changes:#?}\n{drift:#?}\n{outputs:#?}\n{errored}\n{diags:#?}\n{state}"))
    }
}

/// Numbers the random ids, which differ from run to run, by where they first occur.
fn scrub(text: &str) -> String {
    let mut ids: BTreeMap<&str, usize> = BTreeMap::new();
    let is_id_char = |c: char| c.is_ascii_hexdigit() || c == '-';
    let is_id = |word: &&str| word.len() == 36 && word.matches('-').count() == 4;
    let mut out = String::new();
    for word in text.split_inclusive(|c| !is_id_char(c)) {
        let bare = word.trim_end_matches(|c| !is_id_char(c));
        if is_id(&bare) {
            let next = ids.len();
            let number = ids.entry(bare).or_insert(next);
            out += &format!("id{number}{}", &word[bare.len()..]);
        } else {
            out += word;
        }
    }
    out
}

/// Plans, and applies the plan.
async fn run(text: &'static str, state: &State, finishing: RecordOrder) -> Outcome {
    let (mut diags, mut sources) = (Diagnostics::new(), Sources::new());
    let config_source =
        ConfigSource { files: &Text(text), dir: Path::new("."), directories: &LocalModuleDirs };
    let config = Config::load(&mut diags, &mut sources, config_source);
    let config = config.expect("the configurations here can be read");
    let variables = config.root.variables.iter().filter_map(|(name, variable)| {
        Some((name.clone(), ResolvedVariable::from_value(variable.default.clone()?)))
    });
    let variables = variables.collect();
    let (pool, stop) = (ProviderPool::new(&NoPlugins), Cell::new(false));
    let (planned, applied) = (Results::new(&config), Results::new(&config));
    let (planning, applying) = (host_values(false), host_values(true));
    let provisioners = ProvisionerSet::default();
    let phase = |results, host_values| {
        let session_inputs = SessionInputs {
            config: &config,
            sources: &sources,
            state,
            pool: &pool,
            provisioners: &provisioners,
            results,
            world: host_values,
            variables: &variables,
            stop: &stop,
        };
        Session::new(session_inputs).with_record_order(finishing)
    };
    let plan = make_plan(&phase(&planned, &planning), &mut diags, &PlanOptions::default()).await;
    let Ok(plan) = plan else {
        // The errors are found before anything is planned.
        return Outcome { plan: Plan::default(), diags, state: state.clone() };
    };
    if plan.errored {
        return Outcome { plan, diags, state: state.clone() };
    }
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let base = StateFile { state: state.clone(), ..StateFile::new_empty() };
    let begin = RunHeader { operation: "OperationTypeApply", base: &base, read_from: None };
    let journal = Journal::begin_run(directory.path(), begin).expect("a journal can be begun");
    let applied = apply_plan(&phase(&applied, &applying), &mut diags, &plan, &journal).await;
    let Ok(ApplyResult { state, .. }) = applied else { panic!("no graph: {diags:#?}") };
    Outcome { plan, diags, state }
}

fn host_values(applying: bool) -> HostValues {
    HostValues {
        cwd: "/somewhere".into(),
        directory: "/somewhere".into(),
        root: ".".into(),
        home: None,
        workspace: "default".into(),
        applying,
        plan_time: Some(OffsetDateTime::UNIX_EPOCH),
        clock: || OffsetDateTime::UNIX_EPOCH,
    }
}

/// Checks that twenty orders of finishing give the same output as the order of a usual run.
async fn assert_same_output(text: &'static str, state: &State) -> Outcome {
    let as_it_comes = run(text, state, RecordOrder::Completion).await;
    let expected = as_it_comes.messages();
    for seed in 0..20 {
        let shuffled = run(text, state, RecordOrder::Shuffled(seed)).await.messages();
        let differs = expected.lines().zip(shuffled.lines()).find(|(a, b)| a != b);
        assert!(shuffled == expected, "seed {seed}: {differs:#?}");
    }
    as_it_comes
}

#[tokio::test(flavor = "current_thread")]
async fn the_output_does_not_depend_on_the_order_of_visits() {
    let first = assert_same_output(BEFORE, &State::default()).await;
    assert!(!first.diags.has_errors(), "{:#?}", first.diags);
    assert_eq!(first.plan.changes.len(), 9);
    let second = assert_same_output(AFTER, &first.state).await;
    assert_eq!(second.diags.iter().count(), 4, "{:#?}", second.diags);
    assert_eq!(second.state.resources.len(), 5, "one is skipped and two are gone");
}

#[tokio::test(flavor = "current_thread")]
async fn diagnostics_do_not_depend_on_the_order_of_visits() {
    let outcome = assert_same_output(WRONG, &State::default()).await;
    assert!(outcome.diags.iter().count() > 4, "{:#?}", outcome.diags);
}
