//! Concurrent applies to one state in PostgreSQL: what runs concurrently, what is refused, and what
//! the history has of it. `encrypted.rs` has the same of encrypted states, `linearizable.rs` checks that
//! all of it has one order, `lost_lock.rs` ends the sessions that hold locks.

mod encrypted;
mod linearizable;
mod lost_lock;

use std::collections::BTreeMap;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::harness::{Postgres, Running, Workdir, terraform};

/// A line of the approval prompt, which is printed while the lock is held.
const APPROVAL_PROMPT: &str = "Only 'yes' will be accepted";

/// Ends the sessions of all processes, and waits for it: locks end with their sessions.
const END_OTHER_SESSIONS: &str = "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";

/// Resources by name and input.
fn resources(inputs: &[(&str, u32)]) -> String {
    let block = |(name, input): &(&str, u32)| {
        format!("resource \"terraform_data\" \"{name}\" {{\n  input = {input}\n}}\n")
    };
    inputs.iter().map(block).collect()
}

/// A directory that works with the state, set up.
fn directory(server: &Postgres, blocks: &str) -> Workdir {
    let workdir = Workdir::new(&server.config(blocks));
    workdir.formwork("init").succeed();
    workdir
}

/// Starts an apply, and waits for its approval prompt.
fn start_apply(workdir: &Workdir, options: &str) -> Running {
    let running = workdir.formwork(&format!("apply {options}")).with_open_stdin().start();
    running.wait_for_output(APPROVAL_PROMPT);
    running
}

/// The inputs in the stored state, by name, with the results in journals.
fn stored(workdir: &Workdir) -> BTreeMap<String, u64> {
    inputs_in(&workdir.formwork("state pull").succeed().stdout)
}

/// The inputs in a state, by name.
fn inputs_in(text: &str) -> BTreeMap<String, u64> {
    let state: Value = serde_json::from_str(text).expect("it is a state");
    let resources = state["resources"].as_array().into_iter().flatten();
    let input = |resource: &Value| {
        let attributes = &resource["instances"][0]["attributes"];
        Some((resource["name"].as_str()?.to_owned(), attributes["input"]["value"].as_u64()?))
    };
    resources.filter_map(input).collect()
}

/// The writes of the state, the earliest first.
fn history(workdir: &Workdir) -> Vec<Value> {
    let text = workdir.formwork("state log -json -limit=10000").succeed().stdout;
    text.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
}

fn expected_inputs(inputs: &[(&str, u64)]) -> BTreeMap<String, u64> {
    inputs.iter().map(|(name, input)| ((*name).to_owned(), *input)).collect()
}

#[test]
fn applies_to_disjoint_parts_run_concurrently() {
    let Some(server) = Postgres::start() else { return };
    let first = directory(&server, &resources(&[("a", 1), ("b", 1)]));
    first.formwork("apply -auto-approve").succeed();
    first.write("main.tf", &server.config(&resources(&[("a", 2), ("b", 1)])));
    let second = directory(&server, &resources(&[("a", 1), ("b", 2), ("c", 1)]));
    let mut running = start_apply(&first, "-target=terraform_data.a");
    // Terraform, and commands that change only the state, wait for all applies.
    if terraform().is_some() {
        let refused = second.terraform("plan").run();
        refused.code(1).says("Error acquiring the state lock");
    }
    second.formwork("state rm terraform_data.b").run().code(1).says("state lock");
    second.formwork("plan -detailed-exitcode").run().code(2);
    let options = "-target=terraform_data.b -target=terraform_data.c";
    second.formwork(&format!("apply -auto-approve {options}")).succeed().says("1 added");
    running.answer("yes\n");
    running.wait().code(0).says("1 changed");
    assert_eq!(stored(&first), expected_inputs(&[("a", 2), ("b", 2), ("c", 1)]));
    if terraform().is_some() {
        let third = Workdir::new(&server.config(&resources(&[("a", 2), ("b", 2), ("c", 1)])));
        third.terraform("init").succeed();
        third.terraform("plan -detailed-exitcode").run().code(0).says("No changes");
    }
}

#[test]
fn plans_take_no_lock() {
    let Some(server) = Postgres::start() else { return };
    if terraform().is_none() {
        return;
    }
    let blocks = resources(&[("a", 1)]);
    let (first, second) = (directory(&server, &blocks), directory(&server, &blocks));
    first.formwork("apply -auto-approve").succeed();
    let mut running = first.terraform("apply -replace=terraform_data.a").with_open_stdin().start();
    running.wait_for_output(APPROVAL_PROMPT);
    second.formwork("plan -detailed-exitcode").run().code(0).says("No changes");
    second.formwork("apply -auto-approve").run().code(1).says("Error acquiring the state lock");
    running.answer("yes\n");
    running.wait().code(0);
    second.formwork("plan -detailed-exitcode").run().code(0).says("No changes");
}

