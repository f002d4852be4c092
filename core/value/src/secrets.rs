//! A collection of sensitive values, and their redaction in the output of other programs.

use std::collections::BTreeSet;
use std::ops::{Bound, Range};
use std::sync::{Arc, PoisonError};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::codec::json;
use crate::{Marks, Path, Type, Value};

/// The replacement of a sensitive value.
const MASK_TEXT: &str = "(sensitive value)";
/// Minimum length in bytes of a masked value. Shorter values occur in any text.
const MIN_SECRET_BYTES: usize = 2;
/// Minimum length in bytes of a value that is also masked inside a word.
const MIN_BYTES_INSIDE_WORDS: usize = 6;
/// Minimum length in bytes of a line that is masked without the other lines of its value.
const MIN_LINE_BYTES: usize = 8;
/// Maximum number of bytes recorded of a value, and of a line.
const MAX_SECRET_BYTES: usize = 64 << 10;
/// Words that are never secret.
const NEVER_SECRET_WORDS: [&str; 3] = ["true", "false", "null"];

/// The sensitive values of one run. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Secrets(Arc<SharedSecrets>);

#[expect(clippy::disallowed_types, reason = "logs are written on other threads")]
type SharedSecrets = std::sync::RwLock<BTreeSet<Box<str>>>;

impl Secrets {
    /// Adds every string and number that is marked as sensitive or ephemeral in a value.
    pub fn add_marked_values(&self, value: &Value) {
        // Most values have no marks, and to split them off copies the whole value.
        if value.all_marks().is_empty() {
            return;
        }
        let (plain, marks) = value.clone().split_marks();
        let paths = [Marks::SENSITIVE, Marks::EPHEMERAL].map(|kind| marks.paths_with(kind));
        self.add_values_at_paths(plain.value(), paths.into_iter().flatten());
    }

    /// Adds every string and number at some paths of a value without marks.
    pub fn add_values_at_paths<'a>(
        &self,
        value: &Value,
        paths: impl IntoIterator<Item = &'a Path>,
    ) {
        let mut leaves = BTreeSet::new();
        for secret in paths.into_iter().filter_map(|path| path.find(value)) {
            collect_secret_texts(secret, &mut leaves);
        }
        if !leaves.is_empty() {
            // After the panic of a thread the entries are complete, and masking must continue.
            self.0.write().unwrap_or_else(PoisonError::into_inner).extend(leaves);
        }
    }

    /// Replaces every sensitive value in a string.
    #[must_use]
    pub fn mask(&self, text: String) -> String {
        let ranges = self.find_secret_ranges(&text);
        if ranges.is_empty() {
            return text;
        }
        let (mut masked, mut from) = (String::with_capacity(text.len()), 0);
        for secret in ranges {
            masked.push_str(&text[from..secret.start]);
            masked.push_str(MASK_TEXT);
            from = secret.end;
        }
        masked + &text[from..]
    }

    /// Returns the ranges of sensitive values in a string, in order.
    #[must_use]
    pub fn find_secret_ranges(&self, text: &str) -> Vec<Range<usize>> {
        let secrets = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let (mut ranges, mut at) = (Vec::new(), 0);
        // Most runs have no secrets, and a string may be long.
        while at < text.len() && !secrets.is_empty() {
            match longest_secret_length_at(&secrets, text, at) {
                Some(length) => {
                    ranges.push(at..at + length);
                    at += length;
                }
                // By a whole character, because a slice that begins inside one would panic.
                None => at += text[at..].chars().next().map_or(1, char::len_utf8),
            }
        }
        ranges
    }
}

/// Returns the length of the longest value at a position of a string.
fn longest_secret_length_at(secrets: &BTreeSet<Box<str>>, text: &str, at: usize) -> Option<usize> {
    let mut rest = &text[at..];
    loop {
        // Every value that `rest` begins with sorts before `rest`, and the longest of them last.
        let range = (Bound::Unbounded, Bound::Included(rest));
        let before = secrets.range::<str, _>(range).next_back()?;
        let shared = common_prefix_length(before, rest);
        if shared == before.len() {
            // A short secret such as `ab` would otherwise blank out parts of ordinary words.
            let is_whole =
                before.len() >= MIN_BYTES_INSIDE_WORDS || is_whole_word(text, at, at + shared);
            if is_whole {
                return Some(shared);
            }
        }
        let shorter = if shared == before.len() { shared.checked_sub(1)? } else { shared };
        // A shared prefix counts bytes and may end inside a character.
        let end = (0..=shorter).rev().find(|end| rest.is_char_boundary(*end))?;
        if end == 0 {
            return None;
        }
        rest = &rest[..end];
    }
}

fn common_prefix_length(first: &str, second: &str) -> usize {
    first
        .bytes()
        .zip(second.bytes())
        .take_while(|(first_byte, second_byte)| first_byte == second_byte)
        .count()
}

