//! Name resolution for the evaluator. The engine and the tests implement it.

use formwork_value::{Diagnostics, Reported, Span, Value};

use crate::functions::{Function, FunctionHost};
use crate::syntax::Ident;

/// A step behind a name, its key already evaluated.
#[derive(Clone, Debug)]
pub enum ScopeStep {
    /// `.name`
    Attribute(Ident),
    /// `[key]`; the key may be unknown or marked.
    Index(Value, Span),
}

/// Resolves names and functions.
pub trait Scope {
    /// Returns the value of a name and how many of the `steps` behind it are already taken in that
    /// value. A scope takes steps itself where it can answer without building the whole: so that
    /// `a.b[3].x` reads one instance.
    ///
    /// # Errors
    /// When the name means nothing here; it is reported at the name.
    fn resolve(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported>;

    /// Returns a function by its name as written (`upper`, `core::upper`, `provider::x::f`), or
    /// `None` if there is none.
    fn lookup_function(&self, name: &str) -> Option<&dyn Function>;

    /// Says why nothing can be called here, if that is so: then it is not the name that is wrong.
    fn calls_forbidden_reason(&self) -> Option<&str> {
        None
    }

    /// Says why a name with a namespace (`provider::x::f`) is no function here, and the next step.
    fn missing_function_reason(&self, name: &str) -> String {
        format!("There is no function {name:?} here.")
    }

    /// Names of functions, to suggest one for a misspelt name.
    fn function_names(&self) -> Vec<String>;

    /// Whether nothing has a meaning here, so that every expression is a constant. A string in JSON is
    /// just text then.
    fn has_no_names(&self) -> bool {
        false
    }

    /// The host services that functions may use; none by default.
    fn host(&self) -> FunctionHost<'_> {
        FunctionHost::without_services()
    }
}
