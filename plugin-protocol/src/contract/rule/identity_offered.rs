//! The rule `identity-offered`: the resource type of an identity has identities.

use formwork_value::Path;

use super::super::Violation;
use super::super::answer::JudgedAnswer;
use super::Rule;

/// Judges an answer.
pub(super) fn check(judged: &JudgedAnswer<'_>) -> Option<Violation> {
    // Without a schema the bytes cannot be read, so no other rule about identities is broken.
    let is_offered = judged.schemas.identity.is_some();
    judged
        .answer
        .identity
        .filter(|_| !is_offered)
        .map(|_| Violation::new(Rule::IdentityOffered, &Path::root(), "its type has no identities"))
}

#[cfg(test)]
pub(super) use tests::cases;

#[cfg(test)]
mod tests {
    use formwork_value::Value;

    use super::*;
    use crate::Payload;
    use crate::contract::fixtures::{
        Case, identity_of, identity_type, judge_identity, unreadable_identity,
    };

    /// Answers that break the rule, each with one that keeps it.
    pub(in crate::contract::rule) fn cases() -> Vec<Case> {
        let (ty, good) = (identity_type(), identity_of(Value::string("1")));
        let rule = Rule::IdentityOffered;
        vec![
            Case {
                rule,
                broken: judge_identity(&good, None),
                kept: judge_identity(&good, Some(&ty)),
            },
            Case {
                rule,
                broken: judge_identity(&unreadable_identity(), None),
                kept: judge_identity(&Payload::Absent, None),
            },
        ]
    }
}
