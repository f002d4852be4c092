//! Commands in a hostile checkout: with a provider program, a server, links and special files of its
//! author. `docs/threat-model.md` lists the commands that are safe; the tests read that table.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::harness::Workdir;

const CONFIG: &str = r#"
terraform {
  required_providers {
    evil = { source = "evil.example/evil/evil" }
  }
}
resource "evil_thing" "a" {}
output "o" {
  value = "x"
}
"#;
const STATE: &str = r#"{
  "version": 4, "terraform_version": "1.11.4", "serial": 1,
  "lineage": "6ed3b1c5-6b0e-4c53-8a0e-7f1a3f5d8b11",
  "outputs": {"o": {"value": "x", "type": "string"}},
  "resources": [{
    "mode": "managed", "type": "evil_thing", "name": "a",
    "provider": "provider[\"evil.example/evil/evil\"]",
    "instances": [{"schema_version": 0, "attributes": {"id": "1"}}]
  }],
  "check_results": null
}
"#;

/// A checkout that brings its own provider: a script that leaves a mark when it is started.
fn checkout() -> (Workdir, PathBuf) {
    let workdir = Workdir::new(CONFIG);
    let mark = workdir.home().join("started");
    let platform = if cfg!(target_arch = "aarch64") { "linux_arm64" } else { "linux_amd64" };
    let program = format!(
        "terraform.d/plugins/evil.example/evil/evil/1.0.0/{platform}/terraform-provider-evil_v1.0.0"
    );
    workdir.write(&program, &format!("#!/bin/sh\n: > '{}'\nexit 1\n", mark.display()));
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(workdir.root().join(program), mode).expect("a mode");
    workdir.write("terraform.tfstate", STATE);
    workdir.write("pushed.tfstate", STATE);
    fs::remove_file(workdir.settings()).expect("it exists");
    fs::write(workdir.settings(), "").expect("it can be written");
    (workdir, mark)
}

/// A column of the table, counted from the command.
#[derive(Clone, Copy)]
enum Column {
    Hosts = 3,
    Programs = 4,
    Checkout = 5,
}

/// The commands of the table's rows of which a column begins with these words.
fn listed(column: Column, says: &str) -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/threat-model.md");
    let page = fs::read_to_string(page).expect("the page");
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let rows = rows.filter(|line| {
        let cell = line.split('|').nth(column as usize).map(str::trim).unwrap_or_default();
        cell.strip_prefix(says).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    });
    let cells = rows.filter_map(|line| line.split('|').nth(1));
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

fn line(command: &str) -> String {
    let arguments = match command {
        "state mv" => "evil_thing.a evil_thing.b",
        "state rm" => "evil_thing.b",
        "state replace-provider" => "-auto-approve evil.example/evil/evil evil.example/evil/other",
        "state push" => "-force pushed.tfstate",
        "force-unlock" => "-force 00000000-0000-0000-0000-000000000000",
        "workspace new" | "workspace select" => "other",
        "workspace delete" => "-force other",
        "recover forget" | "recover retry" => "evil_thing.a",
        "taint" | "untaint" => "evil_thing.a",
        "metadata functions" => "-json",
        "provider new" => "thing",
        _ => "",
    };
    format!("{command} {arguments}")
}

#[test]
fn commands_that_the_threat_model_calls_safe_start_no_provider() {
    let (workdir, mark) = checkout();
    workdir.formwork("init").succeed();
    assert!(!mark.exists(), "init starts no provider");
    let safe = listed(Column::Programs, "no");
    assert!(safe.len() > 15, "the table lists {safe:?}");
    for command in safe {
        workdir.formwork(&line(&command)).run();
        assert!(!mark.exists(), "`{command}` started the provider of the checkout");
    }
}

#[test]
fn commands_that_start_providers_start_the_one_of_the_checkout() {
    let not_safe = listed(Column::Programs, "providers");
    assert!(not_safe.contains(&"validate".to_owned()), "the table lists {not_safe:?}");
    let (workdir, mark) = checkout();
    workdir.formwork("init").succeed();
    workdir.formwork("validate").run().code(1);
    assert!(mark.exists(), "the script of this test works");
}

