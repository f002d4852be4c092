//! Answers of a provider, sound and spoilt by chance, judged by the contract's rules and by Terraform:
//! both refuse the same ones. `verdicts/expected_differences.txt` lists where they differ on purpose,
//! with the reasons.
//!
//! `FORMWORK_VERDICTS=5000` compares that many answers.

mod configuration;

use std::collections::{BTreeMap, BTreeSet};

use formwork_tests::answers::{Judged, config, schema, stored, type_name};
use serde_json::{Value, json};

use super::engine::terraform_is_installed;
use crate::harness::{Workdir, answers_provider};

/// The number of answers, unless the environment names another.
const DEFAULT_N_ANSWERS: u64 = 640;

/// The most answers of one run of Terraform.
const BATCH: u64 = 500;

/// Verdicts of both programs about the answer of one case.
#[derive(Debug, Default)]
struct Verdicts {
    /// The number of answers that were judged.
    n_judged: usize,
    /// The rules that are broken by the contract, with the messages.
    ours: Vec<String>,
    /// Summaries and details of Terraform's errors.
    terraform: Vec<String>,
}

impl Verdicts {
    fn differ(&self) -> bool {
        self.ours.is_empty() != self.terraform.is_empty()
    }

    /// The rule or summary of the side that refuses.
    fn reason(&self) -> String {
        let (side, first) = match (self.ours.first(), self.terraform.first()) {
            (Some(rule), _) => ("ours", rule.split(' ').next().unwrap_or_default()),
            (None, Some(error)) => ("terraform", error.split(": ").next().unwrap_or_default()),
            (None, None) => ("", ""),
        };
        format!("{side} {first}")
    }
}

/// Runs Terraform over cases, and returns the verdicts of both by case.
fn judge(judged: Judged, cases: std::ops::Range<u64>) -> BTreeMap<u64, Verdicts> {
    let workdir = Workdir::new("");
    workdir.link_plugin(answers_provider());
    let turn = u64::from(matches!(judged, Judged::Update | Judged::ApplyUpdate));
    let mut blocks: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
    let mut resources = Vec::new();
    for case in cases.clone() {
        let (kind, name) = (type_name(case), format!("c{case}"));
        let mut block = schema(&kind).block;
        if judged == Judged::Data {
            block.attributes.retain(|_, attribute| !attribute.write_only);
        }
        let content = configuration::block(&block, &config(&block, case, turn));
        blocks.entry(kind.clone()).or_default().insert(name.clone(), content);
        let attributes = configuration::attributes(&block, &stored(&block, case));
        resources.push(json!({
            "mode": "managed", "type": kind, "name": name,
            "provider": "provider[\"registry.terraform.io/formwork/answers\"]",
            "instances": [{ "schema_version": 0, "attributes": attributes }],
        }));
    }
    let kind = if judged == Judged::Data { "data" } else { "resource" };
    let source = json!({ "answers": { "source": "formwork/answers" } });
    let document = json!({ "terraform": { "required_providers": source }, kind: blocks });
    workdir.write("main.tf.json", &document.to_string());
    if judged.has_state() {
        let state = json!({
            "version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "answers",
            "outputs": {}, "resources": resources,
        });
        workdir.write("terraform.tfstate", &state.to_string());
    }
    let log = workdir.root().join("verdicts.log");
    let line = match judged {
        Judged::Read => "plan -json -refresh-only",
        Judged::Create | Judged::Data | Judged::Update => "plan -json -refresh=false",
        Judged::Destroy => "plan -json -refresh=false -destroy",
        Judged::ApplyCreate | Judged::ApplyUpdate => "apply -json -refresh=false -auto-approve",
        Judged::ApplyDestroy => "apply -json -refresh=false -auto-approve -destroy",
    };
    let command = workdir.terraform(line).env("ANSWERS_JUDGED", judged.name());
    let run = command.env("ANSWERS_LOG", &log.display().to_string()).run();
    let mut verdicts = BTreeMap::new();
    for line in workdir.read("verdicts.log").lines() {
        let (case, broken) = line.split_once('\t').expect("a case and the broken rules");
        let case: u64 = case.parse().expect("a number");
        let verdict: &mut Verdicts = verdicts.entry(case).or_default();
        verdict.n_judged += 1;
        verdict.ours.extend((!broken.is_empty()).then(|| broken.to_owned()));
    }
    for error in errors(&run.stdout) {
        let case = case_in(&error).unwrap_or_else(|| panic!("of which case is this? {error}"));
        verdicts.entry(case).or_default().terraform.push(error);
    }
    assert!(!verdicts.is_empty(), "nothing was judged:\n{}", run.text());
    verdicts
}

