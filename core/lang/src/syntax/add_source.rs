//! Conversion of the bytes of a file to source text, without file access.

use formwork_value::diag::{SourceId, Sources};
use formwork_value::{Diagnostic, Diagnostics, Span};

use crate::messages;

/// Adds the content of a file. Invalid UTF-8 is reported, and the decoded text is added, so that the
/// span of the error can be shown.
pub fn add_source(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    name: impl Into<String>,
    bytes: Vec<u8>,
) -> SourceId {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return sources.add(name, text),
        Err(error) => error,
    };
    let start = error.utf8_error().valid_up_to();
    let id = sources.add(name, String::from_utf8_lossy(error.as_bytes()).as_ref());
    // The text before the error is unchanged, so the offset is also valid after the replacement.
    let span = Span::new(id, start, start + char::REPLACEMENT_CHARACTER.len_utf8());
    let _ = diags.error(
        Diagnostic::error(
            messages::INVALID_CHARACTER_ENCODING,
            "Files must be encoded in UTF-8; the bytes here are not. Save the file with that encoding.",
        )
        .at(span),
    );
    id
}
