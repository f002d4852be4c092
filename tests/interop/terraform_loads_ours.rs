//! Terraform with our provider programs: every resource through create, no change, update,
//! replacement, import and destroy, over both versions of the protocol, and Formwork with the same
//! programs agreeing about all of it. `rows` lists the steps.

mod lifecycle_run;
mod row;
mod rows;

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use formwork_plugin_protocol::handshake::{COOKIE_VALUE, COOKIE_VARIABLE};
use serde_json::Value;

use super::compare::{differences, scrub_state, scrub_view};
use super::engine::{Engine, terraform_is_installed};
use crate::harness::built;

/// The providers of this workspace, by the source addresses of those that they replace.
pub(super) const PROVIDERS: [&str; 9] = [
    "cyrilgdn/postgresql",
    "hashicorp/archive",
    "hashicorp/external",
    "hashicorp/http",
    "hashicorp/local",
    "hashicorp/null",
    "hashicorp/random",
    "hashicorp/time",
    "hashicorp/tls",
];

/// The programs of these.
fn programs() -> impl Iterator<Item = String> {
    let names = PROVIDERS.iter().filter_map(|source| source.rsplit('/').next());
    names.map(|name| format!("terraform-provider-{name}"))
}

/// The versions of the protocol, the one that hosts prefer first.
const PROTOCOLS: [u8; 2] = [6, 5];

/// A directory with programs that are ours, but offer one version of the protocol only: the host's own
/// word on what it speaks is overridden.
fn plugins(dir: &Path, protocol: u8) -> PathBuf {
    let directory = dir.join(".plugins");
    if directory.exists() {
        return directory;
    }
    std::fs::create_dir(&directory).unwrap();
    for name in programs() {
        let program = built(&name).display().to_string();
        let script =
            format!("#!/bin/sh\nPLUGIN_PROTOCOL_VERSIONS={protocol} exec \"{program}\" \"$@\"\n");
        let path = directory.join(name);
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    directory
}

/// A directory to run commands in, and the settings under which they find our programs.
struct SessionInputs {
    directory: tempfile::TempDir,
    settings: PathBuf,
}

impl SessionInputs {
    fn new(config: &str, protocol: u8) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("main.tf"), config).unwrap();
        let plugins = plugins(directory.path(), protocol);
        let line = |source| format!("    \"{source}\" = \"{}\"\n", plugins.display());
        let overrides: String = PROVIDERS.iter().map(line).collect();
        let settings = directory.path().join("settings.tfrc");
        let text = format!("provider_installation {{\n  dev_overrides {{\n{overrides}  }}\n}}\n");
        std::fs::write(&settings, text).unwrap();
        Self { directory, settings }
    }

    fn path(&self) -> &Path {
        self.directory.path()
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

    /// Plans into a file of that name; returns the plan without parts that necessarily differ.
    fn plan_view(&self, engine: Engine, file: &str, options: &[&str]) -> Value {
        self.succeed(engine, &[&["plan", "-out", file, "-no-color"], options].concat());
        let mut view = document(&self.succeed(engine, &["show", "-json", file]));
        scrub_view(&mut view);
        forget(&mut view, "relevant_attributes");
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

#[test]
fn included_providers_use_the_requested_protocol_version() {
    let dir = tempfile::tempdir().unwrap();
    for protocol in PROTOCOLS {
        let dir = dir.path().join(protocol.to_string());
        std::fs::create_dir(&dir).unwrap();
        for name in programs() {
            let program = plugins(&dir, protocol).join(&name);
            let mut command = Command::new(program);
            command.env(COOKIE_VARIABLE, COOKIE_VALUE).env("TMPDIR", &dir).current_dir(&dir);
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

/// All schemas, as a program reads them.
fn schemas(engine: Engine, protocol: u8) -> Value {
    let sources = PROVIDERS.iter().chain([&"terraform.io/builtin/terraform"]).map(|source| {
        let name = source.rsplit('/').next().unwrap_or_default();
        format!("    {name} = {{ source = {source:?} }}\n")
    });
    let sources: String = sources.collect();
    let config = format!("terraform {{\n  required_providers {{\n{sources}  }}\n}}\n");
    let directory = SessionInputs::new(&config, protocol);
    document(&directory.succeed(engine, &["providers", "schema", "-json"]))["provider_schemas"]
        .take()
}

#[test]
fn terraform_reads_the_same_schemas_as_formwork() {
    if !terraform_is_installed() {
        return;
    }
    let mut lines = Vec::new();
    for protocol in PROTOCOLS {
        let [theirs, ours] = Engine::BOTH.map(|engine| {
            let mut view = schemas(engine, protocol);
            // Each program describes its built-in provider in its own words.
            view.as_object_mut().unwrap().remove("terraform.io/builtin/terraform");
            view
        });
        assert_eq!(theirs.as_object().unwrap().len(), PROVIDERS.len());
        differences(&format!("schemas over protocol {protocol}"), &theirs, &ours, &mut lines);
    }
    assert!(lines.is_empty(), "\n{}", lines.join("\n"));
}
