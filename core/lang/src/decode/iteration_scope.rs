//! The scope of the content of a `dynamic` block.

use formwork_value::{Diagnostics, Reported, Str, Value};

use crate::functions::{Function, FunctionHost};
use crate::scope::{Scope, ScopeStep};
use crate::syntax::Ident;

/// A scope with one additional name: the iterator.
pub(super) struct IterationScope<'s> {
    outer: &'s dyn Scope,
    name: Str,
    element: Value,
}

impl<'s> IterationScope<'s> {
    pub(super) fn new(outer: &'s dyn Scope, name: Str, key: Value, value: Value) -> Self {
        Self { outer, name, element: Value::object([("key", key), ("value", value)]) }
    }
}

impl Scope for IterationScope<'_> {
    fn resolve(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        // As in HCL, the iterator shadows a name of the outer scope.
        if root.name == self.name {
            return Ok((self.element.clone(), 0));
        }
        self.outer.resolve(diags, root, steps)
    }

    fn lookup_function(&self, name: &str) -> Option<&dyn Function> {
        self.outer.lookup_function(name)
    }

    fn calls_forbidden_reason(&self) -> Option<&str> {
        self.outer.calls_forbidden_reason()
    }

    fn missing_function_reason(&self, name: &str) -> String {
        self.outer.missing_function_reason(name)
    }

    fn has_no_names(&self) -> bool {
        self.outer.has_no_names()
    }

    fn function_names(&self) -> Vec<String> {
        self.outer.function_names()
    }

    fn host(&self) -> FunctionHost<'_> {
        self.outer.host()
    }
}
