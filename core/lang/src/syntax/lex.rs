//! Lexer. Comments are tokens and spaces are the gaps between tokens, so that the source can be rebuilt.
//! The lexer reports no errors: the parser reports invalid tokens.

mod heredoc;
mod quoted;

use std::ops::Range;

use unicode_ident::{is_xid_continue, is_xid_start};

/// Kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A name.
    Ident,
    /// A number, without sign.
    Number,
    /// `"` that opens a quoted template.
    OpenQuote,
    /// `"` that closes it.
    CloseQuote,
    /// Text in a quoted template, with its escapes.
    QuotedText,
    /// An invalid line end inside a quoted template. It is empty if the lexer treats the string as
    /// closed, because the line end is then a separate token.
    QuotedNewline,
    /// `<<NAME` or `<<-NAME` with its line end.
    OpenHeredoc,
    /// The closing name with the spaces around it.
    CloseHeredoc,
    /// Text in a heredoc or a template file, at most one line.
    Text,
    /// `${` or `${~`.
    OpenInterpolation,
    /// `%{` or `%{~`.
    OpenDirective,
    /// `}` or `~}` that closes one of them.
    CloseSequence,
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// `[`
    OpenBracket,
    /// `]`
    CloseBracket,
    /// `(`
    OpenParen,
    /// `)`
    CloseParen,
    /// A line end.
    Newline,
    /// A comment. The line end after a line comment is a separate token.
    Comment,
    /// `=`
    Equals,
    /// `:`
    Colon,
    /// `::`
    DoubleColon,
    /// `,`
    Comma,
    /// `.`
    Dot,
    /// `...`
    Ellipsis,
    /// `?`
    Question,
    /// `=>`
    FatArrow,
    /// `!`
    Bang,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Star,
    /// `/`
    Slash,
    /// `%`
    Percent,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `&&`
    And,
    /// `||`
    Or,
    /// A character that is not used in the language: `&`, `|`, `^`, `~`, `**`, `'`, `` ` ``, `;` and
    /// every other character.
    Invalid,
    /// The end of the text.
    EndOfText,
}

/// A piece of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Kind of the token.
    pub kind: TokenKind,
    /// Byte offset of its first byte.
    pub start: u32,
    /// Byte offset after its last byte.
    pub end: u32,
}

/// The construct that encloses the current position.
#[derive(Debug)]
enum LexMode {
    /// Code. `braces` counts the open braces within the mode. In a template sequence, an unmatched
    /// closing brace closes the sequence.
    Code { braces: u32, in_sequence: bool },
    /// A quoted template.
    Quoted,
    /// A heredoc with its closing name.
    Heredoc { name: Range<usize>, line_start: bool },
    /// A template file.
    Bare,
}

/// Splits configuration text into tokens. The last token is always [`TokenKind::EndOfText`].
#[must_use]
pub fn lex(text: &str) -> Vec<Token> {
    TokenStream::of_file(text).into_all()
}

/// Splits a template file into tokens. The last token is always [`TokenKind::EndOfText`].
#[must_use]
pub fn lex_template(text: &str) -> Vec<Token> {
    TokenStream::of_template(text).into_all()
}

/// Returns whether a string is exactly one name token.
#[must_use]
pub fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    let starts = chars.next().is_some_and(|first| first == '_' || is_xid_start(first));
    starts && chars.all(|char| char == '-' || is_xid_continue(char))
}

/// The ASCII bytes of names. Most bytes of a file are checked here, and a table is the fastest way.
const IS_NAME_BYTE: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'_' | b'-');
        byte += 1;
    }
    table
};

/// Number of tokens per batch.
const TOKENS_PER_BATCH: usize = 512;

/// The tokens of a source text, created on demand, because all tokens of a large file would take more
/// memory than its text. Their indices count from the start of the text.
pub(super) struct TokenStream<'t> {
    lexer: Lexer<'t>,
    /// Number of tokens created and released.
    n_released: usize,
}

impl<'t> TokenStream<'t> {
    /// Creates the token stream of configuration text.
    pub(super) fn of_file(text: &'t str) -> Self {
        Self::new(text, LexMode::Code { braces: 0, in_sequence: false })
    }

