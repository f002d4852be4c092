//! Knowledge about a stored state, and the checks before it is replaced.

use formwork_core::state::file::StateFile;
use formwork_core::version::LANGUAGE_VERSION;

use crate::store::StoreError;

/// Knowledge about a stored state. `C` is the form in which a store keeps its content.
#[derive(Debug, Default)]
pub(crate) enum KnownState<C> {
    /// Nothing yet.
    #[default]
    NotRead,
    /// There is none.
    Absent,
    /// This one.
    Present {
        /// The lineage.
        lineage: String,
        /// The serial.
        serial: u64,
        /// The content.
        content: C,
    },
}

impl<C> KnownState<C> {
    /// Makes sure that a stored state, of which lineage and serial have been read, is the known one.
    ///
    /// # Errors
    /// When it is another one.
    pub(crate) fn check_same_lineage_and_serial(
        &self,
        stored_lineage: &str,
        stored_serial: u64,
    ) -> Result<(), StoreError> {
        let (lineage, read) = match self {
            Self::Present { lineage, serial, .. } => (lineage.as_str(), *serial),
            // Another program made a state where there was none. Its serial may be 0, too.
            Self::Absent => return Err(StoreError::Changed { stored: stored_serial, read: 0 }),
            Self::NotRead => (stored_lineage, 0),
        };
        if stored_lineage != lineage {
            let (stored, ours) = (stored_lineage.to_owned(), lineage.to_owned());
            return Err(StoreError::OtherLineage { stored, ours });
        }
        if stored_serial != read {
            return Err(StoreError::Changed { stored: stored_serial, read });
        }
        Ok(())
    }

    /// Makes sure that a state to write continues the known one.
    ///
    /// # Errors
    /// When it has another lineage.
    pub(crate) fn check_same_lineage(&self, file: &StateFile) -> Result<(), StoreError> {
        match self {
            Self::Present { lineage, .. } if *lineage != file.lineage => {
                let (stored, ours) = (lineage.clone(), file.lineage.clone());
                Err(StoreError::OtherLineage { stored, ours })
            }
            _ => Ok(()),
        }
    }

    /// Gives a state the serial that follows the known one, and the version of this program.
    pub(crate) fn increment_serial(&self, file: &mut StateFile) {
        if let Self::Present { serial, .. } = self {
            // Never backwards: a state that comes from elsewhere may have the higher serial.
            file.serial = file.serial.max(*serial);
        }
        file.serial += 1;
        file.terraform_version = LANGUAGE_VERSION.to_string();
    }
}
