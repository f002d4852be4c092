//! The rules as a page of the documentation.

use super::{all_rules, example_of_broken_rule, family_of};

/// Returns the rules as Markdown: a section for each family, a row for each rule.
#[must_use]
pub fn rules_markdown() -> String {
    let mut out = String::from(
        "# Rules of the conformance suite\n\n\
         Made from the table in `sdk/conformance/src/rules`. [conformance.md](conformance.md) says how \
         the rules are checked.\n",
    );
    let mut family = "";
    for rule in all_rules() {
        let own = family_of(rule.id);
        if own != family {
            family = own;
            out.push_str(&format!(
                "\n## {own}\n\n| rule | level | text | a provider that breaks it | harm | correction |\n\
                 | --- | --- | --- | --- | --- | --- |\n"
            ));
        }
        out.push_str(&format!(
            "| {} {} | {} | {}. | {} | {} | {} |\n",
            rule.id,
            rule.severity.word(),
            rule.level,
            escape_cell(rule.text),
            escape_cell(example_of_broken_rule(rule.id)),
            escape_cell(rule.harm),
            escape_cell(rule.fix),
        ));
    }
    out
}

/// The text without what ends a cell of a table.
fn escape_cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;

    #[test]
    fn the_page_of_rules_is_that_of_the_documentation() {
        expect_file!["../../../../docs/conformance-rules.md"].assert_eq(&super::rules_markdown());
    }
}
