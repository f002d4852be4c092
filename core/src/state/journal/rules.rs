//! Rules that must hold whenever a record is written or a call begins, so that a crash at that moment
//! loses nothing: assertions, enabled in debug builds. That a call is announced before it is made is
//! checked where its answer is recorded; an announcement after a failure is an error, not an
//! assertion.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::{CallAction, Intent, Journal, JournalWritability, OperationId};
use crate::addr::{DeposedKey, InstanceAddr};
use crate::state::{ObjectState, ObjectStatus};

/// Data that the rules are checked against.
#[derive(Debug, Default)]
pub(super) struct JournalRules {
    /// The last record with the result of a call for the state.
    settled: Cell<u64>,
    /// The last record that identifies the stored state.
    stored: Cell<u64>,
    /// The calls that create the successors of objects, by the deposed objects that these become.
    deposing: RefCell<BTreeMap<(InstanceAddr, DeposedKey), OperationId>>,
}

impl JournalRules {
    pub(super) fn note_settled(&self, at: u64) {
        self.settled.set(at);
    }

    pub(super) fn note_state_stored(&self, at: u64) {
        self.stored.set(at);
    }

    pub(super) fn note_announced(&self, op: OperationId, intent: &Intent<'_>) {
        if let Some(key) = intent.deposes {
            self.deposing.borrow_mut().insert((intent.addr.clone(), key.clone()), op);
        }
    }
}

impl Journal {
    /// Whether the dependents of an object may begin: every answer about it is written down, or a crash
    /// would forget an object that they use.
    pub(crate) fn may_start_dependents(
        &self,
        addr: &InstanceAddr,
        deposed: Option<&DeposedKey>,
    ) -> bool {
        let open = self.open.borrow();
        !open.values().any(|call| call.addr == *addr && call.deposed.as_ref() == deposed)
    }

    /// Whether a call may be announced: a predecessor is destroyed only when it is recorded that its
    /// successor exists, and under which key it was deposed.
    pub(super) fn may_announce(&self, intent: &Intent<'_>) -> bool {
        let (CallAction::Delete, Some(key)) = (intent.action, intent.deposed) else { return true };
        let deposing = self.rules.deposing.borrow();
        let successor = deposing.get(&(intent.addr.clone(), key.clone()));
        successor.is_none_or(|op| !self.open.borrow().contains_key(op))
    }

    /// Whether a state may be stored: every call has its answer, unless there was no room for it.
    pub(super) fn may_store_state(&self) -> bool {
        self.health.get() != JournalWritability::Sound
            || self.open.borrow().values().all(|call| call.is_answered)
    }

    /// Whether the journal may be removed: the state that was stored last contains all results.
    pub(super) fn may_remove_journal(&self) -> bool {
        self.health.get() != JournalWritability::Sound
            || self.rules.settled.get() <= self.rules.stored.get()
    }

    /// Whether a provisioner may run for a created object: until it has ended, the journal records
    /// the object as incomplete.
    pub(crate) fn may_run_provisioner(&self, addr: &InstanceAddr) -> bool {
        let open = self.open.borrow();
        self.health.get() != JournalWritability::Sound
            || open.values().any(|call| call.addr == *addr && call.is_half_made)
    }
}

/// Whether an interim result may be recorded: the object is incomplete until its provisioners have run.
pub(super) fn may_be_interim_result(object: Option<&ObjectState>) -> bool {
    object.is_none_or(|object| object.status == ObjectStatus::Tainted)
}
