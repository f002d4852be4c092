//! Variable values while a saved plan is applied: those that the plan fixed, and those of ephemeral
//! variables, which have to be set again.

use std::collections::{BTreeMap, BTreeSet};

use formwork_core::config::Config;
use formwork_core::config::inputs::{
    self, GivenValue, GivenVariable, InputOrigin, ResolvedVariable, UnsetVariableTreatment,
};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Str};

use super::{SavedPlan, ephemeral_variables_where};
use crate::messages;

/// The variable values that are given while a saved plan is applied.
///
/// ```
/// use formwork_core::config::inputs::{GivenValue, GivenVariable, InputOrigin};
/// use formwork_operation::saved_plan::VariablesGivenAtApply;
///
/// let token = GivenVariable {
///     name: "token".into(),
///     value: GivenValue::Unparsed("hunter2".to_owned()),
///     origin: InputOrigin::Option,
/// };
/// let given =
///     VariablesGivenAtApply { options: vec![token], ..VariablesGivenAtApply::default() };
/// ```
#[derive(Debug, Default)]
pub struct VariablesGivenAtApply {
    /// Values from the environment, which is not specific to one command.
    pub environment: Vec<GivenVariable>,
    /// Values from variable files that are loaded automatically.
    pub files: Vec<GivenVariable>,
    /// Values from options.
    pub options: Vec<GivenVariable>,
}

impl SavedPlan {
    /// Returns the values in the plan, and those of ephemeral variables, which no plan stores and
    /// which have to be set again if they were set for the plan. A variable that the plan fixed may be
    /// given only the same value again; for a different value in the environment, this only warns.
    ///
    /// # Errors
    /// Returns an error if a value does not fit, is missing, or differs from the one in the plan.
    pub fn resolve_variables(
        &self,
        diags: &mut Diagnostics,
        sources: &mut Sources,
        config: &Config,
        variables: VariablesGivenAtApply,
    ) -> Result<BTreeMap<Str, ResolvedVariable>, Reported> {
        let declared = &config.root.variables;
        let is_ephemeral =
            |name: &Str| declared.get(name).is_some_and(|variable| variable.ephemeral);
        let VariablesGivenAtApply { environment, files, options } = variables;
        let (given_again, ignored): (Vec<_>, Vec<_>) =
            environment.into_iter().chain(files).partition(|variable| is_ephemeral(&variable.name));
        let fixed = self.plan.variables.iter().map(|(name, value)| GivenVariable {
            name: name.clone(),
            // The declaration adds the marks again, and a given value has none.
            value: GivenValue::Value(value.clone().split_marks().0.into_value()),
            origin: InputOrigin::Option,
        });
        // Options come last and take precedence: a value that differs from the plan must be found
        // below.
        let variables: Vec<GivenVariable> = fixed.chain(given_again).chain(options).collect();
        let given_ephemeral = ephemeral_variables_where(config, |name| {
            variables.iter().any(|variable| variable.name == name)
        });
        check_same_ephemeral_names_given(
            diags,
            config,
            &self.metadata.ephemeral,
            &given_ephemeral,
        )?;
        let mut resolve = |diags: &mut Diagnostics, variables, unset| {
            inputs::resolve_variables(diags, sources, &config.root, variables, unset)
        };
        let inputs = resolve(diags, variables, UnsetVariableTreatment::Error)?;
        let mut result = Ok(());
        for (name, value) in &self.plan.variables {
            if inputs.get(name).map(|input| &input.value) != Some(value) {
                let detail = format!(
                    "The variable {:?} was fixed when the plan was made, and cannot be changed while applying it.",
                    name.as_str()
                );
                let summary = messages::CANNOT_CHANGE_VARIABLE_WHEN_APPLYING_SAVED_PLAN;
                result = Err(diags.error(Diagnostic::error(summary, detail)));
            }
            // The environment may serve many commands, so a different value in it does not stop the
            // apply.
            let environment_value = ignored.iter().find(|variable| {
                variable.name == *name && variable.origin == InputOrigin::Environment
            });
            let environment_input = environment_value.and_then(|variable| {
                let variables = vec![variable.clone()];
                // Compared after conversion: `TF_VAR_n=1` is a string, and the plan has a number.
                resolve(&mut Diagnostics::new(), variables, UnsetVariableTreatment::Unknown)
                    .ok()?
                    .remove(name)
            });
            if environment_input.is_some_and(|input| input.value != *value) {
                diags.warn(ignored_tf_var_warning(name));
            }
        }
        result.map(|()| inputs)
    }
}

/// Warns about a value in the environment that differs from the plan.
fn ignored_tf_var_warning(name: &Str) -> Diagnostic {
    let detail = format!(
        "TF_VAR_{name} in the environment sets the variable {:?} to a value that differs from the one in the saved plan. The value in the plan is used. To set it in each run, declare the variable with ephemeral = true.",
        name.as_str()
    );
    Diagnostic::warning(messages::IGNORING_VARIABLE_WHEN_APPLYING_SAVED_PLAN, detail)
}

/// Checks that an ephemeral variable is set for an apply exactly if it was set for the plan. With its
/// default in one and a value in the other, it would differ from the planned value.
fn check_same_ephemeral_names_given(
    diags: &mut Diagnostics,
    config: &Config,
    planned_names: &BTreeSet<String>,
    given_names: &BTreeSet<String>,
) -> Result<(), Reported> {
    let mut result = Ok(());
    for name in planned_names.symmetric_difference(given_names) {
        let (summary, detail) = if planned_names.contains(name) {
            (
                messages::EPHEMERAL_VARIABLE_NOT_SET,
                format!(
                    "The ephemeral input variable {name:?} was set during the plan phase, and so must also be set during the apply phase: its value is not in the plan."
                ),
            )
        } else {
            (
                messages::EPHEMERAL_VARIABLE_WAS_NOT_SET_DURING_PLANNING,
                format!(
                    "The ephemeral input variable {name:?} was not set during the planning phase, and so must remain unset during the apply phase."
                ),
            )
        };
        let mut diagnostic = Diagnostic::error(summary, detail);
        if let Some(variable) = config.root.variables.get(name.as_str()) {
            diagnostic = diagnostic.at(variable.span);
        }
        result = Err(diags.error(diagnostic));
    }
    result
}
