//! Checks that the objects that a module refers to exist, using only the configuration. Evaluates
//! nothing: types and attributes of values are checked when they are evaluated.

use formwork_lang::refs::{self, TraversalStep};
use formwork_lang::syntax::Expr;
use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Str};

use super::{Lifecycle, Module, ModuleNode, Repetition, Resource, bad_reference};
use crate::addr::reference::step_span;
use crate::addr::{Reference, ReferenceSubject, ResourceName};
use crate::messages;

/// Limit of problems per module: more are not helpful, and each costs a search for similar names.
const MAX_REFERENCE_PROBLEMS: usize = 100;

/// Reports all errors in the references of a module.
pub(super) fn check_references(diags: &mut Diagnostics, node: &ModuleNode) {
    let module = &*node.module;
    for provider in module.providers.values() {
        reject_data_of_other_checks(diags, module, &provider.references, None);
        check_all_references(diags, node, &provider.references, None);
    }
    for variable in module.variables.values() {
        reject_data_of_other_checks(diags, module, &variable.references, None);
        check_all_references(diags, node, &variable.references, None);
    }
    for local in module.locals.values() {
        reject_data_of_other_checks(diags, module, &local.references, None);
        check_all_references(diags, node, &local.references, None);
    }
    for resource in module.resources.values() {
        // As in Terraform, the plan checks whether the objects in `replace_triggered_by` exist.
        let judged_later = |reference: &&Reference| {
            reference.resource_name().is_some() && resource.lifecycle.has_replace_trigger(reference)
        };
        let now: Vec<_> =
            resource.references.iter().filter(|reference| !judged_later(reference)).collect();
        check_all_references(diags, node, now, Some(&resource.repetition));
        reject_data_of_other_checks(diags, module, &resource.references, resource.within.as_ref());
        check_depends_on_entries(diags, &resource.depends_on);
        check_self_reference(diags, resource);
    }
    for output in module.outputs.values() {
        reject_data_of_other_checks(diags, module, &output.references, None);
        check_all_references(diags, node, &output.references, None);
        check_depends_on_entries(diags, &output.depends_on);
        if module.is_root && output.ephemeral {
            let _ = diags.error(bad_reference::ephemeral_root_output_error(output));
        }
    }
    for import in &module.imports {
        reject_data_of_other_checks(diags, module, &import.references, None);
        check_all_references(diags, node, &import.references, Some(&import.repetition));
    }
    for call in module.calls.values() {
        reject_data_of_other_checks(diags, module, &call.references, None);
        check_all_references(diags, node, &call.references, None);
        check_depends_on_entries(diags, &call.depends_on);
        for argument in call.arguments.values() {
            reject_data_of_other_checks(diags, module, &argument.references, None);
            check_all_references(diags, node, &argument.references, Some(&call.repetition));
        }
    }
    for check in module.checks.values() {
        check_all_references(diags, node, &check.references, None);
        reject_data_of_other_checks(diags, module, &check.references, Some(&check.name));
    }
}

/// Reports references to data sources of another `check` block.
fn reject_data_of_other_checks(
    diags: &mut Diagnostics,
    module: &Module,
    references: &[Reference],
    check: Option<&Str>,
) {
    for reference in references {
        if let Some(problem) = check_block_scope_problem(module, reference, check) {
            let _ = diags.error(problem);
        }
    }
}

/// The error for a reference to a data source of another `check` block.
fn check_block_scope_problem(
    module: &Module,
    reference: &Reference,
    check: Option<&Str>,
) -> Option<Diagnostic> {
    let resource = module.resources.get(reference.resource_name()?)?;
    let within = resource.within.as_ref().filter(|within| check != Some(*within))?;
    let detail = format!(
        "`{}` belongs to the block `check {within:?}`, and can only be used there.",
        resource.name
    );
    Some(Diagnostic::error(messages::REFERENCE_TO_SCOPED_RESOURCE, detail).at(reference.span))
}

