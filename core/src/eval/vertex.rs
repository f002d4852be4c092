//! Variables, local values and outputs: the vertices that planning and applying share, because
//! values flow the same way in both.

use formwork_lang::eval::evaluate;
use formwork_value::{Diagnostic, Diagnostics, Marks, Reported, Value};

use super::conditions::{self, ConditionKind};
use super::{ModuleResults, ModuleScope};
use crate::config::{Local, Output, Variable};

/// A thing that is only a value.
#[derive(Clone, Copy, Debug)]
pub enum ValueVertex<'c> {
    /// An input variable.
    Variable(&'c Variable),
    /// A local value.
    Local(&'c Local),
    /// An output value.
    Output(&'c Output),
}

impl ValueVertex<'_> {
    /// Finds the value. `given` are the values of root variables, already converted.
    ///
    /// # Errors
    /// When the expression fails or a condition does not hold.
    pub fn visit(
        self,
        diags: &mut Diagnostics,
        scope: &ModuleScope<'_>,
        given: &std::collections::BTreeMap<formwork_value::Str, Value>,
    ) -> Result<Value, Reported> {
        match self {
            Self::Variable(variable) => {
                let value = given
                    .get(&variable.name)
                    .cloned()
                    .unwrap_or_else(|| Value::unknown(variable.ty.clone()));
                let value = value.mark(variable_marks(variable));
                conditions::validate_variable(diags, scope, variable, &value)?;
                Ok(value)
            }
            Self::Local(local) => evaluate(diags, &local.expr, scope),
            Self::Output(output) => visit_output(diags, output, scope),
        }
    }

    /// Records the value that [`ValueVertex::visit`] found.
    pub fn record(self, results: &ModuleResults, value: Value) {
        match self {
            Self::Variable(variable) => results.variables.set(&variable.name, value),
            Self::Local(local) => results.locals.set(&local.name, value),
            Self::Output(output) => results.outputs.set(&output.name, value),
        }
    }
}

fn variable_marks(variable: &Variable) -> Marks {
    let sensitive = if variable.sensitive { Marks::SENSITIVE } else { Marks::NONE };
    let ephemeral = if variable.ephemeral { Marks::EPHEMERAL } else { Marks::NONE };
    sensitive | ephemeral
}

fn visit_output(
    diags: &mut Diagnostics,
    output: &Output,
    scope: &ModuleScope<'_>,
) -> Result<Value, Reported> {
    let kind = ConditionKind::OutputPrecondition;
    conditions::check(diags, scope, kind, &output.preconditions)?;
    let value = evaluate(diags, &output.expr, scope)?;
    let marks = value.all_marks();
    if marks.contains(Marks::SENSITIVE) && !output.sensitive {
        return Err(diags.error(
            Diagnostic::error(
                "Output refers to sensitive values",
                "To reduce the risk of accidentally exporting sensitive data that was intended to be only internal, Formwork requires that any root module output containing sensitive data be explicitly marked as sensitive, to confirm your intent.\n\nIf you do intend to export this data, annotate the output value as sensitive by adding the following argument:\n    sensitive = true",
            )
            .at(output.span),
        ));
    }
    if marks.contains(Marks::EPHEMERAL) {
        return Err(diags.error(
            Diagnostic::error(
                "Ephemeral value not allowed",
                "This output value is not declared as returning an ephemeral value, so it cannot be set to a result derived from an ephemeral value.",
            )
            .at(output.expr.span),
        ));
    }
    Ok(if output.sensitive { value.mark(Marks::SENSITIVE) } else { value })
}

impl std::fmt::Display for ValueVertex<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Variable(variable) => write!(f, "var.{}", variable.name),
            Self::Local(local) => write!(f, "local.{}", local.name),
            Self::Output(output) => write!(f, "output.{}", output.name),
        }
    }
}
