//! Conditions in the configuration: preconditions, postconditions, and validations of variables.
//!
//! Determines whether they are met. The caller decides the effect of a failure.

use formwork_lang::eval::{ErrorCause, describe_referenced_values};
use formwork_lang::syntax::Expr;
use formwork_value::diag::{Message, Severity};
use formwork_value::{Diagnostic, Diagnostics, Marks, Reported, Span, Type, Value, convert};

use super::ModuleScope;
use super::check_references::evaluate_despite_problems;
use super::condition_results::{
    ConditionListKind, ConditionResult, ConditionResults, ConditionSubject,
};
use crate::config::{ConditionBlock, Variable};
use crate::messages;
use crate::state::checks::{CheckStatus, CheckSubject};

/// The kind of object that a condition is attached to. It decides the wording of a failure, and its
/// severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionKind {
    /// Before a resource is planned or changed.
    ResourcePrecondition,
    /// After a resource was planned or changed.
    ResourcePostcondition,
    /// Before an output has its value.
    OutputPrecondition,
    /// An assertion of a check. A failure is a warning.
    Assertion,
}

/// The object whose conditions are evaluated, and the table that receives the verdicts.
#[derive(Clone, Copy)]
pub struct ConditionContext<'j> {
    /// The object.
    pub object: &'j ConditionSubject,
    /// The table of verdicts.
    pub verdicts: &'j ConditionResults,
    /// The severity of a failure. In a run that changes nothing it is only a warning.
    pub failure: Severity,
}

impl ConditionContext<'_> {
    fn record_outcome(
        &self,
        rule: ConditionListKind,
        at: usize,
        outcome: &Result<ConditionOutcome, Reported>,
    ) {
        let (status, message) = match outcome {
            Ok(ConditionOutcome::Holds) => (CheckStatus::Pass, None),
            Ok(ConditionOutcome::Unknown) => (CheckStatus::Unknown, None),
            Ok(ConditionOutcome::Fails(message)) => (CheckStatus::Fail, message.clone()),
            Err(_) => (CheckStatus::Error, None),
        };
        self.verdicts.set_result(self.object, rule, at, ConditionResult { status, message });
    }
}

/// Evaluates all conditions. An unknown condition counts as met.
///
/// # Errors
/// When the evaluation of a condition or its message fails, or a condition is not met and that is an error: a
/// failed assertion never is.
pub fn check_conditions(
    diags: &mut Diagnostics,
    scope: &ModuleScope<'_>,
    kind: ConditionKind,
    conditions: &[ConditionBlock],
    judging: ConditionContext<'_>,
) -> Result<(), Reported> {
    let (summary, rule) = match kind {
        ConditionKind::ResourcePrecondition => {
            (messages::RESOURCE_PRECONDITION_FAILED, ConditionListKind::Precondition)
        }
        ConditionKind::ResourcePostcondition => {
            (messages::RESOURCE_POSTCONDITION_FAILED, ConditionListKind::Postcondition)
        }
        ConditionKind::OutputPrecondition => {
            (messages::MODULE_OUTPUT_VALUE_PRECONDITION_FAILED, ConditionListKind::Precondition)
        }
        ConditionKind::Assertion => {
            (messages::CHECK_BLOCK_ASSERTION_FAILED, ConditionListKind::Assertion)
        }
    };
    let mut result = Ok(());
    for (at, condition) in conditions.iter().enumerate() {
        let outcome =
            evaluate_condition(diags, scope, condition, messages::INVALID_CONDITION_RESULT);
        judging.record_outcome(rule, at, &outcome);
        let only_warns = kind == ConditionKind::Assertion || judging.failure == Severity::Warning;
        let blame = |problem| {
            let problem = point_at_expr(problem, &condition.condition, scope);
            Diagnostic { of_check: kind == ConditionKind::Assertion, ..problem }
        };
        match outcome {
            // As in Terraform. Other conditions are evaluated during the apply, without a warning here.
            Ok(ConditionOutcome::Unknown) if kind == ConditionKind::Assertion => {
                diags.warn(
                    blame(unknown_assertion_warning()).with_failed_condition_of(judging.object),
                );
            }
            Ok(ConditionOutcome::Holds | ConditionOutcome::Unknown) => {}
            Ok(ConditionOutcome::Fails(message)) if only_warns => {
                let failed = Diagnostic::warning(summary, message_or_default(message));
                diags.warn(blame(failed).with_failed_condition_of(judging.object));
            }
            Ok(ConditionOutcome::Fails(message)) => {
                let failed = Diagnostic::error(summary, message_or_default(message));
                result = Err(diags.error(blame(failed).with_failed_condition_of(judging.object)));
            }
            Err(reported) => result = Err(reported),
        }
    }
    result
}

