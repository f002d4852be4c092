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
use super::engine::{Engine, terraform_is_installed};
use crate::harness::terraform;

/// Differences that are allowed in every script: the beginning of such a line, a part that it
/// contains, and the reason.
const EXPECTED_DIFFERENCES: [(&str, &str, &str); 3] = [
    (".plan.said[", "][2]: should be null, is ", "a position is given where Terraform gives none"),
    (".", "].range[0]: should be null, is ", "an object is named where Terraform names none"),
    (".", "].range[1]: should be null, is ", "a position is given where Terraform gives none"),
];

/// Result of one script.
#[derive(Default)]
struct ScriptResult {
    n_steps: usize,
    n_orders: usize,
    n_expected: usize,
    different: Vec<String>,
}

/// The environment of a set of scripts.
pub(crate) struct ScriptSuite {
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
    /// The backend that keeps the states; `None` for a file in the directory of the configuration.
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
fn test_provider_suite(backend: Option<StateBackend>) -> ScriptSuite {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let required = |_: &str| {
        let block = "required_providers {\n    test = { source = \"formwork/test\" }\n  }";
        format!("terraform {{\n  {block}\n}}\n")
    };
    ScriptSuite {
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
fn lifecycles_of_objects_are_the_same() {
    let report = compare_lifecycles(&test_provider_suite(None), |_, _| true);
    assert!(report.is_empty(), "\n{report}");
}

/// Runs some scripts under both programs, prints a table of results and returns the differences. A script
/// is chosen by its group and name.
pub(crate) fn compare_lifecycles(
    suite: &ScriptSuite,
    is_chosen: impl Fn(&str, &str) -> bool,
) -> String {
    let mut report = String::new();
    if !terraform_is_installed() {
        return report;
    }
    let filter = std::env::var("INTEROP_CASE").unwrap_or_default();
    let mut scripts = script::load(&suite.cases);
    scripts.retain(|script| {
        is_chosen(&script.group, &script.name)
            && format!("{}/{}", script.group, script.name).contains(&filter)
    });
    let backend_suffix = suite.backend.as_ref().map_or("", |backend| backend.kind);
    let result = check_in_parallel(suite, &scripts);
    let mut table: BTreeMap<&str, (usize, usize, ScriptResult)> = BTreeMap::new();
    for (script, result) in scripts.iter().zip(result) {
        let (n_scripts, n_same, sum) = table.entry(&script.group).or_default();
        *n_scripts += 1;
        *n_same += usize::from(result.different.is_empty());
        sum.n_steps += result.n_steps;
        sum.n_orders += result.n_orders;
        sum.n_expected += result.n_expected;
        for line in result.different {
            report.push_str(&format!("{}/{}{line} {backend_suffix}\n", script.group, script.name));
        }
    }
    for (group, (n_scripts, n_same, ScriptResult { n_steps, n_orders, n_expected, .. })) in table {
        println!(
            "{:<23} {n_scripts:>4} scripts, {n_same:>4} the same: {n_steps:>4} steps, {n_orders:>4} orders of calls, {n_expected:>3} expected differences",
            format!("{}/{group} {backend_suffix}", suite.name)
        );
    }
    report
}

/// Runs the scripts on a few threads: most of the time a program waits for another one.
fn check_in_parallel(suite: &ScriptSuite, scripts: &[Script]) -> Vec<ScriptResult> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<ScriptResult>>> =
        Mutex::new(scripts.iter().map(|_| None).collect());
    let n_threads = std::thread::available_parallelism().map_or(2, usize::from) + 1;
    std::thread::scope(|scope| {
        for _ in 0..n_threads {
            scope.spawn(|| {
                while let Some((index, script)) = {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    scripts.get(index).map(|script| (index, script))
                } {
                    let result = check(suite, script);
                    results.lock().unwrap()[index] = Some(result);
                }
            });
        }
    });
    results.into_inner().unwrap().into_iter().map(Option::unwrap_or_default).collect()
}

fn check(suite: &ScriptSuite, script: &Script) -> ScriptResult {
    let theirs = theirs(suite, script);
    let ours = actor::run_script(suite, suite.backend.as_ref(), Engine::Formwork, script);
    let mut result = ScriptResult::default();
    for (index, step) in script.steps.iter().enumerate() {
        let (mut different, position) = (Vec::new(), format!(":{}", step.line));
        let [theirs, their_log] = without_log(&theirs[index]);
        let [ours, our_log] = without_log(&ours[index]);
        differences("", &theirs, &ours, &mut different);
        result.n_expected += remove_expected_differences(step, &mut different);
        // If everything differs, the order is checked only for Formwork.
        let differs_everywhere = step.expected_differences.iter().any(|(path, _)| path == ".");
        let logs = [("formwork", our_log), ("terraform", their_log)];
        for (program, log) in logs.into_iter().take(if differs_everywhere { 1 } else { 2 }) {
            different.extend(
                misordered_calls(step, &log)
                    .map(|order_error| format!(" {program}: {order_error}")),
            );
        }
        result.n_steps += 1;
        result.n_orders += step.orders.len();
        result.different.extend(different.into_iter().map(|line| format!("{position}{line}")));
    }
    result
}

/// Separates the log from the result of a step.
fn without_log(result: &Value) -> [Value; 2] {
    let mut result = result.clone();
    let log = result.get_mut("apply").and_then(|it| it.as_object_mut()?.remove("log"));
    [result, log.unwrap_or_default()]
}

/// Removes the expected differences, and adds the ones that did not occur. Returns the number removed.
fn remove_expected_differences(step: &Step, differences: &mut Vec<String>) -> usize {
    let before = differences.len();
    differences.retain(|line| {
        let is_expected =
            |(start, part, _): &(&str, &str, &str)| line.starts_with(start) && line.contains(part);
        !EXPECTED_DIFFERENCES.iter().any(is_expected)
    });
    let mut n_expected = before - differences.len();
    for (path, _) in &step.expected_differences {
        let before = differences.len();
        differences.retain(|line| !line.starts_with(path));
        match before - differences.len() {
            0 => differences.push(format!("{path}: no longer differs, so it need not be listed")),
            n => n_expected += n,
        }
    }
    n_expected
}

/// The calls that are not in the order that the step specifies.
fn misordered_calls<'s>(step: &'s Step, log: &'s Value) -> impl Iterator<Item = String> + 's {
    let lines: Vec<&str> = log.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let line_of = move |moment: &str, call: &str| {
        let entry = format!("{moment} {call}");
        lines.iter().position(|line| *line == entry || *line == call)
    };
    step.orders.iter().flat_map(|calls| calls.windows(2)).filter_map(move |pair| {
        match (line_of("end", &pair[0]), line_of("begin", &pair[1])) {
            (Some(end), Some(begin)) if end < begin => None,
            (end, begin) => Some(format!(
                "{} (line {end:?} of the log) should end before {} (line {begin:?}) in {log}",
                pair[0], pair[1]
            )),
        }
    })
}

/// Results of Terraform, from the cache or from a new run.
fn theirs(suite: &ScriptSuite, script: &Script) -> Vec<Value> {
    /// Locks of the cached results in use. Tests over backends need those of the same scripts.
    static IN_USE: Mutex<BTreeMap<PathBuf, Arc<Mutex<()>>>> = Mutex::new(BTreeMap::new());
    let cache_path = cache_path_of_script(suite, script);
    let lock = Arc::clone(IN_USE.lock().unwrap().entry(cache_path.clone()).or_default());
    // A script that another test runs now is not run twice. A failure of that test does not fail this one.
    let _guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
    let is_refreshed = std::env::var_os("INTEROP_FRESH").is_some();
    let text = (!is_refreshed).then(|| std::fs::read_to_string(&cache_path).ok()).flatten();
    if let Some(results) = text.and_then(|text| serde_json::from_str(&text).ok()) {
        return results;
    }
    let results = actor::run_script(suite, their_backend(suite), Engine::Terraform, script);
    std::fs::create_dir_all(cache_path.parent().unwrap()).unwrap();
    std::fs::write(&cache_path, Value::from(results.clone()).to_string()).unwrap();
    results
}

/// The backend of Terraform's runs.
fn their_backend(suite: &ScriptSuite) -> Option<&StateBackend> {
    suite.backend.as_ref().filter(|_| std::env::var_os("INTEROP_BOTH").is_some())
}

/// The cache file of the results. Its name differs by script, harness, provider and Terraform version.
fn cache_path_of_script(suite: &ScriptSuite, script: &Script) -> PathBuf {
    static ENVIRONMENT: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    let environment = ENVIRONMENT.get_or_init(|| {
        let mut hasher = DefaultHasher::new();
        for text in [
            include_str!("life/actor.rs"),
            include_str!("life/record.rs"),
            include_str!("compare.rs"),
        ] {
            text.hash(&mut hasher);
        }
        let terraform_path = terraform().expect("Terraform is installed");
        let metadata = std::fs::metadata(&terraform_path).unwrap();
        (terraform_path, metadata.len(), metadata.modified().unwrap()).hash(&mut hasher);
        hasher.finish()
    });
    let mut hasher = DefaultHasher::new();
    (environment, &script.common, suite.is_recorded).hash(&mut hasher);
    if let Some(backend) = their_backend(suite) {
        backend.kind.hash(&mut hasher);
    }
    for directory in &suite.sources {
        hash_texts(directory, &mut hasher);
    }
    // Without the expected differences and orders, which do not affect the results.
    for Step { verb, args, text, .. } in &script.steps {
        (verb, args, text).hash(&mut hasher);
    }
    let name = format!("{}-{}-{:016x}.json", script.group, script.name, hasher.finish());
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(suite.name).join(name)
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
