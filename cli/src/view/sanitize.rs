//! Sanitizes untrusted strings for display: file names, IDs from providers, messages, values. They must not
//! control the terminal, change the direction of the following text, or hide text. Machine-readable output
//! and raw values contain such strings unchanged.

use std::borrow::Cow;

/// Sanitizes a line, or a part of it: line breaks are escaped too.
pub(crate) fn sanitize_line(text: &str) -> String {
    spell_out_controls(text, "\t")
}

/// Sanitizes a string that may have several lines.
pub(crate) fn sanitize_text(text: &str) -> String {
    spell_out_controls(&text.replace("\r\n", "\n"), "\n\t")
}

/// Sanitizes human-readable output that contains colours: line breaks, tabs and colours are kept. Colours
/// that could hide text are removed. Other terminal control characters are escaped.
///
/// In a file or pipe, characters that only change the appearance of text are kept, too.
pub(crate) fn sanitize_painted_output(text: &str, on_terminal: bool) -> Cow<'_, str> {
    let steers =
        |c: char| c.is_control() && c != '\n' && c != '\t' || on_terminal && is_deceptive(c);
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(index) = rest.find(steers) {
        result.push_str(&rest[..index]);
        rest = &rest[index..];
        if let Some(after) = rest.strip_prefix("\r\n") {
            result.push_str("\r\n");
            rest = after;
        } else if let Some((parameters, after)) = parse_color(rest) {
            let is_visible = parameters
                .split(';')
                .all(|parameter| VISIBLE_COLOR_PARAMETERS.contains(&parameter));
            result.push_str(if is_visible { &rest[..rest.len() - after.len()] } else { "" });
            rest = after;
        } else if let Some(first) = rest.chars().next() {
            push_visible_form(&mut result, first);
            rest = &rest[first.len_utf8()..];
        }
    }
    result.push_str(rest);
    Cow::Owned(result)
}

/// The parameters of colour sequences that leave text visible: no background, no black, no concealment.
const VISIBLE_COLOR_PARAMETERS: [&str; 29] = [
    "", "0", "1", "2", "3", "4", "22", "23", "24", "31", "32", "33", "34", "35", "36", "37", "39",
    "90", "91", "92", "93", "94", "95", "96", "97", "00", "01", "02", "04",
];

/// The parameters of a colour sequence at the beginning of a string, and the rest of the string.
fn parse_color(text: &str) -> Option<(&str, &str)> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    Some((&parameters[..end], parameters[end..].strip_prefix('m')?))
}

fn spell_out_controls(text: &str, allowed: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for character in text.chars() {
        if allowed.contains(character) {
            result.push(character);
        } else {
            push_visible_form(&mut result, character);
        }
    }
    result
}

/// Appends a character, escaped unless it is visible.
pub(crate) fn push_visible_form(text: &mut String, character: char) {
    match character {
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        c if c.is_control() || is_deceptive(c) => {
            text.push_str(&format!("\\u{:04x}", u32::from(c)));
        }
        c => text.push(c),
    }
}

/// Whether a character changes the appearance of text: it changes the writing direction, or has no width.
/// Joiners and selectors are kept, because letters and emoji require them.
fn is_deceptive(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    ) || matches!(
        character,
        '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2065}'
            | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Paint, Screen};

    #[test]
    fn layout_and_colours_are_kept_and_other_control_characters_escaped() {
        let page =
            |text: &str, on_terminal| sanitize_painted_output(text, on_terminal).into_owned();
        let harmless = "é\tb\r\n\n中";
        assert_eq!(page(harmless, true), harmless);
        for paint in [Paint::BoldRed, Paint::Dim, Paint::Underline, Paint::Cyan] {
            let painted = Screen { color: true, width: 80, erases: true }.paint(paint, "a");
            assert!(painted.contains('\u{1b}') && page(&painted, true) == painted);
            assert_eq!(page(&painted, false), painted, "a program may show the colours later");
        }
        assert_eq!(page("\u{1b}[30;40ma\u{1b}[8mb\u{1b}[38;5;16mc", true), "abc");
        let hostile = "\u{1b}[2J\u{1b}[1;1H\u{9b}K\rNo changes.\u{7}\u{8}\u{1b}[8\u{1b}";
        let escaped = "\\u001b[2J\\u001b[1;1H\\u009bK\\rNo changes.\\u0007\\u0008\\u001b[8\\u001b";
        assert_eq!(page(hostile, true), escaped);
        assert_eq!(page(hostile, false), escaped);
        assert_eq!(page("\u{202e}a", true), "\\u202ea");
        assert_eq!(page("\u{202e}a", false), "\u{202e}a");
        assert_eq!(page("prod\u{200b}\u{e0041}", true), "prod\\u200b\\ue0041");
        let joined = "\u{1f469}\u{200d}\u{1f4bb} \u{2764}\u{fe0f}";
        assert_eq!(page(joined, true), joined, "emoji stay");
    }

    #[test]
    fn control_and_direction_characters_are_escaped() {
        let hostile = "é\u{1b}[31m\u{9b}\u{7f}\u{202e}\u{200f}\tb\r\nc\rd";
        let escaped = "é\\u001b[31m\\u009b\\u007f\\u202e\\u200f\tb";
        assert_eq!(sanitize_line(hostile), format!("{escaped}\\r\\nc\\rd"));
        assert_eq!(sanitize_line("a\u{feff}\u{ad}\u{2028}b"), "a\\ufeff\\u00ad\\u2028b");
        assert_eq!(sanitize_text(hostile), format!("{escaped}\nc\\rd"));
    }
}
