//! The table of built-in functions. Adding one is a function in a file below and a line in that
//! file's list.

mod builtin;
mod builtin_signature;
mod cidr;
mod collection;
mod convert_mark_try;
mod encoding;
mod file;
mod function_host;
mod hash;
mod invoke;
mod number;
mod regex;
mod rsa;
mod string;
#[cfg(test)]
mod tests;
mod time;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use formwork_value::{Diagnostics, Reported, Type, Value};

pub(crate) use builtin::{Args, Builtin};
pub(crate) use builtin_signature::describe_called_function;
pub use builtin_signature::{BuiltinSignature, builtin_signatures};
pub use function_host::{ClockAndRandom, FileFailure, FileKind, FunctionHost, HostFiles};
pub use invoke::invoke_function;

use crate::limits::{Budget, ExceededLimit};
use crate::syntax::Expr;

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// The name of the parameter, for messages.
    pub name: Cow<'static, str>,
    /// Description of the argument, a sentence; empty if there is none.
    pub description: Cow<'static, str>,
    /// The type the argument is converted to.
    pub ty: Type,
    /// Whether null is allowed. Otherwise a null argument is an error.
    pub allow_null: bool,
    /// Whether the function itself handles unknown values. Otherwise an unknown argument makes the
    /// result unknown.
    pub allow_unknown: bool,
    /// Whether the function itself handles a value of unknown type. Otherwise such an argument makes the
    /// type of the result unknown.
    pub allow_dynamic: bool,
    /// Whether the function itself handles marks. Otherwise the marks of arguments, nested ones
    /// included, move to the result.
    pub allow_marked: bool,
}

impl Param {
    /// Returns a parameter that does not accept null, and leaves unknown values and marks to the caller
    /// of the function.
    #[must_use]
    pub fn new(name: impl Into<Cow<'static, str>>, ty: Type) -> Self {
        Self {
            name: name.into(),
            description: Cow::Borrowed(""),
            ty,
            allow_null: false,
            allow_unknown: false,
            allow_dynamic: false,
            allow_marked: false,
        }
    }
}

/// The reason for a failed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// Position of the argument at fault, from 0; `None` for the call as a whole.
    pub argument: Option<usize>,
    /// Description of the problem, without a final period.
    pub reason: String,
    /// The exceeded limit, if it is the reason.
    pub limit: Option<ExceededLimit>,
}

impl CallError {
    /// Returns a failure of the call as a whole.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self { argument: None, reason: reason.into(), limit: None }
    }

    /// Returns a failure that blames one argument.
    #[must_use]
    pub fn for_argument(at: usize, reason: impl Into<String>) -> Self {
        Self { argument: Some(at), ..Self::new(reason) }
    }
}

impl From<ExceededLimit> for CallError {
    fn from(limit: ExceededLimit) -> Self {
        Self { limit: Some(limit), ..Self::new(limit.to_string()) }
    }
}

/// Surroundings of a call.
pub struct CallContext<'c> {
    /// The host services that functions may use.
    pub host: FunctionHost<'c>,
    /// Evaluates a template. The attributes of an object or the keys of a map are its variables, and its
    /// functions are those of the calling expression.
    pub evaluate_template: &'c dyn Fn(&mut Diagnostics, &Expr, &Value) -> Result<Value, Reported>,
    /// Remaining budget of the evaluation.
    pub budget: &'c Budget,
}

/// A function whose arguments need special treatment by the evaluator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialFunction {
    /// `try`: returns the first argument that has a value.
    Try,
    /// Returns whether the argument has a value.
    Can,
    /// The first argument must be written as a reference.
    Reference,
}

/// A function of the language, or of a provider.
pub trait Function {
    /// The parameters.
    fn params(&self) -> &[Param];

    /// Returns the variadic parameter, which accepts any further arguments.
    fn variadic_param(&self) -> Option<&Param>;

    /// Calls the function. [`invoke_function`] ensures that the number of arguments is correct, that
    /// they have the types of the parameters, and that they contain nothing that the parameters do not
    /// allow. The result must have the type `ty`, which [`Function::return_type`] returned for these
    /// arguments, or a type that `ty` leaves open.
    ///
    /// # Errors
    /// Returns an error if the function has no value for these arguments.
    fn call(&self, ctx: &CallContext<'_>, args: &[Value], ty: &Type) -> Result<Value, CallError>;

    /// Returns the type of the result. The arguments are as for [`Function::call`], but may be unknown.
    ///
    /// # Errors
    /// Returns an error if no values of these types are valid arguments.
    fn return_type(&self, args: &[Value]) -> Result<Type, CallError>;

    /// Returns whether the result is never null, even for an unknown argument.
    fn never_returns_null(&self) -> bool {
        false
    }

    /// Returns whether a call reads its arguments completely, so that its cost grows with their size.
    fn reads_all_arguments(&self) -> bool {
        true
    }

    /// Returns the special treatment of the arguments by the evaluator, if any.
    fn special_treatment(&self) -> Option<SpecialFunction> {
        None
    }
}

type BuiltinTable = BTreeMap<&'static str, Builtin>;

fn builtin_table() -> &'static BuiltinTable {
    static BUILTIN_TABLE: OnceLock<BuiltinTable> = OnceLock::new();
    BUILTIN_TABLE.get_or_init(|| {
        let families = [
            number::builtins(),
            string::builtins(),
            regex::builtins(),
            collection::builtins(),
            encoding::builtins(),
            time::builtins(),
            file::builtins(),
            hash::builtins(),
            rsa::builtins(),
            cidr::builtins(),
            convert_mark_try::builtins(),
        ];
        families.into_iter().flatten().map(|builtin| (builtin.name(), builtin)).collect()
    })
}

/// Returns a built-in function by its name, including the form `core::name`.
#[must_use]
pub fn find_builtin(name: &str) -> Option<&'static dyn Function> {
    let name = name.strip_prefix("core::").unwrap_or(name);
    builtin_table().get(name).map(|builtin| builtin as &dyn Function)
}

/// Returns the names of the built-in functions, sorted.
#[must_use]
pub fn builtin_names() -> Vec<String> {
    builtin_table().keys().map(|name| (*name).to_owned()).collect()
}

/// Returns the description of a built-in function, one sentence.
#[must_use]
pub fn builtin_description(name: &str) -> Option<&'static str> {
    Some(builtin_table().get(name)?.description())
}

/// Returns an example of a built-in function: an expression and its printed value.
#[must_use]
pub fn builtin_example(name: &str) -> Option<(&'static str, &'static str)> {
    builtin_table().get(name)?.examples().first().copied()
}
