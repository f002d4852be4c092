//! How large a message may be. Both sides refuse larger ones before they are in memory.

use super::dialect::Method;

/// The largest message: what the largest peers allow themselves.
const MESSAGE: usize = 256 << 20;

/// The largest answer to a call for schemas, as the reference host has it.
const SCHEMA: usize = 64 << 20;

/// The largest answer a host accepts.
pub(crate) fn of_answer(method: Method) -> usize {
    match method {
        Method::GetProviderSchema => SCHEMA,
        _ => MESSAGE,
    }
}

/// The largest request a provider accepts.
pub(crate) const REQUEST: usize = MESSAGE;
