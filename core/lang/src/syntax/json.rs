//! JSON syntax: the same language in another spelling. The meaning of an object depends on the
//! schema, so it becomes a body with undecided content; a string keeps its text, because it can be
//! a template, a reference, a type or a plain string.

mod enclosing_path;
mod read_json;
#[cfg(test)]
mod tests;

use formwork_value::diag::{SourceId, Sources};
use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Str};

pub(super) use enclosing_path::{contains_span, json_path_to};

use super::lex::is_identifier;
use super::parse::{ParserInput, parse_inner_expression, parse_inner_template};
use super::{Attribute, Body, Expr, ExprKind, ObjectItem};
use crate::messages;

/// A string of a file in JSON.
#[derive(Clone, Debug)]
pub struct JsonString {
    /// The text, as it is where nothing is evaluated.
    pub text: Str,
    /// The string as a template. [`ExprKind::Invalid`] if it is not one.
    pub template: Expr,
    /// Why it is no template. Reported where one is wanted, for it may be a comment.
    pub problems: Vec<Diagnostic>,
}

impl JsonString {
    fn new(input: ParserInput<'_>, span: Span) -> Self {
        let mut diags = Diagnostics::new();
        // Most strings are plain, and need no parser.
        let template = if input.text.contains("${") || input.text.contains("%{") {
            parse_inner_template(&mut diags, input)
                .unwrap_or(Expr { kind: ExprKind::Invalid, span })
        } else {
            Expr { kind: ExprKind::Text(Str::new(input.text), span), span }
        };
        let problems = diags.into_iter().collect();
        Self { text: Str::new(input.text), template, problems }
    }

    /// Reads the text as an expression, as it is where a reference or a type is wanted. `span` is where
    /// the string stands.
    ///
    /// # Errors
    /// When it is none.
    pub fn parse_unquoted_expression(
        &self,
        diags: &mut Diagnostics,
        span: Span,
    ) -> Result<Expr, Reported> {
        // Positions in it are counted from the quote, as in Terraform.
        let input =
            ParserInput { text: &self.text, source: span.source, base: span.start, sources: None };
        let expr = parse_inner_expression(diags, input)?;
        Ok(Expr { span, ..expr })
    }

    /// The text, if it is a single name.
    pub(super) fn as_keyword(&self) -> Option<&str> {
        is_identifier(&self.text).then_some(self.text.as_str())
    }
}

impl Expr {
    /// The expression, read out of the string in which it stands in a file in JSON: for what must be
    /// an address there, and is evaluated nevertheless.
    ///
    /// # Errors
    /// When the string holds no expression.
    pub fn into_native_expr(self, diags: &mut Diagnostics) -> Result<Self, Reported> {
        match &self.kind {
            ExprKind::Json(json) => json.parse_unquoted_expression(diags, self.span),
            _ => Ok(self),
        }
    }
}

/// Parses a configuration file in JSON. Of what is no JSON the first error is reported, and nothing
/// is returned of such a file.
#[must_use]
pub fn parse_json(diags: &mut Diagnostics, sources: &Sources, source: SourceId) -> Body {
    let start = Span::new(source, 0, 0);
    let mut body = Body::empty(Span::new(source, 0, sources.source_text(source).len()), start);
    let Ok(root) = read_json::read_json(diags, sources, source) else { return body };
    match root.kind {
        ExprKind::Object(items) => body.undecided = json_members_as_attributes(items),
        // The same as one file for each.
        ExprKind::Tuple(elements) => {
            for element in elements {
                match element.kind {
                    ExprKind::Object(items) => {
                        body.undecided.extend(json_members_as_attributes(items));
                    }
                    _ => {
                        let detail = "Every element of the outermost array must be an object that contains arguments and blocks.";
                        let summary = messages::INCORRECT_JSON_VALUE_TYPE;
                        let _ = diags.error(Diagnostic::error(summary, detail).at(element.span));
                    }
                }
            }
        }
        _ => {
            let detail = "A JSON configuration must be an object, or an array of objects.";
            let summary = messages::ROOT_VALUE_MUST_BE_OBJECT;
            let _ = diags.error(Diagnostic::error(summary, detail).at(root.span));
        }
    }
    body
}

/// The members of an object, each of which may turn out to be an argument.
pub(crate) fn json_members_as_attributes(items: Vec<ObjectItem>) -> Vec<Attribute> {
    items.into_iter().map(json_member_as_attribute).collect()
}

fn json_member_as_attribute(item: ObjectItem) -> Attribute {
    let span = item.key.span.to(item.value.span);
    let text = match item.key.kind {
        ExprKind::Json(json) => json.text,
        // Keys of objects in JSON are strings.
        _ => Str::new(""),
    };
    Attribute { name: super::Ident { name: text, span: item.key.span }, expr: item.value, span }
}
