//! Configurations with several errors each, validated or planned by both programs: every diagnostic of
//! Terraform has its counterpart in the same run, with the same severity, summary, file and range, and
//! there is no further one. `mistakes/expected_differences.txt` lists the errors that Terraform reports
//! a second time in other words. Each detail begins with Terraform's, except those in
//! `mistakes/phrases.txt`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;

use serde_json::Value;

use super::case::{Case, Step, Verb, load_dir};
use super::engine::{Engine, Run, terraform_is_installed};
use super::terraform_plans::settings;

/// The configurations that must at least be compared.
const AT_LEAST: usize = 150;

/// A diagnostic: its summary, with the prefix "Warning: " if it is a warning, and its range, if any.
type Problem = (String, Option<FileRange>);
/// A file, and a range in it as lines and columns.
type FileRange = (String, [u64; 4]);
/// Errors, each with the number of times that it was reported.
type Problems = BTreeMap<Problem, usize>;
/// The summaries of errors that repeat another one: whether it must be on the same line, or only in the
/// same file.
type ExpectedRepetitions = BTreeMap<String, RepetitionDistance>;

/// The cases and summaries of diagnostics whose detail differs on purpose.
type OtherWords = BTreeSet<(String, String)>;

/// The distance between an error and its repetition.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RepetitionDistance {
    Line,
    File,
}

/// Compares what both programs report of each configuration of a case.
struct CaseComparison {
    dir: tempfile::TempDir,
    settings: tempfile::TempDir,
    expected_repetitions: ExpectedRepetitions,
    other_words: OtherWords,
    /// The entries of the two lists that were needed.
    used: BTreeSet<(String, String)>,
    n_compared: usize,
    differences: Vec<String>,
}

impl CaseComparison {
    fn new(expected_repetitions: &ExpectedRepetitions, other_words: &OtherWords) -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            settings: tempfile::tempdir().unwrap(),
            expected_repetitions: expected_repetitions.clone(),
            other_words: other_words.clone(),
            used: BTreeSet::new(),
            n_compared: 0,
            differences: Vec::new(),
        }
    }

    fn run(&self, engine: Engine, args: &[&str]) -> Run {
        engine.run(self.dir.path(), Some(&settings(self.settings.path())), args)
    }

    fn step(&mut self, case: &Case, step: &Step) {
        let name = if step.verb == Verb::File { step.args[0].as_str() } else { "main.tf" };
        if !step.text.trim().is_empty() {
            let path = self.dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, &step.text).unwrap();
        }
        let args: &[&str] = match step.verb {
            Verb::Validate => &["validate", "-json"],
            Verb::Plan => &["plan", "-json", "-input=false", "-no-color"],
            _ => return,
        };
        let is_first = self.n_compared == 0;
        if case.calls_modules() && (is_first || step.text.contains("module \"")) {
            // A configuration with errors may not get as far; the manifest is the same for both.
            let _installed = self.run(Engine::Formwork, &["get", "-no-color"]);
        }
        let [theirs, ours] = Engine::BOTH.map(|engine| self.run(engine, args));
        let position = format!("{}:{}", case.name, step.line);
        if theirs.code != ours.code {
            let (theirs, ours) = (theirs.code, ours.code);
            self.differences
                .push(format!("{position} exit code: should be {theirs:?}, is {ours:?}"));
        }
        let is_expected = |summary: &str| {
            let entry = (case.name.clone(), summary.to_owned());
            let is_expected = self.other_words.contains(&entry);
            self.used.extend(is_expected.then_some(entry));
            is_expected
        };
        let lines = differing_details(&details(&theirs), &details(&ours), is_expected);
        self.differences.extend(lines.into_iter().map(|line| format!("{position} {line}")));
        let [theirs, ours] = [theirs, ours].map(|run| problems(&run));
        let lines = differences(&theirs, &ours, &self.expected_repetitions);
        self.differences.extend(lines.into_iter().map(|line| format!("{position} {line}")));
        self.n_compared += 1;
    }
}

