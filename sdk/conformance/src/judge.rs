//! Violations of the contract's rules in one object, as `contract::check` reports them.

use formwork_plugin_protocol::contract::{Call, Exchange, Rule, Schemas, Violation, check};
use formwork_value::Plain;
use formwork_value::schema::Block;

/// Returns the parts that do not have the type of the schema.
pub(crate) fn type_violations(block: &Block, value: &Plain) -> Vec<Violation> {
    read(block, value, Rule::ObjectType)
}

/// Returns the unknown parts of an object that must be wholly known.
pub(crate) fn unknown_violations(value: &Plain, block: &Block) -> Vec<Violation> {
    read(block, value, Rule::ObjectKnown)
}

/// Returns the write-only attributes that are not null.
pub(crate) fn write_only_violations(block: &Block, value: &Plain) -> Vec<Violation> {
    read(block, value, Rule::WriteOnlyNull)
}

/// Returns the parts of a planned object that contradict the configuration.
pub(crate) fn plan_violations(
    block: &Block,
    prior: &Plain,
    config: &Plain,
    planned: &Plain,
) -> Vec<Violation> {
    // No paths: what forces a replacement has a rule of its own here (P-09).
    let call = Call::Plan { prior, config, requires_replace: &[], legacy: false };
    // The form has rules of its own (P-01, P-04) and does not count twice.
    let is_form = |rule| matches!(rule, Rule::ObjectType | Rule::WriteOnlyNull);
    let violations = judged(block, call, planned);
    violations.into_iter().filter(|violation| !is_form(violation.rule)).collect()
}

fn read(block: &Block, value: &Plain, rule: Rule) -> Vec<Violation> {
    let violations = judged(block, Call::Read, value);
    // As the answer to a read, because that call is held to all three rules.
    violations.into_iter().filter(|violation| violation.rule == rule).collect()
}

fn judged(block: &Block, call: Call<'_>, value: &Plain) -> Vec<Violation> {
    check(&Exchange::for_call(call).value(value), &Schemas { object: block, identity: None })
}
