//! `random_bytes`, as a resource and as an ephemeral resource.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_sdk::prelude::*;

use crate::{Strings, decode_pem, digest};

/// The most bytes that are drawn; more is an error in the configuration.
const MAX_BYTES: i64 = 1 << 20;

/// Random bytes that are not shown, for secrets and keys. Drawn from a cryptographic source.
#[derive(Model)]
pub(super) struct BytesModel {
    /// Arbitrary values that, when changed, generate new bytes.
    #[attr(optional, replace)]
    keepers: Option<Strings>,
    /// Number of bytes to draw; at least 1.
    #[attr(required, replace, range = 1..=MAX_BYTES)]
    length: i64,
    /// The bytes in base64.
    #[attr(computed, keep, sensitive)]
    base64: String,
    /// The bytes in hexadecimal digits, two for each.
    #[attr(computed, keep, sensitive)]
    hex: String,
}

/// The resource type.
pub(super) struct BytesResource;

impl Resource for BytesResource {
    type Model = BytesModel;

    async fn create(&self, call: Create<BytesModel>) -> Answer<BytesModelComputed> {
        let bytes = random_bytes(call.planned.length);
        Ok(BytesModelComputed { base64: STANDARD.encode(&bytes), hex: digest::to_hex(&bytes) })
    }

    async fn import(&self, call: Import<BytesModel>) -> Answer<BytesModelDraft> {
        // The imported value is a secret, so it is not printed.
        let bytes = decode_pem::decode_base64(&call.id).or_fail("Import Random bytes Error")?;
        let computed = BytesModelComputed { base64: call.id.clone(), hex: digest::to_hex(&bytes) };
        let length = i64::try_from(bytes.len()).unwrap_or(i64::MAX).into();
        Ok(BytesModelDraft { length, ..computed.into() })
    }
}

/// Random bytes that are neither shown nor stored. Drawn from a cryptographic source.
#[derive(Model)]
pub(super) struct EphemeralBytesModel {
    /// Number of bytes to draw; at least 1.
    #[attr(required, range = 1..=MAX_BYTES)]
    length: i64,
    /// The bytes in base64.
    #[attr(computed, sensitive)]
    base64: String,
    /// The bytes in hexadecimal digits, two for each.
    #[attr(computed, sensitive)]
    hex: String,
}

/// The ephemeral resource type.
pub(super) struct EphemeralBytes;

impl Ephemeral for EphemeralBytes {
    type Model = EphemeralBytesModel;

    async fn open(&self, call: Open<EphemeralBytesModel>) -> Answer<EphemeralBytesModelComputed> {
        let bytes = random_bytes(call.config.length);
        Ok(EphemeralBytesModelComputed {
            base64: STANDARD.encode(&bytes),
            hex: digest::to_hex(&bytes),
        })
    }
}

fn random_bytes(length: i64) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
    rand::fill(&mut bytes[..]);
    bytes
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{PlannedAction, TestEphemeral, TestObject};
    use formwork_sdk::value::{Path, Value};

    use super::super::provider;

    fn length(bytes: i64) -> (&'static str, Value) {
        ("length", Value::int(bytes))
    }

    #[tokio::test]
    async fn bytes_are_kept_until_their_length_changes() {
        let mut object = TestObject::new(provider(), "random_bytes").await.unwrap();
        assert_eq!(object.apply([length(5)]).await, Ok(PlannedAction::Create));
        let Value::String(hex) = object.get("hex").clone() else { panic!("hex is text") };
        assert_eq!(hex.len(), 10);
        object.upgrade_stored().await.unwrap();
        assert_eq!(object.apply([length(5)]).await, Ok(PlannedAction::Nothing));
        assert_eq!(object.apply([length(6)]).await, Ok(PlannedAction::Replace));
        assert!(object.apply([length(0)]).await.unwrap_err().0.contains("`length` must"));
    }

    #[tokio::test]
    async fn bytes_are_imported_by_their_base64() {
        let mut object = TestObject::new(provider(), "random_bytes").await.unwrap();
        object.import("8/fu3q+2DcgSJ19i0jZ5Cw==").await.unwrap();
        assert_eq!(object.get("hex"), &Value::string("f3f7eedeafb60dc812275f62d236790b"));
        assert_eq!(object.apply([length(16)]).await, Ok(PlannedAction::Nothing));
        let refusal = object.import("not base64").await.unwrap_err();
        assert!(!refusal.0.contains("not base64"), "{refusal:?}");
    }

    #[tokio::test]
    async fn ephemeral_bytes_differ_each_time() {
        let mut values = Vec::new();
        for _ in 0..2 {
            let mut passing = TestEphemeral::new(provider(), "random_bytes").await.unwrap();
            let opened = passing.open(&[length(16)]).await.unwrap();
            values.push(Path::root().attribute("base64").find(&opened).cloned());
        }
        assert_ne!(values[0], values[1]);
    }
}
