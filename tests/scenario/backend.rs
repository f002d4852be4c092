//! States in backends, with Terraform on the same servers: either program continues where the other
//! stopped, and their locks exclude each other.

mod azurerm;
mod consul;
mod cuts;
mod gcs;
mod http;
mod http_faults;
mod kubernetes;
mod migration;
mod pg;
mod pg_shared;
mod s3;
mod shared_scripts;
mod state_store;

use crate::harness::Workdir;

const RESOURCE: &str = "resource \"terraform_data\" \"a\" {\n  input = 1\n}\n";

#[test]
fn a_backend_that_is_not_supported_is_refused_with_the_next_step() {
    let config = format!("terraform {{\n  backend \"oss\" {{}}\n}}\n{RESOURCE}");
    let workdir = Workdir::new(&config);
    for line in ["plan", "init", "state list"] {
        let refused = workdir.formwork(line).run();
        refused.code(1).says("terraform state pull > terraform.tfstate");
    }
}

#[test]
fn an_error_about_a_backend_configuration_points_to_its_block() {
    let config = "terraform {\n  backend \"consul\" {\n    address = \"h\"\n  }\n}\n";
    let workdir = Workdir::new(config);
    for line in ["init", "init -reconfigure"] {
        let refused = workdir.formwork(line).run();
        let refused = refused.code(1).says("Invalid backend configuration");
        refused.says("on main.tf line 2, in terraform").says("path");
        assert!(!workdir.root().join(".terraform/terraform.tfstate").exists(), "{line}");
    }
}
