//! Translation of patterns from RE2 to the `regex` crate. In RE2, classes such as `\d` and boundaries
//! such as `\b` are ASCII-only, class set operations do not exist, group names may be repeated, and
//! repetitions are limited to 1000.

use std::fmt::Write as _;

use formwork_value::Str;

use super::char_class::{self, CharClass};

/// Maximum count of a repetition, with nested ones multiplied.
const MAX_REPETITIONS: u32 = 1000;
/// Greatest nesting of groups.
const MAX_GROUP_DEPTH: usize = 250;

/// A translated pattern. All its groups are unnamed.
pub(super) struct TranslatedPattern {
    pub(super) pattern: String,
    /// The names of the groups that capture, from the first.
    pub(super) groups: Vec<Option<Str>>,
}

/// Translates a pattern. The error is an explanation.
pub(super) fn translate_pattern(pattern: &str) -> Result<TranslatedPattern, String> {
    let mut parser = PatternTranslator {
        rest: pattern,
        out: String::with_capacity(pattern.len() * 2),
        groups: Vec::new(),
        open: Vec::new(),
        last: PrecedingItem::Nothing,
        repeat: 1,
    };
    parser.translate_all()?;
    if !parser.open.is_empty() {
        return Err(format!("missing closing ) in {pattern}"));
    }
    Ok(TranslatedPattern { pattern: parser.out, groups: parser.groups })
}

/// Preceding item, as far as repetitions are concerned.
#[derive(Clone, Copy, PartialEq)]
enum PrecedingItem {
    /// Nothing that could be repeated.
    Nothing,
    /// Something of which the repetitions inside multiply to this.
    Atom(u32),
    /// A repetition.
    Repetition,
}

pub(super) struct PatternTranslator<'p> {
    pub(super) rest: &'p str,
    out: String,
    groups: Vec<Option<Str>>,
    /// For each open group the product of the repetitions before it.
    open: Vec<u32>,
    last: PrecedingItem,
    /// The greatest product of repetitions so far in the current group.
    repeat: u32,
}

impl<'p> PatternTranslator<'p> {
    fn translate_all(&mut self) -> Result<(), String> {
        while let Some(char) = self.next_char() {
            match char {
                '(' => self.translate_group()?,
                ')' => self.close_group()?,
                '|' => {
                    self.out.push('|');
                    self.last = PrecedingItem::Nothing;
                }
                '*' | '+' | '?' => {
                    self.push_repetition(None, &char.to_string())?;
                }
                '{' => self.translate_brace()?,
                '[' => {
                    let ranges = char_class::parse_bracketed_class(self)?;
                    self.push_class(&ranges);
                }
                '\\' => self.translate_escape()?,
                '.' | '^' | '$' => {
                    self.out.push(char);
                    self.last = PrecedingItem::Atom(1);
                }
                char => self.push_literal(char),
            }
        }
        Ok(())
    }

    pub(super) fn next_char(&mut self) -> Option<char> {
        let char = self.rest.chars().next()?;
        self.rest = self.rest.get(char.len_utf8()..).unwrap_or("");
        Some(char)
    }

