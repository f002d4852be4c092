//! Violations of the contract's rules in one object, as `contract::check` reports them.

use formwork_plugin_protocol::contract::{
    AnswerToCheck, Call, Rule, TypeSchemas, Violation, check_answer,
};
use formwork_value::Plain;
use formwork_value::schema::Block;

use crate::message::Msg;
use crate::plugin;

/// Returns the parts that do not have the type of the schema.
pub(crate) fn type_violations(block: &Block, value: &Plain) -> Vec<Violation> {
    find_violations_of_rule(block, value, Rule::ObjectType)
}

/// Returns the unknown parts of an object that must be wholly known.
pub(crate) fn unknown_violations(value: &Plain, block: &Block) -> Vec<Violation> {
    find_violations_of_rule(block, value, Rule::ObjectKnown)
}

/// Returns the write-only attributes that are not null.
pub(crate) fn write_only_violations(block: &Block, value: &Plain) -> Vec<Violation> {
    find_violations_of_rule(block, value, Rule::WriteOnlyNull)
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
    let violations = violations_in_value(block, call, planned);
    violations.into_iter().filter(|violation| !is_form(violation.rule)).collect()
}

fn find_violations_of_rule(block: &Block, value: &Plain, rule: Rule) -> Vec<Violation> {
    let violations = violations_in_value(block, Call::Read, value);
    // As the answer to a read, because all three rules apply to that call.
    violations.into_iter().filter(|violation| violation.rule == rule).collect()
}

fn violations_in_value(block: &Block, call: Call<'_>, value: &Plain) -> Vec<Violation> {
    check_answer(
        &AnswerToCheck::for_call(call).with_object_of_unchecked_type(value),
        &TypeSchemas { object: block, identity: None },
    )
}

/// The most bytes of private data in the answer to a plan.
///
/// The legacy SDK keeps the configured text of an argument there, if the state has a digest of it. So a large
/// configuration may have private data of its size.
pub(crate) fn private_data_limit(call: &plugin::Call) -> usize {
    let request = call.recorded.requests.first().and_then(Msg::parse).unwrap_or_default();
    64 * 1024 + request.get_bytes(4).len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin::Reply;
    use crate::rpc::Rpc;

    #[test]
    fn private_data_may_grow_with_the_configuration() {
        let limit = |config: usize| {
            let request = Msg::new().with_text(1, "a").with_bytes(4, vec![0; config]);
            let mut call = plugin::Call::with_reply(Rpc::PlanResourceChange, Reply::TimedOut);
            call.recorded.requests = vec![request.encode()];
            private_data_limit(&call)
        };
        assert_eq!(limit(0), 65_536);
        assert_eq!(limit(70_000), 135_536);
    }
}
