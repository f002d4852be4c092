//! Commands in a checkout with a hostile provider program. `docs/threat-model.md` lists the commands that
//! start no program; the tests read that table.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::harness::Workdir;

const CONFIG: &str = r#"
terraform {
  required_providers {
    evil = { source = "evil.example/evil/evil" }
  }
}
resource "evil_thing" "a" {}
output "o" {
  value = "x"
}
"#;
const STATE: &str = r#"{
  "version": 4, "terraform_version": "1.11.4", "serial": 1,
  "lineage": "6ed3b1c5-6b0e-4c53-8a0e-7f1a3f5d8b11",
  "outputs": {"o": {"value": "x", "type": "string"}},
  "resources": [{
    "mode": "managed", "type": "evil_thing", "name": "a",
    "provider": "provider[\"evil.example/evil/evil\"]",
    "instances": [{"schema_version": 0, "attributes": {"id": "1"}}]
  }],
  "check_results": null
}
"#;

/// A checkout that brings its own provider: a script that leaves a mark when it is started.
fn checkout() -> (Workdir, PathBuf) {
    let workdir = Workdir::new(CONFIG);
    let mark = workdir.home().join("started");
    let platform = if cfg!(target_arch = "aarch64") { "linux_arm64" } else { "linux_amd64" };
    let program = format!(
        "terraform.d/plugins/evil.example/evil/evil/1.0.0/{platform}/terraform-provider-evil_v1.0.0"
    );
    workdir.write(&program, &format!("#!/bin/sh\n: > '{}'\nexit 1\n", mark.display()));
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(workdir.root().join(program), mode).expect("a mode");
    workdir.write("terraform.tfstate", STATE);
    fs::remove_file(workdir.settings()).expect("it is there");
    fs::write(workdir.settings(), "").expect("it can be written");
    (workdir, mark)
}

/// The commands of the table's rows that say so, each with arguments that it can run with.
fn listed(says: &str) -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/threat-model.md");
    let page = fs::read_to_string(page).expect("the page");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let rows = rows.filter(|line| line.split('|').nth(4).is_some_and(|cell| cell.trim() == says));
    let cells = rows.filter_map(|line| line.split('|').nth(1));
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

fn line(command: &str) -> String {
    let arguments = match command {
        "state mv" => "evil_thing.a evil_thing.b",
        "state rm" => "evil_thing.b",
        "state replace-provider" => "-auto-approve evil.example/evil/evil evil.example/evil/other",
        "state push" => "-force terraform.tfstate",
        "force-unlock" => "-force 00000000-0000-0000-0000-000000000000",
        "workspace new" | "workspace select" => "other",
        "workspace delete" => "-force other",
        "recover forget" | "recover retry" => "evil_thing.a",
        "metadata functions" => "-json",
        _ => "",
    };
    format!("{command} {arguments}")
}

#[test]
fn commands_that_the_threat_model_calls_safe_start_no_provider() {
    let (workdir, mark) = checkout();
    workdir.formwork("init").succeed();
    assert!(!mark.exists(), "init starts no provider");
    let safe = listed("no");
    assert!(safe.len() > 15, "the table lists {safe:?}");
    for command in safe {
        workdir.formwork(&line(&command)).run();
        assert!(!mark.exists(), "`{command}` started the provider of the checkout");
    }
}

#[test]
fn commands_that_start_providers_start_the_one_of_the_checkout() {
    let not_safe = listed("providers");
    assert!(not_safe.contains(&"validate".to_owned()), "the table lists {not_safe:?}");
    let (workdir, mark) = checkout();
    workdir.formwork("init").succeed();
    workdir.formwork("validate").run().code(1);
    assert!(mark.exists(), "the script of this test works");
}
