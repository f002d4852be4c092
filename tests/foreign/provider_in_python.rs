//! A provider on the Python package `tf`, which has its own gRPC server and encoding of values,
//! refuses to plan a destruction, and answers with Python's numbers.

use super::installed::python_provider;
use crate::harness::{Instance, Workdir, instances};

const CONFIG: &str = r#"
terraform {
  required_providers {
    python = { source = "foreign/python" }
  }
}

provider "python" {
  store = "things.json"
}

data "python_total" "all" {
  unit       = "metres"
  depends_on = [python_thing.a]
}

output "total" {
  value = data.python_total.all.text
}
"#;

fn config(name: &str, size: &str) -> String {
    format!(
        "{CONFIG}\nresource \"python_thing\" \"a\" {{\n  name = \"{name}\"\n  size = {size}\n}}\n"
    )
}

fn workdir(config: &str) -> Option<Workdir> {
    let workdir = Workdir::new(config);
    workdir.link_plugin(&python_provider()?);
    Some(workdir)
}

fn thing(id: &str) -> Instance {
    let addr = "python_thing.a".to_owned();
    Instance { addr, id: id.to_owned(), tainted: false, deposed: false }
}

#[test]
fn a_provider_on_another_sdk_creates_changes_replaces_and_destroys_objects() {
    let Some(workdir) = workdir(&config("chair", "1")) else { return };
    let planned = workdir.formwork("plan -detailed-exitcode").run();
    planned.code(2).says("+ id = (known after apply)").says("1 to add, 0 to change, 0 to destroy");
    workdir.formwork("apply -auto-approve").succeed().says("total = \"1 metres\"");
    assert_eq!(instances(&workdir), [thing("id-of-chair")]);
    workdir.formwork("plan -detailed-exitcode").succeed().says("No changes");

    workdir.write("main.tf", &config("chair", "2.5"));
    workdir.formwork("plan -detailed-exitcode").run().code(2).says("~ size = 1 -> 2.5");
    let applied = workdir.formwork("apply -auto-approve").succeed();
    applied.says("0 added, 1 changed, 0 destroyed").says("total = \"2.5 metres\"");
    let store = r#"{"id-of-chair": {"id": "id-of-chair", "name": "chair", "size": 2.5}}"#;
    assert_eq!(workdir.read("things.json"), store);
    assert!(workdir.read("terraform.tfstate").contains("\"size\": 2.5"));
    workdir.formwork("plan -detailed-exitcode").succeed().says("No changes");

    workdir.write("main.tf", &config("table", "2.5"));
    let planned = workdir.formwork("plan -detailed-exitcode").run();
    planned.code(2).says("must be replaced").says("# forces replacement");

    workdir.formwork("destroy -auto-approve").succeed().says("1 destroyed");
    assert_eq!((instances(&workdir), workdir.read("things.json")), (vec![], "{}".to_owned()));
}

#[test]
fn errors_about_a_provider_configuration_are_printed() {
    let text = config("chair", "1").replace("things.json", "");
    let Some(workdir) = workdir(&text) else { return };
    let planned = workdir.formwork("plan").run();
    planned.code(1).says("Error: No store").says("The name of the file is empty.");
    planned.says("in provider \"python\"");
}
