//! The lifecycle of all rows of a provider, run by each program over each version of the protocol, and
//! the two states the same after every stage.

use std::io::Write as _;
use std::thread;

use serde_json::Value;

use super::row::{Import, LifecycleStage, Provider, Replace, Resource};
use super::{PROTOCOLS, SessionInputs};
use crate::interop::compare::differences;
use crate::interop::engine::{Engine, terraform_is_installed};

/// Runs all stages, and prints the rows. Each program gets a provider of its own, so that they
/// do not meet on a server.
pub(super) fn check(providers: &[Provider; 2]) {
    if !terraform_is_installed() {
        return;
    }
    for protocol in PROTOCOLS {
        let results = thread::scope(|scope| {
            let runs = [0, 1].map(|index| {
                let (provider, engine) = (&providers[index], Engine::BOTH[index]);
                scope.spawn(move || LifecycleRun { provider, protocol, engine }.run())
            });
            runs.map(|run| run.join())
        });
        let [theirs, ours] = results.map(|results| match results {
            Ok(results) => results,
            // The thread has printed its panic message already.
            Err(panic) => std::panic::resume_unwind(panic),
        });
        let mut problems = [theirs.problems, ours.problems].concat();
        assert_eq!(theirs.states.len(), ours.states.len());
        for ((when, theirs), (_, ours)) in theirs.states.iter().zip(&ours.states) {
            differences(&format!("state after {when}"), theirs, ours, &mut problems);
        }
        assert!(problems.is_empty(), "protocol {protocol}\n{}", problems.join("\n"));
    }
    print(&providers[0]);
}

fn print(provider: &Provider) {
    let resources = provider.resources.iter().map(Resource::line);
    let others = provider.other_types.iter().map(|other| {
        let (heading, name) = other.name();
        format!("{name:<26} {heading}")
    });
    let lines: String = resources.chain(others).map(|line| format!("{line}\n")).collect();
    // One write, so that the output of parallel tests does not mix.
    print!("{lines}");
    std::io::stdout().flush().unwrap();
}

/// The lifecycle of a provider's rows in one directory, under one program.
#[derive(Clone, Copy)]
struct LifecycleRun<'p> {
    provider: &'p Provider,
    protocol: u8,
    engine: Engine,
}

/// Results of a run.
#[derive(Default)]
struct LifecycleResults {
    states: Vec<(String, Value)>,
    /// Plans in which the two programs disagree.
    problems: Vec<String>,
}

