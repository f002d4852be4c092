//! Templates: strings with interpolations and directives. First a flat row of pieces, on which strip
//! markers and heredoc indentation work; then the tree.

mod template_pieces;

use formwork_value::{Reported, Span, Str};

use super::{ExprWithHeight, Parsed, Parser};
use crate::messages;
use crate::syntax::lex::{Token, TokenKind};
use crate::syntax::{ExprKind, Ident, TemplateFor, TemplateIf, TemplatePart};
use template_pieces::{TemplatePiece, join_literals, remove_common_indent};

/// Names of the key and the value in a `for`.
struct ForNames {
    key: Option<Ident>,
    value: Ident,
}

impl<'a> Parser<'a> {
    /// Parses a template up to the token that closes it. `flush` requests the removal of the common
    /// indentation of its lines.
    pub(super) fn parse_template(&mut self, closer: TokenKind, open: Span, flush: bool) -> Parsed {
        if closer == TokenKind::CloseQuote
            && let Some(plain) = self.parse_plain_text(open)
        {
            return plain;
        }
        let mut pieces = self.parse_template_pieces(closer, open)?;
        let span = open.to(self.previous_span());
        if flush {
            remove_common_indent(&mut pieces);
        }
        // The value of a single interpolation is not converted to a string. Text counts here even if a
        // strip marker removed all of it.
        if let [TemplatePiece::Interpolation(_)] = pieces.as_slice()
            && let Some(TemplatePiece::Interpolation(tree)) = pieces.pop()
        {
            let height = tree.height;
            return self.make_expr_with_height(ExprKind::Wrap(Box::new(tree.expr)), span, height);
        }
        // Joined only now, because indentation and strip markers apply to single lines.
        let mut pieces = join_literals(pieces).into_iter();
        let (mut parts, height, end) = self.build_template_parts(&mut pieces)?;
        if let Some(stray) = end {
            return Err(self.report_error(
                messages::UNEXPECTED_DIRECTIVE.with(&[&stray.directive_keyword()]),
                "This directive does not belong to a directive that is open here.",
                stray.span(),
            ));
        }
        let kind = match (parts.pop(), parts.is_empty()) {
            (None, _) => ExprKind::Text(Str::new(""), span),
            (Some(TemplatePart::Literal(text, span)), true) => ExprKind::Text(text, span),
            (Some(last), _) => {
                parts.push(last);
                ExprKind::Template(parts)
            }
        };
        self.make_expr_with_height(kind, span, height)
    }

    /// Fast path for a string that is one piece of text, as most are.
    fn parse_plain_text(&mut self, open: Span) -> Option<Parsed> {
        let text = self.token_at(self.at);
        if text.kind != TokenKind::QuotedText {
            return None;
        }
        let close = self.token_at(self.at + 1);
        if close.kind != TokenKind::CloseQuote {
            return None;
        }
        self.at += 2;
        let span = self.token_span(text);
        Some(self.unescape_token(text).and_then(|text| {
            let kind = ExprKind::Text(self.names.intern(&text), span);
            self.make_expr_with_height(kind, open.to(self.token_span(close)), 0)
        }))
    }

