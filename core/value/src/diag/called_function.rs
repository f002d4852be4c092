//! The function whose call failed, with the signature that the view prints.

use crate::Type;

/// A call that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalledFunction {
    /// The function name as written, including namespaces.
    pub name: String,
    /// The parameters of the function.
    pub params: Vec<CalledFunctionParam>,
    /// The parameter that takes any further arguments.
    pub variadic: Option<CalledFunctionParam>,
    /// The type of the result, or dynamic if it depends on the arguments.
    pub returns: Type,
}

/// A parameter of a function whose call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalledFunctionParam {
    /// The name of the parameter.
    pub name: String,
    /// The type its arguments are converted to.
    pub ty: Type,
}

impl CalledFunction {
    /// Returns the name without namespaces.
    #[must_use]
    pub fn base_name(&self) -> &str {
        self.name.rsplit("::").next().unwrap_or(&self.name)
    }

    /// Returns the names of the parameters as written in a call, with dots after the last one if it is
    /// variadic.
    #[must_use]
    pub fn parameter_names(&self) -> String {
        let fixed = self.params.iter().map(|param| param.name.clone());
        let variadic = self.variadic.iter().map(|param| format!("{}...", param.name));
        fixed.chain(variadic).collect::<Vec<_>>().join(", ")
    }
}
