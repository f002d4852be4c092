//! Workaround for commas directly after possible tags, which the parser cannot parse. They are moved
//! away before the document is parsed, and restored in strings that are not tags.

use std::borrow::Cow;

/// A document without commas directly after possible tags.
pub(super) struct TextWithMovedCommas<'t> {
    /// The text to parse.
    pub(super) text: Cow<'t, str>,
    /// Marker before moved commas. It does not occur in the original document.
    gap: String,
}

impl<'t> TextWithMovedCommas<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut parted = String::new();
        let (mut gap, mut done) = (String::new(), 0);
        for (at, _) in text.match_indices(',').filter(|(at, _)| may_end_with_tag(&text[..*at])) {
            if gap.is_empty() {
                // Longer than every run of tabs in the text, so that the gap is found again without
                // doubt.
                gap = "\t".repeat(longest_tab_run(text) + 1);
            }
            parted.push_str(&text[done..at]);
            parted.push_str(&gap);
            done = at;
        }
        let text = if done == 0 { Cow::Borrowed(text) } else { Cow::Owned(parted + &text[done..]) };
        Self { text, gap }
    }

    /// Returns whether a comma was moved away from this position.
    pub(super) fn had_comma_at(&self, at: u64) -> bool {
        let rest = usize::try_from(at).ok().and_then(|at| self.text.get(at..));
        !self.gap.is_empty() && rest.is_some_and(|rest| rest.starts_with(&self.gap))
    }

    /// Returns a parsed string with its commas restored.
    pub(super) fn restore_commas(&self, read: String) -> String {
        if self.gap.is_empty() || !read.contains(&self.gap) {
            read
        } else {
            read.replace(&self.gap, "")
        }
    }
}

/// Returns whether a tag may end at the end of the string. The parser ends tags at commas, so only the
/// part after the previous comma is checked.
fn may_end_with_tag(text: &str) -> bool {
    let in_tag = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-;/?:@&=+$.%!~*'()".contains(byte);
    text.ends_with('>') || text.bytes().rev().take_while(in_tag).any(|byte| byte == b'!')
}

/// Length of the longest run of tabs.
fn longest_tab_run(text: &str) -> usize {
    text.split(|char| char != '\t').map(str::len).max().unwrap_or(0)
}
