//! Tuples, objects, `for` expressions and calls.

use formwork_value::{Reported, Str};

use super::{Parsed, Parser, Tree};
use crate::syntax::lex::{Token, TokenKind};
use crate::syntax::{Call, Expr, ExprKind, ForExpr, Ident, ObjectItem, TemplatePart};

impl Parser<'_> {
    pub(super) fn tuple(&mut self) -> Parsed {
        let open = self.bump();
        self.with_newlines(false, |parser| {
            if parser.at_keyword("for") {
                return parser.for_expr(open, TokenKind::CloseBracket);
            }
            let mut items = Vec::new();
            let mut below = 0;
            loop {
                if let Some(close) = parser.take(TokenKind::CloseBracket) {
                    let span = parser.span(open).to(parser.span(close));
                    return parser.node(ExprKind::Tuple(items), span, below);
                }
                let item = parser.expression()?;
                below = below.max(item.height);
                items.push(item.expr);
                if parser.peek() != TokenKind::CloseBracket
                    && parser.take(TokenKind::Comma).is_none()
                {
                    return Err(parser.no_separator(open));
                }
            }
        })
    }

    fn no_separator(&mut self, open: Token) -> Reported {
        if self.peek() == TokenKind::End {
            return self.error(
                "Unterminated tuple constructor expression",
                "The text ends before the bracket that closes this one.",
                self.span(open),
            );
        }
        self.unexpected(
            "Missing item separator",
            "A comma, or the closing bracket, is expected between the elements here.",
        )
    }

    pub(super) fn object(&mut self) -> Parsed {
        let open = self.bump();
        // Line ends separate the items of an object, but mean nothing in a `for` expression.
        let at = self.at;
        let is_for = self.with_newlines(false, |parser| parser.at_keyword("for"));
        self.at = at;
        if is_for {
            return self
                .with_newlines(false, |parser| parser.for_expr(open, TokenKind::CloseBrace));
        }
        self.with_newlines(true, |parser| {
            let mut items = Vec::new();
            let mut below = 0;
            loop {
                while parser.take(TokenKind::Newline).is_some() {}
                if let Some(close) = parser.take(TokenKind::CloseBrace) {
                    let span = parser.span(open).to(parser.span(close));
                    return parser.node(ExprKind::Object(items), span, below);
                }
                let (item, height) = parser.object_item(open)?;
                below = below.max(height);
                items.push(item);
                match parser.peek() {
                    TokenKind::CloseBrace => {}
                    TokenKind::Comma | TokenKind::Newline => {
                        parser.bump();
                    }
                    _ => {
                        return Err(parser.unfinished_object(
                            open,
                            "Missing attribute separator",
                            "A comma or a line end is expected between the items of an object here.",
                        ));
                    }
                }
            }
        })
    }

    fn unfinished_object(&mut self, open: Token, summary: &str, detail: &str) -> Reported {
        if self.peek() == TokenKind::End {
            return self.error(
                "Unterminated object constructor expression",
                "The text ends before the brace that closes this one.",
                self.span(open),
            );
        }
        self.unexpected(summary, detail)
    }

    fn object_item(&mut self, open: Token) -> Parsed<(ObjectItem, usize)> {
        let key = self.expression()?;
        match self.peek() {
            TokenKind::Equals | TokenKind::Colon => {
                self.bump();
            }
            TokenKind::Newline | TokenKind::Comma => {
                return Err(self.unfinished_object(
                    open,
                    "Missing attribute value",
                    "An equals sign and the value are expected behind the key.",
                ));
            }
            TokenKind::Ident | TokenKind::Dot => {
                return Err(self.unfinished_object(
                    open,
                    "Missing key/value separator",
                    "An equals sign is expected behind the key. A key that is not a single name must stand in quotes.",
                ));
            }
            _ => {
                return Err(self.unfinished_object(
                    open,
                    "Missing key/value separator",
                    "An equals sign is expected behind the key.",
                ));
            }
        }
        let (key, bare, key_height) = object_key(key);
        let value = self.expression()?;
        Ok((ObjectItem { key, bare, value: value.expr }, key_height.max(value.height)))
    }

    /// Parses the rest of a `for` expression; the next token is `for`. Line ends mean nothing.
    fn for_expr(&mut self, open: Token, closer: TokenKind) -> Parsed {
        self.bump();
        let (key, value) = self.for_names("expression")?;
        let collection = self.expression()?;
        if self.take(TokenKind::Colon).is_none() {
            return Err(self.invalid_for(
                "expression",
                "A colon is expected between the collection and the result.",
            ));
        }
        let mut result = self.expression()?;
        let mut result_key = None;
        if self.take(TokenKind::FatArrow).is_some() {
            let value = self.expression()?;
            result_key = Some(std::mem::replace(&mut result, value));
        }
        let ellipsis = self.take(TokenKind::Ellipsis);
        let mut condition = None;
        if self.at_keyword("if") {
            self.bump();
            condition = Some(self.expression()?);
        }
        let Some(close) = self.take(closer) else {
            return Err(self.invalid_for(
                "expression",
                "The expression ends before this; a closing bracket is expected here.",
            ));
        };
        self.for_form(closer, (result_key.as_ref(), &result), ellipsis)?;
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
        let span = self.span(open).to(self.span(close));
        self.node(kind, span, below)
    }

    /// Checks that a key and grouping are there exactly where an object is built.
    fn for_form(
        &mut self,
        closer: TokenKind,
        (key, result): (Option<&Tree>, &Tree),
        ellipsis: Option<Token>,
    ) -> Parsed<()> {
        let summary = "Invalid 'for' expression";
        match (closer, key, ellipsis) {
            (TokenKind::CloseBrace, None, _) => Err(self.error(
                summary,
                "In braces the result is an object, whose keys are needed too: key => value.",
                result.expr.span,
            )),
            (TokenKind::CloseBracket, Some(key), _) => Err(self.error(
                summary,
                "In brackets the result is a tuple, which has no keys. For an object use braces.",
                key.expr.span,
            )),
            (TokenKind::CloseBracket, None, Some(ellipsis)) => Err(self.error(
                summary,
                "In brackets the result is a tuple, whose elements cannot be grouped by key.",
                self.span(ellipsis),
            )),
            _ => Ok(()),
        }
    }

    /// Parses the names and the `in` of a `for`.
    pub(super) fn for_names(&mut self, what: &str) -> Parsed<(Option<Ident>, Ident)> {
        let first = self.for_name(what)?;
        let names = match self.take(TokenKind::Comma) {
            Some(_) => (Some(first), self.for_name(what)?),
            None => (None, first),
        };
        if !self.at_keyword("in") {
            return Err(self.invalid_for(what, "The word in is expected behind the names."));
        }
        self.bump();
        Ok(names)
    }

    fn for_name(&mut self, what: &str) -> Parsed<Ident> {
        match self.take(TokenKind::Ident) {
            Some(token) => Ok(self.ident(token)),
            None => Err(self.invalid_for(what, "A name for the element is expected here.")),
        }
    }

    fn invalid_for(&mut self, what: &str, detail: &str) -> Reported {
        self.unexpected(&format!("Invalid 'for' {what}"), detail)
    }

    /// Parses the rest of a call, from what follows the first word of its name.
    pub(super) fn call(&mut self, first: Token) -> Parsed {
        let name = self.function_name(first)?;
        let Some(open) = self.take(TokenKind::OpenParen) else {
            return Err(self.unexpected(
                "Missing open parenthesis",
                "The name of a function is followed by its arguments in parentheses.",
            ));
        };
        let start = name.span;
        let (call, below) = self.with_newlines(false, |parser| parser.arguments(name, open))?;
        let span = start.to(call.parens);
        self.node(ExprKind::Call(Box::new(call)), span, below)
    }

    fn function_name(&mut self, first: Token) -> Parsed<Ident> {
        let mut last = first;
        let mut name = self.slice(first).to_owned();
        while self.take(TokenKind::DoubleColon).is_some() {
            let Some(token) = self.take(TokenKind::Ident) else {
                return Err(self.unexpected(
                    "Missing function name",
                    "The name of a function is expected behind the double colon.",
                ));
            };
            name = name + "::" + self.slice(token);
            last = token;
        }
        Ok(Ident { name: Str::new(&name), span: self.span(first).to(self.span(last)) })
    }

    fn arguments(&mut self, name: Ident, open: Token) -> Parsed<(Call, usize)> {
        let mut args = Vec::new();
        let mut below = 0;
        let mut expand = false;
        let close = loop {
            if let Some(close) = self.take(TokenKind::CloseParen) {
                break close;
            }
            let arg = self.expression()?;
            below = below.max(arg.height);
            args.push(arg.expr);
            match self.peek() {
                TokenKind::CloseParen => {}
                TokenKind::Comma => {
                    self.bump();
                }
                TokenKind::Ellipsis => {
                    let dots = self.bump();
                    expand = true;
                    let Some(close) = self.take(TokenKind::CloseParen) else {
                        return Err(self.unexpected_token(
                            dots,
                            "Missing closing parenthesis",
                            "Only the last argument can be expanded with three dots, so the closing parenthesis must follow them.",
                        ));
                    };
                    break close;
                }
                TokenKind::End => {
                    let span = name.span.to(self.span(open));
                    return Err(self.error(
                        "Unterminated function call",
                        "The text ends before the parenthesis that closes this call.",
                        span,
                    ));
                }
                _ => {
                    return Err(self.unexpected(
                        "Missing argument separator",
                        "A comma, or the closing parenthesis, is expected between the arguments here.",
                    ));
                }
            }
        };
        let parens = self.span(open).to(self.span(close));
        Ok((Call { name, args, expand, parens }, below))
    }
}

/// Makes a name, also one that is a keyword elsewhere, the text of a key. A name with steps behind it
/// stays what it is: whoever evaluates it refuses it, and whoever reads names may take it.
fn object_key(key: Tree) -> (Expr, bool, usize) {
    let span = key.expr.span;
    let name = match &key.expr.kind {
        ExprKind::Variable(ident) => ident.name.clone(),
        ExprKind::Null => Str::new("null"),
        ExprKind::Bool(value) => Str::new(if *value { "true" } else { "false" }),
        _ => return (key.expr, false, key.height),
    };
    let kind = ExprKind::Template(vec![TemplatePart::Literal(name, span)]);
    (Expr { kind, span }, true, 1)
}
