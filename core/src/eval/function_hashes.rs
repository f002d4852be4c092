//! Digests of the results of provider functions. A function always returns the same result for the same
//! arguments, so its results during the apply of a plan are compared with those during
//! planning. The values themselves are not stored: they may be secret.

use std::collections::BTreeMap;

use formwork_value::codec::{hex, msgpack};
use formwork_value::{Type, Value};
use sha2::{Digest as _, Sha256};

use crate::addr::ProviderAddr;

/// A digest.
type FunctionDigest = [u8; 32];

/// The digests of answers, by those of calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionResultHashes(BTreeMap<FunctionDigest, FunctionDigest>);

/// A call, by its provider, function and arguments as they are sent.
pub(super) fn function_call_digest(
    provider: &ProviderAddr,
    function: &str,
    arguments: &[u8],
) -> FunctionDigest {
    let provider = provider.to_string();
    let mut hash = Sha256::new();
    for part in [provider.as_bytes(), function.as_bytes(), arguments] {
        // With their lengths, because parts that run together could be those of another call.
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

impl FunctionResultHashes {
    /// Stores a result. Returns whether it equals the previous one, if any. A
    /// result that is not wholly known is not stored.
    pub(super) fn insert_and_compare_result(
        &mut self,
        call: FunctionDigest,
        answer: &Value,
        ty: &Type,
    ) -> bool {
        let bytes = match answer.is_wholly_known() {
            true => msgpack::encode(answer, ty),
            false => return true,
        };
        let Ok(bytes) = bytes else { return true };
        let digest = Sha256::digest(bytes).into();
        *self.0.entry(call).or_insert(digest) == digest
    }

    /// Each as text, for a saved plan.
    pub(crate) fn to_strings(&self) -> impl Iterator<Item = (String, String)> {
        self.0.iter().map(|(call, answer)| (hex::encode(call), hex::encode(answer)))
    }

    /// Reads the output of [`Self::to_strings`]; `None` if the format is invalid.
    pub(crate) fn from_strings(texts: &[(String, String)]) -> Option<Self> {
        let pairs = texts
            .iter()
            .map(|(call, answer)| Some((digest_from_hex(call)?, digest_from_hex(answer)?)));
        pairs.collect::<Option<_>>().map(Self)
    }
}

fn digest_from_hex(text: &str) -> Option<FunctionDigest> {
    let mut digest = FunctionDigest::default();
    if text.len() != 2 * digest.len() || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    for (at, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_result_hash_applies_only_to_the_same_call() {
        let provider: ProviderAddr = "acme/p".parse().unwrap();
        let of =
            |function: &str, arguments: &[u8]| function_call_digest(&provider, function, arguments);
        let mut function_hashes = FunctionResultHashes::default();
        let keep = |function_hashes: &mut FunctionResultHashes, call, answer: &str| {
            function_hashes.insert_and_compare_result(call, &Value::string(answer), &Type::String)
        };
        assert!(keep(&mut function_hashes, of("f", b"x"), "1"));
        assert!(keep(&mut function_hashes, of("f", b"y"), "2"));
        // Run together, these are the bytes of `f` with `x`.
        assert!(keep(&mut function_hashes, of("fx", b""), "3"));
        assert!(function_hashes.insert_and_compare_result(
            of("f", b"x"),
            &Value::unknown(Type::String),
            &Type::String
        ));
        let texts: Vec<_> = function_hashes.to_strings().collect();
        let mut read = FunctionResultHashes::from_strings(&texts).unwrap();
        assert_eq!(read, function_hashes);
        assert!(keep(&mut read, of("f", b"x"), "1"));
        assert!(!keep(&mut read, of("f", b"x"), "2"));
    }

    #[test]
    fn invalid_digest_is_refused() {
        for text in ["", "00", &"g".repeat(64), &"é".repeat(32)] {
            assert!(
                FunctionResultHashes::from_strings(&[(text.to_owned(), text.to_owned())]).is_none(),
                "{text}"
            );
        }
    }
}
