//! Lifecycles of objects under both programs: every script below `life/cases` runs in two directories
//! with two fake services. Exit codes, diagnostics, plans, provider calls, counts and states are
//! compared. In both logs, the calls are in the order that the script specifies.
//!
//! Results of Terraform are cached in the target directory by everything they depend on, so that only
//! new scripts are run again; `INTEROP_FRESH=1` runs everything. `INTEROP_CASE=text` selects scripts
//! by group and name. Over a backend only Formwork runs, and is compared with Terraform over a file;
//! `INTEROP_BOTH=1` runs Terraform over the backend, too.

mod actor;
mod backends;
mod record;
mod script;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use self::script::{Script, Step};
use super::compare::differences;
use super::engine::{Engine, terraform_is_here};
use crate::harness::terraform;

/// Differences that are allowed in every script: the beginning of such a line, a part that it
/// contains, and the reason.
const KEPT_EVERYWHERE: [(&str, &str, &str); 3] = [
    (".plan.said[", "][2]: should be null, is ", "a place is named where Terraform names none"),
    (".", "].range[0]: should be null, is ", "an object is named where Terraform names none"),
    (".", "].range[1]: should be null, is ", "a place is named where Terraform names none"),
];

/// Result of one script.
#[derive(Default)]
struct Found {
    n_steps: usize,
    n_orders: usize,
    n_kept: usize,
    different: Vec<String>,
}

/// The environment of a set of scripts.
pub(crate) struct Stage {
    /// Name in the table of results.
    pub(crate) name: &'static str,
    /// The directory of the scripts: a directory for each group.
    pub(crate) cases: PathBuf,
    /// Returns the configuration that requires the provider of a group.
    pub(crate) required: fn(&str) -> String,
    /// Writes the settings file into a directory.
    pub(crate) settings: fn(&Path) -> PathBuf,
    /// The sources of the provider.
    pub(crate) sources: Vec<PathBuf>,
    /// Whether the provider records its requests: then requests, events and strings are compared
    /// too.
    pub(crate) is_recorded: bool,
    /// The backend that keeps the states; `None` for a file beside the configuration.
    pub(crate) backend: Option<StateBackend>,
}

/// A backend for the states of scripts.
pub(crate) struct StateBackend {
    /// The kind of the block: `backend` or `state_store`.
    pub(crate) block: &'static str,
    /// The type of the backend.
    pub(crate) kind: &'static str,
    /// Returns the arguments for a state that no other script uses.
    pub(crate) arguments: Box<dyn Fn() -> String + Sync + Send>,
    /// The environment variables of both programs.
    pub(crate) variables: Vec<(String, String)>,
}

/// The scripts with our test provider.
fn stage(backend: Option<StateBackend>) -> Stage {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let required = |_: &str| {
        let block = "required_providers {\n    test = { source = \"formwork/test\" }\n  }";
        format!("terraform {{\n  {block}\n}}\n")
    };
    Stage {
        name: "life",
        cases: root.join("interop/life/cases"),
        required,
        settings: super::terraform_plans::settings,
        sources: vec![root.join("provider/test"), root.join("../sdk/src")],
        is_recorded: false,
        backend,
    }
}

#[test]
fn lives_of_objects_are_the_same() {
    let report = compare_lives(&stage(None), |_, _| true);
    assert!(report.is_empty(), "\n{report}");
}

/// Runs some scripts under both programs, prints a table of results and returns the differences. A script
/// is chosen by its group and name.
pub(crate) fn compare_lives(stage: &Stage, is_chosen: impl Fn(&str, &str) -> bool) -> String {
    let mut report = String::new();
    if !terraform_is_here() {
        return report;
    }
    let only = std::env::var("INTEROP_CASE").unwrap_or_default();
    let mut scripts = script::load(&stage.cases);
    scripts.retain(|script| {
        is_chosen(&script.group, &script.name)
            && format!("{}/{}", script.group, script.name).contains(&only)
    });
    let place = stage.backend.as_ref().map_or("", |backend| backend.kind);
    let found = on_threads(stage, &scripts);
    let mut table: BTreeMap<&str, (usize, usize, Found)> = BTreeMap::new();
    for (script, found) in scripts.iter().zip(found) {
        let (n_scripts, n_same, sum) = table.entry(&script.group).or_default();
        *n_scripts += 1;
        *n_same += usize::from(found.different.is_empty());
        sum.n_steps += found.n_steps;
        sum.n_orders += found.n_orders;
        sum.n_kept += found.n_kept;
        for line in found.different {
            report.push_str(&format!("{}/{}{line} {place}\n", script.group, script.name));
        }
    }
    for (group, (n_scripts, n_same, Found { n_steps, n_orders, n_kept, .. })) in table {
        println!(
            "{:<23} {n_scripts:>4} scripts, {n_same:>4} the same: {n_steps:>4} steps, {n_orders:>4} orders of calls, {n_kept:>3} kept differences",
            format!("{}/{group} {place}", stage.name)
        );
    }
    report
}

/// Runs the scripts on a few threads: most of the time a program waits for another one.
fn on_threads(stage: &Stage, scripts: &[Script]) -> Vec<Found> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Found>>> = Mutex::new(scripts.iter().map(|_| None).collect());
    let n_threads = std::thread::available_parallelism().map_or(2, usize::from) + 1;
    std::thread::scope(|scope| {
        for _ in 0..n_threads {
            scope.spawn(|| {
                while let Some((at, script)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    scripts.get(at).map(|script| (at, script))
                } {
                    let found = check(stage, script);
                    results.lock().unwrap()[at] = Some(found);
                }
            });
        }
    });
    results.into_inner().unwrap().into_iter().map(Option::unwrap_or_default).collect()
}

