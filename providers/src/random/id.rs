//! `random_id`.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use formwork_sdk::prelude::*;
use formwork_sdk::value::Number;

use crate::keepers::keepers_or_triggers_changed;
use crate::{Strings, digest};

/// The most bytes that are drawn; more is an error in the configuration.
const MAX_BYTES: i64 = 1 << 20;

/// Random bytes, written in several ways, for names that must not clash. Drawn from a
/// cryptographic source.
#[derive(Model)]
pub(super) struct IdModel {
    /// Arbitrary values that, when changed, generate a new id.
    #[attr(optional, replace_if = keepers_or_triggers_changed)]
    keepers: Option<Strings>,
    /// Number of bytes to draw; at least 1.
    #[attr(required, replace)]
    byte_length: i64,
    /// Prefix of every form of the id but `id` itself.
    #[attr(optional, replace)]
    prefix: Option<String>,
    /// The bytes in base64 with the characters that URLs allow, without padding.
    #[attr(computed, keep)]
    b64_url: String,
    /// The bytes in base64.
    #[attr(computed, keep)]
    b64_std: String,
    /// The bytes in hexadecimal digits, two for each.
    #[attr(computed, keep)]
    hex: String,
    /// The bytes as one decimal number, the first byte the most significant.
    #[attr(computed, keep)]
    dec: String,
    /// The bytes as in `b64_url`, without the prefix.
    #[attr(computed, keep)]
    id: String,
}

/// The resource type.
pub(super) struct IdResource;

impl Resource for IdResource {
    type Model = IdModel;

    fn validate(&self, call: Validate<IdModel>) -> Answer<()> {
        match call.config.byte_length.get() {
            Some(length) if !(1..=MAX_BYTES).contains(length) => {
                let detail = format!(
                    "`byte_length` is {length}; give a number of bytes from 1 to {MAX_BYTES}."
                );
                Err(Problem::new("Invalid Attribute Value", detail).at("byte_length"))
            }
            _ => Ok(()),
        }
    }

    async fn create(&self, call: Create<IdModel>) -> Answer<IdModelComputed> {
        let length = usize::try_from(call.planned.byte_length).unwrap_or_default();
        let mut bytes = vec![0; length];
        rand::fill(&mut bytes[..]);
        Ok(computed_id(&bytes, &call.planned.prefix.unwrap_or_default()))
    }

    async fn import(&self, call: Import<IdModel>) -> Answer<IdModelDraft> {
        let id = call.id.as_str();
        let (prefix, id) = match id.rsplit_once(',') {
            Some((prefix, id)) => (prefix, id),
            None => ("", id),
        };
        match URL_SAFE_NO_PAD.decode(id) {
            Ok(bytes) => Ok(IdModelDraft {
                byte_length: i64::try_from(bytes.len()).unwrap_or(i64::MAX).into(),
                prefix: Some(prefix).filter(|it| !it.is_empty()).map(str::to_owned).into(),
                ..computed_id(&bytes, prefix).into()
            }),
            Err(error) => {
                let detail = format!(
                    "{id:?} is not base64 with the characters of URLs and without padding; give `ID` or \
                     `PREFIX,ID`. {error}"
                );
                Err(Problem::new("Import Random ID Error", detail))
            }
        }
    }
}

fn computed_id(bytes: &[u8], prefix: &str) -> IdModelComputed {
    let with_prefix = |text: &str| format!("{prefix}{text}");
    let id = URL_SAFE_NO_PAD.encode(bytes);
    let hex = digest::to_hex(bytes);
    let decimal = Number::parse_integer(&hex, 16).map(|number| number.to_string());
    IdModelComputed {
        b64_url: with_prefix(&id),
        b64_std: with_prefix(&STANDARD.encode(bytes)),
        hex: with_prefix(&hex),
        dec: with_prefix(&decimal.unwrap_or_default()),
        id,
    }
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{PlannedAction, TestObject};
    use formwork_sdk::value::Value;

    use super::super::provider;

    #[tokio::test]
    async fn is_kept_until_its_length_or_prefix_changes() {
        let mut object = TestObject::new(provider(), "random_id").await.unwrap();
        let length = |bytes| ("byte_length", Value::int(bytes));
        assert_eq!(object.apply([length(4)]).await, Ok(PlannedAction::Create));
        let Value::String(hex) = object.get("hex").clone() else { panic!("hex is text") };
        assert_eq!(hex.len(), 8);
        object.upgrade_stored().await.unwrap();
        assert_eq!(object.apply([length(4)]).await, Ok(PlannedAction::Nothing));
        assert_eq!(object.apply([length(5)]).await, Ok(PlannedAction::Replace));
        let prefix = ("prefix", Value::string("p-"));
        assert_eq!(object.apply([length(5), prefix]).await, Ok(PlannedAction::Replace));
        object.destroy().await.unwrap();
    }

    #[tokio::test]
    async fn import_returns_the_bytes_in_all_encodings() {
        let mut object = TestObject::new(provider(), "random_id").await.unwrap();
        object.import("p-,q83-_w").await.unwrap();
        let text = |name| object.get(name).clone();
        assert_eq!(text("b64_url"), Value::string("p-q83-_w"));
        assert_eq!(text("b64_std"), Value::string("p-q83+/w=="));
        assert_eq!(text("hex"), Value::string("p-abcdfeff"));
        assert_eq!(text("dec"), Value::string("p-2882404095"));
        assert_eq!(text("id"), Value::string("q83-_w"));
        assert_eq!(text("byte_length"), Value::int(4));
        let config = [("byte_length", Value::int(4)), ("prefix", Value::string("p-"))];
        assert_eq!(object.apply(config).await, Ok(PlannedAction::Nothing));
    }

    #[tokio::test]
    async fn a_length_below_one_is_refused() {
        let mut object = TestObject::new(provider(), "random_id").await.unwrap();
        let refusal = object.apply([("byte_length", Value::int(0))]).await.unwrap_err();
        assert!(refusal.0.contains("`byte_length` is 0"), "{refusal:?}");
    }

    #[tokio::test]
    async fn invalid_ids_are_not_imported() {
        let mut object = TestObject::new(provider(), "random_id").await.unwrap();
        let refusal = object.import("a,*").await.unwrap_err();
        assert!(refusal.0.contains("give `ID` or `PREFIX,ID`"), "{refusal:?}");
        assert!(!refusal.0.contains(".."), "{refusal:?}");
    }
}
