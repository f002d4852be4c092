//! Variables, local values and outputs: the vertices that planning and applying share, because
//! values flow the same way in both. A vertex represents a name in a module as written, and is visited
//! once for all instances of the module.

use std::collections::BTreeMap;

use formwork_value::diag::Severity;
use formwork_value::{Diagnostic, Diagnostics, Marks, Reported, Str, Type, Value};

use super::check_references::{ReferenceLocation, StaticReferenceCheck, evaluate_checked};
use super::condition_results::ConditionSubject;
use super::conditions::{self, ConditionContext, ConditionKind, VariableValue};
use super::known_constants::ConstantCandidate;
use super::{HostValues, ModuleScope, RepetitionData, Results};
use crate::addr::{ModuleAddr, Reference, ReferenceSubject};
use crate::config::bad_reference;
use crate::config::inputs::{self, ResolvedVariable, VariableTypeError};
use crate::config::{
    CallArgument, CheckBlock, Config, LocalValue, ModuleCall, ModuleNode, Output, Variable,
};
use crate::graph::render::{RenderedVertex, VertexStyle};
use crate::messages;
use crate::state::checks::CheckSubject;

/// Inputs of the evaluation of values.
#[derive(Clone, Copy)]
pub struct EvalInputs<'g> {
    /// The configuration.
    pub config: &'g Config,
    /// Results so far.
    pub results: &'g Results,
    /// Values from outside the configuration.
    pub world: &'g HostValues,
    /// Values of the root variables, converted.
    pub variables: &'g BTreeMap<Str, ResolvedVariable>,
    /// Whether only the configuration is checked. Then every variable is unknown.
    pub checking: bool,
    /// Checks references before an expression is evaluated.
    pub check: Option<&'g StaticReferenceCheck<'g>>,
    /// The severity of a failed precondition of an output.
    pub failure: Severity,
}

/// A block that defines only a value.
#[derive(Clone, Copy, Debug)]
pub struct ValueVertex<'c> {
    /// The module it belongs to.
    pub node: &'c ModuleNode,
    /// The value as a member of that module.
    pub value: NamedValueBlock<'c>,
}

