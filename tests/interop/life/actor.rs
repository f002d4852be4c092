//! Runs a script with one program, in a directory and with a fake service of its own. The result of each
//! step is a JSON document, so that Terraform's results can be cached.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::record::Record;
use super::script::{Script, Step, Verb};
use super::{ScriptSuite, StateBackend};
use crate::interop::compare::{scrub_ids, scrub_state, scrub_view};
use crate::interop::engine::{Engine, Run};
use crate::interop::terraform_plans::is_about_unmatched_option;

struct ScriptRunner<'s> {
    suite: &'s ScriptSuite,
    backend: Option<&'s StateBackend>,
    engine: Engine,
    directory: tempfile::TempDir,
    /// Directory of the configuration.
    work: PathBuf,
    service: PathBuf,
    settings: PathBuf,
    env: Vec<(String, String)>,
    /// Number of lines of the log that have been read.
    n_seen: usize,
}

/// Returns the result of each step.
pub(super) fn run_script(
    suite: &ScriptSuite,
    backend: Option<&StateBackend>,
    engine: Engine,
    script: &Script,
) -> Vec<Value> {
    let mut runner = ScriptRunner::new(suite, backend, engine, script);
    let mut results = Vec::new();
    for step in &script.steps {
        results.push(runner.step(script, step));
    }
    results
}

