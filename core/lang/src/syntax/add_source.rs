//! Bytes of a file to a source text. Opens no files.

use formwork_value::diag::{SourceId, Sources};
use formwork_value::{Diagnostic, Diagnostics, Span};

use crate::messages;

/// Adds the content of a file. If it is not UTF-8 that is reported, and what could be read is added,
/// so that the place can be shown.
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
    // The text up to there is unchanged, so the offset also holds after the replacement.
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
