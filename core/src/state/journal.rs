//! The journal of a run: announced calls, their answers, and their meaning for the state. Written
//! ahead and only ever appended to. Recovery after a crash is in `recover`.
//!
//! A [`Journal`] implements the rules and the order of records. Its [`RecordSink`] stores them: a file, whose
//! records the system has before a method returns, so that they survive the death of this process, or the
//! memory of this process. [`Journal::make_durable`] makes all records so far survive the loss of
//! power. Records of calls that change nothing outside this process are buffered first (`append`).

mod append;
mod begin;
mod copy;
mod durable;
mod error;
mod in_memory;
mod journal_file;
mod merge;
mod on_disk;
pub(crate) mod permissions;
pub(super) mod record;
mod record_sink;
mod reserve_disk_space;
mod rules;
pub(super) mod scan;
mod seal;
mod stored_journal;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use formwork_value::Value;

pub use self::append::InternalRecordTiming;
use self::append::RecordBuffer;
pub(super) use self::begin::JournalInDir;
pub use self::begin::new_run_id;
pub use self::copy::{JournalCopy, JournalCopyError};
use self::durable::PendingSync;
pub use self::error::JournalError;
pub(super) use self::in_memory::MemoryJournals;
pub use self::merge::merge_journal_copies;
pub(super) use self::on_disk::{
    StoredJournalFile, is_being_written, read_journal_file, write_journal_file,
};
use self::record::Record;
pub use self::record_sink::{AppendError, RecordSink};
use self::rules::{JournalRules, may_be_interim_result};
pub use self::seal::RecordSeal;
pub use self::stored_journal::StoredJournal;
use super::ObjectState;
use super::file::StateFile;
use crate::addr::{DeposedKey, InstanceAddr, ProviderConfigAddr};

/// The journal of one run, being written.
pub struct Journal {
    /// The sink that stores the records.
    sink: Rc<dyn RecordSink>,
    /// The location of the journal, for messages.
    location: String,
    /// The id of the run.
    run: String,
    next: Cell<u64>,
    buffer: RefCell<RecordBuffer>,
    /// The first failure to write the buffer, until it is reported.
    buffer_failure: RefCell<Option<JournalError>>,
    /// The number of the last record known to be durable.
    durable: Cell<u64>,
    sync: RefCell<Option<PendingSync>>,
    /// Announced calls whose effect is still unknown.
    open: RefCell<BTreeMap<OperationId, CallSubject>>,
    health: Cell<JournalWritability>,
    rules: JournalRules,
    /// Seals the values of records.
    seal: Option<Arc<dyn RecordSeal>>,
    /// The copy in a shared store, if the journal has one.
    copy: Option<Box<dyn JournalCopy>>,
    #[cfg(test)]
    n_syncs: Cell<usize>,
    /// Number of records after which the disk is full.
    #[cfg(test)]
    room: Cell<u64>,
}

/// Degree to which a journal can still be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JournalWritability {
    Sound,
    /// A record was refused. Calls in flight may still be settled, but no new call may be announced.
    Failing,
    /// The disk did not make records durable. Calls in flight may still be settled, as far as
    /// possible, but no record counts as durable any more.
    NotDurable,
    /// The journal ends in a partial record, so nothing may follow.
    Closed,
}

/// Subject of a call.
#[derive(Clone, Debug)]
struct CallSubject {
    addr: InstanceAddr,
    provider: ProviderConfigAddr,
    deposed: Option<DeposedKey>,
    /// Whether the call may be made before the announcement is durable.
    is_noted_only: bool,
    /// Whether its records are buffered.
    is_buffered: bool,
    /// Whether its answer is recorded.
    is_answered: bool,
    /// Whether the object is recorded as incomplete while a provisioner runs.
    is_half_made: bool,
    /// The space that its records may occupy.
    space: u64,
}

/// Names an announced call within its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperationId(pub u64);

/// First record of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunHeader<'a> {
    /// Operation of the run, as in the lock: `OperationTypeApply`.
    pub operation: &'a str,
    /// The state as it is stored when the run begins.
    pub base: &'a StateFile,
    /// The file that the state was read from, if it is not the one that the run writes.
    pub read_from: Option<&'a Path>,
}

