//! Function signatures for other programs, such as editors.

use std::iter;

use formwork_value::diag::{CalledFunction, CalledFunctionParam};
use formwork_value::{Type, Value};

use super::{Function, Param, SpecialFunction, builtin_table};

/// Signature of a built-in function.
#[derive(Clone, Debug)]
pub struct BuiltinSignature {
    /// The name, without namespace.
    pub name: &'static str,
    /// Description, and examples.
    pub description: String,
    /// The parameters.
    pub params: Vec<Param>,
    /// Returns the variadic parameter, which accepts any further arguments.
    pub variadic: Option<Param>,
    /// The type of the result, or dynamic if it depends on the arguments.
    pub returns: Type,
}

/// Returns the signatures of all built-in functions, by name.
#[must_use]
pub fn builtin_signatures() -> Vec<BuiltinSignature> {
    // Removed functions only describe their replacement.
    let removed = |name: &str| matches!(name, "list" | "map");
    let all = builtin_table().values().filter(|builtin| !removed(builtin.name())).map(|builtin| {
        let examples = builtin.examples().iter().map(|(expression, printed)| {
            let printed = printed.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("`{expression}` is `{printed}`.")
        });
        // The evaluator handles null before these functions receive it.
        let lazy = matches!(
            builtin.special_treatment(),
            Some(SpecialFunction::Try | SpecialFunction::Can)
        );
        let param =
            |param: &Param| Param { allow_null: param.allow_null && !lazy, ..param.clone() };
        BuiltinSignature {
            name: builtin.name(),
            description: iter::once(builtin.description().to_owned())
                .chain(examples)
                .collect::<Vec<_>>()
                .join(" "),
            params: builtin.params().iter().map(param).collect(),
            variadic: builtin.variadic_param().map(param),
            returns: return_type_by_params(builtin),
        }
    });
    all.collect()
}

/// Returns the type of the result, as far as the parameters determine it.
fn return_type_by_params(function: &dyn Function) -> Type {
    let params = || function.params().iter().chain(function.variadic_param());
    // An argument of unknown type leaves the type open unless the function handles it.
    if params().any(|param| param.ty == Type::Dynamic && !param.allow_dynamic) {
        return Type::Dynamic;
    }
    let params = params();
    let unknown: Vec<Value> = params.map(|param| Value::unknown(param.ty.clone())).collect();
    function.return_type(&unknown).unwrap_or(Type::Dynamic)
}

/// Describes how to call a function, for a message about a failed call.
pub(crate) fn describe_called_function(name: &str, function: &dyn Function) -> CalledFunction {
    let param =
        |param: &Param| CalledFunctionParam { name: param.name.to_string(), ty: param.ty.clone() };
    CalledFunction {
        name: name.to_owned(),
        params: function.params().iter().map(param).collect(),
        variadic: function.variadic_param().map(param),
        returns: return_type_by_params(function),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_of_dynamic_type_leaves_the_result_type_dynamic_as_in_terraform() {
        let all = builtin_signatures();
        let returns = |name: &str| {
            let function = all.iter().find(|it| it.name == name).expect("it is a function");
            function.returns.clone()
        };
        for name in ["contains", "format", "formatlist", "index", "parseint", "sum"] {
            assert_eq!(returns(name), Type::Dynamic, "{name}");
        }
        for name in ["jsonencode", "templatestring", "upper"] {
            assert_eq!(returns(name), Type::String, "{name}");
        }
    }
}
