//! Replays a journal over a state. If another program has changed the state since, a result is applied
//! only if the stored object is the one that the run itself left.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::str::FromStr;
use std::sync::Arc;

use formwork_value::{Type, codec};
use serde_json::value::RawValue;

use super::{InterruptedRun, JournalDamage, OpenQuestion, Recovery, UnresolvedOperation};
use crate::addr::{DeposedKey, InstanceAddr, ProviderConfigAddr};
use crate::state::file::{self, ObjectEntry, StateFile};
use crate::state::journal::record::{
    self, IntentRecord, JournalExtent, JournalLog, Record, RunBegin,
};
use crate::state::journal::{CallAction, JournalError, ProviderAnswer, StoredJournal};
use crate::state::{ObjectState, State};

/// Position of an object in the state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct ObjectSlot {
    addr: InstanceAddr,
    deposed: Option<DeposedKey>,
}

/// A call in a journal.
struct ReplayedCall<'l> {
    intent: &'l IntentRecord,
    slot: ObjectSlot,
    provider: ProviderConfigAddr,
}

impl ReplayedCall<'_> {
    fn is_internal_creation(&self) -> bool {
        self.intent.action == CallAction::Create && self.provider.provider.is_builtin()
    }

    /// The key under which the replaced object is deposed.
    fn deposed_key_of_predecessor(&self) -> Option<DeposedKey> {
        self.intent.deposes.as_ref().map(|key| DeposedKey(key.as_str().into()))
    }
}

/// Replays one journal.
pub(super) struct JournalReplay<'l> {
    journal: Arc<dyn StoredJournal>,
    calls: BTreeMap<u64, ReplayedCall<'l>>,
    answers: HashMap<u64, &'l ProviderAnswer>,
    results: HashMap<u64, Option<&'l RawValue>>,
    /// Calls that are neither settled nor resolved.
    pub(super) open: BTreeSet<u64>,
    /// For each slot, the objects that this run may have found or left there, by fingerprint.
    own_objects: HashMap<ObjectSlot, HashSet<Option<String>>>,
    /// The addresses of results whose announcement is lost and whose slot has another object.
    unplaced: BTreeSet<String>,
}

impl<'l> JournalReplay<'l> {
    /// Reads a journal.
    ///
    /// # Errors
    /// When a record does not contain a valid address, so its object is unknown.
    pub(super) fn new(
        journal: Arc<dyn StoredJournal>,
        log: &'l JournalLog,
    ) -> Result<Self, JournalError> {
        let mut replay = Self {
            journal,
            calls: BTreeMap::new(),
            answers: HashMap::new(),
            results: HashMap::new(),
            open: BTreeSet::new(),
            own_objects: HashMap::new(),
            unplaced: BTreeSet::new(),
        };
        for (number, record) in &log.records {
            replay.read_record(*number, record)?;
        }
        // A creation of the built-in provider created nothing outside the interrupted process, and
        // provisioners run only after a result. So the next run repeats it, and no question is open.
        let Self { open, calls, .. } = &mut replay;
        open.retain(|op| !calls.get(op).is_some_and(ReplayedCall::is_internal_creation));
        Ok(replay)
    }

    fn read_record(&mut self, number: u64, record: &'l Record) -> Result<(), JournalError> {
        match record {
            Record::Intent(intent) => {
                let addr = self.parse_address_name(number, &intent.address)?;
                let provider = self.parse_address_name(number, &intent.provider)?;
                let deposed = intent.deposed.as_ref().map(|key| DeposedKey(key.as_str().into()));
                self.open.insert(intent.op);
                self.calls.insert(
                    intent.op,
                    ReplayedCall { intent, slot: ObjectSlot { addr, deposed }, provider },
                );
                // The object that the run found counts as its own: if the stored state still has
                // it, no other program has changed it, and the result may replace it.
                self.remember_object_fingerprint(intent.op, intent.prior.clone());
            }
            Record::Answer { op, answer } => {
                self.answers.insert(*op, answer);
            }
            Record::Settled { op, object } => {
                self.open.remove(op);
                self.results.insert(*op, object.as_deref());
                let print =
                    object.as_ref().map(|raw| record::fingerprint_hex(raw.get().as_bytes()));
                self.remember_object_fingerprint(*op, print);
            }
            Record::Doubted { op } => {
                // Doubted operations were open when an earlier command took this journal over. They
                // remain open until a decision is recorded.
                self.open.insert(*op);
            }
            Record::Resolved { op, .. } => {
                self.open.remove(op);
            }
            _ => {}
        }
        Ok(())
    }