/// A changing call that is about to leave.
#[derive(Clone, Copy, Debug)]
pub struct Intent<'a> {
    /// The instance.
    pub addr: &'a InstanceAddr,
    /// The provider configuration that receives the call.
    pub provider: &'a ProviderConfigAddr,
    /// Set if the call is about a deposed object.
    pub deposed: Option<&'a DeposedKey>,
    /// Set if the current object is deposed under this key once the new one exists.
    pub deposes: Option<&'a DeposedKey>,
    /// Action of the call.
    pub action: CallAction,
    /// The object at the address before the call; `None` if none exists.
    pub prior: Option<&'a ObjectState>,
    /// Planned value, without marks.
    pub planned: &'a Value,
}

/// Action of a changing call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallAction {
    /// The call creates an object.
    Create,
    /// The call changes an object.
    Update,
    /// The call destroys an object.
    Delete,
}

/// The answer to a changing call: its values as the provider encoded them, before anything decodes them.
///
/// Not the whole message, because it may repeat secrets that no state has, and has no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ProviderAnswer {
    /// The object as the provider encoded it; empty if none came.
    #[serde(with = "record::base64")]
    pub state: Vec<u8>,
    /// The provider's private bytes.
    #[serde(with = "record::base64")]
    pub private: Vec<u8>,
    /// The identity as the provider encoded it; empty if none came.
    #[serde(with = "record::base64")]
    pub identity: Vec<u8>,
    /// Messages of the provider, and the reason of a missing answer.
    pub messages: Vec<String>,
    /// Whether the attribute `id` of the object is sensitive: recovery has no schema.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_sensitive_id: bool,
    /// All of the above, sealed; empty without encryption.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "record::base64")]
    pub sealed: Vec<u8>,
}

impl Journal {
    /// Creates a journal in an empty sink.
    fn in_empty_sink(sink: Rc<dyn RecordSink>, run: String) -> Self {
        Self {
            location: sink.location(),
            sink,
            run,
            next: Cell::new(1),
            buffer: RefCell::default(),
            buffer_failure: RefCell::default(),
            durable: Cell::new(0),
            sync: RefCell::default(),
            open: RefCell::default(),
            health: Cell::new(JournalWritability::Sound),
            rules: JournalRules::default(),
            seal: None,
            copy: None,
            #[cfg(test)]
            n_syncs: Cell::default(),
            #[cfg(test)]
            room: Cell::new(u64::MAX),
        }
    }

    /// Announces a call. Only when this returns may the call be made.
    ///
    /// # Errors
    /// Returns an error if this or an earlier record cannot be synced. Nothing is announced then.
    pub async fn announce_operation(
        &self,
        intent: Intent<'_>,
    ) -> Result<OperationId, JournalError> {
        let op = self.write_intent(intent, None)?;
        // The intent must reach the disk, not only the page cache: the provider works on another
        // machine, which survives a power failure of this one.
        let committed = self.make_durable().await;
        if committed.is_err() {
            self.withdraw_operation(op);
        }
        committed.map(|()| op)
    }

    /// Withdraws an announcement: the call is not made, so a recovery must not look for its effect.
    fn withdraw_operation(&self, op: OperationId) {
        self.open.borrow_mut().remove(&op);
        let how = "the call was not made".to_owned();
        // If this cannot be written, the next run looks for the effect of a call that was not made, on the safe
        // side.
        self.append_record(&Record::Resolved { op: op.0, how }).ok();
    }

    /// Announces a call that changes nothing outside this process, without waiting for the disk.
    ///
    /// # Errors
    /// Returns an error if this or an earlier record cannot be written.
    pub fn announce_internal_call(
        &self,
        intent: Intent<'_>,
        records: InternalRecordTiming,
    ) -> Result<OperationId, JournalError> {
        self.write_intent(intent, Some(records))
    }

