//! Every fixture of `plans/` planned, and applied if it specifies so, by both programs: exit codes,
//! diagnostics, the JSON view of the plan, and the state must be the same.
//!
//! Plans are made in parallel in the directory that Terraform applies in, so that they start from
//! the same state; Formwork applies in a directory of its own, and the two states are compared.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::case::{Case, Step, Verb, load_group};
use super::compare::{differences, forgive_more_values, scrub_state, scrub_view};
use super::engine::{Engine, Run, terraform_is_installed};
use super::expressions::Difference;
use super::row::Row;
use super::terraform_loads_ours::PROVIDERS;
use crate::harness::{built, test_provider};

/// The directories of one case, and the differences so far.
struct PlanComparison {
    shared: tempfile::TempDir,
    ours: tempfile::TempDir,
    /// Settings with the providers of this workspace, for a case that needs them.
    settings: Option<PathBuf>,
    /// Environment variables of the programs.
    env: Vec<(String, String)>,
    differences: Vec<String>,
    /// Whether the exact positions of diagnostics are compared: in fixtures with such names.
    exactly: bool,
    /// Whether Terraform refused one of the steps.
    should_fail: bool,
}

fn check_group(group: &str) {
    if !terraform_is_installed() {
        return;
    }
    let filter = std::env::var("INTEROP_CASE").ok();
    let cases = load_group(group);
    assert!(!cases.is_empty(), "{group} is empty");
    let mut report = String::new();
    let mut row = Row::default();
    for case in cases
        .iter()
        .filter(|case| filter.as_ref().is_none_or(|name| case.name.contains(name.as_str())))
    {
        let comparison = check_case(case);
        row.count(comparison.should_fail, comparison.difference());
        for line in comparison.differences {
            report.push_str(&format!("{group}/{}{line}\n", case.name));
        }
    }
    println!("{}", row.line(&format!("plans/{group}")));
    assert!(report.is_empty(), "\n{report}");
}

fn check_case(case: &Case) -> PlanComparison {
    let mut comparison = PlanComparison {
        shared: tempfile::tempdir().unwrap(),
        ours: tempfile::tempdir().unwrap(),
        settings: None,
        env: Vec::new(),
        differences: Vec::new(),
        exactly: case.name.starts_with("places"),
        should_fail: false,
    };
    if case.has_providers() {
        comparison.settings = Some(settings(comparison.ours.path()));
    }
    for step in &case.steps {
        comparison.write(step);
        let before = comparison.differences.len();
        if !matches!(step.verb, Verb::File | Verb::Env) && case.calls_modules() {
            comparison.install_modules();
        }
        match step.verb {
            Verb::File => {}
            Verb::Env => comparison.env.extend(step.args.iter().map(|pair| {
                let (name, value) = pair.split_once('=').expect("env NAME=VALUE");
                (name.to_owned(), value.to_owned())
            })),
            Verb::Validate => comparison.validate(),
            Verb::Plan => comparison.plan(&step.args),
            Verb::Apply => comparison.apply(&step.args),
            Verb::Shown if step.args == ["plan"] => comparison.shown_plan(),
            Verb::Shown => comparison.compare_show_output(),
        }
        for line in &mut comparison.differences[before..] {
            line.insert_str(0, &format!(":{}", step.line));
        }
    }
    comparison
}

/// A settings file that makes both programs take the providers of this workspace from where cargo
/// puts them.
pub(super) fn settings(dir: &Path) -> PathBuf {
    let ours = built("terraform-provider-null");
    let ours = PROVIDERS.map(|source| (source.to_owned(), &*ours));
    let test = ("formwork/test".to_owned(), test_provider());
    let lines = ours.into_iter().chain([test]).map(|(name, program)| {
        let directory = program.parent().expect("a program is in a directory");
        format!("    \"{name}\" = \"{}\"\n", directory.display())
    });
    let lines: String = lines.collect();
    let path = dir.join("settings.tfrc");
    let text = format!("provider_installation {{\n  dev_overrides {{\n{lines}  }}\n}}\n");
    std::fs::write(&path, text).unwrap();
    path
}

