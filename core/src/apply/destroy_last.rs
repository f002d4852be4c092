//! Selects the objects to be destroyed last: after their successors and after everything that
//! needed them was changed. A pure function over the plan.

use std::collections::BTreeSet;

use crate::addr::ConfigResourceAddr;
use crate::change::{Action, Change, ReplaceOrder};
use crate::plan::Plan;

/// Decides which objects go last.
#[derive(Debug, Default)]
pub(super) struct Last {
    /// Resources with an instance that is destroyed before its successor is created.
    destroyed_first: BTreeSet<ConfigResourceAddr>,
    /// Objects that an object that goes last was made after. They go later still.
    below: BTreeSet<ConfigResourceAddr>,
}

impl Last {
    pub(super) fn of(plan: &Plan) -> Self {
        let mut last = Self::default();
        for change in plan.changes.values() {
            if change.action == Action::Replace(ReplaceOrder::DestroyFirst) {
                last.destroyed_first.insert(change.addr.of().config());
            }
        }
        // In a second pass, because `is_hurried` needs the complete first set.
        let by_itself = plan.changes.values().filter(|change| last.is_by_itself(change));
        let below = by_itself.flat_map(|change| change.prior_dependencies.iter().cloned());
        last.below = below.collect();
        last
    }

    /// Whether an object was made after something that is destroyed before its successor is created.
    /// It must go before that, so it cannot wait for anything that comes after.
    pub(super) fn is_hurried(&self, change: &Change) -> bool {
        !self.destroyed_first.is_empty()
            && change.prior_dependencies.iter().any(|on| self.destroyed_first.contains(on))
    }

    /// Whether the object of a change goes last.
    pub(super) fn contains(&self, change: &Change) -> bool {
        self.is_by_itself(change)
            || change.action == Action::Delete
                && self.below.contains(&change.addr.of().config())
                && !self.is_hurried(change)
    }

    /// A deposed object was replaced create-first, so something may still need it.
    fn is_by_itself(&self, change: &Change) -> bool {
        match change.action {
            Action::Replace(order) => order == ReplaceOrder::CreateFirst,
            Action::Delete => {
                // The flag is the one in the state: the block may be gone from the configuration,
                // and the objects that used it still have to be changed first.
                (change.create_before_destroy || change.deposed.is_some())
                    && !self.is_hurried(change)
            }
            _ => false,
        }
    }
}
