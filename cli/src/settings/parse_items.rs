//! Parser of the CLI configuration syntax, an older variant of the configuration language. The caller
//! interprets the items.

mod json;

/// An item of a CLI configuration file.
#[derive(Clone, Debug)]
pub(super) enum SettingsItem {
    /// `name = value`
    Value(String, SettingsValue, usize),
    /// `name "label" { … }`
    Labelled(String, String, Vec<Self>, usize),
    /// `name { … }`
    Block(String, Vec<Self>, usize),
}

#[derive(Clone, Debug)]
pub(super) enum SettingsValue {
    Text(String),
    List(Vec<String>),
    Block(Vec<SettingsItem>),
}

pub(super) type ResultWithLine<T> = Result<T, (usize, String)>;

impl SettingsItem {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Value(name, _, _) | Self::Labelled(name, _, _, _) | Self::Block(name, _, _) => {
                name
            }
        }
    }

    pub(super) fn line(&self) -> usize {
        match self {
            Self::Value(_, _, line) | Self::Labelled(_, _, _, line) | Self::Block(_, _, line) => {
                *line
            }
        }
    }

    /// Returns the value of a string argument.
    pub(super) fn into_text(self) -> ResultWithLine<String> {
        match self {
            Self::Value(_, SettingsValue::Text(text), _) => Ok(text),
            other => other.error("must be a string"),
        }
    }

    /// Returns the value of a Boolean argument.
    pub(super) fn into_bool(self) -> ResultWithLine<bool> {
        match &self {
            Self::Value(_, SettingsValue::Text(text), _) if text == "true" => Ok(true),
            Self::Value(_, SettingsValue::Text(text), _) if text == "false" => Ok(false),
            _ => self.error("must be true or false"),
        }
    }

    /// Returns the value of an argument that is a list of strings.
    pub(super) fn into_list(self) -> ResultWithLine<Vec<String>> {
        match self {
            Self::Value(_, SettingsValue::List(list), _) => Ok(list),
            other => other.error("must be a list of strings"),
        }
    }

    /// Returns the content of a block without a label.
    pub(super) fn into_block(self) -> ResultWithLine<Vec<Self>> {
        match self {
            Self::Block(_, items, _) => Ok(items),
            Self::Labelled(..) => self.error("does not support a label"),
            Self::Value(..) => self.error("must be a block"),
        }
    }

    /// Returns the labels and contents of labelled blocks. The label can also be the name of an inner
    /// block, as in JSON.
    pub(super) fn into_labelled(
        self,
        label_kind: &str,
    ) -> ResultWithLine<Vec<(String, Vec<Self>)>> {
        let items = match self {
            Self::Labelled(_, label, items, _) => return Ok(vec![(label, items)]),
            Self::Block(_, items, _) | Self::Value(_, SettingsValue::Block(items), _) => items,
            Self::Value(..) => return self.error("must be a block"),
        };
        let labelled = items.into_iter().map(|item| match item {
            Self::Block(label, items, _) | Self::Value(label, SettingsValue::Block(items), _) => {
                Ok((label, items))
            }
            other => {
                Err((other.line(), format!("a {label_kind} is missing before {:?}", other.name())))
            }
        });
        labelled.collect()
    }

    fn error<T>(&self, problem: &str) -> ResultWithLine<T> {
        Err((self.line(), format!("{} {problem}", self.name())))
    }
}

/// Parses a file, which may also be in JSON syntax.
pub(super) fn parse_items(text: &str) -> ResultWithLine<Vec<SettingsItem>> {
    // Some editors begin a file with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('{') {
        return json::parse_items(text);
    }
    SettingsReader { rest: text, line: 1 }.read_items(0)
}

/// Maximum nesting depth of blocks.
const MAX_BLOCK_DEPTH: usize = 16;

struct SettingsReader<'t> {
    rest: &'t str,
    line: usize,
}

