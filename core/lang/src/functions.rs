//! The table of built-in functions. Adding one is a function in a file below and a line here.

use formwork_value::{Type, Value};

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name, for messages.
    pub name: &'static str,
    /// The type the argument is converted to.
    pub ty: Type,
    /// Whether null may be given; otherwise a null argument is an error.
    pub allow_null: bool,
    /// Whether the function itself deals with unknown; otherwise an unknown argument makes an unknown
    /// result.
    pub allow_unknown: bool,
    /// Whether the function itself deals with marks; otherwise marks of arguments, deep ones
    /// included, move to the result.
    pub allow_marked: bool,
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// Which argument is to blame, from 0; `None` for the call as a whole.
    pub argument: Option<usize>,
    /// What is wrong.
    pub reason: String,
}

/// A function of the language.
pub trait Function: Send + Sync {
    /// The parameters.
    fn params(&self) -> &[Param];

    /// The parameter that takes any further arguments.
    fn variadic(&self) -> Option<&Param>;

    /// Calls the function. Arguments are converted to the parameters' types, their number fits.
    ///
    /// # Errors
    /// When the function has no value for these arguments.
    fn call(&self, args: &[Value]) -> Result<Value, CallError>;

    /// The type of the result when some argument is unknown.
    ///
    /// # Errors
    /// When no value of these types is acceptable.
    fn return_type(&self, args: &[Value]) -> Result<Type, CallError>;
}
