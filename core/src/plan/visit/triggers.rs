//! Whether something named in `replace_triggered_by` changes.

use formwork_lang::eval::evaluate;
use formwork_lang::refs::{self, TraversalStep};
use formwork_lang::syntax::{Expr, ExprKind};
use formwork_value::{Diagnostic, Diagnostics, Path, Reported, Step, Value};

use super::PlanContext;
use crate::addr::{InstanceKey, Reference, ReferenceSubject, ResourceName};
use crate::change::{Action, Change};
use crate::config::bad_reference;
use crate::eval::ModuleScope;
use crate::messages;

/// Whether any of the expressions names something whose planned change triggers a replacement.
///
/// # Errors
/// When an expression is not a reference to a resource or to an attribute of one.
pub(super) fn is_replace_triggered(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    triggers: &[Expr],
    scope: &ModuleScope<'_>,
) -> Result<bool, Reported> {
    let mut any = false;
    for expr in triggers {
        // Not short-circuited: an error in a later expression shows even if an earlier one
        // triggers.
        any |= is_replace_triggered_by(view, diags, expr, scope)?;
    }
    Ok(any)
}

fn is_replace_triggered_by(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    expr: &Expr,
    scope: &ModuleScope<'_>,
) -> Result<bool, Reported> {
    let Some((name, key, path)) = parse_trigger(diags, expr, scope)? else {
        let detail = "Expected a reference to a resource, to an instance of one, or to an attribute of an instance.";
        return Err(diags.error(
            Diagnostic::error(messages::INVALID_REPLACE_TRIGGERED_BY_EXPRESSION, detail)
                .at(expr.span),
        ));
    };
    let module = scope.module_results().module_addr();
    let node = view.session.config.find_node(&module.path());
    if let Some(node) = node.filter(|node| !node.module.resources.contains_key(&name)) {
        return Err(diags.error(bad_reference::undeclared_resource_error(
            &node.module,
            &node.path,
            &name,
            expr.span,
        )));
    }
    // An attribute is that of the instance without a key.
    let key = key.or_else(|| (!path.0.is_empty()).then_some(InstanceKey::None));
    let mut changes = view
        .planned_resources
        .changes_of_resource(scope.module_results(), &name, key.as_ref())
        .peekable();
    if changes.peek().is_none() {
        return Err(diags.error(missing_trigger_error(scope, &name, key.as_ref(), expr)));
    }
    Ok(changes.any(|change| change_triggers_replace(change, &path)))
}

/// The error for something that has no instance, and so cannot trigger anything.
fn missing_trigger_error(
    scope: &ModuleScope<'_>,
    name: &ResourceName,
    key: Option<&InstanceKey>,
    expr: &Expr,
) -> Diagnostic {
    let module = scope.module_results().module_addr();
    let module = match module.is_root() {
        true => "the root module".to_owned(),
        false => module.to_string(),
    };
    let key = key.map(ToString::to_string).unwrap_or_default();
    let detail = "What triggers a replacement must have an instance, with or without a change.";
    Diagnostic::error(messages::NO_CHANGE_FOUND.with(&[&name, &key, &module]), detail).at(expr.span)
}

/// Only an object that exists before and after triggers: not a creation, not a deletion.
fn change_triggers_replace(change: &Change, path: &Path) -> bool {
    if !matches!(change.action, Action::Update | Action::Replace(_)) {
        return false;
    }
    if path.0.is_empty() {
        return true;
    }
    let (before, after) = (path.find(&change.before), path.find(&change.after));
    // An unknown value may turn out to differ, and a replacement has to be decided now.
    before != after || after.is_some_and(|after| !after.is_wholly_known())
}

type TriggerReference = (ResourceName, Option<InstanceKey>, Path);

/// Splits `type.name[key].attribute` into its parts; the key may be an expression.
fn parse_trigger(
    diags: &mut Diagnostics,
    expr: &Expr,
    scope: &ModuleScope<'_>,
) -> Result<Option<TriggerReference>, Reported> {
    let mut attributes = Vec::new();
    let mut inner = expr;
    loop {
        if let Some(traversal) = refs::as_traversal(inner) {
            let reference = Reference::from_traversal(diags, &traversal)?;
            let ReferenceSubject::Resource(name) = &reference.subject else { return Ok(None) };
            let mut key = reference.instance_key();
            let skip = usize::from(key.is_some());
            let mut steps: Vec<Step> =
                reference.remaining.iter().skip(skip).filter_map(TraversalStep::to_step).collect();
            attributes.reverse();
            if let Some(Step::Index(_) | Step::Key(_)) = attributes.first()
                && steps.is_empty()
                && key.is_none()
            {
                key = match attributes.remove(0) {
                    Step::Index(index) => {
                        index.to_usize().map(|index| InstanceKey::Int(index as u64))
                    }
                    Step::Key(key) => Some(InstanceKey::Str(key)),
                    Step::Attribute(_) => None,
                };
            }
            steps.extend(attributes);
            return Ok(Some((name.clone(), key, Path(steps))));
        }
        match &inner.kind {
            ExprKind::Attribute { operand, name } => {
                attributes.push(Step::Attribute(name.name.clone()));
                inner = operand;
            }
            ExprKind::Index { operand, key, .. } => {
                let key = match evaluate(diags, key, scope)?.unmark().0 {
                    Value::Number(index) => Step::Index(index),
                    Value::String(key) => Step::Key(key),
                    _ => return Ok(None),
                };
                attributes.push(key);
                inner = operand;
            }
            _ => return Ok(None),
        }
    }
}