    /// The error of a step after one that failed.
    fn broken_error(&self) -> JournalError {
        JournalError::Broken { location: self.location.clone() }
    }

    /// Whether further calls may be announced: no record was refused so far.
    #[must_use]
    pub fn can_announce(&self) -> bool {
        self.health.get() == JournalWritability::Sound
    }

    fn write_intent(
        &self,
        intent: Intent<'_>,
        internal: Option<InternalRecordTiming>,
    ) -> Result<OperationId, JournalError> {
        let is_buffered = internal == Some(InternalRecordTiming::Buffered);
        // Before the number is assigned: refused records release their numbers.
        match is_buffered {
            true => self.write_full_buffer(),
            false => self.write_buffer(),
        }
        if !self.can_announce() {
            return Err(self.broken_error());
        }
        debug_assert!(
            self.may_announce(&intent),
            "a predecessor goes before its successor is written down"
        );
        // The record number names the call, so a lost announcement can still be matched with its
        // answer by number (`scan`).
        let op = OperationId(self.next.get());
        let record = record::intent_record(op, intent);
        let space = Self::space_for_call(&record);
        // Before the announcement, which could not be taken back on a full disk.
        self.reserve_for_call(space)
            .inspect_err(|_| self.health.set(JournalWritability::Failing))?;
        self.add_record(&record, is_buffered)?;
        let subject = CallSubject {
            addr: intent.addr.clone(),
            provider: intent.provider.clone(),
            deposed: intent.deposed.cloned(),
            is_noted_only: internal.is_some(),
            is_buffered,
            // The process itself answers, and the next record contains the result, if any.
            is_answered: internal.is_some(),
            is_half_made: false,
            space,
        };
        self.rules.note_announced(op, &intent);
        self.open.borrow_mut().insert(op, subject);
        Ok(op)
    }

    /// Records an answer. Must be called before the answer is used.
    ///
    /// # Errors
    /// When the record could not be written.
    pub fn record_answer(
        &self,
        op: OperationId,
        answer: ProviderAnswer,
    ) -> Result<(), JournalError> {
        debug_assert!(self.is_announced_durably(op), "a call was made before it was announced");
        // Written without a sync. The next announcement of a dependent syncs the file, and records
        // are appended in order, so no dependent becomes durable without this answer.
        self.append_record(&Record::Answer { op: op.0, answer })?;
        if let Some(call) = self.open.borrow_mut().get_mut(&op) {
            call.is_answered = true;
        }
        Ok(())
    }

    /// Records the result of an announced call for the state: the object after it, `None` if it was
    /// deleted. Dependent calls may be started when this returns: a later record is never durable
    /// without this one. Does nothing for a call that is settled already.
    ///
    /// # Errors
    /// When the record could not be written.
    pub fn settle_operation(
        &self,
        op: OperationId,
        object: Option<&ObjectState>,
    ) -> Result<(), JournalError> {
        self.write_full_buffer();
        if let Some((record, is_buffered)) = self.result_record(op, object) {
            self.add_record(&record, is_buffered)?;
            self.rules.note_settled(self.next.get() - 1);
        }
        // Only now: a call whose result was not written stays open, so the next run looks for its
        // effect.
        self.open.borrow_mut().remove(&op);
        Ok(())
    }

    /// Records the result of an announced call for the state in case that the remaining steps on
    /// the object have no result. [`Journal::settle_operation`] follows.
    ///
    /// # Errors
    /// When the record could not be written.
    pub fn record_interim_result(
        &self,
        op: OperationId,
        object: Option<&ObjectState>,
    ) -> Result<(), JournalError> {
        debug_assert!(
            may_be_interim_result(object),
            "an object is whole before what runs beside it has"
        );
        if let Some((record, _)) = self.result_record(op, object) {
            // Not buffered: a provisioner that runs next may change something outside this process.
            self.append_record(&record)?;
            self.rules.note_settled(self.next.get() - 1);
        }
        if let Some(call) = self.open.borrow_mut().get_mut(&op) {
            call.is_half_made = true;
        }
        Ok(())
    }

