//! The rule `identity-known`: an identity is wholly known.

use formwork_value::Path;

use super::super::Violation;
use super::super::answer::JudgedAnswer;
use super::Rule;

/// Judges an answer.
pub(super) fn check(judged: &JudgedAnswer<'_>) -> Option<Violation> {
    let identity = judged.identity.as_ref()?.as_ref().ok()?.value();
    let is_kept = identity.is_null() || identity.is_wholly_known();
    (!is_kept)
        .then(|| Violation::new(Rule::IdentityKnown, &Path::root(), "its identity is not known"))
}

#[cfg(test)]
pub(super) use tests::cases;

#[cfg(test)]
mod tests {
    use formwork_value::{Type, Value};

    use super::*;
    use crate::contract::fixtures::{Case, identity_of, identity_type, judge_identity};

    /// Answers that break the rule, each with one that keeps it.
    pub(in crate::contract::rule) fn cases() -> Vec<Case> {
        let ty = identity_type();
        vec![Case {
            rule: Rule::IdentityKnown,
            broken: judge_identity(&identity_of(Value::unknown(Type::String)), Some(&ty)),
            kept: judge_identity(&identity_of(Value::string("1")), Some(&ty)),
        }]
    }
}