    /// Creates the token stream of a template file.
    pub(super) fn of_template(text: &'t str) -> Self {
        Self::new(text, LexMode::Bare)
    }

    fn new(text: &'t str, mode: LexMode) -> Self {
        // A byte order mark is allowed at the very start and is ignored.
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let (bytes, tokens) =
            (text.as_bytes(), Vec::with_capacity(TOKENS_PER_BATCH.min(text.len() + 1)));
        let lexer = Lexer { text, bytes, at, tokens, modes: vec![mode], comment_ends: true };
        Self { lexer, n_released: 0 }
    }

    /// Returns a token, if it exists and was not released.
    #[inline]
    pub(super) fn get(&self, at: usize) -> Option<Token> {
        self.lexer.tokens.get(at.wrapping_sub(self.n_released)).copied()
    }

    /// Creates the next batch of tokens and returns it. It is empty after the end.
    pub(super) fn lex_more(&mut self) -> Range<usize> {
        let lexer = &mut self.lexer;
        let n_kept = lexer.tokens.len();
        if lexer.tokens.last().is_none_or(|token| token.kind != TokenKind::EndOfText) {
            lexer.lex_tokens(n_kept + TOKENS_PER_BATCH);
        }
        self.n_released + n_kept..self.n_released + lexer.tokens.len()
    }

    /// Returns the tokens that are invalid in any position.
    pub(super) fn invalid_tokens(&self, tokens: Range<usize>) -> Vec<Token> {
        let range = tokens.start - self.n_released..tokens.end - self.n_released;
        let tokens = self.lexer.tokens.get(range).unwrap_or_default();
        let is_wrong =
            |token: &&Token| matches!(token.kind, TokenKind::Invalid | TokenKind::QuotedNewline);
        tokens.iter().filter(is_wrong).copied().collect()
    }

    /// Releases the tokens before an index, if they are numerous enough.
    pub(super) fn release_before(&mut self, before: usize) {
        let n_spent = before.saturating_sub(self.n_released);
        if n_spent >= TOKENS_PER_BATCH / 2 {
            self.lexer.tokens.drain(..n_spent);
            self.n_released += n_spent;
        }
    }

    fn into_all(mut self) -> Vec<Token> {
        self.lexer.lex_tokens(usize::MAX);
        self.lexer.tokens
    }
}

struct Lexer<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    tokens: Vec<Token>,
    modes: Vec<LexMode>,
    /// Whether a `*/` may still follow. Repeated searches for it would be quadratic.
    comment_ends: bool,
}

