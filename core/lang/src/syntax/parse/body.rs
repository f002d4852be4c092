//! Bodies: arguments and blocks.

use std::borrow::Cow;
use std::collections::HashMap;
use std::mem::take;

use formwork_value::{Diagnostic, Reported, Span, Str};

use super::{Parsed, Parser, PendingItems};
use crate::messages;
use crate::syntax::lex::TokenKind;
use crate::syntax::{Attribute, Block, Body, Expr, ExprKind, Ident};

/// The items of a body while it is parsed, from their start in the shared buffers.
struct BodyItems {
    first_attribute: usize,
    first_block: usize,
    /// Positions of the arguments, if they are too numerous for a linear search.
    index: HashMap<Str, usize>,
}

/// Up to this number, a linear search is faster than a table.
const MAX_LINEARLY_SEARCHED_ITEMS: usize = 8;

impl BodyItems {
    /// Returns the previously parsed argument with this name.
    fn find_attribute<'u>(
        &mut self,
        unfinished: &'u PendingItems,
        name: &Str,
    ) -> Option<&'u Attribute> {
        let attributes = &unfinished.attributes[self.first_attribute..];
        if attributes.len() <= MAX_LINEARLY_SEARCHED_ITEMS {
            return attributes.iter().find(|attr| attr.name.name == *name);
        }
        // The arguments parsed since the last lookup are added to the table, so each is added once.
        for (at, attr) in attributes.iter().enumerate().skip(self.index.len()) {
            self.index.insert(attr.name.name.clone(), at);
        }
        self.index.get(name).map(|at| &attributes[*at])
    }
}

