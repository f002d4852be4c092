//! Reads the records of a journal, including one that is damaged. Records are independent: each has a
//! checksum of its own, so every record whose checksum holds is read, and every gap between them is
//! returned with as much as can be said about the records that stood there.

use serde::de::IgnoredAny;

use super::record::{HEAD, Log, length_of, whole};

/// The maximum difference between the number of a record and the last good one. Only tells likely
/// records from noise before the checksum decides.
const LIKELY: u64 = 1_000_000;

/// The checksums over a file may read that many times its length. One pass finds all records of a journal
/// that a run wrote. Without a limit, a forged journal that looks like a long record everywhere would take
/// time that grows with the square of its length.
const PASSES: usize = 16;

/// The JSON that each kind of record begins with, and whether it announces a call.
const KINDS: [(&[u8], Kind); 9] = [
    (b"{\"RunBegin\":", Kind::Begin),
    (b"{\"Intent\":", Kind::Intent),
    (b"{\"Answer\":", Kind::Other),
    (b"{\"Settled\":", Kind::Other),
    (b"{\"Snapshot\":", Kind::Other),
    (b"{\"TakenOver\":", Kind::Other),
    (b"{\"Doubted\":", Kind::Other),
    (b"{\"Resolved\":", Kind::Other),
    (b"{\"RunEnd\":", Kind::Other),
];

/// The kind of a record that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::state) enum Kind {
    /// The first record, which says what the run is.
    Begin,
    /// The announcement of a call.
    Intent,
    /// A record about an announced call or about the state.
    Other,
    /// A record, or several, of which not even that can be said.
    Unknown,
}

/// A part of a journal that is not a whole record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::state) struct Gap {
    /// The first byte.
    pub(in crate::state) offset: usize,
    /// The number of the first record that stood there.
    pub(in crate::state) first: u64,
    /// The number of the last one; `None` at the end of the file. It is less than `first` where the bytes
    /// stand between two records and no record is lost.
    pub(in crate::state) last: Option<u64>,
    /// The kind, if exactly one record stood there.
    pub(in crate::state) kind: Kind,
    /// Addresses in the damaged bytes. Nothing vouches for them.
    pub(in crate::state) addresses: Vec<String>,
    /// Numbers of announcements in the damaged bytes. Nothing vouches for them.
    pub(in crate::state) ops: Vec<u64>,
}

/// A whole record that makes no sense, as one of a later version may.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::state) struct NotUnderstood {
    pub(in crate::state) number: u64,
    pub(in crate::state) reason: String,
}

/// Reads a journal. An incomplete record at the end is the mark of a crash and not a gap.
///
/// # Errors
/// When a whole record cannot be understood.
pub(in crate::state) fn read(bytes: &[u8]) -> Result<Log, NotUnderstood> {
    read_within(bytes, &mut ChecksumBudget::of(bytes))
}

/// The bytes that checksums were made of, and their limit.
struct ChecksumBudget {
    spent: usize,
    limit: usize,
}

impl ChecksumBudget {
    fn of(bytes: &[u8]) -> Self {
        Self { spent: 0, limit: bytes.len().saturating_mul(PASSES) }
    }

    /// Counts bytes, unless that exceeds the limit.
    fn allows(&mut self, n: usize) -> bool {
        let spent = self.spent.saturating_add(n);
        let is_allowed = spent <= self.limit;
        if is_allowed {
            self.spent = spent;
        }
        is_allowed
    }
}

fn read_within(bytes: &[u8], budget: &mut ChecksumBudget) -> Result<Log, NotUnderstood> {
    let mut log = Log::default();
    let (mut at, mut last) = (0, 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let Some((skipped, number, text)) = next_whole(rest, last, budget) else {
            // Without this distinction every crash in the middle of a write would count as damage
            // and stop the next `apply`.
            if !is_torn(rest) {
                log.gaps.push(gap(rest, at, last + 1, None));
            }
            break;
        };
        if skipped > 0 || number != last + 1 {
            // Numbers grow by one, so the number of a valid record behind the damage says exactly
            // which records are lost.
            log.gaps.push(gap(&rest[..skipped], at, last + 1, Some(number - 1)));
        }
        let record = serde_json::from_slice(text)
            // A valid checksum with unknown content is no damage but the record of a later version.
            // Ignoring it could forget an object, so the command stops.
            .map_err(|error| NotUnderstood { number, reason: error.to_string() })?;
        log.records.push((number, record));
        at += skipped + HEAD + text.len();
        log.end = at;
        last = number;
    }
    log.is_blank = bytes.is_empty();
    Ok(log)
}

