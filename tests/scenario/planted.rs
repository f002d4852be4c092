//! Checkouts, states and outputs that an attacker wrote: links, pipes and endless files below the working
//! directory, and text that steers a terminal.

use std::fs;
use std::os::unix::fs::symlink;

use crate::harness::Workdir;

const CONFIG: &str = r#"
terraform {
  required_providers {
    bad = { source = "formwork/bad" }
  }
}

resource "bad_thing" "a" {
  name = "a"
}
"#;

/// Makes a pipe to which nothing is written.
fn pipe(workdir: &Workdir, name: &str) {
    let path = workdir.root().join(name);
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).expect("a pipe can be made");
}

#[test]
fn nothing_is_written_through_links_in_a_checkout() {
    let workdir = Workdir::new(CONFIG);
    workdir.formwork("init").succeed();
    let (root, victim) = (workdir.root(), workdir.home().join("victim"));
    fs::create_dir_all(&victim).expect("a directory");
    fs::create_dir_all(root.join(".terraform")).expect("a directory");
    let precious = victim.join("precious");
    let plant = |name: &str, target: &std::path::Path| {
        let path = root.join(name);
        let former = root.join(format!("{name}.former"));
        if path.symlink_metadata().is_ok() {
            fs::rename(&path, &former).expect("it can be moved");
        }
        symlink(target, &path).expect("a link can be made");
        (path, former)
    };
    let check = |name: &str, target: &std::path::Path, line: &str, code: i32| {
        fs::write(&precious, "precious").expect("it can be written");
        let (path, former) = plant(name, target);
        workdir.formwork(line).run().code(code);
        assert_eq!(
            fs::read_to_string(&precious).ok().as_deref(),
            Some("precious"),
            "{name}: {line}"
        );
        assert_eq!(fs::read_dir(&victim).expect("a directory").count(), 1, "{name}: {line}");
        fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)).ok();
        if former.exists() {
            fs::rename(former, path).expect("it can be moved back");
        }
    };
    check(".terraform.tfstate.lock.info", &precious, "apply -auto-approve", 0);
    check(".terraform/environment", &precious, "workspace new other", 1);
    check(".terraform/terraform.tfstate", &precious, "init", 1);
    check(".terraform", &victim, "workspace new another", 1);
    check(".terraform/test-states", &victim, "test", 1);
    check(".terraform", &victim, "test", 1);
    // The user may choose a link.
    symlink(&victim, root.join(".terraform-link")).expect("a link can be made");
    let chosen = workdir.formwork("workspace new third").env("TF_DATA_DIR", ".terraform-link");
    chosen.succeed();
    assert_eq!(fs::read_to_string(victim.join("environment")).expect("it exists"), "third");
}

#[test]
fn test_states_are_neither_created_nor_removed_through_links_in_a_checkout() {
    const EMPTY: &str = r#"{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"l","outputs":{},"resources":[]}"#;
    let workdir = Workdir::new(CONFIG);
    workdir.write("a.tftest.hcl", "run \"a\" {}\n");
    let (root, victim) = (workdir.root(), workdir.home().join("victim"));
    let state = victim.join("test-states/p/terraform.tfstate");
    fs::create_dir_all(victim.join("test-states/p")).expect("a directory");
    fs::write(&state, EMPTY).expect("it can be written");
    let n_entries = |name: &str| fs::read_dir(victim.join(name)).expect("a directory").count();
    for (planted, target) in [
        (".terraform", ""),
        (".terraform/test-states", "test-states"),
        (".terraform/test-states/p", "test-states/p"),
        (".terraform/test-states/p/terraform.tfstate", "test-states/p/terraform.tfstate"),
        // Empty, so that no state of an earlier test is found, and none can be created.
        (".terraform/test-states", "empty"),
    ] {
        fs::create_dir_all(victim.join("empty")).expect("a directory");
        let path = root.join(planted);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        symlink(victim.join(target), &path).expect("a link can be made");
        let refused = workdir.formwork("test").run();
        refused.code(1).says(&format!("{planted} is a symbolic link to"));
        assert_eq!(fs::read_to_string(&state).ok().as_deref(), Some(EMPTY), "{planted}");
        let entry_counts = ["", "empty", "test-states", "test-states/p"].map(n_entries);
        assert_eq!(entry_counts, [2, 0, 1, 1], "{planted}");
        assert!(workdir.service.objects().is_empty(), "{planted}");
        fs::remove_file(&path).expect("it exists");
        fs::remove_dir_all(root.join(".terraform")).ok();
    }
    // The user may choose a link.
    symlink(&victim, root.join(".terraform-link")).expect("a link can be made");
    workdir.formwork("test").env("TF_DATA_DIR", ".terraform-link").succeed();
    assert!(!state.exists(), "a state without objects is removed");
}

#[test]
fn a_pipe_or_an_endless_file_is_refused_with_its_name() {
    let workdir = Workdir::new(CONFIG);
    workdir.formwork("init").succeed();
    let root = workdir.root();
    fs::create_dir_all(root.join(".terraform")).expect("a directory");
    for name in [
        "x.tf",
        "terraform.tfvars",
        "x.auto.tfvars",
        ".terraform.lock.hcl",
        ".terraform/environment",
    ] {
        let path = root.join(name);
        let former = fs::read(&path).ok();
        for endless in [false, true] {
            fs::remove_file(&path).ok();
            if endless {
                symlink("/dev/zero", &path).expect("a link can be made");
            } else {
                pipe(&workdir, name);
            }
            let refused = workdir.formwork("plan").run();
            refused.code(1).says(name.trim_start_matches(".terraform/"));
        }
        fs::remove_file(&path).expect("it exists");
        if let Some(former) = former {
            fs::write(&path, former).expect("it can be written");
        }
    }
    // No byte of it is read.
    let state = fs::File::create(root.join("terraform.tfstate")).expect("it can be made");
    state.set_len(3 << 30).expect("a file may have holes");
    for line in ["plan", "show terraform.tfstate", "state list"] {
        workdir.formwork(line).run().code(1).says("it is larger than the limit of 2048 MiB");
    }
}

