//! Unknown strings of which the beginning is known.

use formwork_value::{Refinement, Str, Type, Value};
use unicode_segmentation::UnicodeSegmentation as _;

/// Returns an unknown string, not null, whose known prefix is the part of a string that no continuation
/// can change.
pub(crate) fn unknown_string_with_prefix(text: &str) -> Value {
    let prefix = stable_prefix(text);
    let prefix = (!prefix.is_empty()).then(|| Str::new(&prefix));
    Value::refined(Type::String, Refinement { not_null: true, prefix, ..Refinement::default() })
}

/// Shortens the beginning of a string to the part that no continuation can change: the last grapheme cluster
/// may yet combine with later text, unless it is punctuation.
fn stable_prefix(text: &str) -> String {
    let text = Str::new(text);
    let Some((start, last)) = text.grapheme_indices(true).next_back() else {
        return String::new();
    };
    // In NFC, a combining stroke makes one character of it and `<`, `=` or `>`: these are missing
    // here.
    let ends = matches!(
        last.as_bytes(),
        [b'\t' | b' '..=b'/' | b':' | b';' | b'?' | b'@' | b'['..=b'_' | b'{'..=b'~']
    );
    if ends { text.to_string() } else { text.get(..start).unwrap_or("").to_owned() }
}