/// A member of a module that is only a value.
#[derive(Clone, Copy, Debug)]
pub enum NamedValueBlock<'c> {
    /// An input variable.
    Variable(&'c Variable),
    /// A local value.
    Local(&'c LocalValue),
    /// An output value.
    Output(&'c Output),
    /// A block of conditions. It has no value, but is evaluated like one.
    Check(&'c CheckBlock),
}

impl<'c> ValueVertex<'c> {
    /// Computes the value in each instance of the module, in their order.
    ///
    /// # Errors
    /// When an expression fails or a condition is not met in one of the instances.
    pub fn visit_value(
        self,
        diags: &mut Diagnostics,
        eval_inputs: EvalInputs<'_>,
    ) -> Result<Vec<Value>, Reported> {
        if let NamedValueBlock::Variable(variable) = self.value
            && let Some((caller, call)) = eval_inputs.config.call_of_module(self.node)
        {
            return visit_module_variable(
                diags,
                eval_inputs,
                CallInModule { caller, call },
                variable,
            );
        }
        let mut values = Ok(Vec::new());
        for module in eval_inputs.results.module_instances(&self.node.path) {
            let scope =
                ModuleScope::new(module, eval_inputs.world).with_reference_check(eval_inputs.check);
            let value = match self.value {
                NamedValueBlock::Variable(variable) => {
                    visit_root_variable(diags, &scope, variable, eval_inputs)
                }
                NamedValueBlock::Local(local) => {
                    check_no_self_reference(diags, local)?;
                    let wanted = ConstantCandidate::Local(&local.name);
                    eval_inputs.results.known_constants().evaluate_or_recall(
                        diags,
                        wanted,
                        &local.expr,
                        &scope,
                    )
                }
                NamedValueBlock::Output(output) => visit_output(diags, output, &scope, eval_inputs),
                NamedValueBlock::Check(check) => {
                    visit_check_block(diags, check, &scope, eval_inputs)
                }
            };
            collect_value(&mut values, value);
        }
        values
    }

    /// Records the values that [`ValueVertex::visit_value`] found.
    pub fn record_values(self, results: &Results, values: Vec<Value>) {
        // In the order of `visit`: all instances of this module were known at that time.
        for (module, value) in results.module_instances(&self.node.path).into_iter().zip(values) {
            match self.value {
                NamedValueBlock::Variable(variable) => module.variables.set(&variable.name, value),
                NamedValueBlock::Local(local) => module.locals.set(&local.name, value),
                NamedValueBlock::Output(output) => module.outputs.set(&output.name, value),
                // Nothing can refer to a check block.
                NamedValueBlock::Check(_) => {}
            }
        }
    }

    /// The root module output of the vertex, if it is one: these outputs are stored in the state and shown to
    /// users.
    #[must_use]
    pub fn as_root_output(self) -> Option<&'c Output> {
        match self.value {
            NamedValueBlock::Output(output) if self.node.caller.is_none() => Some(output),
            _ => None,
        }
    }

    /// The references of the vertex, by the module that contains them: the argument of a variable is in the
    /// caller.
    #[must_use]
    pub fn references(self, config: &'c Config) -> Vec<(&'c ModuleNode, &'c [Reference])> {
        match self.value {
            NamedValueBlock::Variable(variable) => {
                let own_references = (self.node, variable.references.as_slice());
                let call = config.call_of_module(self.node);
                let caller_references = call.and_then(|(caller, call)| {
                    let argument = call.arguments.get(&variable.name)?;
                    Some((caller, argument.references.as_slice()))
                });
                caller_references.into_iter().chain([own_references]).collect()
            }
            NamedValueBlock::Local(local) => vec![(self.node, &local.references)],
            NamedValueBlock::Output(output) => vec![(self.node, &output.references)],
            NamedValueBlock::Check(check) => vec![(self.node, &check.references)],
        }
    }
}

/// Reports a local value that refers to itself.
fn check_no_self_reference(diags: &mut Diagnostics, local: &LocalValue) -> Result<(), Reported> {
    let is_own = |reference: &&Reference| matches!(&reference.subject, ReferenceSubject::Local(name) if *name == local.name);
    let mut result = Ok(());
    for reference in local.references.iter().filter(is_own) {
        let detail = format!(
            "Local value local.{} cannot use its own result as part of its expression.",
            local.name
        );
        let problem = Diagnostic::error(messages::SELF_REFERENCING_LOCAL_VALUE, detail);
        result = Err(diags.error(problem.at(reference.span)));
    }
    result
}

/// Adds a value to the list; the first error is the error of the whole list.
fn collect_value(values: &mut Result<Vec<Value>, Reported>, value: Result<Value, Reported>) {
    match (&mut *values, value) {
        (Ok(values), Ok(value)) => values.push(value),
        (Ok(_), Err(reported)) => *values = Err(reported),
        (Err(_), _) => {}
    }
}

/// The value of a root variable.
fn visit_root_variable(
    diags: &mut Diagnostics,
    scope: &ModuleScope<'_>,
    variable: &Variable,
    eval_inputs: EvalInputs<'_>,
) -> Result<Value, Reported> {
    let input = eval_inputs.variables.get(&variable.name);
    let value = input.map(|input| input.value.clone());
    let value = value.unwrap_or_else(|| Value::unknown(variable.ty.clone()));
    let value = value.mark(variable_marks(variable));
    let span = input.and_then(|input| input.given).unwrap_or(variable.span);
    let verdicts = &eval_inputs.results.verdicts;
    let variable_value = VariableValue { variable, value: &value, span };
    conditions::validate_variable(diags, scope, variable_value, verdicts)?;
    Ok(value)
}

/// A call of a module, and the module that has it.
#[derive(Clone, Copy)]
struct CallInModule<'c> {
    caller: &'c ModuleNode,
    call: &'c ModuleCall,
}

/// The values of a variable of a called module: the argument that each instance of the caller
/// passes to each instance of the called one.
fn visit_module_variable(
    diags: &mut Diagnostics,
    eval_inputs: EvalInputs<'_>,
    called: CallInModule<'_>,
    variable: &Variable,
) -> Result<Vec<Value>, Reported> {
    let CallInModule { caller, call } = called;
    let mut values = Ok(Vec::new());
    for module in eval_inputs.results.module_instances(&caller.path) {
        let Some(results) = module.call_results(&call.site.name) else { continue };
        // Without an expansion, an error in the call was reported.
        let Some(expansion) = results.expansion() else { continue };
        for key in expansion.keys() {
            let Some(child) = results.instance_results(&key) else { continue };
            // The outputs are overridden, and nothing reads the variable. As in Terraform, the value is checked
            // only when the configuration is, and then nothing is overridden.
            if child.is_overridden() {
                continue;
            }
            let data = match eval_inputs.checking {
                true => RepetitionData::unknown_of_any_kind(),
                false => expansion.repetition_data(&key),
            };
            let outside = ModuleScope::new(module, eval_inputs.world).with_repetition(data);
            let outside = outside.with_reference_check(eval_inputs.check);
            let argument = call.arguments.get(&variable.name);
            let taker = VariableInModule { module: child.module_addr(), variable };
            let value =
                evaluate_passed_argument(diags, &outside, taker, argument).and_then(|value| {
                    let inside = ModuleScope::new(child, eval_inputs.world)
                        .with_reference_check(eval_inputs.check);
                    let span = argument.map_or(call.site.span, |argument| argument.expr.span);
                    let variable_value = VariableValue { variable, value: &value, span };
                    let verdicts = &eval_inputs.results.verdicts;
                    conditions::validate_variable(diags, &inside, variable_value, verdicts)?;
                    // The module must be valid for every input.
                    Ok(if eval_inputs.checking {
                        inputs::unknown_variable_value(variable)
                    } else {
                        value
                    })
                });
            collect_value(&mut values, value);
        }
    }
    values
}

/// A variable of an instance of a module.
#[derive(Clone, Copy)]
struct VariableInModule<'a> {
    module: &'a ModuleAddr,
    variable: &'a Variable,
}

