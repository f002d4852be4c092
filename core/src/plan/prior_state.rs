//! An object in the state, as stored and as read from its provider by the visits.

use std::collections::BTreeSet;
use std::sync::Arc;

use formwork_value::Value;

use crate::addr::{ConfigResourceAddr, InstanceAddr};
use crate::change::{Action, Change};
use crate::state::{ObjectState, ObjectStatus};

type DependencyList = Arc<Vec<ConfigResourceAddr>>;

/// An object in the state, as it was stored and as it is.
#[derive(Clone, Debug)]
pub(crate) struct PriorState {
    /// As the state has it, in the form of the newest schema.
    pub(super) stored: Value,
    /// The current object; null if it no longer exists.
    pub(super) current: Value,
    /// The object as it is to be stored, private bytes included.
    pub(super) object: Arc<ObjectState>,
    /// The result for the state.
    pub(super) refreshed: RefreshResult,
}

impl PriorState {
    /// Takes over the settings of the configuration beside the attributes of the object.
    pub(super) fn replace_config_dependencies(
        &mut self,
        dependencies: &DependencyList,
        create_before_destroy: bool,
    ) {
        // That is for objects that do not change: for others, applying does it.
        let ObjectState { dependencies: known, create_before_destroy: flag, .. } = &*self.object;
        if known == dependencies && *flag == create_before_destroy {
            return;
        }
        let object = Arc::make_mut(&mut self.object);
        object.dependencies = dependencies.clone();
        object.create_before_destroy = create_before_destroy;
        self.update_refresh_result();
    }

    /// Has the changed object recorded in place of the one that was read. An object that was searched for,
    /// or found together with others, stays one.
    fn update_refresh_result(&mut self) {
        let object = self.object.clone();
        self.refreshed = match std::mem::replace(&mut self.refreshed, RefreshResult::Unchanged) {
            RefreshResult::FoundInterrupted(_) => RefreshResult::FoundInterrupted(object),
            RefreshResult::ImportedTogether { along, .. } => {
                RefreshResult::ImportedTogether { object, along }
            }
            RefreshResult::Unchanged
            | RefreshResult::Gone
            | RefreshResult::NotCreated
            | RefreshResult::Changed(_) => RefreshResult::Changed(object),
        };
    }

    /// Adds the given dependencies of the configuration, until applying stores only those: a run
    /// that fails before may leave the object with either. The order of a replacement is that of
    /// the configuration from now on, even for an object that its successor deposes.
    pub(super) fn add_config_dependencies(
        &mut self,
        dependencies: Option<&DependencyList>,
        create_before_destroy: bool,
    ) {
        let known = &self.object.dependencies;
        let mut all: BTreeSet<_> = known.iter().collect();
        let before = all.len();
        // The union is the only safe record between refresh and apply: if the apply fails before
        // this object, it still uses the old ones; after it, the new ones.
        all.extend(dependencies.into_iter().flat_map(|dependencies| dependencies.iter()));
        if all.len() == before && self.object.create_before_destroy == create_before_destroy {
            return;
        }
        let all = Arc::new(all.into_iter().cloned().collect());
        let object = Arc::make_mut(&mut self.object);
        object.dependencies = all;
        object.create_before_destroy = create_before_destroy;
        self.update_refresh_result();
    }

    /// Whether the object is half made.
    pub(super) fn is_tainted(&self) -> bool {
        self.object.status == ObjectStatus::Tainted
    }

    /// Returns the drift of the object, if it has drifted: the value in the state against the
    /// current one. The rest is that of its planned change.
    pub(super) fn drift(&self, change: &Change) -> Option<Change> {
        if self.stored == self.current {
            return None;
        }
        let action = if self.current.is_null() { Action::Delete } else { Action::Update };
        Some(Change {
            action,
            reason: None,
            before: self.stored.clone(),
            after: self.current.clone(),
            replace_paths: Vec::new(),
            ..change.clone()
        })
    }
}

/// Result of refreshing an object in the state.
#[derive(Clone, Debug)]
pub(crate) enum RefreshResult {
    /// As the state has it, or not looked at.
    Unchanged,
    /// Not there any more.
    Gone,
    /// This.
    Changed(Arc<ObjectState>),
    /// This, and others that were found by the same id, each under an address of its own.
    ImportedTogether {
        /// The object itself.
        object: Arc<ObjectState>,
        /// The others.
        along: Vec<(InstanceAddr, Arc<ObjectState>)>,
    },
    /// This, which an interrupted run had made.
    FoundInterrupted(Arc<ObjectState>),
    /// Nothing, although an interrupted run was about to make it.
    NotCreated,
}
