//! The values of variables while a saved plan is applied: those that the plan fixed, and those of
//! ephemeral variables, which are given again.

use std::collections::{BTreeMap, BTreeSet};

use formwork_core::config::Config;
use formwork_core::config::inputs::{
    self, GivenValue, GivenVariable, InputOrigin, ResolvedVariable, UnsetVariableTreatment,
};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Str};

use super::{SavedPlan, ephemeral_variables_where};
use crate::messages;

/// The values that are given for variables while a saved plan is applied.
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
    /// Those of the environment, which is not made for one command.
    pub environment: Vec<GivenVariable>,
    /// Those of files that are read without being named.
    pub files: Vec<GivenVariable>,
    /// Those of options.
    pub options: Vec<GivenVariable>,
}

impl SavedPlan {
    /// The values of the plan, and those of ephemeral variables, which no plan holds and which have to
    /// be given again if they were given for the plan. A value that was fixed by the plan may be given
    /// again only as it is; in the environment, another one is only warned of.
    ///
    /// # Errors
    /// When a value does not fit, is missing, or differs from the one in the plan.
    pub fn resolve_variables(
        &self,
        diags: &mut Diagnostics,
        sources: &mut Sources,
        config: &Config,
        given: VariablesGivenAtApply,
    ) -> Result<BTreeMap<Str, ResolvedVariable>, Reported> {
        let declared = &config.root.variables;
        let is_ephemeral =
            |name: &Str| declared.get(name).is_some_and(|variable| variable.ephemeral);
        let VariablesGivenAtApply { environment, files, options } = given;
        let (current, ignored): (Vec<_>, Vec<_>) =
            environment.into_iter().chain(files).partition(|given| is_ephemeral(&given.name));
        let fixed = self.plan.variables.iter().map(|(name, value)| GivenVariable {
            name: name.clone(),
            // The declaration adds the marks again, and a given value has none.
            value: GivenValue::Value(value.clone().split_marks().0.into_value()),
            origin: InputOrigin::Option,
        });
        // Options come last and so win: one that differs from the plan must be found below.
        let given: Vec<GivenVariable> = fixed.chain(current).chain(options).collect();
        let now =
            ephemeral_variables_where(config, |name| given.iter().any(|given| given.name == name));
        check_same_ephemeral_names_given(diags, config, &self.metadata.ephemeral, &now)?;
        let mut resolve = |diags: &mut Diagnostics, given, unset| {
            inputs::resolve_variables(diags, sources, &config.root, given, unset)
        };
        let inputs = resolve(diags, given, UnsetVariableTreatment::Error)?;
        let mut found = Ok(());
        for (name, value) in &self.plan.variables {
            if inputs.get(name).map(|input| &input.value) != Some(value) {
                let detail = format!(
                    "The variable {:?} was fixed when the plan was made, and cannot be changed while applying it.",
                    name.as_str()
                );
                let summary = messages::CANNOT_CHANGE_VARIABLE_WHEN_APPLYING_SAVED_PLAN;
                found = Err(diags.error(Diagnostic::error(summary, detail)));
            }
            // The environment may serve many commands, so another value there is no reason to stop.
            let elsewhere = ignored
                .iter()
                .find(|given| given.name == *name && given.origin == InputOrigin::Environment);
            let other = elsewhere.and_then(|given| {
                let given = vec![given.clone()];
                // Compared after conversion: `TF_VAR_n=1` is text, and the plan has a number.
                resolve(&mut Diagnostics::new(), given, UnsetVariableTreatment::Unknown)
                    .ok()?
                    .remove(name)
            });
            if other.is_some_and(|other| other.value != *value) {
                diags.warn(ignored_tf_var_warning(name));
            }
        }
        found.map(|()| inputs)
    }
}

/// Warns of a value in the environment that is not the one of the plan.
fn ignored_tf_var_warning(name: &Str) -> Diagnostic {
    let detail = format!(
        "TF_VAR_{name} in the environment gives another value for the variable {:?} than the saved plan was made with. The value of the plan is used. To set it in each run, declare the variable with ephemeral = true.",
        name.as_str()
    );
    Diagnostic::warning(messages::IGNORING_VARIABLE_WHEN_APPLYING_SAVED_PLAN, detail)
}

/// An ephemeral variable is given for an apply exactly if it was given for the plan: with its default
/// in one and a value in the other, it would not be the planned one.
fn check_same_ephemeral_names_given(
    diags: &mut Diagnostics,
    config: &Config,
    before: &BTreeSet<String>,
    now: &BTreeSet<String>,
) -> Result<(), Reported> {
    let mut result = Ok(());
    for name in before.symmetric_difference(now) {
        let (summary, detail) = if before.contains(name) {
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
