//! Results of a visit, on their way to the recorder.

use formwork_value::Value;

use super::prior_state::RefreshResult;
use crate::addr::{DeposedKey, InstanceKey, ResourceAddr};
use crate::change::Change;
use crate::eval::Expansion;

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
    /// The planned change; `None` if nothing is to be done or shown, as for a data source that was
    /// read.
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
