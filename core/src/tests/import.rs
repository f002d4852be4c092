//! Objects that are there already and are imported by an id.

use expect_test::expect;

use formwork_value::Diagnostics;

use super::cloud::Fault;
use super::{EvalFixture, Loaded, Run, block_on, show_state};
use crate::provider::Pool;

const IMPORT: &str = r#"
import {
  to = test_thing.a
  id = "a-1"
}
resource "test_thing" "a" {
  name = "a"
  size = 2
}
"#;

#[test]
fn what_is_there_already_is_imported_once_and_changed_as_written() {
    let mut bench = EvalFixture::after(r#"resource "test_thing" "a" { name = "a" }"#);
    // It exists, and no state has it: as if made by hand.
    bench.file.state.resources.clear();
    let run = bench.apply(IMPORT);
    expect![[r#"
        ~ test_thing.a (imported by the id "a-1")
        calls: update a-1
        test_thing.a a-1 2
    "#]]
    .assert_eq(&format!("{}{}", run.story(), bench.state()));
    let again = bench.plan(IMPORT);
    assert!(again.is_clean(), "not settled: {}", again.story());
}

#[test]
fn what_is_imported_was_made_after_nothing_until_it_is_applied() {
    let config = format!("{IMPORT}resource \"test_thing\" \"base\" {{ name = \"base\" }}")
        .replace("size = 2", "size = 2\n  depends_on = [test_thing.base]");
    let mut bench = EvalFixture::after(
        "resource \"test_thing\" \"a\" { name = \"a\" }\nresource \"test_thing\" \"base\" { name = \"base\" }",
    );
    bench.file.state.resources.retain(|addr, _| addr.to_string() == "test_thing.base");
    let run = bench.apply(&config);
    let planned_from = run.plan.as_ref().map(|plan| show_state(&plan.prior)).unwrap_or_default();
    expect![[r#"
        planned from
        test_thing.a a-1
        test_thing.base base-1
        applied
        test_thing.a a-1 2 after test_thing.base
        test_thing.base base-1
    "#]]
    .assert_eq(&format!("planned from\n{planned_from}applied\n{}", bench.state()));
}

#[test]
fn what_is_not_there_cannot_be_imported() {
    let mut bench = EvalFixture::new();
    let run = bench.plan(IMPORT);
    expect![[r#"
        calls: 
        error test_thing.a: Cannot import non-existent remote object
    "#]]
    .assert_eq(&run.story());
}

const UNWRITTEN: &str = "import {\n  to = test_thing.a\n  id = \"a-1\"\n}\n";

/// Result of planning with a configuration that is to be generated, and the generated
/// configuration.
fn generating(bench: &EvalFixture, config: &str) -> String {
    let mut loaded = Loaded::of(config);
    let mut diags = Diagnostics::new();
    if loaded.config.expect_generated(&mut diags).is_err() {
        return Run { plan: None, applied: None, diags, calls: Vec::new() }.said();
    }
    let pool = Pool::new(&bench.cloud);
    let plan = block_on(bench.planned(&loaded, &pool, &mut diags));
    let run = Run { plan, applied: None, diags, calls: Vec::new() };
    let generated = run.plan.iter().flat_map(|plan| plan.changes.values());
    let generated = generated.filter_map(|change| {
        let importing = change.importing.as_ref()?;
        Some(format!("{}\n", importing.generated_config.as_ref()?))
    });
    format!("{}{}{}", run.changes(), run.said(), generated.collect::<String>())
}

#[test]
fn what_is_not_written_is_generated_after_the_object() {
    let mut bench = EvalFixture::after(r#"resource "test_thing" "a" { name = "a" }"#);
    bench.file.state.resources.clear();
    expect![[r#"
        = test_thing.a (imported by the id "a-1")
        resource "test_thing" "a" {
          name   = "a"
          note   = "note of a"
          secret = null # sensitive
          size   = null
          tags   = null
          zone   = null
        }
    "#]]
    .assert_eq(&generating(&bench, UNWRITTEN));
}

#[test]
fn what_is_generated_is_planned_as_if_it_had_been_written() {
    let mut bench = EvalFixture::after(
        "resource \"test_thing\" \"a\" {\n  name = \"a\"\n  secret = \"s\"\n}\n",
    );
    bench.file.state.resources.clear();
    bench.fault("plan a", Fault::Refuses);
    expect![[r#"
        error test_thing.a: the cloud says no to plan
    "#]]
    .assert_eq(&generating(&bench, UNWRITTEN));
    // The secret is not written out, so what is generated would take it away: an update.
    bench.well_again();
    expect![[r#"
        ~ test_thing.a (imported by the id "a-1")
        resource "test_thing" "a" {
          name   = "a"
          note   = "note of a"
          secret = null # sensitive
          size   = null
          tags   = null
          zone   = null
        }
    "#]]
    .assert_eq(&generating(&bench, UNWRITTEN));
}

#[test]
fn only_single_blocks_in_the_root_module_are_generated() {
    let bench = EvalFixture::new();
    // Terraform generates no `count` or `for_each` either.
    let said = generating(
        &bench,
        "import {\n  to = test_thing.a[0]\n  id = \"a\"\n}\nimport {\n  to = test_thing.b[\"k\"]\n  id = \"b\"\n}\n",
    );
    expect![[r#"
        error -: Configuration for import target does not exist
        error -: Configuration for import target does not exist
    "#]]
    .assert_eq(&said);
}
