//! Reads the records of a journal, even of a damaged one. Records are independent: each has its
//! own checksum, so every record with a valid checksum is read, and every gap between them is
//! returned with the recoverable information about the lost records.

use serde::de::IgnoredAny;

use super::record::{JournalLog, RECORD_HEADER_LEN, first_whole_record, framed_record_len};

/// The maximum difference between the number of a record and the last valid one. Only distinguishes likely
/// records from noise before the checksum decides.
const MAX_LIKELY_NUMBER_GAP: u64 = 1_000_000;

/// The checksums over a file may read that many times its length. One pass finds all records of a journal
/// that a run wrote. Without a limit, a forged journal that looks like a long record everywhere would take
/// time that grows with the square of its length.
const MAX_CHECKSUM_PASSES: usize = 16;

/// The JSON that each kind of record begins with, and whether it announces a call.
const RECORD_KIND_PREFIXES: [(&[u8], LostRecordKind); 9] = [
    (b"{\"RunBegin\":", LostRecordKind::Begin),
    (b"{\"Intent\":", LostRecordKind::Intent),
    (b"{\"Answer\":", LostRecordKind::Other),
    (b"{\"Settled\":", LostRecordKind::Other),
    (b"{\"Snapshot\":", LostRecordKind::Other),
    (b"{\"TakenOver\":", LostRecordKind::Other),
    (b"{\"Doubted\":", LostRecordKind::Other),
    (b"{\"Resolved\":", LostRecordKind::Other),
    (b"{\"RunEnd\":", LostRecordKind::Other),
];

/// The kind of a record that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::state) enum LostRecordKind {
    /// The first record, which describes the run.
    Begin,
    /// The announcement of a call.
    Intent,
    /// A record about an announced call or about the state.
    Other,
    /// One or several records of unknown kind.
    Unknown,
}

/// A part of a journal that is not a whole record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::state) struct JournalGap {
    /// The first byte.
    pub(in crate::state) offset: usize,
    /// The number of the first lost record.
    pub(in crate::state) first: u64,
    /// The number of the last one; `None` at the end of the file. It is less than `first` where the bytes
    /// are between two records and no record is lost.
    pub(in crate::state) last: Option<u64>,
    /// The kind, if exactly one record is lost.
    pub(in crate::state) kind: LostRecordKind,
    /// Addresses in the damaged bytes. Nothing vouches for them.
    pub(in crate::state) addresses: Vec<String>,
    /// Numbers of announcements in the damaged bytes. Nothing vouches for them.
    pub(in crate::state) ops: Vec<u64>,
}

/// A whole record that cannot be decoded, such as one of a later version.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::state) struct UnreadableRecord {
    pub(in crate::state) number: u64,
    pub(in crate::state) reason: String,
}

/// Reads a journal. An incomplete record at the end is the mark of a crash and not a gap.
///
/// # Errors
/// When a whole record cannot be decoded.
pub(in crate::state) fn scan_journal(bytes: &[u8]) -> Result<JournalLog, UnreadableRecord> {
    scan_with_budget(bytes, &mut ChecksumBudget::for_journal(bytes))
}

/// The number of bytes that were checksummed, and its limit.
struct ChecksumBudget {
    spent: usize,
    limit: usize,
}

impl ChecksumBudget {
    fn for_journal(bytes: &[u8]) -> Self {
        Self { spent: 0, limit: bytes.len().saturating_mul(MAX_CHECKSUM_PASSES) }
    }

    /// Counts bytes, unless that exceeds the limit.
    fn take_bytes(&mut self, n: usize) -> bool {
        let spent = self.spent.saturating_add(n);
        let is_allowed = spent <= self.limit;
        if is_allowed {
            self.spent = spent;
        }
        is_allowed
    }
}

fn scan_with_budget(
    bytes: &[u8],
    budget: &mut ChecksumBudget,
) -> Result<JournalLog, UnreadableRecord> {
    let mut log = JournalLog::default();
    let (mut at, mut last) = (0, 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let Some((skipped, number, text)) = find_next_whole_record(rest, last, budget) else {
            // Without this distinction every crash in the middle of a write would count as damage
            // and stop the next `apply`.
            if !is_torn(rest) {
                log.gaps.push(build_journal_gap(rest, at, last + 1, None));
            }
            break;
        };
        if skipped > 0 || number != last + 1 {
            // Numbers grow by one, so the number of a valid record after the damage determines exactly
            // which records are lost.
            log.gaps.push(build_journal_gap(&rest[..skipped], at, last + 1, Some(number - 1)));
        }
        let record = serde_json::from_slice(text)
            // A valid checksum with unknown content is not damage but the record of a later version.
            // Ignoring it could forget an object, so the command stops.
            .map_err(|error| UnreadableRecord { number, reason: error.to_string() })?;
        log.records.push((number, record));
        at += skipped + RECORD_HEADER_LEN + text.len();
        log.end = at;
        last = number;
    }
    log.is_blank = bytes.is_empty();
    Ok(log)
}