impl Lexer<'_> {
    /// Creates tokens up to a number, or to the end of the text.
    fn lex_tokens(&mut self, n_tokens: usize) {
        while self.at < self.bytes.len() {
            if self.tokens.len() >= n_tokens {
                return;
            }
            match self.modes.last() {
                Some(LexMode::Quoted) => self.lex_quoted(),
                Some(LexMode::Heredoc { .. }) => self.lex_heredoc(),
                Some(LexMode::Bare) => self.lex_bare_template(),
                Some(LexMode::Code { .. }) | None => {
                    self.skip_while(|byte| matches!(byte, b' ' | b'\t'));
                    if self.at < self.bytes.len() {
                        self.lex_code();
                    }
                }
            }
        }
        self.push_token(TokenKind::EndOfText, self.at);
    }

    /// Adds a token from `start` to the current position.
    fn push_token(&mut self, kind: TokenKind, start: usize) {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.tokens.push(Token { kind, start: offset(start), end: offset(self.at) });
    }

    /// Adds a token of `length` bytes from the current position.
    fn push_token_of_length(&mut self, kind: TokenKind, length: usize) {
        let start = self.at;
        self.at += length;
        self.push_token(kind, start);
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Takes one token in code.
    fn lex_code(&mut self) {
        match self.peek(0) {
            b'\n' => self.push_token_of_length(TokenKind::Newline, 1),
            b'\r' if self.peek(1) == b'\n' => self.push_token_of_length(TokenKind::Newline, 2),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.lex_ident(),
            b'0'..=b'9' => self.lex_number(),
            b'#' => self.lex_line_comment(),
            b'/' if self.peek(1) == b'/' => self.lex_line_comment(),
            b'/' if self.peek(1) == b'*' => self.lex_block_comment(),
            b'"' => {
                self.push_token_of_length(TokenKind::OpenQuote, 1);
                self.modes.push(LexMode::Quoted);
            }
            b'{' => {
                if let Some(LexMode::Code { braces, .. }) = self.modes.last_mut() {
                    *braces += 1;
                }
                self.push_token_of_length(TokenKind::OpenBrace, 1);
            }
            b'}' => self.lex_close_brace(),
            b'~' if self.peek(1) == b'}' && self.closes_sequence() => {
                self.modes.pop();
                self.push_token_of_length(TokenKind::CloseSequence, 2);
            }
            b'<' if self.peek(1) == b'<' && self.lex_heredoc_opening() => {}
            b'\x80'.. => self.lex_non_ascii(),
            _ => self.lex_operator(),
        }
    }

    /// Skips to the first byte that does not satisfy a predicate.
    fn skip_while(&mut self, holds: impl Fn(u8) -> bool) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|byte| !holds(*byte)).unwrap_or(rest.len());
    }

    fn closes_sequence(&self) -> bool {
        matches!(self.modes.last(), Some(LexMode::Code { braces: 0, in_sequence: true }))
    }

    fn lex_close_brace(&mut self) {
        if self.closes_sequence() {
            self.modes.pop();
            return self.push_token_of_length(TokenKind::CloseSequence, 1);
        }
        if let Some(LexMode::Code { braces, .. }) = self.modes.last_mut() {
            *braces = braces.saturating_sub(1);
        }
        self.push_token_of_length(TokenKind::CloseBrace, 1);
    }

    fn lex_operator(&mut self) {
        use TokenKind as T;
        let (kind, length) = match (self.peek(0), self.peek(1), self.peek(2)) {
            // The longer operators come first, because each has a shorter one as prefix.
            (b'.', b'.', b'.') => (T::Ellipsis, 3),
            (b'=', b'=', _) => (T::Equal, 2),
            (b'=', b'>', _) => (T::FatArrow, 2),
            (b'!', b'=', _) => (T::NotEqual, 2),
            (b'<', b'=', _) => (T::LessOrEqual, 2),
            (b'>', b'=', _) => (T::GreaterOrEqual, 2),
            (b'&', b'&', _) => (T::And, 2),
            (b'|', b'|', _) => (T::Or, 2),
            (b':', b':', _) => (T::DoubleColon, 2),
            (b'*', b'*', _) => (T::Invalid, 2),
            (b'=', ..) => (T::Equals, 1),
            (b':', ..) => (T::Colon, 1),
            (b',', ..) => (T::Comma, 1),
            (b'.', ..) => (T::Dot, 1),
            (b'?', ..) => (T::Question, 1),
            (b'!', ..) => (T::Bang, 1),
            (b'+', ..) => (T::Plus, 1),
            (b'-', ..) => (T::Minus, 1),
            (b'*', ..) => (T::Star, 1),
            (b'/', ..) => (T::Slash, 1),
            (b'%', ..) => (T::Percent, 1),
            (b'<', ..) => (T::Less, 1),
            (b'>', ..) => (T::Greater, 1),
            (b'[', ..) => (T::OpenBracket, 1),
            (b']', ..) => (T::CloseBracket, 1),
            (b'(', ..) => (T::OpenParen, 1),
            (b')', ..) => (T::CloseParen, 1),
            _ => (T::Invalid, 1),
        };
        self.push_token_of_length(kind, length);
    }

    /// A name follows Unicode's rules for identifiers (UAX 31), with `_` anywhere and `-` inside.
    fn lex_ident(&mut self) {
        let start = self.at;
        loop {
            self.skip_while(|byte| IS_NAME_BYTE[byte as usize]);
            if self.peek(0).is_ascii() {
                break;
            }
            match self.current_char() {
                Some(char) if is_xid_continue(char) => self.at += char.len_utf8(),
                _ => break,
            }
        }
        self.push_token(TokenKind::Ident, start);
    }

    fn lex_non_ascii(&mut self) {
        match self.current_char() {
            Some(char) if is_xid_start(char) => self.lex_ident(),
            Some(char) => self.push_token_of_length(TokenKind::Invalid, char.len_utf8()),
            None => self.push_token_of_length(TokenKind::Invalid, 1),
        }
    }

    fn current_char(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    /// A sequence of digits, points and exponents that does not end with a point. It may be an invalid
    /// number, but never two numbers: `1.2.3` is refused as a whole.
    fn lex_number(&mut self) {
        let start = self.at;
        let mut end = start;
        loop {
            let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
            match self.peek(0) {
                b'0'..=b'9' => self.at += 1,
                b'.' => {
                    self.at += 1;
                    continue;
                }
                b'e' | b'E' if self.peek(1 + sign).is_ascii_digit() => self.at += 2 + sign,
                _ => break,
            }
            end = self.at;
        }
        self.at = end;
        self.push_token(TokenKind::Number, start);
    }

    fn lex_line_comment(&mut self) {
        let start = self.at;
        let rest = &self.bytes[start..];
        self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        // A carriage return before it belongs to the line end, not to the comment.
        if self.at < self.bytes.len() && self.bytes[self.at - 1] == b'\r' {
            self.at -= 1;
        }
        self.push_token(TokenKind::Comment, start);
    }

    /// An unclosed block comment is two operators, as in Terraform.
    fn lex_block_comment(&mut self) {
        let rest = self.text.get(self.at + 2..).filter(|_| self.comment_ends);
        match rest.and_then(|rest| rest.find("*/")) {
            Some(length) => self.push_token_of_length(TokenKind::Comment, length + 4),
            None => {
                self.comment_ends = false;
                self.push_token_of_length(TokenKind::Slash, 1);
            }
        }
    }

    /// Takes `${` or `%{` with its strip marker and switches to code.
    fn lex_sequence_opening(&mut self) {
        let kind = if self.peek(0) == b'$' {
            TokenKind::OpenInterpolation
        } else {
            TokenKind::OpenDirective
        };
        let length = if self.peek(2) == b'~' { 3 } else { 2 };
        self.push_token_of_length(kind, length);
        self.modes.push(LexMode::Code { braces: 0, in_sequence: true });
    }

    /// Skips text up to the next `${` or `%{` that is not escaped by doubling, or to the first byte that
    /// satisfies `stops`.
    fn skip_text(&mut self, stops: impl Fn(u8) -> bool) {
        loop {
            self.skip_while(|byte| !matches!(byte, b'$' | b'%') && !stops(byte));
            let sign = self.peek(0);
            if !matches!(sign, b'$' | b'%') || self.peek(1) == b'{' {
                return;
            }
            let escaped = self.peek(1) == sign && self.peek(2) == b'{';
            self.at += if escaped { 3 } else { 1 };
        }
    }

    /// Takes a piece of a template file.
    fn lex_bare_template(&mut self) {
        let start = self.at;
        self.skip_text(|byte| byte == b'\n');
        if self.peek(0) == b'\n' {
            self.push_text_to_line_end(start);
        } else if self.at > start {
            self.push_token(TokenKind::Text, start);
        } else {
            self.lex_sequence_opening();
        }
    }

    /// Takes the text from `start` to the line end at the current position, inclusive.
    fn push_text_to_line_end(&mut self, start: usize) {
        let end = self.at + 1;
        // As in Terraform, a line end after a single sign and one space is a separate piece: a strip
        // marker on the next line then removes the line end, but not that space.
        let lone = match &self.bytes[start..self.at] {
            [.., b'$' | b'%', b'\r' | b' ' | b'\t'] => Some(self.at),
            [.., b'$' | b'%', b' ' | b'\t', b'\r'] => Some(self.at - 1),
            _ => None,
        };
        if let Some(lone) = lone {
            self.at = lone;
            self.push_token(TokenKind::Text, start);
        }
        self.at = end;
        self.push_token(TokenKind::Text, lone.unwrap_or(start));
    }
}
