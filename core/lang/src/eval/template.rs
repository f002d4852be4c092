//! Templates: strings with interpolations and directives.

use crate::messages;
use crate::print_value::type_with_article;
use formwork_value::{Diagnostic, Marks, Reported, Span, Str, Type, Value, convert};

use super::collection::{key_value_at, with_for_names};
use super::operator::Conditional;
use super::{Evaluator, ForFrames};
use crate::limits::{Budget, ExceededLimit, MAX_VALUE_SIZE};
use crate::syntax::{Expr, TemplateFor, TemplateIf, TemplatePart};
use crate::unknown_string::unknown_string_with_prefix;

/// Greatest length of the known prefix of an unknown string, in bytes.
const MAX_KNOWN_PREFIX_BYTES: usize = 128;

/// A template being rendered.
#[derive(Default)]
struct TemplateOutput {
    /// The rendered text, up to the first unknown part.
    text: String,
    marks: Marks,
    unknown: bool,
    failed: Option<Reported>,
}

impl TemplateOutput {
    /// Adds text, which is charged before it is stored.
    fn push_text(&mut self, text: &str, budget: &Budget) -> Result<(), ExceededLimit> {
        // Text after an unknown part is not used, because only the prefix of the result is known.
        if self.unknown || self.failed.is_some() {
            return Ok(());
        }
        budget.charge_bytes(text.len())?;
        if (self.text.len() + text.len()) as u64 > MAX_VALUE_SIZE {
            return Err(ExceededLimit::ValueSize);
        }
        self.text.push_str(text);
        Ok(())
    }

    fn into_value(self) -> Result<Value, Reported> {
        if let Some(reported) = self.failed {
            return Err(reported);
        }
        let value = if self.unknown {
            let mut end = self.text.len().min(MAX_KNOWN_PREFIX_BYTES);
            // The cut may fall inside a character, where a slice would panic.
            while !self.text.is_char_boundary(end) {
                end -= 1;
            }
            unknown_string_with_prefix(self.text.get(..end).unwrap_or(""))
        } else {
            Value::string(self.text)
        };
        Ok(value.mark(self.marks))
    }
}

impl Evaluator<'_> {
    /// Renders the parts, and reports the errors of all of them.
    pub(super) fn render_template_parts(
        &mut self,
        parts: &[TemplatePart],
        template_span: Span,
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        let mut rendering = TemplateOutput::default();
        for part in parts {
            self.render_template_part(&mut rendering, part, template_span, frames)
                .map_err(|limit| self.report_exceeded_limit(limit, template_span))?;
        }
        rendering.into_value()
    }

    fn render_template_part(
        &mut self,
        rendering: &mut TemplateOutput,
        part: &TemplatePart,
        template_span: Span,
        frames: ForFrames<'_>,
    ) -> Result<(), ExceededLimit> {
        let (value, subject, blamed) = match part {
            TemplatePart::Literal(text, _) => return rendering.push_text(text, self.budget),
            TemplatePart::Interpolation(expr) => {
                (self.evaluate_expr(expr, frames), expr.span, Some(expr))
            }
            TemplatePart::If(choice) => (self.render_if(choice, frames), choice.span, None),
            TemplatePart::For(repeat) => (self.render_for(repeat, frames), repeat.span, None),
        };
        let value = match value {
            Ok(value) => value,
            Err(reported) => {
                rendering.failed = Some(reported);
                return Ok(());
            }
        };
        rendering.marks |= value.marks();
        match interpolated_text(value.without_own_marks()) {
            Ok(Some(text)) => rendering.push_text(&text, self.budget)?,
            Ok(None) => rendering.unknown = true,
            Err(detail) => {
                let diag =
                    Diagnostic::error(messages::INVALID_TEMPLATE_INTERPOLATION_VALUE, detail)
                        .at(subject)
                        .with_source_context(template_span);
                rendering.failed = Some(match blamed {
                    Some(expr) => self.report_error(diag, expr, frames),
                    None => self.diags.error(diag),
                });
            }
        }
        Ok(())
    }

    fn render_if(&mut self, choice: &TemplateIf, frames: ForFrames<'_>) -> Result<Value, Reported> {
        let TemplateIf { condition, yes, no, span } = choice;
        let span = *span;
        // Both are rendered, as both results of a conditional expression are evaluated.
        let [yes, no] = [yes, no].map(|arm| {
            self.capture_diagnostics(|this| this.render_template_parts(arm, span, frames))
        });
        let choice = Conditional { condition, spans: [span, span], span };
        self.choose_conditional_arm(&choice, [yes, no], frames)
    }

    fn render_for(
        &mut self,
        repeat: &TemplateFor,
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        let TemplateFor { key: key_name, value: value_name, body, span, .. } = repeat;
        let (key_name, span) = (key_name.as_ref(), *span);
        let collection = self.evaluate_expr(&repeat.collection, frames)?;
        let mut rendering =
            TemplateOutput { marks: collection.marks(), ..TemplateOutput::default() };
        // Messages about the collection show the enclosing expression, and a directive is not an
        // expression.
        let for_expr = Expr { span, kind: crate::syntax::ExprKind::Invalid };
        if !self.check_iterable(&for_expr, &repeat.collection, &collection, frames)? {
            rendering.unknown = true;
            return rendering.into_value();
        }
        for at in 0..collection.children().len() {
            let (key, value) = key_value_at(&collection, at);
            let text = with_for_names(key_name, value_name, [&key, value], frames, |frames| {
                self.render_template_parts(body, span, frames)
            })?;
            rendering.marks |= text.marks();
            match text.without_own_marks() {
                Value::String(text) => {
                    let pushed = rendering.push_text(text, self.budget);
                    pushed.map_err(|limit| self.report_exceeded_limit(limit, span))?;
                }
                _ => rendering.unknown = true,
            }
        }
        // HCL joins the iterations of a `for` only if all are known, and provides no prefix otherwise.
        if rendering.unknown {
            rendering.text.clear();
        }
        rendering.into_value()
    }
}

/// Returns the string of an interpolated value, `None` if it is unknown, or an explanation if it cannot
/// be converted.
fn interpolated_text(value: &Value) -> Result<Option<Str>, String> {
    match value {
        Value::String(text) => Ok(Some(text.clone())),
        Value::Null(_) => {
            Err("The expression result is null. Cannot include a null value in a string template."
                .into())
        }
        // Terraform checks the type when the value is known, so a plan that succeeds there must not fail
        // here.
        Value::Unknown(_) => Ok(None),
        _ => match convert::convert(value, &Type::String) {
            Ok(Value::String(text)) => Ok(Some(text)),
            Ok(_) => Ok(None),
            Err(_) => Err(not_a_string_detail(&value.ty())),
        },
    }
}

fn not_a_string_detail(ty: &Type) -> String {
    format!(
        "Cannot include the given value in a string template: string required. It is {}; use jsonencode() or join() to convert it to a string.",
        type_with_article(ty)
    )
}
