//! Each rule with an answer that breaks it and one that keeps it. Those of rules with a file of their own, of
//! functions and of state stores are in their files.

use std::collections::BTreeSet;

use formwork_value::schema::{Attribute, Block, Nesting, Role};
use formwork_value::{Plain, Refinement, Step, Type, Value};

use super::super::fixtures::{
    Case, attributes_block, attributes_of_each_role, block_value, block_value_missing_blocks_null,
    nested_attribute, text_attribute, with_nested_block, with_unknown_attribute,
};
use super::super::{check_function, check_state_store, rule};
use super::*;
use crate::Payload;

fn plain(value: Value) -> Plain {
    value.split_marks().0
}

fn null(schema: &Block) -> Plain {
    plain(Value::null(schema.implied_type()))
}

fn secret() -> Block {
    let mut secret = text_attribute(Role::Optional);
    secret.write_only = true;
    let mut attributes = attributes_of_each_role();
    attributes.push(("secret", secret));
    attributes_block(attributes)
}

/// Judges one answer about objects without identities.
fn judged(schema: &Block, exchange: &AnswerToCheck<'_>) -> Vec<Violation> {
    check_answer(exchange, &TypeSchemas { object: schema, identity: None })
}

fn simple(rule: Rule, call: Call<'_>, broken: &Plain, kept: &Plain) -> Case {
    let schema = secret();
    let judge = |object| {
        judged(&schema, &AnswerToCheck::for_call(call).with_object_of_unchecked_type(object))
    };
    Case { rule, broken: judge(broken), kept: judge(kept) }
}

/// A plan of `config`, without a prior object.
fn plan(rule: Rule, schema: &Block, config: &Plain, broken: &Plain, kept: &Plain) -> Case {
    let prior = null(schema);
    let call = Call::Plan { prior: &prior, config, requires_replace: &[], legacy: false };
    let judge = |object| {
        judged(schema, &AnswerToCheck::for_call(call).with_object_of_unchecked_type(object))
    };
    Case { rule, broken: judge(broken), kept: judge(kept) }
}

/// The violations of a plan.
fn result(rule: Rule, schema: &Block, planned: &Plain, broken: &Plain, kept: &Plain) -> Case {
    // Another rule covers unknown values in an applied object. A second plan may contain them.
    let call = Call::FinalPlan { shown: planned, replaced: &[] };
    let judge = |object| {
        judged(schema, &AnswerToCheck::for_call(call).with_object_of_unchecked_type(object))
    };
    Case { rule, broken: judge(broken), kept: judge(kept) }
}

