//! Parser from tokens to a tree: the shared cursor of all its parts, and its entry points. After an
//! error it continues at the next item of the body.

use formwork_value::diag::{SourceId, Sources, Summary};
use formwork_value::{Diagnostic, Diagnostics, Reported, Span};

use name_cache::NameCache;

use super::lex::{Token, TokenKind, TokenStream};
use super::{Attribute, Block, Body, Expr, ExprKind, Ident, MAX_DEPTH, ObjectItem};
use crate::messages;
use crate::stack::with_stack;

mod body;
mod collection_and_call;
mod expr;
mod literal;
mod name_cache;
mod recover;
mod template;
mod traversal;

/// Greatest number of errors reported for one source. More would not help.
pub(super) const MAX_REPORTED_ERRORS: usize = 100;

/// Parses a configuration file. Errors are reported, and the valid part is returned: an argument with an
/// invalid expression is present with an [`ExprKind::Invalid`].
#[must_use]
pub fn parse_file(diags: &mut Diagnostics, sources: &Sources, source: SourceId) -> Body {
    let mut parse_diags = Diagnostics::new();
    let body = Parser::of_file(&mut parse_diags, ParserInput::whole_source(sources, source))
        .parse_body(None);
    let _ = append_sorted_diagnostics(diags, parse_diags);
    body
}

/// Parses a string that is one expression, such as the value of a variable on the command line. Line
/// ends are not significant in it.
///
/// # Errors
/// Returns an error if the string is not exactly one expression.
pub fn parse_expression(
    diags: &mut Diagnostics,
    sources: &Sources,
    source: SourceId,
) -> Result<Expr, Reported> {
    let mut parse_diags = Diagnostics::new();
    let tree = Parser::of_file(&mut parse_diags, ParserInput::whole_source(sources, source))
        .parse_whole_expression();
    append_sorted_diagnostics(diags, parse_diags).and(tree).map(|tree| tree.expr)
}

/// Parses a part of a source that is one expression.
pub(super) fn parse_inner_expression(
    diags: &mut Diagnostics,
    input: ParserInput<'_>,
) -> Result<Expr, Reported> {
    let mut parse_diags = Diagnostics::new();
    let tree = Parser::of_file(&mut parse_diags, input).parse_whole_expression();
    append_sorted_diagnostics(diags, parse_diags).and(tree).map(|tree| tree.expr)
}

/// Parses a part of a source that is a template.
pub(super) fn parse_inner_template(
    diags: &mut Diagnostics,
    input: ParserInput<'_>,
) -> Result<Expr, Reported> {
    let mut parse_diags = Diagnostics::new();
    let tree = Parser::of_template(&mut parse_diags, input).parse_whole_template();
    append_sorted_diagnostics(diags, parse_diags).and(tree).map(|tree| tree.expr)
}

/// Parses a template file. A template that is a single interpolation keeps the type of its value:
/// [`ExprKind::Wrap`].
///
/// # Errors
/// Returns an error if a sequence in the template is invalid.
pub fn parse_template(
    diags: &mut Diagnostics,
    sources: &Sources,
    source: SourceId,
) -> Result<Expr, Reported> {
    parse_inner_template(diags, ParserInput::whole_source(sources, source))
}

/// A string to parse, and its position in the source.
#[derive(Clone, Copy)]
pub(super) struct ParserInput<'a> {
    pub(super) text: &'a str,
    pub(super) source: SourceId,
    /// Offset of the text in its source.
    pub(super) base: u32,
    /// The sources, if available. Messages then contain line numbers.
    pub(super) sources: Option<&'a Sources>,
}

impl<'a> ParserInput<'a> {
    fn whole_source(sources: &'a Sources, source: SourceId) -> Self {
        Self { text: sources.source_text(source), source, base: 0, sources: Some(sources) }
    }
}

/// Moves diagnostics in the order of their spans, because tokens are checked before the constructs that
/// they form.
fn append_sorted_diagnostics(diags: &mut Diagnostics, parse_diags: Diagnostics) -> Parsed<()> {
    let mut list: Vec<Diagnostic> = parse_diags.into_iter().collect();
    list.sort_by_key(|diag| diag.subject.map(|span| span.start));
    let mut sorted = Diagnostics::new();
    for diag in list {
        let _ = sorted.error(diag);
    }
    diags.append(sorted)
}

/// An expression and its height in levels of expressions.
struct ExprWithHeight {
    expr: Expr,
    height: usize,
}

type Parsed<T = ExprWithHeight> = Result<T, Reported>;

/// From this length on, moving a list costs more than allocating memory for the next one.
const LONG_LIST_LENGTH: usize = 10_000;

