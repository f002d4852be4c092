//! Expressions: operators by precedence, and the terms they connect.

use formwork_value::{Diagnostic, Reported};

use super::{Parsed, Parser};
use crate::messages;
use crate::syntax::lex::{Token, TokenKind};
use crate::syntax::{BinaryOp, ExprKind, UnaryOp};

/// Returns the operator of a token, and its precedence.
fn to_binary_op(kind: TokenKind) -> Option<(BinaryOp, u8)> {
    Some(match kind {
        // The precedence is that of HCL.
        TokenKind::Or => (BinaryOp::Or, 1),
        TokenKind::And => (BinaryOp::And, 2),
        TokenKind::Equal => (BinaryOp::Equal, 3),
        TokenKind::NotEqual => (BinaryOp::NotEqual, 3),
        TokenKind::Less => (BinaryOp::Less, 4),
        TokenKind::LessOrEqual => (BinaryOp::LessOrEqual, 4),
        TokenKind::Greater => (BinaryOp::Greater, 4),
        TokenKind::GreaterOrEqual => (BinaryOp::GreaterOrEqual, 4),
        TokenKind::Plus => (BinaryOp::Add, 5),
        TokenKind::Minus => (BinaryOp::Subtract, 5),
        TokenKind::Star => (BinaryOp::Multiply, 6),
        TokenKind::Slash => (BinaryOp::Divide, 6),
        TokenKind::Percent => (BinaryOp::Modulo, 6),
        _ => return None,
    })
}

impl Parser<'_> {
    /// Parses an expression.
    pub(super) fn parse_expression(&mut self) -> Parsed {
        self.with_deeper_level(Self::parse_conditional)
    }

    fn parse_conditional(&mut self) -> Parsed {
        let condition = self.parse_binary(1)?;
        if self.take_if(TokenKind::Question).is_none() {
            return Ok(condition);
        }
        // The operator is right-associative, so a result may be another conditional.
        let yes = self.parse_expression()?;
        let start = condition.expr.span;
        if self.take_if(TokenKind::Colon).is_none() {
            return Err(self.report_unexpected(
                messages::MISSING_FALSE_EXPRESSION_IN_CONDITIONAL,
                "The conditional operator (...?...:...) requires a false expression, delimited by a colon.",
            ));
        }
        let no = self.parse_expression()?;
        let span = start.to(no.expr.span);
        let below = condition.height.max(yes.height).max(no.height);
        let kind = ExprKind::Conditional {
            condition: Box::new(condition.expr),
            yes: Box::new(yes.expr),
            no: Box::new(no.expr),
        };
        self.make_expr_with_height(kind, span, below)
    }

    /// Parses operators with at least the precedence `least`. They are left-associative.
    fn parse_binary(&mut self, least: u8) -> Parsed {
        let mut left = self.parse_operand()?;
        while let Some((op, strength)) = to_binary_op(self.peek()).filter(|op| op.1 >= least) {
            let token = self.take_token();
            // An operator of equal precedence must not be taken here, because `a - b - c` is
            // left-associative.
            let right = self.parse_binary(strength + 1)?;
            let span = left.expr.span.to(right.expr.span);
            let below = left.height.max(right.height);
            let kind = ExprKind::Binary {
                op,
                left: Box::new(left.expr),
                right: Box::new(right.expr),
                op_span: self.token_span(token),
            };
            left = self.make_expr_with_height(kind, span, below)?;
        }
        Ok(left)
    }

    /// Parses a term with the steps after it. A sign applies to the result of the steps: `-a.b` is
    /// `-(a.b)`.
    fn parse_operand(&mut self) -> Parsed {
        let op = match self.peek() {
            TokenKind::Minus => UnaryOp::Negate,
            TokenKind::Bang => UnaryOp::Not,
            _ => {
                let term = self.parse_primary()?;
                return self.parse_steps(term);
            }
        };
        let token = self.take_token();
        // Signs may be repeated, so each is a level: `!!!a` recurses once for each.
        let operand = self.with_deeper_level(Self::parse_operand)?;
        let op_span = self.token_span(token);
        let span = op_span.to(operand.expr.span);
        let kind = ExprKind::Unary { op, operand: Box::new(operand.expr), op_span };
        self.make_expr_with_height(kind, span, operand.height)
    }

    fn parse_primary(&mut self) -> Parsed {
        let token = self.peek_token();
        let span = self.token_span(token);
        match token.kind {
            TokenKind::OpenParen => self.parse_parens(),
            TokenKind::Number => {
                self.take_token();
                let number = self.parse_number(token)?;
                self.make_expr_with_height(ExprKind::Number(number), span, 0)
            }
            TokenKind::Ident => self.parse_name_or_call(),
            TokenKind::OpenQuote => {
                self.take_token();
                self.parse_template(TokenKind::CloseQuote, span, false)
            }
            TokenKind::OpenHeredoc => {
                self.take_token();
                let flush = self.token_text(token).starts_with("<<-");
                self.parse_template(TokenKind::CloseHeredoc, span, flush)
            }
            TokenKind::OpenBracket => self.parse_tuple(),
            TokenKind::OpenBrace => self.parse_object(),
            TokenKind::EndOfText => Err(self.report_unexpected(
                messages::MISSING_EXPRESSION,
                "Expected a value, but the expression ends here.",
            )),
            _ => Err(self.report_no_term(token)),
        }
    }

    fn report_no_term(&mut self, token: Token) -> Reported {
        let hint = match token.kind {
            TokenKind::Newline => {
                " The line ends here. A value can continue on the next line only inside parentheses or brackets."
            }
            TokenKind::CloseSequence => " There is nothing between the braces.",
            TokenKind::Plus => " There is no sign for positive numbers.",
            TokenKind::Dot => " A number begins with a digit, and a reference with a name.",
            _ => "",
        };
        let detail = format!(
            "Expected the start of an expression, but found an invalid expression token.{hint}"
        );
        self.report_unexpected(messages::INVALID_EXPRESSION, detail)
    }

    fn parse_parens(&mut self) -> Parsed {
        let open = self.take_token();
        let (inner, close) = self.with_newline_significance(false, |parser| {
            let inner = parser.parse_expression()?;
            match parser.take_if(TokenKind::CloseParen) {
                Some(close) => Ok((inner, close)),
                None => {
                    let (here, open) = (parser.next_span(), parser.token_span(open));
                    let diagnostic = Diagnostic::error(
                        messages::UNBALANCED_PARENTHESES,
                        "Expected the closing parenthesis.",
                    );
                    Err(parser
                        .report_diagnostic(diagnostic.at(here).with_source_context(open.to(here))))
                }
            }
        })?;
        let span = self.token_span(open).to(self.token_span(close));
        self.make_expr_with_height(ExprKind::Parens(Box::new(inner.expr)), span, inner.height)
    }

    /// Parses an expression that begins with a name: a keyword, a call or a reference.
    fn parse_name_or_call(&mut self) -> Parsed {
        let token = self.take_token();
        let span = self.token_span(token);
        // Checked before the keywords, because a function may be called `null`.
        if matches!(self.peek(), TokenKind::OpenParen | TokenKind::DoubleColon) {
            return self.parse_call(token);
        }
        let kind = match self.token_text(token) {
            "null" => ExprKind::Null,
            "true" => ExprKind::Bool(true),
            "false" => ExprKind::Bool(false),
            _ => ExprKind::Variable(self.parse_ident(token)),
        };
        self.make_expr_with_height(kind, span, 0)
    }
}
