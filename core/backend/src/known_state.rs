//! The last known version of a stored state, and the checks before it is replaced.

use formwork_core::state::file::StateFile;
use formwork_core::version::LANGUAGE_VERSION;

use crate::store::StoreError;

/// The last known version of a stored state. `C` is the form in which a store keeps its content.
#[derive(Debug, Default)]
pub(crate) enum KnownState<C> {
    /// Nothing is known yet.
    #[default]
    NotRead,
    /// No state exists.
    Absent,
    /// The known version.
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
    /// Checks that a stored state with this lineage and serial is the known one.
    ///
    /// # Errors
    /// Returns an error if the stored state is another one.
    pub(crate) fn check_same_lineage_and_serial(
        &self,
        stored_lineage: &str,
        stored_serial: u64,
    ) -> Result<(), StoreError> {
        let (lineage, read) = match self {
            Self::Present { lineage, serial, .. } => (lineage.as_str(), *serial),
            // Another program created a state where none existed. Its serial may be 0, too.
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

    /// Checks that a state to write continues the known one.
    ///
    /// # Errors
    /// Returns an error if the lineages differ.
    pub(crate) fn check_same_lineage(&self, file: &StateFile) -> Result<(), StoreError> {
        match self {
            Self::Present { lineage, .. } if *lineage != file.lineage => {
                let (stored, ours) = (lineage.clone(), file.lineage.clone());
                Err(StoreError::OtherLineage { stored, ours })
            }
            _ => Ok(()),
        }
    }

    /// Sets the serial of a state to the one after the known serial, and its version to that of
    /// this program.
    pub(crate) fn increment_serial(&self, file: &mut StateFile) {
        if let Self::Present { serial, .. } = self {
            // Never decreased: a state from another source may have the higher serial.
            file.serial = file.serial.max(*serial);
        }
        file.serial += 1;
        file.terraform_version = LANGUAGE_VERSION.to_string();
    }
}
