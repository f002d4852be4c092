//! The records of a journal, and their encoding in the file.
//!
//! Each record is framed by its length, a checksum and a number that grows by one, so that a reader
//! can distinguish an end that a crash truncated from damage in the middle. The content is JSON, for people to
//! read in an emergency.

use formwork_value::codec::hex;
use formwork_value::{Type, Value, codec};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::scan::JournalGap;
pub(in crate::state) use super::scan::scan_journal;
use super::{CallAction, CallSubject, Intent, OperationId, ProviderAnswer, RunHeader};
use crate::state::ObjectState;
use crate::state::file::{self, StateFile};
use crate::state::operator::user_and_host;

/// An entry of a journal. Unknown members are ignored, so that a later version may
/// add some.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::state) enum Record {
    /// A run begins.
    RunBegin(RunBegin),
    /// A changing call is about to leave.
    Intent(IntentRecord),
    /// An answer came.
    Answer {
        /// The number of the intent.
        op: u64,
        /// The answer.
        answer: ProviderAnswer,
    },
    /// The effect of a call is known.
    Settled {
        /// The number of the intent.
        op: u64,
        /// The object as an entry of the state file; `None` if it was deleted.
        object: Option<Box<RawValue>>,
    },
    /// A state that contains everything settled so far is about to be stored.
    Snapshot {
        /// The fingerprint of its content.
        content: String,
    },
    /// Everything settled so far is in the stored state for good.
    TakenOver {},
    /// The effect of a call, or whether its result belongs in the state, is not clear.
    Doubted {
        /// The number of the intent.
        op: u64,
    },
    /// A decision was made about a call that was in flight.
    Resolved {
        /// The number of the intent.
        op: u64,
        /// The decision, as a text for the user.
        how: String,
    },
    /// The run ended normally.
    RunEnd {},
}

/// First record of a run.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::state) struct RunBegin {
    pub(in crate::state) run: String,
    pub(in crate::state) operation: String,
    pub(in crate::state) when: String,
    pub(in crate::state) who: String,
    pub(in crate::state) pid: u32,
    pub(in crate::state) version: String,
    pub(in crate::state) lineage: String,
    pub(in crate::state) serial: u64,
    /// The fingerprint of the content of the state at the beginning.
    pub(in crate::state) base: String,
    /// The location of that state, if it is not the one that the run writes: a path, if it is a file.
    pub(in crate::state) read_from: Option<String>,
}

impl RunBegin {
    /// Sort key of runs: the serial of the state that they found, which only counts up, and then
    /// the clock, which may be set. A time that cannot be read is earlier than all others.
    pub(in crate::state) fn sort_key(&self) -> (u64, Option<OffsetDateTime>) {
        (self.serial, OffsetDateTime::parse(&self.when, &Rfc3339).ok())
    }
}

/// A changing call that is about to leave.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::state) struct IntentRecord {
    pub(in crate::state) op: u64,
    pub(in crate::state) when: String,
    pub(in crate::state) address: String,
    pub(in crate::state) provider: String,
    pub(in crate::state) deposed: Option<String>,
    pub(in crate::state) deposes: Option<String>,
    pub(in crate::state) action: CallAction,
    /// The fingerprint of the object that the call changes; `None` if no object existed.
    pub(in crate::state) prior: Option<String>,
    // As bytes it would be a list of numbers in JSON.
    #[serde(with = "base64")]
    pub(in crate::state) planned: Vec<u8>,
}

pub(super) fn run_begin_record(run: String, begin: RunHeader<'_>) -> Record {
    let RunHeader { operation, base, read_from } = begin;
    Record::RunBegin(RunBegin {
        run,
        operation: operation.to_owned(),
        when: now_rfc3339(),
        who: user_and_host(),
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        lineage: base.lineage.clone(),
        serial: base.serial,
        base: hex::encode(&base.fingerprint()),
        read_from: read_from.map(|path| {
            // The next run may be started in another directory.
            let path = std::path::absolute(path).unwrap_or(path.to_owned());
            // As text, because a record is JSON, which has no other paths.
            path.display().to_string()
        }),
    })
}

/// A value as stored in the journal: with its type, so that no schema is needed to read it.
fn encode_value(value: &Value) -> Vec<u8> {
    let plain = value.clone().split_marks().0;
    // A plain value always fits the dynamic type.
    codec::msgpack::encode(plain.value(), &Type::Dynamic).unwrap_or_default()
}

pub(super) fn intent_record(op: OperationId, intent: Intent<'_>) -> Record {
    Record::Intent(IntentRecord {
        op: op.0,
        when: now_rfc3339(),
        address: intent.addr.to_string(),
        provider: intent.provider.to_string(),
        deposed: intent.deposed.map(ToString::to_string),
        deposes: intent.deposes.map(ToString::to_string),
        action: intent.action,
        prior: intent.prior.map(|object| {
            fingerprint_hex(&file::write_object_entry(
                intent.addr,
                intent.deposed,
                intent.provider,
                object,
            ))
        }),
        planned: encode_value(intent.planned),
    })
}

pub(super) fn settled_record(
    op: OperationId,
    subject: &CallSubject,
    object: Option<&ObjectState>,
) -> Record {
    let object = object.map(|object| {
        let CallSubject { addr, provider, deposed, .. } = subject;
        let text = file::write_object_entry(addr, deposed.as_ref(), provider, object);
        // Text written for a state file is JSON.
        RawValue::from_string(String::from_utf8_lossy(&text).into_owned()).unwrap_or_default()
    });
    Record::Settled { op: op.0, object }
}

pub(in crate::state) fn state_fingerprint_record(file: &StateFile) -> Record {
    Record::Snapshot { content: hex::encode(&file.fingerprint()) }
}