impl PlanComparison {
    fn difference(&self) -> Option<Difference> {
        let of_errors = |line: &String| line.contains(" line ");
        match self.differences.as_slice() {
            [] => None,
            differences if differences.iter().all(of_errors) => Some(Difference::Summary),
            _ => Some(Difference::Value),
        }
    }

    fn run(&self, engine: Engine, dir: &Path, args: &[&str]) -> Run {
        engine.run_with(dir, self.settings.as_deref(), &self.env, args)
    }

    fn write(&self, step: &Step) {
        if step.text.trim().is_empty() {
            return;
        }
        let name = if step.verb == Verb::File { step.args[0].as_str() } else { "main.tf" };
        for dir in [&self.shared, &self.ours] {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, &step.text).unwrap();
        }
    }

    /// Has each program install the modules in its own directory, and compares their manifests.
    fn install_modules(&mut self) {
        let [theirs, ours] = Engine::BOTH.map(|engine| {
            let dir = self.dir(engine);
            let run = self.run(engine, dir, &["get", "-no-color"]);
            (run, std::fs::read_to_string(dir.join(".terraform/modules/modules.json")).ok())
        });
        self.codes(&theirs.0, &ours.0);
        if theirs.0.code == Some(0) {
            // Terraform keeps what earlier configurations called.
            let [theirs, ours] = [theirs.1, ours.1].map(|text| {
                let json: Value =
                    serde_json::from_str(&text.unwrap_or_default()).unwrap_or_default();
                json["Modules"].as_array().cloned().unwrap_or_default()
            });
            for module in ours.iter().filter(|module| !theirs.contains(module)) {
                self.differences.push(format!(" manifest: should not be there, is {module}"));
            }
        }
    }

    fn validate(&mut self) {
        let [theirs, ours] =
            Engine::BOTH.map(|engine| self.run(engine, self.shared.path(), &["validate", "-json"]));
        self.codes(&theirs, &ours);
        let [theirs, ours] = [theirs, ours].map(|run| {
            let view = run.document().unwrap_or(Value::Null);
            let wrapped = view["diagnostics"].as_array().cloned().unwrap_or_default();
            wrapped
                .into_iter()
                .map(|diagnostic| serde_json::json!({"type": "diagnostic", "diagnostic": diagnostic}))
                .collect::<Vec<_>>()
        });
        self.compare_diagnostics(&theirs, &ours);
        if self.exactly {
            self.compare_positions(&theirs, &ours);
        }
    }

    /// Compares the exact position of a diagnostic and its source snippet, if both
    /// programs report the same on one line.
    fn compare_positions(&mut self, theirs: &[Value], ours: &[Value]) {
        let line = |diagnostic: &Value| diagnostic["range"]["start"]["line"].clone();
        for expected in theirs.iter().map(|event| &event["diagnostic"]) {
            let is_counterpart = |candidate: &&Value| {
                candidate["summary"] == expected["summary"] && line(candidate) == line(expected)
            };
            let candidates: Vec<_> =
                ours.iter().map(|event| &event["diagnostic"]).filter(is_counterpart).collect();
            let printed = |diagnostic: &Value| {
                let snippet = &diagnostic["snippet"];
                let of = ["context", "code", "start_line", "function_call"];
                (diagnostic["range"].clone(), of.map(|name| snippet[name].clone()))
            };
            let is_same = |candidate: &&Value| printed(candidate) == printed(expected);
            if let Some(first) = candidates.first()
                && !candidates.iter().any(is_same)
            {
                let (expected_at, found_at) = (printed(expected), printed(first));
                self.differences.push(format!(
                    " line {}: {} should be at {expected_at:?}, is at {found_at:?}",
                    line(expected),
                    expected["summary"]
                ));
            }
        }
    }

    /// Compares diagnostics by line: for each line with a diagnostic of one program, the other has
    /// one too, and they must have a summary in common. Terraform often reports one error twice,
    /// and gives no line if it has lost the position.
    fn compare_diagnostics(&mut self, theirs: &[Value], ours: &[Value]) {
        let [theirs, ours] = [theirs, ours].map(|events| {
            let mut summaries_by_line: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            let diagnostics = events.iter().filter(|event| event["type"] == "diagnostic");
            for event in diagnostics.filter(|event| !is_about_unmatched_option(event)) {
                let diagnostic = &event["diagnostic"];
                let line = diagnostic["range"]["start"]["line"].as_u64().unwrap_or_default();
                let summary = diagnostic["summary"].as_str().unwrap_or_default();
                // The members of a cycle are listed in no particular order.
                let summary = if summary.starts_with("Cycle: ") { "Cycle" } else { summary };
                summaries_by_line
                    .entry(format!("line {line}"))
                    .or_default()
                    .insert(summary.to_owned());
            }
            summaries_by_line
        });
        let all_summaries: BTreeSet<&String> = ours.values().flatten().collect();
        for (position, summaries) in &theirs {
            let is_found = match ours.get(position) {
                Some(our_summaries) => summaries.intersection(our_summaries).next().is_some(),
                None => {
                    position == "line 0"
                        && summaries.iter().any(|summary| all_summaries.contains(summary))
                }
            };
            if !is_found {
                self.differences.push(format!(
                    " {position}: should be {summaries:?}, is {:?}",
                    ours.get(position)
                ));
            }
        }
        let expected: BTreeSet<&String> = theirs.values().flatten().collect();
        for (position, summaries) in &ours {
            if !theirs.contains_key(position)
                && !summaries.iter().any(|summary| expected.contains(summary))
            {
                self.differences
                    .push(format!(" {position}: should not be there, is {summaries:?}"));
            }
        }
    }

    fn plan(&mut self, flags: &[String]) {
        let [theirs, ours] = Engine::BOTH.map(|engine| {
            let mut args = vec![
                "plan",
                "-json",
                "-input=false",
                "-detailed-exitcode",
                "-out",
                file_of(engine),
            ];
            args.extend(flags.iter().map(String::as_str));
            let run = self.run(engine, self.shared.path(), &args);
            (run, self.take_generated(flags))
        });
        differences(" generated", &theirs.1, &ours.1, &mut self.differences);
        let (theirs, ours) = (theirs.0, ours.0);
        self.codes(&theirs, &ours);
        // The progress of a failed plan, and so its list of changes, depends on the order of the
        // walk.
        let failed = theirs.code == Some(1) && ours.code == Some(1);
        if failed {
            self.compare_diagnostics(&theirs.events(), &ours.events());
            for engine in Engine::BOTH {
                let _absent = std::fs::remove_file(self.shared.path().join(file_of(engine)));
            }
            return;
        }
        let exist = Engine::BOTH.map(|engine| self.shared.path().join(file_of(engine)).exists());
        if exist[0] != exist[1] {
            self.differences
                .push(format!(" a plan is saved: should be {}, is {}", exist[0], exist[1]));
        }
        self.events(&theirs, &ours);
        if exist == [true, true] {
            self.views();
        }
    }

    /// Removes the file that one program generated, if any: the other program writes it, too.
    /// Its blocks come in the order in which Terraform's walk found them.
    fn take_generated(&self, flags: &[String]) -> Value {
        let name = flags.iter().find_map(|flag| flag.strip_prefix("-generate-config-out="));
        let path = name.map(|name| self.shared.path().join(name));
        let text = path.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
        let Some(text) = text else { return Value::Null };
        std::fs::remove_file(path.expect("it was read")).unwrap();
        let mut blocks: Vec<&str> = text.split("\n\n").map(|block| block.trim_end()).collect();
        blocks.sort_unstable();
        blocks.into_iter().map(Value::from).collect()
    }

    /// Compares the JSON views of the two saved plans, then removes the plans.
    fn views(&mut self) {
        let views = Engine::BOTH.map(|engine| {
            let run = self.run(engine, self.shared.path(), &["show", "-json", file_of(engine)]);
            std::fs::remove_file(self.shared.path().join(file_of(engine))).unwrap();
            let mut view = run.document().ok_or(run.stdout + &run.stderr)?;
            scrub_view(&mut view);
            Ok::<Value, String>(view)
        });
        match views {
            // It does not support every kind of object that it stores itself.
            [Err(theirs), Ok(_)] if theirs.contains("TERRAFORM CRASH") => {}
            [Ok(theirs), Ok(ours)] => differences(" plan", &theirs, &ours, &mut self.differences),
            [theirs, ours] => {
                let briefly = |run: Option<String>| {
                    run.map(|mut text| {
                        text.truncate(text.floor_char_boundary(1_000));
                        text
                    })
                };
                let (theirs, ours) = (briefly(theirs.err()), briefly(ours.err()));
                self.differences.push(format!(" show fails: {theirs:?} {ours:?}"));
            }
        }
    }

    fn apply(&mut self, flags: &[String]) {
        self.plan(flags);
        let [theirs, ours] = Engine::BOTH.map(|engine| {
            let dir = self.dir(engine);
            let mut args = vec!["apply", "-json", "-input=false", "-auto-approve"];
            args.extend(flags.iter().map(String::as_str));
            self.run(engine, dir, &args)
        });
        self.codes(&theirs, &ours);
        let [theirs, ours] = Engine::BOTH.map(|engine| {
            let text = std::fs::read_to_string(self.dir(engine).join("terraform.tfstate"))
                .unwrap_or_default();
            let mut state = serde_json::from_str(&text).unwrap_or(Value::Null);
            scrub_state(&mut state);
            state
        });
        differences(" state", &theirs, &ours, &mut self.differences);
        let [theirs, ours] = Engine::BOTH.map(|engine| {
            let run = self.run(engine, self.dir(engine), &["show", "-json"]);
            let mut view = run.document().unwrap_or(Value::Null);
            scrub_view(&mut view);
            scrub_state(&mut view);
            view
        });
        // Terraform does not show a state beside a configuration that it cannot read.
        if !theirs.is_null() {
            differences(" show", &theirs, &ours, &mut self.differences);
        }
    }

    /// Compares to the letter what commands show of the state.
    /// Compares the text of a plan, down to the note about saving it.
    fn shown_plan(&mut self) {
        let [theirs, ours] = Engine::BOTH.map(|engine| {
            let args = ["plan", "-no-color", "-input=false"];
            let text = self.run(engine, self.dir(engine), &args).stdout;
            let changes = text.split("execution\nplan.").nth(1).unwrap_or(&text);
            let changes = changes.replace("Formwork", "Terraform");
            let changes = changes
                .lines()
                .filter(|line| !line.contains("  id "))
                .take_while(|line| !line.starts_with('─'));
            changes.map(Value::from).collect::<Value>()
        });
        differences(" text", &theirs, &ours, &mut self.differences);
    }

    fn compare_show_output(&mut self) {
        for args in [&["output", "-no-color"][..], &["output", "-json"], &["show", "-no-color"]] {
            let [theirs, ours] = Engine::BOTH.map(|engine| {
                let mut text = Value::String(self.run(engine, self.dir(engine), args).stdout);
                scrub_state(&mut text);
                text
            });
            differences(&format!(" {}", args.join(" ")), &theirs, &ours, &mut self.differences);
        }
    }

    fn dir(&self, engine: Engine) -> &Path {
        match engine {
            Engine::Terraform => self.shared.path(),
            Engine::Formwork => self.ours.path(),
        }
    }

    fn codes(&mut self, theirs: &Run, ours: &Run) {
        self.should_fail |= theirs.code == Some(1);
        if theirs.code != ours.code {
            self.differences.push(format!(
                " exit code: should be {:?}, is {:?}; {}",
                theirs.code, ours.code, ours.stderr
            ));
        }
    }

    /// Compares the diagnostics and the announced changes, in any order: Terraform's depends on
    /// the timing of its walk.
    fn events(&mut self, theirs: &Run, ours: &Run) {
        let [theirs, mut ours] = [theirs, ours].map(|run| {
            let mut all: Vec<Value> = run.events().iter().filter_map(event).collect();
            all.sort_by_key(Value::to_string);
            all
        });
        forgive_more_values(&theirs, &mut ours);
        differences(" events", &theirs.into(), &ours.into(), &mut self.differences);
    }
}

