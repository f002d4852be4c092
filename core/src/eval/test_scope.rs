//! The scope of names in a test file outside of assertions: variable values and arguments of
//! provider configurations.

use std::collections::BTreeMap;

use formwork_lang::eval::evaluate;
use formwork_lang::functions::{Function, FunctionHost, builtin_names, find_builtin};
use formwork_lang::scope::{Scope, ScopeStep};
use formwork_lang::syntax::{Expr, Ident};
use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Str, Value};

use super::HostValues;
use super::scope::expect_attribute;
use crate::messages;

/// Values that only test files name.
#[derive(Clone, Debug, Default)]
pub struct TestValues {
    /// The outputs of each run so far, as an object.
    pub runs: BTreeMap<Str, Value>,
    /// The names of all runs of the file.
    pub declared: Vec<Str>,
    /// The variable values of the run.
    pub variables: BTreeMap<Str, Value>,
}

impl TestValues {
    /// The outputs of a run to which an assertion refers.
    pub(super) fn run_outputs(
        &self,
        diags: &mut Diagnostics,
        name: &Ident,
        span: Span,
    ) -> Result<Value, Reported> {
        self.runs.get(&name.name).cloned().ok_or_else(|| {
            if self.declared.contains(&name.name) {
                let detail = format!(
                    "The run block {:?} has not yet been evaluated, so its outputs are not available here.",
                    name.name.as_str()
                );
                let problem = Diagnostic::error(messages::REFERENCE_TO_UNAVAILABLE_RUN, detail);
                return diags.error(problem.at(span));
            }
            let detail =
                format!("There is no run {:?} declared in this test suite.", name.name.as_str());
            diags.error(Diagnostic::error(messages::REFERENCE_TO_UNDECLARED_RUN, detail).at(span))
        })
    }
}

/// The level of a test file that contains an expression.
#[derive(Clone, Copy, Debug)]
pub enum TestLevel<'a> {
    /// The `variables` block of the file.
    File,
    /// A run, or a provider configuration for it. Has the names of all runs of the file.
    Run(&'a [Str]),
}

/// The scope of names in a test file outside of assertions.
pub struct TestScope<'a> {
    /// The values that have a name here.
    pub values: &'a TestValues,
    /// The level that contains the expression.
    pub level: TestLevel<'a>,
    /// Access to the outside world.
    pub world: &'a HostValues,
}

impl TestScope<'_> {
    /// Evaluates an expression.
    ///
    /// # Errors
    /// When the evaluation fails, or the expression refers to an unknown value.
    pub fn evaluate(&self, diags: &mut Diagnostics, expr: &Expr) -> Result<Value, Reported> {
        evaluate(diags, expr, self)
    }

    fn resolve_variable(
        &self,
        diags: &mut Diagnostics,
        name: &Ident,
        at: Span,
    ) -> Result<Value, Reported> {
        if let Some(value) = self.values.variables.get(&name.name) {
            return Ok(value.clone());
        }
        let name = name.name.as_str();
        let detail = match self.level {
            TestLevel::File => format!(
                "The input variable {name:?} is not available to the current context. Within the variables block of a test file you can only reference variables defined at the global level: with -var, in a variable values file or in the environment."
            ),
            TestLevel::Run(_) => format!(
                "The input variable {name:?} is not available to the current run block. You can only reference variables defined at the file or global levels."
            ),
        };
        let problem = Diagnostic::error(messages::REFERENCE_TO_UNAVAILABLE_VARIABLE, detail);
        Err(diags.error(problem.at(at)))
    }

    fn resolve_run(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        steps: &[ScopeStep],
    ) -> Result<Value, Reported> {
        let name = expect_attribute(diags, root, steps.first())?;
        let span = root.span.to(name.span);
        // The values of a file apply to all its runs, so they cannot depend on one of them.
        let TestLevel::Run(declared) = self.level else {
            let detail = "You can not reference run blocks from within the file variables block.";
            let problem = Diagnostic::error(messages::INVALID_REFERENCE, detail);
            return Err(diags.error(problem.at(span)));
        };
        let Some(outputs) = self.values.runs.get(&name.name) else {
            let rule = "You can only reference run blocks that are in the same test file and will execute before the current run block.";
            let name = &name.name;
            let (summary, detail) = match declared.contains(name) {
                true => (
                    messages::REFERENCE_TO_UNAVAILABLE_RUN,
                    format!("The run block {:?} has not executed yet. {rule}", name.as_str()),
                ),
                false => (
                    messages::REFERENCE_TO_UNKNOWN_RUN,
                    format!(
                        "The run block {:?} does not exist within this test file. {rule}",
                        name.as_str()
                    ),
                ),
            };
            return Err(diags.error(Diagnostic::error(summary, detail).at(span)));
        };
        // An unknown value makes everything derived from it unknown. The run would test
        // nothing, or apply unknown values.
        if let Some(output) = first_unknown_output(outputs, steps.get(1)) {
            let detail = format!(
                "The value for run.{run}.{output} is unknown. Run block \"{run}\" is executing a \"plan\" operation, and the specified output value is only known after apply.",
                run = name.name
            );
            let problem = Diagnostic::error(messages::REFERENCE_TO_UNKNOWN_VALUE, detail);
            return Err(diags.error(problem.at(span)));
        }
        Ok(outputs.clone())
    }
}

/// The first unknown output of a run among those that a reference reads: one, or all if it does not name
/// one.
fn first_unknown_output<'v>(outputs: &'v Value, step: Option<&ScopeStep>) -> Option<&'v Str> {
    let Value::Object(outputs) = outputs else { return None };
    let named = match step {
        Some(ScopeStep::Attribute(name)) => Some(name.name.as_str()),
        Some(ScopeStep::Index(Value::String(name), _)) => Some(name.as_str()),
        _ => None,
    };
    let mut read =
        outputs.iter().filter(|(name, _)| named.is_none_or(|wanted| wanted == name.as_str()));
    read.find(|(_, value)| !value.is_wholly_known()).map(|(name, _)| name)
}

impl Scope for TestScope<'_> {
    fn resolve(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        match root.name.as_str() {
            "var" => {
                let name = expect_attribute(diags, root, steps.first())?;
                Ok((self.resolve_variable(diags, name, root.span.to(name.span))?, 1))
            }
            "run" => Ok((self.resolve_run(diags, root, steps)?, 1)),
            other => {
                let detail = format!(
                    "`{other}` is not available here. Test files can refer to variables, as `var.NAME`, and to outputs of earlier runs, as `run.NAME.OUTPUT`."
                );
                let problem = Diagnostic::error(messages::INVALID_REFERENCE, detail);
                Err(diags.error(problem.at(root.span)))
            }
        }
    }

    fn lookup_function(&self, name: &str) -> Option<&dyn Function> {
        find_builtin(name).map(|function| function as &dyn Function)
    }

    fn function_names(&self) -> Vec<String> {
        builtin_names().into_iter().collect()
    }

    fn host(&self) -> FunctionHost<'_> {
        self.world.function_host()
    }
}
