//! Variable values of a run: from the command line, the test file and the run, in ascending
//! precedence.

use std::collections::{BTreeMap, BTreeSet};

use formwork_core::config::Config;
use formwork_core::config::inputs::{
    self, GivenValue, GivenVariable, InputOrigin, ResolvedVariable, UnsetVariableTreatment,
};
use formwork_core::config::parsed_test_file::{TestFile, TestRun};
use formwork_core::eval::{HostValues, TestLevel, TestScope, TestValues};
use formwork_lang::refs::{self, TraversalStep};
use formwork_lang::syntax::{Attribute, Expr};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Str, Value};

use super::TestInputs;
use super::provider_configs::provider_blocks_needed_by_run;
use crate::messages;

/// A value in a test file, and its span.
type ValueWithSpan = (Value, Span);

/// Resolves the variable values of a run.
pub(super) struct RunVariableResolver<'a> {
    pub(super) inputs: TestInputs<'a>,
    pub(super) test_file: &'a TestFile,
    pub(super) run: &'a TestRun,
    /// The module of the run.
    pub(super) config: &'a Config,
    /// The outputs of the previous runs.
    pub(super) values: &'a TestValues,
    /// The names of all runs of the file.
    pub(super) runs: &'a [Str],
}

/// The variable values of a run.
pub(super) struct ResolvedVariables {
    /// The variables that the module declares.
    pub(super) inputs: BTreeMap<Str, ResolvedVariable>,
    /// The values from the test file and the command line, without those of the run: names in a
    /// provider configuration refer to them.
    pub(super) of_file: TestValues,
    /// All values: names in assertions refer to them.
    pub(super) all: TestValues,
}