/// The next whole record with a higher number than the last one, and the number of bytes before it.
fn find_next_whole_record<'b>(
    bytes: &'b [u8],
    last: u64,
    budget: &mut ChecksumBudget,
) -> Option<(usize, u64, &'b [u8])> {
    (0..bytes.len().saturating_sub(RECORD_HEADER_LEN)).find_map(|at| {
        let head: [u8; 8] = bytes.get(at + 8..at + 16)?.try_into().ok()?;
        let number = u64::from_le_bytes(head);
        // A cheap test before the checksum: after damage every byte is a possible beginning of a
        // record.
        let is_likely = number > last && number - last <= MAX_LIKELY_NUMBER_GAP;
        let length = framed_record_len(&bytes[at..]).filter(|_| is_likely)?;
        let (number, text) =
            budget.take_bytes(length).then(|| first_whole_record(&bytes[at..]))??;
        Some((at, number, text))
    })
}

/// Whether the bytes at the end of a journal are a record that a crash has truncated: fewer bytes than the
/// record has, or noise. A record of the correct length with an invalid checksum was written as a whole.
fn is_torn(bytes: &[u8]) -> bool {
    let Some(text) = bytes.get(RECORD_HEADER_LEN..) else { return true };
    let length = bytes.first_chunk().map_or(0, |length| u32::from_le_bytes(*length));
    let has_right_length = usize::try_from(length).is_ok_and(|length| length == text.len());
    let is_json = || serde_json::from_slice::<IgnoredAny>(text).is_ok();
    text.is_empty() || !(has_right_length || is_json())
}

fn build_journal_gap(bytes: &[u8], offset: usize, first: u64, last: Option<u64>) -> JournalGap {
    let text = bytes.get(RECORD_HEADER_LEN..).unwrap_or_default();
    // At the end of the file the bytes are one record, or the checks for a partial record would not fail.
    let kind = if last.is_none_or(|last| last == first) {
        guess_record_kind(text)
    } else {
        LostRecordKind::Unknown
    };
    let mut addresses: Vec<String> = find_json_members(bytes, b"\"address\":");
    addresses.dedup();
    JournalGap { offset, first, last, kind, addresses, ops: find_json_members(bytes, b"\"op\":") }
}

/// The kind of a record by its first bytes, of which one may be damaged.
fn guess_record_kind(text: &[u8]) -> LostRecordKind {
    let is_like = |name: &[u8]| {
        let prefix = text.get(..name.len());
        prefix.is_some_and(|prefix| prefix.iter().zip(name).filter(|(a, b)| a != b).count() <= 1)
    };
    let kind = RECORD_KIND_PREFIXES.iter().find(|(name, _)| is_like(name));
    kind.map_or(LostRecordKind::Unknown, |(_, kind)| *kind)
}

/// The values of a member of JSON objects, wherever it occurs in text that is damaged.
fn find_json_members<T: serde::de::DeserializeOwned>(bytes: &[u8], name: &[u8]) -> Vec<T> {
    /// The maximum number of listed names; a damaged journal may be large.
    const MAX_FOUND_VALUES: usize = 20;
    let names = bytes.windows(name.len()).enumerate().filter(|(_, names)| *names == name);
    let values = names.filter_map(|(at, _)| {
        let after = &bytes[at + name.len()..];
        serde_json::Deserializer::from_slice(after).into_iter::<T>().next()?.ok()
    });
    values.take(MAX_FOUND_VALUES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_of_false_long_records_is_read_in_linear_time() {
        let size = 1 << 16;
        let mut head = [0; RECORD_HEADER_LEN];
        // Each of these seems to begin a record as long as half the file.
        head[..4].copy_from_slice(&(1_u32 << 15).to_le_bytes());
        head[8] = 1;
        let bytes = head.repeat(size / RECORD_HEADER_LEN);
        let mut budget = ChecksumBudget::for_journal(&bytes);
        let log = scan_with_budget(&bytes, &mut budget).unwrap();
        assert_eq!(log.records.len(), 0);
        assert!(
            budget.spent > 0 && budget.spent <= MAX_CHECKSUM_PASSES * size,
            "{} bytes",
            budget.spent
        );
    }
}