/// Evaluates conditions that cannot be decided yet, so that errors in them are found.
///
/// # Errors
/// When the evaluation of a condition or its message fails.
pub fn validate_conditions(
    diags: &mut Diagnostics,
    scope: &ModuleScope<'_>,
    conditions: &[ConditionBlock],
) -> Result<(), Reported> {
    let mut result = Ok(());
    for expr in conditions.iter().flat_map(|condition| [&condition.condition, &condition.message]) {
        result = evaluate_despite_problems(diags, expr, scope).map(drop).and(result);
    }
    result
}

/// Evaluates only the messages of conditions that are evaluated later. Of the conditions themselves,
/// only the references are checked.
///
/// # Errors
/// When the evaluation of a message fails, the message is not a string, or a reference is invalid.
pub fn evaluate_condition_messages(
    diags: &mut Diagnostics,
    scope: &ModuleScope<'_>,
    conditions: &[ConditionBlock],
) -> Result<(), Reported> {
    let mut result = Ok(());
    for ConditionBlock { condition, message, .. } in conditions {
        result = scope.check_references(diags, [condition]).and(result);
        let text = evaluate_despite_problems(diags, message, scope)
            .and_then(|value| read_message_value(diags, value, message, scope));
        result = text.map(drop).and(result);
    }
    result
}

/// Points a problem at the expression whose value it is about, and shows the values in that.
fn point_at_expr(problem: Diagnostic, expr: &Expr, scope: &ModuleScope<'_>) -> Diagnostic {
    problem.at(expr.span).with_referenced_values(describe_referenced_values(
        expr,
        scope,
        ErrorCause::Values,
    ))
}

fn unknown_assertion_warning() -> Diagnostic {
    Diagnostic::warning(
        messages::CHECK_BLOCK_ASSERTION_KNOWN_AFTER_APPLY,
        "The result depends on values that are not known yet. The condition is evaluated again when \
         this plan is applied.",
    )
}

/// A value of a variable, and the span of its source.
#[derive(Clone, Copy)]
pub struct VariableValue<'a> {
    /// The variable.
    pub variable: &'a Variable,
    /// The value.
    pub value: &'a Value,
    /// The span at which the value is set.
    pub span: Span,
}

/// Checks the validations of a variable, and reports errors at the source of its value. They use
/// this value, whether it is recorded yet or not.
///
/// # Errors
/// When a validation is not met, or the evaluation of it or its message fails.
pub fn validate_variable(
    diags: &mut Diagnostics,
    scope: &ModuleScope<'_>,
    input: VariableValue<'_>,
    verdicts: &ConditionResults,
) -> Result<(), Reported> {
    let VariableValue { variable, value, span } = input;
    let subject = CheckSubject::Variable(variable.name.clone());
    let object = ConditionSubject::of_single_object(scope.module_results().module_addr(), subject);
    let judging = ConditionContext { object: &object, verdicts, failure: Severity::Error };
    let scope = &scope.clone().with_variable(variable.name.clone(), value.clone());
    let parts = variable
        .validations
        .iter()
        .flat_map(|validation| [&validation.condition, &validation.message]);
    scope.check_references(diags, parts)?;
    let mut result = Ok(());
    for (at, condition) in variable.validations.iter().enumerate() {
        let outcome = evaluate_validation(diags, scope, condition);
        judging.record_outcome(ConditionListKind::Assertion, at, &outcome);
        match outcome {
            Ok(ConditionOutcome::Holds | ConditionOutcome::Unknown) => {}
            Ok(ConditionOutcome::Fails(message)) => {
                let (rule, message) = (&condition.position, message_or_default(message));
                let detail =
                    format!("{message}\n\nThis was checked by the validation rule at {rule}.");
                let failed = Diagnostic::error(messages::INVALID_VALUE_FOR_VARIABLE, detail);
                // The values shown are those of the rule, but the span is that of the value.
                let failed = point_at_expr(failed, &condition.condition, scope).at(span);
                result = Err(diags.error(failed.with_failed_condition_of(&object)));
            }
            Err(reported) => result = Err(reported),
        }
    }
    result
}

