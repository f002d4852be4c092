//! Results of a visit, on their way to the recorder.

use std::sync::Arc;

use formwork_value::Value;

use super::prefetch::PrefetchedResource;
use crate::addr::{DeposedKey, InstanceAddr, InstanceKey, ResourceAddr};
use crate::change::Change;
use crate::eval::Expansion;
use crate::shared_graph::SharedVisitOutcome;
use crate::state::ObjectState;

/// Result of a visit.
#[derive(Debug)]
pub(crate) enum PlanVisitOutcome {
    /// Result of a shared vertex.
    SharedVertex(SharedVisitOutcome),
    /// Objects that were read ahead.
    Objects(PrefetchedResource),
    /// A resource, by instance of its module.
    Resources(Vec<ResourceOutcome>),
}

/// Result for a resource in one instance of its module.
#[derive(Debug)]
pub(crate) struct ResourceOutcome {
    /// The resource.
    pub(crate) addr: ResourceAddr,
    /// Its repetition; `None` if it is not in the configuration, or its module instance is not.
    pub(crate) expansion: Option<Expansion>,
    /// Results for its objects.
    pub(crate) objects: Vec<ObjectOutcome>,
}

/// Result for one object.
#[derive(Debug)]
pub(crate) struct ObjectOutcome {
    /// The instance.
    pub(crate) key: InstanceKey,
    /// Set if it is a deposed object.
    pub(crate) deposed: Option<DeposedKey>,
    /// Its refreshed state.
    pub(crate) refreshed: RefreshResult,
    /// The difference between the state and the real object, if there is one.
    pub(crate) drift: Option<Change>,
    /// Its fate; `None` where nothing is to be done or shown, as for a data source that was read.
    pub(crate) change: Option<Change>,
    /// The value that references to the instance see.
    pub(crate) value: Option<Value>,
}

impl ObjectOutcome {
    /// The current object of an instance, to which nothing is done.
    pub(crate) fn without_change(
        key: InstanceKey,
        refreshed: RefreshResult,
        value: Option<Value>,
    ) -> Self {
        Self { key, deposed: None, refreshed, drift: None, change: None, value }
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
