//! Parts of a journal in a shared store: records, a new beginning, or the end.

/// One part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JournalPart {
    /// Whole records that follow the previous ones.
    Records(Vec<u8>),
    /// Whole records that follow the previous ones, written by a process that has taken over the
    /// run.
    Continuation(Vec<u8>),
    /// Whole records that replace the previous ones, written by a process that has taken over the
    /// run.
    Restart(Vec<u8>),
    /// The run was taken over, and everything in it is settled. The part remains, so that the machine
    /// of the run can detect it.
    End,
}

/// The combined content of all parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AssembledJournal {
    /// The bytes of the journal.
    Records(Vec<u8>),
    /// The run was taken over.
    Ended,
}

const RECORDS_TAG: u8 = b'r';
const CONTINUATION_TAG: u8 = b'c';
const RESTART_TAG: u8 = b's';
const END_TAG: u8 = b'e';

impl JournalPart {
    /// The stored form of a part: a letter, followed by the records.
    pub(super) fn encode(&self) -> Vec<u8> {
        let (kind, records) = match self {
            Self::Records(records) => (RECORDS_TAG, &records[..]),
            Self::Continuation(records) => (CONTINUATION_TAG, &records[..]),
            Self::Restart(records) => (RESTART_TAG, &records[..]),
            Self::End => (END_TAG, &[][..]),
        };
        [&[kind], records].concat()
    }
}

/// Assembles the content of a journal from all its parts. A missing part, or one of an unknown
/// kind, is a gap in the journal, which is detected when the records are read.
pub(super) fn assemble_parts(parts: &[(u64, Vec<u8>)]) -> AssembledJournal {
    let mut assembled = Vec::new();
    for (_, part) in parts {
        match part.split_first() {
            Some((&END_TAG, _)) => return AssembledJournal::Ended,
            Some((&RESTART_TAG, records)) => assembled = records.to_vec(),
            Some((&(RECORDS_TAG | CONTINUATION_TAG), records)) => {
                assembled.extend_from_slice(records);
            }
            Some((_, unknown)) => assembled.extend_from_slice(unknown),
            None => {}
        }
    }
    AssembledJournal::Records(assembled)
}

/// Whether another process has taken over the run, so that the run is not active.
pub(super) fn is_taken_over(parts: &[(u64, Vec<u8>)]) -> bool {
    let tag = |part: &[u8]| part.first().copied();
    parts
        .iter()
        .any(|(_, part)| matches!(tag(part), Some(CONTINUATION_TAG | RESTART_TAG | END_TAG)))
}