/// The result of the assertions of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AssertOutcome {
    /// All conditions are met.
    Pass,
    /// A condition is not met.
    Fail,
    /// The evaluation of a condition failed.
    Error,
}

/// Evaluates all assertions of a test, and reports those that are not met.
pub fn check_test_assertions(
    diags: &mut Diagnostics,
    scope: &ModuleScope<'_>,
    asserts: &[ConditionBlock],
) -> AssertOutcome {
    let mut outcome = AssertOutcome::Pass;
    for assert in asserts {
        let point_at_expr = |problem| point_at_expr(problem, &assert.condition, scope);
        match evaluate_condition(diags, scope, assert, messages::INVALID_CONDITION_RUN) {
            Ok(ConditionOutcome::Holds) => {}
            Ok(ConditionOutcome::Unknown) => {
                let detail = "Condition expression could not be evaluated at this time. This means you have executed a `run` block with `command = plan` and one of the values your condition depended on is not known until after the plan has been applied. Either remove this value from your condition, or execute an `apply` command from this `run` block. Alternatively, if there is an override for this value, you can make it available during the plan phase by setting `override_during = plan` in the `override_` block.";
                let unknown = Diagnostic::error(messages::UNKNOWN_CONDITION_VALUE, detail);
                let _ = diags.error(point_at_expr(unknown));
                outcome = AssertOutcome::Error;
            }
            Ok(ConditionOutcome::Fails(message)) => {
                let failed =
                    Diagnostic::error(messages::TEST_ASSERTION_FAILED, message_or_default(message));
                let _ = diags.error(point_at_expr(failed));
                outcome = outcome.max(AssertOutcome::Fail);
            }
            Err(_) => outcome = AssertOutcome::Error,
        }
    }
    outcome
}

/// The result of a condition.
enum ConditionOutcome {
    Holds,
    Unknown,
    /// With the message, if it may be shown.
    Fails(Option<String>),
}

fn message_or_default(message: Option<String>) -> String {
    let hidden = "The condition is not met. Its message cannot be shown: it is sensitive, ephemeral, or not \
                  known yet.";
    message.unwrap_or_else(|| hidden.to_owned())
}

/// Evaluates a condition and its message.
fn evaluate_condition(
    diags: &mut Diagnostics,
    scope: &ModuleScope<'_>,
    condition: &ConditionBlock,
    bad_result: &'static Message,
) -> Result<ConditionOutcome, Reported> {
    // The message is evaluated even if the condition is met, so that an error in it is found before
    // it is needed.
    let holds = evaluate_despite_problems(diags, &condition.condition, scope);
    let message = evaluate_despite_problems(diags, &condition.message, scope)
        .and_then(|value| read_message_value(diags, value, &condition.message, scope));
    // Only now, so that one run reports the errors of both.
    let (holds, message) = (holds?, message?);
    let context = ConditionValueContext { expr: &condition.condition, scope, bad_result };
    Ok(match read_condition_value(diags, holds, context)? {
        Some(true) => ConditionOutcome::Holds,
        None => ConditionOutcome::Unknown,
        Some(false) => ConditionOutcome::Fails(message),
    })
}