pub(in crate::state) fn fingerprint_hex(bytes: &[u8]) -> String {
    hex::encode(&Sha256::digest(bytes))
}

/// A time for display. Journals store fractions of a second for their order.
pub(in crate::state) fn strip_subseconds(when: &str) -> String {
    match when.split_once('.') {
        Some((seconds, fraction)) if fraction.ends_with('Z') => format!("{seconds}Z"),
        _ => when.to_owned(),
    }
}

#[expect(clippy::disallowed_methods, reason = "a journal says when it was begun")]
fn now_rfc3339() -> String {
    OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default()
}

/// Length, checksum and number before each record.
pub(super) const RECORD_HEADER_LEN: usize = 4 + 4 + 8;

/// Encodes a record as it is stored in the file.
pub(in crate::state) fn frame_record(number: u64, record: &Record) -> Vec<u8> {
    // Strings, numbers and text that is JSON already: nothing here can fail to be JSON.
    let text = serde_json::to_vec(record).unwrap_or_default();
    let mut bytes = vec![0; RECORD_HEADER_LEN];
    bytes.extend_from_slice(&text);
    // Records are created from messages, which have a limit far below this.
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    bytes[0..4].copy_from_slice(&length.to_le_bytes());
    bytes[8..16].copy_from_slice(&number.to_le_bytes());
    // Over the length too: with a wrong length other bytes would count as the record.
    let sum = checksum(length, &bytes[8..]);
    bytes[4..8].copy_from_slice(&sum.to_le_bytes());
    bytes
}

fn checksum(length: u32, rest: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&length.to_le_bytes()), rest)
}

/// Contents of a journal.
#[derive(Debug, Default)]
pub(in crate::state) struct JournalLog {
    /// The records with their numbers.
    pub(in crate::state) records: Vec<(u64, Record)>,
    /// The end of the last whole record. The bytes after it are a partial record, or a gap.
    pub(in crate::state) end: usize,
    /// The parts that are damaged.
    pub(in crate::state) gaps: Vec<JournalGap>,
    /// Whether the file is empty.
    pub(in crate::state) is_blank: bool,
}

impl JournalLog {
    /// The first record of the run; `None` if the run was interrupted while it was written.
    pub(in crate::state) fn run_begin(&self) -> Option<&RunBegin> {
        self.records.iter().find_map(|(_, record)| match record {
            Record::RunBegin(begin) => Some(begin),
            _ => None,
        })
    }

    /// Whether the run announced a change.
    pub(in crate::state) fn has_announced_calls(&self) -> bool {
        self.records.iter().any(|(_, record)| matches!(record, Record::Intent(_)))
    }

    /// Whether the state has everything that was settled. Doubts are only recorded after that.
    pub(in crate::state) fn is_taken_into_state(&self) -> bool {
        self.records
            .iter()
            .any(|(_, record)| matches!(record, Record::TakenOver {} | Record::Doubted { .. }))
    }

    /// Whether the run ended normally.
    pub(in crate::state) fn has_ended(&self) -> bool {
        matches!(self.records.last(), Some((_, Record::RunEnd {})))
    }

    /// Whether records are missing or damaged.
    pub(in crate::state) fn is_damaged(&self) -> bool {
        // A journal gets its name when its first record is written, so one without it is damaged as
        // well.
        !self.has_ended() && (self.run_begin().is_none() || !self.gaps.is_empty())
    }

    /// The part of the journal that a state contains.
    pub(in crate::state) fn extent_in_state(&self, file: &StateFile) -> JournalExtent {
        let stored = hex::encode(&file.fingerprint());
        // From the end: of several marks that fit the state, the last one covers most records.
        for (number, record) in self.records.iter().rev() {
            match record {
                Record::TakenOver {} | Record::Doubted { .. } => {
                    return JournalExtent::Upto(*number);
                }
                Record::Snapshot { content } if *content == stored => {
                    return JournalExtent::Upto(*number);
                }
                Record::RunBegin(begin) if begin.base == stored => {
                    return JournalExtent::Upto(*number);
                }
                _ => {}
            }
        }
        JournalExtent::Unknown
    }
}

/// The part of a journal that a state contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::state) enum JournalExtent {
    /// Everything up to the record with this number, and nothing after it.
    Upto(u64),
    /// The run did not store this state: another program has changed it.
    Unknown,
}

/// The length of a record with its head, if the bytes are as many.
pub(super) fn framed_record_len(bytes: &[u8]) -> Option<usize> {
    let length = u32::from_le_bytes(bytes.get(0..4)?.try_into().ok()?);
    RECORD_HEADER_LEN
        .checked_add(usize::try_from(length).ok()?)
        .filter(|length| *length <= bytes.len())
}

/// The number and text of the record at the beginning, if it is whole.
pub(super) fn first_whole_record(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let length = u32::from_le_bytes(bytes.get(0..4)?.try_into().ok()?);
    let sum = u32::from_le_bytes(bytes.get(4..8)?.try_into().ok()?);
    let number = u64::from_le_bytes(bytes.get(8..16)?.try_into().ok()?);
    let end = RECORD_HEADER_LEN.checked_add(usize::try_from(length).ok()?)?;
    let rest = bytes.get(8..end)?;
    (checksum(length, rest) == sum).then_some((number, &rest[8..]))
}

/// Bytes as text, for `serde`.
pub(in crate::state) mod base64 {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;
    use serde::{Deserialize as _, Deserializer, Serializer, de};

    pub(in crate::state) fn serialize<S: Serializer>(
        bytes: &[u8],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_str(&BASE64_STANDARD.encode(bytes))
    }

    pub(in crate::state) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        BASE64_STANDARD.decode(text).map_err(de::Error::custom)
    }
}