#[test]
fn parts_that_another_run_changes_are_refused() {
    let Some(server) = Postgres::start() else { return };
    let blocks = "resource \"terraform_data\" \"a\" {\n  input = 1\n}\nresource \"terraform_data\" \"b\" {\n  input = terraform_data.a.output\n}\noutput \"o\" {\n  value = terraform_data.b.output\n}\n";
    let [first, second] = [0; 2].map(|_| directory(&server, blocks));
    first.formwork("apply -auto-approve").succeed();
    // Changed by another run since the plan was made: the object itself, and one that it depends on.
    for changed in ["a", "b"] {
        let mut running = start_apply(&first, "-replace=terraform_data.b");
        let replace = format!("apply -auto-approve -replace=terraform_data.{changed}");
        second.formwork(&replace).succeed();
        running.answer("yes\nno\n");
        let refused = running.wait();
        refused.code(1).says("State has changed since the plan was made");
        refused
            .says(&format!("terraform_data.{changed}: by "))
            .says(", serial ")
            .says("Nothing was changed");
    }
    first.formwork("apply -auto-approve -replace=terraform_data.b").succeed();
    first.formwork("plan -detailed-exitcode").run().code(0);
}

#[test]
fn a_new_plan_is_offered_if_another_run_has_changed_the_state() {
    let Some(server) = Postgres::start() else { return };
    let [first, second] = [0; 2].map(|_| directory(&server, &resources(&[("a", 1)])));
    first.formwork("apply -auto-approve").succeed();
    first.write("main.tf", &server.config(&resources(&[("a", 2)])));
    let mut running = start_apply(&first, "");
    second.formwork("apply -auto-approve -replace=terraform_data.a").succeed();
    running.answer("yes\nyes\nyes\n");
    let applied = running.wait();
    applied.code(0).says("Do you want to plan again?").says("terraform_data.a: by ");
    applied.says("0 added, 1 changed, 0 destroyed");
    assert_eq!(stored(&first), expected_inputs(&[("a", 2)]));
    second.write("main.tf", &server.config(&resources(&[("a", 2)])));
    second.formwork("plan -detailed-exitcode").run().code(0).says("No changes");
}

#[test]
fn a_saved_plan_is_applied_unless_another_run_has_changed_its_parts() {
    let Some(server) = Postgres::start() else { return };
    let blocks = "resource \"terraform_data\" \"a\" {\n  input = 1\n}\nresource \"terraform_data\" \"b\" {\n  input = terraform_data.a.output\n}\nresource \"terraform_data\" \"c\" {\n  input = 1\n}\noutput \"o\" {\n  value = terraform_data.c.id\n}\n";
    let [first, second] = [0; 2].map(|_| directory(&server, blocks));
    first.formwork("apply -auto-approve").succeed();
    let plan = "plan -out=saved -replace=terraform_data.b";
    first.formwork(plan).succeed();
    second.formwork("apply -auto-approve -replace=terraform_data.c").succeed();
    first.formwork("apply saved").succeed().says("1 added, 0 changed, 1 destroyed");
    // The object of the other run is still there, and the output has its value.
    second.formwork("plan -detailed-exitcode").run().code(0).says("No changes");
    first.formwork("apply saved").run().code(1).says("State has changed since the plan was made");
    for changed in ["a", "b"] {
        first.formwork(plan).succeed();
        second
            .formwork(&format!("apply -auto-approve -replace=terraform_data.{changed}"))
            .succeed();
        let refused = first.formwork("apply saved").run();
        refused.code(1).says("State has changed since the plan was made");
        refused
            .says(&format!("terraform_data.{changed}: by "))
            .says(", serial ")
            .says("A saved plan has to be created again");
    }
    first.formwork("plan -detailed-exitcode").run().code(0).says("No changes");
}

