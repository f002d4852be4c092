//! The scope of a separate template, which has its own variables.

use std::sync::OnceLock;

use formwork_value::{Diagnostic, Diagnostics, Reported, Type, Value};

use super::access;
use crate::functions::{Builtin, CallError, Function, FunctionHost};
use crate::messages;
use crate::scope::{Scope, ScopeStep};
use crate::syntax::Ident;

/// The names in a template: its variables, and the functions of the caller, except those that render
/// templates, which could recurse without end.
pub(super) struct TemplateScope<'s> {
    vars: &'s Value,
    outer: &'s dyn Scope,
}

impl<'s> TemplateScope<'s> {
    pub(super) fn new(vars: &'s Value, outer: &'s dyn Scope) -> Self {
        Self { vars, outer }
    }
}

impl Scope for TemplateScope<'_> {
    fn resolve(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        _steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        let value = access::access_attribute(self.vars, &root.name).map_err(|_| {
            let detail = format!("The template has no variable {:?}.", root.name.as_str());
            diags.error(Diagnostic::error(messages::INVALID_REFERENCE, detail).at(root.span))
        })?;
        Ok((value, 0))
    }

    fn lookup_function(&self, name: &str) -> Option<&dyn Function> {
        static RECURSION_ERROR_BUILTIN: OnceLock<Builtin> = OnceLock::new();
        match name.strip_prefix("core::").unwrap_or(name) {
            // Both remain defined, so that the error explains the reason instead of an unknown function.
            "templatefile" | "templatestring" => {
                Some(RECURSION_ERROR_BUILTIN.get_or_init(recursion_error_builtin))
            }
            _ => self.outer.lookup_function(name),
        }
    }

    fn function_names(&self) -> Vec<String> {
        self.outer.function_names()
    }

    fn host(&self) -> FunctionHost<'_> {
        self.outer.host()
    }
}

fn recursion_error_builtin() -> Builtin {
    Builtin::new("templatefile", |_| {
        Err(CallError::new("a template cannot render another template"))
    })
    .with_variadic("args", Type::Dynamic)
    .last_param_allows_null()
    .last_param_allows_unknown()
    .last_param_allows_dynamic()
    .last_param_allows_marked()
}
