//! Quoted strings, as the language prints or compares them, and for a shell. Escapes in generated code
//! are elsewhere.

/// Writes a string in double quotes and escapes invisible characters as Go and Terraform do.
#[must_use]
pub fn quote_like_go(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for char in text.chars() {
        push_escaped_char(&mut out, char);
    }
    out.push('"');
    out
}

fn push_escaped_char(out: &mut String, char: char) {
    let escape = match char {
        '"' => "\\\"",
        '\\' => "\\\\",
        '\u{7}' => "\\a",
        '\u{8}' => "\\b",
        '\u{c}' => "\\f",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        '\u{b}' => "\\v",
        ' '..='~' => return out.push(char),
        '\0'..='\u{7f}' => return out.push_str(&format!("\\x{:02x}", u32::from(char))),
        _ if is_visible_char(char) => return out.push(char),
        '\u{80}'..='\u{ffff}' => return out.push_str(&format!("\\u{:04x}", u32::from(char))),
        _ => return out.push_str(&format!("\\U{:08x}", u32::from(char))),
    };
    out.push_str(escape);
}

/// Writes a string in single quotes, as one word of a shell command in a message. Users paste such
/// commands, and instance keys and ids can contain anything.
#[must_use]
pub fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Writes a string as one word of a shell command, in quotes only if it needs them.
#[must_use]
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:@%+=,".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => shell_quoted(text),
    }
}

/// Returns whether a character is visible, by itself or on the preceding letter.
#[must_use]
pub fn is_visible_char(char: char) -> bool {
    // The standard library knows which characters are visible but shows it only by escaping the others;
    // it escapes combining ones only without a preceding letter.
    let mut pair = String::from("a");
    pair.push(char);
    // It also escapes what ends a literal in Rust.
    matches!(char, '\'' | '"' | '\\') || pair.escape_debug().count() == 2
}

#[cfg(test)]
mod tests {
    use super::{quote_like_go, shell_quoted, shell_word};

    #[test]
    fn a_quoted_shell_word_cannot_end_its_quotes() {
        for (text, quoted, word) in [
            ("i-0a1:b/c@d", "'i-0a1:b/c@d'", "i-0a1:b/c@d"),
            ("a[\"it's\"]", r#"'a["it'\''s"]'"#, r#"'a["it'\''s"]'"#),
            ("$(id);`id`", "'$(id);`id`'", "'$(id);`id`'"),
            ("a\nb", "'a\nb'", "'a\nb'"),
            ("", "''", "''"),
            ("~", "'~'", "'~'"),
            ("é", "'é'", "'é'"),
        ] {
            assert_eq!((shell_quoted(text).as_str(), shell_word(text).as_str()), (quoted, word));
        }
    }

    #[test]
    fn quotes_are_visible_characters() {
        for char in "'\"\\a\u{e9} ".chars() {
            assert!(super::is_visible_char(char), "{char:?}");
        }
        assert!(!super::is_visible_char('\u{200b}') && !super::is_visible_char('\n'));
    }

    #[test]
    fn invisible_characters_are_escaped_as_in_go() {
        for (text, expected) in [
            ("a \u{e9}\u{301}\u{1f600}", "\"a \u{e9}\u{301}\u{1f600}\""),
            ("\"\\\n\t\u{7}\u{b}", r#""\"\\\n\t\a\v""#),
            ("\u{1b}\u{7f}\u{85}\u{a0}", r#""\x1b\x7f\u0085\u00a0""#),
            ("\u{200d}\u{2028}\u{e0001}", r#""\u200d\u2028\U000e0001""#),
        ] {
            assert_eq!(quote_like_go(text), expected);
        }
    }
}
