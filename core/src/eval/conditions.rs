//! Conditions of the author: pre- and postconditions, and validations of variables.

use formwork_value::{Diagnostics, Reported, Value};

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

/// Evaluates conditions. One that is not known yet holds for now.
///
/// # Errors
/// When a condition does not hold, or has no value, or its message has none.
pub fn check(
    diags: &mut Diagnostics,
    scope: &ModuleScope<'_>,
    kind: ConditionKind,
    conditions: &[Condition],
) -> Result<(), Reported> {
    let _ = (diags, scope, kind, conditions);
    todo!()
}

/// Checks the validations of a variable against its value, which must not be recorded yet or must be
/// the same.
///
/// # Errors
/// When a validation does not hold, or has no value, or its message has none.
pub fn validate_variable(
    diags: &mut Diagnostics,
    scope: &ModuleScope<'_>,
    variable: &Variable,
    value: &Value,
) -> Result<(), Reported> {
    let _ = (diags, scope, variable, value);
    todo!()
}
