//! Turns an `import` block into instances and the ids of their objects. Evaluates only, and does
//! not look up the objects.

use std::sync::Arc;

use formwork_lang::eval::{ErrorCause, describe_referenced_values};
use formwork_lang::functions::Function;
use formwork_lang::scope::{Scope, ScopeStep};
use formwork_lang::syntax::{Expr, Ident};
use formwork_value::{Diagnostic, Diagnostics, Marks, Reported, Str, Type, Value, convert};

use super::check_references::evaluate_checked;
use super::{ModuleScope, RepetitionData, expand};
use crate::addr::{InstanceAddr, InstanceKey, ModuleAddr, ModuleStep};
use crate::change::ImportKey;
use crate::config::{Config, ImportBlock, ImportKeyExpr, Repetition, import_key_problem};
use crate::messages;

/// An object to be imported.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportTarget {
    /// The instance it is to belong to.
    pub addr: InstanceAddr,
    /// The key by which the provider finds the object; `None` while the key is unknown.
    pub import_key: Option<ImportKey>,
}

/// Evaluates a block. `scope` is that of the root module. Returns `None` while the repetition of the
/// block is unknown.
///
/// # Errors
/// When the block cannot be evaluated, or a key does not fit the repetition of the resource.
pub fn expand_import(
    diags: &mut Diagnostics,
    scope: &ModuleScope<'_>,
    config: &Config,
    import: &ImportBlock,
) -> Result<Option<Vec<ImportTarget>>, Reported> {
    let Repetition::ForEach(each) = &import.repetition else {
        let addr = import.addr_with_constant_keys();
        return Ok(Some(vec![ImportTarget {
            addr,
            import_key: evaluate_import_key(diags, scope, &import.by)?,
        }]));
    };
    let value = evaluate_checked(diags, each, scope)?;
    let resource = config.find_resource(&import.config_addr());
    let is_judged = resource.is_some() || import.calls.is_empty();
    let mut targets = Vec::new();
    let Some(elements) = read_for_each_elements(diags, value, each, scope)? else {
        return Ok(None);
    };
    for (key, value) in elements {
        let only = EachOnlyScope { key: key.clone(), value: value.clone() };
        let addr = evaluate_import_address(import, |expr| match expr {
            Some(expr) => only.evaluate_instance_key(diags, expr),
            None => Ok(InstanceKey::None),
        })?;
        let problem = is_judged.then(|| import_key_problem(import, resource, &addr.key)).flatten();
        if let Some(problem) = problem {
            return Err(diags.error(problem));
        }
        let data =
            RepetitionData { each_key: Some(key), each_value: Some(value), count_index: None };
        let scope = scope.clone().with_repetition(data);
        targets.push(ImportTarget {
            addr,
            import_key: evaluate_import_key(diags, &scope, &import.by)?,
        });
    }
    Ok(Some(targets))
}

fn evaluate_import_address(
    import: &ImportBlock,
    mut key: impl FnMut(&Option<Expr>) -> Result<InstanceKey, Reported>,
) -> Result<InstanceAddr, Reported> {
    let mut steps = Vec::with_capacity(import.calls.len());
    for (name, expr) in &import.calls {
        steps.push(ModuleStep { name: name.clone(), key: key(expr)? });
    }
    let module = ModuleAddr(Arc::new(steps));
    Ok(InstanceAddr { module, resource: import.resource.clone(), key: key(&import.key)? })
}

