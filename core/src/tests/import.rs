//! Existing objects that are imported by an id.

use expect_test::expect;

use formwork_value::Diagnostics;

use super::cloud::CallFault;
use super::{EngineFixture, LoadedConfig, RunResult, block_on, show_state};
use crate::provider::ProviderPool;

const IMPORT_CONFIG: &str = r#"
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
fn an_existing_object_is_imported_once_and_updated() {
    let mut bench = EngineFixture::with_applied(r#"resource "test_thing" "a" { name = "a" }"#);
    // It exists, and no state has it: as if made by hand.
    bench.file.state.resources.clear();
    let run = bench.apply(IMPORT_CONFIG);
    expect![[r#"
        ~ test_thing.a (imported by the id "a-1")
        calls: update a-1
        test_thing.a a-1 2
    "#]]
    .assert_eq(&format!("{}{}", run.describe_run(), bench.describe_state()));
    let again = bench.plan(IMPORT_CONFIG);
    assert!(again.has_no_diagnostics(), "not settled: {}", again.describe_run());
}

#[test]
fn imported_objects_have_no_dependencies_before_the_apply() {
    let config = format!("{IMPORT_CONFIG}resource \"test_thing\" \"base\" {{ name = \"base\" }}")
        .replace("size = 2", "size = 2\n  depends_on = [test_thing.base]");
    let mut bench = EngineFixture::with_applied(
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
    .assert_eq(&format!("planned from\n{planned_from}applied\n{}", bench.describe_state()));
}

#[test]
fn missing_objects_cannot_be_imported() {
    let mut bench = EngineFixture::new();
    let run = bench.plan(IMPORT_CONFIG);
    expect![[r#"
        calls: 
        error test_thing.a: Cannot import non-existent remote object
    "#]]
    .assert_eq(&run.describe_run());
}

const IMPORT_WITHOUT_RESOURCE: &str = "import {\n  to = test_thing.a\n  id = \"a-1\"\n}\n";

/// Result of planning with a configuration that is to be generated, and the generated
/// configuration.
fn plan_with_generated_config(bench: &EngineFixture, config: &str) -> String {
    let mut loaded = LoadedConfig::load(config);
    let mut diags = Diagnostics::new();
    if loaded.config.add_placeholder_resources(&mut diags).is_err() {
        return RunResult { plan: None, applied: None, diags, calls: Vec::new() }
            .describe_diagnostics();
    }
    let pool = ProviderPool::new(&bench.cloud);
    let plan = block_on(bench.plan_in_session(&loaded, &pool, &mut diags));
    let run = RunResult { plan, applied: None, diags, calls: Vec::new() };
    let generated = run.plan.iter().flat_map(|plan| plan.changes.values());
    let generated = generated.filter_map(|change| {
        let importing = change.importing.as_ref()?;
        Some(format!("{}\n", importing.generated_config.as_ref()?))
    });
    format!(
        "{}{}{}",
        run.describe_changes(),
        run.describe_diagnostics(),
        generated.collect::<String>()
    )
}

#[test]
fn missing_configuration_is_generated_from_the_imported_object() {
    let mut bench = EngineFixture::with_applied(r#"resource "test_thing" "a" { name = "a" }"#);
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
    .assert_eq(&plan_with_generated_config(&bench, IMPORT_WITHOUT_RESOURCE));
}

#[test]
fn generated_configuration_is_planned_like_a_written_one() {
    let mut bench = EngineFixture::with_applied(
        "resource \"test_thing\" \"a\" {\n  name = \"a\"\n  secret = \"s\"\n}\n",
    );
    bench.file.state.resources.clear();
    bench.set_fault("plan a", CallFault::Refuses);
    expect![[r#"
        error test_thing.a: the cloud says no to plan
    "#]]
    .assert_eq(&plan_with_generated_config(&bench, IMPORT_WITHOUT_RESOURCE));
    // The secret is not written out, so what is generated would take it away: an update.
    bench.clear_faults();
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
    .assert_eq(&plan_with_generated_config(&bench, IMPORT_WITHOUT_RESOURCE));
}

#[test]
fn only_single_blocks_in_the_root_module_are_generated() {
    let bench = EngineFixture::new();
    // Terraform generates no `count` or `for_each` either.
    let output = plan_with_generated_config(
        &bench,
        "import {\n  to = test_thing.a[0]\n  id = \"a\"\n}\nimport {\n  to = test_thing.b[\"k\"]\n  id = \"b\"\n}\n",
    );
    expect![[r#"
        error -: Configuration for import target does not exist
        error -: Configuration for import target does not exist
    "#]]
    .assert_eq(&output);
}
