//! Runs of test files by both programs: the same statuses, events, problems and exit codes.

use std::path::Path;

use serde_json::{Map, Value};

use super::engine::{Engine, Run, terraform_is_installed};
use crate::harness::test_provider;

/// A directory with files, and the options of the command.
struct Case {
    name: String,
    args: Vec<String>,
    /// The command that the directory needs before, `init` or `get`.
    before: Option<String>,
    /// A CLI configuration file that makes the test provider available as `foreign/test`.
    settings: Option<tempfile::NamedTempFile>,
    files: Vec<(String, String)>,
}

impl Case {
    fn read(path: &Path) -> Self {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let mut case =
            Self { name, args: Vec::new(), before: None, settings: None, files: Vec::new() };
        for line in std::fs::read_to_string(path).unwrap().lines() {
            if let Some(file) = line.strip_prefix("//- ") {
                case.files.push((file.to_owned(), String::new()));
            } else if let Some((_, text)) = case.files.last_mut() {
                text.push_str(line);
                text.push('\n');
            } else if let Some(args) = line.strip_prefix("args ") {
                case.args = args.split(' ').map(str::to_owned).collect();
            } else if line == "provider" {
                case.settings = Some(settings());
            } else {
                assert!(["init", "get"].contains(&line), "{}: {line}", case.name);
                case.before = Some(line.to_owned());
            }
        }
        case
    }

    /// A directory of its own for each run, because a cleanup may leave something.
    fn directory(&self, engine: Engine) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in &self.files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        if let Some(command) = &self.before {
            let before = engine.run(dir.path(), None, &[command, "-no-color"]);
            assert_eq!(before.code, Some(0), "{}: {}", self.name, before.stderr);
        }
        dir
    }

    fn run(&self, engine: Engine, dir: &Path, option: &str) -> Run {
        let mut args = vec!["test", "-no-color"];
        args.extend(self.args.iter().map(String::as_str));
        args.extend(Some(option).filter(|option| !option.is_empty()));
        engine.run(dir, self.settings.as_ref().map(|file| file.path()), &args)
    }

    /// Everything that both programs have in common.
    fn facts(&self, engine: Engine) -> Vec<String> {
        let directory = self.directory(engine);
        let run = self.run(engine, directory.path(), "-junit-xml=out.xml");
        let mut facts = vec![format!("exit code {:?}", run.code)];
        facts.extend(lines(&run.stdout));
        facts.extend(lines(&run.stderr));
        let xml = std::fs::read_to_string(directory.path().join("out.xml")).unwrap_or_default();
        facts.extend(elements(&xml));
        let directory = self.directory(engine);
        let run = self.run(engine, directory.path(), "-json");
        facts.push(format!("exit code {:?}", run.code));
        facts.extend(run.stdout.lines().filter_map(event));
        // A long cleanup is reported every two seconds, so the load of the machine decides how often.
        facts.dedup_by(|event, next_event| {
            event == next_event && event.contains("\"progress\":\"teardown\"")
        });
        // Terraform writes the problems of files in the order of its checks, Formwork by their position.
        facts
            .chunk_by_mut(|event, next_event| is_of_files(event) && is_of_files(next_event))
            .for_each(<[_]>::sort);
        // Terraform keeps the expected failures of a run in a map, so their order changes.
        let is_missing = |fact: &String| fact.contains("\"summary\":\"Missing expected failure\"");
        facts
            .chunk_by_mut(|event, next_event| is_missing(event) && is_missing(next_event))
            .for_each(<[_]>::sort);
        facts
    }
}

/// Whether an event is a problem of files, before anything has run.
fn is_of_files(fact: &str) -> bool {
    fact.contains("\"type\":\"diagnostic\"") && !fact.contains("\"@testrun\":")
}

