//! Building the plan graph, whatever the order of the transforms.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use expect_test::expect;
use formwork_plugin_protocol::{Failure, Provider};

use super::*;
use crate::addr::ProviderAddr;
use crate::eval::testing::EvalFixture;
use crate::plan;
use crate::provider::{ProviderLauncher, ProviderPool};
use crate::provisioner::ProvisionerSet;
use crate::session::SessionInputs;
use crate::state::file::StateFile;

/// A graph is built without asking any provider.
struct NoProviders;

#[async_trait(?Send)]
impl ProviderLauncher for NoProviders {
    async fn launch_provider(&self, _: &ProviderAddr) -> Result<Arc<dyn Provider>, Failure> {
        unreachable!("graphs are built before providers start")
    }
}

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

/// Runs `look` with a session of the configuration and the state.
fn with_session<T>(look: impl FnOnce(&Session<'_>) -> T) -> T {
    with_session_of(EVERYTHING_CONFIG, ORPHAN_STATE, look)
}

fn with_session_of<T>(config: &str, state: &str, look: impl FnOnce(&Session<'_>) -> T) -> T {
    let bench = EvalFixture::from_fixture(config);
    let state = StateFile::parse(state.as_bytes()).unwrap().state;
    let (pool, variables, stop) =
        (ProviderPool::new(&NoProviders), BTreeMap::new(), Cell::new(false));
    let provisioners = ProvisionerSet::default();
    look(&Session::new(SessionInputs {
        config: &bench.config,
        sources: &bench.sources,
        state: &state,
        pool: &pool,
        results: &bench.results,
        world: &bench.world,
        variables: &variables,
        provisioners: &provisioners,
        stop: &stop,
    }))
}

/// The vertices, and the edges with their reasons, in an order of their own.
fn describe_graph(
    session: &Session<'_>,
    adds: &[AddingTransform],
    connects: &[ConnectingTransform],
) -> Vec<String> {
    let (mut diags, options) = (Diagnostics::new(), PlanOptions::default());
    let inputs = TransformInputs { session, options: &options };
    let steps = TransformSteps { add: adds, connect: connects, ..WHOLE_GRAPH_STEPS };
    let draft = build_draft_by_steps(&mut diags, inputs, steps).unwrap();
    let vertices = draft.vertices().iter().map(ToString::to_string);
    let edges = draft.edges().iter().map(|edge| {
        let (from, to) = (&draft[edge.dependent], &draft[edge.dependency]);
        format!("{from} -> {to}: {:?}", edge.reason)
    });
    let mut lines: Vec<String> = vertices.chain(edges).collect();
    lines.sort();
    lines
}

/// All orders of some things.
fn permutations<T: Copy>(things: &[T]) -> Vec<Vec<T>> {
    let Some((first, rest)) = things.split_first() else { return vec![Vec::new()] };
    let put_in = |order: Vec<T>| {
        (0..=order.len()).map(move |at| {
            let mut order = order.clone();
            order.insert(at, *first);
            order
        })
    };
    permutations(rest).into_iter().flat_map(put_in).collect()
}

#[test]
fn the_order_of_adding_and_connecting_does_not_affect_the_graph() {
    with_session(|session| {
        let expected = describe_graph(session, PLAN_GRAPH_STEPS.add, PLAN_GRAPH_STEPS.connect);
        let n_edges = expected.iter().filter(|line| line.contains(" -> ")).count();
        // Otherwise a step that adds nothing would pass for one whose position does not matter.
        assert_eq!((n_edges, expected.len()), (13, 24), "{expected:#?}");
        for adds in permutations(PLAN_GRAPH_STEPS.add) {
            for connects in permutations(PLAN_GRAPH_STEPS.connect) {
                assert_eq!(describe_graph(session, &adds, &connects), expected);
            }
        }
    });
}

#[test]
fn the_drawn_graph_has_close_vertices_for_each_provider_and_the_root() {
    let drawn = with_session(|session| {
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

/// Draws a graph, and has only the lines that contain something.
fn dot_lines_containing(config: &str, state: &str, options: &PlanOptions, part: &str) -> String {
    let dot = with_session_of(config, state, |session| {
        plan::plan_graph_dot(session, &mut Diagnostics::new(), options, false).unwrap()
    });
    let lines = dot.lines().map(str::trim).filter(|line| line.contains(part));
    lines.collect::<Vec<_>>().join("\n")
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
        .assert_eq(&dot_lines_containing(
            config,
            ORPHAN_STATE,
            &PlanOptions::default(),
            "(report)",
        ));
}