#[test]
fn a_pipe_or_an_endless_file_that_a_backend_names_is_refused() {
    for (kind, arguments) in [
        ("kubernetes", "secret_suffix = \"x\"\nconfig_path = \"planted\""),
        ("gcs", "bucket = \"b\"\ncredentials = \"planted\""),
        ("s3", "bucket = \"b\"\nkey = \"k\"\nregion = \"r-1\"\ncustom_ca_bundle = \"planted\""),
        (
            "s3",
            "bucket = \"b\"\nkey = \"k\"\nregion = \"r-1\"\nshared_credentials_files = [\"planted\"]",
        ),
        ("consul", "path = \"x\"\nscheme = \"https\"\nca_file = \"planted\""),
    ] {
        let block = format!("terraform {{\n  backend \"{kind}\" {{\n{arguments}\n  }}\n}}\n");
        let workdir = Workdir::new(&block);
        let path = workdir.root().join("planted");
        for endless in [false, true] {
            fs::remove_file(&path).ok();
            if endless {
                symlink("/dev/zero", &path).expect("a link can be made");
            } else {
                pipe(&workdir, "planted");
            }
            let refused = workdir.formwork("init -input=false").start().wait_with_short_timeout();
            refused.code(1);
        }
    }
}

#[test]
fn a_planted_provider_package_is_refused_with_its_name() {
    let workdir = Workdir::new(
        "terraform {\n  required_providers {\n    evil = { source = \"evil.example/evil/evil\" }\n  }\n}\n",
    );
    fs::write(workdir.settings(), "").expect("it can be written");
    let platform = if cfg!(target_arch = "aarch64") { "linux_arm64" } else { "linux_amd64" };
    let name = format!(
        "terraform.d/plugins/evil.example/evil/evil/terraform-provider-evil_1.0.0_{platform}.zip"
    );
    let path = workdir.root().join(&name);
    fs::create_dir_all(path.parent().expect("a directory")).expect("directories");
    for endless in [false, true] {
        fs::remove_file(&path).ok();
        if endless {
            symlink("/dev/zero", &path).expect("a link can be made");
        } else {
            pipe(&workdir, &name);
        }
        let refused = workdir.formwork("init -input=false").start().wait_with_short_timeout();
        refused.code(1).says("not a file");
    }
}

/// A state with one resource and one output.
fn state(resource: &str, output: &str) -> String {
    format!(
        r#"{{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"l","outputs":{{"o":{{"value":"{output}","type":"string"}}}},"resources":[{{"mode":"managed","type":"bad_thing","name":"{resource}","provider":"provider[\"registry.terraform.io/formwork/bad\"]","instances":[]}}]}}"#
    )
}

#[test]
fn names_in_a_state_cannot_forge_output() {
    let workdir = Workdir::new("locals {}\n");
    for name in
        [r"a\u001b[2J\u001b[1;1HNo changes.", r"a\nNo changes.", r"a\rNo changes.", r"a\u202e"]
    {
        workdir.write("terraform.tfstate", &state(name, ""));
        for line in ["plan", "show", "state list", "output", "destroy -auto-approve"] {
            let result = workdir.formwork(line).run();
            result.code(1).says("Invalid name in state");
            let output = result.text();
            let forged = output.lines().any(|line| line.starts_with("No changes"));
            assert!(!forged && !output.contains(['\u{1b}', '\u{202e}']), "{line}: {output}");
        }
    }
}

#[test]
fn directories_cannot_forge_workspaces() {
    let workdir = Workdir::new("locals {}\n");
    let names = ["a\n* forged", "b\u{1b}[2Jc", "c\rd", "e\u{9b}2Kf"];
    for name in names {
        let directory = workdir.root().join("terraform.tfstate.d").join(name);
        fs::create_dir_all(directory).expect("a directory");
    }
    let listed = workdir.formwork("workspace list").succeed();
    let quoted_names = [r#""a\n* forged""#, r#""b\u{1b}[2Jc""#, r#""c\rd""#, r#""e\u{9b}2Kf""#];
    let other_lines: String = quoted_names.map(|name| format!("  {name}\n")).concat();
    assert_eq!(listed.stdout, format!("* default\n{other_lines}\n"));
    for name in names {
        let refused = workdir.formwork("workspace select").arg(name).run();
        let output = refused.code(1).text();
        let forged = output.lines().any(|line| line.trim_start().starts_with("* forged"));
        assert!(!forged && !output.contains(['\u{1b}', '\u{9b}', '\r']), "{output}");
    }
}

#[test]
fn values_are_raw_in_json_and_escaped_on_a_terminal() {
    let workdir = Workdir::new("");
    workdir.write("terraform.tfstate", &state("a", r"\tone\n\u001b[2Jtwo\r\nthr\u00e9e\n"));
    for line in ["output", "output o", "show"] {
        let output = workdir.formwork(line).succeed().text();
        assert!(!output.contains('\u{1b}') && output.contains("\\u001b[2Jtwo"), "{line}: {output}");
        assert!(output.contains("thrée"), "{line}: {output}");
    }
    let raw = workdir.formwork("output -raw o").succeed();
    assert_eq!(raw.stdout, "\tone\n\u{1b}[2Jtwo\r\nthrée\n");
    let json = workdir.formwork("output -json o").succeed();
    assert_eq!(json.stdout, "\"\\tone\\n\\u001b[2Jtwo\\r\\nthrée\\n\"\n");
}
