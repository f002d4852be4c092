//! The scope of names that are available before any state is read: variables of the root module, local
//! values derived from them, `path` and `terraform.workspace`.

use std::cell::RefCell;
use std::collections::BTreeMap;

use formwork_lang::eval::evaluate;
use formwork_lang::functions::{Function, FunctionHost, builtin_names, find_builtin};
use formwork_lang::scope::{Scope, ScopeStep};
use formwork_lang::syntax::Ident;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Str, Value};

use super::HostValues;
use super::scope::{expect_attribute, resolve_terraform_attribute};
use crate::config::inputs::ResolvedVariable;
use crate::config::{Module, bad_reference};
use crate::messages;

/// The scope of the root module before any state is read.
pub struct StaticScope<'a> {
    module: &'a Module,
    variables: &'a BTreeMap<Str, ResolvedVariable>,
    world: &'a HostValues,
    /// The local values that are being evaluated, to find cycles.
    pending: RefCell<Vec<Str>>,
}

impl<'a> StaticScope<'a> {
    /// The scope of a root module with values for its variables; those that have none are missing.
    #[must_use]
    pub fn new(
        module: &'a Module,
        variables: &'a BTreeMap<Str, ResolvedVariable>,
        world: &'a HostValues,
    ) -> Self {
        Self { module, variables, world, pending: RefCell::default() }
    }

    fn resolve_variable(
        &self,
        diags: &mut Diagnostics,
        name: &Ident,
        span: Span,
    ) -> Result<Value, Reported> {
        if !self.module.variables.contains_key(&name.name) {
            return Err(diags.error(bad_reference::undeclared_variable_error(
                self.module,
                &name.name,
                span,
            )));
        }
        let value = self.variables.get(&name.name).map(|input| input.value.clone());
        value.ok_or_else(|| {
            let detail = format!(
                "The variable {0:?} is needed before the state is read, and has no value. Set the environment variable TF_VAR_{0}, or set the value in terraform.tfvars, or with -var if the command has that option.",
                name.name.as_str()
            );
            diags.error(Diagnostic::error(messages::NO_VALUE_FOR_REQUIRED_VARIABLE, detail).at(span))
        })
    }

    fn resolve_local(
        &self,
        diags: &mut Diagnostics,
        name: &Ident,
        span: Span,
    ) -> Result<Value, Reported> {
        let Some(local) = self.module.locals.get(&name.name) else {
            return Err(diags.error(bad_reference::undeclared_local_error(
                self.module,
                &name.name,
                span,
            )));
        };
        // There is no graph yet that would have found a cycle.
        if self.pending.borrow().contains(&name.name) {
            let detail = format!("The local value {:?} refers to itself.", name.name.as_str());
            return Err(
                diags.error(Diagnostic::error(messages::CIRCULAR_REFERENCE, detail).at(span))
            );
        }
        self.pending.borrow_mut().push(name.name.clone());
        let value = evaluate(diags, &local.expr, self);
        self.pending.borrow_mut().pop();
        value
    }
}

impl Scope for StaticScope<'_> {
    fn resolve(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        let known = ["var", "local", "path", "terraform"].contains(&root.name.as_str());
        if !known {
            let detail = format!(
                "`{}` is not known before the state is read. Only variables, local values derived from them, `path` and `terraform.workspace` can be used here.",
                root.name
            );
            return Err(
                diags.error(Diagnostic::error(messages::INVALID_REFERENCE, detail).at(root.span))
            );
        }
        let name = expect_attribute(diags, root, steps.first())?;
        let span = root.span.to(name.span);
        let value = match root.name.as_str() {
            "var" => self.resolve_variable(diags, name, span),
            "local" => self.resolve_local(diags, name, span),
            "path" => self.world.resolve_path_attribute(diags, None, name, span),
            _ => resolve_terraform_attribute(diags, self.world, name, span),
        };
        Ok((value?, 1))
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
