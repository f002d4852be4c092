//! Upper and lower case by simple case mapping: each letter becomes one letter, independent of its
//! context. Language-specific rules and mappings to several letters are not supported.

/// All letters in upper case.
pub(in crate::functions) fn upper(text: &str) -> String {
    text.chars().map(upper_char).collect()
}

/// All letters in lower case.
pub(in crate::functions) fn lower(text: &str) -> String {
    text.chars().map(lower_char).collect()
}

/// The first letter of each word in title case, the others as they are.
pub(in crate::functions) fn title(text: &str) -> String {
    let mut before = ' ';
    text.chars()
        .map(|char| {
            let changed = if is_word_separator(before) { title_char(char) } else { char };
            before = char;
            changed
        })
        .collect()
}

fn is_word_separator(char: char) -> bool {
    if char.is_ascii() {
        return !(char.is_ascii_alphanumeric() || char == '_');
    }
    !char.is_alphanumeric() && char.is_whitespace()
}

fn single_char(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

fn upper_char(char: char) -> char {
    if let Some(upper) = single_char(char.to_uppercase()) {
        return upper;
    }
    // Greek letters with iota subscript have a capital letter at an offset of eight or nine.
    let offset = match u32::from(char) {
        0x1f80..=0x1f87 | 0x1f90..=0x1f97 | 0x1fa0..=0x1fa7 => 8,
        0x1fb3 | 0x1fc3 | 0x1ff3 => 9,
        _ => 0,
    };
    char::from_u32(u32::from(char) + offset).unwrap_or(char)
}

fn lower_char(char: char) -> char {
    // Its lower case is two characters in Unicode's full mapping. Go has a simple one.
    if char == 'İ' { 'i' } else { single_char(char.to_lowercase()).unwrap_or(char) }
}

fn title_char(char: char) -> char {
    match char {
        // The title case of a digraph is between its other two cases.
        '\u{1c4}'..='\u{1c6}' => '\u{1c5}',
        '\u{1c7}'..='\u{1c9}' => '\u{1c8}',
        '\u{1ca}'..='\u{1cc}' => '\u{1cb}',
        '\u{1f1}'..='\u{1f3}' => '\u{1f2}',
        // Georgian has capitals but does not begin words with them.
        '\u{10d0}'..='\u{10ff}' => char,
        _ => upper_char(char),
    }
}

#[cfg(test)]
mod tests {
    use super::{lower, title, upper};

    #[test]
    fn letters_change_case_one_by_one() {
        assert_eq!(upper("aßﬁᾳ"), "Aßﬁᾼ");
        assert_eq!(lower("ΣİÀ"), "σià");
    }

    #[test]
    fn words_begin_after_anything_but_letters_digits_and_underscores() {
        assert_eq!(title("a-b c_d 1e ǆ"), "A-B C_d 1e ǅ");
    }
}
