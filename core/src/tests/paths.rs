//! A vertex reads only results that it has a path to: visited before everything that it does not wait
//! for, it finds all that it needs.

use super::{EngineFixture, RunResult};
use crate::graph::VertexId;
use crate::graph::walk::RecordOrder;

/// A configuration with everything that reads results: `SIZE` differs between two of them.
const ALL_READERS_CONFIG: &str = r#"
variable "size" {
  default = SIZE
  validation {
    condition     = var.size < length(local.names) + 9
    error_message = "not ${var.size}"
  }
}
locals {
  names = toset(["x", "y"])
  all   = join(",", [for one in test_thing.many : one.id])
}
provider "test" {
  alias  = "there"
  region = test_thing.where.id
}
ephemeral "test_token" "a" { name = "a${var.size}" }
provider "test" {
  alias  = "here"
  region = ephemeral.test_token.a.token
}
resource "test_thing" "where" { name = "where" }
resource "test_thing" "many" {
  count = var.size
  name  = "many${count.index}"
}
data "test_lookup" "found" {
  key        = "where"
  depends_on = [test_thing.where]
}
resource "test_thing" "each" {
  for_each = local.names
  provider = test.there
  name     = each.key
  note     = "${data.test_lookup.found.answer} ${var.size}"
  lifecycle {
    replace_triggered_by = [test_thing.many]
    precondition {
      condition     = local.all != ""
      error_message = "none"
    }
  }
}
module "inner" {
  source   = "./inner"
  for_each = test_thing.each
  given    = each.value.id
  size     = var.size
  providers = { test = test.here }
}
module "behind" {
  source     = "./inner"
  given      = "behind"
  size       = 1
  depends_on = [module.inner]
}
resource "test_thing" "last" {
  name = "last"
  note = provider::test::shout(join(",", [for one in module.inner : one.id]))
  lifecycle { create_before_destroy = true }
  depends_on = [module.behind]
}
check "all" {
  data "test_lookup" "again" { key = test_thing.last.id }
  assert {
    condition     = data.test_lookup.again.answer != ""
    error_message = "gone"
  }
}
output "all" {
  value = [local.all, test_thing.last.note, module.inner]
  precondition {
    condition     = test_thing.last.id != ""
    error_message = "none"
  }
}
//- inner/main.tf
terraform {
  required_providers {
    test = { source = "hashicorp/test" }
  }
}
variable "given" {}
variable "size" {}
resource "test_thing" "in" {
  count = var.size
  name  = "in ${var.given} ${count.index}"
}
output "id" { value = try(test_thing.in[0].id, var.given) }
"#;

const REQUIRED: &str = r#"
terraform {
  required_providers {
    test = { source = "hashicorp/test" }
  }
}
"#;

/// All observable results of two consecutive runs, and of the destroy after them.
fn observable_results(early: Option<VertexId>) -> Vec<String> {
    let mut bench = EngineFixture::new();
    bench.finishing = early.map_or(RecordOrder::Completion, RecordOrder::OneEarly);
    let config =
        |size: u8| REQUIRED.to_owned() + &ALL_READERS_CONFIG.replace("SIZE", &size.to_string());
    let seen = |run: RunResult, bench: &EngineFixture| {
        let mut calls = run.calls.clone();
        // The time a process takes to end is its own affair; the run does not wait for the last
        // one.
        calls.retain(|call| call != "end");
        // Their order is free where none waits for another: what counts is which there are.
        calls.sort();
        format!(
            "{}{}{}{}",
            run.describe_diagnostics(),
            run.describe_changes(),
            bench.describe_state(),
            calls.join("\n")
        )
    };
    let mut all = Vec::new();
    // The larger first, so that the second run has something to destroy.
    for size in [2, 1] {
        let run = bench.apply(&config(size));
        assert!(!run.diags.has_errors(), "{early:?} {size}: {:?}", run.diags);
        all.push(seen(run, &bench));
    }
    let run = bench.destroy(&config(1));
    assert!(!run.diags.has_errors(), "{early:?}: {} {:?}", run.describe_diagnostics(), run.diags);
    all.push(seen(run, &bench));
    all
}

#[test]
fn a_visit_uses_only_results_of_its_dependencies() {
    let usual = observable_results(None);
    // The largest of the graphs has fifty.
    for at in 0..52 {
        let early = observable_results(Some(VertexId(at)));
        for (early, usual) in early.iter().zip(&usual) {
            assert_eq!(early, usual, "vertex {at}");
        }
    }
}