fn file_of(engine: Engine) -> &'static str {
    match engine {
        Engine::Terraform => "theirs.plan",
        Engine::Formwork => "ours.plan",
    }
}

/// The parts of an event that have to agree, if it is of a kind that has to be announced.
fn event(event: &Value) -> Option<Value> {
    match event["type"].as_str()? {
        "diagnostic" if is_about_unmatched_option(event) => None,
        // Terraform says it now and then.
        "diagnostic" if event["diagnostic"]["summary"] == "Config generation is experimental" => {
            None
        }
        "diagnostic" => Some(brief(&event["diagnostic"])),
        "planned_change" | "resource_drift" => Some(event["change"].clone()),
        "change_summary" => Some(event["changes"].clone()),
        "outputs" => Some(event["outputs"].clone()),
        "ephemeral_op_start" | "ephemeral_op_errored" => Some(event["hook"].clone()),
        _ => None,
    }
}

/// Whether it is a warning of an option that matches nothing. Terraform has no such warning.
pub(super) fn is_about_unmatched_option(event: &Value) -> bool {
    let summary = event["diagnostic"]["summary"].as_str().unwrap_or_default();
    summary.starts_with("The option -") && summary.ends_with(" matches nothing")
}

/// The parts of a diagnostic that have to agree. The detail is in each program's own words, and
/// Formwork names the instance in more of them. The values of the names in an expression are in the
/// same words.
fn brief(diagnostic: &Value) -> Value {
    serde_json::json!({
        "severity": diagnostic["severity"],
        "summary": diagnostic["summary"],
        "line": diagnostic["range"]["start"]["line"],
        "values": diagnostic["snippet"]["values"],
    })
}