impl<'s> ScriptRunner<'s> {
    fn new(
        suite: &'s ScriptSuite,
        backend: Option<&'s StateBackend>,
        engine: Engine,
        script: &Script,
    ) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let [work, service] = ["work", "service"].map(|name| directory.path().join(name));
        for directory in [&work, &service] {
            std::fs::create_dir(directory).unwrap();
        }
        let settings = (suite.settings)(directory.path());
        let env = [("TEST_OBJECTS", service.clone()), ("TEST_LOG", directory.path().join("log"))];
        let env = env.map(|(name, path)| (name.to_owned(), path.to_string_lossy().into_owned()));
        let variables = backend.map(|backend| backend.variables.clone()).unwrap_or_default();
        let env = env.into_iter().chain(variables).collect();
        let runner =
            Self { suite, backend, engine, directory, work, service, settings, env, n_seen: 0 };
        if let Some(StateBackend { block, kind, arguments, .. }) = backend {
            let is_store = *block == "state_store";
            let block = format!("{block} \"{kind}\" {{\n{}  }}", arguments());
            runner.write("backend.tf", &format!("terraform {{\n  {block}\n}}\n"));
            // The provider of a state store must be listed.
            if is_store {
                runner.write("required.tf", &(suite.required)(&script.group));
            }
            let run = runner.run(&["init", "-input=false", "-no-color"]);
            assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
        }
        runner.write("common.tf", &script.common);
        if !script.text.contains("required_providers") {
            runner.write("required.tf", &(suite.required)(&script.group));
        }
        runner
    }

    fn step(&mut self, script: &Script, step: &Step) -> Value {
        if step.verb != Verb::File && !step.text.trim().is_empty() {
            self.write("main.tf", &step.text);
            if script.calls_modules() {
                self.run(&["get", "-no-color"]);
            }
        }
        let first = step.args.first().map_or("", String::as_str);
        match step.verb {
            Verb::Apply => return self.apply(&step.args),
            Verb::Plan => return self.plan(&step.args, "made.plan"),
            Verb::Save => return self.plan(&step.args, "kept.plan"),
            Verb::Use => return self.apply_saved_plan("kept.plan"),
            Verb::Run => return self.run_command(&step.args),
            Verb::Text => return self.text(&step.args),
            Verb::File => {
                self.write(first, &step.text);
                if first.contains('/') && !script.text.contains("required_providers") {
                    let required_path = Path::new(first).with_file_name("required.tf");
                    let required = (self.suite.required)(&script.group);
                    self.write(&required_path.to_string_lossy(), &required);
                }
            }
            Verb::Unlink => std::fs::remove_file(self.work.join(first)).unwrap(),
            Verb::World => {
                std::fs::write(self.service.join(first), step.args[1..].join("\n")).unwrap();
            }
            Verb::Gone => std::fs::remove_file(self.service.join(first)).unwrap(),
            Verb::Fail => {
                let calls = step.rest().replace(", ", "\n");
                std::fs::write(self.service.join("faults"), calls).unwrap();
            }
            Verb::Env => {
                let (name, value) = first.split_once('=').expect("env NAME=VALUE");
                self.env.push((name.to_owned(), value.to_owned()));
            }
        }
        json!({})
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.work.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn run(&self, args: &[&str]) -> Run {
        self.engine.run_with(&self.work, Some(&self.settings), &self.env, args)
    }

    fn plan(&mut self, flags: &[String], file: &str) -> Value {
        self.n_seen = self.log().len();
        let mut args = vec!["plan", "-json", "-input=false", "-detailed-exitcode", "-out", file];
        args.extend(flags.iter().map(String::as_str));
        let run = self.run(&args);
        // The progress of a failed plan depends on the order of the walk.
        if run.code == Some(1) {
            return json!({"plan": {"code": 1, "said": self.problems(&run)}});
        }
        let record = self.record(&run);
        let plan_view = self.run(&["show", "-json", file]);
        let mut view =
            plan_view.document().unwrap_or_else(|| json!(plan_view.stdout + &plan_view.stderr));
        scrub_view(&mut view);
        scrub_ids(&mut view);
        scrub_keys(&mut view);
        // Before it destroys, Terraform validates, and plans as if nothing was to be destroyed.
        let destroys = flags.iter().any(|flag| flag == "-destroy");
        let (diagnostics, record) = match destroys {
            true => (self.problems_after_validation(&run), Value::Null),
            false => (self.problems(&run), record),
        };
        json!({"plan": {"code": run.code, "said": diagnostics, "view": view, "record": record}})
    }

    fn apply(&mut self, flags: &[String]) -> Value {
        let mut results = self.plan(flags, "made.plan");
        if results["plan"]["code"] != 1 {
            let applied = self.apply_saved_plan("made.plan");
            results["apply"] = applied["apply"].clone();
        }
        results
    }

    /// Applies a saved plan.
    fn apply_saved_plan(&mut self, file: &str) -> Value {
        self.n_seen = self.log().len();
        let run = self.run(&["apply", "-json", "-input=false", file]);
        let log: Vec<String> =
            self.log().drain(self.n_seen..).filter_map(|it| log_entry(&it)).collect();
        let changed = log.iter().filter_map(|line| line.strip_prefix("begin "));
        let mut changed: Vec<&str> = changed.collect();
        changed.sort_unstable();
        let events = run.events();
        let counts = events.iter().rfind(|event| event["type"] == "change_summary");
        let counts = counts.map(|event| &event["changes"]);
        json!({"apply": {
            "code": run.code,
            "said": self.problems_after_validation(&run),
            "record": self.record(&run),
            "counts": counts.filter(|_| !ends_twice(&changed)),
            "calls": changed,
            "state": self.state(),
            "log": log,
        }})
    }

    fn run_command(&mut self, args: &[String]) -> Value {
        self.n_seen = self.log().len();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let run = self.run(&args);
        if self.suite.is_recorded && args.contains(&"-json") {
            let diagnostics = self.problems(&run);
            return json!({"run": {"code": run.code, "said": diagnostics, "record": self.record(&run)}});
        }
        let text = plain(&(run.stderr.clone() + &run.stdout));
        let is_summary =
            |line: &&str| ["Error: ", "Warning: "].iter().any(|it| line.starts_with(it));
        let diagnostics =
            text.lines().map(|line| line.trim_start_matches(['│', ' '])).filter(is_summary);
        let diagnostics: Vec<&str> = diagnostics.collect();
        let record = self.record(&run);
        json!({"run": {"code": run.code, "said": diagnostics, "state": self.state(), "record": record}})
    }

    /// The lines that show changes and objects. Notes about a run are in each program's own words.
    fn text(&self, args: &[String]) -> Value {
        let args: Vec<&str> = args.iter().map(String::as_str).chain(["-no-color"]).collect();
        let run = self.run(&args);
        let is_shown = |line: &&str| {
            // The list of overridden providers has no order.
            let is_listed = line.starts_with(" - ");
            !is_listed && line.starts_with([' ', '}', '-', '+', '~', '<', '#'])
                || ["resource ", "data ", "Plan: ", "Changes to "]
                    .iter()
                    .any(|it| line.starts_with(it))
        };
        let text = run.stdout.replace("Formwork", "Terraform");
        let mut lines: Value = text.lines().filter(is_shown).map(Value::from).collect();
        scrub_ids(&mut lines);
        json!({"text": {"code": run.code, "lines": lines}})
    }

    /// The events of a run and the requests that reached the provider since the run began; null where
    /// they are not compared.
    fn record(&self, run: &Run) -> Value {
        if self.suite.is_recorded { self.log_since().events_and_requests(run) } else { Value::Null }
    }

    /// The compared parts of the diagnostics of a run.
    fn problems(&self, run: &Run) -> Vec<Value> {
        if self.suite.is_recorded { self.log_since().problems(run) } else { problems(run) }
    }

    fn problems_after_validation(&self, run: &Run) -> Vec<Value> {
        if self.suite.is_recorded {
            self.log_since().problems_after_validation(run)
        } else {
            problems(run)
        }
    }

    fn log_since(&self) -> Record {
        Record::new(self.log().drain(self.n_seen..).collect())
    }

    fn state(&self) -> Value {
        let text = match self.backend {
            Some(_) => self.run(&["state", "pull"]).stdout,
            None => {
                std::fs::read_to_string(self.work.join("terraform.tfstate")).unwrap_or_default()
            }
        };
        let mut state = serde_json::from_str(&text).unwrap_or(Value::Null);
        // Over a backend, a state that does not exist is printed as an empty one without a lineage.
        if state["lineage"] == "" {
            state = Value::Null;
        }
        scrub_state(&mut state);
        scrub_keys(&mut state);
        // A resource without objects is ignored.
        if let Some(resources) = state["resources"].as_array_mut() {
            resources.retain(|resource| resource["instances"] != json!([]));
        }
        state
    }

    fn log(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default();
        text.lines()
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
            })
            .collect()
    }
}

