//! Recovers interrupted runs: results that the state lacks are put in, and calls whose effect is
//! unknown are named. Asks no provider.

mod archive;
mod damage;
mod describe;
mod in_dir;
mod misplaced;
mod object_id_hint;
mod replay;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use formwork_value::codec::json;
use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Value};

pub use self::damage::JournalDamage;
pub use self::in_dir::{
    has_unfinished_journal, is_being_written, read_interrupted_journals, recover_journals_in_dir,
};
pub(super) use self::misplaced::MisplacedSearch;
pub use self::misplaced::{JournaledPlace, MisplacedJournals};
use self::replay::JournalReplay;
use super::ObjectState;
use super::file::StateFile;
use super::journal::record::{self, JournalLog, Record, RunBegin, strip_subseconds};
use super::journal::{CallAction, JournalError, ProviderAnswer, RecordSeal, StoredJournal};
use super::operator::operation_display_name;
use crate::addr::{DeposedKey, InstanceAddr, ProviderConfigAddr};
use crate::messages;

/// Remains of interrupted runs, taken over.
#[derive(Clone, Debug)]
pub struct Recovery {
    /// The state with all known results; `None` if no state exists and no run was interrupted.
    pub file: Option<StateFile>,
    /// The interrupted runs, the earliest first.
    pub runs: Vec<InterruptedRun>,
    /// The calls whose effect is unknown, in the order in which they were announced.
    pub unresolved: Vec<UnresolvedOperation>,
}

/// An interrupted run.
#[derive(Clone, Debug)]
pub struct InterruptedRun {
    /// Operation of the run, as in the lock.
    pub operation: String,
    /// The start of the run: RFC 3339, UTC.
    pub when: String,
    /// The user and host.
    pub who: String,
    /// Number of results that were put into the state.
    pub n_replayed: usize,
    /// The damage of the journal, if it has any.
    pub damage: Option<JournalDamage>,
    /// The serial of the state that the run began with, if the stored one is older.
    began_with: Option<u64>,
    journal: Arc<dyn StoredJournal>,
}

/// A call that was in flight when its run was interrupted, or whose result contradicts the state.
#[derive(Clone, Debug)]
pub struct UnresolvedOperation {
    /// The instance.
    pub addr: InstanceAddr,
    /// Set if the call was about a deposed object.
    pub deposed: Option<DeposedKey>,
    /// Set if the new object replaces another one, which is deposed under this key once the new
    /// one exists.
    pub deposes: Option<DeposedKey>,
    /// The provider configuration that received the call.
    pub provider: ProviderConfigAddr,
    /// Action of the call.
    pub action: CallAction,
    /// Planned value, if it can still be read.
    pub planned: Option<Value>,
    /// The time of the announcement: RFC 3339, UTC.
    pub when: String,
    /// The answer, if one was received.
    pub answer: Option<ProviderAnswer>,
    /// Open question about the call.
    pub doubt: OpenQuestion,
    /// The decision about the call, as a text for the user; `None` until it is made.
    pub decided: Option<String>,
    /// The current address of the object, if it differs from the address in the interrupted
    /// run.
    pub moved: Option<InstanceAddr>,
    op: u64,
    /// The serial of the state that the run found; the maximum, if another state was begun
    /// since.
    serial_at_start: u64,
    journal: Arc<dyn StoredJournal>,
}

/// The reason why a creation is settled when an object exists at its address.
const CREATED_OBJECT_EXISTS_REASON: &str = "an object now exists at its address";

/// Open question about a call.
#[derive(Clone, Debug, PartialEq)]
pub enum OpenQuestion {
    /// The effect of the call.
    Effect,
    /// Whether its result still belongs in the state, which another run has changed since.
    Destination {
        /// The returned object; `None` if it was deleted.
        object: Option<Arc<ObjectState>>,
    },
}

/// The content of a journal of a run that is no longer in progress.
#[derive(Clone)]
pub struct JournalContent {
    /// The stored journal.
    pub journal: Arc<dyn StoredJournal>,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Opens its values.
    pub seal: Option<Arc<dyn RecordSeal>>,
}

/// Applies the results of journals to the state. Does not change the journals:
/// [`Recovery::archive_journals`] does, once the state is stored.
///
/// # Errors
/// When a journal cannot be read, or belongs to another state. Of a damaged journal, the intact records
/// are used.
pub fn recover_journals(
    journals: Vec<JournalContent>,
    stored: Option<StateFile>,
) -> Result<Recovery, JournalError> {
    let mut recovery = Recovery { file: stored, runs: Vec::new(), unresolved: Vec::new() };
    let mut logs = Vec::new();
    for JournalContent { journal, bytes, seal } in journals {
        let location = journal.location();
        let mut log = parse_journal(&location, &bytes)?;
        log.open_values(&location, seal.as_deref())?;
        let sort_key = (log.run_begin().map(RunBegin::sort_key), location);
        logs.push((sort_key, journal, log));
    }
    // Several journals remain if interrupted runs followed each other. A later one begins with the
    // state that the earlier one led to, so they are replayed in that order.
    logs.sort_by(|(a, ..), (b, ..)| a.cmp(b));
    for (_, journal, log) in logs {
        JournalReplay::new(journal, &log)?.replay_log(&log, &mut recovery)?;
    }
    recovery.settle_creations_with_object();
    Ok(recovery)
}

