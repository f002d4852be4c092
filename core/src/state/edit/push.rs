//! Checks whether a state may replace another one.

use crate::state::file::StateFile;

/// The reason why a state may not replace another one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PushRefusal {
    /// The lineages differ.
    #[error(
        "cannot import state with lineage {new:?} over unrelated state with lineage {stored:?}"
    )]
    OtherLineage {
        /// The lineage of the stored state.
        stored: String,
        /// The lineage of the one that is to replace it.
        new: String,
    },
    /// The stored state was written later.
    #[error("cannot import state with serial {new} over newer state with serial {stored}")]
    Older {
        /// The serial of the stored state.
        stored: u64,
        /// The serial of the one that is to replace it.
        new: u64,
    },
    /// Both have the same serial but different content.
    #[error(
        "cannot overwrite existing state with serial {0} with a different state that has the same serial"
    )]
    SameSerial(u64),
}

/// Checks that `new` descends from `stored`. Any state may replace an empty one.
///
/// # Errors
/// When the lineage differs, or the stored state is newer.
pub fn check_push(new: &StateFile, stored: &StateFile) -> Result<(), PushRefusal> {
    if stored.state.is_empty() {
        return Ok(());
    }
    // A state without a lineage has none that could be another.
    if new.lineage != stored.lineage && !stored.lineage.is_empty() {
        let (stored, new) = (stored.lineage.clone(), new.lineage.clone());
        return Err(PushRefusal::OtherLineage { stored, new });
    }
    if new.serial < stored.serial {
        return Err(PushRefusal::Older { stored: stored.serial, new: new.serial });
    }
    if new.serial == stored.serial && !new.has_same_content(stored) {
        return Err(PushRefusal::SameSerial(new.serial));
    }
    Ok(())
}