/// Whether two objects of one name were destroyed, or one with a successor: Terraform's count then
/// depends on the timing of its walk.
fn ends_twice(calls: &[&str]) -> bool {
    let mut names: Vec<&str> = calls
        .iter()
        .filter_map(|call| Some(call.strip_prefix("delete ")?.rsplit_once('-')?.0))
        .collect();
    let n_ends = names.len();
    names.dedup();
    names.len() < n_ends
}

/// Entry of a log line in the order of calls.
fn log_entry(line: &Value) -> Option<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Some(match line["call"].as_str()? {
        moment @ ("begin" | "end") => format!("{moment} {}", text(&line["of"])),
        "read_data" => format!("data {}", text(&line["config"]["name"])),
        "open" => format!("open {}", text(&line["config"]["name"])),
        "close" => {
            let private: Value = serde_json::from_str(&text(&line["private"])).ok()?;
            format!("close {}", text(&private["name"]))
        }
        "configure" => format!("configure {}", text(&line["config"]["value"])),
        _ => return None,
    })
}

/// A string without color codes.
fn plain(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + part.split_once('m').map_or(part, |(_, rest)| rest))
}

/// The parts of the diagnostics that have to agree: the detail is in each program's own words.
fn problems(run: &Run) -> Vec<Value> {
    let events = run.events();
    let diagnostics =
        events.iter().filter(|it| it["type"] == "diagnostic" && !is_about_unmatched_option(it));
    let brief = |event: &Value| {
        let diagnostic = &event["diagnostic"];
        let summary = diagnostic["summary"].as_str().unwrap_or_default();
        // The members of a cycle are listed in no particular order.
        let summary = if summary.starts_with("Cycle: ") { "Cycle" } else { summary };
        let line = &diagnostic["range"]["start"]["line"];
        json!([diagnostic["severity"], summary, line])
    };
    let mut diagnostics: Vec<Value> = diagnostics.map(brief).collect();
    diagnostics.sort_by_key(Value::to_string);
    diagnostics
}

/// Removes the keys of deposed objects, which are random, and sorts the objects by their other parts.
fn scrub_keys(value: &mut Value) {
    match value {
        Value::Array(elements) => {
            elements.iter_mut().for_each(scrub_keys);
            let is_deposed = |it: &Value| KEYS.iter().any(|key| it[key].is_string());
            if elements.iter().any(is_deposed) {
                let text = |it: &Value, key: &str| it[key].to_string();
                elements.sort_by_cached_key(|it| {
                    (
                        text(it, "address"),
                        text(it, "index_key"),
                        is_deposed(it),
                        text(it, "values"),
                        it.to_string(),
                    )
                });
            }
        }
        // So are the ids of null resources.
        Value::String(text) if text.len() > 15 && text.chars().all(|it| it.is_ascii_digit()) => {
            "some number".clone_into(text);
        }
        Value::Object(fields) => {
            for name in KEYS {
                if let Some(Value::String(key)) = fields.get_mut(name) {
                    "some key".clone_into(key);
                }
            }
            fields.values_mut().for_each(scrub_keys);
        }
        _ => {}
    }
}

/// The names of the attributes that contain keys of deposed objects.
const KEYS: [&str; 2] = ["deposed", "deposed_key"];