/// The argument that a call passes, converted.
fn evaluate_passed_argument(
    diags: &mut Diagnostics,
    scope: &ModuleScope<'_>,
    taker: VariableInModule<'_>,
    argument: Option<&CallArgument>,
) -> Result<Value, Reported> {
    let VariableInModule { module, variable } = taker;
    let Some(argument) = argument else {
        // Required arguments were checked when the configuration was read.
        let default = variable.default.clone();
        let value = default.unwrap_or_else(|| Value::unknown(variable.ty.clone()));
        return Ok(value.mark(variable_marks(variable)));
    };
    let span = argument.expr.span;
    let value = evaluate_checked(diags, &argument.expr, scope)?;
    if !variable.ephemeral && value.all_marks().contains(Marks::EPHEMERAL) {
        let detail = "This input variable is not declared as accepting a ephemeral values, so it cannot be set to a result derived from an ephemeral value.";
        return Err(
            diags.error(Diagnostic::error(messages::EPHEMERAL_VALUE_NOT_ALLOWED, detail).at(span))
        );
    }
    inputs::convert_value_for_variable(variable, value).map_err(|mismatch| {
        let (summary, reason) = match mismatch {
            VariableTypeError::Null => (
                messages::REQUIRED_VARIABLE_NOT_SET,
                "required variable may not be set to null".to_owned(),
            ),
            VariableTypeError::Type(reason) => (messages::INVALID_VALUE_FOR_INPUT_VARIABLE, reason),
        };
        let detail = format!(
            "The given value is not suitable for {module}.var.{} declared at {}: {reason}.",
            variable.name, variable.position
        );
        diags.error(Diagnostic::error(summary, detail).at(span))
    })
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
    eval_inputs: EvalInputs<'_>,
) -> Result<Value, Reported> {
    let is_root = scope.module_results().module_addr().is_root();
    if is_root && output.ephemeral {
        return Err(diags.error(bad_reference::ephemeral_root_output_error(output)));
    }
    let kind = ConditionKind::OutputPrecondition;
    let subject = CheckSubject::Output(output.name.clone());
    let object = &ConditionSubject::of_single_object(scope.module_results().module_addr(), subject);
    let (verdicts, failure) = (&eval_inputs.results.verdicts, eval_inputs.failure);
    let judging = ConditionContext { object, verdicts, failure };
    // First, because preconditions contain the author's explanation of a missing value.
    conditions::check_conditions(diags, scope, kind, &output.preconditions, judging)?;
    let wanted = ConstantCandidate::Output(&output.name);
    let value = eval_inputs.results.known_constants().evaluate_or_recall(
        diags,
        wanted,
        &output.expr,
        scope,
    );
    // Not returned immediately, so that one run reports the errors of both.
    let are_objects_valid = scope.check_whole_object_references(diags, &output.depends_on);
    let value = value?;
    are_objects_valid?;
    check_output_value(diags, output, is_root, &value)?;
    // Terraform marks only values that leave the root module. Inside, a value is as secret as the
    // values that it is derived from.
    let is_secret = is_root && output.sensitive;
    let sensitive = if is_secret { Marks::SENSITIVE } else { Marks::NONE };
    let ephemeral = if output.ephemeral { Marks::EPHEMERAL } else { Marks::NONE };
    Ok(value.mark(sensitive | ephemeral))
}

