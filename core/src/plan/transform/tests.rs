//! Building the plan graph, whatever the order of the transforms. A step with an effect that is not drawn here
//! has its test in its own file, with `fixtures`.

use expect_test::expect;

use super::fixtures::{EMPTY_STATE, dot_lines_containing, graph_in_each_order, with_session};
use super::*;
use crate::plan;

/// Every kind of vertex, and every kind of edge.
const EVERYTHING_CONFIG: &str = r#"
variable "v" { default = "x" }
locals {
  l = "${var.v}!"
}
provider "null" { alias = "other" }
resource "null_resource" "a" { triggers = { l = local.l } }
resource "null_resource" "b" {
  provider   = null.other
  triggers   = { a = null_resource.a.id }
  depends_on = [terraform_data.c]
}
resource "terraform_data" "c" { input = null_resource.a.id }
data "null_data_source" "d" { inputs = { v = var.v } }
output "o" { value = [null_resource.b.id, data.null_data_source.d.id] }
"#;

/// A resource that is only in the state.
const ORPHAN_STATE: &str = r#"{
  "version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l", "outputs": {},
  "resources": [{
    "mode": "managed", "type": "null_resource", "name": "gone",
    "provider": "provider[\"registry.terraform.io/hashicorp/null\"]",
    "instances": [{"schema_version": 0, "attributes": {"id": "1"}, "sensitive_attributes": []}]
  }],
  "check_results": null
}"#;

#[test]
fn the_order_of_adding_and_connecting_does_not_affect_the_graph() {
    let lines = graph_in_each_order(EVERYTHING_CONFIG, ORPHAN_STATE);
    // Otherwise a step that adds nothing would pass for one whose position does not matter.
    for part in [
        "var.v",
        "provider[",
        "terraform_data.c",
        "null_resource.gone",
        " -> var.v: Reference(",
        ": Provider",
    ] {
        assert!(lines.iter().any(|line| line.contains(part)), "{part}: {lines:#?}");
    }
}

#[test]
fn the_drawn_graph_has_close_vertices_for_each_provider_and_the_root() {
    let drawn = with_session(EVERYTHING_CONFIG, ORPHAN_STATE, |session| {
        plan::plan_graph_dot(session, &mut Diagnostics::new(), &PlanOptions::default(), false)
            .unwrap()
    });
    let edges: Vec<&str> =
        drawn.lines().map(str::trim).filter(|line| line.contains("->")).collect();
    expect![[r#"
        "[root] data.null_data_source.d (expand)" -> "[root] provider[\"registry.terraform.io/hashicorp/null\"]"
        "[root] data.null_data_source.d (expand)" -> "[root] var.v"
        "[root] local.l (expand)" -> "[root] var.v"
        "[root] null_resource.a (expand)" -> "[root] local.l (expand)"
        "[root] null_resource.a (expand)" -> "[root] provider[\"registry.terraform.io/hashicorp/null\"]"
        "[root] null_resource.b (expand)" -> "[root] provider[\"registry.terraform.io/hashicorp/null\"].other"
        "[root] null_resource.b (expand)" -> "[root] terraform_data.c (expand)"
        "[root] null_resource.gone (only in the state)" -> "[root] provider[\"registry.terraform.io/hashicorp/null\"]"
        "[root] output.o (expand)" -> "[root] data.null_data_source.d (expand)"
        "[root] output.o (expand)" -> "[root] null_resource.b (expand)"
        "[root] provider[\"registry.terraform.io/hashicorp/null\"] (close)" -> "[root] data.null_data_source.d (expand)"
        "[root] provider[\"registry.terraform.io/hashicorp/null\"] (close)" -> "[root] null_resource.a (expand)"
        "[root] provider[\"registry.terraform.io/hashicorp/null\"] (close)" -> "[root] null_resource.gone (only in the state)"
        "[root] provider[\"registry.terraform.io/hashicorp/null\"].other (close)" -> "[root] null_resource.b (expand)"
        "[root] provider[\"terraform.io/builtin/terraform\"] (close)" -> "[root] terraform_data.c (expand)"
        "[root] root" -> "[root] output.o (expand)"
        "[root] root" -> "[root] provider[\"registry.terraform.io/hashicorp/null\"] (close)"
        "[root] root" -> "[root] provider[\"registry.terraform.io/hashicorp/null\"].other (close)"
        "[root] root" -> "[root] provider[\"terraform.io/builtin/terraform\"] (close)"
        "[root] terraform_data.c (expand)" -> "[root] null_resource.a (expand)"
        "[root] terraform_data.c (expand)" -> "[root] provider[\"terraform.io/builtin/terraform\"]""#]]
    .assert_eq(&edges.join("\n"));
}

#[test]
fn destroyed_objects_are_drawn_in_the_order_of_the_state() {
    let config = r#"
        resource "null_resource" "a" {}
        resource "null_resource" "b" { triggers = { a = null_resource.a.id } }
    "#;
    let object = |name: &str, on: &str| {
        format!(
            r#"{{"mode": "managed", "type": "null_resource", "name": "{name}",
            "provider": "provider[\"registry.terraform.io/hashicorp/null\"]",
            "instances": [{{"schema_version": 0, "attributes": {{"id": "1"}}, "dependencies": [{on}]}}]}}"#
        )
    };
    let objects = [
        object("a", ""),
        object("b", r#""null_resource.a""#),
        object("gone", r#""null_resource.a", "null_resource.b""#),
    ];
    let state = format!(
        r#"{{"version": 4, "serial": 1, "lineage": "l", "outputs": {{}}, "resources": [{}]}}"#,
        objects.join(",")
    );
    let options = PlanOptions { mode: PlanMode::Destroy, ..PlanOptions::default() };
    // That `a` waits for `gone` as well follows from the others, so it is not drawn.
    expect![[r#"
        "[root] null_resource.a (destroy)" [label = "null_resource.a", shape = "box"]
        "[root] null_resource.b (destroy)" [label = "null_resource.b", shape = "box"]
        "[root] null_resource.gone (destroy)" [label = "null_resource.gone", shape = "box"]
        "[root] null_resource.a (destroy)" -> "[root] null_resource.b (destroy)"
        "[root] null_resource.b (destroy)" -> "[root] null_resource.gone (destroy)"
        "[root] null_resource.gone (destroy)" -> "[root] provider[\"registry.terraform.io/hashicorp/null\"]"
        "[root] provider[\"registry.terraform.io/hashicorp/null\"] (close)" -> "[root] null_resource.a (destroy)""#]].assert_eq(&dot_lines_containing(config, &state, &options, "null_resource"));
}

#[test]
fn each_check_is_drawn_with_its_report_vertex() {
    let config = r#"
        check "c" {
          data "null_data_source" "d" {}
          assert {
            condition     = data.null_data_source.d.id != ""
            error_message = "no"
          }
        }
    "#;
    expect![[r#""[root] data.null_data_source.d (expand)" -> "[root] check.c (report)""#]]
        .assert_eq(&dot_lines_containing(config, EMPTY_STATE, &PlanOptions::default(), "(report)"));
}
