//! One state, two programs: each plans no changes on a state that the other wrote, and neither
//! works on a state while the other holds its lock.

use std::path::Path;

use super::engine::{Engine, Run, terraform_is_installed};

/// Contents that a state can have: kinds of values, keys, dependencies, secrets, outputs.
const RICH: &str = r#"
resource "terraform_data" "base" {
  input = { text = "<&>", number = 1.5, list = [1, "two", null], secret = sensitive("s") }
}
resource "terraform_data" "counted" {
  count            = 2
  input            = terraform_data.base.id
  triggers_replace = [count.index]
}
resource "terraform_data" "keyed" {
  for_each   = toset(["a b", "c\"d"])
  input      = toset([each.key])
  depends_on = [terraform_data.counted]
  lifecycle {
    create_before_destroy = true
  }
}
output "ids" {
  value = [for one in terraform_data.keyed : one.id]
}
output "secret" {
  value     = terraform_data.base.output
  sensitive = true
}
output "map" {
  value = tomap({ a = 1 })
}
"#;

fn directory(config: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("main.tf"), config).unwrap();
    dir
}

fn apply(engine: Engine, dir: &Path) {
    let run = engine.run(dir, None, &["apply", "-auto-approve", "-no-color"]);
    assert_eq!(run.code, Some(0), "{engine:?}: {}{}", run.stdout, run.stderr);
}

fn plan(engine: Engine, dir: &Path) -> Run {
    engine.run(dir, None, &["plan", "-no-color", "-detailed-exitcode"])
}

#[test]
fn a_state_of_either_program_needs_no_changes_by_the_other() {
    if !terraform_is_installed() {
        return;
    }
    for writer in Engine::BOTH {
        let dir = directory(RICH);
        apply(writer, dir.path());
        for reader in Engine::BOTH {
            let run = plan(reader, dir.path());
            let context =
                format!("{reader:?} on the state of {writer:?}: {}{}", run.stdout, run.stderr);
            assert_eq!(run.code, Some(0), "{context}");
        }
    }
}

#[test]
fn either_program_changes_and_destroys_objects_of_the_other() {
    if !terraform_is_installed() {
        return;
    }
    for (writer, other) in
        [(Engine::Terraform, Engine::Formwork), (Engine::Formwork, Engine::Terraform)]
    {
        let dir = directory(RICH);
        apply(writer, dir.path());
        let changed = RICH.replace("1.5", "2.5").replace("[count.index]", "[count.index + 1]");
        std::fs::write(dir.path().join("main.tf"), changed).unwrap();
        apply(other, dir.path());
        assert_eq!(plan(writer, dir.path()).code, Some(0), "{writer:?} after {other:?}");
        let run = writer.run(dir.path(), None, &["destroy", "-auto-approve", "-no-color"]);
        assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
        let text = std::fs::read_to_string(dir.path().join("terraform.tfstate")).unwrap();
        let state: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(state["resources"], serde_json::json!([]));
    }
}

#[test]
fn neither_program_changes_a_state_that_the_other_has_locked() {
    if !terraform_is_installed() {
        return;
    }
    for (holder, other) in
        [(Engine::Terraform, Engine::Formwork), (Engine::Formwork, Engine::Terraform)]
    {
        let dir = directory("resource \"terraform_data\" \"a\" {\n}\n");
        // It holds the lock for as long as its question is not answered.
        let mut held = holder.start_prompting(dir.path(), &["apply", "-no-color"]);
        held.wait_for("Enter a value:");
        let run = plan(other, dir.path());
        assert_eq!(run.code, Some(1), "{other:?} beside {holder:?}: {}", run.stdout);
        let output = run.stdout + &run.stderr;
        assert!(output.contains("Error acquiring the state lock"), "{other:?}: {output}");
        held.answer("yes\n");
        let run = plan(other, dir.path());
        assert_eq!(run.code, Some(0), "{other:?} after {holder:?}: {}{}", run.stdout, run.stderr);
    }
}
