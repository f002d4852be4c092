//! Providers that are running already: `TF_REATTACH_PROVIDERS`, as debuggers and the acceptance suites
//! of providers set it.

use std::process::Child;

use crate::harness::{Command, CommandResult, Workdir, instances, terraform};

const VARIABLE: &str = "TF_REATTACH_PROVIDERS";

/// A provider that no directory and no registry has.
const ADDRESS: &str = "example.com/nowhere/bad";

const CONFIG: &str = r#"
terraform {
  required_providers {
    bad = {
      source  = "example.com/nowhere/bad"
      version = ">= 3.0.0"
    }
  }
}
resource "bad_thing" "a" {
  name = "a"
}
output "name" {
  value = bad_thing.a.name
}
"#;

/// A provider that is ended with the test.
struct Attached(Child);

impl Drop for Attached {
    fn drop(&mut self) {
        // It may have ended by itself; then the test fails.
        drop(self.0.kill().and_then(|()| self.0.wait()));
    }
}

#[test]
fn a_running_provider_needs_neither_an_installation_nor_a_lock() {
    let workdir = Workdir::new(CONFIG);
    let (provider, attach) =
        workdir.reattachable(&[ADDRESS, "registry.terraform.io/-/bad", "hashicorp/unused"]);
    let _provider = Attached(provider);
    let run = |line: &str| workdir.formwork(line).env(VARIABLE, &attach).run();
    let commands = [
        ("init", ""),
        ("init -upgrade", ""),
        ("init -lockfile=readonly -input=false", ""),
        ("validate -json", "\"valid\": true"),
        ("providers", ADDRESS),
        ("providers schema -json", "bad_thing"),
        ("version -json", "\"provider_selections\": {}"),
        ("graph", "bad_thing.a"),
        ("plan -out=tfplan -refresh=false -detailed-exitcode", "1 to add"),
        ("show -json tfplan", "\"create\""),
        ("apply tfplan", "1 added"),
        ("show -json", "\"bad_thing\""),
        ("show", "bad_thing.a"),
        ("state show bad_thing.a", "name"),
        ("state list", "bad_thing.a"),
        ("output name", "\"a\""),
        ("taint bad_thing.a", ""),
        ("untaint bad_thing.a", ""),
        ("refresh", ""),
        ("plan -refresh-only -detailed-exitcode", "No changes"),
        ("state mv bad_thing.a bad_thing.b", ""),
        ("apply -auto-approve", "1 added"),
        ("workspace new other", ""),
        ("plan", "1 to add"),
        ("workspace select default", ""),
        ("apply -destroy -auto-approve", "1 destroyed"),
        ("destroy -auto-approve", "No changes"),
    ];
    for (line, expected) in commands {
        let result = run(line);
        // As in Terraform, numbers that were read again count as changes of a refresh.
        let has_changes = line.contains("-out=") || line.contains("-refresh-only");
        let code = if has_changes { 2 } else { 0 };
        assert!(
            result.code == Some(code) && result.text().contains(expected),
            "{line}: {}",
            result.text()
        );
        assert!(!result.text().contains("nstalled bad"), "{line}: {}", result.text());
    }
    workdir.formwork("console").env(VARIABLE, &attach).stdin("1 + 1\n").succeed().says("2");
    assert!(!workdir.has(".terraform.lock.hcl") && !workdir.has(".terraform/providers"));
    // Without the variable the directory needs what it always needed.
    workdir.formwork("init").run().code(1).says(ADDRESS);
    workdir.formwork("plan").run().code(1).says("Inconsistent dependency lock file");
}

#[test]
fn the_lock_of_a_running_provider_is_neither_checked_nor_changed() {
    let lock = format!(
        "provider \"{ADDRESS}\" {{\n  version     = \"1.0.0\"\n  constraints = \"1.0.0\"\n  hashes = [\n    \"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\",\n  ]\n}}\n"
    );
    let run_all = |run: &dyn Fn(&Workdir, &str, &str) -> CommandResult| {
        let workdir = Workdir::new(CONFIG);
        workdir.write(".terraform.lock.hcl", &lock);
        let (provider, attach) = workdir.reattachable(&[ADDRESS]);
        let _provider = Attached(provider);
        for line in ["init", "init -upgrade", "validate", "plan -out=p", "apply p"] {
            let result = run(&workdir, line, &attach);
            assert_eq!(result.code, Some(0), "{line}: {}", result.text());
        }
        assert_eq!(workdir.read(".terraform.lock.hcl"), lock);
        assert_eq!(instances(&workdir).len(), 1);
    };
    run_all(&|workdir, line, attach| workdir.formwork(line).env(VARIABLE, attach).run());
    if terraform().is_some() {
        run_all(&|workdir, line, attach| workdir.terraform(line).env(VARIABLE, attach).run());
    }
}

#[test]
fn a_variable_that_names_no_provider_is_refused_by_every_command() {
    let workdir = Workdir::new("");
    workdir.write("main.tf", "output \"a\" {\n  value = 1\n}\n");
    let refused = |command: Command<'_>, detail: &str| {
        command.run().code(1).says("Invalid TF_REATTACH_PROVIDERS").says(detail);
    };
    for line in ["init", "validate", "plan", "output", "providers", "state list"] {
        refused(workdir.formwork(line).env(VARIABLE, "[]"), "not a JSON object");
    }
    let (provider, attach) = workdir.reattachable(&["a/b/c/d"]);
    let _provider = Attached(provider);
    refused(workdir.formwork("init").env(VARIABLE, &attach), "\"a/b/c/d\"");
    workdir.formwork("version").env(VARIABLE, "[]").succeed();
}
