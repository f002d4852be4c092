//! The rules about answers of state stores. Chunks of a state are judged where they are assembled.

use std::collections::BTreeSet;

use formwork_value::Path;

use super::{Rule, Violation};

/// Judges the size of chunks that a state store chooses, in bytes. Sizes up to `largest` are possible.
///
/// # Errors
/// The rule that it breaks.
pub fn check_chunk_size(size: i64, max_size: i64) -> Result<(), Violation> {
    if (1..=max_size).contains(&size) {
        return Ok(());
    }
    let message = format!(
        "it sets the size of chunks to {size} bytes, and sizes from 1 to {max_size} are possible"
    );
    Err(Violation::new(Rule::ChunkSize, &Path::root(), message))
}

/// Judges the id of a lock.
///
/// # Errors
/// The rule that it breaks.
pub fn check_lock_id(id: &str) -> Result<(), Violation> {
    if !id.is_empty() {
        return Ok(());
    }
    let message = "the lock has no ID, so it could not be released";
    Err(Violation::new(Rule::LockId, &Path::root(), message))
}

/// Judges a list of states.
///
/// # Errors
/// The rule that it breaks.
pub fn check_state_ids(ids: &[String]) -> Result<(), Violation> {
    let violation = |message: String| Err(Violation::new(Rule::StateIds, &Path::root(), message));
    if ids.iter().any(String::is_empty) {
        return violation("it lists a state without an ID".to_owned());
    }
    let mut known_ids = BTreeSet::new();
    match ids.iter().find(|id| !known_ids.insert(*id)) {
        Some(id_listed_twice) => violation(format!("it lists the state {id_listed_twice:?} twice")),
        None => Ok(()),
    }
}

#[cfg(test)]
pub(super) use tests::cases;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::fixtures::Case;

    /// Answers that break the rules, each with one that keeps it.
    pub(in crate::contract) fn cases() -> Vec<Case> {
        let case = |rule, broken: Result<(), Violation>, kept: Result<(), Violation>| {
            let (broken, kept) =
                (broken.err().into_iter().collect(), kept.err().into_iter().collect());
            Case { rule, broken, kept }
        };
        let ids = |ids: &[&str]| {
            check_state_ids(&ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>())
        };
        vec![
            case(Rule::ChunkSize, check_chunk_size(0, 8), check_chunk_size(8, 8)),
            case(Rule::ChunkSize, check_chunk_size(9, 8), check_chunk_size(1, 8)),
            case(Rule::LockId, check_lock_id(""), check_lock_id("1")),
            case(Rule::StateIds, ids(&["a", ""]), ids(&["a", "b"])),
            case(Rule::StateIds, ids(&["b", "a", "b"]), ids(&[])),
        ]
    }
}
