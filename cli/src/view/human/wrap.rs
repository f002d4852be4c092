//! Breaks text into lines that fit.

use unicode_segmentation::UnicodeSegmentation as _;

/// Breaks a paragraph at spaces so that no line is wider than `width`, unless a word is. Lines that
/// begin with a space are kept as they are: they are laid out already.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        if paragraph.starts_with(' ') || paragraph.is_empty() {
            lines.push(paragraph.to_owned());
            continue;
        }
        let mut line = String::new();
        let mut line_width = 0;
        for word in paragraph.split(' ') {
            let word_width = word.graphemes(true).count();
            if line_width > 0 && line_width + 1 + word_width > width {
                lines.push(std::mem::take(&mut line));
                line_width = 0;
            }
            if line_width > 0 {
                line.push(' ');
                line_width += 1;
            }
            line.push_str(word);
            line_width += word_width;
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_at_spaces_and_leaves_laid_out_lines_alone() {
        let lines = wrap("one two three\n  four five six seven\n\neight", 9);
        assert_eq!(lines, ["one two", "three", "  four five six seven", "", "eight"]);
    }
}
