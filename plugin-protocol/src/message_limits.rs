//! The limit for messages. Both sides refuse larger ones before they are in memory, and the host stores
//! no object that could not be sent to its provider again.

use crate::provider::Method;

/// Greatest size of a message in bytes, the same as that of providers on the Go SDKs.
pub const MAX_MESSAGE_BYTES: usize = 256 << 20;

/// The largest answer to a call for schemas, as Terraform has it.
const MAX_SCHEMA_ANSWER_BYTES: usize = 64 << 20;

/// The room in a request for everything except the stored object: names and `provider_meta`.
const REQUEST_RESERVE_BYTES: usize = 1 << 20;

/// The most bytes of JSON that a byte of MessagePack becomes: a control character is `\u0001`.
const MAX_JSON_BYTES_PER_MSGPACK_BYTE: usize = 6;

/// The largest answer a host accepts.
pub(crate) fn max_answer_bytes(method: Method) -> usize {
    match method {
        Method::GetProviderSchema => MAX_SCHEMA_ANSWER_BYTES,
        _ => MAX_MESSAGE_BYTES,
    }
}

/// The largest request a provider accepts.
pub(crate) const MAX_REQUEST_BYTES: usize = MAX_MESSAGE_BYTES;

/// The sizes in bytes of a stored object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredSizes {
    /// The object as MessagePack.
    pub object: usize,
    /// The private data of the provider.
    pub private: usize,
}

impl StoredSizes {
    /// Whether the object with its private data fits in a request. `json` returns the length of the
    /// object as JSON, its form in a state; it is called only for large objects.
    #[must_use]
    pub fn fits_in_request(self, limit: usize, json: impl FnOnce() -> usize) -> bool {
        let Self { object, private } = self;
        // At most a sixteenth, so that a small limit leaves room for an object too.
        let max_bytes = limit.saturating_sub(REQUEST_RESERVE_BYTES.min(limit / 16));
        if object.saturating_add(private) > max_bytes {
            return false;
        }
        // Only an object that may exceed the limit is written as JSON, which takes its time.
        object.saturating_mul(MAX_JSON_BYTES_PER_MSGPACK_BYTE) <= max_bytes || json() <= max_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(object: usize, private: usize, json: usize) -> bool {
        StoredSizes { object, private }.fits_in_request(MAX_MESSAGE_BYTES, || json)
    }

    #[test]
    fn an_object_fits_if_it_can_be_sent_in_each_of_its_forms() {
        const MIB: usize = 1 << 20;
        assert!(fits(10, 10, usize::MAX), "a small object is not written as JSON for this");
        assert!(fits(100 * MIB, 100 * MIB, 200 * MIB));
        assert!(fits(255 * MIB, 0, 255 * MIB));
        assert!(!fits(255 * MIB, 1, 255 * MIB), "the private data is sent along");
        assert!(!fits(50 * MIB, 0, 256 * MIB), "the stored form is sent, too");
        assert!(!fits(0, usize::MAX, 0));
        assert!(!fits(usize::MAX, usize::MAX, 0));
    }
}
