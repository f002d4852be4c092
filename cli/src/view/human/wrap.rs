//! Wraps text.

/// Breaks paragraphs at white space so that no line is wider than `width`, unless a single word is. Lines
/// that begin with a space are already formatted and are not changed. Lines end where Terraform's do, because
/// people and test suites search for phrases in the output.
pub(crate) fn wrap_text(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        if paragraph.starts_with(' ') {
            lines.push(paragraph.to_owned());
        } else {
            push_wrapped(&mut lines, paragraph, width);
        }
    }
    lines
}

/// Appends the lines of one paragraph. The space between two words is not changed within a line.
fn push_wrapped(lines: &mut Vec<String>, paragraph: &str, width: usize) {
    let (mut line, mut line_width) = (String::new(), 0);
    let (mut space, mut space_width) = ("", 0);
    for piece in words_and_spaces(paragraph) {
        let piece_width = piece.chars().count();
        if piece.starts_with(is_breakable_space) {
            (space, space_width) = (piece, piece_width);
            continue;
        }
        if line_width + space_width > 0 && line_width + space_width + piece_width > width {
            lines.push(std::mem::take(&mut line));
            line_width = 0;
        } else {
            line.push_str(space);
            line_width += space_width;
        }
        line.push_str(piece);
        line_width += piece_width;
        (space, space_width) = ("", 0);
    }
    lines.push(line);
}

/// Words and the spaces between them, alternating.
fn words_and_spaces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_other = |c: char| is_breakable_space(c) != rest.starts_with(is_breakable_space);
        let (piece, after) = rest.split_at(rest.find(is_other).unwrap_or(rest.len()));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Reports whether a line may be broken at this character.
fn is_breakable_space(c: char) -> bool {
    c.is_whitespace() && c != '\u{a0}'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_at_spaces_and_keeps_formatted_lines() {
        let lines = wrap_text("one two three\n  four five six seven\n\neight", 9);
        assert_eq!(lines, ["one two", "three", "  four five six seven", "", "eight"]);
    }

    #[test]
    fn a_line_is_filled_and_keeps_its_inner_spaces() {
        assert_eq!(wrap_text("four five six", 9), ["four five", "six"]);
        assert_eq!(wrap_text("four five six", 8), ["four", "five six"]);
        assert_eq!(wrap_text("a  b\u{a0}c\td  e", 9), ["a  b\u{a0}c\td", "e"]);
        assert_eq!(wrap_text("to unbreakable\nand", 5), ["to", "unbreakable", "and"]);
    }
}
