//! Metadata that modules send to providers: each its own, along with every call about the resources
//! written in it.

use expect_test::expect;

use super::{CallFault, EngineFixture};

const TWO_MODULES: &str = r#"
//- main.tf
terraform {
  provider_meta "test" {
    module = "root"
  }
}
resource "test_thing" "a" {
  name = "a"
}
data "test_lookup" "l" {
  key = "k"
}
module "child" {
  source = "./child"
}
module "quiet" {
  source = "./quiet"
}
//- child/main.tf
terraform {
  provider_meta "test" {
    module = "child"
  }
}
resource "test_thing" "b" {
  name = "b"
}
//- quiet/main.tf
resource "test_thing" "c" {
  name = "c"
}
"#;

#[test]
fn each_module_sends_its_provider_meta_with_every_call() {
    let mut bench = EngineFixture::new();
    let mut calls = bench.apply(TWO_MODULES).all_calls();
    calls += &bench.plan(TWO_MODULES).all_calls();
    expect![[r#"
        configure -, told root, look up k, told root, plan a, told child, plan b, plan c, told root, plan a, told root, create a, told child, plan b, told child, create b, plan c, create c
        configure -, told root, look up k, told root, read a-1, told root, plan a, told child, read b-1, told child, plan b, read c-1, plan c
    "#]]
    .assert_eq(&calls);
}

#[test]
fn removed_modules_send_no_provider_meta() {
    let mut bench = EngineFixture::with_applied(TWO_MODULES);
    // Metadata is sent for a block, and none of the objects has one any more.
    let rest = "terraform {\n  provider_meta \"test\" {\n    module = \"root\"\n  }\n}\n";
    expect![[r#"
        configure -, read a-1, plan a-1, read b-1, plan b-1, read c-1, plan c-1, delete a-1, delete b-1, delete c-1
    "#]]
    .assert_eq(&bench.apply(rest).all_calls());
}

#[test]
fn provider_meta_is_sent_while_a_module_is_destroyed() {
    let mut bench = EngineFixture::with_applied(TWO_MODULES);
    expect![[r#"
        configure -, told root, look up k, told root, read a-1, told root, plan a, told child, read b-1, told child, plan b, read c-1, plan c, told root, plan a-1, told child, plan b-1, plan c-1, told root, delete a-1, told child, delete b-1, delete c-1
    "#]]
    .assert_eq(&bench.destroy(TWO_MODULES).all_calls());
}

#[test]
fn provider_meta_must_match_the_schema() {
    let mut bench = EngineFixture::new();
    let run = bench.plan(
        r#"
        terraform {
          provider_meta "test" {
            module = []
          }
          provider_meta "terraform" {
            module = "m"
          }
        }
        resource "test_thing" "a" {
          name = "a"
        }
        resource "terraform_data" "b" {
        }
        "#,
    );
    expect![[r#"
        error -: Provider terraform.io/builtin/terraform doesn't support provider_meta
        error -: Incorrect attribute value type
    "#]]
    .assert_eq(&run.describe_diagnostics());
}

#[test]
fn provider_meta_is_sent_to_a_restarted_provider() {
    let mut bench = EngineFixture::with_applied(TWO_MODULES);
    bench.set_fault("update b-1", CallFault::Dies);
    let run = bench.apply(&TWO_MODULES.replace("name = \"b\"", "name = \"b\"\n  size = 2"));
    expect![[r#"
        error module.child.test_thing.b: Plugin did not respond
        warning module.child.test_thing.b: An interrupted operation was resolved
        data.test_lookup.l answer to k
        test_thing.a a-1
        module.child.test_thing.b b-1 2
        module.quiet.test_thing.c c-1
        0 journals"#]]
    .assert_eq(&format!(
        "{}{}{} journals",
        run.describe_diagnostics(),
        bench.describe_state(),
        bench.journal_count()
    ));
    let again: Vec<_> =
        run.calls.iter().skip_while(|call| *call != "update b-1").map(String::as_str).collect();
    expect!["update b-1, configure -, told child, read b-1"].assert_eq(&again.join(", "));
}
