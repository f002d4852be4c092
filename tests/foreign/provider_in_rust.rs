//! A provider on the crate `tf-provider`, which has its own gRPC server, certificates and
//! encoding of values.

use super::installed::rust_provider;
use crate::harness::Workdir;

fn config(path: &str, text: &str) -> String {
    format!(
        r#"
terraform {{
  required_providers {{
    crate = {{ source = "foreign/crate" }}
  }}
}}

resource "crate_file" "a" {{
  path = "{path}"
  text = "{text}"
}}

output "length" {{
  value = crate_file.a.length
}}
"#
    )
}

#[test]
fn a_provider_on_another_sdk_creates_changes_replaces_and_destroys_objects() {
    let Some(program) = rust_provider() else { return };
    let workdir = Workdir::new(&config("one", "hello"));
    workdir.link_plugin(&program);
    let planned = workdir.formwork("plan -detailed-exitcode").run();
    planned.code(2).says("+ length = (known after apply)").says("1 to add, 0 to change");
    workdir.formwork("apply -auto-approve").succeed().says("length = 5");
    assert_eq!(workdir.read("one"), "hello");
    assert!(workdir.read("terraform.tfstate").contains("\"length\": 5"));
    workdir.formwork("plan -detailed-exitcode").succeed().says("No changes");

    workdir.write("main.tf", &config("one", "good bye"));
    let planned = workdir.formwork("plan -detailed-exitcode").run();
    planned.code(2).says("~ length = 5 -> (known after apply)");
    let applied = workdir.formwork("apply -auto-approve").succeed();
    applied.says("0 added, 1 changed, 0 destroyed").says("length = 8");
    assert_eq!(workdir.read("one"), "good bye");

    workdir.write("main.tf", &config("two", "good bye"));
    let applied = workdir.formwork("apply -auto-approve").succeed();
    applied.says("must be replaced").says("1 added, 0 changed, 1 destroyed");
    assert_eq!((workdir.has("one"), workdir.read("two").as_str()), (false, "good bye"));

    workdir.write("two", "changed by others");
    let planned = workdir.formwork("plan -detailed-exitcode").run();
    planned.code(2).says("\"changed by others\" -> \"good bye\"");
    workdir.formwork("destroy -auto-approve").succeed().says("1 destroyed");
    assert!(!workdir.has("two"));
    assert!(!workdir.read("terraform.tfstate").contains("crate_file"));
}
