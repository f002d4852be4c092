//! Character classes in patterns: `[a-z]`, `[[:alpha:]]`, `\d`, `\pL`.

use super::translate_re2::{PatternTranslator, push_literal_char};

/// A class, as the text between brackets.
#[derive(Default)]
pub(super) struct CharClass {
    negated: bool,
    items: Vec<CharClassItem>,
}

enum CharClassItem {
    Range(char, char),
    /// A Unicode class in the syntax of the `regex` crate.
    Property(String),
}

impl CharClass {
    /// Writes the class in the syntax of the `regex` crate.
    pub(super) fn write(&self, out: &mut String) {
        out.push_str(if self.negated { "[^" } else { "[" });
        for item in &self.items {
            match item {
                CharClassItem::Range(low, high) => {
                    push_literal_char(out, *low);
                    if low != high {
                        out.push('-');
                        push_literal_char(out, *high);
                    }
                }
                CharClassItem::Property(property) => out.push_str(property),
            }
        }
        out.push(']');
    }

    fn of_ranges(pairs: &[(char, char)], negated: bool) -> Self {
        let mut ranges = Self::default();
        ranges.add_ranges(pairs, negated);
        ranges
    }

    /// Adds pairs that are in order and apart, or the characters between them.
    fn add_ranges(&mut self, pairs: &[(char, char)], negated: bool) {
        if !negated {
            self.items.extend(pairs.iter().map(|(low, high)| CharClassItem::Range(*low, *high)));
            return;
        }
        let mut next = '\0';
        for (low, high) in pairs {
            if next < *low {
                let before = char::from_u32(u32::from(*low) - 1).unwrap_or(next);
                self.items.push(CharClassItem::Range(next, before));
            }
            next = char::from_u32(u32::from(*high) + 1).unwrap_or(char::MAX);
        }
        self.items.push(CharClassItem::Range(next, char::MAX));
    }
}

const DIGIT_RANGES: &[(char, char)] = &[('0', '9')];
// RE2's `\s` has no vertical tab, unlike its `[[:space:]]`.
const SPACE_RANGES: &[(char, char)] = &[('\t', '\n'), ('\u{c}', '\r'), (' ', ' ')];
const WORD_RANGES: &[(char, char)] = &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];

/// Parses a class after a backslash. Returns `None` if it is not a class.
pub(super) fn parse_escaped_class(
    parser: &mut PatternTranslator<'_>,
) -> Result<Option<CharClass>, String> {
    for (letters, pairs) in
        [(["d", "D"], DIGIT_RANGES), (["s", "S"], SPACE_RANGES), (["w", "W"], WORD_RANGES)]
    {
        for (negated, letter) in [false, true].into_iter().zip(letters) {
            if parser.take_prefix(letter) {
                return Ok(Some(CharClass::of_ranges(pairs, negated)));
            }
        }
    }
    let negated = match () {
        () if parser.take_prefix("p") => false,
        () if parser.take_prefix("P") => true,
        () => return Ok(None),
    };
    let name = if parser.take_prefix("{") {
        let (name, rest) =
            parser.rest.split_once('}').ok_or("the name of a class is not closed")?;
        parser.rest = rest;
        name.to_owned()
    } else {
        parser
            .next_char()
            .ok_or("a backslash at the end is not followed by a character")?
            .to_string()
    };
    let (negated, name) = match name.strip_prefix('^') {
        Some(name) => (!negated, name),
        None => (negated, name.as_str()),
    };
    let property = to_engine_property(name)
        .ok_or_else(|| format!("the character class {name:?} does not exist"))?;
    let property = format!("\\{}{{{property}}}", if negated { 'P' } else { 'p' });
    Ok(Some(CharClass { negated: false, items: vec![CharClassItem::Property(property)] }))
}

/// Returns the name of a general category or a script in the `regex` crate.
fn to_engine_property(name: &str) -> Option<String> {
    const GENERAL_CATEGORIES: &str = "C Cc Cf Co L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs";
    if name == "Any" {
        return Some("any".into());
    }
    if GENERAL_CATEGORIES.split(' ').any(|category| category == name) {
        return Some(format!("gc={name}"));
    }
    // RE2 compares names exactly, while the `regex` crate ignores case, spaces and hyphens.
    let looks_right = name.starts_with(|char: char| char.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let script = format!("sc={name}");
    let known = || regex_syntax::Parser::new().parse(&format!("\\p{{{script}}}")).is_ok();
    (looks_right && name.len() > 2 && known()).then_some(script)
}

/// Parses a class after its opening bracket.
pub(super) fn parse_bracketed_class(
    parser: &mut PatternTranslator<'_>,
) -> Result<CharClass, String> {
    let mut ranges = CharClass { negated: parser.take_prefix("^"), items: Vec::new() };
    let mut first = true;
    // A bracket directly after the opening one is a member of the class.
    while first || !parser.take_prefix("]") {
        first = false;
        if let Some((pairs, negated)) = parse_named_class(parser)? {
            ranges.add_ranges(&pairs, negated);
            continue;
        }
        let before = parser.rest;
        if parser.take_prefix("\\") {
            if let Some(class) = parse_escaped_class(parser)? {
                ranges.items.extend(class.items);
                continue;
            }
            // The backslash belongs to a single character, which may begin a range.
            parser.rest = before;
        }
        let low = parse_class_char(parser)?;
        let mut high = low;
        if parser.rest.starts_with('-') && !parser.rest.starts_with("-]") && parser.rest.len() > 1 {
            parser.next_char();
            high = parse_class_char(parser)?;
            if high < low {
                return Err(format!("{low:?} to {high:?} is not a range"));
            }
        }
        ranges.items.push(CharClassItem::Range(low, high));
    }
    Ok(ranges)
}

fn parse_class_char(parser: &mut PatternTranslator<'_>) -> Result<char, String> {
    match parser.next_char() {
        None => Err("a bracket is not closed".into()),
        Some('\\') => parser.parse_escaped_char(),
        Some(char) => Ok(char),
    }
}

type NamedClass = (Vec<(char, char)>, bool);

/// Parses `[:name:]`. Returns `None` if it is not a named class.
fn parse_named_class(parser: &mut PatternTranslator<'_>) -> Result<Option<NamedClass>, String> {
    let Some((name, rest)) = parser.rest.strip_prefix("[:").and_then(|rest| rest.split_once(":]"))
    else {
        return Ok(None);
    };
    let (negated, bare) = match name.strip_prefix('^') {
        Some(bare) => (true, bare),
        None => (false, name),
    };
    let pairs: &[(char, char)] = match bare {
        "alnum" => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
        "alpha" => &[('A', 'Z'), ('a', 'z')],
        "ascii" => &[('\0', '\u{7f}')],
        "blank" => &[('\t', '\t'), (' ', ' ')],
        "cntrl" => &[('\0', '\u{1f}'), ('\u{7f}', '\u{7f}')],
        "digit" => DIGIT_RANGES,
        "graph" => &[('!', '~')],
        "lower" => &[('a', 'z')],
        "print" => &[(' ', '~')],
        "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "space" => &[('\t', '\r'), (' ', ' ')],
        "upper" => &[('A', 'Z')],
        "word" => WORD_RANGES,
        "xdigit" => &[('0', '9'), ('A', 'F'), ('a', 'f')],
        _ => return Err(format!("the class [:{name}:] does not exist")),
    };
    parser.rest = rest;
    Ok(Some((pairs.to_vec(), negated)))
}
