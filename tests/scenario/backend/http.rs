//! States at a URL, with Terraform on the same server.

use nix::sys::signal::Signal;

use super::super::encryption::{SECRET, assert_sealed};
use super::{RESOURCE, shared_scripts};
use crate::harness::proxy::Proxy;
use crate::harness::{HttpState, Workdir, opentofu, terraform};

/// The lock of another process, as Terraform writes it.
const LOCK: &str = r#"{"ID":"0f1e","Operation":"OperationTypeApply","Info":"","Who":"ana@host","Version":"1.11.4","Created":"2026-01-01T00:00:00Z","Path":""}"#;

#[test]
fn either_program_continues_after_the_other_over_http() {
    let server = HttpState::start();
    shared_scripts::alternate_programs(&|resource| server.config(resource));
    assert!(server.with(|server_state| server_state.lock.is_empty()), "a lock was left");
    let workdir = Workdir::new(&server.config(RESOURCE));
    let initialized = workdir.formwork("init").succeed();
    initialized.says("on the same machine.");
    workdir.formwork("apply -auto-approve").succeed().says_not("same machine");
    workdir.formwork("workspace list").run().code(1).says("workspaces not supported");
}

#[test]
fn the_run_of_a_lost_machine_is_taken_over_over_http() {
    let server = HttpState::start_with_journals();
    shared_scripts::a_run_of_a_lost_machine_is_taken_over(&|resource| server.config(resource));
}

#[test]
fn a_run_whose_directory_was_destroyed_is_continued_in_another_one_without_a_lock() {
    let server = HttpState::start_with_journals();
    let locks = ["lock_address", "unlock_address"];
    let config = server.config(shared_scripts::PAUSED_RESOURCE);
    let lines = config.lines().filter(|line| locks.iter().all(|name| !line.contains(name)));
    let config = lines.map(|line| format!("{line}\n")).collect::<String>();
    let new_workdir = {
        let lost_workdir = Workdir::new(&config);
        lost_workdir.formwork("init").succeed().says_not("same machine");
        let running =
            lost_workdir.formwork("apply -auto-approve").env("BAD_HOLD", "after:a").start();
        let (_, paused) = lost_workdir.service.wait_for_pause();
        let new_workdir = Workdir::new(&config);
        new_workdir.formwork("init").succeed();
        let refused = new_workdir.formwork("apply -auto-approve").run();
        refused.code(1).says("lock_address of http").says("Nothing was changed");
        running.signal(Signal::SIGKILL);
        running.wait();
        drop(paused);
        lost_workdir.service.assert_no_provider_runs();
        new_workdir
    };
    // The directory was removed, and the run has written nothing for long enough.
    server.with(|server_state| server_state.added_age = 130);
    new_workdir.formwork("recover list").succeed().says("bad_thing.a was being created");
    new_workdir.formwork("recover forget bad_thing.a").succeed();
    new_workdir.formwork("apply -auto-approve").succeed().says("1 added");
    new_workdir.formwork("plan -detailed-exitcode").run().code(0).says("No changes");
}

#[test]
fn a_command_requests_journals_once_from_a_server_without_them() {
    let server = HttpState::start();
    let workdir = Workdir::new(&server.config(RESOURCE));
    for line in ["init", "init", "plan", "apply -auto-approve", "output", "state list"] {
        let before = server.with(|server_state| server_state.n_list_requests);
        workdir.formwork(line).succeed();
        let n_requests = server.with(|server_state| server_state.n_list_requests) - before;
        assert!(n_requests <= 1, "{line}: {n_requests}");
    }
}

#[test]
fn locks_of_http_exclude_the_other_program() {
    let server = HttpState::start();
    shared_scripts::locks_exclude(&|resource| server.config(resource));
    // Neither program compares the id: the server may.
    shared_scripts::locks_end_by_force(&|resource| server.config(resource), &[]);
}

#[test]
fn a_proxy_forwards_the_requests_of_both_programs() {
    let is_here = |program: &&str| *program == "formwork" || terraform().is_some();
    for program in ["formwork", "terraform"].into_iter().filter(is_here) {
        let server = HttpState::start();
        let (_, server_address) = server.address.split_once("://").expect("a URL");
        let (host, _) = server_address.split_once('/').expect("a path");
        let port = host.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
        let proxy = Proxy::with_routes(vec![("states.invalid:80", port)]);
        let url = format!("http://127.0.0.1:{}", proxy.port);
        let workdir = Workdir::new(&server.config(RESOURCE).replace(host, "states.invalid"));
        for line in ["init", "apply -auto-approve"] {
            workdir.engine(program, line).env("HTTP_PROXY", &url).succeed();
        }
        assert!(proxy.connected() > 0, "{program} has gone around the proxy");
        assert!(server.with(|server_state| !server_state.state.is_empty() && server_state.lock.is_empty()), "{program}");
    }
}