#[test]
fn a_run_that_is_killed_keeps_its_claims_until_another_one_takes_it_over() {
    let Some(server) = Postgres::start() else { return };
    let slow = "resource \"terraform_data\" \"a\" {\n  input = 1\n  provisioner \"local-exec\" {\n    command = \"echo begun; read line < pipe\"\n  }\n}\n";
    let first = directory(&server, slow);
    first.formwork("state pull").succeed();
    // A state exists, so that applies run concurrently.
    first.write("main.tf", &server.config(&resources(&[("z", 1)])));
    first.formwork("apply -auto-approve").succeed();
    first.write("main.tf", &server.config(&(resources(&[("z", 1)]) + slow)));
    let pipe = first.root().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    let running = first.formwork("apply -auto-approve").start();
    running.wait_for_output("begun");
    let second = directory(&server, &resources(&[("z", 1), ("a", 5)]));
    let refused = second.formwork("apply -auto-approve").run();
    refused.code(1).says("Another run is changing the same objects").says("terraform_data.a: by ");
    // Another part is applied in the meantime.
    second
        .formwork("apply -auto-approve -replace=terraform_data.z -target=terraform_data.z")
        .succeed();
    running.signal(Signal::SIGKILL);
    drop(running.wait());
    drop(first);
    // The object of the lost machine is tainted, so it is replaced.
    let taken = (0..50).map(|_| second.formwork("apply -auto-approve").run());
    let taken = taken.into_iter().find(|result| result.code == Some(0)).expect("it is taken over");
    taken.says("An interrupted run was taken over");
    assert_eq!(stored(&second), expected_inputs(&[("a", 5), ("z", 1)]));
    second.formwork("plan -detailed-exitcode").run().code(0).says_not("interrupted");
}

#[test]
fn the_history_contains_each_write_and_each_object() {
    let Some(server) = Postgres::start() else { return };
    let workdir = directory(&server, &resources(&[("a", 1), ("b", 1)]));
    workdir.formwork("apply -auto-approve").succeed();
    let created = history(&workdir).last().expect("it was written")["serial"].clone();
    workdir.write("main.tf", &server.config(&resources(&[("a", 2)])));
    workdir.formwork("apply -auto-approve").succeed();
    let writes = history(&workdir);
    let last = writes.last().expect("it was written");
    let change = |address: &str, action: &str| serde_json::json!({ "address": address, "deposed": "", "action": action });
    let changes = [change("terraform_data.a", "change"), change("terraform_data.b", "remove")];
    assert_eq!(last["changes"], Value::from(changes.to_vec()));
    assert_eq!(last["operation"], "apply");
    let log = workdir.formwork("state log").succeed();
    log.says("(apply, run ").says("~ terraform_data.a").says("- terraform_data.b");
    let show_at = |point: &str, name: &str| {
        workdir.formwork(&format!("state show -at={point} terraform_data.{name}")).run()
    };
    show_at(&created.to_string(), "a").code(0).says("= 1");
    show_at(&created.to_string(), "b").code(0).says("= 1");
    show_at("999999", "a").code(1).says("The latest write of the state has the serial");
    show_at(&last["serial"].to_string(), "b").code(1).says("does not contain terraform_data.b");
    show_at(last["at"].as_str().expect("a time"), "a").code(0).says("= 2");
    show_at("2020-01-01T00:00:00Z", "a").code(1).says("starts after");
    show_at("yesterday", "a").code(1).says("Invalid -at");
    let outputs = "output \"o\" {\n  value = \"shown\"\n}\noutput \"s\" {\n  value     = \"hidden\"\n  sensitive = true\n}\n";
    workdir.write("main.tf", &server.config(&(resources(&[("a", 2)]) + outputs)));
    workdir.formwork("apply -auto-approve").succeed();
    workdir.formwork("state log -limit=1").succeed().says("+ output.o");
    workdir.formwork("state show -at=999 output.o").run().code(1).says("The latest write");
    let now = history(&workdir).last().expect("it was written")["serial"].clone();
    let output = |name: &str| workdir.formwork(&format!("state show -at={now} output.{name}"));
    output("o").succeed().says("o = \"shown\"");
    output("s").succeed().says("s = <sensitive>").says_not("hidden");
    workdir.write("main.tf", &server.config(&resources(&[("a", 2)])));
    workdir.formwork("apply -auto-approve").succeed();
    // A write of Terraform is seen by the next one.
    if terraform().is_some() {
        workdir.write("main.tf", &server.config(&resources(&[("a", 3)])));
        workdir.terraform("init").succeed();
        workdir.terraform("apply -auto-approve").succeed();
        workdir.write("main.tf", &server.config(&resources(&[("a", 3), ("c", 1)])));
        workdir.formwork("apply -auto-approve").succeed();
        let writes = history(&workdir);
        let [.., other_write, own_write] = &writes[..] else { panic!("{writes:?}") };
        assert_eq!(other_write["who"], "another program");
        assert_eq!(other_write["changes"], Value::from(vec![change("terraform_data.a", "change")]));
        assert_eq!(own_write["changes"], Value::from(vec![change("terraform_data.c", "add")]));
    }
}