#[test]
fn commands_listed_in_the_threat_model_as_offline_contact_no_host() {
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    server.set_nonblocking(true).expect("a socket can be");
    let url = format!("http://{}", server.local_addr().expect("a port"));
    let (workdir, _) = checkout();
    workdir.write(
        "hosts.tf",
        &format!(
            r#"
terraform {{
  backend "http" {{
    address = "{url}/state"
  }}
}}
module "m" {{
  source = "{url}/m.zip"
}}
"#
        ),
    );
    let record = format!(
        r#"{{"version":3,"terraform_version":"1.11.4","backend":{{"type":"http","config":{{"address":"{url}/state"}},"hash":1}}}}"#
    );
    workdir.write(".terraform/terraform.tfstate", &record);
    let silent = listed(Column::Hosts, "no");
    assert!(silent.len() > 5, "the table lists {silent:?}");
    for command in silent {
        workdir.formwork(&line(&command)).run();
        assert!(server.accept().is_err(), "`{command}` contacted the host of the checkout");
    }
    let get = workdir.formwork("get").start();
    server.set_nonblocking(false).expect("a socket can be");
    drop(server.accept().expect("the address of this test is contacted"));
    drop(server);
    get.wait();
}

/// Files and directories of a checkout that a command reads or writes by default.
const CHECKOUT_PATHS: [&str; 15] = [
    "terraform.tfstate",
    "terraform.tfstate.backup",
    "terraform.tfstate.d",
    ".terraform.tfstate.lock.info",
    ".terraform.tfstate.journal",
    "errored.tfstate",
    ".terraform",
    ".terraform/environment",
    ".terraform/terraform.tfstate",
    ".terraform/modules",
    ".terraform/modules/modules.json",
    ".terraform/test-states",
    ".terraform.lock.hcl",
    "terraform.tfvars",
    "x.tf",
];

#[test]
fn safe_commands_neither_wait_for_special_files_nor_follow_links_out_of_a_checkout() {
    let (workdir, _) = checkout();
    let (root, victim) = (workdir.root(), workdir.home().join("victim"));
    fs::create_dir(&victim).expect("a directory");
    let state = workdir.root().join("terraform.tfstate");
    let safe = listed(Column::Checkout, "safe");
    assert!(safe.len() > 20, "the table lists {safe:?}");
    let kinds = ["pipe", "endless", "directory", "nothing"];
    for (n, checkout_path) in CHECKOUT_PATHS.into_iter().enumerate() {
        // Each command is run with each path, and with each kind of file at some of them.
        for (command, kind) in safe.iter().zip(kinds.into_iter().cycle().skip(n)) {
            fs::write(victim.join("precious"), "precious").expect("it can be written");
            let path = root.join(checkout_path);
            fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
            fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)).ok();
            match kind {
                "pipe" => nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU)
                    .expect("a pipe can be made"),
                "endless" => symlink("/dev/zero", &path).expect("a link"),
                "directory" => symlink(&victim, &path).expect("a link"),
                _ => symlink(victim.join("new"), &path).expect("a link"),
            }
            let result = workdir.formwork(&line(command)).start().wait_with_short_timeout();
            let output = result.text();
            assert!(
                result.code.is_some_and(|code| code < 10),
                "{checkout_path} {kind} {command}: {output}"
            );
            assert!(!output.contains("(os error"), "{checkout_path} {kind} {command}: {output}");
            let names: Vec<_> = victim
                .read_dir()
                .expect("a directory")
                .flatten()
                .map(|entry| entry.file_name())
                .collect();
            let is_state = checkout_path == "terraform.tfstate" && kind == "nothing";
            assert!(
                is_state || names == ["precious"],
                "{checkout_path} {kind} {command}: {names:?}"
            );
            let precious = fs::read_to_string(victim.join("precious"));
            assert_eq!(
                precious.ok().as_deref(),
                Some("precious"),
                "{checkout_path} {kind} {command}"
            );
            fs::remove_dir_all(&victim).expect("it exists");
            fs::create_dir(&victim).expect("a directory");
            fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)).ok();
            fs::remove_dir_all(root.join("terraform-provider-thing")).ok();
            fs::write(&state, STATE).expect("it can be written");
        }
    }
}
