//! Whether one state may take the place of another.

use crate::state::file::StateFile;

/// Why a state may not take the place of another.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PushRefusal {
    /// They were begun apart.
    #[error(
        "cannot import state with lineage {new:?} over unrelated state with lineage {stored:?}"
    )]
    OtherLineage {
        /// The lineage of the state that is there.
        stored: String,
        /// The lineage of the one that is to replace it.
        new: String,
    },
    /// The one that is there was written later.
    #[error("cannot import state with serial {new} over newer state with serial {stored}")]
    Older {
        /// The serial of the state that is there.
        stored: u64,
        /// The serial of the one that is to replace it.
        new: u64,
    },
    /// Both claim to be the same version.
    #[error(
        "cannot overwrite existing state with serial {0} with a different state that has the same serial"
    )]
    SameSerial(u64),
}

/// Makes sure that `new` descends from `stored`. Anything may take the place of an empty state.
///
/// # Errors
/// When it does not.
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