/// The errors in the lines that Terraform prints: summary, detail and address.
fn errors(printed: &str) -> Vec<String> {
    let lines = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let errors = lines.filter(|line| line["diagnostic"]["severity"] == "error");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let error = |line: Value| {
        let diagnostic = &line["diagnostic"];
        format!(
            "{}: {} {}",
            text(&diagnostic["summary"]),
            text(&diagnostic["detail"]),
            text(&diagnostic["address"])
        )
    };
    errors.map(error).collect()
}

/// The case of the first address in a string.
fn case_in(text: &str) -> Option<u64> {
    let parts = text.split("answers_t").skip(1);
    let numbers = parts.filter_map(|rest| rest.split_once(".c").map(|(_, rest)| rest));
    let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>();
    numbers.filter_map(|rest| digits(rest).parse().ok()).next()
}

/// The differences that are kept: the call, the side that refuses, and its rule or summary.
fn expected_differences() -> BTreeSet<String> {
    let lines = include_str!("verdicts/expected_differences.txt").lines();
    lines.filter(|line| !line.starts_with('#') && !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn answers_are_refused_if_and_only_if_terraform_refuses_them() {
    if !terraform_is_installed() {
        return;
    }
    let requested = std::env::var("FORMWORK_VERDICTS").ok().and_then(|number| number.parse().ok());
    let n_each = requested.unwrap_or(DEFAULT_N_ANSWERS) / Judged::ALL.len() as u64;
    let (expected_differences, mut used, mut differing) =
        (expected_differences(), BTreeSet::new(), Vec::new());
    let (mut n_all, mut n_agreeing) = (0, 0);
    for judged in Judged::ALL {
        let (mut n_refused, mut n_accepted, mut n_expected) = (0, 0, 0);
        for first in (0..n_each).step_by(usize::try_from(BATCH).expect("a small number")) {
            for (case, verdicts) in judge(judged, first..n_each.min(first + BATCH)) {
                match (verdicts.differ(), verdicts.ours.is_empty()) {
                    (false, true) => n_accepted += 1,
                    (false, false) => n_refused += 1,
                    (true, _) => {
                        let key = format!("{} {}", judged.name(), verdicts.reason());
                        if expected_differences.contains(&key) {
                            n_expected += 1;
                        } else {
                            differing.push(format!("{key}: case {case}: {verdicts:?}"));
                        }
                        used.insert(key);
                    }
                }
            }
        }
        println!(
            "{}: {n_accepted} accepted and {n_refused} refused by both, {n_expected} expected differences",
            judged.name()
        );
        assert!(n_accepted > 0 && n_refused > 0, "{}: all answers are alike", judged.name());
        n_agreeing += n_accepted + n_refused;
        n_all += n_accepted + n_refused + n_expected;
    }
    n_all += differing.len();
    println!("{n_agreeing} of {n_all} verdicts agree ({:.2} %)", percent(n_agreeing, n_all));
    assert!(differing.is_empty(), "{} verdicts differ:\n{}", differing.len(), differing.join("\n"));
    // A short run does not meet all of them.
    if requested.is_some_and(|requested| requested >= 5_000) {
        let unused: Vec<&String> = expected_differences.difference(&used).collect();
        assert!(unused.is_empty(), "these differences are gone: {unused:?}");
    }
}

fn percent(part: usize, total: usize) -> f64 {
    let thousandths = (part * 100_000).checked_div(total).unwrap_or(0);
    f64::from(u32::try_from(thousandths).unwrap_or(u32::MAX)) / 1_000.0
}
