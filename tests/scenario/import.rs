//! Existing objects, imported into the state by a command or by a block.

use crate::harness::{Workdir, instances, terraform, test_provider};

const CONFIG: &str = r#"
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
variable "secret" {}
provider "test" {
  secret = var.secret
}
resource "test_thing" "a" {
  name = "n"
}
resource "test_thing" "c" {
  count = 2
  name  = "c"
}
module "m" {
  source = "./m"
}
//- m/main.tf
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_thing" "f" {
  for_each = { k = 1 }
  name     = "f"
}
"#;

fn workdir(files: &str) -> Workdir {
    let workdir = Workdir::new(files);
    workdir.link_plugin(test_provider());
    workdir.formwork("get").succeed();
    workdir
}

#[test]
fn existing_objects_are_imported_into_the_state() {
    let workdir = workdir(CONFIG);
    let import = |address: &str, id: &str| {
        workdir.formwork(&format!("import -var secret=s {address}")).arg(id).run()
    };
    for (address, id) in [
        ("test_thing.a", "id of n"),
        ("test_thing.c[1]", "id of c"),
        ("module.m.test_thing.f[\"k\"]", "id of f"),
    ] {
        import(address, id).code(0).says("Import successful!");
    }
    let ids: Vec<String> = instances(&workdir).into_iter().map(|instance| instance.id).collect();
    assert_eq!(ids, ["id of n", "id of c", "id of f"]);
    for (address, id, words) in [
        ("test_thing.a", "id of n", "Resource already managed by Formwork"),
        ("test_thing.b", "x", "does not exist in the configuration"),
        ("module.o.test_thing.b", "x", "module.o is not defined in the configuration"),
        ("test_thing.a[0]", "x", "Configuration for import target does not exist"),
        ("test_thing.c[0]", "nope", "There is no such thing"),
        ("data.test_data.d", "x", "A managed resource address is required"),
        ("test_thing", "x", "Invalid address"),
    ] {
        import(address, id).code(1).says(words);
    }
    assert_eq!(instances(&workdir).len(), 3);
    let missing = workdir.formwork("import -input=false test_thing.c[0]").arg("id of c").run();
    missing.code(1).says("No value for required variable");
}

#[test]
fn the_configuration_may_be_in_another_directory_and_errors_are_reported() {
    let (_, config) = CONFIG.split_once("resource \"test_thing\" \"a\"").unwrap();
    let (config, _) = config.split_once("resource").unwrap();
    let header =
        "terraform {\n required_providers {\n test = { source = \"formwork/test\" }\n }\n}\n";
    let workdir =
        Workdir::new(&format!("//- conf/main.tf\n{header}resource \"test_thing\" \"a\"{config}"));
    workdir.link_plugin(test_provider());
    let result = workdir.formwork("import -config=conf test_thing.a").arg("id of n").run();
    result.code(0);
    for words in [
        "test_thing.a: Importing from ID \"id of n\"...",
        "test_thing.a: Import prepared!",
        "Prepared test_thing for import",
        "test_thing.a: Refreshing state... [id=id of n]",
    ] {
        result.says(words);
    }
    assert_eq!(instances(&workdir).len(), 1, "the state is in the working directory");
    workdir.formwork("import -config=none test_thing.a").arg("id of n").run().code(1);
}

#[test]
fn an_identity_is_stored_with_the_object_and_terraform_accepts_it() {
    let config = |import: &str| {
        format!(
            "terraform {{
               required_providers {{
                 test = {{ source = \"formwork/test\" }}
               }}
             }}
             resource \"test_thing\" \"a\" {{
               name = \"n\"
             }}
             {import}"
        )
    };
    let workdir = workdir(&config(""));
    workdir.formwork("apply -auto-approve").succeed();
    let has_identity = |workdir: &Workdir| {
        let state: serde_json::Value =
            serde_json::from_str(&workdir.read("terraform.tfstate")).unwrap();
        let instance = &state["resources"][0]["instances"][0];
        assert_eq!(instance["identity"], serde_json::json!({ "id": "id of n" }));
        assert_eq!(instance["identity_schema_version"], 0);
    };
    has_identity(&workdir);
    if terraform().is_some() {
        workdir.terraform("plan -detailed-exitcode").succeed().says("No changes");
    }
    workdir.formwork("state rm test_thing.a").succeed();
    let import = "import {\n to = test_thing.a\n identity = { id = \"id of n\" }\n}\n";
    workdir.write("main.tf", &config(import));
    let applied = workdir.formwork("apply -auto-approve").succeed();
    applied.says("Preparing import... [the identity {\"id\":\"id of n\"}]").says("1 imported");
    has_identity(&workdir);
    for (identity, words) in [
        ("{ name = \"n\" }", "it has no attribute \"name\""),
        ("{ id = null }", "its attribute \"id\" is missing"),
        ("\"text\"", "An identity must be an object"),
    ] {
        workdir.formwork("state rm test_thing.a").run();
        let import = format!("import {{\n to = test_thing.a\n identity = {identity}\n}}\n");
        workdir.write("main.tf", &config(&import));
        workdir.formwork("plan").run().code(1).says(words);
    }
}

#[test]
fn errors_elsewhere_are_reported_without_missing_arguments_of_the_import_target() {
    let workdir = Workdir::new(
        r#"
        terraform {
          required_providers {
            bad = { source = "formwork/bad" }
          }
        }
        variable "v" {}
        resource "bad_thing" "a" {}
        resource "bad_thing" "b" {}
        moved {
          from = bad_thing.old
          to   = bad_thing.a
        }
        output "o" {
          value = var.v
        }
        "#,
    );
    let import = |address: &str, mistake: &str| {
        let result =
            workdir.formwork(&format!("import -input=false {address}")).arg("id of n").run();
        let text = result.code(1).says(mistake).text();
        assert_eq!(text.matches("Missing required argument").count(), 1, "{text}");
        assert!(text.contains("\"b\""), "{text}");
    };
    import("bad_thing.a", "No value for required variable");
    workdir.write("wrong.tf", "output \"wrong\" {\n  value = local.nowhere\n}\n");
    import("bad_thing.a", "local.nowhere");
    // Only a configured resource can be imported, not its former address.
    let result = workdir.formwork("import -input=false bad_thing.old").arg("id of n").run();
    result.code(1).says("\"bad_thing.old\" does not exist in the configuration");
}

#[test]
fn a_missing_block_is_reported_before_variables_are_prompted_for() {
    let workdir = workdir(CONFIG);
    let result = workdir.formwork("import -input=false test_thing.nope").arg("x").run();
    result.code(1).says("resource address \"test_thing.nope\" does not exist");
    assert!(!result.words().contains("required variable"), "{}", result.text());
    let result = workdir.formwork("import -input=false nope").arg("x").run();
    result.code(1).says("Invalid address");
    assert!(!result.words().contains("required variable"), "{}", result.text());
}