#[test]
fn both_programs_read_outputs_over_http() {
    let server = HttpState::start();
    let address = &server.address;
    shared_scripts::outputs_are_read(
        &|resource| server.config(resource),
        &format!("backend = \"http\"\n  config = {{ address = \"{address}\" }}"),
    );
}

#[test]
fn states_over_http_are_encrypted() {
    let server = HttpState::start();
    shared_scripts::states_are_encrypted(
        &|resource| server.config(resource),
        shared_scripts::encrypting_turns(),
    );
    let stored = server.with(|server_state| server_state.state.clone());
    assert!(stored.starts_with(b"{\"serial\":"), "{}", String::from_utf8_lossy(&stored));
    assert!(stored.ends_with(b"\"encryption_version\":\"v0\"}"), "on one line, as of OpenTofu");
}

#[test]
fn a_lock_on_the_server_stops_a_run_until_it_is_released_by_force() {
    let server = HttpState::start();
    let workdir = Workdir::new(&server.config(RESOURCE));
    workdir.formwork("init").succeed();
    server.with(|server_state| server_state.lock = LOCK.into());
    let refused = workdir.formwork("apply -auto-approve").run();
    refused.code(1).says("ana@host").says("force-unlock 0f1e");
    workdir.formwork("force-unlock -force 0f1e").succeed().says("successfully unlocked");
    workdir.formwork("apply -auto-approve").succeed().says("1 added");
    assert!(server.with(|server_state| server_state.lock.is_empty()), "a lock was left");
}

#[test]
fn nothing_is_lost_when_the_server_refuses_the_state() {
    let server = HttpState::start();
    let workdir = Workdir::new(&server.config(RESOURCE));
    workdir.formwork("init").succeed();
    workdir.formwork("apply -auto-approve").succeed().says("1 added");
    workdir.write("main.tf", &server.config(&RESOURCE.replace("\"a\"", "\"b\"")));
    server.with(|server_state| server_state.failure = Some("500 Internal Server Error"));
    let failed = workdir.formwork("apply -auto-approve").run();
    failed.code(1).says("Failed to save the state").says("500 Internal Server Error");
    assert!(workdir.read("errored.tfstate").contains("\"name\": \"b\""));
    assert!(server.with(|server_state| server_state.lock.is_empty()), "a lock was left");
    server.with(|server_state| server_state.failure = None);
    // The journal contains the results that the server did not accept.
    workdir.formwork("apply -auto-approve").succeed().says("An interrupted run was taken over");
    workdir.formwork("plan -detailed-exitcode").run().code(0).says("No changes");
}

#[test]
fn an_empty_state_is_pulled_as_terraform_prints_it_and_can_be_pushed() {
    let server = HttpState::start();
    let workdir = Workdir::new(&server.config(RESOURCE));
    workdir.formwork("init").succeed();
    let pulled = workdir.formwork("state pull").succeed().stdout;
    assert!(pulled.contains("\"lineage\": \"\""), "{pulled}");
    if terraform().is_some() {
        assert_eq!(workdir.terraform("state pull").succeed().stdout, pulled);
    }
    workdir.write("pulled.json", &pulled);
    workdir.formwork("state push pulled.json").succeed();
    workdir.formwork("apply -auto-approve").succeed();
}

#[test]
fn a_state_that_the_server_refuses_stays_encrypted_on_this_machine() {
    let server = HttpState::start();
    let secret = RESOURCE.replace('1', &format!("\"{SECRET}\""));
    let config =
        |resource: &str| server.config(&format!("{}{resource}", shared_scripts::ENCRYPTION));
    let workdir = Workdir::new(&config(&RESOURCE.replace("\"a\"", "\"b\"")));
    workdir.formwork("init").succeed();
    workdir.formwork("apply -auto-approve").succeed().says("1 added");
    // The secret may be in the configuration, but nowhere else.
    let apply = || {
        workdir.write("main.tf", &config(&secret));
        let result = workdir.formwork("apply -auto-approve").run();
        workdir.write("main.tf", &config(""));
        result
    };
    server.with(|server_state| server_state.failure = Some("500 Internal Server Error"));
    apply().code(1).says("Failed to save the state").says("500 Internal Server Error");
    let errored = workdir.read("errored.tfstate");
    assert!(errored.contains("\"encryption_version\": \"v0\""), "{errored}");
    assert_sealed(&workdir);
    let local = Workdir::new(shared_scripts::ENCRYPTION);
    local.write("terraform.tfstate", &errored);
    let programs = if opentofu().is_some() { &["formwork", "tofu"][..] } else { &["formwork"] };
    for program in programs {
        local.engine(program, "state list").succeed().says("terraform_data.a");
    }
    server.with(|server_state| server_state.failure = None);
    apply().code(0).says("An interrupted run was taken over").says("0 added");
    assert_sealed(&workdir);
}

