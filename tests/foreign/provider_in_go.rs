//! Providers on the SDKs of almost all providers, in Go: every script below
//! `go/cases` under both programs. Compared are exit codes, diagnostics, plans and their output,
//! states, events, and the requests that reach the provider.
//!
//! `INTEROP_CASE=text` picks scripts by group and name. A group is the name of a provider.

use std::path::{Path, PathBuf};
use std::time::Duration;

use formwork_conformance::finding::Verdict;
use formwork_conformance::{Options, check_with_options};

use super::installed::go_providers;
use crate::interop::engine::terraform_is_installed;
use crate::interop::life::{ScriptSuite, compare_lifecycles};

/// The providers: each is the same program under another name.
const NAMES: [&str; 4] = ["legacy", "framework", "mixed", "mixedfive"];

fn settings(dir: &Path) -> PathBuf {
    let directory = go_providers(&NAMES).expect("they have been built");
    let line = |name| format!("    \"foreign/{name}\" = \"{}\"\n", directory.display());
    let lines: String = NAMES.map(line).concat();
    let path = dir.join("settings.tfrc");
    let text = format!("provider_installation {{\n  dev_overrides {{\n{lines}  }}\n}}\n");
    std::fs::write(&path, text).unwrap();
    path
}

fn required(group: &str) -> String {
    let block =
        format!("required_providers {{\n    {group} = {{ source = \"foreign/{group}\" }}\n  }}");
    format!("terraform {{\n  {block}\n}}\n")
}

#[test]
fn lifecycles_of_objects_of_providers_on_other_sdks_are_the_same() {
    if !terraform_is_installed() || go_providers(&NAMES).is_none() {
        return;
    }
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("foreign/go");
    let report = compare_lifecycles(
        &ScriptSuite {
            name: "foreign",
            cases: sources.join("cases"),
            required,
            settings,
            sources: ["legacy", "framework", "record", "world"]
                .map(|name| sources.join(name))
                .into(),
            is_recorded: true,
            backend: None,
        },
        |_, _| true,
    );
    assert!(report.is_empty(), "\n{report}");
}

/// The legacy SDK names `id` together with every attribute that requires a replacement.
#[test]
fn replacements_that_the_legacy_sdk_plans_keep_the_contract() {
    let Some(directory) = go_providers(&NAMES) else { return };
    let mut options = Options::new(directory.join("terraform-provider-legacy"));
    options.level = 1;
    options.only = ["P-09".to_owned()].into();
    options.time = Duration::from_secs(300);
    let report = check_with_options(options);
    let broken = report.findings.first().map(|it| format!("{} {}", it.subject, it.message));
    assert_eq!(report.verdict_on_rule("P-09"), Some(&Verdict::Held), "{broken:?}");
}