    pub(super) fn take_prefix(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn push_literal(&mut self, char: char) {
        push_literal_char(&mut self.out, char);
        self.last = PrecedingItem::Atom(1);
    }

    fn push_class(&mut self, ranges: &CharClass) {
        ranges.write(&mut self.out);
        self.last = PrecedingItem::Atom(1);
    }

    fn translate_group(&mut self) -> Result<(), String> {
        if self.open.len() >= MAX_GROUP_DEPTH {
            return Err(format!("groups nest deeper than {MAX_GROUP_DEPTH} levels"));
        }
        if self.take_prefix("?P<") || self.take_prefix("?<") {
            let (name, rest) =
                self.rest.split_once('>').ok_or("the name of a group is not closed")?;
            let good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            if name.is_empty() || !name.bytes().all(good) {
                return Err(format!("{name:?} cannot be the name of a group"));
            }
            self.groups.push(Some(Str::new(name)));
            self.rest = rest;
            self.open_group("(");
        } else if self.take_prefix("?") {
            self.translate_flags()?;
        } else {
            self.groups.push(None);
            self.open_group("(");
        }
        Ok(())
    }

    fn open_group(&mut self, opening: &str) {
        self.out.push_str(opening);
        self.open.push(self.repeat);
        self.repeat = 1;
        self.last = PrecedingItem::Nothing;
    }

    /// Parses flags after `(?`, for a group or for the rest of the current one.
    fn translate_flags(&mut self) -> Result<(), String> {
        let end = self.rest.find([':', ')']).ok_or("a parenthesis is not closed")?;
        let (flags, rest) = self.rest.split_at(end);
        let (set_flags, cleared_flags) = flags.split_once('-').unwrap_or((flags, ""));
        let known = |flags: &str| flags.chars().all(|flag| "imsU".contains(flag));
        let bare_minus = flags.contains('-') && cleared_flags.is_empty();
        let for_rest = rest.starts_with(')');
        if !known(set_flags)
            || !known(cleared_flags)
            || bare_minus
            || (for_rest && flags.is_empty())
        {
            return Err(format!("(?{flags} is not supported; RE2 has no look-around"));
        }
        self.rest = rest.get(1..).unwrap_or("");
        if for_rest {
            let _ = write!(self.out, "(?{flags})");
            self.last = PrecedingItem::Nothing;
        } else {
            self.open_group(&format!("(?{flags}:"));
        }
        Ok(())
    }

    fn close_group(&mut self) -> Result<(), String> {
        let outer = self.open.pop().ok_or("a closing parenthesis has no opening one")?;
        self.out.push(')');
        self.last = PrecedingItem::Atom(self.repeat);
        self.repeat = self.repeat.max(outer);
        Ok(())
    }

    /// Repeats the preceding item. `count` is the maximum count, if any.
    fn push_repetition(&mut self, count: Option<u32>, written: &str) -> Result<(), String> {
        let inside = match self.last {
            PrecedingItem::Nothing => {
                return Err(format!("missing argument to repetition operator in {written}"));
            }
            // `a**` is an error in RE2, but the `regex` crate would accept it.
            PrecedingItem::Repetition => {
                return Err(format!(
                    "invalid nested repetition operator in {written}; use parentheses"
                ));
            }
            PrecedingItem::Atom(inside) => inside,
        };
        // Nested counts multiply the size of the compiled pattern.
        let product = inside.saturating_mul(count.unwrap_or(1).max(1));
        if product > MAX_REPETITIONS {
            return Err(format!("{written} repeats more than {MAX_REPETITIONS} times"));
        }
        self.repeat = self.repeat.max(product);
        self.out.push_str(written);
        if self.take_prefix("?") {
            self.out.push('?');
        }
        self.last = PrecedingItem::Repetition;
        Ok(())
    }

    /// Parses after `{`: a count, otherwise the brace is literal.
    fn translate_brace(&mut self) -> Result<(), String> {
        let counts = self.rest.split_once('}').and_then(|(inner, rest)| {
            let number = |text: &str| {
                let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                // RE2 treats a brace with `01` as literal text.
                let padded = text.len() > 1 && text.starts_with('0');
                (digits && !padded).then(|| text.parse::<u32>().unwrap_or(u32::MAX))
            };
            let (least, most) = match inner.split_once(',') {
                None => (number(inner)?, number(inner)),
                Some((least, "")) => (number(least)?, None),
                Some((least, most)) => (number(least)?, Some(number(most)?)),
            };
            Some((inner, least, most, rest))
        });
        let Some((inner, least, most, rest)) = counts else {
            self.push_literal('{');
            return Ok(());
        };
        let written = format!("{{{inner}}}");
        if least > MAX_REPETITIONS
            || most.is_some_and(|most| most > MAX_REPETITIONS || most < least)
        {
            return Err(format!(
                "{written} is not a valid count; the maximum is {MAX_REPETITIONS}"
            ));
        }
        self.rest = rest;
        self.push_repetition(Some(most.unwrap_or(least)), &written)
    }

    fn translate_escape(&mut self) -> Result<(), String> {
        if let Some(ranges) = char_class::parse_escaped_class(self)? {
            self.push_class(&ranges);
            return Ok(());
        }
        if self.take_prefix("Q") {
            let (literal, rest) = self.rest.split_once("\\E").unwrap_or((self.rest, ""));
            self.rest = rest;
            literal.chars().for_each(|char| self.push_literal(char));
            return Ok(());
        }
        for (letter, ours) in [("A", r"\A"), ("z", r"\z"), ("b", r"(?-u:\b)"), ("B", r"(?-u:\B)")] {
            if self.take_prefix(letter) {
                self.out.push_str(ours);
                self.last = PrecedingItem::Atom(1);
                return Ok(());
            }
        }
        let char = self.parse_escaped_char()?;
        self.push_literal(char);
        Ok(())
    }

    /// Parses an escape of a single character, after its backslash.
    pub(super) fn parse_escaped_char(&mut self) -> Result<char, String> {
        let char =
            self.next_char().ok_or("a backslash at the end is not followed by a character")?;
        let unknown = || format!("invalid escape sequence in \\{char}");
        Ok(match char {
            'a' => '\u{7}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            'x' => self.parse_hexadecimal().ok_or_else(unknown)?,
            '0'..='7' => {
                let digit = |char: char| char.to_digit(8);
                let mut code = digit(char).unwrap_or(0);
                let mut n_digits = 1;
                while n_digits < 3
                    && let Some(next) = self.rest.chars().next().and_then(digit)
                {
                    code = code * 8 + next;
                    n_digits += 1;
                    self.next_char();
                }
                // A single digit would be a back reference, which RE2 does not support.
                if n_digits == 1 && char != '0' {
                    return Err(unknown());
                }
                char::from_u32(code).ok_or_else(unknown)?
            }
            char if char.is_ascii() && !char.is_ascii_alphanumeric() => char,
            _ => return Err(unknown()),
        })
    }

    fn parse_hexadecimal(&mut self) -> Option<char> {
        let digits = match self.rest.strip_prefix('{') {
            Some(rest) => {
                let (digits, rest) = rest.split_once('}')?;
                self.rest = rest;
                digits
            }
            None => {
                let digits = self.rest.get(..2)?;
                self.rest = self.rest.get(2..)?;
                digits
            }
        };
        let hexadecimal = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        char::from_u32(u32::from_str_radix(digits, 16).ok().filter(|_| hexadecimal)?)
    }
}

/// Writes a literal character.
pub(super) fn push_literal_char(out: &mut String, char: char) {
    // Letters and digits have no special meaning outside of escapes. Everything else is written by
    // its number, so that no list of special characters has to be right.
    if char.is_alphanumeric() {
        out.push(char);
    } else {
        // Writing to a string cannot fail.
        let _ = write!(out, "\\x{{{:X}}}", u32::from(char));
    }
}
