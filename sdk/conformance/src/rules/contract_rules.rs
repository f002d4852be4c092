//! The rules of the contract, each with the rules of the suite that test it.

use formwork_plugin_protocol::contract::Rule;

/// Ids of the suite's rules by the rule of the contract that they test, in the order of [`Rule::ALL`]. A rule
/// without a row is about an answer that no check provokes.
const TESTS_BY_CONTRACT_RULE: &[(Rule, &[&str])] = &[
    (Rule::NotDeferred, &["P-17"]),
    (Rule::ObjectPresent, &["R-05", "U-07"]),
    (Rule::ObjectNotNull, &["D-01", "I-03"]),
    (Rule::ObjectKnown, &["A-01", "D-01", "E-01", "I-03", "R-01"]),
    (Rule::ObjectType, &["A-01", "D-01", "I-03", "P-01", "R-01"]),
    (Rule::WriteOnlyNull, &["A-04", "P-04", "R-01"]),
    (Rule::IdentityOffered, &["P-19", "R-06"]),
    (Rule::IdentityType, &["P-19", "R-06"]),
    (Rule::ImportType, &["I-03"]),
    (Rule::DestroyPlanNull, &["P-12"]),
    (Rule::DestroyedNull, &["A-11"]),
    (Rule::ReplacePathExists, &["P-09"]),
    (Rule::PlanExistence, &["P-02", "P-03"]),
    (Rule::PlanConfigKept, &["P-02"]),
    (Rule::PlanComputedOnly, &["P-02"]),
    (Rule::PlanNestedKnown, &["P-02"]),
    (Rule::PlanElements, &["P-02", "P-03"]),
    (Rule::PlanBlocksNotNull, &["P-03"]),
    (Rule::PlanBlocksKnown, &["P-03"]),
    (Rule::PlanDynamicKept, &["P-03"]),
    (Rule::ResultExistence, &["A-02", "A-03", "A-08", "P-06"]),
    (Rule::ResultValue, &["A-02", "A-03", "A-08", "P-06", "P-11"]),
    (Rule::ResultKnown, &["A-02", "A-08", "P-06"]),
    (Rule::ResultType, &["A-02", "A-08", "P-06"]),
    (Rule::ResultPlaceholder, &["A-08", "P-06", "P-20"]),
    (Rule::ResultElements, &["A-02", "A-08", "P-06"]),
    (Rule::ResultBlocksNotNull, &["A-02", "A-08", "P-06"]),
    (Rule::FunctionType, &["F-02"]),
    (Rule::FunctionKnown, &["F-02"]),
    (Rule::LockId, &["T-02"]),
];

/// Returns the rules of the contract that a rule of the suite tests.
pub fn contract_rules_tested_by(id: &str) -> impl Iterator<Item = Rule> {
    let table = TESTS_BY_CONTRACT_RULE.iter();
    table.filter(move |(_, ids)| ids.contains(&id)).map(|(rule, _)| *rule)
}

/// Returns the ids of the suite's rules that test a rule of the contract.
pub(super) fn ids_that_test(rule: Rule) -> &'static [&'static str] {
    let mut table = TESTS_BY_CONTRACT_RULE.iter();
    table.find(|(contract_rule, _)| *contract_rule == rule).map(|(_, ids)| *ids).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::find_rule;

    #[test]
    fn the_rows_are_in_the_order_of_the_contract() {
        let rows: Vec<_> = TESTS_BY_CONTRACT_RULE.iter().map(|(rule, _)| *rule).collect();
        let is_listed = |rule: &Rule| rows.contains(rule);
        let rules: Vec<_> = Rule::ALL.iter().copied().filter(is_listed).collect();
        assert_eq!(rows, rules);
    }

    #[test]
    fn the_rows_name_rules_of_the_suite_in_order() {
        for (rule, ids) in TESTS_BY_CONTRACT_RULE {
            assert!(!ids.is_empty() && ids.is_sorted(), "{rule}");
            for id in *ids {
                assert!(find_rule(id).is_some(), "{rule}: {id}");
                assert!(contract_rules_tested_by(id).any(|tested| tested == *rule), "{id}");
            }
        }
    }
}
