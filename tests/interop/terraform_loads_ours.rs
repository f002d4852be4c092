//! Terraform with our provider programs: every resource through create, no change, update, replacement,
//! import and destroy, over both versions of the protocol, and Formwork with the same programs agreeing
//! about all of it.

mod lives;

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use formwork_plugin_protocol::handshake::{COOKIE_NAME, COOKIE_VALUE};
use serde_json::Value;

use super::compare::{differences, scrub_state, scrub_view};
use super::engine::{Engine, terraform_is_here};
use crate::harness::built;

/// The providers of this workspace.
pub(super) const PROVIDERS: [&str; 8] =
    ["archive", "external", "http", "local", "null", "random", "time", "tls"];

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

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    fn stored(&self) -> Value {
        let text = std::fs::read_to_string(self.path().join("terraform.tfstate")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    fn state(&self) -> Value {
        let mut state = self.stored();
        scrub_state(&mut state);
        state
    }

    /// Notes where the plans of the two programs differ.
    fn agree(&self, when: &str, found: &mut Vec<String>) {
        let [theirs, ours] = Engine::BOTH.map(|engine| self.plan_view(engine));
        differences(when, &theirs, &ours, found);
    }

    /// Both programs find nothing to do.
    fn nothing_more(&self, when: &str) {
        for reader in Engine::BOTH {
            let run = self.run(reader, &["plan", "-detailed-exitcode", "-no-color"]);
            assert_eq!(run.code, Some(0), "{reader:?}: {when}: {}{}", run.stdout, run.stderr);
        }
    }

    /// Forgets an object; returns the block that finds it again.
    fn import(&self, engine: Engine, (address, id): (&str, &str)) -> String {
        let (ty, name) = address.split_once('.').unwrap();
        let state = self.stored();
        let resources = state["resources"].as_array().unwrap();
        let object = resources.iter().find(|one| one["type"] == ty && one["name"] == name).unwrap();
        let attributes = object["instances"][0]["attributes"].as_object().unwrap();
        let filled = attributes.iter().fold(id.to_owned(), |id, (name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            id.replace(&format!("{{{name}}}"), &text)
        });
        self.succeed(engine, &["state", "rm", address]);
        format!("import {{\n  to = {address}\n  id = {filled:?}\n}}\n")
    }

    fn plan_view(&self, engine: Engine) -> Value {
        self.succeed(engine, &["plan", "-out", "saved", "-no-color"]);
        let mut view = document(&self.succeed(engine, &["show", "-json", "saved"]));
        std::fs::remove_file(self.path().join("saved")).unwrap();
        scrub_view(&mut view);
        // null_data_source makes up another one each time it is read; the salt of a hash is random too.
        forget(&mut view, "random");
        forget(&mut view, "bcrypt_hash");
        // For what is replaced, Terraform forgets here what the schema makes sensitive.
        forget(&mut view["planned_values"], "sensitive_values");
        // Terraform lists these in no particular order.
        for change in view["resource_changes"].as_array_mut().into_iter().flatten() {
            if let Some(paths) = change["change"]["replace_paths"].as_array_mut() {
                paths.sort_by_key(ToString::to_string);
            }
        }
        view
    }
}

/// The document among the lines: Terraform puts a warning about the settings before it.
fn document(text: &str) -> Value {
    let line = text.lines().find(|line| line.starts_with('{')).unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// What objects live through.
#[derive(Clone, Copy)]
struct Story<'s> {
    /// Configurations that follow each other in one folder.
    chapters: &'s [&'s str],
    /// Objects that are forgotten at the end and found again, by address, with what finds them; `{name}`
    /// in it stands for an attribute.
    imports: &'s [(&'s str, &'s str)],
}

/// Over each version of the protocol, the story told by each program, and the two states the same.
fn check(story: Story<'_>) {
    if !terraform_is_here() {
        return;
    }
    for protocol in PROTOCOLS {
        let mut found = Vec::new();
        let [theirs, ours] = Engine::BOTH.map(|teller| tell(story, protocol, teller, &mut found));
        for ((theirs, ours), at) in theirs.iter().zip(&ours).zip(1..) {
            differences(&format!("state {at}"), &shape(theirs), &shape(ours), &mut found);
        }
        assert!(found.is_empty(), "protocol {protocol}\n{}", found.join("\n"));
    }
}

/// One program applies every chapter, imports and destroys. Both plan before and after each, agree, and
/// find nothing more to do afterwards. Returns the states.
fn tell(story: Story<'_>, protocol: u8, teller: Engine, found: &mut Vec<String>) -> Vec<Value> {
    let ground = Ground::new("", protocol);
    let mut states = Vec::new();
    for (chapter, at) in story.chapters.iter().zip(1..) {
        ground.write("main.tf", chapter);
        let name = format!("{teller:?}, chapter {at}");
        ground.agree(&format!("{name}, plan"), found);
        ground.succeed(teller, &["apply", "-auto-approve", "-no-color"]);
        ground.agree(&format!("{name}, second plan"), found);
        ground.nothing_more(&name);
        states.push(ground.state());
    }
    if !story.imports.is_empty() {
        let blocks: String =
            story.imports.iter().map(|import| ground.import(teller, *import)).collect();
        ground.write("imports.tf", &blocks);
        ground.agree(&format!("{teller:?}, plan of imports"), found);
        ground.succeed(teller, &["apply", "-auto-approve", "-no-color"]);
        ground.nothing_more(&format!("{teller:?} after the imports"));
        states.push(ground.state());
    }
    ground.succeed(teller, &["destroy", "-auto-approve", "-no-color"]);
    let left = ground.state()["resources"].as_array().map_or(0, Vec::len);
    assert_eq!(left, 0, "{teller:?} leaves something behind");
    states
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
        assert_eq!(theirs["provider_schemas"].as_object().unwrap().len(), PROVIDERS.len());
        differences(&format!("schemas over protocol {protocol}"), &theirs, &ours, &mut found);
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}