    fn parse_template_pieces(
        &mut self,
        closer: TokenKind,
        open: Span,
    ) -> Parsed<Vec<TemplatePiece<'a>>> {
        let mut pieces: Vec<TemplatePiece<'a>> = Vec::new();
        let mut wrong: Option<Reported> = None;
        // Whether a preceding `~` removes the leading spaces of the next text.
        let mut strip_next = false;
        loop {
            // The closing token may be the end of the text, which is never consumed.
            let token = self.take_token();
            if token.kind == closer {
                return wrong.map_or(Ok(pieces), Err);
            }
            let strip = std::mem::replace(&mut strip_next, false);
            match token.kind {
                TokenKind::QuotedText | TokenKind::Text => match self.unescape_token(token) {
                    Ok(text) => {
                        let mut piece =
                            TemplatePiece::Literal { text, span: self.token_span(token) };
                        if strip {
                            piece.strip_start();
                        }
                        pieces.push(piece);
                    }
                    Err(reported) => wrong = Some(reported),
                },
                TokenKind::OpenInterpolation | TokenKind::OpenDirective => {
                    // The marker affects only the adjacent piece, because HCL's scanner splits text into
                    // lines.
                    if self.token_text(token).ends_with('~')
                        && let Some(before) = pieces.last_mut()
                    {
                        before.strip_end();
                    }
                    let (piece, strips) = self.with_newline_significance(false, |parser| {
                        parser.parse_interpolation_or_directive(token, open, closer)
                    })?;
                    strip_next = strips;
                    match piece {
                        Ok(piece) => pieces.push(piece),
                        Err(reported) => wrong = Some(reported),
                    }
                }
                _ => return Err(self.report_unterminated(token)),
            }
        }
    }

    fn report_unterminated(&mut self, token: Token) -> Reported {
        self.report_unexpected_token(
            token,
            messages::UNTERMINATED_TEMPLATE_STRING,
            "The input ends before this string is closed. A heredoc is closed by its name on a line of its own, followed by a line end.",
        )
    }

    /// Parses the rest of a `${…}` or `%{…}`, and returns whether it ends with a strip marker. After the
    /// inner error, the template can still be parsed.
    fn parse_interpolation_or_directive(
        &mut self,
        open: Token,
        template: Span,
        closer: TokenKind,
    ) -> Parsed<(Parsed<TemplatePiece<'a>>, bool)> {
        let piece = if open.kind == TokenKind::OpenInterpolation {
            let tree = self.parse_expression()?;
            if self.peek() != TokenKind::CloseSequence {
                return Err(self.report_unclosed_interpolation(open, template, closer));
            }
            Ok(TemplatePiece::Interpolation(tree))
        } else {
            let keyword = self.peek_token();
            match self.parse_directive(open)? {
                Ok(piece) => {
                    if self.peek() != TokenKind::CloseSequence {
                        return Err(self.report_unexpected(
                            messages::EXTRA_CHARACTERS_IN_MARKER.with(&[&self.token_text(keyword)]),
                            "Extra characters after the directive. Expected its closing brace.",
                        ));
                    }
                    Ok(piece)
                }
                Err(reported) => {
                    // An unknown word may be followed by anything, so parsing continues after the brace.
                    self.skip_sequence();
                    return Ok((Err(reported), false));
                }
            }
        };
        let close = self.take_token();
        let end = self.token_span(open).to(self.token_span(close));
        let piece = piece.map(|piece: TemplatePiece<'a>| piece.with_span(end));
        Ok((piece, self.token_text(close).starts_with('~')))
    }

    fn report_unclosed_interpolation(
        &mut self,
        open: Token,
        template: Span,
        closer: TokenKind,
    ) -> Reported {
        let detail = match self.peek() {
            TokenKind::EndOfText => {
                "The input ends before the brace that closes this interpolation."
            }
            TokenKind::OpenQuote | TokenKind::CloseQuote | TokenKind::QuotedNewline
                if closer == TokenKind::CloseQuote =>
            {
                "The string ends before the brace that closes this interpolation."
            }
            TokenKind::Colon => {
                return self.report_unexpected(
                    messages::EXTRA_CHARACTERS_AFTER_INTERPOLATION_EXPRESSION,
                    "A colon is not allowed here. If this sequence is for another program, such as a shell, write $${ for a literal ${.",
                );
            }
            _ => {
                return self.report_unexpected(
                    messages::EXTRA_CHARACTERS_AFTER_INTERPOLATION_EXPRESSION,
                    "Extra characters after the expression. Expected a closing brace. If this sequence is for another program, such as a shell, write $${ for a literal ${.",
                );
            }
        };
        let diagnostic = formwork_value::Diagnostic::error(
            messages::UNCLOSED_TEMPLATE_INTERPOLATION_SEQUENCE,
            detail,
        );
        let span = self.token_span(open);
        self.report_diagnostic(diagnostic.at(span).with_source_context(template.to(span)))
    }

    /// Parses a directive up to its closing brace.
    fn parse_directive(&mut self, open: Token) -> Parsed<Parsed<TemplatePiece<'a>>> {
        let Some(keyword) = self.take_if(TokenKind::Ident) else {
            return Ok(Err(self.report_unexpected(
                messages::INVALID_TEMPLATE_DIRECTIVE,
                "Expected if, else, endif, for or endfor after %{. For a literal %{ write %%{.",
            )));
        };
        let span = self.token_span(open);
        Ok(Ok(match self.token_text(keyword) {
            "if" => TemplatePiece::If(self.parse_expression()?, span),
            "else" => TemplatePiece::Else(span),
            "endif" => TemplatePiece::EndIf(span),
            "for" => {
                let (key, value) = self.parse_for_names("directive")?;
                TemplatePiece::For { key, value, collection: self.parse_expression()?, span }
            }
            "endfor" => TemplatePiece::EndFor(span),
            other => {
                let detail = format!(
                    "{other:?} is not a template directive. The directives are if, else, endif, for and endfor. For a literal %{{ write %%{{."
                );
                let span = self.token_span(keyword);
                return Ok(Err(self.report_error(
                    messages::INVALID_TEMPLATE_CONTROL_KEYWORD,
                    detail,
                    span,
                )));
            }
        }))
    }

    /// Builds parts up to the end of the pieces, or to a directive that does not open a block, which is
    /// also returned.
    fn build_template_parts(
        &mut self,
        pieces: &mut std::vec::IntoIter<TemplatePiece<'a>>,
    ) -> Parsed<(Vec<TemplatePart>, usize, Option<TemplatePiece<'a>>)> {
        // Most templates have few parts. The number of parts inside a directive is unknown.
        let mut parts = Vec::with_capacity(pieces.len().min(4));
        let mut height = 0;
        while let Some(piece) = pieces.next() {
            let (part, below) = match piece {
                TemplatePiece::Literal { text, span } => {
                    (TemplatePart::Literal(Str::new(&text), span), 0)
                }
                TemplatePiece::Interpolation(tree) => {
                    (TemplatePart::Interpolation(tree.expr), tree.height)
                }
                TemplatePiece::If(condition, span) => {
                    self.with_deeper_level(|parser| parser.build_if(pieces, condition, span))?
                }
                TemplatePiece::For { key, value, collection, span } => {
                    let names = ForNames { key, value };
                    self.with_deeper_level(|parser| {
                        parser.build_for(pieces, names, collection, span)
                    })?
                }
                end => return Ok((parts, height, Some(end))),
            };
            height = height.max(below);
            parts.push(part);
        }
        Ok((parts, height, None))
    }

    fn build_if(
        &mut self,
        pieces: &mut std::vec::IntoIter<TemplatePiece<'a>>,
        condition: ExprWithHeight,
        open: Span,
    ) -> Parsed<(TemplatePart, usize)> {
        let (yes, mut height, mut end) = self.build_template_parts(pieces)?;
        let mut no = Vec::new();
        if let Some(TemplatePiece::Else(_)) = end {
            let else_part = self.build_template_parts(pieces)?;
            no = else_part.0;
            height = height.max(else_part.1);
            end = else_part.2;
            if let Some(TemplatePiece::Else(span)) = end {
                let detail =
                    format!("The if at {} already has an else.", self.format_line_and_column(open));
                return Err(self.report_error(messages::UNEXPECTED_ELSE_DIRECTIVE, detail, span));
            }
        }
        let Some(TemplatePiece::EndIf(close)) = end else {
            return Err(self.report_unbalanced("if", open, end));
        };
        let height = height.max(condition.height) + 1;
        let part = TemplateIf { condition: condition.expr, yes, no, span: open.to(close) };
        Ok((TemplatePart::If(Box::new(part)), height))
    }

    fn build_for(
        &mut self,
        pieces: &mut std::vec::IntoIter<TemplatePiece<'a>>,
        names: ForNames,
        collection: ExprWithHeight,
        open: Span,
    ) -> Parsed<(TemplatePart, usize)> {
        let ForNames { key, value } = names;
        let (body, height, end) = self.build_template_parts(pieces)?;
        let Some(TemplatePiece::EndFor(close)) = end else {
            return Err(self.report_unbalanced("for", open, end));
        };
        let height = height.max(collection.height) + 1;
        let span = open.to(close);
        let part = TemplateFor { key, value, collection: collection.expr, body, span };
        Ok((TemplatePart::For(Box::new(part)), height))
    }

    fn report_unbalanced(
        &mut self,
        keyword: &str,
        open: Span,
        piece: Option<TemplatePiece<'a>>,
    ) -> Reported {
        let position = self.format_line_and_column(open);
        match piece {
            Some(piece) => self.report_error(
                messages::UNEXPECTED_DIRECTIVE.with(&[&piece.directive_keyword()]),
                format!("The {keyword} at {position} must be closed with end{keyword} first."),
                piece.span(),
            ),
            None => self.report_error(
                messages::UNEXPECTED_END_OF_TEMPLATE,
                format!("The {keyword} at {position} is not closed with end{keyword}."),
                open,
            ),
        }
    }

    fn format_line_and_column(&self, span: Span) -> String {
        self.input.sources.map_or_else(
            || "this template".to_owned(),
            |sources| {
                let start = sources.start_position(span);
                format!("line {}, column {}", start.line, start.column)
            },
        )
    }
}
