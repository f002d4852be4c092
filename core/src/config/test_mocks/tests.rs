//! Tests of reading mocks and overrides, and of their precedence.

use formwork_value::Diagnostics;

use super::super::config_from_text::{InMemoryFiles, format_diagnostics, format_value};
use super::super::parsed_test_file::TestFile;
use super::super::test_files::{TestDirs, read_test_files};
use super::*;

fn test_file(fixture: &str) -> (Option<TestFile>, String) {
    let (mut diags, mut sources) = (Diagnostics::new(), Sources::new());
    let directories = TestDirs { module: Path::new("."), tests: Path::new("tests") };
    let files = InMemoryFiles::from_fixture(fixture);
    let test_files = read_test_files(&mut diags, &mut sources, &files, directories);
    (test_files.ok().and_then(|mut all| all.pop()), format_diagnostics(&sources, &diags))
}

fn shown(values: Option<&MockValues>) -> String {
    values.map_or("none".to_owned(), |it| format!("{:?} {}", it.during, format_value(&it.values)))
}

#[test]
fn mocks_of_the_test_file_take_precedence_over_those_of_the_directory() {
    let (test_file, problems) = test_file(
        r#"
//- a.tftest.hcl
mock_provider "x" {
  alias           = "y"
  source          = "./mocks"
  override_during = plan
  mock_resource "x_a" {
    defaults = { from = "block" }
  }
}
//- mocks/a.tfmock.hcl
mock_resource "x_a" {
  defaults = { from = "file" }
}
mock_data "x_a" {
  defaults        = { from = "file" }
  override_during = apply
}
//- mocks/b.tfmock.json
{"mock_resource": {"x_b": {"defaults": {"from": "json"}}}}
"#,
    );
    assert_eq!(problems, "");
    let mock = &test_file.unwrap().mocks[0];
    assert_eq!(mock.block.local.to_string(), "x.y");
    let of = |mode, name| shown(mock.mock_of_type(mode, name));
    assert_eq!(of(ResourceMode::Managed, "x_a"), r#"Plan {from = "block"}"#);
    assert_eq!(of(ResourceMode::Data, "x_a"), r#"Apply {from = "file"}"#);
    assert_eq!(of(ResourceMode::Managed, "x_b"), r#"Plan {from = "json"}"#);
    assert_eq!(of(ResourceMode::Data, "x_b"), "none");
}

#[test]
fn an_override_of_an_instance_or_of_an_inner_block_takes_precedence() {
    let (test_file, problems) = test_file(
        r#"
//- a.tftest.hcl
override_resource {
  target = a.b[0]
  values = { from = "file" }
}
override_resource {
  target = a.b
  values = { from = "file" }
}
override_module {
  target  = module.m
  outputs = { from = "file" }
}
run "x" {
  override_resource {
    target = a.b
    values = { from = "run" }
  }
  override_module {
    target  = module.m["a"]
    outputs = { from = "run" }
  }
}
"#,
    );
    assert_eq!(problems, "");
    let test_file = test_file.unwrap();
    let mut overrides = test_file.runs[0].overrides.clone();
    add_outer_overrides(&mut overrides, &test_file.overrides);
    let of = |addr: &str| shown(override_of_instance(&overrides, &addr.parse().unwrap()));
    assert_eq!(of("a.b[0]"), r#"Apply {from = "file"}"#);
    assert_eq!(of("a.b[1]"), r#"Apply {from = "run"}"#);
    assert_eq!(of("module.m.a.b"), "none");
    let of = |addr: &str| override_of_module(&overrides, &addr.parse().unwrap()).map(format_value);
    assert_eq!(of("module.m[\"a\"]").as_deref(), Some(r#"{from = "run"}"#));
    assert_eq!(of("module.m[\"b\"]").as_deref(), Some(r#"{from = "file"}"#));
    assert_eq!(of("module.n"), None);
}

#[test]
fn two_mocks_of_one_type_and_two_overrides_of_one_target_are_errors() {
    let (_, problems) = test_file(
        r#"
//- a.tftest.hcl
mock_provider "x" {
  source = "mocks"
  mock_data "x_a" {}
  mock_data "x_a" {}
}
override_module {
  target = module.m
}
override_module {
  target = module.m
}
//- mocks/a.tfmock.hcl
mock_resource "x_a" {}
override_data {
  target = data.x_a.b
}
//- mocks/b.tfmock.hcl
mock_resource "x_a" {}
override_data {
  target = data.x_a.b
}
override_module {
  target = module.m
}
"#,
    );
    let summaries = problems.lines().filter(|line| line.starts_with("error"));
    assert_eq!(
        summaries.collect::<Vec<_>>(),
        [
            "error a.tftest.hcl:4,13-18 Duplicate mock_data block",
            "error a.tftest.hcl:9,1-16 Duplicate override_module block",
            "error mocks/b.tfmock.hcl:1,15-20 Duplicate mock resource block",
            "error mocks/b.tfmock.hcl:2,1-14 Duplicate override block",
            "error mocks/b.tfmock.hcl:5,1-16 Unsupported block type",
        ]
    );
}
