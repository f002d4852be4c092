//! The values of variables while a saved plan is applied: those that the plan fixed, and those of
//! ephemeral variables, which are given again.

use std::collections::{BTreeMap, BTreeSet};

use formwork_core::config::Config;
use formwork_core::config::inputs::{self, GivenValue, Input, Origin, Unset, VariableInput};
use formwork_value::{Diagnostic, Diagnostics, Reported, Str};

use super::super::variable_inputs;
use super::{Saved, ephemeral};
use crate::args::VariableSource;
use crate::workspace::Workspace;

/// The values of the plan, and those of ephemeral variables, which no plan holds and which have to
/// be given again if they were given for the plan. A value that was fixed by the plan may be given
/// again only as it is; in the environment, which is not made for one command, another one is only
/// warned of.
pub(super) fn variables(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    (saved, config): (&Saved, &Config),
    sources: &[VariableSource],
) -> Result<BTreeMap<Str, Input>, Reported> {
    let declared = &config.root.variables;
    let is_ephemeral = |name: &Str| declared.get(name).is_some_and(|variable| variable.ephemeral);
    let environment = variable_inputs::in_environment(workspace);
    let files = variable_inputs::in_automatic_files(diags, workspace)?;
    let options = variable_inputs::in_options(diags, workspace, sources)?;
    let (current, ignored): (Vec<_>, Vec<_>) =
        environment.into_iter().chain(files).partition(|given| is_ephemeral(&given.name));
    let fixed = saved.plan.variables.iter().map(|(name, value)| VariableInput {
        name: name.clone(),
        value: GivenValue::Value(value.clone().split_marks().0.into_value()),
        origin: Origin::Option,
    });
    let given: Vec<VariableInput> = fixed.chain(current).chain(options).collect();
    let now = ephemeral(config, |name| given.iter().any(|given| given.name == name));
    check_ephemeral(diags, config, (&saved.about.ephemeral, &now))?;
    let mut resolve = |diags: &mut Diagnostics, given, unset| {
        inputs::resolve(diags, &mut workspace.sources, &config.root, given, unset)
    };
    let inputs = resolve(diags, given, Unset::Refused)?;
    let mut found = Ok(());
    for (name, value) in &saved.plan.variables {
        if inputs.get(name).map(|input| &input.value) != Some(value) {
            let detail = format!(
                "The variable {:?} was fixed when the plan was made, and cannot be changed while applying it.",
                name.as_str()
            );
            let summary = "Can't change variable when applying a saved plan";
            found = Err(diags.error(Diagnostic::error(summary, detail)));
        }
        let elsewhere =
            ignored.iter().find(|given| given.name == *name && given.origin == Origin::Environment);
        let other = elsewhere.and_then(|given| {
            let given = vec![given.clone()];
            resolve(&mut Diagnostics::new(), given, Unset::Unknown).ok()?.remove(name)
        });
        if other.is_some_and(|other| other.value != *value) {
            let detail = format!(
                "TF_VAR_{name} in the environment gives another value for the variable {:?} than the saved plan was made with. The value of the plan is used. To set it in each run, declare the variable with ephemeral = true.",
                name.as_str()
            );
            let summary = "Ignoring variable when applying a saved plan";
            diags.warn(Diagnostic::warning(summary, detail));
        }
    }
    found.map(|()| inputs)
}

/// An ephemeral variable is given for an apply exactly if it was given for the plan: with its default
/// in one and a value in the other, it would not be what was planned.
fn check_ephemeral(
    diags: &mut Diagnostics,
    config: &Config,
    (before, now): (&BTreeSet<String>, &BTreeSet<String>),
) -> Result<(), Reported> {
    let mut result = Ok(());
    for name in before.symmetric_difference(now) {
        let (summary, detail) = if before.contains(name) {
            (
                "No value for required variable",
                format!(
                    "The ephemeral input variable {name:?} was set during the plan phase, and so must also be set during the apply phase: its value is not in the plan."
                ),
            )
        } else {
            (
                "Ephemeral variable was not set during planning",
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