/// The next whole record with a higher number than the last one, and the number of bytes before it.
fn next_whole<'b>(
    bytes: &'b [u8],
    last: u64,
    budget: &mut ChecksumBudget,
) -> Option<(usize, u64, &'b [u8])> {
    (0..bytes.len().saturating_sub(HEAD)).find_map(|at| {
        let head: [u8; 8] = bytes.get(at + 8..at + 16)?.try_into().ok()?;
        let number = u64::from_le_bytes(head);
        // A cheap test before the checksum: after damage every byte is a possible beginning of a
        // record.
        let is_likely = number > last && number - last <= LIKELY;
        let length = length_of(&bytes[at..]).filter(|_| is_likely)?;
        let (number, text) = budget.allows(length).then(|| whole(&bytes[at..]))??;
        Some((at, number, text))
    })
}

/// Whether the bytes at the end of a journal are what a crash leaves of a record: fewer bytes than the
/// record has, or noise. A record of the right length whose checksum is wrong was written as a whole.
fn is_torn(bytes: &[u8]) -> bool {
    let Some(text) = bytes.get(HEAD..) else { return true };
    let length = bytes.first_chunk().map_or(0, |length| u32::from_le_bytes(*length));
    let has_right_length = usize::try_from(length).is_ok_and(|length| length == text.len());
    let is_json = || serde_json::from_slice::<IgnoredAny>(text).is_ok();
    text.is_empty() || !(has_right_length || is_json())
}

fn gap(bytes: &[u8], offset: usize, first: u64, last: Option<u64>) -> Gap {
    let text = bytes.get(HEAD..).unwrap_or_default();
    // At the end of the file the bytes are one record, or the checks for a torn end would not fail.
    let kind = if last.is_none_or(|last| last == first) { kind(text) } else { Kind::Unknown };
    let mut addresses: Vec<String> = members(bytes, b"\"address\":");
    addresses.dedup();
    Gap { offset, first, last, kind, addresses, ops: members(bytes, b"\"op\":") }
}

/// The kind of a record by its first bytes, of which one may be wrong.
fn kind(text: &[u8]) -> Kind {
    let is_like = |name: &[u8]| {
        let found = text.get(..name.len());
        found.is_some_and(|found| found.iter().zip(name).filter(|(a, b)| a != b).count() <= 1)
    };
    let kind = KINDS.iter().find(|(name, _)| is_like(name));
    kind.map_or(Kind::Unknown, |(_, kind)| *kind)
}

/// The values of a member of JSON objects, wherever it occurs in text that is damaged.
fn members<T: serde::de::DeserializeOwned>(bytes: &[u8], name: &[u8]) -> Vec<T> {
    /// Enough to name something; a damaged journal may be large.
    const MOST: usize = 20;
    let found = bytes.windows(name.len()).enumerate().filter(|(_, found)| *found == name);
    let values = found.filter_map(|(at, _)| {
        let after = &bytes[at + name.len()..];
        serde_json::Deserializer::from_slice(after).into_iter::<T>().next()?.ok()
    });
    values.take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_that_looks_like_a_long_record_everywhere_is_read_in_a_few_passes() {
        let size = 1 << 16;
        let mut head = [0; HEAD];
        // Each of these seems to begin a record as long as half the file.
        head[..4].copy_from_slice(&(1_u32 << 15).to_le_bytes());
        head[8] = 1;
        let bytes = head.repeat(size / HEAD);
        let mut budget = ChecksumBudget::of(&bytes);
        let log = read_within(&bytes, &mut budget).unwrap();
        assert_eq!(log.records.len(), 0);
        assert!(budget.spent > 0 && budget.spent <= PASSES * size, "{} bytes", budget.spent);
    }
}
