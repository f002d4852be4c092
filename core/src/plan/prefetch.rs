//! Objects that were read before their resource is visited. The recorder stores them here, and the
//! visit of the resource looks them up. This module reads nothing itself.

use std::cell::RefCell;
use std::collections::BTreeMap;

use formwork_value::{Diagnostics, Reported};

use super::ChangeKey;
use super::prior_state::PriorState;
use crate::addr::{ConfigResourceAddr, DeposedKey, InstanceAddr};

/// An object as it was read, with the diagnostics of the read. The visit of the resource reports
/// them.
pub(crate) type PrefetchedObject = (Diagnostics, Result<PriorState, Reported>);

/// The objects of one resource.
pub(crate) type PrefetchedResource = BTreeMap<ChangeKey, PrefetchedObject>;

/// The objects that were read and whose resources were not yet visited.
#[derive(Debug, Default)]
pub(crate) struct PrefetchedObjects(RefCell<BTreeMap<ConfigResourceAddr, PrefetchedResource>>);

impl PrefetchedObjects {
    /// Stores the objects that were read.
    pub(super) fn insert_objects(&self, addr: &ConfigResourceAddr, read: PrefetchedResource) {
        self.0.borrow_mut().insert(addr.clone(), read);
    }

    /// Forgets the objects of a resource that was visited.
    pub(super) fn remove_objects(&self, addr: &ConfigResourceAddr) {
        self.0.borrow_mut().remove(addr);
    }

    /// Returns the result of reading an object; `None` if it was not read ahead.
    pub(super) fn find_object(
        &self,
        addr: &InstanceAddr,
        deposed: Option<&DeposedKey>,
    ) -> Option<PrefetchedObject> {
        let all = self.0.borrow();
        // Nothing is read ahead in most small plans, and then the address need not be computed.
        if all.is_empty() {
            return None;
        }
        let resource = all.get(&addr.resource_addr().config_addr())?;
        resource.get(&(addr.clone(), deposed.cloned())).cloned()
    }
}