/// Items of unfinished lists, inner lists after outer ones. A list that is allocated at its end has its
/// exact size. A growing list takes up to four times as much memory, which would be most of the cost of
/// parsing large files.
#[derive(Default)]
struct PendingItems {
    exprs: Vec<Expr>,
    items: Vec<ObjectItem>,
    attributes: Vec<Attribute>,
    blocks: Vec<Block>,
    labels: Vec<Ident>,
}

struct Parser<'a> {
    diags: &'a mut Diagnostics,
    input: ParserInput<'a>,
    tokens: TokenStream<'a>,
    names: NameCache,
    unfinished: PendingItems,
    /// Index of the next token, which may be insignificant.
    at: usize,
    /// Whether line ends are significant here. Inside most brackets they are not.
    newlines: bool,
    /// Number of levels of recursion in use.
    depth: usize,
    n_errors: usize,
    /// The receipt of the reported invalid tokens.
    rejected: Option<Reported>,
    /// Whether a missing closing brace was reported. It is reported once.
    unclosed: bool,
    /// Position of the last unexpected token.
    complained: Option<u32>,
}

impl<'a> Parser<'a> {
    fn of_file(diags: &'a mut Diagnostics, input: ParserInput<'a>) -> Self {
        Self::new(diags, input, TokenStream::of_file(input.text))
    }

    fn of_template(diags: &'a mut Diagnostics, input: ParserInput<'a>) -> Self {
        Self::new(diags, input, TokenStream::of_template(input.text))
    }

    fn new(diags: &'a mut Diagnostics, input: ParserInput<'a>, tokens: TokenStream<'a>) -> Self {
        Self {
            diags,
            input,
            tokens,
            names: NameCache::with_capacity_for(input.text),
            unfinished: PendingItems::default(),
            at: 0,
            newlines: true,
            depth: 0,
            n_errors: 0,
            rejected: None,
            unclosed: false,
            complained: None,
        }
    }

    fn parse_whole_expression(&mut self) -> Parsed {
        self.newlines = false;
        let tree = self.parse_expression()?;
        if self.peek() == TokenKind::EndOfText {
            return Ok(tree);
        }
        Err(self.report_unexpected(
            messages::EXTRA_CHARACTERS_AFTER_EXPRESSION,
            "Extra characters after the end of the expression.",
        ))
    }

    fn parse_whole_template(&mut self) -> Parsed {
        let template_span = self.byte_range_span(0, self.input.text.len());
        self.parse_template(TokenKind::EndOfText, template_span, false)
    }

    /// Returns the token at an index. For every index after the end, it is the last token.
    #[inline]
    fn token_at(&mut self, at: usize) -> Token {
        match self.tokens.get(at) {
            Some(token) => token,
            None => self.lex_up_to(at),
        }
    }

    #[cold]
    fn lex_up_to(&mut self, at: usize) -> Token {
        let more = self.tokens.lex_more();
        // The last token is the end of the text, and is returned for every index after it.
        if more.is_empty() {
            return self.token_at(more.end - 1);
        }
        let wrong = self.tokens.invalid_tokens(more);
        self.report_invalid_tokens(&wrong);
        self.token_at(at)
    }

    /// Returns the next significant token.
    #[inline]
    fn peek_token(&mut self) -> Token {
        loop {
            let token = self.token_at(self.at);
            match token.kind {
                TokenKind::Comment => self.at += 1,
                TokenKind::Newline if !self.newlines => self.at += 1,
                _ => return token,
            }
        }
    }

    fn peek(&mut self) -> TokenKind {
        self.peek_token().kind
    }

    /// Takes the next token.
    fn take_token(&mut self) -> Token {
        let token = self.peek_token();
        // The end token is never consumed, so a loop over tokens always terminates at it.
        if token.kind != TokenKind::EndOfText {
            self.at += 1;
        }
        token
    }

    /// Takes the next token if it has this kind.
    fn take_if(&mut self, kind: TokenKind) -> Option<Token> {
        (self.peek() == kind).then(|| self.take_token())
    }

    fn token_span(&self, token: Token) -> Span {
        let base = self.input.base;
        Span { source: self.input.source, start: base + token.start, end: base + token.end }
    }

    /// Returns the span of a byte range of the text.
    fn byte_range_span(&self, start: usize, end: usize) -> Span {
        let base = self.input.base as usize;
        Span::new(self.input.source, base + start, base + end)
    }

    /// Returns the span of the next token.
    fn next_span(&mut self) -> Span {
        let token = self.peek_token();
        self.token_span(token)
    }

    /// Returns the span of the last consumed token.
    fn previous_span(&self) -> Span {
        let token = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        token.map_or_else(|| self.byte_range_span(0, 0), |token| self.token_span(token))
    }