/// One test for each directory of `plans/`, so that they run side by side.
macro_rules! groups {
    ($($test:ident => $directory:literal,)*) => {
        $(
            #[test]
            fn $test() {
                check_group($directory);
            }
        )*
    };
}

groups! {
    plans_of_values_are_the_same => "values",
    plans_of_repetition_are_the_same => "repetition",
    plans_with_variables_are_the_same => "variables",
    plans_with_outputs_are_the_same => "outputs",
    plans_with_lifecycle_arguments_are_the_same => "lifecycle",
    plans_with_conditions_are_the_same => "conditions",
    plans_in_other_modes_are_the_same => "modes",
    plans_with_data_sources_are_the_same => "data",
    plans_with_modules_are_the_same => "modules",
    plans_with_expressions_are_the_same => "expressions",
    plans_with_write_only_arguments_are_the_same => "write_only",
    plans_of_moves_are_the_same => "moved",
    plans_of_removals_are_the_same => "removed",
    plans_of_imports_are_the_same => "import",
    configurations_generated_for_imports_are_the_same => "generated",
    plans_with_functions_of_providers_are_the_same => "provider_functions",
    plans_with_provisioners_are_the_same => "provisioner",
    plans_with_checks_are_the_same => "check",
    plans_with_dynamic_blocks_are_the_same => "dynamic",
    plans_with_ephemeral_values_are_the_same => "ephemeral",
    plans_with_provider_meta_are_the_same => "provider_meta",
    plans_of_invalid_directories_fail_the_same => "invalid",
    plans_of_files_in_json_are_the_same => "json",
    plans_with_override_files_are_the_same => "override",
    sources_of_modules_are_read_the_same => "sources",
}
