//! States in objects of Google Cloud Storage, with Terraform on the same server: fake-gcs-server.

use super::{RESOURCE, shared_scripts};
use crate::harness::Workdir;
use crate::harness::gcs::Gcs;

/// The arguments of a state below a prefix.
fn arguments(server: &Gcs, prefix: &str, extra_arguments: &str) -> String {
    let url = &server.url;
    format!(
        "    bucket = \"states\"\n    prefix = \"{prefix}\"\n    access_token = \"token\"\n    storage_custom_endpoint = \"{url}/storage/v1/b\"\n    {extra_arguments}\n"
    )
}

fn config(arguments: &str, resource: &str) -> String {
    format!("terraform {{\n  backend \"gcs\" {{\n{arguments}  }}\n}}\n{resource}")
}

#[test]
fn either_program_continues_after_the_other_over_gcs() {
    let Some(server) = Gcs::start("states") else { return };
    let key = "encryption_key = \"MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\"";
    for (prefix, extra_arguments) in
        [("a b/\u{e4}+(1)/", ""), ("", ""), ("/key", key), ("x//./y/../z", "")]
    {
        let arguments = arguments(&server, prefix, extra_arguments);
        shared_scripts::alternate_programs(&|resource| config(&arguments, resource));
    }
    let arguments = arguments(&server, "over", "");
    shared_scripts::nothing_is_overwritten(&|resource| config(&arguments, resource));
}

#[test]
fn locks_of_gcs_exclude_the_other_program() {
    let Some(server) = Gcs::start("states") else { return };
    let arguments = arguments(&server, "locks", "");
    shared_scripts::locks_exclude(&|resource| config(&arguments, resource));
    shared_scripts::locks_end_by_force(
        &|resource| config(&arguments, resource),
        &["terraform", "formwork"],
    );
}

#[test]
fn workspaces_and_outputs_of_gcs_are_seen_by_both_programs() {
    let Some(server) = Gcs::start("states") else { return };
    for prefix in ["", "ws"] {
        let arguments = arguments(&server, prefix, "");
        shared_scripts::workspaces_are_shared(&|resource| config(&arguments, resource));
    }
    let arguments = arguments(&server, "out", "");
    shared_scripts::outputs_are_read(
        &|resource| config(&arguments, resource),
        &format!("backend = \"gcs\"\n  config = {{\n{arguments}  }}"),
    );
}

#[test]
fn states_over_gcs_are_encrypted() {
    let Some(server) = Gcs::start("states") else { return };
    let arguments = arguments(&server, "encrypted", "");
    shared_scripts::states_are_encrypted(
        &|resource| config(&arguments, resource),
        shared_scripts::encrypting_turns(),
    );
    shared_scripts::new_workspaces_are_encrypted(
        &|resource| config(&arguments, resource),
        shared_scripts::encrypting_turns(),
    );
}

#[test]
fn the_run_of_a_lost_machine_is_taken_over_over_gcs() {
    let Some(server) = Gcs::start("states") else { return };
    let arguments = arguments(&server, "lost", "");
    shared_scripts::a_run_of_a_lost_machine_is_taken_over(&|resource| config(&arguments, resource));
}

#[test]
fn a_bucket_that_does_not_exist_is_named() {
    let Some(server) = Gcs::start("states") else { return };
    let arguments = arguments(&server, "", "").replace("\"states\"", "\"elsewhere\"");
    let refused = Workdir::new(&config(&arguments, RESOURCE)).formwork("init").run();
    refused.code(1).says("of the bucket \"elsewhere\"").says("check bucket");
}
