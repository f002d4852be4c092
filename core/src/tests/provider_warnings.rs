//! Warnings of providers when they are loaded: reported once, by any command.

use super::EngineFixture;

const RESOURCE_A: &str = r#"
    terraform {
      required_providers {
        test = { source = "hashicorp/test" }
      }
    }
    resource "test_thing" "a" { name = "a" }
    output "o" { value = provider::test::shout(test_thing.a.id) }"#;

const WARNING_ONCE: &str = "warning provider registry.terraform.io/hashicorp/test: mind the gap\n";

fn fixture_with_warning() -> EngineFixture {
    let bench = EngineFixture::new();
    bench.cloud.lock_contents().warning = Some("mind the gap".into());
    bench
}

#[test]
fn warnings_of_loading_a_provider_are_reported_once() {
    assert_eq!(fixture_with_warning().plan(RESOURCE_A).describe_diagnostics(), WARNING_ONCE);
    assert_eq!(fixture_with_warning().validate(RESOURCE_A).describe_diagnostics(), WARNING_ONCE);
    let mut bench = fixture_with_warning();
    assert_eq!(bench.apply(RESOURCE_A).describe_diagnostics(), WARNING_ONCE);
    assert_eq!(bench.destroy(RESOURCE_A).describe_diagnostics(), WARNING_ONCE);
}

#[test]
fn provider_warnings_are_reported_with_errors() {
    let wrong = format!("{RESOURCE_A}\nresource \"test_thing\" \"b\" {{}}\n");
    let expected = format!("error -: Missing required argument\n{WARNING_ONCE}");
    assert_eq!(fixture_with_warning().plan(&wrong).describe_diagnostics(), expected);
    assert_eq!(fixture_with_warning().validate(&wrong).describe_diagnostics(), expected);
}

#[test]
fn a_process_that_dies_while_loading_warns_once() {
    // Before it has returned its schemas, and after that.
    for call in ["schema 1", "identities 1"] {
        let mut bench = fixture_with_warning();
        bench.cloud.lock_contents().deaths.insert(call.into());
        let expected = format!("{WARNING_ONCE}warning -: Provider was asked a second time\n");
        assert_eq!(bench.plan(RESOURCE_A).describe_diagnostics(), expected, "{call}");
    }
}

#[test]
fn warnings_of_a_retried_call_are_reported_once() {
    for call in ["read a-1", "shout a-1"] {
        let mut bench = EngineFixture::with_applied(RESOURCE_A);
        bench.cloud.lock_contents().deaths.insert(call.into());
        let warnings = bench.plan(RESOURCE_A).describe_diagnostics();
        assert_eq!(warnings.matches("asked a second time").count(), 1, "{call}: {warnings}");
        assert_eq!(warnings.lines().count(), 1, "{call}: {warnings}");
    }
}

#[test]
fn equal_warnings_of_several_calls_are_reported_once() {
    let two = format!("{RESOURCE_A}\noutput \"b\" {{ value = provider::test::shout(\"b\") }}\n");
    let mut bench = EngineFixture::with_applied(&two);
    bench.cloud.lock_contents().deaths.extend(["shout a-1".into(), "shout b".into()]);
    let warnings = bench.plan(&two).describe_diagnostics();
    assert_eq!(warnings.matches("asked a second time").count(), 1, "{warnings}");
}
