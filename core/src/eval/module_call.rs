//! Calls of modules: the vertices at which the instances of a called module become known. Planning
//! and applying share them.

use formwork_value::{Diagnostic, Diagnostics, Reported, Type, Value};

use super::ModuleScope;
use super::expand::{self, Expansion};
use super::results::ModuleResults;
use super::vertex::EvalInputs;
use crate::addr::Reference;
use crate::config::test_mocks::override_of_module;
use crate::config::{Config, ModuleCall, ModuleNode, Repetition};
use crate::messages;

/// The greatest number of instances of modules. Each has a table of everything in its module, and
/// calls within each other multiply.
const MAX_MODULE_INSTANCES: usize = 100_000;

/// A call of a module.
#[derive(Clone, Copy, Debug)]
pub struct ModuleCallVertex<'c> {
    /// The called module.
    pub node: &'c ModuleNode,
    /// The calling module.
    pub caller: &'c ModuleNode,
    /// The call.
    pub call: &'c ModuleCall,
}

impl<'c> ModuleCallVertex<'c> {
    /// The call of a module; `None` for the root.
    #[must_use]
    pub fn from_node(config: &'c Config, node: &'c ModuleNode) -> Option<Self> {
        let (caller, call) = config.call_of_module(node)?;
        Some(Self { node, caller, call })
    }

    /// The calling module, and the references of the call in it.
    #[must_use]
    pub fn references(self) -> (&'c ModuleNode, &'c [Reference]) {
        (self.caller, &self.call.references)
    }

    /// Determines the instances that each instance of the caller calls, in their order.
    ///
    /// # Errors
    /// When a repetition does not determine the instances, or the number of instances is too large.
    pub fn visit(
        self,
        diags: &mut Diagnostics,
        eval_inputs: EvalInputs<'_>,
    ) -> Result<Vec<Expansion>, Reported> {
        let mut expansions = Vec::new();
        let mut result = Ok(());
        let mut n_instances = eval_inputs.results.n_module_instances();
        for module in eval_inputs.results.module_instances(&self.caller.path) {
            let scope = ModuleScope::new(module, eval_inputs.world);
            // Checked once, whatever the repetition: the module must be valid for any number of
            // instances.
            if eval_inputs.checking {
                let scope = scope.with_reference_check(eval_inputs.check);
                let repetition = expand::check_repetition(diags, &scope, &self.call.repetition);
                scope.check_whole_object_references(diags, &self.call.depends_on)?;
                repetition?;
                expansions.push(Expansion::Single);
                continue;
            }
            match expand::expand_repetition(diags, &scope, &self.call.repetition) {
                Ok(expansion) => {
                    // A sum that overflowed would pass the limit below.
                    n_instances = n_instances.saturating_add(expansion.len());
                    expansions.push(expansion);
                }
                Err(reported) => result = Err(reported),
            }
            if n_instances > MAX_MODULE_INSTANCES {
                let detail = format!(
                    "With those of `{}` there would be more than {MAX_MODULE_INSTANCES} instances of modules. A repeated call multiplies the instances of all modules below it.",
                    self.node.path
                );
                let problem = Diagnostic::error(messages::TOO_MANY_MODULE_INSTANCES, detail);
                return Err(diags.error(problem.at(self.call.site.span)));
            }
        }
        result.map(|()| expansions)
    }

    /// Records the result of [`ModuleCallVertex::visit`].
    pub fn record(self, eval_inputs: EvalInputs<'_>, expansions: Vec<Expansion>) {
        let name = &self.call.site.name;
        eval_inputs.results.add_module_instance_count(expansions.iter().map(Expansion::len).sum());
        let callers = eval_inputs.results.module_instances(&self.caller.path);
        for (module, expansion) in callers.into_iter().zip(expansions) {
            module.record_call_expansion(eval_inputs.config, name, expansion);
            if eval_inputs.checking
                && let Some(call) = module.call_results(name)
            {
                call.set_placeholder(self.placeholder_value());
            }
            // The content of an overridden module must still be valid.
            if !eval_inputs.checking && !eval_inputs.config.module_overrides.is_empty() {
                override_instance_outputs(eval_inputs.config, module, name);
            }
        }
    }

    /// The placeholder for the call while its instances are unknown.
    fn placeholder_value(self) -> Value {
        let names = self.node.module.outputs.keys();
        let object = Type::object(names.map(|name| (name.clone(), Type::Dynamic)));
        match self.call.repetition {
            Repetition::Single => Value::unknown(object),
            Repetition::Count(_) => Value::unknown(Type::list(object)),
            Repetition::ForEach(_) => Value::unknown(Type::map(object)),
        }
    }
}

/// Sets the outputs of the instances that a test overrides.
fn override_instance_outputs(config: &Config, caller: &ModuleResults, name: &str) {
    let Some(call) = caller.call_results(name) else { return };
    for key in call.expansion().into_iter().flat_map(Expansion::keys) {
        if let Some(module) = call.instance_results(&key)
            && let Some(outputs) =
                override_of_module(&config.module_overrides, module.module_addr())
        {
            module.override_outputs(outputs);
        }
    }
}
