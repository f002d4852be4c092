//! States in secrets of Kubernetes, with Terraform on the same server, which speaks the documented part
//! of its API.

use super::{RESOURCE, shared_scripts};
use crate::harness::Workdir;
use crate::harness::kubernetes::{Kubernetes, TOKEN};
use crate::harness::terraform;

/// The configuration of a directory, with the file that describes the cluster.
fn config(server: &Kubernetes, arguments: &str, resource: &str) -> String {
    let kubeconfig = server.kubeconfig(&format!("token: {TOKEN}"));
    format!(
        "terraform {{\n  backend \"kubernetes\" {{\n    config_path = \"kube.yaml\"\n    {arguments}\n  }}\n}}\n{resource}//- kube.yaml\n{kubeconfig}"
    )
}

fn config_of_suffix(suffix: &str) -> String {
    // Credentials of files are not sent without TLS.
    format!("secret_suffix = \"{suffix}\"\n    config_context = \"here\"\n    token = \"{TOKEN}\"")
}

#[test]
fn either_program_continues_after_the_other_over_kubernetes() {
    let server = Kubernetes::start();
    let team = format!(
        "{}\n    namespace = \"team\"\n    labels = {{ a = \"b\" }}",
        config_of_suffix("app")
    );
    for arguments in [config_of_suffix("app"), team] {
        shared_scripts::alternate_programs(&|resource| config(&server, &arguments, resource));
    }
    assert_eq!(server.names("team", "secrets"), ["tfstate-default-app"]);
    shared_scripts::nothing_is_overwritten(&|resource| {
        config(&server, &config_of_suffix("over"), resource)
    });
}

#[test]
fn states_over_kubernetes_are_encrypted() {
    // OpenTofu creates the first state with requests that this server does not support.
    let turns = [("formwork", "formwork")];
    let server = Kubernetes::start();
    shared_scripts::states_are_encrypted(
        &|resource| config(&server, &config_of_suffix("sealed"), resource),
        &turns,
    );
    shared_scripts::new_workspaces_are_encrypted(
        &|resource| config(&server, &config_of_suffix("sealed"), resource),
        &turns,
    );
}

#[test]
fn leases_of_kubernetes_exclude_the_other_program() {
    let server = Kubernetes::start();
    shared_scripts::locks_exclude(&|resource| {
        config(&server, &config_of_suffix("locked"), resource)
    });
    shared_scripts::locks_end_by_force(
        &|resource| config(&server, &config_of_suffix("forced"), resource),
        &["terraform", "formwork"],
    );
    assert_eq!(
        server.names("default", "leases"),
        ["lock-tfstate-default-forced", "lock-tfstate-default-locked"]
    );
}

#[test]
fn workspaces_and_outputs_of_kubernetes_are_seen_by_both_programs() {
    let server = Kubernetes::start();
    shared_scripts::workspaces_are_shared(&|resource| {
        config(&server, &config_of_suffix("ws"), resource)
    });
    assert_eq!(server.names("default", "secrets"), ["tfstate-default-ws"]);
    let url = &server.url;
    let given = "    secret_suffix = \"out\"\n    config_context = \"here\"\n    config_path = \"kube.yaml\"\n    token = \"cluster-token\"\n";
    let user = server.kubeconfig(&format!("token: {TOKEN}"));
    shared_scripts::outputs_are_read(
        &|resource| config(&server, &config_of_suffix("out"), resource),
        &format!(
            "backend = \"kubernetes\"\n  config = {{\n{given}    host = \"{url}\"\n  }}\n}}\n//- kube.yaml\n{user}//- rest.tf\nlocals {{"
        ),
    );
}

#[test]
fn the_run_of_a_lost_machine_is_taken_over_over_kubernetes() {
    let server = Kubernetes::start();
    shared_scripts::a_run_of_a_lost_machine_is_taken_over(&|resource| {
        config(&server, &config_of_suffix("lost"), resource)
    });
    // The end of the run stays, for the machine that still has its journal.
    let names = server.names("default", "secrets");
    let [end, state] = &names[..] else { panic!("{names:?}") };
    assert!(end.starts_with("formwork-journal-") && state == "tfstate-default-lost", "{names:?}");
}

#[test]
fn a_large_state_is_in_several_secrets_that_both_programs_read() {
    if terraform().is_none() {
        return;
    }
    let server = Kubernetes::start();
    // Sums do not compress.
    let with = |n: usize| {
        let large = format!(
            "resource \"terraform_data\" \"large\" {{\n  input = join(\"\", flatten([for i in range({n}) : [for j in range(1000) : sha512(\"${{i}}.${{j}}\")]]))\n}}\n"
        );
        config(&server, &config_of_suffix("large"), &large)
    };
    let workdir = Workdir::new(&with(14));
    workdir.formwork("init").succeed();
    workdir.formwork("apply -auto-approve").succeed();
    let parts = server.names("default", "secrets");
    assert!(parts.len() > 1 && parts[1] == "tfstate-default-large-part-1", "{parts:?}");
    workdir.terraform("plan -detailed-exitcode").run().code(0);
    let text = with(13);
    workdir.write("main.tf", text.split("//-").next().expect("it has files"));
    workdir.terraform("apply -auto-approve").succeed();
    workdir.formwork("plan -detailed-exitcode").run().code(0);
    let text = with(1);
    workdir.write("main.tf", text.split("//-").next().expect("it has files"));
    workdir.formwork("apply -auto-approve").succeed();
    // Parts of deleted states are removed.
    assert_eq!(server.names("default", "secrets"), ["tfstate-default-large"]);
}

#[test]
fn credentials_that_are_refused_and_a_namespace_that_does_not_exist_are_named() {
    let server = Kubernetes::start();
    let wrong_token = "secret_suffix = \"x\"\n    token = \"wrong\"";
    let refused = Workdir::new(&config(&server, wrong_token, RESOURCE)).formwork("init").run();
    refused.code(1).says("log in to the cluster again").says_not("wrong");
    let absent = format!("{}\n    namespace = \"none\"", config_of_suffix("x"));
    let workdir = Workdir::new(&config(&server, &absent, RESOURCE));
    workdir.formwork("init").succeed();
    let refused = workdir.formwork("apply -auto-approve").run();
    refused.code(1).says("namespaces \"none\" not found").says("check namespace");
}