/// Returns the problems of a reference to a resource or a module call that the configuration shows.
/// `check` is the `check` block around it.
pub(crate) fn resource_or_call_problems(
    node: &ModuleNode,
    reference: &Reference,
    check: Option<&Str>,
) -> Vec<Diagnostic> {
    let problem = match reference.subject {
        ReferenceSubject::Module(_) | ReferenceSubject::Resource(_) => {
            reference_problem(node, reference, None)
        }
        _ => None,
    };
    problem.into_iter().chain(check_block_scope_problem(&node.module, reference, check)).collect()
}

/// Reports all errors in the references of an expression in a module, outside of
/// any resource.
///
/// # Errors
/// When a reference is invalid.
pub fn check_expression_references(
    diags: &mut Diagnostics,
    node: &ModuleNode,
    expr: &Expr,
) -> Result<(), Reported> {
    let mut reference_diags = Diagnostics::new();
    let references: Vec<Reference> = refs::traversals_of_expr(expr)
        .iter()
        .filter_map(|traversal| Reference::from_traversal(&mut reference_diags, traversal).ok())
        .collect();
    check_all_references(&mut reference_diags, node, &references, None);
    diags.append(reference_diags)
}

fn check_all_references<'r>(
    diags: &mut Diagnostics,
    node: &ModuleNode,
    references: impl IntoIterator<Item = &'r Reference>,
    within: Option<&Repetition>,
) {
    for reference in references {
        if diags.len() >= MAX_REFERENCE_PROBLEMS {
            return;
        }
        if let Some(problem) = reference_problem(node, reference, within) {
            let _ = diags.error(problem);
        }
    }
}

/// The error in a reference, if any: it is in a resource of this repetition, or outside of any.
fn reference_problem(
    node: &ModuleNode,
    reference: &Reference,
    within: Option<&Repetition>,
) -> Option<Diagnostic> {
    let (module, path, span) = (&*node.module, &node.path, reference.span);
    match &reference.subject {
        ReferenceSubject::Variable(name) => (!module.variables.contains_key(name))
            .then(|| bad_reference::undeclared_variable_error(module, name, span)),
        ReferenceSubject::Local(name) => (!module.locals.contains_key(name))
            .then(|| bad_reference::undeclared_local_error(module, name, span)),
        ReferenceSubject::Module(name) => {
            let span = reference.module_output().map_or(span, |output| span.to(output.span));
            (!module.calls.contains_key(name))
                .then(|| bad_reference::undeclared_module_call_error(module, path, name, span))
        }
        ReferenceSubject::Resource(name) => match module.resources.get(name) {
            Some(resource) => instance_key_problem(resource, reference),
            None => {
                let key =
                    reference.remaining.first().filter(|_| reference.instance_key().is_some());
                let span = key.map_or(span, |key| span.to(step_span(key)));
                Some(bad_reference::undeclared_resource_error(module, path, name, span))
            }
        },
        ReferenceSubject::Count(name) => {
            builtin_attribute_problem("count", name, span).or_else(|| {
                (!matches!(within, Some(Repetition::Count(_))))
                    .then(|| bad_reference::count_without_count_error(span))
            })
        }
        ReferenceSubject::Each(name) => {
            builtin_attribute_problem("each", name, span).or_else(|| {
                (!matches!(within, Some(Repetition::ForEach(_))))
                    .then(|| bad_reference::each_without_for_each_error(name, span))
            })
        }
        ReferenceSubject::Path(name) => builtin_attribute_problem("path", name, span),
        ReferenceSubject::Terraform(name) => builtin_attribute_problem("terraform", name, span),
        // The blocks in which `self` is allowed are checked during evaluation.
        ReferenceSubject::SelfObject => {
            within.is_none().then(|| bad_reference::self_without_object_error(span))
        }
    }
}

