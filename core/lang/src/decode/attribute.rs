//! The value of one argument, converted to the type of the schema.

use formwork_value::convert::{ConversionError, convert};
use formwork_value::schema::Attribute as Schema;
use formwork_value::{Diagnostic, Step, Value};

use super::{DecodeContext, Decoder};
use crate::eval::{ErrorCause, describe_referenced_values, evaluate};
use crate::messages;
use crate::syntax::Attribute;

impl Decoder<'_> {
    /// Evaluates an argument. An invalid one is unknown.
    pub(super) fn decode_attribute(
        &mut self,
        written: &Attribute,
        schema: &Schema,
        context: DecodeContext<'_>,
    ) -> Value {
        if context.is_unknown {
            // The content may only be valid for the elements that the block will have once they are
            // known.
            return Value::unknown(schema.implied_type()).mark(context.marks);
        }
        let Ok(value) = evaluate(self.diags, &written.expr, context.scope) else {
            // Unknown, so that the error is reported once and the rest is still checked.
            return Value::unknown(schema.implied_type());
        };
        match convert(&value, &schema.conversion_type()) {
            Ok(value) => value.mark(context.marks),
            Err(refused) => {
                let name = &written.name.name;
                let detail = format!(
                    "Inappropriate value for attribute {name:?}: {}",
                    describe_conversion_error(&refused)
                );
                let _ = self.diags.error(
                    Diagnostic::error(messages::INCORRECT_ATTRIBUTE_VALUE_TYPE, detail)
                        .at(written.expr.span)
                        .with_source_context(written.span)
                        .with_referenced_values(describe_referenced_values(
                            &written.expr,
                            context.scope,
                            ErrorCause::Values,
                        )),
                );
                Value::unknown(schema.implied_type())
            }
        }
    }
}

/// Explains why a value was refused. The path inside the value comes first if no value of the type is
/// valid, and last if another value of the type would be: Terraform omits it in this case.
fn describe_conversion_error(refused: &ConversionError) -> String {
    let depends_on_value = ["a number is required", "a bool is required"];
    if depends_on_value.iter().any(|reason| refused.reason.starts_with(reason)) {
        return match refused.path.to_string().trim_start_matches('.') {
            "" => format!("{}.", refused.reason),
            path => format!("{}.\n\nThe unsuitable value is at {path}.", refused.reason),
        };
    }
    let mut text = String::new();
    for step in &refused.path.0 {
        text += &match step {
            Step::Attribute(name) => format!("attribute {name:?}: "),
            Step::Key(key) => format!("element {key:?}: "),
            Step::Index(at) => format!("element {at}: "),
        };
    }
    format!("{text}{}.", refused.reason)
}