    fn token_text(&self, token: Token) -> &'a str {
        self.input.text.get(token.start as usize..token.end as usize).unwrap_or("")
    }

    fn parse_ident(&mut self, token: Token) -> Ident {
        let name = self.names.intern(self.token_text(token));
        Ident { name, span: self.token_span(token) }
    }

    /// Returns whether the next token is this keyword.
    fn is_at_keyword(&mut self, word: &str) -> bool {
        let token = self.peek_token();
        token.kind == TokenKind::Ident && self.token_text(token) == word
    }

    /// Creates a list of the elements that `read` adds to the shared buffer.
    fn collect_list<T, R>(
        &mut self,
        unfinished: fn(&mut PendingItems) -> &mut Vec<T>,
        read: impl FnOnce(&mut Self) -> Parsed<R>,
    ) -> Parsed<(Vec<T>, R)> {
        let first = unfinished(&mut self.unfinished).len();
        let result = read(self);
        let read = unfinished(&mut self.unfinished);
        // Only the outermost list can take over the buffer: others share it with outer items.
        let list = if first == 0 && read.len() >= LONG_LIST_LENGTH {
            read.shrink_to_fit();
            std::mem::take(read)
        } else {
            read.drain(first..).collect()
        };
        result.map(|result| (list, result))
    }

    fn with_newline_significance<T>(
        &mut self,
        newlines: bool,
        parse: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = std::mem::replace(&mut self.newlines, newlines);
        let result = parse(self);
        self.newlines = outer;
        result
    }

    /// Enters a deeper level of recursion.
    fn with_deeper_level<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let here = self.next_span();
            return Err(self.report_too_deep(here));
        }
        self.depth += 1;
        let result = with_stack(|| parse(self));
        self.depth -= 1;
        result
    }

    /// Creates an expression above operands of which the highest has `below` levels.
    fn make_expr_with_height(&mut self, kind: ExprKind, span: Span, below: usize) -> Parsed {
        // The height is limited apart from the recursion: a chain of steps is parsed in a loop, but
        // is dropped and evaluated recursively.
        if below >= MAX_DEPTH {
            return Err(self.report_too_deep(span));
        }
        Ok(ExprWithHeight { expr: Expr { kind, span }, height: below + 1 })
    }

    fn report_too_deep(&mut self, span: Span) -> Reported {
        self.report_error(
            messages::TOO_MANY_NESTED_LEVELS,
            format!(
                "Brackets, operators and blocks may be nested up to {MAX_DEPTH} levels deep, counting each operator of a chain as a level. Give parts of this a name of their own, for example as local values."
            ),
            span,
        )
    }

    fn report_error(
        &mut self,
        summary: impl Into<Summary>,
        detail: impl Into<String>,
        span: Span,
    ) -> Reported {
        self.report_diagnostic(Diagnostic::error(summary, detail).at(span))
    }

    /// Reports an error. Beyond [`MAX_REPORTED_ERRORS`] errors, it only returns the receipt.
    fn report_diagnostic(&mut self, diagnostic: Diagnostic) -> Reported {
        self.n_errors += 1;
        if self.n_errors > MAX_REPORTED_ERRORS
            && let Err(reported) = self.diags.fail_if_errors()
        {
            return reported;
        }
        self.diags.error(diagnostic)
    }

    /// Reports an error at the next token, unless the token itself is invalid, which was already
    /// reported.
    fn report_unexpected(
        &mut self,
        summary: impl Into<Summary>,
        detail: impl Into<String>,
    ) -> Reported {
        let token = self.peek_token();
        self.report_unexpected_token(token, summary, detail)
    }

    /// Like [`Parser::report_unexpected`], for a construct that begins earlier and is shown with the
    /// token.
    fn report_unexpected_within(
        &mut self,
        summary: impl Into<Summary>,
        detail: &str,
        begun: Span,
    ) -> Reported {
        let before = self.diags.len();
        let reported = self.report_unexpected(summary, detail);
        self.diags.map_from_position(before, |problem| problem.with_source_context(begun));
        reported
    }

    fn report_unexpected_token(
        &mut self,
        token: Token,
        summary: impl Into<Summary>,
        detail: impl Into<String>,
    ) -> Reported {
        let known = matches!(token.kind, TokenKind::Invalid | TokenKind::QuotedNewline);
        if let Some(rejected) = self.rejected.filter(|_| known) {
            return rejected;
        }
        // A second error about one token only repeats the first.
        if self.complained == Some(token.start)
            && let Err(reported) = self.diags.fail_if_errors()
        {
            return reported;
        }
        self.complained = Some(token.start);
        self.report_error(summary, detail, self.token_span(token))
    }
}