    /// The journal, as errors name it.
    fn location(&self) -> String {
        self.journal.location()
    }

    /// Parses a name of a record. It was printed by this program, or by a newer one.
    fn parse_address_name<T: FromStr>(&self, number: u64, name: &str) -> Result<T, JournalError> {
        name.parse().map_err(|_| JournalError::Unreadable {
            location: self.location(),
            number,
            reason: format!("{name:?} is not an address"),
        })
    }

    fn remember_object_fingerprint(&mut self, op: u64, print: Option<String>) {
        // Without its announcement the slot of a result is unknown here.
        if let Some(call) = self.calls.get(&op) {
            self.own_objects.entry(call.slot.clone()).or_default().insert(print);
        }
    }

    pub(super) fn replay_log(
        mut self,
        log: &JournalLog,
        recovery: &mut Recovery,
    ) -> Result<(), JournalError> {
        let nothing = RunBegin::default();
        let begin = log.run_begin();
        let RunBegin { operation, when, who, .. } = begin.unwrap_or(&nothing);
        let mut run = InterruptedRun {
            operation: operation.clone(),
            when: when.clone(),
            who: who.clone(),
            n_replayed: 0,
            damage: self.journal_damage(log),
            began_with: None,
            journal: Arc::clone(&self.journal),
        };
        // A run that was interrupted before it did anything leaves the state unchanged.
        // A damaged journal is never idle: the lost records may be its only intents.
        let is_idle = self.calls.is_empty() && !log.is_damaged();
        // A journal with an end record was to be removed, and only its removal is missing.
        if !log.has_ended() && !is_idle {
            let mut file = self.base_state(log, recovery.file.take())?;
            let is_same = begin.is_some_and(|begin| begin.lineage == file.lineage);
            // A serial below that of the beginning means that an older state was copied over the
            // stored one. Results can be put into it, but objects from in between are missing in
            // both.
            run.began_with = begin
                .filter(|begin| is_same && !log.is_taken_into_state() && file.serial < begin.serial)
                .map(|begin| begin.serial);
            let mut doubted = self.open.clone();
            // Results that the run stored are not in a state that was begun apart from it. If the
            // lineage of the run is lost, the stored state is identified only by its content.
            let extent = match is_same || begin.is_none() || log.is_taken_into_state() {
                true => log.extent_in_state(&file),
                false => JournalExtent::Unknown,
            };
            // Objects in such a state may also have been created by the program that began it.
            let serial = begin.filter(|_| is_same).map_or(u64::MAX, |begin| begin.serial);
            let included = if let JournalExtent::Upto(number) = extent { number } else { 0 };
            for (_, record) in log.records.iter().filter(|(number, _)| *number > included) {
                let Record::Settled { op, .. } = record else { continue };
                match self.settle_operation(*op, extent, &mut file.state)? {
                    ReplayOutcome::Put => run.n_replayed += 1,
                    ReplayOutcome::AlreadyInState => {}
                    ReplayOutcome::Doubtful => drop(doubted.insert(*op)),
                }
            }
            if let Some(damage) = &mut run.damage {
                damage.add_unplaced_results(&self.unplaced);
            }
            // An empty state also has the lineage that the journal names, and must keep it.
            recovery.file = Some(file);
            for op in doubted {
                recovery.unresolved.extend(self.unresolved_operation(op, serial)?);
            }
        }
        recovery.runs.push(run);
        Ok(())
    }

    fn journal_damage(&self, log: &JournalLog) -> Option<JournalDamage> {
        let names = |op: u64| self.calls.get(&op).map(|call| call.slot.addr.to_string());
        let is_known = |op: u64| self.results.contains_key(&op);
        JournalDamage::from_log(log, Arc::clone(&self.journal), names, is_known)
    }