fn check(stage: &Stage, script: &Script) -> Found {
    let theirs = theirs(stage, script);
    let ours = actor::live(stage, stage.backend.as_ref(), Engine::Formwork, script);
    let mut found = Found::default();
    for (at, step) in script.steps.iter().enumerate() {
        let (mut different, place) = (Vec::new(), format!(":{}", step.line));
        let [theirs, their_log] = without_log(&theirs[at]);
        let [ours, our_log] = without_log(&ours[at]);
        differences("", &theirs, &ours, &mut different);
        found.n_kept += keep(step, &mut different);
        // If everything differs, the order is checked for ours alone.
        let alone = step.kept.iter().any(|(place, _)| place == ".");
        let logs = [("formwork", our_log), ("terraform", their_log)];
        for (who, log) in logs.into_iter().take(if alone { 1 } else { 2 }) {
            different.extend(misplaced(step, &log).map(|wrong| format!(" {who}: {wrong}")));
        }
        found.n_steps += 1;
        found.n_orders += step.orders.len();
        found.different.extend(different.into_iter().map(|line| format!("{place}{line}")));
    }
    found
}

/// Takes the log out of what was seen.
fn without_log(seen: &Value) -> [Value; 2] {
    let mut seen = seen.clone();
    let log = seen.get_mut("apply").and_then(|it| it.as_object_mut()?.remove("log"));
    [seen, log.unwrap_or_default()]
}

/// Takes out what may differ, and puts in what should differ and does not. Returns how often.
fn keep(step: &Step, different: &mut Vec<String>) -> usize {
    let before = different.len();
    different.retain(|line| {
        let is_kept =
            |(start, part, _): &(&str, &str, &str)| line.starts_with(start) && line.contains(part);
        !KEPT_EVERYWHERE.iter().any(is_kept)
    });
    let mut n_kept = before - different.len();
    for (place, _) in &step.kept {
        let before = different.len();
        different.retain(|line| !line.starts_with(place));
        match before - different.len() {
            0 => different.push(format!("{place}: is the same by now, so it need not be kept")),
            n => n_kept += n,
        }
    }
    n_kept
}

/// The calls that are not in the order that the step says.
fn misplaced<'s>(step: &'s Step, log: &'s Value) -> impl Iterator<Item = String> + 's {
    let lines: Vec<&str> = log.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let find = move |which: &str, call: &str| {
        let told = format!("{which} {call}");
        lines.iter().position(|line| *line == told || *line == call)
    };
    step.orders.iter().flat_map(|calls| calls.windows(2)).filter_map(move |pair| {
        match (find("end", &pair[0]), find("begin", &pair[1])) {
            (Some(end), Some(begin)) if end < begin => None,
            (end, begin) => Some(format!(
                "{} (line {end:?} of the log) should end before {} (line {begin:?}) in {log}",
                pair[0], pair[1]
            )),
        }
    })
}

/// Results of Terraform, kept or from a run now.
fn theirs(stage: &Stage, script: &Script) -> Vec<Value> {
    /// The results that are being looked up. Tests over backends need those of the same scripts.
    static IN_USE: Mutex<BTreeMap<PathBuf, Arc<Mutex<()>>>> = Mutex::new(BTreeMap::new());
    let kept = kept_at(stage, script);
    let lock = Arc::clone(IN_USE.lock().unwrap().entry(kept.clone()).or_default());
    // A script that another test runs now is not run twice. A failure of that test is no reason to stop.
    let _guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
    let fresh = std::env::var_os("INTEROP_FRESH").is_some();
    let text = (!fresh).then(|| std::fs::read_to_string(&kept).ok()).flatten();
    if let Some(seen) = text.and_then(|text| serde_json::from_str(&text).ok()) {
        return seen;
    }
    let seen = actor::live(stage, their_backend(stage), Engine::Terraform, script);
    std::fs::create_dir_all(kept.parent().unwrap()).unwrap();
    std::fs::write(&kept, Value::from(seen.clone()).to_string()).unwrap();
    seen
}

/// The backend of Terraform's runs.
fn their_backend(stage: &Stage) -> Option<&StateBackend> {
    stage.backend.as_ref().filter(|_| std::env::var_os("INTEROP_BOTH").is_some())
}

/// File of the kept results: the name differs by script, harness, provider and Terraform version.
fn kept_at(stage: &Stage, script: &Script) -> PathBuf {
    static SURROUNDINGS: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    let environment = SURROUNDINGS.get_or_init(|| {
        let mut hasher = DefaultHasher::new();
        for text in [
            include_str!("life/actor.rs"),
            include_str!("life/record.rs"),
            include_str!("compare.rs"),
        ] {
            text.hash(&mut hasher);
        }
        let reference = terraform().expect("it is here");
        let about = std::fs::metadata(&reference).unwrap();
        (reference, about.len(), about.modified().unwrap()).hash(&mut hasher);
        hasher.finish()
    });
    let mut hasher = DefaultHasher::new();
    (environment, &script.common, stage.is_recorded).hash(&mut hasher);
    if let Some(backend) = their_backend(stage) {
        backend.kind.hash(&mut hasher);
    }
    for directory in &stage.sources {
        hash_texts(directory, &mut hasher);
    }
    // Not what is only said about the steps.
    for Step { verb, args, text, .. } in &script.steps {
        (verb, args, text).hash(&mut hasher);
    }
    let name = format!("{}-{}-{:016x}.json", script.group, script.name, hasher.finish());
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(stage.name).join(name)
}

fn hash_texts(directory: &Path, hasher: &mut DefaultHasher) {
    let mut paths: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            hash_texts(&path, hasher);
        } else {
            std::fs::read_to_string(path).unwrap().hash(hasher);
        }
    }
}
