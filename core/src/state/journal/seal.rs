//! Seals the values in a journal: planned values, answers and objects. Addresses, actions and decisions
//! stay readable, so that open calls can be named and copies can be merged without a key.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::value::RawValue;

use super::record::{IntentRecord, JournalLog, Record};
use super::{Journal, JournalError, ProviderAnswer};

/// Encrypts and decrypts the values in a journal.
pub trait RecordSeal: Send + Sync {
    /// Encrypts a value; `None` if values are written as they are.
    ///
    /// # Errors
    /// When the key is not available. The message has no final period.
    fn seal_value(&self, value: &[u8]) -> Result<Option<Vec<u8>>, String>;

    /// Decrypts the output of [`RecordSeal::seal_value`].
    ///
    /// # Errors
    /// When the key is not available, or is another one. The message has no final period.
    fn open_value(&self, sealed: &[u8]) -> Result<Vec<u8>, String>;

    /// Checks that a value which is not sealed may be used.
    ///
    /// # Errors
    /// When all values have to be sealed. The message has no final period.
    fn check_unsealed_allowed(&self) -> Result<(), String>;
}

/// A sealed planned value begins as JSON does. An encoded value is a map or null, and never does.
const SEALED_VALUE_PREFIX: &[u8] = b"{\"";

impl Record {
    /// The same record with its value sealed; `None` if it has none, or values are not sealed.
    pub(super) fn seal_value(&self, seal: &dyn RecordSeal) -> Result<Option<Self>, String> {
        Ok(match self {
            Self::Intent(intent) => seal
                .seal_value(&intent.planned)?
                .map(|planned| Self::Intent(IntentRecord { planned, ..intent.clone() })),
            Self::Answer { op, answer } => {
                // As a whole, because any part of an answer may contain secrets.
                let text = serde_json::to_vec(answer).map_err(|error| error.to_string())?;
                let sealed = seal.seal_value(&text)?;
                let answer = |sealed| ProviderAnswer { sealed, ..ProviderAnswer::default() };
                sealed.map(|sealed| Self::Answer { op: *op, answer: answer(sealed) })
            }
            Self::Settled { op, object: Some(object) } => {
                let sealed = seal.seal_value(object.get().as_bytes())?;
                // Base64 needs no escapes, so this is a string of JSON too.
                let text = sealed.map(|sealed| format!("{:?}", BASE64_STANDARD.encode(sealed)));
                let object = text.map(RawValue::from_string).transpose();
                let object = object.map_err(|error| error.to_string())?;
                object.map(|object| Self::Settled { op: *op, object: Some(object) })
            }
            _ => None,
        })
    }

