//! Conditions of the author: pre- and postconditions, and validations of variables.
//!
//! Says whether they hold; what a failure stops is for the caller.

use formwork_lang::eval::evaluate;
use formwork_lang::syntax::Expr;
use formwork_value::{Diagnostic, Diagnostics, Marks, Reported, Span, Type, Value, convert};

use super::ModuleScope;
use crate::config::{Condition, Variable};

/// What a condition is attached to; decides the words of its failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionKind {
    /// Before a resource is planned or changed.
    ResourcePrecondition,
    /// After a resource was planned or changed.
    ResourcePostcondition,
    /// Before an output has its value.
    OutputPrecondition,
}

/// Evaluates conditions, all of them. One that is not known yet holds for now.
///
/// # Errors
/// When a condition does not hold, or has no value, or its message has none.
pub fn check(
    diags: &mut Diagnostics,
    scope: &ModuleScope<'_>,
    kind: ConditionKind,
    conditions: &[Condition],
) -> Result<(), Reported> {
    let summary = match kind {
        ConditionKind::ResourcePrecondition => "Resource precondition failed",
        ConditionKind::ResourcePostcondition => "Resource postcondition failed",
        ConditionKind::OutputPrecondition => "Module output value precondition failed",
    };
    let mut result = Ok(());
    for condition in conditions {
        match failure(diags, scope, condition, "Invalid condition result") {
            Ok(None) => {}
            Ok(Some(message)) => {
                let failed = Diagnostic::error(summary, message).at(condition.condition.span);
                result = Err(diags.error(failed));
            }
            Err(reported) => result = Err(reported),
        }
    }
    result
}

/// Checks the validations of a variable, and reports at the place that gave it its value. They see
/// this value, whether it is recorded yet or not.
///
/// # Errors
/// When a validation does not hold, or has no value, or its message has none.
pub fn validate_variable(
    diags: &mut Diagnostics,
    scope: &ModuleScope<'_>,
    (variable, place): (&Variable, Span),
    value: &Value,
) -> Result<(), Reported> {
    let scope = &scope.clone().with_variable(variable.name.clone(), value.clone());
    let mut result = Ok(());
    for condition in &variable.validations {
        match failure(diags, scope, condition, "Invalid variable validation result") {
            Ok(None) => {}
            Ok(Some(message)) => {
                let rule = &condition.place;
                let detail =
                    format!("{message}\n\nThis was checked by the validation rule at {rule}.");
                let failed = Diagnostic::error("Invalid value for variable", detail).at(place);
                result = Err(diags.error(failed));
            }
            Err(reported) => result = Err(reported),
        }
    }
    result
}

/// Evaluates a condition and its message. Returns the message if the condition does not hold. It is
/// evaluated also when the condition holds, so that a mistake in it shows before the day it is needed.
fn failure(
    diags: &mut Diagnostics,
    scope: &ModuleScope<'_>,
    condition: &Condition,
    bad_result: &str,
) -> Result<Option<String>, Reported> {
    let holds = evaluate(diags, &condition.condition, scope)
        .and_then(|value| truth(diags, value, condition.condition.span, bad_result));
    let message = evaluate(diags, &condition.message, scope)
        .and_then(|value| message_text(diags, value, &condition.message));
    let (holds, message) = (holds?, message?);
    // What is not known yet holds for now.
    if holds != Some(false) {
        return Ok(None);
    }
    Ok(Some(message.unwrap_or_else(|| {
        "The condition does not hold. Its message cannot be shown: it is sensitive, or not known yet."
            .to_owned()
    })))
}

/// Reads the value of a condition; `None` while it is not known.
fn truth(
    diags: &mut Diagnostics,
    value: Value,
    span: Span,
    bad_result: &str,
) -> Result<Option<bool>, Reported> {
    let mut bad = |detail: String| Err(diags.error(Diagnostic::error(bad_result, detail).at(span)));
    let (value, _) = value.unmark();
    if value.is_null() {
        return bad("A condition must be true or false, and this one is null.".to_owned());
    }
    match convert::convert(&value, &Type::Bool) {
        Ok(Value::Bool(holds)) => Ok(Some(holds)),
        Ok(_) => Ok(None),
        Err(refused) => bad(format!("A condition must be true or false: {}.", refused.reason)),
    }
}

/// Reads the value of a message; `None` when it cannot be shown.
fn message_text(
    diags: &mut Diagnostics,
    value: Value,
    expr: &Expr,
) -> Result<Option<String>, Reported> {
    let (value, marks) = value.unmark();
    if marks.contains(Marks::SENSITIVE) {
        diags.warn(
            Diagnostic::warning(
                "Error message refers to sensitive values",
                "The message of this condition holds a sensitive value, so it is not shown. Leave the \
                 value out, or take its mark off with `nonsensitive` where it is no secret.",
            )
            .at(expr.span),
        );
        return Ok(None);
    }
    let mut bad = |detail: String| {
        Err(diags.error(Diagnostic::error("Invalid error message", detail).at(expr.span)))
    };
    if marks.contains(Marks::EPHEMERAL) {
        return bad("A message must not hold an ephemeral value.".to_owned());
    }
    if value.is_null() {
        return bad("A message must be a string, and this one is null.".to_owned());
    }
    match convert::convert(&value, &Type::String) {
        Ok(Value::String(text)) => Ok(Some(text.trim().to_owned())),
        Ok(_) => Ok(None),
        Err(refused) => bad(format!("A message must be a string: {}.", refused.reason)),
    }
}
