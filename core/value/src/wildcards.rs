//! Patterns in which only `*` and `?` are special.

/// Returns whether a whole string matches a pattern: `*` matches any number of characters, `?` one.
///
/// `globset` is not used: `[`, `{` and `\` are special in its patterns, and plain characters in those of
/// OpenSSH and of directories in packages.
#[must_use]
pub fn matches_wildcards(pattern: &[char], text: &[char]) -> bool {
    let (mut at, mut position) = (0, 0);
    // The last `*`, and the first character that it does not match. Backtracking only to it keeps the
    // time below the product of both lengths.
    let mut last_star = None;
    while let Some(char) = text.get(position) {
        match pattern.get(at) {
            Some('*') => {
                at += 1;
                last_star = Some((at, position));
            }
            Some(wanted) if *wanted == '?' || wanted == char => {
                at += 1;
                position += 1;
            }
            _ => {
                let Some((after, end)) = last_star else { return false };
                last_star = Some((after, end + 1));
                (at, position) = (after, end + 1);
            }
        }
    }
    pattern.iter().skip(at).all(|char| *char == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_string_and_a_question_mark_one_character() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("?", "", false),
            ("?", "ä", true),
            ("a*b?", "axxbbc", true),
            ("a*b", "axxc", false),
            ("*a*a*", "bab", false),
            ("[a]*", "[a]b", true),
            ("[a]", "a", false),
        ] {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            let actual = matches_wildcards(&chars(pattern), &chars(text));
            assert_eq!(actual, expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_longer_than_both_lengths() {
        let pattern: Vec<char> = "*a".repeat(500).chars().collect();
        assert!(!matches_wildcards(&pattern, &['a'; 499]));
        assert!(!matches_wildcards(&pattern, &['b'; 5_000]));
    }
}