    fn add_record(&self, record: &Record, is_buffered: bool) -> Result<(), JournalError> {
        if is_buffered { self.buffer_record(record) } else { self.append_record(record) }
    }

    /// The record of the result of an open call, and whether it is buffered; `None` for a call that is
    /// settled already.
    fn result_record(
        &self,
        op: OperationId,
        object: Option<&ObjectState>,
    ) -> Option<(Record, bool)> {
        // A call may be settled twice, for now and finally. The second record wins in the replay,
        // because records are applied in order.
        let open = self.open.borrow();
        let subject = open.get(&op)?;
        Some((record::settled_record(op, subject, object), subject.is_buffered))
    }

    /// Records which state is about to be stored. The state must contain everything settled so far.
    ///
    /// # Errors
    /// When the record could not be made durable.
    pub async fn record_state_fingerprint(&self, file: &StateFile) -> Result<(), JournalError> {
        debug_assert!(self.may_store_state(), "a state is stored while a call has no answer");
        // Before the state and not after it: if the process dies in between, the fingerprint of the
        // stored state identifies which of the two states is on disk, and so which results it contains.
        self.append_record(&record::state_fingerprint_record(file))?;
        // The state and its backup may be on the same disk, and need space now.
        self.free_unused_space();
        self.rules.note_state_stored(self.next.get() - 1);
        self.make_durable().await
    }

    /// Ends the run. Must be called after the state with all results is stored. The journal is removed,
    /// unless the effect of a call is still unknown: then the next run needs it.
    ///
    /// # Errors
    /// When the end could not be written. A later run then takes over the remaining journal.
    pub async fn end_run(mut self) -> Result<(), JournalError> {
        // The file is not changed and has no end record: the next command reads it as an
        // interrupted run and reports the open operations.
        if !self.open.borrow().is_empty() {
            self.write_buffer();
            self.sink.release_space(0);
            // The records since the last announcement.
            return match self.copy.is_some() {
                true => self.make_durable().await,
                false => Ok(()),
            };
        }
        debug_assert!(self.may_remove_journal(), "a journal is removed before its state is stored");
        // Not for the copy, which has its own mark.
        // Taken before the record, which would be pushed to it.
        let copy = self.copy.take();
        // If the removal below fails or is lost in a crash, this record still marks that there is
        // nothing to recover.
        self.append_record(&Record::RunEnd {})?;
        // The copy is removed first: without it, this journal records that its run has ended.
        if let Some(copy) = copy {
            copy.remove_copy().await?;
        }
        self.remove_records()
    }

    /// Gives up a journal in which nothing was announced.
    pub fn abandon_journal(self) {
        // A remaining journal contains no calls, and the next run removes it.
        self.remove_records().ok();
    }

    fn remove_records(self) -> Result<(), JournalError> {
        let sink = Rc::clone(&self.sink);
        // First, so that the sink has no other user.
        drop(self);
        sink.remove_records()
    }

    /// Reads the records so far.
    ///
    /// # Errors
    /// When the sink cannot be read.
    pub fn read_content(&self) -> Result<Vec<u8>, JournalError> {
        self.sink.read_records()
    }

    /// Whether the effect of some call is unknown.
    #[must_use]
    pub fn has_open_calls(&self) -> bool {
        !self.open.borrow().is_empty()
    }

    /// The location of the journal, for messages: the path, if it is in a file.
    #[must_use]
    pub fn location(&self) -> &str {
        &self.location
    }

    /// The id of the run.
    #[must_use]
    pub fn run_id(&self) -> &str {
        &self.run
    }

    /// Path of a journal in a file.
    #[cfg(test)]
    pub(crate) fn path(&self) -> &Path {
        Path::new(&self.location)
    }

    /// Whether a call is open and may be made: its announcement is durable, if it has to be.
    fn is_announced_durably(&self, op: OperationId) -> bool {
        // The number of an intent is its record number, so it can be compared with the last durable
        // record.
        let is_ready = |call: &CallSubject| call.is_noted_only || self.durable.get() >= op.0;
        self.open.borrow().get(&op).is_some_and(is_ready)
    }
}
