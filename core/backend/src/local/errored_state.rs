//! The file for the state of a run that could not store it, compared with the stored state.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use formwork_core::addr::InstanceAddr;
use formwork_core::disk::{MAX_STATE_LEN, read_file};
use formwork_core::state::file::StateFile;
use formwork_core::state::{ObjectState, State};

use super::is_device_or_pipe;
use super::replace_file::{DiskOperations, PipeHandling};
use crate::encryption::StateCipher;
use crate::store::StoreError;

/// The file for a state that cannot be written to its usual location.
pub const ERRORED_FILE: &str = "errored.tfstate";

/// An `errored.tfstate` in the configuration directory.
///
/// ```
/// use formwork_backend::encryption::StateCipher;
/// use formwork_backend::local::{ErroredStateFile, ErroredStateRelation, save_errored_state};
/// use formwork_core::state::file::StateFile;
///
/// let directory = tempfile::tempdir().unwrap();
/// let (cipher, file) = (StateCipher::default(), StateFile::new_empty());
/// save_errored_state(&file, &cipher, directory.path()).unwrap();
/// let errored = ErroredStateFile::read(directory.path(), &cipher).unwrap();
/// assert_eq!(errored.compare_with_state(Some(&file)), ErroredStateRelation::Superseded);
/// ```
#[derive(Debug)]
pub struct ErroredStateFile {
    /// The file.
    pub path: PathBuf,
    /// The state in the file, or `None` if it cannot be read.
    pub file: Option<StateFile>,
}

/// Relation of an `errored.tfstate` to the state.
///
/// See [`ErroredStateFile`] for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErroredStateRelation {
    /// The file cannot be read.
    Unreadable,
    /// The file belongs to a state of another lineage.
    OtherLineage,
    /// The state has all objects that are in the file.
    Superseded,
    /// The file is newer than the state, and has all objects of the state, and more.
    Newer {
        /// The instances with objects that the state does not have.
        missing: BTreeSet<InstanceAddr>,
    },
    /// The file has objects that the state does not have, and is older or lacks others.
    Diverged {
        /// The instances with objects that the state does not have.
        missing: BTreeSet<InstanceAddr>,
        /// The instances with objects that only the state has.
        lacking: BTreeSet<InstanceAddr>,
        /// Whether the state was stored since then.
        is_old: bool,
    },
}

impl ErroredStateRelation {
    /// The instances with objects that are likely to exist although the state does not have them.
    #[must_use]
    pub fn likely_existing_instances(&self) -> Option<&BTreeSet<InstanceAddr>> {
        match self {
            Self::Newer { missing } | Self::Diverged { missing, is_old: false, .. } => {
                Some(missing)
            }
            _ => None,
        }
    }
}

impl ErroredStateFile {
    /// Reads the file in a directory. Returns `None` if it does not exist.
    #[must_use]
    pub fn read(directory: &Path, cipher: &StateCipher) -> Option<Self> {
        let path = directory.join(ERRORED_FILE);
        if !path.is_file() {
            return None;
        }
        let file =
            read_file(&path, MAX_STATE_LEN).ok().and_then(|text| cipher.parse_state(&text).ok());
        Some(Self { path, file })
    }

    /// Compares the file with the state. `None` means that there is no state.
    #[must_use]
    pub fn compare_with_state(&self, stored: Option<&StateFile>) -> ErroredStateRelation {
        let Some(file) = &self.file else { return ErroredStateRelation::Unreadable };
        // A missing state counts as an empty one with the same lineage, which lacks everything in
        // the file.
        let nothing = StateFile { lineage: file.lineage.clone(), ..StateFile::new_empty() };
        let stored = stored.unwrap_or(&nothing);
        if stored.lineage != file.lineage {
            return ErroredStateRelation::OtherLineage;
        }
        let missing = instances_only_in(&file.state, &stored.state);
        if missing.is_empty() {
            return ErroredStateRelation::Superseded;
        }
        let lacking = instances_only_in(&stored.state, &file.state);
        if lacking.is_empty() && file.serial > stored.serial {
            return ErroredStateRelation::Newer { missing };
        }
        ErroredStateRelation::Diverged { missing, lacking, is_old: file.serial < stored.serial }
    }
}

/// The instances with objects in one state that the same instances in another state do not have.
fn instances_only_in(first: &State, second: &State) -> BTreeSet<InstanceAddr> {
    let mut addrs = BTreeSet::new();
    for (addr, resource) in &first.resources {
        let second_resource = second.resources.get(addr);
        for (key, instance) in &resource.instances {
            let second_instance = second_resource.and_then(|resource| resource.instances.get(key));
            let objects = instance.current.iter().chain(instance.deposed.values());
            let is_there = |object: &ObjectState| {
                let mut second_objects = second_instance
                    .into_iter()
                    .flat_map(|instance| instance.current.iter().chain(instance.deposed.values()));
                second_objects.any(|second_object| is_same_real_object(second_object, object))
            };
            if !objects.map(AsRef::as_ref).all(is_there) {
                addrs.insert(addr.instance_addr(key.clone()));
            }
        }
    }
    addrs
}

/// Whether two objects of an instance are the same real object. An update preserves the id.
fn is_same_real_object(first: &ObjectState, second: &ObjectState) -> bool {
    match (first.attributes.id_attribute(), second.attributes.id_attribute()) {
        (Some(first), Some(second)) => first == second,
        _ => first.attributes == second.attributes,
    }
}

/// Writes a state durably to `errored.tfstate` in a directory, for when it could not be written to its
/// usual location. A file from another run is renamed if it has objects that are not in this state.
/// Returns the path of the file, and that of the renamed one.
///
/// # Errors
/// Returns an error if this write also fails.
pub fn save_errored_state(
    file: &StateFile,
    cipher: &StateCipher,
    directory: &Path,
) -> Result<(PathBuf, Option<PathBuf>), StoreError> {
    let path = directory.join(ERRORED_FILE);
    // Data written to a device or a pipe is lost.
    let former = if is_device_or_pipe(&path) { rename_to_free_name(&path) } else { None };
    let former = former.or_else(|| {
        ErroredStateFile::read(directory, cipher)
            .filter(|errored| {
                errored.compare_with_state(Some(file)) != ErroredStateRelation::Superseded
            })
            .and_then(|errored| rename_to_free_name(&errored.path))
    });
    // In its stored form: a state that was never stored has no serial.
    let next_file = StateFile { serial: file.serial.saturating_add(1), ..file.clone() };
    DiskOperations::default().replace_file_without_lock(
        &path,
        PipeHandling::Replace,
        None,
        &|writer| cipher.write_state_to(&next_file, writer),
    )?;
    Ok((path, former))
}

/// Renames a file to the first free name. Does nothing if there is none, or if the file cannot be
/// renamed.
fn rename_to_free_name(path: &Path) -> Option<PathBuf> {
    let names = (1..1000).map(|number| path.with_file_name(format!("errored.{number}.tfstate")));
    let free = names.into_iter().find(|name| !name.exists())?;
    std::fs::rename(path, &free).ok().map(|()| free)
}
