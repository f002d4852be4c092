//! The rules as a page of the documentation.

use formwork_plugin_protocol::contract;

use super::contract_rules::ids_that_test;
use super::{all_rules, contract_rules_tested_by, example_of_broken_rule, family_of};

/// Returns the rules as Markdown: a section for each family, a row for each rule.
#[must_use]
pub fn rules_markdown() -> String {
    let mut out = String::from(
        "# Rules of the conformance suite\n\n\
         Generated from the table in `sdk/conformance/src/rules`. [conformance.md](conformance.md) \
         describes the checks. Names such as `object-known` are those of \
         [rules of the contract](#rules-of-the-contract).\n",
    );
    let mut family = "";
    for rule in all_rules() {
        let family_of_rule = family_of(rule.id);
        if family_of_rule != family {
            family = family_of_rule;
            out.push_str(&format!(
                "\n## {family_of_rule}\n\n| rule | level | text | a provider that breaks it | harm | correction |\n\
                 | --- | --- | --- | --- | --- | --- |\n"
            ));
        }
        out.push_str(&format!(
            "| {} {} | {} | {}.{} | {} | {} | {} |\n",
            rule.id,
            rule.severity.word(),
            rule.level,
            escape_cell(rule.text),
            contract_names(rule.id),
            escape_cell(example_of_broken_rule(rule.id)),
            escape_cell(rule.harm),
            escape_cell(rule.fix),
        ));
    }
    push_contract_rules(&mut out);
    out
}

/// The contract rules that a rule tests, after its text.
fn contract_names(id: &str) -> String {
    let names: Vec<_> = contract_rules_tested_by(id).map(|rule| format!("`{rule}`")).collect();
    if names.is_empty() { String::new() } else { format!(" Contract: {}.", names.join(", ")) }
}

/// Adds the contract rules, which a host names in the error about a broken answer.
fn push_contract_rules(out: &mut String) {
    out.push_str(
        "\n## Rules of the contract\n\n\
         Formwork and the SDK test kit check each answer against these rules, and name the rule that \
         an answer breaks. Generated from the table in `plugin-protocol/src/contract/rule.rs`.\n\n\
         | rule | text | harm to | rules of the suite | file of Terraform 1.11 |\n\
         | --- | --- | --- | --- | --- |\n",
    );
    for rule in contract::Rule::ALL {
        let ids = ids_that_test(*rule);
        out.push_str(&format!(
            "| {rule} | {} | {} | {} | `{}` |\n",
            escape_cell(rule.text()),
            escape_cell(rule.affected_party()),
            if ids.is_empty() { "none".to_owned() } else { ids.join(", ") },
            rule.terraform_file(),
        ));
    }
}

/// The text without the characters that end a cell of a table.
fn escape_cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;

    #[test]
    fn the_documentation_matches_the_rules() {
        expect_file!["../../../../docs/conformance-rules.md"].assert_eq(&super::rules_markdown());
    }
}
