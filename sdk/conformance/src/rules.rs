//! The table of rules: id, severity, level, text, source, harm and correction of every check.

mod contract_rules;
mod examples;
mod handshake_and_process;
mod lifecycle;
mod markdown;
mod other_kinds;
mod planning;
mod read_upgrade_move;
mod robustness_and_secrets;
mod schema;
mod validate_and_configure;

pub use contract_rules::contract_rules_tested_by;
pub use examples::example_of_broken_rule;
pub use markdown::rules_markdown;

/// Severity of a broken rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The protocol or Terraform enforces it, or breaking it loses data.
    Must,
    /// Good providers keep it.
    Should,
}

impl Severity {
    /// Returns the severity as a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
        }
    }
}

/// A rule that providers are held to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The id, `P-02`.
    pub id: &'static str,
    /// The severity.
    pub severity: Severity,
    /// The lowest level at which it is checked, 0 to 3.
    pub level: u8,
    /// The rule as a sentence.
    pub text: &'static str,
    /// The specification or program that the rule comes from.
    pub source: &'static str,
    /// The harm to a user when it is broken.
    pub harm: &'static str,
    /// The correction.
    pub fix: &'static str,
}

/// Families of rules by the first letter of their ids, in the order of reports.
pub const RULE_FAMILIES: [(&str, &str); 16] = [
    ("H", "Handshake and process"),
    ("S", "Schema and metadata"),
    ("V", "Validation"),
    ("C", "Configure"),
    ("P", "Planning"),
    ("A", "Apply life cycle"),
    ("R", "Read"),
    ("U", "Upgrade"),
    ("M", "Move"),
    ("I", "Import and generated configuration"),
    ("L", "List"),
    ("D", "Data sources"),
    ("E", "Ephemeral resources"),
    ("F", "Functions"),
    ("X", "Actions"),
    ("T", "State stores"),
];

/// The last two families, which concern all calls.
pub const CROSS_CALL_FAMILIES: [(&str, &str); 2] =
    [("Z", "Robustness"), ("K", "Secrets and supply chain")];

/// Iterates over all rules in the order of reports.
pub fn all_rules() -> impl Iterator<Item = &'static Rule> {
    // Reports have the rules in this order.
    [
        handshake_and_process::RULES,
        schema::RULES,
        validate_and_configure::RULES,
        planning::RULES,
        lifecycle::RULES,
        read_upgrade_move::RULES,
        other_kinds::RULES,
        robustness_and_secrets::RULES,
    ]
    .into_iter()
    .flatten()
}

/// Returns the rule with this id.
#[must_use]
pub fn find_rule(id: &str) -> Option<&'static Rule> {
    all_rules().find(|rule| rule.id == id)
}

/// Returns the name of the family that a rule belongs to.
#[must_use]
pub fn family_of(id: &str) -> &'static str {
    // Ids are ASCII, so that one byte is one letter; `min` is for an empty id.
    let letter = &id[..id.len().min(1)];
    let mut families = RULE_FAMILIES.iter().chain(&CROSS_CALL_FAMILIES);
    families.find(|(family_letter, _)| *family_letter == letter).map_or("Other", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_table_has_175_rules_with_distinct_ids() {
        let ids: BTreeSet<_> = all_rules().map(|rule| rule.id).collect();
        assert_eq!((all_rules().count(), ids.len()), (175, 175));
    }

    #[test]
    fn every_rule_has_texts_and_belongs_to_a_family() {
        for rule in all_rules() {
            for text in [rule.text, rule.source, rule.harm, rule.fix] {
                assert!(!text.is_empty(), "{}", rule.id);
            }
            assert_ne!(family_of(rule.id), "Other", "{}", rule.id);
        }
    }
}
