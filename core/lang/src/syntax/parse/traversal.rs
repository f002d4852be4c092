//! The steps after a term: attributes, indexes and splats.

use formwork_value::{Reported, Span};

use super::{ExprWithHeight, Parsed, Parser};
use crate::messages;
use crate::syntax::lex::{Token, TokenKind};
use crate::syntax::{Expr, ExprKind, Ident, SplatStep};

/// One step that is not applied yet.
enum ParsedStep {
    Attribute(Ident),
    Index { key: Expr, brackets: Span },
    Splat { each: Vec<SplatStep>, marker: Span },
}

impl Parser<'_> {
    /// Applies the steps that follow a term to it.
    pub(super) fn parse_steps(&mut self, term: ExprWithHeight) -> Parsed {
        let mut tree = term;
        while let Some((step, below)) = self.parse_step()? {
            let span = tree.expr.span.to(self.previous_span());
            let below = tree.height.max(below);
            let operand = Box::new(tree.expr);
            let kind = match step {
                ParsedStep::Attribute(name) => ExprKind::Attribute { operand, name },
                ParsedStep::Index { key, brackets } => {
                    ExprKind::Index { operand, key: Box::new(key), brackets }
                }
                ParsedStep::Splat { each, marker } => ExprKind::Splat { operand, each, marker },
            };
            tree = self.make_expr_with_height(kind, span, below)?;
        }
        Ok(tree)
    }

    /// Parses one step, if any, and returns the number of levels inside it.
    fn parse_step(&mut self) -> Parsed<Option<(ParsedStep, usize)>> {
        match self.peek() {
            TokenKind::Dot => self.parse_dot_step().map(Some),
            TokenKind::OpenBracket => self.parse_bracket_step().map(Some),
            _ => Ok(None),
        }
    }

    fn parse_dot_step(&mut self) -> Parsed<(ParsedStep, usize)> {
        let dot = self.take_token();
        let token = self.peek_token();
        match token.kind {
            TokenKind::Ident => {
                self.take_token();
                Ok((ParsedStep::Attribute(self.parse_ident(token)), 0))
            }
            TokenKind::Number => {
                self.take_token();
                let key = self.parse_legacy_index(token)?;
                Ok((
                    ParsedStep::Index {
                        key,
                        brackets: self.token_span(dot).to(self.token_span(token)),
                    },
                    1,
                ))
            }
            TokenKind::Star => {
                self.take_token();
                let marker = self.token_span(dot).to(self.token_span(token));
                let each = self.parse_attribute_splat()?;
                Ok((ParsedStep::Splat { each, marker }, 1))
            }
            _ => Err(self.report_no_attribute()),
        }
    }

    fn report_no_attribute(&mut self) -> Reported {
        self.report_unexpected(
            messages::INVALID_ATTRIBUTE_NAME,
            "An attribute name is required after a dot.",
        )
    }

    /// Parses the number of the legacy index syntax, `a.0`.
    fn parse_legacy_index(&mut self, token: Token) -> Parsed<Expr> {
        // Two such indexes in a row, `a.0.1`, look like one number with a fraction.
        if let Some((first, second)) = self.token_text(token).split_once('.') {
            let detail = format!("Write two consecutive indexes in brackets: [{first}][{second}].");
            return Err(self.report_error(
                messages::INVALID_LEGACY_INDEX_SYNTAX,
                detail,
                self.token_span(token),
            ));
        }
        let number = self.parse_number(token)?;
        Ok(Expr { kind: ExprKind::Number(number), span: self.token_span(token) })
    }

    /// Parses the steps after `.*`: attributes and legacy indexes, up to the first bracket.
    fn parse_attribute_splat(&mut self) -> Parsed<Vec<SplatStep>> {
        let mut each = Vec::new();
        // A bracket after `.*` indexes the list of results, as in HCL: `a.*.b[0]` is `(a.*.b)[0]`.
        while let Some(dot) = self.take_if(TokenKind::Dot) {
            let token = self.peek_token();
            each.push(match token.kind {
                TokenKind::Ident => {
                    self.take_token();
                    SplatStep::Attribute(self.parse_ident(token))
                }
                TokenKind::Number => {
                    self.take_token();
                    let brackets = self.token_span(dot).to(self.token_span(token));
                    SplatStep::Index { key: self.parse_legacy_index(token)?, brackets }
                }
                TokenKind::Star => {
                    return Err(self.report_unexpected(
                        messages::NESTED_SPLAT_EXPRESSION_NOT_ALLOWED,
                        "A legacy splat (.*) cannot be nested in another one. Write [*] for both.",
                    ));
                }
                _ => return Err(self.report_no_attribute()),
            });
        }
        Ok(each)
    }

    fn parse_bracket_step(&mut self) -> Parsed<(ParsedStep, usize)> {
        let open = self.take_token();
        if self.take_if(TokenKind::Star).is_some() {
            return self.parse_full_splat(open);
        }
        let (key, close) = self.with_newline_significance(false, |parser| {
            let key = parser.parse_expression()?;
            match parser.take_if(TokenKind::CloseBracket) {
                Some(close) => Ok((key, close)),
                None => Err(parser.report_unexpected(
                    messages::MISSING_CLOSE_BRACKET_ON_INDEX,
                    "Expected the closing bracket of the index.",
                )),
            }
        })?;
        let brackets = self.token_span(open).to(self.token_span(close));
        Ok((ParsedStep::Index { key: key.expr, brackets }, key.height))
    }

    /// Parses the rest of `[*]` and the steps after it, which apply to each element.
    fn parse_full_splat(&mut self, open: Token) -> Parsed<(ParsedStep, usize)> {
        let Some(close) = self.take_if(TokenKind::CloseBracket) else {
            return Err(self.report_unexpected(
                messages::MISSING_CLOSE_BRACKET_ON_SPLAT_INDEX,
                "A closing bracket must follow the star: [*].",
            ));
        };
        let marker = self.token_span(open).to(self.token_span(close));
        self.with_deeper_level(|parser| {
            let mut each = Vec::new();
            let mut height = 0;
            // All steps after `[*]` belong to it, including brackets: `a[*].b[0]` indexes each element.
            while let Some((step, below)) = parser.parse_step()? {
                height = height.max(below + 1);
                each.push(match step {
                    ParsedStep::Attribute(name) => SplatStep::Attribute(name),
                    ParsedStep::Index { key, brackets } => SplatStep::Index { key, brackets },
                    ParsedStep::Splat { each, marker } => SplatStep::Splat { each, marker },
                });
            }
            Ok((ParsedStep::Splat { each, marker }, height))
        })
    }
}
