//! Rules of the contract as pure functions: the requests of a host, and the checks of a provider's
//! answers. This module makes no calls, and does not decide on the consequence of a violation.
//!
//! Answers are checked only here, against the rules of [`Rule`]: those with an object by
//! [`check_answer`], others by a function for their kind. A host, an SDK and a conformance suite
//! therefore get the same verdict.
//!
//! Four checks are elsewhere, because they are not rules about an answer. `Schema::validate` is
//! also for authors of schemas. `StateAssembly` assembles a state from the chunks. The limit of a
//! message is the host's own, and so is that of an object that has to fit into one. A list is
//! searched for one object, and an object in it that cannot be read ends the search.

mod answer;
mod check;
mod check_function;
mod check_state_store;
pub mod conform;
mod element_index;
#[cfg(test)]
mod fixtures;
pub mod ignore_changes;
mod inspect_values;
pub mod legacy_null_blocks;
pub mod propose;
pub mod requires_replace;
mod rule;

pub use answer::{AnswerToCheck, Call, TypeSchemas};
pub use check::check_answer;
pub use check_function::check_function_result;
pub use check_state_store::{check_chunk_size, check_lock_id, check_state_ids};
use formwork_value::Path;
pub use rule::Rule;

/// One part of an answer that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", path_prefix_of_message(path))]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// Path inside the value; empty for all of it.
    pub path: Path,
    /// Description of the violation. Values of sensitive attributes are left out.
    pub message: String,
    /// Whether the message holds values.
    quotes_values: bool,
}

fn path_prefix_of_message(path: &Path) -> String {
    if path.0.is_empty() { String::new() } else { format!("{path}: ") }
}

impl Violation {
    fn new(rule: Rule, path: &Path, message: impl Into<String>) -> Self {
        Self { rule, path: path.clone(), message: message.into(), quotes_values: false }
    }

    fn new_quoting_values(rule: Rule, path: &Path, message: String) -> Self {
        Self { quotes_values: true, ..Self::new(rule, path, message) }
    }

    /// The violation as it may be reported where `secrets` must not be seen.
    #[must_use]
    pub fn without_secrets(self, secrets: &[Path]) -> Self {
        // Both directions: a value holds its parts, so a finding about a parent would print the
        // secret too.
        let is_related =
            |secret: &Path| secret.starts_with(&self.path) || self.path.starts_with(secret);
        match self.quotes_values && secrets.iter().any(is_related) {
            true => Self::new(self.rule, &self.path, "inconsistent values, which are sensitive"),
            false => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_about_the_whole_value_has_no_path() {
        let root = Path::default();
        assert_eq!(
            Violation::new(Rule::ResultValue, &root, "it is gone").to_string(),
            "it is gone"
        );
        let inside = Path(vec![formwork_value::Step::Attribute("size".into())]);
        assert_eq!(
            Violation::new(Rule::ResultValue, &inside, "it is gone").to_string(),
            ".size: it is gone"
        );
    }

    #[test]
    fn a_violation_contains_no_secret_values() {
        let users = Path::root().attribute("users");
        let password = users.index(0).attribute("password");
        let printed = |path: &Path, secret: &Path| {
            let violation = Violation::new_quoting_values(
                Rule::ResultValue,
                path,
                "was \"hunter2\"".to_owned(),
            );
            violation.without_secrets(std::slice::from_ref(secret)).to_string()
        };
        let hidden = "inconsistent values, which are sensitive";
        assert_eq!(printed(&password, &password), format!(".users[0].password: {hidden}"));
        assert_eq!(printed(&users, &password), format!(".users: {hidden}"));
        assert_eq!(printed(&password, &users), format!(".users[0].password: {hidden}"));
        let name = users.index(0).attribute("name");
        assert_eq!(printed(&name, &password), ".users[0].name: was \"hunter2\"");
    }
}