    /// The state that the journal belongs to.
    fn base_state(
        &self,
        log: &JournalLog,
        stored: Option<StateFile>,
    ) -> Result<StateFile, JournalError> {
        let Some(begin) = log.run_begin() else {
            return stored.ok_or_else(|| JournalError::Headless { location: self.location() });
        };
        match stored {
            // Once everything is taken over, the journal only waits for decisions. And a run that
            // found no state expects no specific one: another program has created one since.
            Some(file)
                if file.lineage == begin.lineage
                    || log.is_taken_into_state()
                    || begin.serial == 0 =>
            {
                Ok(file)
            }
            Some(file) => Err(JournalError::OtherLineage {
                location: self.location(),
                theirs: begin.lineage.clone(),
                ours: file.lineage,
                objects: self.describe_objects(),
            }),
            // The run began with objects that only the missing state had. Starting from nothing
            // would create all of them again.
            None if begin.serial > 0 || log.is_taken_into_state() => Err(JournalError::NoBase {
                location: self.location(),
                read_from: begin.read_from.clone(),
                objects: self.describe_objects(),
            }),
            // The lineage is kept: journals and backups of the first run contain it, and a new one
            // would make them foreign.
            None => Ok(StateFile { lineage: begin.lineage.clone(), ..StateFile::new_empty() }),
        }
    }

    /// A line for each object that the run left, and for each call whose outcome is unknown.
    fn describe_objects(&self) -> Vec<String> {
        let mut lines: BTreeMap<ObjectSlot, String> = BTreeMap::new();
        for (op, call) in &self.calls {
            let addr = &call.slot.addr;
            // An unreadable record must not hide the error that this list belongs to.
            let Ok(result) = self.resulting_object(*op) else { continue };
            match result {
                Some(entry) => {
                    let is_hidden =
                        self.answers.get(op).is_some_and(|answer| answer.has_sensitive_id);
                    let id = entry.object.shown_id().filter(|_| !is_hidden);
                    let id = id.map(|id| format!(" with the id {id:?}"));
                    let line = format!("{addr}{}", id.unwrap_or_default());
                    lines.insert(call.slot.clone(), line);
                }
                None if self.open.contains(op) => {
                    let line = format!("{addr}, which may have been changed");
                    lines.insert(call.slot.clone(), line);
                }
                None => drop(lines.remove(&call.slot)),
            }
        }
        lines.into_values().collect()
    }

    /// Puts the result of a call into the state, unless another program has changed it there.
    fn settle_operation(
        &mut self,
        op: u64,
        extent: JournalExtent,
        state: &mut State,
    ) -> Result<ReplayOutcome, JournalError> {
        if !self.calls.contains_key(&op) {
            return self.settle_unannounced(op, state);
        }
        let Some(call) = self.calls.get(&op) else { return Ok(ReplayOutcome::AlreadyInState) };
        let fingerprint = object_in_slot(state, &call.slot).map(|(provider, object)| {
            let ObjectSlot { addr, deposed } = &call.slot;
            record::fingerprint_hex(&file::write_object_entry(
                addr,
                deposed.as_ref(),
                provider,
                object,
            ))
        });
        let is_own = || {
            self.own_objects.get(&call.slot).is_some_and(|objects| objects.contains(&fingerprint))
        };
        // The state was written by another program. A result may replace an object that the run
        // itself found or left, by fingerprint, but never a foreign one.
        if extent == JournalExtent::Unknown && !is_own() {
            return Ok(ReplayOutcome::Doubtful);
        }
        let result = self.resulting_object(op)?;
        let print = self.results.get(&op).copied().flatten();
        let print = print.map(|raw| record::fingerprint_hex(raw.get().as_bytes()));
        // An equal object proves that the result is stored already, and nothing has to be counted.
        if fingerprint == print && result.is_some() {
            return Ok(ReplayOutcome::AlreadyInState);
        }
        put_result_in_slot(state, call, result);
        Ok(if fingerprint == print { ReplayOutcome::AlreadyInState } else { ReplayOutcome::Put })
    }

    /// Puts a result whose intent is lost into the state, if its address is free. Without the
    /// intent, the effect on an existing object is unknown.
    fn settle_unannounced(
        &mut self,
        op: u64,
        state: &mut State,
    ) -> Result<ReplayOutcome, JournalError> {
        // A deletion without its slot has no meaning.
        let Some(entry) = self.resulting_object(op)? else {
            return Ok(ReplayOutcome::AlreadyInState);
        };
        let slot = ObjectSlot { addr: entry.addr, deposed: entry.deposed };
        if let Some((_, existing)) = object_in_slot(state, &slot) {
            if *existing != *entry.object {
                self.unplaced.insert(slot.addr.to_string());
            }
            return Ok(ReplayOutcome::AlreadyInState);
        }
        let ObjectSlot { addr, deposed } = slot;
        let resource = state.resource_or_insert(addr.resource_addr(), &entry.provider);
        let instance = resource.instances.or_default(&addr.key);
        match deposed {
            Some(key) => drop(instance.deposed.insert(key, entry.object)),
            None => instance.current = Some(entry.object),
        }
        Ok(ReplayOutcome::Put)
    }