/// The elements that a block is repeated for. Other than a resource it may go through a list.
fn read_for_each_elements(
    diags: &mut Diagnostics,
    value: Value,
    expr: &Expr,
    scope: &ModuleScope<'_>,
) -> Result<Option<Vec<(Value, Value)>>, Reported> {
    // A key is that of an instance, which has to have it without a mark; so only values are sensitive.
    let (value, marks) = value.unmark();
    let numbered = |items: &[Value]| {
        let pairs = items.iter().enumerate();
        pairs
            .map(|(at, item)| {
                let at = Value::int(i64::try_from(at).unwrap_or(i64::MAX));
                (at, item.clone().mark(marks))
            })
            .collect()
    };
    let bad = |detail: &str, cause: ErrorCause| {
        let problem = Diagnostic::error(messages::INVALID_FOR_EACH_ARGUMENT, detail).at(expr.span);
        problem.with_referenced_values(describe_referenced_values(expr, scope, cause))
    };
    if marks.contains(Marks::EPHEMERAL) {
        return Err(diags.error(bad(expand::EPHEMERAL_FOR_EACH_DETAIL, ErrorCause::Ephemeral)));
    }
    match &value {
        Value::Null(_) => return Ok(Some(Vec::new())),
        Value::Tuple(tuple) => return Ok(Some(numbered(tuple.items()))),
        Value::List(list) => return Ok(Some(numbered(list.items()))),
        Value::Set(set) if value.is_wholly_known() => {
            let pairs = set.items().iter().map(|item| (item.clone(), item.clone().mark(marks)));
            return Ok(Some(pairs.collect()));
        }
        Value::Set(_) | Value::Unknown(_) => return Ok(None),
        Value::Map(_) | Value::Object(_) => {}
        _ => {
            let detail = "The \"for_each\" expression must be a collection.";
            return Err(diags.error(bad(detail, ErrorCause::Values)));
        }
    }
    let each = expand::read_for_each_of_block(diags, value, expr, scope)?;
    Ok(each.map(|map| {
        let pairs = map.keys().iter().zip(map.values());
        let pairs = pairs.map(|(key, value)| (Value::String(key.clone()), value.clone()));
        pairs.map(|(key, value)| (key, value.mark(marks))).collect()
    }))
}

/// Evaluates the key by which an object is found; `None` while it is unknown.
fn evaluate_import_key(
    diags: &mut Diagnostics,
    scope: &ModuleScope<'_>,
    by: &ImportKeyExpr,
) -> Result<Option<ImportKey>, Reported> {
    match by {
        ImportKeyExpr::Id(expr) => Ok(evaluate_id(diags, scope, expr)?.map(ImportKey::Id)),
        ImportKeyExpr::Identity(expr) => {
            Ok(evaluate_identity(diags, scope, expr)?.map(ImportKey::Identity))
        }
    }
}

/// Evaluates an identity; `None` while it is unknown.
fn evaluate_identity(
    diags: &mut Diagnostics,
    scope: &ModuleScope<'_>,
    expr: &Expr,
) -> Result<Option<Value>, Reported> {
    let value = evaluate_checked(diags, expr, scope)?.split_marks().0.into_value();
    if !value.is_wholly_known() {
        return Ok(None);
    }
    if let Value::Object(_) = value {
        return Ok(Some(value));
    }
    let detail = format!(
        "An identity must be an object with the identity attributes of the resource type, but this is a {}.",
        value.ty().friendly_name()
    );
    Err(diags
        .error(Diagnostic::error(messages::INVALID_IMPORT_IDENTITY_ARGUMENT, detail).at(expr.span)))
}

/// Evaluates an id; `None` while it is unknown.
fn evaluate_id(
    diags: &mut Diagnostics,
    scope: &ModuleScope<'_>,
    expr: &Expr,
) -> Result<Option<Str>, Reported> {
    let (value, _) = evaluate_checked(diags, expr, scope)?.unmark();
    let mut bad = |detail: &str| {
        let problem = Diagnostic::error(messages::INVALID_IMPORT_ID_ARGUMENT, detail);
        Err(diags.error(problem.at(expr.span)))
    };
    if value.is_null() {
        return bad("The import ID cannot be null.");
    }
    match convert::convert(&value, &Type::String) {
        Ok(Value::String(text)) if text.is_empty() => bad(
            "The import ID value evaluates to an empty string, please provide a non-empty value.",
        ),
        Ok(Value::String(text)) => Ok(Some(text)),
        Ok(_) => Ok(None),
        Err(refused) => {
            let detail = format!("Invalid expression value: {}.", refused.reason);
            let problem = Diagnostic::error(messages::INCORRECT_VALUE_TYPE, detail).at(expr.span);
            Err(diags.error(problem.with_referenced_values(describe_referenced_values(
                expr,
                scope,
                ErrorCause::Values,
            ))))
        }
    }
}