/// The diagnostics of a run with the headers of their blocks and their details, from its document or its
/// events.
fn details(run: &Run) -> Vec<(Problem, String)> {
    let all = match run.document() {
        Some(document) if document["diagnostics"].is_array() => document["diagnostics"].clone(),
        _ => run.events().iter().map(|event| event["diagnostic"].clone()).collect(),
    };
    let all = all.as_array().into_iter().flatten();
    let all = all.filter(|it| it.is_object()).map(|it| {
        let summary = it["summary"].as_str().unwrap_or_default();
        // The members of a cycle are listed in no particular order.
        let summary = if summary.starts_with("Cycle: ") { "Cycle" } else { summary };
        let severity = if it["severity"] == "error" { "" } else { "Warning: " };
        let detail = it["detail"].as_str().unwrap_or_default();
        let context = it["snippet"]["context"].as_str().unwrap_or("no block");
        let detail = format!("in {context}: {detail}");
        ((format!("{severity}{summary}"), file_range(&it["range"])), detail)
    });
    all.collect()
}

/// The diagnostics of a run, each with the number of times that it was reported.
fn problems(run: &Run) -> Problems {
    let mut problems = Problems::new();
    for (problem, _) in details(run) {
        *problems.entry(problem).or_default() += 1;
    }
    problems
}

/// The diagnostics of which the detail does not begin with Terraform's, apart from the name of the program
/// and a final period.
fn differing_details(
    theirs: &[(Problem, String)],
    ours: &[(Problem, String)],
    mut is_expected: impl FnMut(&str) -> bool,
) -> Vec<String> {
    let normalize = |detail: &str| {
        let detail =
            detail.replace("Terraform", "Formwork").replace("terraform init", "formwork init");
        if detail.contains("The following provider development overrides are set") {
            // Terraform lists them in no particular order.
            let mut lines: Vec<&str> = detail.lines().collect();
            lines.sort_unstable();
            return lines.join("\n");
        }
        // Terraform suggests one of the functions within reach at random.
        let detail = match detail.split_once(" Did you mean ") {
            Some((start, _)) if start.contains("There is no function named") => start,
            _ => &detail,
        };
        detail.trim_end_matches('.').to_owned()
    };
    let mut differing = Vec::new();
    for ((summary, position), expected) in theirs {
        let is_same_position =
            |other_position: &Option<FileRange>| position.is_none() || other_position == position;
        let mut candidates = ours
            .iter()
            .filter(|((it, other_position), _)| it == summary && is_same_position(other_position))
            .peekable();
        // Without a position there is no header either.
        let words = |detail: &str| match detail.split_once(": ") {
            Some((_, words)) if position.is_none() => normalize(words),
            _ => normalize(detail),
        };
        // An error without a counterpart is reported elsewhere.
        let Some((_, first)) = candidates.peek() else { continue };
        if !candidates.any(|(_, detail)| words(detail).starts_with(&words(expected)))
            && !is_expected(summary)
        {
            differing.push(format!(
                "{summary} at {position:?}: should begin {expected:?}, is {first:?}"
            ));
        }
    }
    differing
}

