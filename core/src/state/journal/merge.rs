//! Merges the two copies of one journal: that of the machine of its run, and that of the shared store.

use std::collections::BTreeSet;

use super::record::{self, JournalLog, Record};

/// Merges the copy of a journal in the shared store with the one on the machine that wrote it.
///
/// A call is made only once both contain its announcement, so the shared copy names every call. The local
/// copy may contain answers that never left the machine. If another machine has taken the run over since,
/// its decisions take precedence, and only the results of open calls are taken from the local copy.
#[must_use]
pub fn merge_journal_copies(shared: Vec<u8>, local: Option<&[u8]>) -> Vec<u8> {
    let Some(local) = local else { return shared };
    let common = shared.iter().zip(local).take_while(|(a, b)| a == b).count();
    // The shared copy is a prefix of the local one, which so has everything in it and more.
    if common == shared.len() {
        return local.to_vec();
    }
    // The recovery uses the readable part of a damaged copy.
    let (Ok(theirs), Ok(ours)) = (record::scan_journal(&shared), record::scan_journal(local))
    else {
        return shared;
    };
    let last_common =
        record::scan_journal(&shared[..common]).ok().and_then(|log| last_record_number(&log));
    let open = open_calls(&theirs);
    let more = ours.records.iter().filter(|(number, record)| {
        let (Record::Answer { op, .. } | Record::Settled { op, .. }) = record else { return false };
        last_common.is_none_or(|last| *number > last) && open.contains(op)
    });
    let mut merged = shared[..theirs.end].to_vec();
    let next = last_record_number(&theirs).map_or(1, |number| number + 1);
    // Numbered again, because decisions in the shared copy have taken the numbers.
    for ((_, record), number) in more.zip(next..) {
        merged.extend(record::frame_record(number, record));
    }
    merged
}

/// The number of the last record.
fn last_record_number(log: &JournalLog) -> Option<u64> {
    log.records.last().map(|(number, _)| *number)
}

/// The calls of which a journal has no result.
fn open_calls(log: &JournalLog) -> BTreeSet<u64> {
    let mut open = BTreeSet::new();
    for (_, record) in &log.records {
        match record {
            Record::Intent(intent) => drop(open.insert(intent.op)),
            Record::Doubted { op } => drop(open.insert(*op)),
            Record::Settled { op, .. } | Record::Resolved { op, .. } => drop(open.remove(op)),
            _ => {}
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records in their frames, numbered from one on.
    fn frame_records(records: &[Record], first: u64) -> Vec<u8> {
        let frames =
            records.iter().zip(first..).map(|(record, at)| record::frame_record(at, record));
        frames.flatten().collect()
    }

    fn intent(op: u64) -> Record {
        let text = format!(
            r#"{{"Intent":{{"op":{op},"when":"","address":"t.a","provider":"","deposed":null,"deposes":null,"action":"create","prior":null,"planned":""}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    fn settled(op: u64) -> Record {
        Record::Settled { op, object: None }
    }

    fn record_names(bytes: &[u8]) -> Vec<String> {
        let log = record::scan_journal(bytes).unwrap();
        assert!(log.gaps.is_empty());
        let name = |record: &Record| {
            let text = serde_json::to_string(record).unwrap();
            let op = match record {
                Record::Intent(intent) => intent.op,
                Record::Settled { op, .. } | Record::Resolved { op, .. } => *op,
                _ => 0,
            };
            format!("{} {op}", text.split('"').nth(1).unwrap())
        };
        log.records.iter().map(|(_, record)| name(record)).collect()
    }

    #[test]
    fn answers_only_in_the_local_copy_are_used() {
        let shared = frame_records(&[intent(1)], 1);
        let local = frame_records(&[intent(1), settled(1)], 1);
        assert_eq!(merge_journal_copies(shared.clone(), Some(&local)), local);
        // The local copy is missing, or older.
        assert_eq!(merge_journal_copies(local.clone(), None), local);
        assert_eq!(merge_journal_copies(local.clone(), Some(&shared)), local);
    }

    #[test]
    fn decisions_of_another_machine_count_and_results_of_open_calls_are_added() {
        let begun = [intent(1), intent(2)];
        let resolved = Record::Resolved { op: 1, how: "forgotten".to_owned() };
        let shared = frame_records(&begun, 1).into_iter();
        let shared: Vec<u8> =
            shared.chain(frame_records(&[Record::TakenOver {}, resolved], 3)).collect();
        let local: Vec<u8> = frame_records(&begun, 1)
            .into_iter()
            .chain(frame_records(&[settled(1), settled(2)], 3))
            .collect();
        let merged = merge_journal_copies(shared, Some(&local));
        assert_eq!(
            record_names(&merged),
            ["Intent 1", "Intent 2", "TakenOver 0", "Resolved 1", "Settled 2"]
        );
    }
}