/// Evaluates the condition of a variable validation and its message. Only the message of a failed condition
/// must be a string.
fn evaluate_validation(
    diags: &mut Diagnostics,
    scope: &ModuleScope<'_>,
    condition: &ConditionBlock,
) -> Result<ConditionOutcome, Reported> {
    let bad_result = messages::INVALID_VARIABLE_VALIDATION_RESULT;
    let context = ConditionValueContext { expr: &condition.condition, scope, bad_result };
    let holds = evaluate_despite_problems(diags, &condition.condition, scope)
        .and_then(|value| read_condition_value(diags, value, context));
    let message = evaluate_despite_problems(diags, &condition.message, scope);
    let (holds, message) = (holds?, message?);
    Ok(match holds {
        Some(true) => ConditionOutcome::Holds,
        None => ConditionOutcome::Unknown,
        Some(false) => {
            ConditionOutcome::Fails(read_message_value(diags, message, &condition.message, scope)?)
        }
    })
}

/// Expression and scope of the value of a condition, and the summary of its errors.
#[derive(Clone, Copy)]
struct ConditionValueContext<'a> {
    expr: &'a Expr,
    scope: &'a ModuleScope<'a>,
    bad_result: &'static Message,
}

/// Reads the value of a condition; `None` while it is not known.
fn read_condition_value(
    diags: &mut Diagnostics,
    value: Value,
    context: ConditionValueContext<'_>,
) -> Result<Option<bool>, Reported> {
    let ConditionValueContext { expr, scope, bad_result } = context;
    let mut bad = |detail: String| {
        Err(diags.error(point_at_expr(Diagnostic::error(bad_result, detail), expr, scope)))
    };
    // Marks are irrelevant: the outcome shows whether the condition is met.
    let (value, _) = value.unmark();
    if value.is_null() {
        return bad("A condition must be true or false, but this one is null.".to_owned());
    }
    match convert::convert(&value, &Type::Bool) {
        Ok(Value::Bool(holds)) => Ok(Some(holds)),
        Ok(_) => Ok(None),
        Err(refused) => bad(format!("A condition must be true or false: {}.", refused.reason)),
    }
}

/// Reads the value of a message; `None` when it cannot be shown.
fn read_message_value(
    diags: &mut Diagnostics,
    value: Value,
    expr: &Expr,
    scope: &ModuleScope<'_>,
) -> Result<Option<String>, Reported> {
    let (value, marks) = value.unmark();
    if marks.contains(Marks::SENSITIVE) {
        let warning = Diagnostic::warning(
            messages::ERROR_MESSAGE_REFERS_TO_SENSITIVE_VALUES,
            "The message of this condition contains a sensitive value, so it is not shown. Remove the \
             value, or use `nonsensitive` if it is not a secret.",
        );
        diags.warn(point_at_expr(warning, expr, scope));
        return Ok(None);
    }
    if marks.contains(Marks::EPHEMERAL) {
        diags.warn(
            Diagnostic::warning(
                messages::ERROR_MESSAGE_REFERS_TO_EPHEMERAL_VALUES,
                "The message of this condition contains an ephemeral value, so it is not shown. Remove the \
                 value, or replace it with null by `ephemeralasnull`.",
            )
            .at(expr.span),
        );
        return Ok(None);
    }
    let mut bad = |detail: String| {
        let problem = Diagnostic::error(messages::INVALID_ERROR_MESSAGE, detail);
        Err(diags.error(point_at_expr(problem, expr, scope)))
    };
    if value.is_null() {
        return bad("A message must be a string, but this one is null.".to_owned());
    }
    match convert::convert(&value, &Type::String) {
        // Trimmed as in Terraform: a message in a heredoc ends in a line break.
        Ok(Value::String(text)) => Ok(Some(text.trim().to_owned())),
        Ok(_) => Ok(None),
        Err(refused) => bad(format!("A message must be a string: {}.", refused.reason)),
    }
}