/// The lines of `phrases.txt`: a case, a summary, and the reason for other words.
fn other_words(directory: &Path) -> OtherWords {
    let text = std::fs::read_to_string(directory.join("phrases.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let entry = |line: &str| {
        let parts: Vec<&str> = line.split(" | ").collect();
        let [case, summary, reason] = parts[..] else { panic!("{line}: three parts") };
        assert!(!reason.trim().is_empty(), "{line}: no reason");
        (case.to_owned(), summary.to_owned())
    };
    lines.map(entry).collect()
}

/// The file and range of a diagnostic; `None` if it has none, or one in no file.
fn file_range(range: &Value) -> Option<FileRange> {
    let file = range["filename"].as_str().filter(|file| !file.is_empty())?;
    let coordinate = |end: &str, part: &str| range[end][part].as_u64().unwrap_or_default();
    let [start, end] =
        ["start", "end"].map(|end| [coordinate(end, "line"), coordinate(end, "column")]);
    Some((file.to_owned(), [start[0], start[1], end[0], end[1]]))
}

/// The errors that only one program reports. If Terraform gives no position, any position is equal.
fn differences(
    theirs: &Problems,
    ours: &Problems,
    expected_repetitions: &ExpectedRepetitions,
) -> Vec<String> {
    let mut lacking = subtract(theirs, ours);
    let mut further = subtract(ours, theirs);
    for ((summary, position), n) in &mut lacking {
        let counterparts =
            further.iter_mut().filter(|((other, _), _)| position.is_none() && other == summary);
        for (_, m) in counterparts {
            let both = (*n).min(*m);
            *n -= both;
            *m -= both;
        }
    }
    let is_lacking = |(problem, n): &(&Problem, &usize)| {
        **n > 0 && !repeats(problem, ours, expected_repetitions)
    };
    let lacking = lacking.iter().filter(is_lacking);
    let lacking =
        lacking.map(|((summary, position), n)| format!("lacks {n} × {summary} at {position:?}"));
    let further = further.iter().filter(|(_, n)| **n > 0);
    let further =
        further.map(|((summary, position), n)| format!("has {n} × {summary} at {position:?}"));
    lacking.chain(further).collect()
}

/// Whether an error only repeats one that is reported near it.
fn repeats(problem: &Problem, ours: &Problems, expected_repetitions: &ExpectedRepetitions) -> bool {
    let (summary, position) = problem;
    let Some(distance) = expected_repetitions.get(summary) else { return false };
    let positions = ours.keys().filter_map(|(_, other)| other.as_ref());
    let is_near = |(file, range): &FileRange| match position {
        Some((own_file, own_range)) => {
            own_file == file && (*distance == RepetitionDistance::File || own_range[0] == range[0])
        }
        None => *distance == RepetitionDistance::File,
    };
    positions.into_iter().any(is_near)
}

/// The problems of one program that the other does not report, or not as often.
fn subtract(minuend: &Problems, subtrahend: &Problems) -> Problems {
    let n_of = |problem| subtrahend.get(problem).copied().unwrap_or_default();
    let rest =
        minuend.iter().map(|(problem, n)| (problem.clone(), n.saturating_sub(n_of(problem))));
    rest.filter(|(_, n)| *n > 0).collect()
}

/// The lines of `expected_differences.txt`: a summary, how near it must be, and the reason.
fn expected_repetitions(directory: &Path) -> ExpectedRepetitions {
    let text = std::fs::read_to_string(directory.join("expected_differences.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let entry = |line: &str| {
        let parts: Vec<&str> = line.split(" | ").collect();
        let [summary, distance, reason] = parts[..] else { panic!("{line}: three parts") };
        let distance = match distance {
            "line" => RepetitionDistance::Line,
            "file" => RepetitionDistance::File,
            unknown_distance => panic!("{line}: {unknown_distance}"),
        };
        assert!(!reason.trim().is_empty(), "{line}: no reason");
        (summary.to_owned(), distance)
    };
    lines.map(entry).collect()
}

#[test]
fn every_mistake_that_terraform_reports_is_reported_in_the_same_run() {
    if !terraform_is_installed() {
        return;
    }
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("interop/mistakes");
    let (expected_repetitions, other_words) =
        (expected_repetitions(&directory), other_words(&directory));
    let filter = std::env::var("INTEROP_CASE").ok();
    let mut cases = load_dir(&directory);
    cases.retain(|case| filter.as_ref().is_none_or(|name| case.name.contains(name.as_str())));
    let queue = Mutex::new(cases.into_iter());
    let results = Mutex::new((0, Vec::new(), BTreeSet::new()));
    let work = || loop {
        let next = queue.lock().unwrap().next();
        let Some(case) = next else { return };
        let mut comparison = CaseComparison::new(&expected_repetitions, &other_words);
        case.steps.iter().for_each(|step| comparison.step(&case, step));
        let mut results = results.lock().unwrap();
        results.0 += comparison.n_compared;
        results.1.extend(comparison.differences);
        results.2.extend(comparison.used);
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    let (n_compared, mut differences, used) = results.into_inner().unwrap();
    let unused = other_words.iter().filter(|entry| filter.is_none() && !used.contains(entry));
    differences.extend(unused.map(|entry| format!("{entry:?} is not needed in phrases.txt")));
    differences.sort();
    println!("mistakes: {n_compared} configurations, {} differences", differences.len());
    assert!(differences.is_empty(), "\n{}", differences.join("\n"));
    assert!(filter.is_some() || n_compared >= AT_LEAST, "only {n_compared} configurations");
}

/// A configuration of which the error messages are longer than a line, by one column each.
const LONG_MESSAGES: &str = r#"
variable "name" {
  default = "x"
  validation {
    condition     = var.name == "y"
    error_message = "MESSAGE"
  }
}
"#;

#[test]
fn a_long_detail_wraps_at_the_same_column_as_in_terraform() {
    if !terraform_is_installed() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let settings = settings(dir.path());
    for length in 74..=79 {
        let line = "a word ".repeat(12)[..length].trim_end().to_owned() + "x y-z/long.";
        let message = format!("{line} {}\\n\\n  {line}", "w".repeat(length));
        let text = LONG_MESSAGES.replace("MESSAGE", &message);
        std::fs::write(dir.path().join("main.tf"), text).unwrap();
        let args = ["plan", "-no-color", "-input=false"];
        let of = |engine: Engine| {
            let run = engine.run(dir.path(), Some(&settings), &args);
            let errors = run.stderr.split_once("Error: ").expect("it fails").1.to_owned();
            errors.replace("Terraform", "Formwork")
        };
        assert_eq!(of(Engine::Formwork), of(Engine::Terraform), "{message}");
    }
}

#[test]
fn a_detail_that_begins_with_other_words_is_a_difference() {
    let of = |detail: &str| vec![(("A".to_owned(), None), detail.to_owned())];
    let check =
        |theirs: &str, ours: &str| differing_details(&of(theirs), &of(ours), |_| false).len();
    assert_eq!(check("Terraform says so.", "Formwork says so. Do this."), 0);
    assert_eq!(check("Terraform says so.", "Formwork does not."), 1);
    assert_eq!(differing_details(&of("x"), &of("y"), |summary| summary == "A").len(), 0);
}

#[test]
fn a_missing_a_moved_and_a_repeated_error_are_differences() {
    let of = |list: &[(&str, u64)]| -> Problems {
        let mut problems = Problems::new();
        for (summary, line) in list {
            let position = (*line > 0).then(|| ("f".to_owned(), [*line, 1, *line, 2]));
            *problems.entry(((*summary).to_owned(), position)).or_default() += 1;
        }
        problems
    };
    let expected_repetitions = [("Again".to_owned(), RepetitionDistance::Line)].into();
    let check = |theirs: &[(&str, u64)], ours: &[(&str, u64)]| {
        differences(&of(theirs), &of(ours), &expected_repetitions).len()
    };
    assert_eq!(check(&[("A", 1), ("B", 2)], &[("A", 1), ("B", 2)]), 0);
    assert_eq!(check(&[("A", 1), ("B", 2)], &[("A", 1)]), 1);
    assert_eq!(check(&[("A", 1)], &[("A", 2)]), 2);
    assert_eq!(check(&[("A", 1)], &[("A", 1), ("A", 1)]), 1);
    assert_eq!(check(&[("A", 0)], &[("A", 2)]), 0);
    assert_eq!(check(&[("A", 1), ("Again", 1)], &[("A", 1)]), 0);
    assert_eq!(check(&[("A", 1), ("Again", 2)], &[("A", 1)]), 1);
    assert_eq!(check(&[("A", 1)], &[("A", 1), ("Again", 1)]), 1);
}
