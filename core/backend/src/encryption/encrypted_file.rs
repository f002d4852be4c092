//! The format of encrypted files: a JSON object with the metadata of key providers and the ciphertext. An
//! encrypted state repeats serial and lineage, so that backends can compare them.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use formwork_core::disk::parse_json_object;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The format version of OpenTofu.
pub(super) const OPENTOFU_WRAPPER_VERSION: &str = "v0";

/// The format version of files that are encrypted to recipients as a whole.
pub(super) const AGE_WRAPPER_VERSION: &str = "age-v1";

/// Bytes that are a base64 string in JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Base64Bytes(pub(super) Vec<u8>);

impl Serialize for Base64Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64_STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Base64Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
        BASE64_STANDARD.decode(text).map(Self).map_err(serde::de::Error::custom)
    }
}

/// The metadata of key providers, by their keys.
pub(super) type KeyProviderMetadata = BTreeMap<String, Base64Bytes>;

/// An encrypted file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct EncryptedFile {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) serial: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lineage: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) recipients: Vec<String>,
    #[serde(default)]
    pub(super) meta: KeyProviderMetadata,
    #[serde(default)]
    pub(super) encrypted_data: Base64Bytes,
    #[serde(default)]
    pub(super) encryption_version: String,
}

/// The layout of an encrypted file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonLayout {
    /// On one line: plans, and states in backends.
    Compact,
    /// With a line for each field: states in local files.
    Indented,
}

/// The part of a state that its encrypted form repeats.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct StateHeader {
    #[serde(default)]
    pub(super) serial: Option<u64>,
    #[serde(default)]
    pub(super) lineage: Option<String>,
}

impl StateHeader {
    /// Reads the header of a state. It is empty for other content.
    pub(super) fn from_state(state: &[u8]) -> Self {
        parse_json_object(state).unwrap_or_default()
    }

    /// The name of a field that both have, with different values.
    pub(super) fn first_differing_member(&self, other: &Self) -> Option<&'static str> {
        let serials = self.serial.zip(other.serial);
        let lineages = self.lineage.as_ref().zip(other.lineage.as_ref());
        if serials.is_some_and(|(a, b)| a != b) {
            return Some("serial");
        }
        lineages.is_some_and(|(a, b)| a != b).then_some("lineage")
    }
}

impl EncryptedFile {
    /// Parses an encrypted file. Returns `None` for other content.
    ///
    /// # Errors
    /// Returns an error if the file claims to be encrypted, and a field is damaged.
    pub(super) fn parse(text: &[u8]) -> Option<serde_json::Result<Self>> {
        is_encrypted(text).then(|| parse_json_object(text))
    }

    /// The header of the state, as far as the file repeats it.
    pub(super) fn header(&self) -> StateHeader {
        let lineage = self.lineage.clone().filter(|lineage| !lineage.is_empty());
        StateHeader { serial: self.serial, lineage }
    }

    /// Serializes the file.
    pub(super) fn to_text(&self, layout: JsonLayout) -> Vec<u8> {
        let text = match layout {
            JsonLayout::Compact => serde_json::to_vec(self),
            JsonLayout::Indented => serde_json::to_vec_pretty(self).map(|mut text| {
                text.push(b'\n');
                text
            }),
        };
        // Strings and numbers always serialize to JSON.
        text.unwrap_or_default()
    }
}

/// Whether content is an encrypted file.
#[must_use]
pub fn is_encrypted(text: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Version<'t> {
        #[serde(borrow)]
        encryption_version: Option<std::borrow::Cow<'t, str>>,
    }
    parse_json_object::<Version<'_>>(text)
        .is_ok_and(|parsed| parsed.encryption_version.is_some_and(|version| !version.is_empty()))
}

/// Whether an encrypted file is a state. Only a state repeats a lineage.
#[must_use]
pub fn is_encrypted_state(text: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Lineage<'t> {
        #[serde(borrow)]
        lineage: Option<std::borrow::Cow<'t, str>>,
    }
    is_encrypted(text)
        && parse_json_object::<Lineage<'_>>(text).is_ok_and(|parsed| parsed.lineage.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encrypted_state_repeats_its_header() {
        let meta = [("key_provider.pbkdf2.x".to_owned(), Base64Bytes(b"{}".to_vec()))].into();
        let wrapper = EncryptedFile {
            serial: Some(3),
            lineage: Some("l".to_owned()),
            recipients: Vec::new(),
            meta,
            encrypted_data: Base64Bytes(vec![1, 2]),
            encryption_version: OPENTOFU_WRAPPER_VERSION.to_owned(),
        };
        let text = r#"{"serial":3,"lineage":"l","meta":{"key_provider.pbkdf2.x":"e30="},"encrypted_data":"AQI=","encryption_version":"v0"}"#;
        assert_eq!(String::from_utf8(wrapper.to_text(JsonLayout::Compact)).unwrap(), text);
        let indented = "{\n  \"serial\": 3,\n  \"lineage\": \"l\",\n  \"meta\": {\n    \"key_provider.pbkdf2.x\": \"e30=\"\n  },\n  \"encrypted_data\": \"AQI=\",\n  \"encryption_version\": \"v0\"\n}\n";
        assert_eq!(String::from_utf8(wrapper.to_text(JsonLayout::Indented)).unwrap(), indented);
        let read = EncryptedFile::parse(text.as_bytes()).unwrap().unwrap();
        assert_eq!((read.header(), read.meta), (wrapper.header(), wrapper.meta));
        assert!(is_encrypted(text.as_bytes()));
    }

    #[test]
    fn other_content_is_not_recognised_as_encrypted() {
        for text in ["", "PK", "{}", "{\"version\":4}", "{\"encryption_version\":\"\"}", "[1]"] {
            assert!(EncryptedFile::parse(text.as_bytes()).is_none(), "{text}");
            assert!(!is_encrypted(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn headers_differ_if_both_have_different_values() {
        let header = |serial, lineage: Option<&str>| StateHeader {
            serial,
            lineage: lineage.map(str::to_owned),
        };
        let full = header(Some(1), Some("a"));
        assert_eq!(full.first_differing_member(&header(None, None)), None);
        assert_eq!(full.first_differing_member(&header(Some(2), Some("a"))), Some("serial"));
        assert_eq!(full.first_differing_member(&header(Some(1), Some("b"))), Some("lineage"));
        assert_eq!(
            full.first_differing_member(&StateHeader::from_state(br#"{"serial":1,"lineage":"a"}"#)),
            None
        );
    }
}
