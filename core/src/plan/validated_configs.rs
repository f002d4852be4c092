//! Configurations that need not be shown to their providers a second time. The validation records them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use formwork_value::Value;

use crate::addr::{ConfigResourceAddr, InstanceAddr, InstanceKey};

/// Configurations that providers accepted without a word, by resource: the very same need not be
/// shown to them again.
#[derive(Debug, Default)]
pub(crate) struct ValidatedConfigs(RefCell<BTreeMap<ConfigResourceAddr, Value>>);

impl ValidatedConfigs {
    /// Whether the provider of a resource accepted this configuration of an instance.
    pub(crate) fn was_accepted(&self, addr: &InstanceAddr, config: &Value) -> bool {
        // It is forgotten with that, unless there may be other instances: else all of them were
        // kept twice in the end.
        let (resource, mut accepted) = (addr.resource_addr().config_addr(), self.0.borrow_mut());
        let is_alone = addr.key == InstanceKey::None && addr.module.is_root();
        match is_alone {
            true => accepted.remove(&resource).as_ref() == Some(config),
            false => accepted.get(&resource) == Some(config),
        }
    }

    /// Records a configuration that the provider of a resource accepted.
    pub(super) fn insert(&mut self, addr: ConfigResourceAddr, config: Value) {
        self.0.get_mut().insert(addr, config);
    }
}
