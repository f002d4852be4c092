//! Reports which records of a damaged journal are lost, and their possible subjects.

use std::collections::BTreeSet;
use std::sync::Arc;

use formwork_value::Diagnostic;
use formwork_value::diag::Blame;

use super::InterruptedRun;
use crate::messages;
use crate::state::journal::StoredJournal;
use crate::state::journal::record::JournalLog;
use crate::state::journal::scan::{JournalGap, LostRecordKind};

/// The damage of a journal.
#[derive(Clone, Debug)]
pub struct JournalDamage {
    /// Whether a lost record may have announced the creation of an object that nothing else names.
    pub hides_creation: bool,
    n_sound: usize,
    lost: Vec<String>,
    journal: Arc<dyn StoredJournal>,
}

impl JournalDamage {
    /// Describes the damage of a journal; `None` if it is sound. `names` returns the address that an
    /// announcement is about; `is_known` whether the result of an announcement was read.
    pub(super) fn from_log(
        log: &JournalLog,
        journal: Arc<dyn StoredJournal>,
        names: impl Fn(u64) -> Option<String>,
        is_known: impl Fn(u64) -> bool,
    ) -> Option<Self> {
        if !log.is_damaged() {
            return None;
        }
        let mut lost: Vec<String> = log.gaps.iter().map(|gap| describe_gap(gap, &names)).collect();
        let may_hide = |gap: &JournalGap| match (gap.kind, gap.last) {
            // Only an announcement may be the one record that names an object.
            (LostRecordKind::Begin | LostRecordKind::Other, _) => false,
            (LostRecordKind::Intent | LostRecordKind::Unknown, None) => true,
            (LostRecordKind::Intent | LostRecordKind::Unknown, Some(last)) => {
                // An announcement is known by its number where its result was read.
                // No record is lost between two records with consecutive numbers.
                last.saturating_sub(gap.first) > log.records.len() as u64
                    || !(gap.first..=last).all(&is_known)
            }
        };
        let mut hides_creation = log.gaps.iter().any(may_hide);
        // Damaged and yet without a gap: no record can be read, so anything may be lost.
        if lost.is_empty() {
            hides_creation = true;
            lost.push(if log.is_blank { "the file is empty" } else { "no record is whole" }.into());
        }
        Some(Self { hides_creation, n_sound: log.records.len(), lost, journal })
    }

    /// The location of the journal, for messages.
    #[must_use]
    pub fn damaged_copy_location(&self) -> String {
        self.journal.damaged_copy_location()
    }

    /// Adds results that could be read and not be put into the state.
    pub(super) fn add_unplaced_results(&mut self, unplaced: &BTreeSet<String>) {
        for addr in unplaced {
            self.hides_creation = true;
            let text = format!(
                "the announcement of a result for {addr}, where the state has another object"
            );
            self.lost.push(text);
        }
    }

    /// A warning for commands that create nothing.
    #[must_use]
    pub fn damage_warning(&self, run: &InterruptedRun) -> Diagnostic {
        let detail = format!(
            "{} It is moved to {} when the state is next stored.",
            self.describe_damage(run),
            self.damaged_copy_location()
        );
        Diagnostic::warning(messages::JOURNAL_IS_DAMAGED, detail).blamed_on(Blame::Environment)
    }

    /// The error of a command that would create objects, beside the warning. The caller must have
    /// stored the state.
    #[must_use]
    pub fn damage_error(&self) -> Diagnostic {
        let detail = format!(
            "Nothing was changed, because an object of a lost record could be created a second time. \
             The results of the sound records are in the state now, and the journal was moved to {}. \
             Look for objects that the state does not have, add them with `formwork import`, and run \
             the command again.",
            self.damaged_copy_location()
        );
        Diagnostic::error(messages::UNKNOWN_OBJECTS_MAY_EXIST, detail).blamed_on(Blame::Environment)
    }

    fn describe_damage(&self, run: &InterruptedRun) -> String {
        let begun = match run.who.is_empty() {
            true => String::new(),
            false => format!(
                ", of a run ({}) that {} began at {},",
                run.operation,
                run.who,
                super::strip_subseconds(&run.when)
            ),
        };
        let lost = self.lost.iter().map(|lost| format!("\n  - {lost}")).collect::<String>();
        let sound = match self.n_sound {
            0 => "None of its records can be used.".to_owned(),
            n => {
                format!("Each record has its own checksum. The {n} intact records were used.")
            }
        };
        let hidden = match self.hides_creation {
            true => " A lost record may describe an object that is not in the state.",
            false => " No lost record announced the creation of an object.",
        };
        format!(
            "The journal {}{begun} cannot be read as a whole. Lost:{lost}\n\n{sound}{hidden}",
            self.journal.location()
        )
    }
}

fn describe_gap(gap: &JournalGap, names: &impl Fn(u64) -> Option<String>) -> String {
    let JournalGap { offset, first, last, kind, addresses, ops } = gap;
    let numbers = match last {
        Some(last) if last < first => format!("bytes in no record, before record {first},"),
        Some(last) if last != first => format!("records {first} to {last}"),
        _ => format!("record {first}"),
    };
    let kind = match kind {
        LostRecordKind::Begin => ", the description of the run",
        LostRecordKind::Intent => ", the announcement of a call",
        LostRecordKind::Other | LostRecordKind::Unknown => "",
    };
    let named = ops.iter().filter_map(|op| names(*op)).chain(addresses.iter().cloned());
    // The bytes are damaged, and control characters would steer the terminal.
    let named: BTreeSet<String> =
        named.map(|name| name.chars().filter(|c| !c.is_control()).collect()).collect();
    let named = match named.is_empty() {
        true => String::new(),
        false => format!(", with the name {}", named.into_iter().collect::<Vec<_>>().join(", ")),
    };
    format!("{numbers} at byte {offset}{kind}{named}")
}
