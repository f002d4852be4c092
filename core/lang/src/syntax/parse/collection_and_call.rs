//! Tuples, objects, `for` expressions and calls.

use std::borrow::Cow;

use formwork_value::diag::Summary;
use formwork_value::{Reported, Span, Str};

use super::{ExprWithHeight, Parsed, Parser};
use crate::messages;
use crate::syntax::lex::{Token, TokenKind};
use crate::syntax::{Call, Expr, ExprKind, ForExpr, Ident, ObjectItem};

impl Parser<'_> {
    pub(super) fn parse_tuple(&mut self) -> Parsed {
        let open = self.take_token();
        self.with_newline_significance(false, |parser| {
            if parser.is_at_keyword("for") {
                return parser.parse_for_expr(open, TokenKind::CloseBracket);
            }
            let (elements, (close, below)) = parser.collect_list(
                |unfinished| &mut unfinished.exprs,
                |parser| parser.parse_tuple_elements(open),
            )?;
            let span = parser.token_span(open).to(parser.token_span(close));
            parser.make_expr_with_height(ExprKind::Tuple(elements), span, below)
        })
    }

    /// Parses elements up to the closing bracket, and returns its span with the greatest height of the
    /// elements.
    fn parse_tuple_elements(&mut self, open: Token) -> Parsed<(Token, usize)> {
        let mut below = 0;
        loop {
            // Also after a comma, because HCL allows a trailing comma.
            if let Some(close) = self.take_if(TokenKind::CloseBracket) {
                return Ok((close, below));
            }
            let element = self.parse_expression()?;
            below = below.max(element.height);
            self.unfinished.exprs.push(element.expr);
            if self.peek() != TokenKind::CloseBracket && self.take_if(TokenKind::Comma).is_none() {
                return Err(self.report_no_tuple_separator(open));
            }
        }
    }

    fn report_no_tuple_separator(&mut self, open: Token) -> Reported {
        if self.peek() == TokenKind::EndOfText {
            return self.report_error(
                messages::UNTERMINATED_TUPLE_CONSTRUCTOR_EXPRESSION,
                "The input ends before the bracket that closes this one.",
                self.token_span(open),
            );
        }
        self.report_unexpected_within(
            messages::MISSING_ITEM_SEPARATOR,
            "Expected a comma between elements, or the closing bracket.",
            self.token_span(open),
        )
    }

    pub(super) fn parse_object(&mut self) -> Parsed {
        let open = self.take_token();
        // Line ends separate the items of an object, but are not significant in a `for` expression.
        let at = self.at;
        let is_for = self.with_newline_significance(false, |parser| parser.is_at_keyword("for"));
        self.at = at;
        if is_for {
            return self.with_newline_significance(false, |parser| {
                parser.parse_for_expr(open, TokenKind::CloseBrace)
            });
        }
        self.with_newline_significance(true, |parser| {
            let (items, (close, below)) = parser.collect_list(
                |unfinished| &mut unfinished.items,
                |parser| parser.parse_object_items(open),
            )?;
            let span = parser.token_span(open).to(parser.token_span(close));
            parser.make_expr_with_height(ExprKind::Object(items), span, below)
        })
    }

    /// Parses items up to the closing brace, and returns its span with the greatest height of the items.
    fn parse_object_items(&mut self, open: Token) -> Parsed<(Token, usize)> {
        let mut below = 0;
        loop {
            while self.take_if(TokenKind::Newline).is_some() {}
            // Also after a separator, because HCL allows a trailing one.
            if let Some(close) = self.take_if(TokenKind::CloseBrace) {
                return Ok((close, below));
            }
            let (item, height) = self.parse_object_item(open)?;
            below = below.max(height);
            self.unfinished.items.push(item);
            match self.peek() {
                TokenKind::CloseBrace => {}
                TokenKind::Comma | TokenKind::Newline => {
                    self.take_token();
                }
                _ => {
                    return Err(self.report_unfinished_object(
                        open,
                        messages::MISSING_ATTRIBUTE_SEPARATOR,
                        "Expected a comma or a line end between the items of an object.",
                    ));
                }
            }
        }
    }

    fn report_unfinished_object(
        &mut self,
        open: Token,
        summary: impl Into<Summary>,
        detail: &str,
    ) -> Reported {
        if self.peek() == TokenKind::EndOfText {
            return self.report_error(
                messages::UNTERMINATED_OBJECT_CONSTRUCTOR_EXPRESSION,
                "The input ends before the brace that closes this one.",
                self.token_span(open),
            );
        }
        self.report_unexpected(summary, detail)
    }

    fn parse_object_item(&mut self, open: Token) -> Parsed<(ObjectItem, usize)> {
        let key = self.parse_expression()?;
        match self.peek() {
            TokenKind::Equals | TokenKind::Colon => {
                self.take_token();
            }
            TokenKind::Newline | TokenKind::Comma => {
                return Err(self.report_unfinished_object(
                    open,
                    messages::MISSING_ATTRIBUTE_VALUE,
                    "Expected an equals sign and the value after the key.",
                ));
            }
            TokenKind::Ident | TokenKind::Dot => {
                return Err(self.report_unfinished_object(
                    open,
                    messages::MISSING_KEY_VALUE_SEPARATOR,
                    "Expected an equals sign after the key. A key that is not a single name must be enclosed in quotes.",
                ));
            }
            _ => {
                return Err(self.report_unfinished_object(
                    open,
                    messages::MISSING_KEY_VALUE_SEPARATOR,
                    "Expected an equals sign after the key.",
                ));
            }
        }
        // Decided only here, because the same tokens are a variable anywhere but before a separator.
        let (key, bare, key_height) = to_object_key(key);
        let value = self.parse_expression()?;
        Ok((ObjectItem { key, bare, value: value.expr }, key_height.max(value.height)))
    }

    /// Parses the rest of a `for` expression. The next token is `for`. Line ends are not significant.
    fn parse_for_expr(&mut self, open: Token, closer: TokenKind) -> Parsed {
        self.take_token();
        let (key, value) = self.parse_for_names("expression")?;
        let collection = self.parse_expression()?;
        if self.take_if(TokenKind::Colon).is_none() {
            return Err(self.report_invalid_for(
                "expression",
                "Expected a colon between the collection and the result.",
            ));
        }
        // Only the arrow after it determines whether this is a key or the result.
        let mut result = self.parse_expression()?;
        let mut result_key = None;
        if self.take_if(TokenKind::FatArrow).is_some() {
            let value = self.parse_expression()?;
            result_key = Some(std::mem::replace(&mut result, value));
        }
        let ellipsis = self.take_if(TokenKind::Ellipsis);
        let mut condition = None;
        if self.is_at_keyword("if") {
            self.take_token();
            condition = Some(self.parse_expression()?);
        }
        let Some(close) = self.take_if(closer) else {
            return Err(self.report_invalid_for(
                "expression",
                "Extra characters after the end of the 'for' expression. A closing bracket is expected here.",
            ));
        };
        // Checked at the end, so that parsing can continue after the whole expression.
        self.check_for_expr_form(closer, result_key.as_ref(), &result, ellipsis)?;
        let parts = [Some(&collection), Some(&result), result_key.as_ref(), condition.as_ref()];
        let below = parts.into_iter().flatten().map(|tree| tree.height).max().unwrap_or(0);
        let kind = ExprKind::For(Box::new(ForExpr {
            key,
            value,
            collection: collection.expr,
            result_key: result_key.map(|tree| tree.expr),
            result: result.expr,
            group: ellipsis.is_some(),
            condition: condition.map(|tree| tree.expr),
        }));
        let span = self.token_span(open).to(self.token_span(close));
        self.make_expr_with_height(kind, span, below)
    }

    /// Checks that a key is present exactly in the object form, and grouping only there.
    fn check_for_expr_form(
        &mut self,
        closer: TokenKind,
        key: Option<&ExprWithHeight>,
        result: &ExprWithHeight,
        ellipsis: Option<Token>,
    ) -> Parsed<()> {
        let summary = messages::INVALID_FOR_EXPRESSION;
        match (closer, key, ellipsis) {
            (TokenKind::CloseBrace, None, _) => Err(self.report_error(
                summary,
                "In braces the result is an object, so a key is also required: key => value.",
                result.expr.span,
            )),
            (TokenKind::CloseBracket, Some(key), _) => Err(self.report_error(
                summary,
                "In brackets the result is a tuple, which has no keys. For an object use braces.",
                key.expr.span,
            )),
            (TokenKind::CloseBracket, None, Some(ellipsis)) => Err(self.report_error(
                summary,
                "In brackets the result is a tuple, whose elements cannot be grouped by key.",
                self.token_span(ellipsis),
            )),
            _ => Ok(()),
        }
    }

    /// Parses the names and the `in` of a `for`.
    pub(super) fn parse_for_names(&mut self, construct: &str) -> Parsed<(Option<Ident>, Ident)> {
        let first = self.parse_for_name(construct)?;
        let names = match self.take_if(TokenKind::Comma) {
            Some(_) => (Some(first), self.parse_for_name(construct)?),
            None => (None, first),
        };
        if !self.is_at_keyword("in") {
            return Err(self.report_invalid_for(construct, "Expected the word in after the names."));
        }
        self.take_token();
        Ok(names)
    }

    fn parse_for_name(&mut self, construct: &str) -> Parsed<Ident> {
        match self.take_if(TokenKind::Ident) {
            Some(token) => Ok(self.parse_ident(token)),
            None => Err(self.report_invalid_for(construct, "Expected a name for the element.")),
        }
    }

    fn report_invalid_for(&mut self, construct: &str, detail: &str) -> Reported {
        self.report_unexpected(messages::INVALID_FOR_PART.with(&[&construct]), detail)
    }

    /// Parses the rest of a call, after the first word of its name.
    pub(super) fn parse_call(&mut self, first: Token) -> Parsed {
        let name = self.parse_function_name(first)?;
        let Some(open) = self.take_if(TokenKind::OpenParen) else {
            return Err(self.report_unexpected(
                messages::MISSING_OPEN_PARENTHESIS,
                "A function name must be followed by the arguments in parentheses.",
            ));
        };
        let start = name.span;
        let (args, end) = self.with_newline_significance(false, |parser| {
            let call_start = start.to(parser.token_span(open));
            parser.collect_list(
                |unfinished| &mut unfinished.exprs,
                |parser| parser.parse_arguments(call_start),
            )
        })?;
        let (close, expand, below) = end;
        let parens = self.token_span(open).to(self.token_span(close));
        let call = Call { name, args, expand, parens };
        self.make_expr_with_height(ExprKind::Call(Box::new(call)), start.to(parens), below)
    }

    fn parse_function_name(&mut self, first: Token) -> Parsed<Ident> {
        let mut last = first;
        let mut name = Cow::Borrowed(self.token_text(first));
        while self.take_if(TokenKind::DoubleColon).is_some() {
            let Some(token) = self.take_if(TokenKind::Ident) else {
                return Err(self.report_unexpected(
                    messages::MISSING_FUNCTION_NAME,
                    "Expected a function name after the double colon.",
                ));
            };
            name = name + "::" + self.token_text(token);
            last = token;
        }
        Ok(Ident {
            name: self.names.intern(&name),
            span: self.token_span(first).to(self.token_span(last)),
        })
    }

    /// Parses arguments up to the closing parenthesis. Returns its span, whether the last argument is
    /// expanded, and the greatest height of the arguments.
    fn parse_arguments(&mut self, begin: Span) -> Parsed<(Token, bool, usize)> {
        let mut below = 0;
        loop {
            if let Some(close) = self.take_if(TokenKind::CloseParen) {
                return Ok((close, false, below));
            }
            let arg = self.parse_expression()?;
            below = below.max(arg.height);
            self.unfinished.exprs.push(arg.expr);
            match self.peek() {
                TokenKind::CloseParen => {}
                TokenKind::Comma => {
                    self.take_token();
                }
                TokenKind::Ellipsis => {
                    let dots = self.take_token();
                    let Some(close) = self.take_if(TokenKind::CloseParen) else {
                        return Err(self.report_unexpected_token(
                            dots,
                            messages::MISSING_CLOSING_PARENTHESIS,
                            "Only the last argument can be expanded with three dots, so the closing parenthesis must follow them.",
                        ));
                    };
                    return Ok((close, true, below));
                }
                TokenKind::EndOfText => {
                    return Err(self.report_error(
                        messages::UNTERMINATED_FUNCTION_CALL,
                        "The input ends before the parenthesis that closes this call.",
                        begin,
                    ));
                }
                _ => {
                    return Err(self.report_unexpected(
                        messages::MISSING_ARGUMENT_SEPARATOR,
                        "Expected a comma between arguments, or the closing parenthesis.",
                    ));
                }
            }
        }
    }
}

/// Converts a name, even a keyword, to the string of a key. A name with steps after it remains a
/// traversal: the evaluation refuses it, and readers of names may accept it.
fn to_object_key(key: ExprWithHeight) -> (Expr, bool, usize) {
    let span = key.expr.span;
    let name = match &key.expr.kind {
        ExprKind::Variable(ident) => ident.name.clone(),
        // As in HCL, a single keyword before a separator is a name.
        ExprKind::Null => Str::new("null"),
        ExprKind::Bool(value) => Str::new(if *value { "true" } else { "false" }),
        _ => return (key.expr, false, key.height),
    };
    (Expr { kind: ExprKind::Text(name, span), span }, true, 1)
}