fn parse_journal(location: &str, bytes: &[u8]) -> Result<JournalLog, JournalError> {
    record::scan_journal(bytes).map_err(|error| JournalError::Unreadable {
        location: location.to_owned(),
        number: error.number,
        reason: error.reason,
    })
}

impl Recovery {
    /// Whether no run was interrupted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The instances of a run that only the user can decide about.
    pub fn unresolved_instances_of_run<'r>(
        &'r self,
        run: &'r str,
    ) -> impl Iterator<Item = &'r InstanceAddr> {
        let open = self.unresolved.iter().filter(|operation| operation.needs_decision());
        open.filter(move |operation| operation.journal.run_id().as_deref() == Some(run))
            .map(|operation| &operation.addr)
    }

    /// Describes the runs that were taken over, one diagnostic for each run and each unresolved
    /// call.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let runs = self.runs.iter().flat_map(InterruptedRun::diagnostics);
        let open = self.unresolved.iter().filter(|operation| operation.decided.is_none());
        runs.chain(open.map(UnresolvedOperation::diagnostic)).collect()
    }

    /// Settles a creation if an object exists at its address that may be the created one:
    /// it was imported, perhaps with another program. The address had no object when the creation was
    /// announced: a run first stores a state in which the address is free, or has deleted the object
    /// itself. This rule has three exceptions. If the new object was to replace
    /// another one, that other object is still present. If another program has changed the result of
    /// the run, the object at the address is unknown. And a state that is not newer than the one that the run
    /// found has no new objects: it is a backup, or one that is read while another is written.
    fn settle_creations_with_object(&mut self) {
        let Some(file) = &self.file else { return };
        let misplaced =
            self.unresolved.iter().filter(|operation| operation.doubt != OpenQuestion::Effect);
        // An address with a contradicting result is left to the user as a whole. Its object
        // may be of either program.
        let misplaced: BTreeSet<_> = misplaced.map(|operation| operation.addr.clone()).collect();
        for operation in &mut self.unresolved {
            let is_creation =
                operation.action == CallAction::Create && operation.doubt == OpenQuestion::Effect;
            if is_creation
                && file.serial > operation.serial_at_start
                && operation.deposes.is_none()
                && !misplaced.contains(&operation.addr)
                && let Some(object) = file.state.find_object(&operation.addr, operation.deposed.as_ref())
                // The planned attributes decide, not only the address: with several interrupted
                // creations of one type, an import may have put another object there.
                && operation.may_have_created(object)
            {
                operation.decided = Some(CREATED_OBJECT_EXISTS_REASON.to_owned());
            }
        }
    }

    /// Records the current addresses of objects, so that none is created a second time at its new address.
    pub fn follow_moves(
        &mut self,
        current_addr: impl Fn(&InstanceAddr, &ProviderConfigAddr) -> InstanceAddr,
    ) {
        for operation in &mut self.unresolved {
            let now = current_addr(&operation.addr, &operation.provider);
            operation.moved = (now != operation.addr).then_some(now);
        }
    }

    /// The former addresses of the open operations that now belong to one instance: none
    /// or one, unless several addresses were moved to the same instance.
    #[must_use]
    pub fn original_addresses(&self, addr: &InstanceAddr) -> BTreeSet<&InstanceAddr> {
        let open = self.unresolved.iter().filter(|operation| operation.needs_decision());
        open.filter(|operation| operation.current_addr() == addr)
            .map(|operation| &operation.addr)
            .collect()
    }

    /// Records the decision about all open operations of an instance, by
    /// its former address, or by its current one if that is unambiguous. It becomes durable with
    /// [`Recovery::archive_journals`]. Returns the operations.
    pub fn mark_decided(&mut self, addr: &InstanceAddr, how: &str) -> Vec<UnresolvedOperation> {
        let began_there = self
            .unresolved
            .iter()
            .any(|operation| operation.addr == *addr && operation.needs_decision());
        let origin = match began_there {
            true => addr.clone(),
            false => match self.original_addresses(addr).into_iter().collect::<Vec<_>>()[..] {
                [operation] => operation.clone(),
                // With several former addresses, the intended one is unknown.
                _ => return Vec::new(),
            },
        };
        let open = self.unresolved.iter_mut();
        let open = open.filter(|operation| operation.addr == origin && operation.needs_decision());
        let decided = open.map(|operation| {
            let before = operation.clone();
            operation.decided = Some(how.to_owned());
            before
        });
        decided.collect()
    }
}

