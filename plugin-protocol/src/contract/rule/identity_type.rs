//! The rule `identity-type`: an identity has the form of its schema.

use formwork_value::Path;

use super::super::Violation;
use super::super::answer::JudgedAnswer;
use super::Rule;

/// Judges an answer.
pub(super) fn check(judged: &JudgedAnswer<'_>) -> Option<Violation> {
    let error = judged.identity.as_ref()?.as_ref().err()?;
    Some(Violation::new(Rule::IdentityType, &Path::root(), error.to_string()))
}

#[cfg(test)]
pub(super) use tests::cases;

#[cfg(test)]
mod tests {
    use formwork_value::Value;

    use super::*;
    use crate::contract::fixtures::{
        Case, identity_of, identity_type, judge_identity, unreadable_identity,
    };

    /// Answers that break the rule, each with one that keeps it.
    pub(in crate::contract::rule) fn cases() -> Vec<Case> {
        let ty = identity_type();
        vec![Case {
            rule: Rule::IdentityType,
            broken: judge_identity(&unreadable_identity(), Some(&ty)),
            kept: judge_identity(&identity_of(Value::string("1")), Some(&ty)),
        }]
    }
}