impl RunVariableResolver<'_> {
    /// Resolves the values.
    ///
    /// # Errors
    /// Returns an error if a value is missing, is not known, or does not fit its variable.
    pub(super) fn resolve(
        &self,
        diags: &mut Diagnostics,
        sources: &mut Sources,
    ) -> Result<ResolvedVariables, Reported> {
        let mut value_diags = Diagnostics::new();
        let needed = self.needed_variable_names();
        let world = self.inputs.host;
        // As in Terraform, values that the run does not need are not evaluated: they may refer to
        // variables that only other runs have.
        let of_file = self
            .test_file
            .variables
            .iter()
            .filter(|attribute| needed.contains(&attribute.name.name));
        let of_file: Vec<&Attribute> = of_file.collect();
        let mut global_names = needed.clone();
        global_names
            .extend(of_file.iter().flat_map(|attribute| variable_names_in(&attribute.expr)));
        let overridden = self.overridden_global_names(&of_file);
        global_names.retain(|name| !overridden.contains(name));
        let globals = self.global_values_by_name(&mut value_diags, sources, &global_names);
        // In ascending precedence, so that a later value replaces an earlier one.
        let mut values = TestValues { variables: globals, ..self.values.clone() };
        let scope = TestScope { values: &values, level: TestLevel::File, world };
        let file_values = evaluate_variables(&mut value_diags, &scope, of_file);
        let named_file_values =
            file_values.iter().map(|(name, (value, _))| (name.clone(), value.clone()));
        values.variables.extend(named_file_values.collect::<Vec<_>>());
        let run_values = self.evaluate_run_variables(&mut value_diags, &values, world);
        let mut all_values = values.clone();
        let named_run_values =
            run_values.iter().map(|(name, (value, _))| (name.clone(), value.clone()));
        all_values.variables.extend(named_run_values);
        let value_result = value_diags.fail_if_errors();
        diags.append(value_diags).and(value_result)?;
        let given_values = self.values_for_module(diags, file_values, run_values)?;
        let inputs = inputs::resolve_variables(
            diags,
            sources,
            &self.config.root,
            given_values,
            UnsetVariableTreatment::Error,
        )?;
        let module_values = inputs.iter().map(|(name, input)| (name.clone(), input.value.clone()));
        all_values.variables.extend(module_values);
        Ok(ResolvedVariables { inputs, of_file: values, all: all_values })
    }

    /// The names of the variables that the run needs.
    fn needed_variable_names(&self) -> BTreeSet<Str> {
        let mut needed: BTreeSet<Str> = self.config.root.variables.keys().cloned().collect();
        needed.extend(
            self.run.variables.iter().flat_map(|attribute| variable_names_in(&attribute.expr)),
        );
        needed.extend(self.variable_names_in_asserts());
        // Arguments of the providers that the run uses refer to the variables of the file as well.
        for provider in provider_blocks_needed_by_run(self.config, self.test_file, self.run) {
            needed.extend(
                refs::traversals_of_body(&provider.body).iter().filter_map(referenced_variable),
            );
        }
        needed
    }

    /// The names of the variables that the assertions refer to.
    fn variable_names_in_asserts(&self) -> BTreeSet<Str> {
        let parts = self
            .run
            .asserts
            .iter()
            .flat_map(|assertion| [&assertion.condition, &assertion.message]);
        parts.flat_map(variable_names_in).collect()
    }

    /// The names of the variables whose value in the file or run replaces the global one, and does not refer
    /// to it. As in Terraform, errors in such a global value are ignored.
    fn overridden_global_names(&self, of_file: &[&Attribute]) -> BTreeSet<Str> {
        let attributes = || of_file.iter().copied().chain(&self.run.variables);
        let referenced: BTreeSet<Str> =
            attributes().flat_map(|attribute| variable_names_in(&attribute.expr)).collect();
        let names = attributes().map(|attribute| attribute.name.name.clone());
        names.filter(|name| !referenced.contains(name)).collect()
    }

    /// Values for all test files in the directory of this one, in ascending precedence.
    fn values_for_all_files(&self) -> impl Iterator<Item = &GivenVariable> {
        let TestInputs { variables, dir_variables, .. } = self.inputs;
        let of_dir = if self.test_file.is_in_test_dir { dir_variables } else { &[] };
        variables.iter().chain(of_dir)
    }

    /// The values from the command line, variable files and the environment. The last of several values
    /// takes precedence.
    fn global_values_by_name(
        &self,
        diags: &mut Diagnostics,
        sources: &mut Sources,
        names: &BTreeSet<Str>,
    ) -> BTreeMap<Str, Value> {
        let variables =
            self.values_for_all_files().filter(|variable| names.contains(&variable.name));
        let last_values: BTreeMap<&Str, &GivenVariable> =
            variables.map(|variable| (&variable.name, variable)).collect();
        // The variable has the type that the run's module declares.
        let module = &self.config.root;
        let mut values = BTreeMap::new();
        for (name, variable) in last_values {
            // Reported once: the expressions that refer to the variable are not reported as well.
            let value = inputs::value_for_test_files(diags, sources, module, variable);
            values.insert(name.clone(), value.unwrap_or_else(|_| Value::dynamic()));
        }
        values
    }

    /// The values that the run sets. Warns about those that neither its module declares nor an assertion refers
    /// to.
    fn evaluate_run_variables(
        &self,
        diags: &mut Diagnostics,
        values: &TestValues,
        world: &HostValues,
    ) -> BTreeMap<Str, ValueWithSpan> {
        // A value in the file may be intended for another run. A value in the run has no effect.
        let referenced = self.variable_names_in_asserts();
        for attribute in &self.run.variables {
            let name = &attribute.name.name;
            if !self.config.root.variables.contains_key(name) && !referenced.contains(name) {
                let detail = format!(
                    "The module under test does not declare a variable named {:?}, but it is declared in run block {:?}.",
                    name.as_str(),
                    self.run.name.as_str()
                );
                let summary = messages::VALUE_FOR_UNDECLARED_RUN_VARIABLE;
                diags.warn(Diagnostic::warning(summary, detail).at(attribute.expr.span));
            }
        }
        let scope = TestScope { values, level: TestLevel::Run(self.runs), world };
        evaluate_variables(diags, &scope, self.run.variables.iter())
    }

    /// The values of the module's variables. Reports missing ones.
    fn values_for_module(
        &self,
        diags: &mut Diagnostics,
        mut of_file: BTreeMap<Str, ValueWithSpan>,
        mut of_run: BTreeMap<Str, ValueWithSpan>,
    ) -> Result<Vec<GivenVariable>, Reported> {
        let mut given_values = Vec::new();
        let mut result = Ok(());
        for (name, variable) in &self.config.root.variables {
            // The value in the run is the one that is nearest to the reader.
            let own_value = of_run.remove(name).or_else(|| of_file.remove(name));
            if let Some((value, span)) = own_value {
                given_values.push(GivenVariable {
                    name: name.clone(),
                    value: GivenValue::Value(value),
                    origin: InputOrigin::File(self.test_file.path.clone(), Some(span)),
                });
                continue;
            }
            let global_value =
                self.values_for_all_files().filter(|variable| variable.name == *name).last();
            if let Some(global_value) = global_value {
                given_values.push(global_value.clone());
            } else if variable.is_required() {
                let detail = format!(
                    "The module under test for run block {:?} has a required variable {:?} with no set value. Use a -var or -var-file command line argument or add this variable into a \"variables\" block within the test file or run block.",
                    self.run.name.as_str(),
                    name.as_str()
                );
                let missing =
                    Diagnostic::error(messages::NO_VALUE_FOR_REQUIRED_RUN_VARIABLE, detail);
                result = Err(diags.error(missing.at(variable.span)));
            }
        }
        result.map(|()| given_values)
    }
}

/// Evaluates variable values. Those with errors are left out.
fn evaluate_variables<'e>(
    diags: &mut Diagnostics,
    scope: &TestScope<'_>,
    attributes: impl IntoIterator<Item = &'e Attribute>,
) -> BTreeMap<Str, ValueWithSpan> {
    let mut values = BTreeMap::new();
    for attribute in attributes {
        if let Ok(value) = scope.evaluate(diags, &attribute.expr) {
            values.insert(attribute.name.name.clone(), (value, attribute.expr.span));
        }
    }
    values
}

/// The names of the variables that an expression refers to.
fn variable_names_in(expr: &Expr) -> Vec<Str> {
    refs::traversals_of_expr(expr).iter().filter_map(referenced_variable).collect()
}

fn referenced_variable(traversal: &refs::Traversal) -> Option<Str> {
    match (traversal.root.name.as_str(), traversal.steps.first()) {
        ("var", Some(TraversalStep::Attribute(name))) => Some(name.name.clone()),
        _ => None,
    }
}
