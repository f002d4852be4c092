//! `formwork provider check`: inputs that cannot be checked end with exit code 2 and the next step,
//! and an interrupted run continues where it stopped.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use nix::sys::signal::Signal;

use pgp::composed::ArmorOptions;

use crate::harness::registry::secret_key;
use crate::harness::{Workdir, bad_provider, sound_provider};

/// Writes a program into a directory and returns its path.
fn program(workdir: &Workdir, name: &str, content: &[u8]) -> String {
    let path = workdir.root().join(name);
    fs::write(&path, content).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[test]
fn a_program_that_cannot_be_checked_ends_with_code_2_and_the_next_step() {
    let workdir = Workdir::new("");
    let bad_path = bad_provider().display().to_string();
    let junk = program(&workdir, "junk", b"#!/bin/sh\necho hello; sleep 5\n");
    let foreign =
        program(&workdir, "foreign", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xf3\0");
    let silent = program(&workdir, "silent", b"#!/bin/sh\necho no licence >&2; exit 7\n");
    let directory = workdir.root().display().to_string();
    workdir.write("examples/resources/bad_thing/resource.tf", "resource \"bad_thing\" {");
    workdir.write("config.tf", "region = ");
    let cases: [(&[&str], &str); 12] = [
        (&["/no/such/program"], "No such program"),
        (&[&directory], "Not a program"),
        (&["acme/nothing"], "Provider not installed"),
        (&[&junk], "hello"),
        (&[&foreign], "cannot be started"),
        (&[&silent], "no licence"),
        (&["-only=Q-99", &bad_path], "Unknown rule"),
        (&["-level=7", &bad_path], "No such level"),
        (&["-examples=examples", &bad_path], "resource.tf"),
        (&["-config=config.tf", &bad_path], "config.tf"),
        (&["-release=nowhere", &bad_path], "No such release directory"),
        (&["-release=.", "-release-key=nowhere", &bad_path], "The release key cannot be read"),
    ];
    for (words, says) in cases {
        let check = workdir.formwork("provider check");
        let check = words.iter().fold(check, |check, word| check.arg(word));
        check.run().code(2).says(says);
    }
}

#[test]
fn an_interrupted_check_reports_and_the_same_command_continues() {
    let workdir = Workdir::new("");
    let program = sound_provider().display().to_string();
    let check = || {
        let check = workdir.formwork("provider check -level=0 -resume=checkpoint.json -json");
        check.arg(&program).env("SOUND_OBJECTS", &workdir.root().display().to_string())
    };
    let running = check().start();
    let path = workdir.root().join("checkpoint.json");
    let mut polls = std::iter::repeat_with(|| path.exists()).take(50_000_000);
    assert!(polls.any(|exists| exists), "no step was completed");
    running.signal(Signal::SIGINT);
    running.wait().code(2).says("interrupted");
    let finished_rules = || -> Vec<String> {
        let text = workdir.read("checkpoint.json");
        let file: serde_json::Value = serde_json::from_str(&text).unwrap();
        file["done"].as_array().unwrap().iter().map(ToString::to_string).collect()
    };
    assert!(
        finished_rules().iter().any(|step| step.contains("Handshake")),
        "{:?}",
        finished_rules()
    );
    check().succeed().says("\"stopped\": null");
    assert!(!path.exists(), "a whole run leaves its checkpoint");
}

#[test]
fn a_check_that_runs_out_of_time_is_not_a_success() {
    let workdir = Workdir::new("");
    let check = workdir.formwork("provider check -level=0 -time=1ms -no-color");
    let check = check.arg(&sound_provider().display().to_string());
    check.run().code(2).says("The run ended early: the time of 1ms was over");
}

#[test]
fn a_program_is_started_by_the_name_of_its_link() {
    let workdir = Workdir::new("");
    let script = "#!/bin/sh\necho I am ${0##*/} >&2; exit 7\n";
    let program = program(&workdir, "all-providers", script.as_bytes());
    let link = workdir.root().join("terraform-provider-linked");
    std::os::unix::fs::symlink(program, &link).unwrap();
    let check = workdir.formwork("provider check").arg(&link.display().to_string());
    check.run().code(2).says("I am terraform-provider-linked");
}

#[test]
fn a_release_is_checked_with_the_key_of_its_publisher() {
    let workdir = Workdir::new("");
    let armor = ArmorOptions::default;
    let (own_key, other_key) = (secret_key("own"), secret_key("other"));
    workdir.write("key.asc", &own_key.to_armored_string(armor()).unwrap());
    for (name, key) in [("own.asc", &own_key), ("other.asc", &other_key)] {
        workdir.write(name, &key.to_public_key().to_armored_string(armor()).unwrap());
    }
    workdir.write("terraform-provider-sound", "the program");
    let manifest = "{\"version\": 1, \"metadata\": {\"protocol_versions\": [\"5.0\", \"6.0\"]}}";
    workdir.write("terraform-registry-manifest.json", manifest);
    workdir
        .formwork("provider package -version=1.2.3 -key=key.asc terraform-provider-sound")
        .succeed();
    let program = sound_provider().display().to_string();
    let check = |key: &str| {
        let check = workdir.formwork("provider check -level=0 -only=H-22,K-07 -release=dist -json");
        let check = check.arg(key).arg(&program);
        let run = check.env("SOUND_OBJECTS", &workdir.root().display().to_string()).run();
        let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let rules = report["rules"].as_array().unwrap().clone();
        let verdict = |id: &str| {
            let rule = rules.iter().find(|rule| rule["id"] == id).unwrap();
            rule["verdict"].as_str().unwrap().to_owned()
        };
        (verdict("H-22"), verdict("K-07"), report["findings"].to_string())
    };
    let (names, sums, findings) = check("-release-key=own.asc");
    assert_eq!((names.as_str(), sums.as_str()), ("held", "held"), "{findings}");
    let (names, sums, findings) = check("-release-key=other.asc");
    assert_eq!((names.as_str(), sums.as_str()), ("held", "broken"), "{findings}");
    assert!(findings.contains("the signature of the checksums is not valid"), "{findings}");
    workdir.write("dist/terraform-provider-sound_1.2.3_manifest.json", "{\"version\": 2}");
    let (names, sums, findings) = check("-release-key=own.asc");
    assert_eq!((names.as_str(), sums.as_str()), ("broken", "broken"), "{findings}");
}
