//! Archives journals once the state contains their results: removes them, keeps those that wait for a
//! decision, and sets damaged ones aside.

use std::sync::Arc;

use super::{Recovery, UnresolvedOperation, parse_journal};
use crate::state::file::StateFile;
use crate::state::journal::record::{self, JournalLog, Record, RunBegin};
use crate::state::journal::{JournalError, StoredJournal};

impl Recovery {
    /// Archives the journals. Must be called after the state is stored. Calls that need a decision stay
    /// recorded until [`Recovery::mark_decided`]; the next refresh determines the others. A damaged
    /// journal is renamed, and is not read any more.
    ///
    /// # Errors
    /// When a journal cannot be written, renamed or removed. The next run then takes it over again.
    pub fn archive_journals(&self) -> Result<(), JournalError> {
        for run in &self.runs {
            let journal = &run.journal;
            let in_journal =
                self.unresolved.iter().filter(|operation| Arc::ptr_eq(&operation.journal, journal));
            let waits: Vec<&UnresolvedOperation> = in_journal.collect();
            match (&run.damage, waits.iter().any(|operation| operation.needs_decision())) {
                (None, false) => journal.remove_journal()?,
                // The journal remains for open operations. `TakenOver` records for the next command that
                // all other results are stored, so that they are not applied again over later
                // changes.
                (None, true) => {
                    append_records_to_ended_journal(&**journal, &outcome_records(&waits))?;
                }
                (Some(_), false) => journal.set_damaged_aside()?,
                (Some(_), true) => {
                    self.rewrite_damaged_journal(&**journal, &outcome_records(&waits))?;
                }
            }
        }
        Ok(())
    }

    /// Replaces a damaged journal with its intact records and additional ones, and keeps a copy of it.
    fn rewrite_damaged_journal(
        &self,
        journal: &dyn StoredJournal,
        more: &[Record],
    ) -> Result<(), JournalError> {
        let log = read_journal(journal)?;
        let file = self.file.clone().unwrap_or_else(StateFile::new_empty);
        let (lineage, serial) = (file.lineage, file.serial);
        let begin = Record::RunBegin(RunBegin { lineage, serial, ..RunBegin::default() });
        // The lost part may be the description of the run.
        let begin = log.run_begin().is_none().then_some(&begin);
        let sound = log.records.iter().map(|(_, record)| record);
        let mut bytes = Vec::new();
        for (record, number) in begin.into_iter().chain(sound).chain(more).zip(1..) {
            bytes.extend(record::frame_record(number, record));
        }
        journal.replace_damaged_bytes(&bytes)
    }
}

/// The records of the outcomes of calls that were open.
fn outcome_records(waits: &[&UnresolvedOperation]) -> Vec<Record> {
    let doubts = waits.iter().map(|operation| match operation.needs_decision() {
        true => Record::Doubted { op: operation.op },
        false => operation
            .resolved_record(operation.decided.as_deref().unwrap_or("left to the next refresh")),
    });
    std::iter::once(Record::TakenOver {}).chain(doubts).collect()
}

/// Appends records to a journal of an ended run, after its last whole record.
pub(super) fn append_records_to_ended_journal(
    journal: &dyn StoredJournal,
    records: &[Record],
) -> Result<(), JournalError> {
    let log = read_journal(journal)?;
    let last = log.records.last().map_or(0, |(number, _)| *number);
    let frames = records.iter().zip(last + 1..);
    let frames = frames.flat_map(|(record, number)| record::frame_record(number, record));
    // The partial record at the end would make everything after it unreadable, so it is removed.
    journal.append_bytes(log.end, &frames.collect::<Vec<u8>>())
}

fn read_journal(journal: &dyn StoredJournal) -> Result<JournalLog, JournalError> {
    parse_journal(&journal.location(), &journal.read_bytes()?)
}
