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