/// Returns whether a range of text has no letter or digit on either side.
fn is_whole_word(text: &str, start: usize, end: usize) -> bool {
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    ![before, after].into_iter().flatten().any(char::is_alphanumeric)
}

/// Collects the strings and numbers below a value, in the forms in which a string may contain them.
fn collect_secret_texts(value: &Value, leaves: &mut BTreeSet<Box<str>>) {
    match value {
        Value::String(text) => add_secret_forms(text, leaves),
        Value::Number(number) => {
            let digits = number.to_string();
            // A small number occurs in many strings by chance.
            if digits.len() >= 4 {
                leaves.insert(digits.into());
            }
        }
        other => {
            // The keys of a map are data, while most attribute names of an object are part of the
            // configuration or of a schema.
            if let Value::Map(entries) = other {
                entries.iter().for_each(|(key, _)| add_secret_forms(key, leaves));
            }
            other.children().iter().for_each(|child| collect_secret_texts(child, leaves));
        }
    }
}

fn add_secret_forms(text: &str, leaves: &mut BTreeSet<Box<str>>) {
    let mut add = |text: &str| {
        let is_secret = (MIN_SECRET_BYTES..=MAX_SECRET_BYTES).contains(&text.len())
            && !NEVER_SECRET_WORDS.contains(&text);
        if is_secret && !text.trim().is_empty() {
            leaves.insert(text.into());
        }
    };
    add(text);
    // Programs often report a value without the line end of the file that it was read from.
    add(text.trim());
    // As in a quoted string, an address and a document.
    let quoted = format!("{text:?}");
    add(&quoted[1..quoted.len() - 1]);
    if let Ok(json) = json::encode(&Value::string(text), &Type::String) {
        add(&json[1..json.len() - 1]);
    }
    add(&percent_encode(text));
    // Programs also report a single line of a value, such as of a key in PEM.
    for line in text.lines().filter(|line| line.len() >= MIN_LINE_BYTES && line.len() < text.len())
    {
        add(line);
    }
}

/// Returns the text as encoded in a query: letters, digits and `-_.~` are not escaped.
fn percent_encode(text: &str) -> String {
    const NOT_IN_QUERY: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
    utf8_percent_encode(text, NOT_IN_QUERY).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(values: &[&str]) -> Secrets {
        let secrets = Secrets::default();
        for value in values {
            secrets.add_marked_values(&Value::string(*value).mark(Marks::SENSITIVE));
        }
        secrets
    }

    #[test]
    fn a_value_is_masked_in_each_of_its_encodings() {
        let pem = "-----BEGIN KEY-----\nMIIEpAIBAAKCAQEA\n-----END KEY-----\n";
        for (value, text, masked) in [
            ("hunter22", "password hunter22 is weak", "password (sensitive value) is weak"),
            ("hunter22", "xhunter22y", "x(sensitive value)y"),
            ("a\"b\\c d", r#"got "a\"b\\c d""#, r#"got "(sensitive value)""#),
            ("p&ss w/rd", "https://h/?p=p%26ss%20w%2Frd", "https://h/?p=(sensitive value)"),
            (" padded pass ", "[padded pass]", "[(sensitive value)]"),
            (pem, "line 2 is MIIEpAIBAAKCAQEA", "line 2 is (sensitive value)"),
            ("käse-käse", "nur käse-käse hier", "nur (sensitive value) hier"),
        ] {
            assert_eq!(secrets(&[value]).mask(text.to_owned()), masked, "{value}");
        }
    }

    #[test]
    fn a_short_value_is_masked_as_a_word_and_a_tiny_one_not_at_all() {
        let secrets = secrets(&["no", "x", "", " ", "true"]);
        let text = "no x true: nothing, (no)";
        let masked = "(sensitive value) x true: nothing, ((sensitive value))";
        assert_eq!(secrets.mask(text.to_owned()), masked);
    }

    #[test]
    fn the_longest_match_wins_and_adjacent_shorter_ones_are_found() {
        let secrets = secrets(&["secret", "secret-long", "secret-longer-still", "ab", "abc"]);
        for (text, masked) in [
            ("secret-long", "(sensitive value)"),
            ("secret-longer", "(sensitive value)er"),
            ("secret-l", "(sensitive value)-l"),
            ("ab-abc-abcd", "(sensitive value)-(sensitive value)-abcd"),
        ] {
            assert_eq!(secrets.mask(text.to_owned()), masked);
        }
    }

    #[test]
    fn everything_below_a_marked_collection_is_masked() {
        let number = Value::Number(12345_i64.into());
        let inner = Value::object([("a", Value::string("first-one")), ("b", number)]);
        let secrets = Secrets::default();
        secrets.add_marked_values(&inner.mark(Marks::SENSITIVE));
        assert_eq!(
            secrets.mask("first-one 12345 123456".to_owned()),
            "(sensitive value) (sensitive value) 123456"
        );
        assert_eq!(Secrets::default().mask("first-one".to_owned()), "first-one");
    }
}
