//! Puts journals away once the state holds their results: removes them, keeps the ones that wait for a
//! decision, and sets damaged ones aside.

use std::fs::OpenOptions;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use super::{InterruptedRun, JournalDamage, Recovery, UnresolvedOperation, read_journal};
use crate::disk::FileOptions as _;
use crate::state::file::StateFile;
use crate::state::journal::record::{self, Record, RunBegin};
use crate::state::journal::{self, JournalError};

impl Recovery {
    /// Puts the journals away, to be called when the state is stored. Calls that need a decision stay
    /// on record until [`Recovery::mark_decided`]; for the others, the next refresh finds out. A damaged
    /// journal is kept under another name, which nothing reads.
    ///
    /// # Errors
    /// When a journal cannot be written, renamed or removed; the next run then takes it over once more.
    pub fn archive_journals(&self) -> Result<(), JournalError> {
        for run in &self.runs {
            let waits: Vec<&UnresolvedOperation> =
                self.unresolved.iter().filter(|one| one.journal == run.journal).collect();
            match (&run.damage, waits.iter().any(|one| one.needs_decision())) {
                (None, false) => journal::remove_journal(&run.journal)?,
                // The journal stays for open operations. `TakenOver` tells the next command that
                // all other results are stored, so that they are not put in again over later
                // changes.
                (None, true) => {
                    append_records_to_ended_journal(&run.journal, &outcome_records(&waits))?;
                }
                (Some(damage), false) => std::fs::rename(&run.journal, damage.damaged_copy_path())
                    .map_err(JournalError::io_error("rename", &run.journal))?,
                (Some(damage), true) => {
                    self.rewrite_damaged_journal(run, damage, &outcome_records(&waits))?;
                }
            }
        }
        Ok(())
    }

    /// Replaces a damaged journal by one with its sound records and more, and keeps a copy of it.
    fn rewrite_damaged_journal(
        &self,
        run: &InterruptedRun,
        damage: &JournalDamage,
        more: &[Record],
    ) -> Result<(), JournalError> {
        let path = &run.journal;
        let failed = |error| JournalError::io_error("write", path)(error);
        let log = read_journal(path)?;
        let file = self.file.clone().unwrap_or_else(StateFile::new_empty);
        let (lineage, serial) = (file.lineage, file.serial);
        let begin = Record::RunBegin(RunBegin { lineage, serial, ..RunBegin::default() });
        // The description of the run may be what is lost.
        let begin = log.run_begin().is_none().then_some(&begin);
        let sound = log.records.iter().map(|(_, record)| record);
        let mut bytes = Vec::new();
        for (record, number) in begin.into_iter().chain(sound).chain(more).zip(1..) {
            bytes.extend(record::frame_record(number, record));
        }
        // The damaged bytes are kept before they are replaced.
        keep_damaged_copy(path, &damage.damaged_copy_path()).map_err(failed)?;
        // In one step: a crash during the rewrite leaves the damaged journal in force.
        journal::write_journal_file(path, &bytes)
    }
}

/// Keeps the bytes of a damaged journal under another name.
fn keep_damaged_copy(path: &Path, kept: &Path) -> io::Result<()> {
    // A checkout may contain one, and a copy would go to the file that it leads to.
    if kept.is_symlink() {
        let reason = format!(
            "{} is a symbolic link, which is not followed; remove the link and try again",
            kept.display()
        );
        return Err(io::Error::other(reason));
    }
    // An existing copy is from an earlier attempt and has more of the original than this file.
    if !kept.exists() && std::fs::hard_link(path, kept).is_err() {
        std::fs::copy(path, kept)?;
    }
    Ok(())
}

/// The records of the outcomes of calls that were open.
fn outcome_records(waits: &[&UnresolvedOperation]) -> Vec<Record> {
    let doubts = waits.iter().map(|one| match one.needs_decision() {
        true => Record::Doubted { op: one.op },
        false => one.resolved_record(one.decided.as_deref().unwrap_or("left to the next refresh")),
    });
    std::iter::once(Record::TakenOver {}).chain(doubts).collect()
}

/// Appends records to a journal of an ended run, behind its last whole record.
pub(super) fn append_records_to_ended_journal(
    path: &Path,
    records: &[Record],
) -> Result<(), JournalError> {
    let log = read_journal(path)?;
    let failed = |error| JournalError::io_error("write", path)(error);
    let mut file = OpenOptions::new().appending().open(path).map_err(failed)?;
    // The torn end of a record would make everything behind it unreadable.
    file.set_len(log.end as u64).map_err(failed)?;
    file.seek(SeekFrom::End(0)).map_err(failed)?;
    let mut number = log.records.last().map_or(0, |(number, _)| *number);
    for record in records {
        number += 1;
        file.write_all(&record::frame_record(number, record)).map_err(failed)?;
    }
    file.sync_all().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_journal_is_copied_once_and_not_through_a_planted_link() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("journal"), "one").unwrap();
        std::os::unix::fs::symlink(at("victim"), at("link")).unwrap();
        let error = keep_damaged_copy(&at("journal"), &at("link")).unwrap_err().to_string();
        assert!(error.contains("link is a symbolic link") && !at("victim").exists(), "{error}");
        keep_damaged_copy(&at("journal"), &at("kept")).unwrap();
        std::fs::remove_file(at("journal")).unwrap();
        std::fs::write(at("journal"), "two").unwrap();
        keep_damaged_copy(&at("journal"), &at("kept")).unwrap();
        assert_eq!(std::fs::read_to_string(at("kept")).unwrap(), "one");
    }
}