    /// The object that a call left, if it left one.
    fn resulting_object(&self, op: u64) -> Result<Option<ObjectEntry>, JournalError> {
        let Some(raw) = self.results.get(&op).copied().flatten() else { return Ok(None) };
        file::read_object_entry(raw.get()).map(Some).map_err(|error| JournalError::Unreadable {
            location: self.location(),
            number: op,
            reason: format!("the object that this call left is invalid: {error}"),
        })
    }

    fn unresolved_operation(
        &self,
        op: u64,
        serial: u64,
    ) -> Result<Option<UnresolvedOperation>, JournalError> {
        let Some(call) = self.calls.get(&op) else { return Ok(None) };
        let ReplayedCall { intent, slot: ObjectSlot { addr, deposed }, provider } = call;
        let doubt = match self.results.get(&op) {
            None => OpenQuestion::Effect,
            Some(_) => OpenQuestion::Destination {
                object: self.resulting_object(op)?.map(|entry| entry.object),
            },
        };
        Ok(Some(UnresolvedOperation {
            addr: addr.clone(),
            deposed: deposed.clone(),
            deposes: call.deposed_key_of_predecessor(),
            provider: provider.clone(),
            action: intent.action,
            // Without the planned value the call is still open, but harder to find.
            planned: codec::msgpack::decode(&intent.planned, &Type::Dynamic).ok(),
            when: intent.when.clone(),
            answer: self.answers.get(&op).map(|answer| (*answer).clone()),
            doubt,
            decided: None,
            moved: None,
            op,
            serial_at_start: serial,
            journal: Arc::clone(&self.journal),
        }))
    }
}

/// Outcome of a result.
enum ReplayOutcome {
    Put,
    AlreadyInState,
    Doubtful,
}

fn object_in_slot<'s>(
    state: &'s State,
    slot: &ObjectSlot,
) -> Option<(&'s ProviderConfigAddr, &'s ObjectState)> {
    let ObjectSlot { addr, deposed } = slot;
    let resource = state.resources.get(&addr.resource_addr())?;
    let instance = resource.instances.get(&addr.key)?;
    let object = match deposed {
        Some(key) => instance.deposed.get(key)?,
        None => instance.current.as_ref()?,
    };
    Some((&resource.provider, object))
}

/// Stores the result of a call in its slot, or removes the object from it.
fn put_result_in_slot(state: &mut State, call: &ReplayedCall<'_>, result: Option<ObjectEntry>) {
    let ObjectSlot { addr, deposed } = &call.slot;
    let resource = state.resource_or_insert(addr.resource_addr(), &call.provider);
    let instance = resource.instances.or_default(&addr.key);
    let object = result.map(|entry| {
        resource.provider = entry.provider;
        entry.object
    });
    match (deposed, object) {
        (Some(key), Some(object)) => drop(instance.deposed.insert(key.clone(), object)),
        (Some(key), None) => drop(instance.deposed.remove(key)),
        (None, Some(object)) => {
            // With `create_before_destroy` the journal has one record for both effects. The old
            // object is deposed here, because its destruction is a later operation that may not
            // have happened.
            let before = instance.current.replace(object);
            if let (Some(key), Some(before)) = (call.deposed_key_of_predecessor(), before) {
                // A call that is settled a second time has deposed it already.
                instance.deposed.entry(key).or_insert(before);
            }
        }
        (None, None) => match call.deposed_key_of_predecessor() {
            None => instance.current = None,
            // Nothing was created, so the object that it was to replace stays, or is restored.
            Some(key) => {
                let before = instance.deposed.remove(&key);
                instance.current = before.or(instance.current.take());
            }
        },
    }
    if instance.current.is_none() && instance.deposed.is_empty() {
        resource.instances.remove(&addr.key);
    }
    if resource.instances.is_empty() {
        state.resources.remove(&addr.resource_addr());
    }
}