fn form_cases() -> Vec<Case> {
    let schema = secret();
    let object = block_value(&schema, r#"{"name":"a","id":"1"}"#);
    let null_object = null(&schema);
    let violations_of = |exchange: AnswerToCheck<'_>| judged(&schema, &exchange);
    let bytes = Payload::Msgpack(Vec::new().into());
    let number = plain(Value::int(1));
    vec![
        Case {
            rule: Rule::NotDeferred,
            broken: violations_of(
                AnswerToCheck::for_call(Call::Read).with_disallowed_deferral(true),
            ),
            kept: violations_of(
                AnswerToCheck::for_call(Call::Read)
                    .with_disallowed_deferral(false)
                    .with_object_of_unchecked_type(&object),
            ),
        },
        Case {
            rule: Rule::ObjectPresent,
            broken: violations_of(
                AnswerToCheck::for_call(Call::Read)
                    .with_answered_object(&Payload::Absent, &null_object),
            ),
            kept: violations_of(
                AnswerToCheck::for_call(Call::Read).with_answered_object(&bytes, &null_object),
            ),
        },
        simple(Rule::ObjectNotNull, Call::ReadData, &null_object, &object),
        simple(Rule::ObjectKnown, Call::Read, &block_value(&schema, r#"{"name":"?"}"#), &object),
        simple(Rule::ObjectType, Call::PlanReplacement, &number, &object),
        simple(
            Rule::WriteOnlyNull,
            Call::Upgrade,
            &block_value(&schema, r#"{"name":"a","secret":"s"}"#),
            &object,
        ),
        simple(Rule::DestroyPlanNull, Call::PlanDestroy, &object, &null_object),
        simple(
            Rule::DestroyedNull,
            Call::Apply { planned: &null_object, legacy: true },
            &object,
            &null_object,
        ),
        Case {
            rule: Rule::ImportType,
            broken: violations_of(
                AnswerToCheck::for_call(Call::Import { asked: "acme_a", found: "acme_b" })
                    .with_object_of_unchecked_type(&object),
            ),
            kept: violations_of(
                AnswerToCheck::for_call(Call::Import { asked: "acme_a", found: "acme_a" })
                    .with_object_of_unchecked_type(&object),
            ),
        },
    ]
}

fn plan_cases() -> Vec<Case> {
    let schema = attributes_block(attributes_of_each_role());
    let of = |text: &str| block_value(&schema, text);
    let config = of(r#"{"name":"a"}"#);
    let valid_plan = of(r#"{"name":"a","id":"?"}"#);
    let single = attributes_block(vec![(
        "x",
        nested_attribute(Nesting::List, Role::Optional, attributes_of_each_role()),
    )]);
    let in_single = |text: &str| block_value(&single, text);
    let single_element = in_single(r#"{"x":[{"name":"a"}]}"#);
    let blocks = with_nested_block(
        attributes_block(vec![]),
        "b",
        Nesting::List,
        attributes_block(attributes_of_each_role()),
    );
    let in_blocks = |text: &str| block_value(&blocks, text);
    let block_config = in_blocks(r#"{"b":[{"name":"a"}]}"#);
    // A `dynamic` block over an unknown value makes all blocks of its type unknown.
    let dynamic = with_unknown_attribute(&in_blocks("{}"), "b");
    vec![
        plan(Rule::PlanExistence, &schema, &config, &null(&schema), &valid_plan),
        plan(Rule::PlanConfigKept, &schema, &config, &of(r#"{"name":"b"}"#), &valid_plan),
        plan(
            Rule::PlanComputedOnly,
            &schema,
            &config,
            &of(r#"{"name":"a","note":"n"}"#),
            &valid_plan,
        ),
        plan(
            Rule::PlanNestedKnown,
            &single,
            &single_element,
            &with_unknown_attribute(&single_element, "x"),
            &single_element,
        ),
        plan(
            Rule::PlanElements,
            &single,
            &single_element,
            &in_single(r#"{"x":[]}"#),
            &single_element,
        ),
        plan(
            Rule::PlanBlocksNotNull,
            &blocks,
            &in_blocks("{}"),
            // `raw` leaves missing blocks null, and `value` makes them empty.
            &block_value_missing_blocks_null(&blocks, "{}"),
            &in_blocks("{}"),
        ),
        plan(
            Rule::PlanBlocksKnown,
            &blocks,
            &block_config,
            &with_unknown_attribute(&block_config, "b"),
            &block_config,
        ),
        plan(Rule::PlanDynamicKept, &blocks, &dynamic, &block_config, &dynamic),
    ]
}

fn replace_cases() -> Vec<Case> {
    let schema = attributes_block(attributes_of_each_role());
    let prior = block_value(&schema, r#"{"name":"a"}"#);
    let judge = |call, object| {
        judged(&schema, &AnswerToCheck::for_call(call).with_object_of_unchecked_type(object))
    };
    let paths = |name: &str| [Path::root().attribute(name)];
    let (missing_path, name) = (paths("nowhere"), paths("name"));
    let replace = |paths| judge(Call::Replace { prior: &prior, paths }, &prior);
    let final_plan = |replaced| judge(Call::FinalPlan { shown: &prior, replaced }, &prior);
    vec![
        Case {
            rule: Rule::ReplacePathExists,
            broken: replace(&missing_path),
            kept: replace(&name),
        },
        Case { rule: Rule::FinalPlanInPlace, broken: final_plan(&name), kept: final_plan(&[]) },
    ]
}

fn result_cases() -> Vec<Case> {
    let schema = attributes_block(attributes_of_each_role());
    let of = |text: &str| block_value(&schema, text);
    let planned = of(r#"{"name":"a","id":"?"}"#);
    let created = of(r#"{"name":"a","id":"1"}"#);
    let any: Attribute = Attribute::new(Type::Dynamic, Role::OptionalComputed);
    let dynamic = attributes_block(vec![("any", any)]);
    let holding = |value: Value| plain(Value::object([("any", value)]));
    let prefix = Refinement { prefix: Some("acme-".into()), ..Refinement::default() };
    let prefixed = holding(Value::refined(Type::String, prefix));
    let mut computed = with_nested_block(
        attributes_block(vec![]),
        "b",
        Nesting::List,
        attributes_block(attributes_of_each_role()),
    );
    computed.blocks.values_mut().for_each(|nested| nested.computed = true);
    let blocks = |text: &str| block_value(&computed, text);
    let one_block = blocks(r#"{"b":[{"name":"a"}]}"#);
    vec![
        result(Rule::ResultExistence, &schema, &planned, &null(&schema), &created),
        result(Rule::ResultValue, &schema, &planned, &of(r#"{"name":"b","id":"1"}"#), &created),
        result(Rule::ResultKnown, &schema, &planned, &of(r#"{"name":"?","id":"1"}"#), &created),
        result(
            Rule::ResultType,
            &dynamic,
            &holding(Value::string("a")),
            &holding(Value::int(1)),
            &holding(Value::string("a")),
        ),
        result(
            Rule::ResultPlaceholder,
            &dynamic,
            &prefixed,
            &holding(Value::string("other")),
            &holding(Value::string("acme-1")),
        ),
        result(Rule::ResultElements, &computed, &one_block, &blocks(r#"{"b":[]}"#), &one_block),
        result(
            Rule::ResultBlocksNotNull,
            &computed,
            &one_block,
            &block_value_missing_blocks_null(&computed, "{}"),
            &one_block,
        ),
    ]
}

#[test]
fn every_rule_has_an_answer_that_breaks_it_and_one_that_keeps_it() {
    let cases = [
        form_cases(),
        rule::cases_in_files(),
        plan_cases(),
        replace_cases(),
        result_cases(),
        check_function::cases(),
        check_state_store::cases(),
    ];
    let mut covered = BTreeSet::new();
    for Case { rule, broken, kept } in cases.into_iter().flatten() {
        let rules: Vec<_> = broken.iter().map(|violation| violation.rule).collect();
        assert_eq!(rules, [rule], "broken: {broken:?}");
        assert!(kept.is_empty(), "{rule} is kept: {kept:?}");
        covered.insert(rule);
    }
    let missing: Vec<_> = Rule::ALL.iter().filter(|rule| !covered.contains(rule)).collect();
    assert!(missing.is_empty(), "rules without a case: {missing:?}");
}

#[test]
fn every_rule_documents_its_requirement_source_and_affected_party() {
    let ids: BTreeSet<_> = Rule::ALL.iter().map(|rule| rule.id()).collect();
    assert_eq!(ids.len(), Rule::ALL.len(), "an id names one rule");
    for rule in Rule::ALL {
        let is_id = |id: &str| id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        assert!(is_id(rule.id()), "{rule}");
        assert!(rule.text().ends_with('.'), "{rule}: {}", rule.text());
        assert!(rule.terraform_file().contains('/'), "{rule}: {}", rule.terraform_file());
        assert!(rule.affected_party().starts_with("the "), "{rule}: {}", rule.affected_party());
    }
}

#[test]
fn the_content_of_an_object_with_an_invalid_form_is_not_checked() {
    let schema = secret();
    let config = block_value(&schema, r#"{"name":"a"}"#);
    // `name` differs from the configuration too, which is not judged any more.
    let leaked = block_value(&schema, r#"{"name":"b","secret":"s"}"#);
    let prior = null(&schema);
    let call = Call::Plan { prior: &prior, config: &config, requires_replace: &[], legacy: false };
    let violations =
        judged(&schema, &AnswerToCheck::for_call(call).with_object_of_unchecked_type(&leaked));
    let [violation] = &violations[..] else { panic!("{violations:?}") };
    assert_eq!(violation.rule, Rule::WriteOnlyNull);
    assert_eq!(violation.path.0, [Step::Attribute("secret".into())]);
}

#[test]
fn only_the_form_of_legacy_sdk_answers_is_checked() {
    let schema = secret();
    let config = block_value(&schema, r#"{"name":"a"}"#);
    let changed = block_value(&schema, r#"{"name":"b"}"#);
    let prior = null(&schema);
    // Terraform only logs what a provider with `legacy_type_system` changes against the rules.
    for legacy in [true, false] {
        let plan = Call::Plan { prior: &prior, config: &config, requires_replace: &[], legacy };
        let apply = Call::Apply { planned: &config, legacy };
        for call in [plan, apply] {
            let violations = judged(
                &schema,
                &AnswerToCheck::for_call(call).with_object_of_unchecked_type(&changed),
            );
            assert_eq!(violations.is_empty(), legacy, "{violations:?}");
            let absence_violations = judged(
                &schema,
                &AnswerToCheck::for_call(apply).with_object_of_unchecked_type(&prior),
            );
            assert_eq!(absence_violations.len(), 1, "an object that is gone is never tolerated");
        }
    }
}

#[test]
fn all_violations_of_an_object_are_reported() {
    let schema = secret();
    let object = block_value(&schema, r#"{"name":"?","id":"?","secret":"s"}"#);
    let violations = judged(
        &schema,
        &AnswerToCheck::for_call(Call::Read).with_object_of_unchecked_type(&object),
    );
    let lines: Vec<_> = violations.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            ".secret: write-only attribute is not null",
            ".id: the value is unknown",
            ".name: the value is unknown",
        ]
    );
}