fn builtin_attribute_problem(object: &str, name: &str, span: Span) -> Option<Diagnostic> {
    let known = bad_reference::builtin_object_attributes(object).contains(&name);
    (!known).then(|| bad_reference::unknown_builtin_attribute_error(object, name, span))
}

/// The error for a missing key of a repeated resource, or for the key of a single one.
fn instance_key_problem(resource: &Resource, reference: &Reference) -> Option<Diagnostic> {
    let name = resource.name.to_string();
    let missing = |argument, key| {
        bad_reference::missing_instance_key_error(&name, argument, key).at(reference.span)
    };
    match (&resource.repetition, reference.remaining.first()?) {
        (Repetition::Count(_), TraversalStep::Attribute(_)) => {
            Some(missing("count", "count.index"))
        }
        (Repetition::ForEach(_), TraversalStep::Attribute(_)) => {
            Some(missing("for_each", "each.key"))
        }
        (Repetition::Single, TraversalStep::Key(_, span) | TraversalStep::Index(_, span)) => {
            Some(bad_reference::unexpected_instance_key_error(&name).at(reference.span.to(*span)))
        }
        _ => None,
    }
}

/// Reports entries of `depends_on` that refer to a part of an object.
fn check_depends_on_entries(diags: &mut Diagnostics, depends_on: &[Reference]) {
    for reference in depends_on {
        if let Some(problem) = bad_reference::depends_on_part_error(reference) {
            let _ = diags.error(problem);
        }
    }
}

/// Reports references of a resource to itself.
fn check_self_reference(diags: &mut Diagnostics, resource: &Resource) {
    // A reference from one instance to another of the same resource is also an error: instances of one
    // resource have no order.
    // A dependency on itself has no effect, and Terraform accepts it.
    let waits = |reference: &Reference| {
        resource.depends_on.iter().any(|dependency| dependency.span == reference.span)
    };
    let self_references = resource
        .references
        .iter()
        .filter(|reference| reference.resource_name() == Some(&resource.name));
    // A condition with such a reference was reported when the block was read.
    let lifecycle = &resource.lifecycle;
    let conditions = || lifecycle.preconditions.iter().chain(&lifecycle.postconditions);
    let is_in_condition = |reference: &Reference| {
        let mut parts =
            conditions().flat_map(|condition| [&condition.condition, &condition.message]);
        parts.any(|part| part.span.covers(reference.span))
    };
    for reference in
        self_references.filter(|reference| !waits(reference) && !is_in_condition(reference))
    {
        let detail = format!("Configuration for {} may not refer to itself.", resource.name);
        let problem = Diagnostic::error(messages::SELF_REFERENTIAL_BLOCK, detail);
        let problem = problem.about(resource.name.to_string());
        let _ = diags.error(problem.at(reference.span));
    }
}

/// Reports conditions of a resource that refer to the resource itself.
pub(super) fn check_no_self_reference_in_conditions(
    diags: &mut Diagnostics,
    name: &ResourceName,
    lifecycle: &Lifecycle,
) {
    let before = lifecycle.preconditions.iter().map(|condition| (condition, "precondition"));
    let after = lifecycle.postconditions.iter().map(|condition| (condition, "postcondition"));
    for (condition, kind) in before.chain(after) {
        for part in [&condition.condition, &condition.message] {
            let traversals = refs::traversals_of_expr(part);
            let is_own = |traversal| {
                let reference = Reference::from_traversal(&mut Diagnostics::new(), traversal);
                reference.is_ok_and(|reference| reference.resource_name() == Some(name))
            };
            if traversals.iter().any(is_own) {
                let hint = if kind == "postcondition" { " Here `self` is the object." } else { "" };
                let detail = format!("Configuration for {name} may not refer to itself.{hint}");
                let problem = Diagnostic::error(messages::SELF_REFERENCE.with(&[&kind]), detail);
                let _ = diags.error(problem.about(name.to_string()).at(part.span));
            }
        }
    }
}
