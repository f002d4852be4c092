//! Terraform with our provider programs: every resource through create, no change, and destroy, over
//! both versions of the protocol, and Formwork with the same programs agreeing about all of it.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use formwork_plugin_protocol::handshake::{COOKIE_NAME, COOKIE_VALUE};
use serde_json::Value;

use super::compare::{differences, scrub_state, scrub_view};
use super::engine::{Engine, terraform_is_here};
use crate::harness::built;

const PROVIDERS: [&str; 4] = ["null", "random", "local", "time"];

/// The versions of the protocol, the one that hosts prefer first.
const PROTOCOLS: [u8; 2] = [6, 5];

/// A folder with programs that are ours, but offer one version of the protocol only: the host's own
/// word on what it speaks is overridden.
fn plugins(dir: &Path, protocol: u8) -> PathBuf {
    let folder = dir.join(".plugins");
    if folder.exists() {
        return folder;
    }
    std::fs::create_dir(&folder).unwrap();
    for name in PROVIDERS {
        let name = format!("terraform-provider-{name}");
        let program = built(&name).display().to_string();
        let script =
            format!("#!/bin/sh\nPLUGIN_PROTOCOL_VERSIONS={protocol} exec \"{program}\" \"$@\"\n");
        let path = folder.join(name);
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    folder
}

/// A folder to run commands in, and the settings under which they find our programs.
struct Ground {
    folder: tempfile::TempDir,
    settings: PathBuf,
}

impl Ground {
    fn new(config: &str, protocol: u8) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("main.tf"), config).unwrap();
        let plugins = plugins(folder.path(), protocol);
        let line = |name| format!("    \"hashicorp/{name}\" = \"{}\"\n", plugins.display());
        let overrides: String = PROVIDERS.iter().map(line).collect();
        let settings = folder.path().join("settings.tfrc");
        let text = format!("provider_installation {{\n  dev_overrides {{\n{overrides}  }}\n}}\n");
        std::fs::write(&settings, text).unwrap();
        Self { folder, settings }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn run(&self, engine: Engine, args: &[&str]) -> super::engine::Run {
        engine.run(self.path(), Some(&self.settings), args)
    }

    fn succeed(&self, engine: Engine, args: &[&str]) -> String {
        let run = self.run(engine, args);
        assert_eq!(run.code, Some(0), "{engine:?} {args:?}: {}{}", run.stdout, run.stderr);
        run.stdout
    }

    fn plan_view(&self, engine: Engine) -> Value {
        self.succeed(engine, &["plan", "-out", "saved", "-no-color"]);
        let mut view = document(&self.succeed(engine, &["show", "-json", "saved"]));
        std::fs::remove_file(self.path().join("saved")).unwrap();
        scrub_view(&mut view);
        // null_data_source makes up another one each time it is read.
        forget(&mut view, "random");
        view
    }
}

/// The document among the lines: Terraform puts a warning about the settings before it.
fn document(text: &str) -> Value {
    let line = text.lines().find(|line| line.starts_with('{')).unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Over each version of the protocol, [`lives`].
fn check(config: &str) {
    if terraform_is_here() {
        PROTOCOLS.iter().for_each(|protocol| lives(config, *protocol));
    }
}

/// Plans with both, applies with one, and lets both find nothing more to do; then the other applies
/// in a folder of its own, and Terraform destroys.
fn lives(config: &str, protocol: u8) {
    let mut found = Vec::new();
    let mut states = Vec::new();
    for engine in Engine::BOTH {
        let ground = Ground::new(config, protocol);
        let [theirs, ours] = Engine::BOTH.map(|engine| ground.plan_view(engine));
        differences(&format!("{engine:?} plan"), &theirs, &ours, &mut found);
        ground.succeed(engine, &["apply", "-auto-approve", "-no-color"]);
        let [theirs, ours] = Engine::BOTH.map(|engine| ground.plan_view(engine));
        differences(&format!("{engine:?} second plan"), &theirs, &ours, &mut found);
        for reader in Engine::BOTH {
            let run = ground.run(reader, &["plan", "-detailed-exitcode", "-no-color"]);
            assert_eq!(run.code, Some(0), "{reader:?} after {engine:?}: {}", run.stdout);
        }
        let text = std::fs::read_to_string(ground.path().join("terraform.tfstate")).unwrap();
        let mut state: Value = serde_json::from_str(&text).unwrap();
        scrub_state(&mut state);
        states.push(state);
        ground.succeed(Engine::Terraform, &["destroy", "-auto-approve", "-no-color"]);
    }
    differences("state", &shape(&states[0]), &shape(&states[1]), &mut found);
    assert!(found.is_empty(), "protocol {protocol}\n{}", found.join("\n"));
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
fn our_programs_speak_the_version_that_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    for protocol in PROTOCOLS {
        let dir = dir.path().join(protocol.to_string());
        std::fs::create_dir(&dir).unwrap();
        for name in PROVIDERS {
            let program = plugins(&dir, protocol).join(format!("terraform-provider-{name}"));
            let mut command = Command::new(program);
            command.env(COOKIE_NAME, COOKIE_VALUE).env("TMPDIR", &dir).current_dir(&dir);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
            let mut child = command.spawn().unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(line.starts_with(&format!("1|{protocol}|unix|")), "{name}: {line}");
        }
    }
}

#[test]
fn terraform_reads_the_same_schemas_as_formwork() {
    if !terraform_is_here() {
        return;
    }
    let blocks = PROVIDERS.map(|name| format!("provider \"{name}\" {{\n}}\n"));
    let mut found = Vec::new();
    for protocol in PROTOCOLS {
        let ground = Ground::new(&blocks.concat(), protocol);
        let [theirs, ours] = Engine::BOTH.map(|engine| -> Value {
            let mut view = document(&ground.succeed(engine, &["providers", "schema", "-json"]));
            // Newer versions of Terraform read these; 1.11 does not.
            forget(&mut view, "deprecation_message");
            view
        });
        assert_eq!(theirs["provider_schemas"].as_object().unwrap().len(), 4);
        differences(&format!("schemas over protocol {protocol}"), &theirs, &ours, &mut found);
    }
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