impl Parser<'_> {
    /// Parses a body up to the brace that closes it, or a whole file if there is no opening brace.
    pub(super) fn parse_body(&mut self, open: Option<Span>) -> Body {
        self.parse_rest_of_body(open, self.n_errors)
    }

    /// Parses a body, or the rest of one. `n_errors` is the number of errors before it.
    fn parse_rest_of_body(&mut self, open: Option<Span>, n_errors: usize) -> Body {
        let mut items = BodyItems {
            first_attribute: self.unfinished.attributes.len(),
            first_block: self.unfinished.blocks.len(),
            index: HashMap::new(),
        };
        let start = open.map_or_else(|| self.byte_range_span(0, 0), Span::empty_span_after);
        let close = loop {
            if open.is_none() {
                // The parser does not return to a parsed item. Only the last token may be requested
                // again.
                self.tokens.release_before(self.at.saturating_sub(1));
            }
            let token = self.peek_token();
            match token.kind {
                TokenKind::Newline => {
                    self.take_token();
                }
                TokenKind::CloseBrace if open.is_some() => {
                    let close = self.take_token();
                    break self.token_span(close);
                }
                TokenKind::EndOfText => {
                    // After an error inside the block, or in a string, the brace may have been skipped.
                    if n_errors == self.n_errors && self.rejected.is_none() {
                        self.report_unclosed_block(open);
                    }
                    break self.token_span(token);
                }
                TokenKind::Ident => self.parse_body_item(&mut items),
                _ => self.report_no_item_start(),
            }
        };
        let span = Span { end: close.start.max(start.start), ..start };
        let unfinished = &mut self.unfinished;
        let (attributes, blocks) = if open.is_none() {
            // A file has no enclosing braces.
            (take(&mut unfinished.attributes), take(&mut unfinished.blocks))
        } else {
            let attributes = unfinished.attributes.drain(items.first_attribute..).collect();
            (attributes, unfinished.blocks.drain(items.first_block..).collect())
        };
        Body { attributes, blocks, ..Body::empty(span, open.unwrap_or(start)) }
    }

    fn report_unclosed_block(&mut self, open: Option<Span>) {
        if let Some(open) = open
            && !std::mem::replace(&mut self.unclosed, true)
        {
            let _ = self.report_error(
                messages::UNCLOSED_CONFIGURATION_BLOCK,
                "The file ends before the brace that closes this block. A closing brace may be missing in a block inside it.",
                open,
            );
        }
    }

    fn report_no_item_start(&mut self) {
        let kind = self.peek();
        let (summary, detail) = match kind {
            TokenKind::OpenQuote => {
                (messages::INVALID_ARGUMENT_NAME, "Argument names must not be quoted.")
            }
            TokenKind::CloseBrace => (
                messages::ARGUMENT_OR_BLOCK_DEFINITION_REQUIRED,
                "This brace does not close a block. There may be an extra closing brace before it.",
            ),
            _ => (
                messages::ARGUMENT_OR_BLOCK_DEFINITION_REQUIRED,
                "An argument (name = value) or a block (name { ... }) is expected here.",
            ),
        };
        let _ = self.report_unexpected(summary, detail);
        // `skip_item` stops before a brace, so this one would be reported without end.
        if kind == TokenKind::CloseBrace {
            self.take_token();
        }
        self.skip_item(self.at);
    }

    /// Parses an argument or block. The next token is a name.
    fn parse_body_item(&mut self, items: &mut BodyItems) {
        let from = self.at;
        let token = self.take_token();
        let name = self.parse_ident(token);
        match self.peek() {
            TokenKind::Equals => {
                let attr = self.parse_argument(name);
                self.add_attribute(items, attr);
            }
            TokenKind::OpenQuote | TokenKind::OpenBrace | TokenKind::Ident => {
                match self.with_deeper_level(|parser| parser.parse_block(name)) {
                    Ok(block) => self.unfinished.blocks.push(block),
                    Err(_) => self.skip_item(from),
                }
            }
            _ => {
                let _ = self.report_incomplete_item(&name);
                self.skip_item(from);
            }
        }
    }

    fn report_incomplete_item(&mut self, name: &Ident) -> Reported {
        let detail = "An argument or block definition is required here. To set an argument, use the equals sign \"=\" to introduce the argument value.";
        self.report_error(messages::ARGUMENT_OR_BLOCK_DEFINITION_REQUIRED, detail, name.span)
    }

    fn add_attribute(&mut self, items: &mut BodyItems, attr: Attribute) {
        let Some(first) = items.find_attribute(&self.unfinished, &attr.name.name) else {
            return self.unfinished.attributes.push(attr);
        };
        let first = first.name.span;
        let detail = format!(
            "The argument {:?} was already set{}. Each argument may be set only once.",
            attr.name.name,
            self.format_span_location(first)
        );
        let _ = self.report_error(messages::ATTRIBUTE_REDEFINED, detail, attr.name.span);
    }

    /// Formats a span for messages, if the sources are available: ` at main.tf:3,1-11`.
    fn format_span_location(&self, span: Span) -> String {
        let Some(sources) = self.input.sources else { return String::new() };
        let (start, end) = (sources.start_position(span), sources.end_position(span));
        let name = sources.name(span.source);
        format!(" at {name}:{},{}-{}", start.line, start.column, end.column)
    }

    /// Parses the rest of an argument and its line. The next token is the equals sign.
    fn parse_argument(&mut self, name: Ident) -> Attribute {
        let from = self.at;
        let result = self.parse_assignment(&name).and_then(|attr| {
            self.expect_line_end(attr.name.span, "argument")?;
            Ok(attr)
        });
        result.unwrap_or_else(|_| {
            self.skip_item(from);
            let span = name.span;
            // The name is kept. Otherwise the same argument would also be reported as missing.
            Attribute { name, expr: Expr { kind: ExprKind::Invalid, span }, span }
        })
    }

    fn parse_assignment(&mut self, name: &Ident) -> Parsed<Attribute> {
        self.take_token();
        let expr = self.parse_expression()?.expr;
        let span = name.span.to(expr.span);
        Ok(Attribute { name: name.clone(), expr, span })
    }

    /// Takes the line end after an item of a body.
    fn expect_line_end(&mut self, item: Span, construct: &str) -> Parsed<()> {
        match self.peek() {
            TokenKind::Newline => {
                self.take_token();
                Ok(())
            }
            TokenKind::EndOfText => Ok(()),
            TokenKind::Comma if construct == "argument" => {
                let comma = self.next_span();
                Err(self.report_diagnostic(
                    Diagnostic::error(
                        messages::UNEXPECTED_COMMA_AFTER_ARGUMENT,
                        "Separate arguments with line ends, not with commas.",
                    )
                    .at(comma)
                    .with_source_context(item.to(comma)),
                ))
            }
            _ => {
                let summary = messages::MISSING_NEWLINE.with(&[&construct]);
                let detail = if construct == "argument" {
                    "An argument definition must end with a newline."
                } else {
                    "A block definition must end with a newline."
                };
                Err(self.report_unexpected(summary, detail))
            }
        }
    }

    /// Parses the rest of a block, after its type.
    fn parse_block(&mut self, kind: Ident) -> Parsed<Block> {
        let (labels, open) = self.collect_list(
            |unfinished| &mut unfinished.labels,
            |parser| parser.parse_labels(&kind),
        )?;
        let header = labels.last().map_or(kind.span, |label| kind.span.to(label.span));
        let (from, n_errors) = (self.at, self.n_errors);
        let body = match self.peek() {
            // In HCL's grammar, any token after the brace on its line makes this a single-line block.
            TokenKind::Newline | TokenKind::EndOfText | TokenKind::CloseBrace => {
                self.parse_body(Some(open))
            }
            _ => self.parse_one_line_body(open).unwrap_or_else(|_| {
                self.skip_item(from);
                // The block was probably meant to have several lines, so its other items are also
                // parsed.
                self.parse_rest_of_body(Some(open), n_errors)
            }),
        };
        let span = kind.span.to(self.previous_span());
        // The rest of the line is invalid, but the block itself is kept.
        if self.expect_line_end(span, "block definition").is_err() {
            self.skip_item(self.at);
        }
        Ok(Block { kind, labels, body, header, brace: open, span })
    }

    /// Parses labels and the opening brace, which is returned.
    fn parse_labels(&mut self, kind: &Ident) -> Parsed<Span> {
        loop {
            let token = self.peek_token();
            let detail = match token.kind {
                TokenKind::OpenBrace => {
                    let open = self.take_token();
                    return Ok(self.token_span(open));
                }
                TokenKind::OpenQuote => {
                    let label = self.parse_quoted_label()?;
                    self.unfinished.labels.push(label);
                    continue;
                }
                TokenKind::Ident => {
                    let token = self.take_token();
                    let label = self.parse_ident(token);
                    self.unfinished.labels.push(label);
                    continue;
                }
                TokenKind::Equals => {
                    "An equals sign sets an argument, which has no labels; the content of a block follows its labels in braces, without an equals sign."
                }
                TokenKind::Newline => {
                    "The opening brace of a block must be on the line of its type and labels."
                }
                _ => "A label, in quotes, or the opening brace of the block is expected here.",
            };
            let known = self.rejected.filter(|_| token.kind == TokenKind::Invalid);
            let here = self.token_span(token);
            let reported = known.unwrap_or_else(|| {
                self.report_diagnostic(
                    Diagnostic::error(messages::INVALID_BLOCK_DEFINITION, detail)
                        .at(here)
                        .with_source_context(kind.span.to(here)),
                )
            });
            // A brace on the next line still opens the block.
            if token.kind == TokenKind::Newline {
                let at = self.at;
                match self
                    .with_newline_significance(false, |parser| parser.take_if(TokenKind::OpenBrace))
                {
                    Some(open) => return Ok(self.token_span(open)),
                    None => self.at = at,
                }
            }
            return Err(reported);
        }
    }

    /// Parses the body of a single-line block: one argument.
    fn parse_one_line_body(&mut self, open: Span) -> Parsed<Body> {
        let token = self.peek_token();
        if token.kind != TokenKind::Ident {
            return Err(self.report_unexpected(
                messages::ARGUMENT_OR_BLOCK_DEFINITION_REQUIRED,
                "An argument (name = value) is expected here.",
            ));
        }
        self.take_token();
        let name = self.parse_ident(token);
        match self.peek() {
            TokenKind::Equals => {}
            TokenKind::OpenQuote | TokenKind::OpenBrace | TokenKind::Ident => {
                let detail = format!(
                    "A single-line block definition can contain only a single argument. If you meant to define argument {:?}, use an equals sign to assign it a value. To define a nested block, place it on a line of its own within its parent block.",
                    name.name
                );
                let next = self.peek_token();
                let span = Span { end: self.token_span(next).end, ..name.span };
                return Err(self.report_error(
                    messages::ARGUMENT_DEFINITION_REQUIRED,
                    detail,
                    span,
                ));
            }
            _ => return Err(self.report_incomplete_item(&name)),
        }
        let attr = self.parse_assignment(&name)?;
        let close = self.expect_one_line_body_end(open)?;
        let start = open.empty_span_after();
        let span = Span { end: close.start.max(start.start), ..start };
        // As in Terraform, the missing item is reported at the start of the only one.
        let missing = Span { end: attr.name.span.start + 1, ..attr.name.span };
        Ok(Body { attributes: vec![attr], ..Body::empty(span, missing) })
    }

    /// Takes the closing brace after the only argument of a single-line block.
    fn expect_one_line_body_end(&mut self, open: Span) -> Parsed<Span> {
        let detail = match self.peek() {
            TokenKind::CloseBrace => {
                let close = self.take_token();
                return Ok(self.token_span(close));
            }
            TokenKind::Comma => {
                "A block on one line can contain only one argument. Write each of several arguments on its own line, without commas."
            }
            TokenKind::Newline => {
                "An argument definition on the same line as its containing block creates a single-line block definition, which must also be closed on the same line. Place the block's closing brace immediately after the argument definition."
            }
            TokenKind::EndOfText => {
                self.report_unclosed_block(Some(open));
                return Err(self.report_unexpected(messages::UNCLOSED_CONFIGURATION_BLOCK, ""));
            }
            _ => {
                "A block on one line can contain only one argument, and must be closed immediately after it."
            }
        };
        Err(self.report_unexpected(messages::INVALID_SINGLE_ARGUMENT_BLOCK_DEFINITION, detail))
    }

    /// Parses a quoted label, which may contain escapes but no interpolations.
    fn parse_quoted_label(&mut self) -> Parsed<Ident> {
        let open = self.take_token();
        let mut name = Cow::Borrowed("");
        let mut wrong = None;
        loop {
            let token = self.take_token();
            match token.kind {
                TokenKind::CloseQuote => {
                    let span = self.token_span(open).to(self.token_span(token));
                    return wrong.map_or(Ok(Ident { name: self.names.intern(&name), span }), Err);
                }
                TokenKind::QuotedText => match self.unescape_token(token) {
                    Ok(text) => name += text,
                    Err(reported) => wrong = Some(reported),
                },
                TokenKind::OpenInterpolation | TokenKind::OpenDirective => {
                    let sign = &self.token_text(token)[..1];
                    let detail = format!(
                        "Labels must be literal, so a template sequence is invalid here. For a literal {sign}{{ write {sign}{sign}{{."
                    );
                    wrong = Some(self.report_error(
                        messages::INVALID_STRING_LITERAL,
                        detail,
                        self.token_span(token),
                    ));
                    self.skip_sequence();
                }
                TokenKind::EndOfText => {
                    return Err(self.report_error(
                        messages::UNTERMINATED_STRING_LITERAL,
                        "The file ends before the quote that closes this string.",
                        self.token_span(open),
                    ));
                }
                _ => {
                    return Err(self.report_unexpected_token(
                        token,
                        messages::INVALID_STRING_LITERAL,
                        "This is not allowed in a string.",
                    ));
                }
            }
        }
    }
}
