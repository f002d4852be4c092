//! Schemas of a provider as bytes, for hosts that store them between two runs.

use prost::Message as _;

use super::generated::tfplugin6 as v6;
use crate::message::schema::{IdentitySchemas, ProviderSchema};

/// The form of the bytes. Another form has another number.
pub const FORMAT_VERSION: u32 = 1;

/// Encodes schemas, without diagnostics. `None` if the bytes would not give the very same schemas.
#[must_use]
pub fn encode_schemas_if_lossless(
    schema: &ProviderSchema,
    identities: &IdentitySchemas,
) -> Option<Vec<u8>> {
    let wire = v6::get_provider_schema::Response::try_from(schema.clone()).ok()?.encode_to_vec();
    // protobuf has no mark of its end, so the first message needs its length.
    let mut bytes = u64::try_from(wire.len()).ok()?.to_le_bytes().to_vec();
    bytes.extend(wire);
    let wire = v6::get_resource_identity_schemas::Response::try_from(identities.clone()).ok()?;
    wire.encode(&mut bytes).ok()?;
    // Not every schema survives: protocol 6 has, for instance, no groups of attributes. A wrong
    // schema in a cache is worse than none.
    let is_lossless = decode_schemas(&bytes).is_some_and(|(s, i)| s == *schema && i == *identities);
    is_lossless.then_some(bytes)
}

/// Decodes the bytes that [`encode_schemas_if_lossless`] returned; `None` if they are others.
#[must_use]
pub fn decode_schemas(bytes: &[u8]) -> Option<(ProviderSchema, IdentitySchemas)> {
    let (length, content) = bytes.split_first_chunk()?;
    let (schema, identities) =
        content.split_at_checked(u64::from_le_bytes(*length).try_into().ok()?)?;
    let schema = v6::get_provider_schema::Response::decode(schema).ok()?;
    let identities = v6::get_resource_identity_schemas::Response::decode(identities).ok()?;
    Some((schema.try_into().ok()?, identities.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use formwork_value::Schema;

    use super::*;

    #[test]
    fn schemas_are_the_same_after_encoding_and_decoding() {
        let mut schema = ProviderSchema::default();
        schema.resources.insert("a_b".to_owned(), Schema { version: 3, ..Schema::default() });
        schema.capabilities.get_provider_schema_optional = true;
        let identities = IdentitySchemas::default();
        let bytes = encode_schemas_if_lossless(&schema, &identities).expect("a form");
        assert_eq!(decode_schemas(&bytes), Some((schema, identities)));
        for cut in [0, 7, 8, 9, bytes.len() - 1] {
            assert_ne!(decode_schemas(&bytes[..cut]), decode_schemas(&bytes), "{cut}");
        }
    }

    #[test]
    fn a_length_beyond_the_end_is_refused() {
        assert_eq!(decode_schemas(&[0xff; 16]), None);
    }
}
