//! Terraform with our provider programs: every resource through create, no change, and destroy, and
//! Formwork with the same programs agreeing about all of it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::compare::{differences, scrub_state, scrub_view};
use super::engine::{Engine, terraform_is_here};
use crate::harness::built;

/// A settings file that makes both programs take our providers from where cargo puts them.
fn settings(dir: &Path) -> PathBuf {
    let program = built("terraform-provider-null");
    let folder = program.parent().unwrap().display();
    let overrides: String = ["null", "random", "local", "time"]
        .iter()
        .map(|name| format!("    \"hashicorp/{name}\" = \"{folder}\"\n"))
        .collect();
    let path = dir.join("settings.tfrc");
    let text = format!("provider_installation {{\n  dev_overrides {{\n{overrides}  }}\n}}\n");
    std::fs::write(&path, text).unwrap();
    path
}

fn run(engine: Engine, dir: &Path, args: &[&str]) -> super::engine::Run {
    engine.run(dir, Some(&settings(dir)), args)
}

fn succeed(engine: Engine, dir: &Path, args: &[&str]) -> String {
    let run = run(engine, dir, args);
    assert_eq!(run.code, Some(0), "{engine:?} {args:?}: {}{}", run.stdout, run.stderr);
    run.stdout
}

/// The document among the lines: Terraform puts a warning about the settings before it.
fn document(text: &str) -> Value {
    let line = text.lines().find(|line| line.starts_with('{')).unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn plan_view(engine: Engine, dir: &Path) -> Value {
    succeed(engine, dir, &["plan", "-out", "saved", "-no-color"]);
    let mut view = document(&succeed(engine, dir, &["show", "-json", "saved"]));
    std::fs::remove_file(dir.join("saved")).unwrap();
    scrub_view(&mut view);
    // null_data_source makes up another one each time it is read.
    forget(&mut view, "random");
    view
}

/// Plans with both, applies with one, and lets both find nothing more to do; then the other applies
/// in a folder of its own, and Terraform destroys.
fn check(config: &str) {
    if !terraform_is_here() {
        return;
    }
    let mut found = Vec::new();
    let mut states = Vec::new();
    for engine in Engine::BOTH {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        std::fs::write(dir.join("main.tf"), config).unwrap();
        let [theirs, ours] = Engine::BOTH.map(|engine| plan_view(engine, dir));
        differences(&format!("{engine:?} plan"), &theirs, &ours, &mut found);
        succeed(engine, dir, &["apply", "-auto-approve", "-no-color"]);
        let [theirs, ours] = Engine::BOTH.map(|engine| plan_view(engine, dir));
        differences(&format!("{engine:?} second plan"), &theirs, &ours, &mut found);
        for reader in Engine::BOTH {
            let run = run(reader, dir, &["plan", "-detailed-exitcode", "-no-color"]);
            assert_eq!(run.code, Some(0), "{reader:?} after {engine:?}: {}", run.stdout);
        }
        let text = std::fs::read_to_string(dir.join("terraform.tfstate")).unwrap();
        let mut state: Value = serde_json::from_str(&text).unwrap();
        scrub_state(&mut state);
        states.push(state);
        succeed(Engine::Terraform, dir, &["destroy", "-auto-approve", "-no-color"]);
    }
    differences("state", &shape(&states[0]), &shape(&states[1]), &mut found);
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// A state with every text and number of its objects and outputs replaced by its kind: they are random.
fn shape(state: &Value) -> Value {
    let mut state = state.clone();
    for resource in state["resources"].as_array_mut().into_iter().flatten() {
        for instance in resource["instances"].as_array_mut().into_iter().flatten() {
            kinds(&mut instance["attributes"]);
        }
    }
    for output in state["outputs"].as_object_mut().into_iter().flat_map(|all| all.values_mut()) {
        kinds(&mut output["value"]);
    }
    state
}

/// Takes the members of that name out, wherever they are.
fn forget(value: &mut Value, name: &str) {
    match value {
        Value::Object(members) => {
            members.remove(name);
            members.values_mut().for_each(|member| forget(member, name));
        }
        Value::Array(elements) => elements.iter_mut().for_each(|element| forget(element, name)),
        _ => {}
    }
}

fn kinds(value: &mut Value) {
    match value {
        Value::String(text) => *text = "text".to_owned(),
        Value::Number(_) => *value = Value::from(0),
        Value::Array(elements) => elements.iter_mut().for_each(kinds),
        Value::Object(members) => members.values_mut().for_each(kinds),
        Value::Null | Value::Bool(_) => {}
    }
}

#[test]
fn terraform_reads_the_same_schemas_as_formwork() {
    if !terraform_is_here() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let config = "provider \"null\" {\n}\nprovider \"random\" {\n}\nprovider \"local\" {\n}\nprovider \"time\" {\n}\n";
    std::fs::write(dir.path().join("main.tf"), config).unwrap();
    let [theirs, ours] = Engine::BOTH.map(|engine| -> Value {
        let mut view = document(&succeed(engine, dir.path(), &["providers", "schema", "-json"]));
        // Newer versions of Terraform read these; 1.11 does not.
        forget(&mut view, "deprecation_message");
        view
    });
    assert_eq!(theirs["provider_schemas"].as_object().unwrap().len(), 4);
    let mut found = Vec::new();
    differences("schemas", &theirs, &ours, &mut found);
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn both_live_with_the_null_provider() {
    check(
        r#"
resource "null_resource" "plain" {
}
resource "null_resource" "triggered" {
  triggers = { a = null_resource.plain.id, b = "x" }
}
data "null_data_source" "values" {
  inputs = { a = "x" }
}
output "o" {
  value = data.null_data_source.values.outputs
}
"#,
    );
}

#[test]
fn both_live_with_the_random_provider() {
    check(
        r#"
resource "random_id" "a" {
  byte_length = 4
  prefix      = "p-"
}
resource "random_integer" "a" {
  min = 1
  max = 9
}
resource "random_password" "a" {
  length      = 12
  min_numeric = 2
}
resource "random_pet" "a" {
  keepers = { k = random_integer.a.result }
}
resource "random_shuffle" "a" {
  input        = ["a", "b", "c"]
  result_count = 2
}
resource "random_string" "a" {
  length  = 8
  special = false
}
resource "random_uuid" "a" {
}
output "password" {
  value     = random_password.a.result
  sensitive = true
}
output "pet" {
  value = random_pet.a.id
}
"#,
    );
}

#[test]
fn both_live_with_the_local_provider() {
    check(
        r#"
resource "local_file" "a" {
  filename        = "${path.module}/a.txt"
  content         = "text <&>"
  file_permission = "0600"
}
resource "local_sensitive_file" "b" {
  filename       = "${path.module}/b.bin"
  content_base64 = base64encode("secret")
}
data "local_file" "read" {
  filename = local_file.a.filename
}
output "read" {
  value = data.local_file.read.content
}
"#,
    );
}

#[test]
fn both_live_with_the_time_provider() {
    check(
        r#"
resource "time_static" "a" {
  rfc3339 = "2024-02-29T12:00:00Z"
}
resource "time_static" "now" {
}
resource "time_offset" "a" {
  base_rfc3339 = time_static.a.rfc3339
  offset_years = 1
}
resource "time_rotating" "a" {
  rotation_years = 50
}
resource "time_sleep" "a" {
  create_duration = "1ms"
}
output "o" {
  value = [time_offset.a.year, time_offset.a.rfc3339]
}
"#,
    );
}