/// Checks that an output may have this value.
fn check_output_value(
    diags: &mut Diagnostics,
    output: &Output,
    is_root: bool,
    value: &Value,
) -> Result<(), Reported> {
    let marks = value.all_marks();
    if is_root && marks.contains(Marks::SENSITIVE) && !output.sensitive {
        return Err(diags.error(
            Diagnostic::error(
                messages::OUTPUT_REFERS_TO_SENSITIVE_VALUES,
                "To reduce the risk of accidentally exporting sensitive data that was intended to be only internal, Formwork requires that any root module output containing sensitive data be explicitly marked as sensitive, to confirm your intent.\n\nIf you do intend to export this data, annotate the output value as sensitive by adding the following argument:\n    sensitive = true",
            )
            .at(output.span),
        ));
    }
    if !is_root && output.ephemeral && !marks.contains(Marks::EPHEMERAL) {
        let detail = "This output value is declared as returning an ephemeral value, so it can only be set to an ephemeral value.";
        let problem = Diagnostic::error(messages::VALUE_NOT_ALLOWED_IN_EPHEMERAL_OUTPUT, detail);
        return Err(diags.error(problem.at(output.expr.span)));
    }
    // A root module output declared as ephemeral is a separate error, reported when the output is
    // read.
    if marks.contains(Marks::EPHEMERAL) && !output.ephemeral {
        return Err(diags.error(
            Diagnostic::error(
                messages::EPHEMERAL_VALUE_NOT_ALLOWED,
                "This output value is not declared as returning an ephemeral value, so it cannot be set to a result derived from an ephemeral value.",
            )
            .at(output.expr.span),
        ));
    }
    if is_root && has_infinite_number(value) {
        let detail = "This output value contains an infinite number, which a state cannot contain. It results from a division by zero, or from numbers that are too large.";
        let problem = Diagnostic::error(messages::OUTPUT_VALUE_IS_NOT_FINITE, detail);
        return Err(diags.error(problem.at(output.expr.span)));
    }
    Ok(())
}

/// Whether some number in a value is infinite.
pub(crate) fn has_infinite_number(value: &Value) -> bool {
    match value.without_own_marks() {
        Value::Number(number) => number.is_infinite(),
        several => several.children().iter().any(has_infinite_number),
    }
}

/// Evaluates the conditions of a `check` block, unless its data source could not be read: then nothing
/// can be checked.
fn visit_check_block(
    diags: &mut Diagnostics,
    check: &CheckBlock,
    scope: &ModuleScope<'_>,
    eval_inputs: EvalInputs<'_>,
) -> Result<Value, Reported> {
    let nothing = Value::null(Type::Dynamic);
    let verdicts = &eval_inputs.results.verdicts;
    let subject = CheckSubject::Check(check.name.clone());
    let object = &ConditionSubject::of_single_object(scope.module_results().module_addr(), subject);
    if eval_inputs.checking {
        let site = ReferenceLocation { check: Some(&check.name), ..ReferenceLocation::default() };
        conditions::evaluate_condition_messages(
            diags,
            &scope.clone().at_location(site),
            &check.asserts,
        )?;
        return Ok(nothing);
    }
    if verdicts.has_failed(object) {
        return Ok(nothing);
    }
    let judging = ConditionContext { object, verdicts, failure: eval_inputs.failure };
    conditions::check_conditions(diags, scope, ConditionKind::Assertion, &check.asserts, judging)?;
    Ok(nothing)
}

impl ValueVertex<'_> {
    /// Renders the vertex. A root variable has its own shape; any other vertex represents
    /// one object of its kind in each instance of its module.
    pub(crate) fn render(&self) -> RenderedVertex {
        match self.value {
            NamedValueBlock::Variable(_) if self.node.caller.is_none() => {
                let label = self.to_string();
                RenderedVertex {
                    name: label.clone(),
                    look: Some(VertexStyle { label, shape: "note" }),
                }
            }
            _ => RenderedVertex { name: format!("{self} (expand)"), look: None },
        }
    }
}

impl std::fmt::Display for ValueVertex<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.node.caller.is_some() {
            write!(f, "{}.", self.node.path)?;
        }
        match self.value {
            NamedValueBlock::Variable(variable) => write!(f, "var.{}", variable.name),
            NamedValueBlock::Local(local) => write!(f, "local.{}", local.name),
            NamedValueBlock::Output(output) => write!(f, "output.{}", output.name),
            NamedValueBlock::Check(check) => write!(f, "check.{}", check.name),
        }
    }
}