/// The error for an id that is unknown during planning.
#[must_use]
pub fn unknown_id_error(import: &ImportBlock) -> Diagnostic {
    let detail = "The import block \"id\" argument depends on resource attributes that cannot be \
                  determined until apply, so Formwork cannot plan to import this resource.";
    Diagnostic::error(messages::INVALID_IMPORT_ID_ARGUMENT, detail).at(import.by.expression().span)
}

/// The error for a repetition that is unknown during planning.
#[must_use]
pub fn unknown_repetition_error(import: &ImportBlock, scope: &ModuleScope<'_>) -> Diagnostic {
    let detail = "The \"for_each\" expression includes values derived from other resource attributes that \
                  cannot be determined until apply, and so Formwork cannot determine the full set of \
                  values that might be used to import this resource. Use variables and constants here.";
    let problem = Diagnostic::error(messages::UNKNOWN_FOR_EACH_ARGUMENT, detail);
    match &import.repetition {
        Repetition::ForEach(expr) | Repetition::Count(expr) => problem
            .at(expr.span)
            .with_referenced_values(describe_referenced_values(expr, scope, ErrorCause::Unknown)),
        Repetition::Single => problem.at(import.span),
    }
}

/// The scope of keys in an address: nothing but `each`, and no functions.
struct EachOnlyScope {
    key: Value,
    value: Value,
}

impl EachOnlyScope {
    fn evaluate_instance_key(
        &self,
        diags: &mut Diagnostics,
        expr: &Expr,
    ) -> Result<InstanceKey, Reported> {
        let (key, marks) = formwork_lang::eval::evaluate(diags, expr, self)?.unmark();
        if marks.contains(Marks::SENSITIVE) {
            let detail = "The key is sensitive, but addresses are shown in the output. Remove the mark with `nonsensitive` in the `for_each` argument if the key is not a secret.";
            let problem = Diagnostic::error(messages::INVALID_INDEX_EXPRESSION, detail);
            return Err(diags.error(problem.at(expr.span)));
        }
        match key {
            Value::String(key) => Ok(InstanceKey::Str(key)),
            Value::Number(at) if at.to_i64().is_some_and(|at| at >= 0) => {
                Ok(InstanceKey::Int(at.to_i64().and_then(|at| u64::try_from(at).ok()).unwrap_or(0)))
            }
            other => {
                let detail = format!(
                    "Invalid resource instance key: either a string or an integer is required. This is {}.",
                    other.ty().friendly_name()
                );
                let problem = Diagnostic::error(messages::INVALID_ADDRESS, detail);
                Err(diags.error(problem.at(expr.span)))
            }
        }
    }
}

impl Scope for EachOnlyScope {
    fn resolve(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        steps: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        match steps.first().filter(|_| root.name == "each") {
            Some(ScopeStep::Attribute(name)) if name.name == "key" => Ok((self.key.clone(), 1)),
            Some(ScopeStep::Attribute(name)) if name.name == "value" => Ok((self.value.clone(), 1)),
            Some(ScopeStep::Attribute(name)) => {
                let detail = format!(
                    "`each` has no attribute `{}`: only `each.key` and `each.value` can be used in \
                     the address of an import.",
                    name.name
                );
                Err(diags.error(
                    Diagnostic::error(messages::UNSUPPORTED_ATTRIBUTE, detail).at(name.span),
                ))
            }
            _ => {
                let detail = format!(
                    "`{}` is not available here: only `each.key` and `each.value` can be used in the \
                     address of an import.",
                    root.name
                );
                Err(diags
                    .error(Diagnostic::error(messages::UNKNOWN_VARIABLE, detail).at(root.span)))
            }
        }
    }

    fn lookup_function(&self, _: &str) -> Option<&dyn Function> {
        None
    }

    fn calls_forbidden_reason(&self) -> Option<&str> {
        Some("Functions cannot be called in the address of an import.")
    }

    fn function_names(&self) -> Vec<String> {
        Vec::new()
    }
}
