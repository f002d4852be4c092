//! Objects that were read before their resource is visited. The recorder stores them here, and the
//! visit of the resource looks them up. This module reads nothing itself.

use std::cell::RefCell;
use std::collections::BTreeMap;

use formwork_value::{Diagnostics, Reported};

use super::ChangeKey;
use super::visit::Prior;
use crate::addr::ConfigResourceAddr;

/// An object as it was read, with the diagnostics of the read. The visit of the resource reports
/// them.
pub(crate) type ObjectRead = (Diagnostics, Result<Prior, Reported>);

/// The objects of one resource.
pub(crate) type ObjectsRead = BTreeMap<ChangeKey, ObjectRead>;

/// The objects that were read and whose resources were not yet visited.
#[derive(Debug, Default)]
pub(crate) struct PrefetchedObjects(RefCell<BTreeMap<ConfigResourceAddr, ObjectsRead>>);

impl PrefetchedObjects {
    /// Stores the objects that were read.
    pub(super) fn keep(&self, addr: &ConfigResourceAddr, read: ObjectsRead) {
        self.0.borrow_mut().insert(addr.clone(), read);
    }

    /// Forgets the objects of a resource that was visited.
    pub(super) fn forget(&self, addr: &ConfigResourceAddr) {
        self.0.borrow_mut().remove(addr);
    }

    /// Returns the result of reading an object; `None` if it was not read ahead.
    pub(super) fn find(&self, key: &ChangeKey) -> Option<ObjectRead> {
        let all = self.0.borrow();
        // Nothing is read ahead in most small plans, and then the address need not be computed.
        if all.is_empty() {
            return None;
        }
        all.get(&key.0.of().config())?.get(key).cloned()
    }
}
