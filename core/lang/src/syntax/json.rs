//! The JSON syntax of the language. The meaning of an object depends on the schema, so it becomes a body
//! with undecided content. A string keeps its source, because it can be a template, a reference, a type
//! or a literal string.

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

/// A string of a JSON file.
#[derive(Clone, Debug)]
pub struct JsonString {
    /// The literal string, for positions without evaluation.
    pub text: Str,
    /// The string as a template, or [`ExprKind::Invalid`] if it cannot be parsed as one.
    pub template: Expr,
    /// The errors of the template. They are reported when the template is evaluated, because the string
    /// may be a comment.
    pub problems: Vec<Diagnostic>,
}

impl JsonString {
    fn new(input: ParserInput<'_>, span: Span) -> Self {
        let mut diags = Diagnostics::new();
        // Most strings are literal and do not need a parser.
        let template = if input.text.contains("${") || input.text.contains("%{") {
            parse_inner_template(&mut diags, input)
                .unwrap_or(Expr { kind: ExprKind::Invalid, span })
        } else {
            Expr { kind: ExprKind::Text(Str::new(input.text), span), span }
        };
        let problems = diags.into_iter().collect();
        Self { text: Str::new(input.text), template, problems }
    }

    /// Parses the string as an expression, for positions that require a reference or a type. `span`
    /// is the span of the string.
    ///
    /// # Errors
    /// Returns an error if the string is not an expression.
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

    /// Returns the string, if it is a single name.
    pub(super) fn as_keyword(&self) -> Option<&str> {
        is_identifier(&self.text).then_some(self.text.as_str())
    }
}

impl Expr {
    /// Parses the expression in the string of a JSON file: for arguments that must be an address but are
    /// evaluated nevertheless.
    ///
    /// # Errors
    /// Returns an error if the string does not contain an expression.
    pub fn into_native_expr(self, diags: &mut Diagnostics) -> Result<Self, Reported> {
        match &self.kind {
            ExprKind::Json(json) => json.parse_unquoted_expression(diags, self.span),
            _ => Ok(self),
        }
    }
}

/// Parses a JSON configuration file. If it is not valid JSON, the first errors are reported and no
/// content is returned.
#[must_use]
pub fn parse_json(diags: &mut Diagnostics, sources: &Sources, source: SourceId) -> Body {
    let start = Span::new(source, 0, 0);
    let mut body = Body::empty(Span::new(source, 0, sources.source_text(source).len()), start);
    let Ok(root) = read_json::read_json(diags, sources, source) else { return body };
    match root.kind {
        ExprKind::Object(items) => body.undecided = json_members_as_attributes(items),
        // Equivalent to one file for each element.
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

/// Returns the members of an object, each of which may be an argument or blocks.
pub(crate) fn json_members_as_attributes(items: Vec<ObjectItem>) -> Vec<Attribute> {
    items.into_iter().map(json_member_as_attribute).collect()
}

fn json_member_as_attribute(item: ObjectItem) -> Attribute {
    let span = item.key.span.to(item.value.span);
    let text = match item.key.kind {
        ExprKind::Json(json) => json.text,
        // The keys of JSON objects are strings.
        _ => Str::new(""),
    };
    Attribute { name: super::Ident { name: text, span: item.key.span }, expr: item.value, span }
}
