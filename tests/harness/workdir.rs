//! A directory with a configuration, settings, plugins and a fake service.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{self, Child, Stdio};

use formwork_plugin_protocol::handshake::{Address, COOKIE_VALUE, COOKIE_VARIABLE, Protocol};
use formwork_plugin_protocol::reattach::{self, Reattach};
use tempfile::TempDir;

use super::{Command, FakeService, bad_provider, built, opentofu, terraform};

/// A directory to run commands in. Nothing outside it is read but the programs, or written at all.
pub(crate) struct Workdir {
    directory: TempDir,
    pub(crate) service: FakeService,
    /// Variables of all commands, besides the usual ones.
    pub(super) variables: Vec<(String, String)>,
}

impl Workdir {
    /// Makes a directory with these files: each begins with a line `//- name`. The text before the
    /// first such line is `main.tf`. A file `environment` has a variable of all commands on each line.
    pub(crate) fn new(files: &str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let mut workdir = Self { directory, service: FakeService::new(), variables: Vec::new() };
        for part in ["home", "work", "plugins"] {
            fs::create_dir(workdir.directory.path().join(part)).expect("a directory");
        }
        let mut name = "main.tf";
        let mut text = String::new();
        for line in files.lines() {
            if let Some(next) = line.trim_start().strip_prefix("//- ") {
                workdir.write_if_any(name, &text);
                (name, text) = (next.trim(), String::new());
            } else {
                text.push_str(line);
                text.push('\n');
            }
        }
        workdir.write_if_any(name, &text);
        let pairs = workdir.read("environment");
        let pairs = pairs.lines().filter_map(|line| line.split_once('='));
        workdir.variables =
            pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        workdir.link_plugin(bad_provider());
        workdir.write_settings();
        workdir
    }

    /// Directory in which commands run.
    pub(crate) fn root(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    /// Directory in which commands look for the providers under test.
    pub(crate) fn plugins(&self) -> PathBuf {
        self.directory.path().join("plugins")
    }

    /// The directory that serves as home.
    pub(crate) fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    /// The settings file.
    pub(crate) fn settings(&self) -> PathBuf {
        self.home().join("settings.rc")
    }

    /// Writes a file of the directory.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().expect("a name in a directory")).expect("directories");
        fs::write(path, text).expect("it can be written");
    }

    /// Reads a file of the directory; empty if there is none.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root().join(name)).unwrap_or_default()
    }

    /// Says whether the directory has a file.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.root().join(name).exists()
    }

    /// Makes a program one of the providers under development.
    pub(crate) fn link_plugin(&self, program: &Path) {
        let name = program.file_name().expect("a program has a name");
        std::os::unix::fs::symlink(program, self.plugins().join(name)).expect("a link");
    }

    /// Starts the bad provider in debug mode, and returns the address on which it listens.
    pub(crate) fn attachable(&self) -> (Child, String) {
        let mut provider = process::Command::new(bad_provider());
        provider
            .env_clear()
            .env("BAD_OBJECTS", self.service.path())
            .env("PLUGIN_UNIX_SOCKET_DIR", self.home())
            .env("PLUGIN_PROTOCOL_VERSIONS", "6")
            .env(COOKIE_VARIABLE, COOKIE_VALUE)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut provider = provider.spawn().expect("it can be started");
        let mut handshake = String::new();
        let stdout = provider.stdout.as_mut().expect("a pipe");
        BufReader::new(stdout).read_line(&mut handshake).expect("a handshake");
        let socket = handshake.split('|').nth(3).expect("an address").to_owned();
        (provider, socket)
    }

    /// Starts the bad provider in debug mode. Also returns the value of `TF_REATTACH_PROVIDERS` that
    /// refers to it by the given addresses.
    pub(crate) fn reattachable(&self, addresses: &[&str]) -> (Child, String) {
        let (provider, socket) = self.attachable();
        let address = Address::from_parts("unix", &socket).expect("a socket");
        let reattach = Reattach { protocol: Protocol::V6, address, pid: provider.id() };
        let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        (provider, reattach::format_reattach_variable(&addresses, &reattach))
    }

    /// A Formwork command, to be run in the directory.
    pub(crate) fn formwork(&self, line: &str) -> Command<'_> {
        Command::new(self, &built("formwork"), line)
    }

    /// A Terraform command, to be run in the directory. It must be on this machine.
    pub(crate) fn terraform(&self, line: &str) -> Command<'_> {
        let program = terraform().expect("terraform is on this machine");
        Command::new(self, &program, line)
    }

    /// A command of a program, to be run in the directory. It must be on this machine.
    pub(crate) fn engine(&self, name: &str, line: &str) -> Command<'_> {
        match name {
            "terraform" => self.terraform(line),
            "tofu" => Command::new(self, &opentofu().expect("tofu is on this machine"), line),
            _ => self.formwork(line),
        }
    }

    fn write_if_any(&self, name: &str, text: &str) {
        if !text.trim().is_empty() {
            self.write(name, text);
        }
    }

    fn write_settings(&self) {
        let plugins = self.plugins();
        let lines: String = [
            "formwork/answers",
            "formwork/bad",
            "formwork/test",
            "foreign/crate",
            "foreign/python",
        ]
        .iter()
        .map(|provider| format!("    \"{provider}\" = \"{}\"\n", plugins.display()))
        .collect();
        let text = format!(
            "provider_installation {{\n  dev_overrides {{\n{lines}  }}\n  direct {{}}\n}}\n"
        );
        fs::write(self.settings(), text).expect("it can be written");
    }
}
