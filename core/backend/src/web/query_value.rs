//! Values in queries and forms, percent-encoded.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The characters that are percent-encoded in the values of a query.
const QUERY_VALUE_ENCODE_SET: AsciiSet =
    NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Encodes a value for a query or a form.
pub(crate) fn percent_encode(text: &str) -> String {
    utf8_percent_encode(text, &QUERY_VALUE_ENCODE_SET).to_string()
}