/// A CLI configuration file for the test provider.
fn settings() -> tempfile::NamedTempFile {
    let directory = test_provider().parent().expect("it is in a directory").display();
    let text = format!(
        "provider_installation {{\n  dev_overrides {{\n    \"foreign/test\" = {directory:?}\n  }}\n}}\n",
        directory = directory.to_string()
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

/// Summary of Terraform's remark about such a file.
const DEVELOPMENT: &str = "Warning: Provider development overrides are in effect";

/// Lines with statuses, summaries of problems, their positions and leftovers.
fn lines(text: &str) -> Vec<String> {
    let is_fact = |line: &&str| {
        let starts = ["Error: ", "Warning: ", "Failure!", "Success!", "  on ", "  - "];
        *line != DEVELOPMENT
            && (line.contains("... ") || starts.iter().any(|start| line.starts_with(start)))
    };
    text.lines().filter(is_fact).map(str::to_owned).collect()
}

/// The elements of the document, without times and messages of problems.
fn elements(xml: &str) -> Vec<String> {
    let is_element = |line: &&str| {
        let line = line.trim_start();
        line.starts_with('<') && !line.starts_with("<!") || line.starts_with("Error: ")
    };
    let without_time = |line: &str| match (line.find(" time=\""), line.rfind("Z\">")) {
        (Some(start), Some(end)) => format!("{}{}", &line[..start], &line[end + 2..]),
        _ => line.to_owned(),
    };
    xml.lines().filter(is_element).map(without_time).collect()
}

/// An event, without times, the name of the program and words that only explain.
fn event(line: &str) -> Option<String> {
    let mut event: Value = serde_json::from_str(line).ok()?;
    let members = event.as_object_mut()?;
    let kind = members.get("type")?.as_str()?.to_owned();
    if kind == "version" || members.get("@message").is_some_and(|it| it == DEVELOPMENT) {
        return None;
    }
    members.remove("@timestamp");
    if let Some(Value::String(message)) = members.get_mut("@message") {
        *message = message.replace("Formwork", "Terraform");
    }
    if let Some(Value::Object(diagnostic)) = members.get_mut("diagnostic") {
        let detail_free: Map<String, Value> = std::mem::take(diagnostic)
            .into_iter()
            .filter(|(name, _)| !["detail", "code", "snippet", "address"].contains(&name.as_str()))
            .collect();
        *diagnostic = detail_free;
    }
    for name in ["test_plan", "test_state", "test_cleanup"] {
        if let Some(Value::Object(fields)) = members.get_mut(name) {
            fields.remove("provider_schemas");
            fields.remove("state");
        }
    }
    if let Some(Value::Object(run)) = members.get_mut("test_run") {
        if run.get("progress").and_then(Value::as_str) == Some("running") {
            return None;
        }
        // The number of reports of a long cleanup depends on the load of the machine.
        if let Some(elapsed) = run.get_mut("elapsed") {
            *elapsed = (elapsed.as_u64() > Some(0)).into();
        }
    }
    Some(without_ids(&event.to_string()))
}

/// Text without UUIDs.
fn without_ids(text: &str) -> String {
    let mut output = String::new();
    let mut rest = text;
    while let Some(position) = rest.find("\"id\":\"") {
        let from = position + "\"id\":\"".len();
        let end = rest[from..].find('"').map_or(rest.len(), |end| from + end);
        output.push_str(&rest[..from]);
        rest = &rest[end..];
    }
    output + rest
}

#[test]
fn runs_of_test_files_have_the_results_of_terraform() {
    if !terraform_is_installed() {
        return;
    }
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("interop/test_runs/cases");
    let filter = std::env::var("INTEROP_CASE").unwrap_or_default();
    let mut paths: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut different = Vec::new();
    for path in paths {
        let case = Case::read(&path);
        if !filter.is_empty() && case.name != filter {
            continue;
        }
        let [theirs, ours] = Engine::BOTH.map(|engine| case.facts(engine));
        if theirs != ours {
            let lines = diff(&theirs, &ours);
            different.push(format!("{}:\n{lines}", case.name));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// Lines that only one of the programs has.
fn diff(theirs: &[String], ours: &[String]) -> String {
    let difference = |left: &[String], right: &[String], sign: &str| -> String {
        let lines = left.iter().filter(|line| !right.contains(line));
        lines.map(|line| format!("{sign} {line}\n")).collect()
    };
    let lines = difference(theirs, ours, "terraform:") + &difference(ours, theirs, "formwork: ");
    if lines.is_empty() { format!("other order:\n{theirs:#?}\n{ours:#?}\n") } else { lines }
}