impl LifecycleRun<'_> {
    fn run(self) -> LifecycleResults {
        let directory = SessionInputs::new("", self.protocol);
        for (name, content) in self.provider.files {
            directory.write(name, content);
        }
        let mut results = LifecycleResults::default();
        for stage in LifecycleStage::ALL {
            self.stage(&directory, stage, &mut results);
        }
        self.imports(&directory, &mut results);
        self.refusals(&directory);
        directory.succeed(self.engine, &["destroy", "-auto-approve", "-no-color"]);
        let n_remaining = directory.state()["resources"].as_array().map_or(0, Vec::len);
        assert_eq!(n_remaining, 0, "{:?} leaves something behind", self.engine);
        results
    }

    fn stage(
        self,
        directory: &SessionInputs,
        stage: LifecycleStage,
        results: &mut LifecycleResults,
    ) {
        directory.write("main.tf", &self.provider.config(stage));
        let is_requested = |row: &Resource| {
            let is_requested =
                stage == LifecycleStage::Replace && matches!(row.replace, Replace::OnRequest(_));
            is_requested.then(|| format!("-replace={}", row.address()))
        };
        let options: Vec<String> =
            self.provider.resources.iter().filter_map(is_requested).collect();
        let plan = self.applied(directory, &format!("{stage:?}"), &options, results);
        for row in &self.provider.resources {
            let change = change(&plan, &row.address());
            let actions = &change["actions"];
            assert!(
                row.is_planned(stage, actions),
                "{:?}, protocol {}: {} of {}: {actions}",
                self.engine,
                self.protocol,
                format!("{stage:?}").to_lowercase(),
                row.address()
            );
        }
    }

    /// Forgets everything that can be found again, and finds it.
    fn imports(self, directory: &SessionInputs, results: &mut LifecycleResults) {
        let rows = self.provider.resources.iter();
        let importable: Vec<(&Resource, &str)> = rows
            .filter_map(|row| match row.import {
                Import::By(id) | Import::Incomplete(id, _) => Some((row, id)),
                Import::Refused(_) => None,
            })
            .collect();
        if importable.is_empty() {
            return;
        }
        let stored = directory.stored();
        let blocks = importable.iter().map(|(row, id)| import(row, id, &stored));
        directory.write("imports.tf", &blocks.collect::<String>());
        let addresses: Vec<String> = importable.iter().map(|(row, _)| row.address()).collect();
        let mut forget = vec!["state", "rm"];
        forget.extend(addresses.iter().map(String::as_str));
        directory.succeed(self.engine, &forget);
        let plan = self.applied(directory, "import", &[], results);
        for (row, _) in importable {
            let change = change(&plan, &row.address());
            let expected = match row.import {
                Import::Incomplete(..) => "update",
                Import::By(_) | Import::Refused(_) => "no-op",
            };
            assert!(change["importing"].is_object(), "{}: {change}", row.address());
            assert_eq!(change["actions"], serde_json::json!([expected]), "{}", row.address());
        }
        std::fs::remove_file(directory.path().join("imports.tf")).unwrap();
    }

    /// Both programs report that an object cannot be imported.
    fn refusals(self, directory: &SessionInputs) {
        let refused = self.provider.refused();
        if refused.is_empty() {
            return;
        }
        let blocks: String = refused.iter().map(|(_, blocks)| blocks.as_str()).collect();
        directory.write("imports.tf", &blocks);
        let run = directory.run(self.engine, &["plan", "-json"]);
        assert_eq!(run.code, Some(1), "{:?}: {}{}", self.engine, run.stdout, run.stderr);
        let events = run.events();
        let errors = events.iter().filter(|event| event["diagnostic"]["severity"] == "error");
        let summaries = errors.filter_map(|event| event["diagnostic"]["summary"].as_str());
        let summaries: Vec<&str> = summaries.collect();
        let words: Vec<&str> = refused.iter().map(|(words, _)| *words).collect();
        assert_eq!(summaries, words, "{:?}: {}", self.engine, run.stdout);
        std::fs::remove_file(directory.path().join("imports.tf")).unwrap();
    }

    /// Plans, applies that plan, and has both programs find nothing more to do. Returns the plan.
    /// Both programs plan the same for objects that Terraform has made.
    fn applied(
        self,
        directory: &SessionInputs,
        when: &str,
        options: &[String],
        results: &mut LifecycleResults,
    ) -> Value {
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let plan = self.plan(directory, self.engine, &options);
        if self.engine == Engine::Terraform {
            let ours = self.plan(directory, Engine::Formwork, &options);
            differences(&format!("plan of {when}"), &plan, &ours, &mut results.problems);
        }
        directory.succeed(self.engine, &["apply", "-no-color", self.engine.file()]);
        for reader in Engine::BOTH {
            let run = directory.run(reader, &["plan", "-detailed-exitcode", "-no-color"]);
            let output = || format!("{}{}", run.stdout, run.stderr);
            assert_eq!(run.code, Some(0), "{reader:?} after {when}: {}", output());
        }
        let mut state = directory.state();
        self.provider.shape(&mut state);
        results.states.push((when.to_owned(), state));
        plan
    }

    /// Plans into a file of the program's own; returns the plan without parts that necessarily differ.
    fn plan(self, directory: &SessionInputs, engine: Engine, options: &[&str]) -> Value {
        let mut view = directory.plan_view(engine, engine.file(), options);
        self.provider.shape(&mut view);
        view
    }
}

impl Engine {
    fn file(self) -> &'static str {
        match self {
            Self::Terraform => "theirs.tfplan",
            Self::Formwork => "ours.tfplan",
        }
    }
}

/// Planned change of an object.
fn change(plan: &Value, address: &str) -> Value {
    let mut changes = plan["resource_changes"].as_array().into_iter().flatten();
    changes
        .find(|change| change["address"] == address)
        .map_or(Value::Null, |change| change["change"].clone())
}

/// The block that finds an object again.
fn import(row: &Resource, id: &str, stored: &Value) -> String {
    let resources = stored["resources"].as_array().unwrap();
    let object = resources
        .iter()
        .find(|resource| resource["type"] == row.kind && resource["name"] == "row")
        .unwrap();
    let attributes = object["instances"][0]["attributes"].as_object().unwrap();
    let id = attributes.iter().fold(id.to_owned(), |id, (name, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        id.replace(&format!("{{{name}}}"), &text)
    });
    let id =
        id.replace('\\', "\\\\").replace('"', "\\\"").replace("${", "$${").replace("%{", "%%{");
    format!("import {{\n  to = {}\n  id = \"{id}\"\n}}\n", row.address())
}