    /// Opens the value of this record, if it is sealed.
    fn open_value(&mut self, seal: Option<&dyn RecordSeal>) -> Result<(), String> {
        let open = |sealed: &[u8]| match seal {
            Some(seal) => seal.open_value(sealed),
            None => Err("it is encrypted, and no encryption is configured for it here".to_owned()),
        };
        match self {
            Self::Intent(intent) if intent.planned.starts_with(SEALED_VALUE_PREFIX) => {
                intent.planned = open(&intent.planned)?;
            }
            Self::Answer { answer, .. } if !answer.sealed.is_empty() => {
                let opened = open(&answer.sealed)?;
                *answer = serde_json::from_slice(&opened).map_err(|error| error.to_string())?;
            }
            // An object is never a string of JSON, so this can only be a sealed one.
            Self::Settled { object: Some(object), .. } if object.get().starts_with('"') => {
                let text: String =
                    serde_json::from_str(object.get()).map_err(|error| error.to_string())?;
                let sealed = BASE64_STANDARD.decode(text).map_err(|error| error.to_string())?;
                let opened =
                    String::from_utf8(open(&sealed)?).map_err(|error| error.to_string())?;
                *object = RawValue::from_string(opened).map_err(|error| error.to_string())?;
            }
            Self::Intent(_) | Self::Answer { .. } | Self::Settled { object: Some(_), .. } => {
                return seal.map_or(Ok(()), RecordSeal::check_unsealed_allowed);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Journal {
    /// Seals the values of all records from now on.
    pub(in crate::state) fn set_seal(&mut self, seal: Arc<dyn RecordSeal>) {
        self.seal = Some(seal);
    }

    /// The same record with its value sealed; `None` if it has none, or values are not sealed.
    pub(super) fn seal_record(
        &self,
        record: &Record,
        seal: &dyn RecordSeal,
    ) -> Result<Option<Record>, JournalError> {
        let failed = |reason| JournalError::Sealed { location: self.location.clone(), reason };
        record.seal_value(seal).map_err(failed)
    }
}

impl JournalLog {
    /// Opens the values of all records.
    ///
    /// # Errors
    /// When a sealed value cannot be opened.
    pub(in crate::state) fn open_values(
        &mut self,
        location: &str,
        seal: Option<&dyn RecordSeal>,
    ) -> Result<(), JournalError> {
        for (_, record) in &mut self.records {
            let opened = record.open_value(seal);
            let location = || location.to_owned();
            opened.map_err(|reason| JournalError::Sealed { location: location(), reason })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Inverts each byte, after a prefix.
    struct InvertingSeal {
        takes_plain: bool,
    }

    const STRICT_SEAL: InvertingSeal = InvertingSeal { takes_plain: false };

    impl RecordSeal for InvertingSeal {
        fn seal_value(&self, value: &[u8]) -> Result<Option<Vec<u8>>, String> {
            Ok(Some(
                [SEALED_VALUE_PREFIX, &value.iter().map(|byte| !byte).collect::<Vec<_>>()].concat(),
            ))
        }

        fn open_value(&self, sealed: &[u8]) -> Result<Vec<u8>, String> {
            let inner = sealed.strip_prefix(SEALED_VALUE_PREFIX).ok_or("not sealed")?;
            Ok(inner.iter().map(|byte| !byte).collect())
        }

        fn check_unsealed_allowed(&self) -> Result<(), String> {
            self.takes_plain.then_some(()).ok_or_else(|| "it is not encrypted".to_owned())
        }
    }

    fn test_records() -> Vec<Record> {
        let text = r#"[
            {"Intent":{"op":1,"when":"w","address":"t.a","provider":"p","deposed":null,"deposes":null,"action":"create","prior":null,"planned":"gaFhoWI="}},
            {"Answer":{"op":1,"answer":{"state":"aHVudGVyMg==","private":"","identity":"","messages":["hunter2"]}}},
            {"Settled":{"op":1,"object":{"a":"hunter2"}}},
            {"Settled":{"op":2,"object":null}},
            {"TakenOver":{}}
        ]"#;
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn only_values_are_sealed() {
        for record in test_records() {
            let plain = serde_json::to_string(&record).unwrap();
            let Some(mut sealed) = record.seal_value(&STRICT_SEAL).unwrap() else {
                assert!(plain.contains("null") || plain.contains("TakenOver"), "{plain}");
                continue;
            };
            let text = serde_json::to_string(&sealed).unwrap();
            assert!(!text.contains("hunter2") && !text.contains("aHVudGVyMg"), "{text}");
            assert!(text.contains("\"op\":1"), "{text}");
            assert!(sealed.open_value(None).unwrap_err().contains("no encryption is configured"));
            sealed.open_value(Some(&STRICT_SEAL)).unwrap();
            assert_eq!(serde_json::to_string(&sealed).unwrap(), plain);
        }
    }

    #[test]
    fn unsealed_records_are_read_only_where_plain_ones_are_allowed() {
        for mut record in test_records() {
            let plain = serde_json::to_string(&record).unwrap();
            let has_value = record.seal_value(&STRICT_SEAL).unwrap().is_some();
            assert_eq!(record.open_value(Some(&STRICT_SEAL)).is_err(), has_value, "{plain}");
            record.open_value(Some(&InvertingSeal { takes_plain: true })).unwrap();
            record.open_value(None).unwrap();
            assert_eq!(serde_json::to_string(&record).unwrap(), plain);
        }
    }
}
