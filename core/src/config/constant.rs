//! Expressions that must be constant: a scope in which nothing has a name.

use formwork_lang::eval::{evaluate, first_token_span};
use formwork_lang::functions::Function;
use formwork_lang::scope::{Scope, ScopeStep};
use formwork_lang::syntax::{Expr, Ident};
use formwork_value::{Diagnostic, Diagnostics, Reported, Type, Value, convert};

use crate::messages;

/// A scope in which nothing has a name and no function can be called.
pub(crate) struct EmptyScope;

impl Scope for EmptyScope {
    fn resolve(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        _steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        Err(diags.error(
            Diagnostic::error(
                messages::VARIABLES_NOT_ALLOWED,
                format!("Variables may not be used here. `{}` was found; this value must be a constant.", root.name),
            )
            .at(root.span),
        ))
    }

    fn lookup_function(&self, _name: &str) -> Option<&dyn Function> {
        None
    }

    fn calls_forbidden_reason(&self) -> Option<&str> {
        Some("Functions may not be called here. This value must be a constant.")
    }

    fn function_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn has_no_names(&self) -> bool {
        true
    }
}

/// Evaluates an expression without references and function calls.
pub(super) fn constant_value(diags: &mut Diagnostics, expr: &Expr) -> Result<Value, Reported> {
    evaluate(diags, expr, &EmptyScope)
}

/// Evaluates a constant of a primitive type, which must not be null.
fn constant_primitive(diags: &mut Diagnostics, expr: &Expr, ty: &Type) -> Result<Value, Reported> {
    let value = constant_value(diags, expr)?;
    let reason = match convert::convert(&value, ty) {
        Ok(value) if value.is_null() => "it must not be null".to_owned(),
        Ok(value) => return Ok(value),
        Err(refused) => refused.reason,
    };
    Err(diags.error(
        Diagnostic::error(messages::UNSUITABLE_VALUE_TYPE, format!("Unsuitable value: {reason}"))
            .at(first_token_span(expr)),
    ))
}

/// Evaluates a constant string.
pub(super) fn constant_string(diags: &mut Diagnostics, expr: &Expr) -> Result<String, Reported> {
    constant_string_unless_unparsed(diags, expr).map(Option::unwrap_or_default)
}

/// Evaluates a constant string; `None` for an expression that could not be parsed, which was
/// reported then.
pub(super) fn constant_string_unless_unparsed(
    diags: &mut Diagnostics,
    expr: &Expr,
) -> Result<Option<String>, Reported> {
    match constant_primitive(diags, expr, &Type::String)? {
        Value::String(text) => Ok(Some(text.as_str().to_owned())),
        _ => Ok(None),
    }
}

/// Evaluates a constant boolean.
pub(super) fn constant_bool(diags: &mut Diagnostics, expr: &Expr) -> Result<bool, Reported> {
    Ok(matches!(constant_primitive(diags, expr, &Type::Bool)?, Value::Bool(true)))
}