impl SettingsReader<'_> {
    fn skip_space_and_comments(&mut self) {
        loop {
            let trimmed = self.rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            self.advance(self.rest.len() - trimmed.len());
            let comment = self.rest.starts_with('#') || self.rest.starts_with("//");
            if comment {
                self.advance(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("/*") {
                self.advance(self.rest.find("*/").map_or(self.rest.len(), |end| end + 2));
            } else {
                return;
            }
        }
    }

    fn advance(&mut self, n: usize) {
        let (skipped, rest) = self.rest.split_at(n);
        self.line += skipped.matches('\n').count();
        self.rest = rest;
    }

    fn take_token(&mut self, token: char) -> bool {
        self.skip_space_and_comments();
        let is_present = self.rest.starts_with(token);
        if is_present {
            self.advance(token.len_utf8());
        }
        is_present
    }

    fn error_here<T>(&self, reason: &str) -> ResultWithLine<T> {
        Err((self.line, reason.to_owned()))
    }

    /// Reads a word or a quoted string.
    fn read_word(&mut self) -> ResultWithLine<String> {
        self.skip_space_and_comments();
        if let Some(quoted) = self.rest.strip_prefix('"') {
            let mut text = String::new();
            let mut characters = quoted.char_indices().peekable();
            // Quotes within `${…}` are part of the string.
            let mut depth = 0_usize;
            while let Some((index, character)) = characters.next() {
                match character {
                    '$' if characters.peek().is_some_and(|(_, next)| *next == '{') => {
                        characters.next();
                        text.push_str("${");
                        depth += 1;
                    }
                    '{' if depth > 0 => {
                        text.push('{');
                        depth += 1;
                    }
                    '}' if depth > 0 => {
                        text.push('}');
                        depth -= 1;
                    }
                    '"' if depth == 0 => {
                        self.advance(index + 2);
                        return Ok(text);
                    }
                    '\\' => {
                        let rest = &mut characters.by_ref().map(|(_, character)| character);
                        text.extend(read_escape(rest));
                    }
                    '\n' => break,
                    other => text.push(other),
                }
            }
            return self.error_here("quoted string does not end");
        }
        let end = self
            .rest
            .find(|c: char| c.is_whitespace() || "={}[]\",#".contains(c))
            .unwrap_or(self.rest.len());
        if end == 0 {
            return self.error_here("expected a name or a quoted string");
        }
        let word = self.rest[..end].to_owned();
        self.advance(end);
        Ok(word)
    }

    /// Reads items up to the closing brace, or to the end of the file.
    fn read_items(&mut self, depth: usize) -> ResultWithLine<Vec<SettingsItem>> {
        if depth > MAX_BLOCK_DEPTH {
            return self.error_here("blocks are nested too deep");
        }
        let mut items = Vec::new();
        loop {
            self.skip_space_and_comments();
            if self.rest.is_empty() {
                return if depth == 0 {
                    Ok(items)
                } else {
                    self.error_here("a block does not end")
                };
            }
            if depth > 0 && self.take_token('}') {
                return Ok(items);
            }
            let line = self.line;
            let name = self.read_word()?;
            if self.take_token('=') {
                items.push(SettingsItem::Value(name, self.read_value(depth)?, line));
                continue;
            }
            let mut label = None;
            while !self.take_token('{') {
                // No supported block has more than one label.
                label = Some(self.read_word()?);
            }
            let inner = self.read_items(depth + 1)?;
            items.push(match label {
                Some(label) => SettingsItem::Labelled(name, label, inner, line),
                None => SettingsItem::Block(name, inner, line),
            });
        }
    }

    /// Reads a heredoc, up to the line with the word after `<<`. With `<<-`, the indentation of the last line
    /// is removed from all lines.
    fn read_heredoc(&mut self) -> ResultWithLine<String> {
        let (opening, _) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        let word = opening.trim_start_matches('<').trim();
        let (is_indented, word) = match word.strip_prefix('-') {
            Some(word) => (true, word),
            None => (false, word),
        };
        let (opening_len, word) = (opening.len(), word.to_owned());
        let mut text = String::new();
        let mut length = opening_len + 1;
        for line in self.rest.get(length..).unwrap_or_default().split_inclusive('\n') {
            length += line.len();
            if line.trim() != word {
                text.push_str(line);
                continue;
            }
            let indent = &line[..line.len() - line.trim_start().len()];
            if is_indented {
                let lines = text.split_inclusive('\n');
                text = lines.map(|line| line.strip_prefix(indent).unwrap_or(line)).collect();
            }
            self.advance(length);
            return Ok(text);
        }
        self.error_here("a heredoc after << does not end")
    }

    fn read_value(&mut self, depth: usize) -> ResultWithLine<SettingsValue> {
        self.skip_space_and_comments();
        if self.rest.starts_with("<<") {
            return self.read_heredoc().map(SettingsValue::Text);
        }
        if self.take_token('[') {
            let mut list = Vec::new();
            while !self.take_token(']') {
                list.push(self.read_word()?);
            }
            return Ok(SettingsValue::List(list));
        }
        if self.take_token('{') {
            return Ok(SettingsValue::Block(self.read_items(depth + 1)?));
        }
        self.read_word().map(SettingsValue::Text)
    }
}

/// Reads the escape sequence after a backslash.
fn read_escape(characters: &mut dyn Iterator<Item = char>) -> Option<char> {
    let n_digits = match characters.next()? {
        'n' => return Some('\n'),
        'r' => return Some('\r'),
        't' => return Some('\t'),
        'u' => 4,
        'U' => 8,
        other => return Some(other),
    };
    let digits: String = characters.take(n_digits).collect();
    u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32)
}
