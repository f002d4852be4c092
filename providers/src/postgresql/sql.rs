//! Names and strings in SQL.

use std::collections::BTreeSet;

/// A name, quoted.
pub(super) fn quote_name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Names, quoted, with commas in between.
pub(super) fn quote_names<'n>(names: impl IntoIterator<Item = &'n String>) -> String {
    names.into_iter().map(|name| quote_name(name)).collect::<Vec<_>>().join(", ")
}

/// A string, quoted, for servers with any meaning of backslashes.
pub(super) fn quote_text(text: &str) -> String {
    let quoted = text.replace('\'', "''");
    if quoted.contains('\\') {
        format!("E'{}'", quoted.replace('\\', "\\\\"))
    } else {
        format!("'{quoted}'")
    }
}

/// Quotes a grantee: a role, or `PUBLIC`.
pub(super) fn quote_grantee(role: &str) -> String {
    if role.eq_ignore_ascii_case("public") { "PUBLIC".to_owned() } else { quote_name(role) }
}

/// A word, or the same with `NO` before it.
pub(super) fn option_or_no_option(option: &str, is_set: bool) -> String {
    if is_set { option.to_owned() } else { format!("NO{option}") }
}

/// The elements of the first set that the second lacks.
pub(super) fn names_only_in_first<'s>(
    first: &'s BTreeSet<String>,
    second: &'s BTreeSet<String>,
) -> impl Iterator<Item = &'s String> {
    first.difference(second)
}

#[cfg(test)]
mod tests {
    use super::{quote_name, quote_text};

    #[test]
    fn names_and_strings_are_quoted() {
        assert_eq!(quote_name("a\"; DROP"), "\"a\"\"; DROP\"");
        assert_eq!(quote_text("it's"), "'it''s'");
        assert_eq!(quote_text("a\\'b"), "E'a\\\\''b'");
    }
}
