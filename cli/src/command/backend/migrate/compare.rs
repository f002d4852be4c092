//! Compares the source and target states of a migration.

use std::cmp::Ordering;

use formwork_backend::{Backend, OpenState, StoreError};
use formwork_core::state::file::StateFile;
use formwork_value::{Diagnostic, Diagnostics, Reported};

/// Content of a workspace in a backend.
#[derive(Debug)]
pub(super) enum StateSummary {
    /// A state that can be read.
    State {
        file: Box<StateFile>,
        /// Whether a run has left a journal.
        is_pending: bool,
    },
    /// Something that cannot be read here, with the reason.
    Unreadable(Box<Diagnostic>),
    /// A local state file without content, with traces of an earlier one: Terraform leaves it where it has
    /// migrated a state.
    Emptied,
}

impl StateSummary {
    /// Whether a migration could lose data.
    pub(super) fn holds_something(&self) -> bool {
        match self {
            Self::State { file, is_pending } => *is_pending || !file.state.is_empty(),
            Self::Unreadable(_) | Self::Emptied => true,
        }
    }

    pub(super) fn describe(&self) -> String {
        match self {
            Self::State { file, .. } => describe_state(file),
            Self::Unreadable(_) | Self::Emptied => "it cannot be read here".to_owned(),
        }
    }
}

pub(super) fn describe_state(file: &StateFile) -> String {
    let n_objects =
        file.state.resources.values().flat_map(|resource| resource.all_objects()).count();
    let noun = if n_objects == 1 { "object" } else { "objects" };
    format!("{n_objects} {noun}, serial {}", file.serial)
}

/// The state in the new backend, compared with the one that is to be migrated.
#[derive(Debug)]
pub(super) enum TargetState {
    /// No state, or an empty one.
    Nothing,
    /// The same state.
    Same,
    /// An earlier version, with its description.
    Earlier(String),
    /// A later version, with its description. It can be empty if its objects were destroyed.
    Later(String),
    /// Different content with the same serial, with its description.
    Fork(String),
    /// A state of another lineage, with its description.
    Unrelated(String),
}

impl TargetState {
    pub(super) fn of(file: &StateFile, target: Option<&StateFile>) -> Self {
        let Some(target) = target else { return Self::Nothing };
        let has_lineage = file.lineage == target.lineage;
        // Without a lineage, the lineages cannot be compared.
        if !has_lineage && !target.lineage.is_empty() && !target.state.is_empty() {
            return Self::Unrelated(describe_state(target));
        }
        match file.serial.cmp(&target.serial) {
            Ordering::Less if has_lineage || !target.state.is_empty() => {
                Self::Later(describe_state(target))
            }
            _ if target.state.is_empty() => Self::Nothing,
            Ordering::Equal if file.has_same_content(target) => Self::Same,
            Ordering::Equal => Self::Fork(describe_state(target)),
            Ordering::Less | Ordering::Greater => Self::Earlier(describe_state(target)),
        }
    }

    pub(super) fn describe(&self) -> String {
        match self {
            Self::Nothing => "nothing".to_owned(),
            Self::Same => "the same state".to_owned(),
            Self::Earlier(state) => format!("an older state ({state}), which is replaced"),
            Self::Later(state) => {
                format!("a later state ({state}), which a migration never replaces")
            }
            Self::Fork(state) => format!(
                "different content with the same serial ({state}), which a migration never replaces"
            ),
            Self::Unrelated(state) => {
                format!("another state ({state}), which a migration never replaces")
            }
        }
    }
}

/// Summarizes the state of a workspace; `None` if it has no state.
pub(super) async fn summarize_state(
    diags: &mut Diagnostics,
    backend: &dyn Backend,
    name: &str,
) -> Result<Option<StateSummary>, Reported> {
    let opened = OpenState::open(backend, name).await;
    let mut state = opened.map_err(|error| diags.error(error.diagnostic()))?;
    let file = match state.store.read().await {
        Ok(file) => file,
        Err(StoreError::Emptied { .. })
            if backend.kind() == "local" && !state.intents.has_unfinished_run().await =>
        {
            return Ok(Some(StateSummary::Emptied));
        }
        // What cannot be read is something.
        Err(error @ (StoreError::Unusable { .. } | StoreError::Emptied { .. })) => {
            return Ok(Some(StateSummary::Unreadable(Box::new(error.diagnostic()))));
        }
        Err(error) => return Err(diags.error(error.diagnostic())),
    };
    let is_pending = state.intents.has_unfinished_run().await;
    // If the first run was killed, only its journal exists.
    let file = file.or_else(|| is_pending.then(StateFile::new_empty));
    Ok(file.map(|file| StateSummary::State { file: Box::new(file), is_pending }))
}
