//! Building the plan graph, whatever the order of the transforms.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use formwork_plugin_protocol::{Failure, Provider};

use super::*;
use crate::addr::ProviderAddr;
use crate::eval::testing::Bench;
use crate::provider::{Launch, Pool};
use crate::provisioner::Provisioners;
use crate::session::Ground;
use crate::state::file::StateFile;

/// A graph is built without asking any provider.
struct Nobody;

#[async_trait(?Send)]
impl Launch for Nobody {
    async fn launch(&self, _: &ProviderAddr) -> Result<Arc<dyn Provider>, Failure> {
        unreachable!("graphs are built before providers start")
    }
}

/// Every kind of vertex, and every kind of edge.
const CONFIG: &str = r#"
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
const STATE: &str = r#"{
  "version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l", "outputs": {},
  "resources": [{
    "mode": "managed", "type": "null_resource", "name": "gone",
    "provider": "provider[\"registry.terraform.io/hashicorp/null\"]",
    "instances": [{"schema_version": 0, "attributes": {"id": "1"}, "sensitive_attributes": []}]
  }],
  "check_results": null
}"#;

/// The vertices, and the edges with their reasons, in an order of their own.
fn graph(adds: &[Add], connects: &[Connect]) -> Vec<String> {
    let bench = Bench::of(CONFIG);
    let state = StateFile::read(STATE.as_bytes()).unwrap().state;
    let (pool, variables, stop) = (Pool::new(&Nobody), BTreeMap::new(), Cell::new(false));
    let provisioners = Provisioners::default();
    let session = Session::new(Ground {
        config: &bench.config,
        sources: &bench.sources,
        state: &state,
        pool: &pool,
        results: &bench.results,
        world: &bench.world,
        variables: &variables,
        provisioners: &provisioners,
        stop: &stop,
    });
    let (mut diags, options) = (Diagnostics::new(), Options::default());
    let inputs = Inputs { session: &session, options: &options };
    let draft = draft_with(&mut diags, inputs, adds, connects).unwrap();
    let vertices = draft.vertices().iter().map(ToString::to_string);
    let edges = draft.edges().iter().map(|edge| {
        let (from, to) = (&draft[edge.dependent], &draft[edge.dependency]);
        format!("{from} -> {to}: {:?}", edge.why)
    });
    let mut lines: Vec<String> = vertices.chain(edges).collect();
    lines.sort();
    lines
}

/// All orders of some things.
fn orders<T: Copy>(things: &[T]) -> Vec<Vec<T>> {
    let Some((first, rest)) = things.split_first() else { return vec![Vec::new()] };
    let put_in = |order: Vec<T>| {
        (0..=order.len()).map(move |at| {
            let mut order = order.clone();
            order.insert(at, *first);
            order
        })
    };
    orders(rest).into_iter().flat_map(put_in).collect()
}

#[test]
fn the_order_of_adding_and_of_connecting_does_not_matter() {
    let expected = graph(&ADD, &CONNECT);
    assert_eq!(expected.iter().filter(|line| line.contains(" -> ")).count(), 13, "{expected:#?}");
    assert_eq!(expected.len(), 24, "{expected:#?}");
    for adds in orders(&ADD) {
        for connects in orders(&CONNECT) {
            assert_eq!(graph(&adds, &connects), expected);
        }
    }
}
