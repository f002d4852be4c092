//! Warnings of providers when they are loaded: reported once, by any command.

use super::EvalFixture;

const A: &str = r#"
    terraform {
      required_providers {
        test = { source = "hashicorp/test" }
      }
    }
    resource "test_thing" "a" { name = "a" }
    output "o" { value = provider::test::shout(test_thing.a.id) }"#;

const ONCE: &str = "warning provider registry.terraform.io/hashicorp/test: mind the gap\n";

fn warning() -> EvalFixture {
    let bench = EvalFixture::new();
    bench.cloud.things().warning = Some("mind the gap".into());
    bench
}

#[test]
fn what_a_provider_warns_of_when_it_is_loaded_is_reported_once() {
    assert_eq!(warning().plan(A).said(), ONCE);
    assert_eq!(warning().validate(A).said(), ONCE);
    let mut bench = warning();
    assert_eq!(bench.apply(A).said(), ONCE);
    assert_eq!(bench.destroy(A).said(), ONCE);
}

#[test]
fn what_a_provider_warns_of_is_reported_beside_what_is_wrong() {
    let wrong = format!("{A}\nresource \"test_thing\" \"b\" {{}}\n");
    let said = format!("error -: Missing required argument\n{ONCE}");
    assert_eq!(warning().plan(&wrong).said(), said);
    assert_eq!(warning().validate(&wrong).said(), said);
}

#[test]
fn a_process_that_dies_while_it_is_loaded_has_warned_for_the_next_one() {
    // Before it has returned its schemas, and after that.
    for call in ["schema 1", "identities 1"] {
        let mut bench = warning();
        bench.cloud.things().deaths.insert(call.into());
        let said = format!("{ONCE}warning -: Provider was asked a second time\n");
        assert_eq!(bench.plan(A).said(), said, "{call}");
    }
}

#[test]
fn a_question_that_was_put_twice_is_reported_once() {
    for call in ["read a-1", "shout a-1"] {
        let mut bench = EvalFixture::after(A);
        bench.cloud.things().deaths.insert(call.into());
        let said = bench.plan(A).said();
        assert_eq!(said.matches("asked a second time").count(), 1, "{call}: {said}");
        assert_eq!(said.lines().count(), 1, "{call}: {said}");
    }
}

#[test]
fn what_several_met_with_in_the_same_words_is_reported_once() {
    let two = format!("{A}\noutput \"b\" {{ value = provider::test::shout(\"b\") }}\n");
    let mut bench = EvalFixture::after(&two);
    bench.cloud.things().deaths.extend(["shout a-1".into(), "shout b".into()]);
    let said = bench.plan(&two).said();
    assert_eq!(said.matches("asked a second time").count(), 1, "{said}");
}
