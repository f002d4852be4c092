//! Installs the libraries and builds the programs, once. A machine without a network cannot: then it
//! says so, and only a machine of the project's checks takes that for a failure.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

use crate::harness::bad_provider;

/// Packages installed for Python. The second brings the compiler that the Rust library builds with.
const PACKAGES: [&str; 2] = ["tf==1.2.0", "grpcio-tools==1.71.2"];

/// The provider in Python, if this machine can have it.
pub(super) fn python_provider() -> Option<PathBuf> {
    let python = python()?;
    let source = sources().join("python/provider.py");
    let line = format!("exec \"{}\" \"{}\" \"$@\"", python.display(), source.display());
    Some(script("terraform-provider-python", &line))
}

/// The provider in Rust, if this machine can have it.
pub(super) fn rust_provider() -> Option<PathBuf> {
    let python = python()?;
    let line = format!("exec \"{}\" -m grpc_tools.protoc \"$@\"", python.display());
    let protoc = script("protoc", &line);
    let cargo = |line: &str| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(line.split(' ')).current_dir(sources().join("rust")).env("PROTOC", &protoc);
        cargo.env("CARGO_TARGET_DIR", directory().join("crate")).env("CARGO_INCREMENTAL", "0");
        cargo
    };
    if let Err(reason) = run(&mut cargo("fetch --quiet --locked")) {
        return missing("the crate tf-provider", &reason);
    }
    // From here on nothing depends on the network: any failure is a fault.
    run(&mut cargo("build --quiet --locked --offline")).expect("the provider can be built");
    Some(directory().join("crate/debug/terraform-provider-crate"))
}

/// The directory of the providers in Go, if this machine can build them: one program under several names.
pub(super) fn go_providers(names: &[&str]) -> Option<PathBuf> {
    static DIRECTORY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let build = || {
        let (home, program) = (directory().join("go"), "terraform-provider-foreign");
        let go_command = |line: &str| {
            let mut go_command = Command::new("go");
            go_command.args(line.split(' ')).current_dir(sources().join("go"));
            go_command.env("GOFLAGS", "-mod=readonly -buildvcs=false").env("GOWORK", "off");
            go_command
        };
        if let Err(reason) = run(&mut go_command("mod download")) {
            report_not_tested("the Go modules of tests/foreign/go", &reason);
            return None;
        }
        fs::create_dir_all(&home).expect("a directory");
        let mut build = go_command("build -trimpath -ldflags=-s -o");
        // From here on nothing depends on the network: any failure is a fault.
        run(build.arg(home.join(program)).arg(".")).expect("the providers can be built");
        for name in names {
            let link = home.join(format!("terraform-provider-{name}"));
            if fs::read_link(&link).is_err() {
                std::os::unix::fs::symlink(program, link).expect("a link");
            }
        }
        Some(home)
    };
    DIRECTORY.get_or_init(build).clone()
}

/// The Python that has the packages.
fn python() -> Option<PathBuf> {
    static PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();
    PYTHON.get_or_init(install).clone()
}

fn install() -> Option<PathBuf> {
    let home = directory().join("python");
    let python = home.join("bin/python");
    let (marker, packages) = (home.join("installed"), PACKAGES.join("\n"));
    if fs::read_to_string(&marker).is_ok_and(|installed| installed == packages) {
        return Some(python);
    }
    fs::create_dir_all(directory()).expect("a directory");
    let created = run(Command::new("python3").args(["-m", "venv"]).arg(&home));
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(PACKAGES);
    if let Err(reason) = created.and_then(|()| run(&mut pip)) {
        return missing("the Python package tf", &reason);
    }
    fs::write(marker, packages).expect("it can be written");
    Some(python)
}

/// Says loudly that a test tests nothing here.
fn missing<T>(tool: &str, reason: &str) -> Option<T> {
    let is_check = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(!is_check, "{tool} cannot be installed:\n{reason}");
    report_not_tested(tool, reason);
    None
}

fn report_not_tested(tool: &str, reason: &str) {
    // Not by `eprintln!`: its output is hidden when the test passes.
    writeln!(std::io::stderr(), "\nNOT TESTED: {tool} cannot be installed here:\n{reason}\n")
        .expect("it can be said");
}

/// Runs a program to its end. If it fails, returns its output as the error.
fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
}

/// Writes a program of one line.
fn script(name: &str, line: &str) -> PathBuf {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().expect("nobody panics with it");
    let (path, text) = (directory().join(name), format!("#!/bin/sh\n{line}\n"));
    // A program that is running cannot be written, and one that is written again is built with again.
    if !fs::read_to_string(&path).is_ok_and(|old| old == text) {
        fs::write(&path, text).expect("it can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("this test owns it");
    }
    path
}

/// Directory of the sources of the providers.
fn sources() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/foreign"))
}

/// Directory in which everything is installed and built: next to cargo's build output.
fn directory() -> PathBuf {
    let built =
        bad_provider().parent().and_then(Path::parent).expect("cargo has a target directory");
    built.join("foreign")
}
