//! Name resolution for the evaluator. The engine and the tests implement it.

use formwork_value::{Diagnostics, Reported, Span, Value};

use crate::functions::{Function, FunctionHost};
use crate::syntax::Ident;

/// A step after a name, with its key evaluated.
#[derive(Clone, Debug)]
pub enum ScopeStep {
    /// `.name`
    Attribute(Ident),
    /// `[key]`; the key may be unknown or marked.
    Index(Value, Span),
}

/// Resolves names and functions.
pub trait Scope {
    /// Returns the value of a name and the number of `steps` after it that the value already includes. A
    /// scope takes steps itself where this avoids building the whole value: `a.b[3].x` reads only one
    /// instance.
    ///
    /// # Errors
    /// Returns an error if the name is not defined here. It is reported at the name.
    fn resolve(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported>;

    /// Returns a function by its name as written (`upper`, `core::upper`, `provider::x::f`), or `None`
    /// if it does not exist.
    fn lookup_function(&self, name: &str) -> Option<&dyn Function>;

    /// Returns the reason if no function can be called here, so that the error does not blame the name.
    fn calls_forbidden_reason(&self) -> Option<&str> {
        None
    }

    /// Explains why a name with a namespace (`provider::x::f`) is not a function here, and the next
    /// step.
    fn missing_function_reason(&self, name: &str) -> String {
        format!("There is no function {name:?} here.")
    }

    /// Returns the names of functions, for suggestions.
    fn function_names(&self) -> Vec<String>;

    /// Returns whether no names are defined here, so that every expression must be constant. A JSON
    /// string is then literal.
    fn has_no_names(&self) -> bool {
        false
    }

    /// Returns the host services that functions may use. By default, none are available.
    fn host(&self) -> FunctionHost<'_> {
        FunctionHost::without_services()
    }
}
