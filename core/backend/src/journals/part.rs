//! Parts of a journal in a shared place: records, a new beginning, or the end.

/// One part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Whole records that follow those before.
    Records(Vec<u8>),
    /// Whole records that replace those before.
    Restart(Vec<u8>),
    /// The run was taken over, and everything in it is decided. The part stays, so that the machine of
    /// the run learns of it.
    End,
}

/// Content of all parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SharedContent {
    /// The bytes of the journal.
    Records(Vec<u8>),
    /// The run was taken over.
    Ended,
}

const RECORDS: u8 = b'r';
const RESTART: u8 = b's';
const END: u8 = b'e';

impl Part {
    /// The part as the place keeps it: a letter, and the records.
    pub(super) fn encode(&self) -> Vec<u8> {
        let (kind, records) = match self {
            Self::Records(records) => (RECORDS, &records[..]),
            Self::Restart(records) => (RESTART, &records[..]),
            Self::End => (END, &[][..]),
        };
        [&[kind], records].concat()
    }
}

/// Assembles the content of a journal from all its parts. A part that is missing or of an unknown
/// kind is a gap in the journal, which reading the records finds.
pub(super) fn assemble(parts: &[(u64, Vec<u8>)]) -> SharedContent {
    let mut all = Vec::new();
    for (_, part) in parts {
        match part.split_first() {
            Some((&END, _)) => return SharedContent::Ended,
            Some((&RESTART, records)) => all = records.to_vec(),
            Some((&RECORDS, records)) => all.extend_from_slice(records),
            Some((_, unknown)) => all.extend_from_slice(unknown),
            None => {}
        }
    }
    SharedContent::Records(all)
}
