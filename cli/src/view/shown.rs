//! What people get to see of texts that somebody else wrote: names of files, ids that a provider chose,
//! messages, values. Nothing in them may steer the terminal, nor turn the direction of what follows.
//! Programs get such texts as they are, and so do those who asked for a raw value.

/// A text of one line, or a part of it: line ends are spelled out too.
pub(crate) fn line(text: &str) -> String {
    spelled(text, "\t")
}

/// A text that may have several lines.
pub(crate) fn text(text: &str) -> String {
    spelled(&text.replace("\r\n", "\n"), "\n\t")
}

fn spelled(text: &str, kept: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for character in text.chars() {
        if kept.contains(character) {
            result.push(character);
        } else {
            push(&mut result, character);
        }
    }
    result
}

/// Appends a character, spelled out if it would do something else than be seen.
pub(crate) fn push(text: &mut String, character: char) {
    match character {
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        c if c.is_control() || turns(c) => text.push_str(&format!("\\u{:04x}", u32::from(c))),
        c => text.push(c),
    }
}

/// Whether a character decides in which direction others are written.
fn turns(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_or_turns_a_line_is_spelled_out() {
        let hostile = "é\u{1b}[31m\u{9b}\u{7f}\u{202e}\u{200f}\tb\r\nc\rd";
        let shown = "é\\u001b[31m\\u009b\\u007f\\u202e\\u200f\tb";
        assert_eq!(line(hostile), format!("{shown}\\r\\nc\\rd"));
        assert_eq!(text(hostile), format!("{shown}\nc\\rd"));
    }
}