impl InterruptedRun {
    /// The id of the run.
    #[must_use]
    pub fn run_id(&self) -> Option<String> {
        self.journal.run_id()
    }

    /// Warns of results that were put into the state, of a state that is too old for them, and of a
    /// damaged journal.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let replayed = (self.n_replayed > 0).then(|| self.results_diagnostic());
        let older = self.began_with.map(|began_with| self.older_state_warning(began_with));
        let damage = self.damage.as_ref().map(|damage| damage.damage_warning(self));
        replayed.into_iter().chain(older).chain(damage).collect()
    }

    /// Warns of a stored state that is older than the one that the run began with.
    fn older_state_warning(&self, began_with: u64) -> Diagnostic {
        let detail = format!(
            "The run ({}) that {} began at {} had a state with serial {began_with}, but the stored one \
             is older: a backup may have been copied over it. Objects that were created in between \
             are in neither of them, and would be created a second time. Compare the real objects \
             with the state before anything is applied.",
            self.operation,
            self.who,
            strip_subseconds(&self.when)
        );
        let summary = messages::STATE_IS_OLDER_THAN_JOURNAL;
        Diagnostic::warning(summary, detail).blamed_on(Blame::Environment)
    }

    /// Describes the run and the results in its journal.
    #[must_use]
    pub fn describe_results(&self) -> String {
        let Self { operation, who, n_replayed, .. } = self;
        let operation = operation_display_name(operation);
        let when = strip_subseconds(&self.when);
        let results = match n_replayed {
            0 => String::new(),
            1 => " Its journal contains 1 result that the stored state does not have.".to_owned(),
            n => format!(" Its journal contains {n} results that the stored state does not have."),
        };
        format!(
            "A run ({operation}) that {who} began at {when} was interrupted before it could save the \
             state.{results}"
        )
    }

    /// Reports the results of the run that were put into the state.
    #[must_use]
    pub fn results_diagnostic(&self) -> Diagnostic {
        let detail = format!(
            "{} This run continues from these results, and the next run that stores the state stores them too.",
            self.describe_results()
        );
        Diagnostic::warning(messages::INTERRUPTED_RUN_WAS_TAKEN_OVER, detail)
            .blamed_on(Blame::Environment)
    }
}

impl UnresolvedOperation {
    /// Whether only the user can decide about it. The object of a call to update or delete is still
    /// in the state, and the next refresh determines its outcome.
    #[must_use]
    pub fn needs_decision(&self) -> bool {
        self.decided.is_none()
            && (self.action == CallAction::Create || self.doubt != OpenQuestion::Effect)
    }

    /// Address of the object.
    #[must_use]
    pub fn current_addr(&self) -> &InstanceAddr {
        self.moved.as_ref().unwrap_or(&self.addr)
    }

    /// The same operation at another address.
    #[must_use]
    pub fn with_addr(self, addr: InstanceAddr) -> Self {
        Self { addr, ..self }
    }

    /// The planned value of a creation whose effect is unknown, to search for the object.
    #[must_use]
    pub fn planned_value_to_find(&self) -> Option<&Value> {
        let is_open = self.needs_decision() && self.deposed.is_none();
        let is_creation = self.action == CallAction::Create && self.doubt == OpenQuestion::Effect;
        self.planned.as_ref().filter(|_| is_open && is_creation)
    }

    /// Whether an object may be the one that was to be created.
    fn may_have_created(&self, object: &ObjectState) -> bool {
        self.differing_attributes(object).is_empty()
    }

    /// The names of the attributes whose planned values an object does not have. Null, unknown and
    /// sensitive ones are not compared.
    #[must_use]
    pub fn differing_attributes(&self, object: &ObjectState) -> Vec<String> {
        // Attributes that cannot be parsed differ from every plan, so the operation stays open, on
        // the safe side.
        let stored = object.attributes.to_json_value();
        let planned = self.planned_attributes().into_iter();
        let differing = planned.filter(|(name, planned)| {
            let planned: Option<serde_json::Value> = serde_json::from_str(planned).ok();
            planned.is_some_and(|planned| planned != stored[name.as_str()])
        });
        differing.map(|(name, _)| name).collect()
    }

    /// The attributes to search for: those with a planned value, as JSON, without sensitive ones.
    #[must_use]
    pub fn planned_attributes(&self) -> Vec<(String, String)> {
        let Some(Value::Object(planned)) = &self.planned else { return Vec::new() };
        let known = planned.iter().filter(|(_, value)| !value.is_null());
        known
            .filter_map(|(name, value)| Some((name.to_string(), json::encode_untyped(value).ok()?)))
            .collect()
    }

    fn resolved_record(&self, how: &str) -> Record {
        Record::Resolved { op: self.op, how: how.to_owned() }
    }
}
