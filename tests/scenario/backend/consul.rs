//! States in keys of Consul, with Terraform on the same server, which speaks the documented part of its
//! API.

use super::{RESOURCE, shared_scripts};
use crate::harness::{Consul, Workdir, terraform};

fn config(server: &Consul, path: &str, extra_arguments: &str) -> String {
    let address = &server.address;
    format!(
        "terraform {{\n  backend \"consul\" {{\n    address = \"{address}\"\n    path    = \"{path}\"\n    {extra_arguments}\n  }}\n}}\n"
    )
}

#[test]
fn either_program_continues_after_the_other_over_consul() {
    let server = Consul::start();
    for (path, extra_arguments) in [("tf/plain", ""), ("tf/gzip", "gzip = true")] {
        let config = config(&server, path, extra_arguments);
        shared_scripts::alternate_programs(&|resource| format!("{config}{resource}"));
    }
    let config = config(&server, "tf/over", "");
    shared_scripts::nothing_is_overwritten(&|resource| format!("{config}{resource}"));
}

#[test]
fn locks_of_consul_exclude_the_other_program() {
    let server = Consul::start();
    let config = config(&server, "tf/lock", "");
    shared_scripts::locks_exclude(&|resource| format!("{config}{resource}"));
    assert_eq!(server.keys("tf/lock/"), Vec::<String>::new());
    // Terraform does not compare the id.
    shared_scripts::locks_end_by_force(&|resource| format!("{config}{resource}"), &["formwork"]);
}

#[test]
fn workspaces_and_outputs_of_consul_are_seen_by_both_programs() {
    let server = Consul::start();
    let plain = config(&server, "tf/ws", "");
    shared_scripts::workspaces_are_shared(&|resource| format!("{plain}{resource}"));
    let address = &server.address;
    let plain = config(&server, "tf/out", "");
    shared_scripts::outputs_are_read(
        &|resource| format!("{plain}{resource}"),
        &format!(
            "backend = \"consul\"\n  config = {{\n    address = \"{address}\"\n    path = \"tf/out\"\n  }}"
        ),
    );
}

#[test]
fn states_over_consul_are_encrypted() {
    let server = Consul::start();
    for (path, extra_arguments) in [("tf/plain", ""), ("tf/gzip", "gzip = true")] {
        let config = config(&server, path, extra_arguments);
        shared_scripts::states_are_encrypted(
            &|resource| format!("{config}{resource}"),
            shared_scripts::encrypting_turns(),
        );
        shared_scripts::new_workspaces_are_encrypted(
            &|resource| format!("{config}{resource}"),
            shared_scripts::encrypting_turns(),
        );
    }
}

#[test]
fn the_run_of_a_lost_machine_is_taken_over_over_consul() {
    let server = Consul::start();
    let config = config(&server, "tf/lost", "");
    shared_scripts::a_run_of_a_lost_machine_is_taken_over(&|resource| {
        format!("{config}{resource}")
    });
    // The end of the run stays, for the machine that still has its journal.
    assert_eq!(server.keys("tf/lost/.journal/").len(), 1);
}

#[test]
fn without_a_lock_the_journal_stays_on_the_machine() {
    let server = Consul::start();
    let config = config(&server, "tf/alone", "lock = false");
    let workdir = Workdir::new(&format!("{config}{RESOURCE}"));
    workdir.formwork("init").succeed();
    workdir
        .formwork("apply -auto-approve")
        .succeed()
        .says("with lock = false they cannot determine");
}

#[test]
fn a_large_state_is_in_chunks_that_both_programs_read() {
    if terraform().is_none() {
        return;
    }
    let server = Consul::start();
    let config = config(&server, "tf/large", "");
    let with = |text: &str| {
        format!(
            "{config}resource \"terraform_data\" \"large\" {{\n  input = join(\"\", [for i in range(1000) : \"{text}-${{i}}-{}\"])\n}}\n",
            "x".repeat(600)
        )
    };
    let workdir = Workdir::new(&with("one"));
    workdir.formwork("init").succeed();
    workdir.formwork("apply -auto-approve").succeed();
    let chunks = server.keys("tf/large/tfstate.");
    assert!(chunks.len() > 1, "{chunks:?}");
    workdir.terraform("plan -detailed-exitcode").run().code(0);
    workdir.write("main.tf", &with("two"));
    workdir.terraform("apply -auto-approve").succeed();
    workdir.formwork("plan -detailed-exitcode").run().code(0);
    workdir.write("main.tf", &config);
    workdir.formwork("apply -auto-approve").succeed().says("1 destroyed");
    // Chunks of deleted states are removed.
    assert_eq!(server.keys("tf/large"), ["tf/large"]);
}