#[test]
fn a_state_moves_between_backends_and_back() {
    let server = HttpState::start();
    let local = format!("terraform {{\n  backend \"local\" {{}}\n}}\n{RESOURCE}");
    let workdir = Workdir::new(&local);
    workdir.formwork("init").succeed();
    workdir.formwork("apply -auto-approve").succeed().says("1 added");
    workdir.write("main.tf", &server.config(RESOURCE));
    workdir.formwork("plan").run().code(1).says("Backend type changed from \"local\" to \"http\"");
    workdir.formwork("init -migrate-state -force-copy").succeed();
    workdir.formwork("plan -detailed-exitcode").run().code(0).says("No changes");
    assert!(server.with(|server_state| !server_state.state.is_empty()), "the server has no state");
}

#[test]
fn state_commands_move_objects_from_a_server_into_a_file_and_edit_the_file() {
    if terraform().is_none() {
        return;
    }
    for program in ["terraform", "formwork"] {
        let server = HttpState::start();
        let workdir = Workdir::new(&server.config(RESOURCE));
        let run = |line: &str| workdir.engine(program, line).run();
        run("init").code(0);
        run("apply -auto-approve").code(0);
        for option in ["-backup=x", "-backup-out=x", "-backup=x -state-out=o.tfstate"] {
            let refused = run(&format!("state mv {option} terraform_data.a terraform_data.b"));
            refused.code(1).says("Invalid command line options: -backup");
        }
        run("state mv -state-out=o.tfstate terraform_data.a terraform_data.b").code(0);
        run("state pull").code(0).says_not("\"name\"");
        run("state mv -state=o.tfstate terraform_data.b terraform_data.c").code(0);
        assert!(workdir.read("o.tfstate").contains("\"name\": \"c\""), "{program}");
        let source = "terraform.io/builtin/terraform";
        let other = "example.com/a/terraform";
        run(&format!("state replace-provider -state=o.tfstate -auto-approve {source} {other}"))
            .code(0);
        assert!(workdir.read("o.tfstate").contains(other), "{program}");
        run("state rm -state=o.tfstate terraform_data.c").code(0);
        assert!(!workdir.read("o.tfstate").contains("\"name\""), "{program}");
        run("state rm -state=none.tfstate terraform_data.c").code(1).says("No state file");
    }
}

#[test]
fn a_pushed_state_has_the_serial_that_terraform_gives_it() {
    if terraform().is_none() {
        return;
    }
    let stored = r#"{"version":4,"terraform_version":"1.11.4","serial":7,"lineage":"l","outputs":{},"resources":[{"mode":"managed","type":"terraform_data","name":"a","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[{"schema_version":0,"attributes":{"id":"i","input":null,"output":null,"triggers_replace":null}}]}]}"#;
    let with = |from: &str, to: &str| stored.replace(from, to);
    let output = "\"outputs\":{\"o\":{\"value\":1,\"type\":\"number\"}}";
    let pushed = [
        (stored.to_owned(), 7),
        (with("\"serial\":7", "\"serial\":0"), 1),
        (with("\"serial\":7", "\"serial\":50"), 51),
        (with("\"lineage\":\"l\"", "\"lineage\":\"m\""), 8),
        (with("\"outputs\":{}", output), 8),
    ];
    for program in ["terraform", "formwork"] {
        let server = HttpState::start();
        let workdir = Workdir::new(&server.config(""));
        workdir.engine(program, "init").succeed();
        for (text, serial) in &pushed {
            server.with(|server_state| server_state.state = stored.into());
            workdir.write("pushed", text);
            workdir.engine(program, "state push -force pushed").succeed();
            let stored_text = server
                .with(|server_state| String::from_utf8_lossy(&server_state.state).into_owned());
            let stored_text: serde_json::Value =
                serde_json::from_str(&stored_text).expect("a state");
            assert_eq!(stored_text["serial"], *serial, "{program}: {text}");
        }
    }
}

#[test]
fn force_unlock_without_approval_ends_with_an_error_code() {
    for program in ["terraform", "formwork"] {
        if program == "terraform" && terraform().is_none() {
            continue;
        }
        let server = HttpState::start();
        let workdir = Workdir::new(&server.config(RESOURCE));
        workdir.engine(program, "init").succeed();
        server.with(|server_state| server_state.lock = LOCK.into());
        let mut running = workdir.engine(program, "force-unlock 0f1e").with_open_stdin().start();
        running.wait_for_output("Only 'yes' will be accepted");
        running.answer("no\n");
        running.wait().code(1).says("force-unlock cancelled");
        assert!(server.with(|server_state| !server_state.lock.is_empty()), "{program}");
        workdir.engine(program, "init -reconfigure -force-copy").succeed();
    }
}
