//! Fills in the references of every block of a module, once all blocks were read. The existence of
//! their subjects is checked elsewhere.

use std::collections::HashSet;

use formwork_lang::refs::{self, Traversal};
use formwork_lang::syntax::Expr;
use formwork_value::Diagnostics;

use super::{ConditionBlock, Module, Output, Repetition, Resource};
use crate::addr::{Reference, ReferenceSubject, ResourceName};

/// Fills in the references of every block. Mentions of no meaningful form are reported and left out.
pub(super) fn fill_references(diags: &mut Diagnostics, module: &mut Module) {
    for provider in module.providers.values_mut() {
        provider.references = read_references(diags, refs::traversals_of_body(&provider.body));
    }
    for variable in module.variables.values_mut() {
        variable.references = read_references(diags, condition_traversals(&variable.validations));
    }
    for local in module.locals.values_mut() {
        local.references = read_references(diags, refs::traversals_of_expr(&local.expr));
    }
    for resource in module.resources.values_mut() {
        resource.references = resource_references(diags, resource);
    }
    for output in module.outputs.values_mut() {
        output.references = output_references(diags, output);
    }
    for call in module.calls.values_mut() {
        call.references = read_references(diags, repetition_traversals(&call.repetition));
        call.references.extend(call.depends_on.iter().cloned());
        for argument in call.arguments.values_mut() {
            argument.references = read_references(diags, refs::traversals_of_expr(&argument.expr));
        }
    }
    for import in &mut module.imports {
        let mut traversals = refs::traversals_of_expr(import.by.expression());
        traversals.extend(repetition_traversals(&import.repetition));
        import.references = read_references(diags, traversals);
    }
    for check in module.checks.values_mut() {
        check.references = read_references(diags, condition_traversals(&check.asserts));
    }
    share_resource_names(module);
}

/// Lets references to a resource share the name of its block.
fn share_resource_names(module: &mut Module) {
    // With many references to many resources, copies of names would take most of the memory of a
    // configuration.
    let names: HashSet<ResourceName> = module.resources.keys().cloned().collect();
    let share = |references: &mut Vec<Reference>| {
        for reference in references {
            if let ReferenceSubject::Resource(name) = &mut reference.subject
                && let Some(declared) = names.get(name)
            {
                *name = declared.clone();
            }
        }
    };
    for resource in module.resources.values_mut() {
        share(&mut resource.references);
        share(&mut resource.depends_on);
    }
    module.locals.values_mut().for_each(|local| share(&mut local.references));
    module.outputs.values_mut().for_each(|output| share(&mut output.references));
}

fn resource_references(diags: &mut Diagnostics, resource: &Resource) -> Vec<Reference> {
    let lifecycle = &resource.lifecycle;
    let mut traversals = repetition_traversals(&resource.repetition);
    traversals.extend(refs::traversals_of_body(&resource.body));
    traversals.extend(lifecycle.replace_triggered_by.iter().flat_map(refs::traversals_of_expr));
    traversals.extend(condition_traversals(&lifecycle.preconditions));
    traversals.extend(condition_traversals(&lifecycle.postconditions));
    for provisioner in &resource.provisioners {
        traversals.extend(refs::traversals_of_body(&provisioner.body));
        traversals.extend(provisioner.connection.iter().flat_map(refs::traversals_of_body));
    }
    let mut references = read_references(diags, traversals);
    references.extend(resource.depends_on.iter().cloned());
    references
}

fn repetition_traversals(repetition: &Repetition) -> Vec<Traversal> {
    match repetition {
        Repetition::Single => Vec::new(),
        Repetition::Count(expr) | Repetition::ForEach(expr) => refs::traversals_of_expr(expr),
    }
}

fn output_references(diags: &mut Diagnostics, output: &Output) -> Vec<Reference> {
    let mut traversals = refs::traversals_of_expr(&output.expr);
    traversals.extend(condition_traversals(&output.preconditions));
    let mut references = read_references(diags, traversals);
    references.extend(output.depends_on.iter().cloned());
    references
}

fn condition_traversals(conditions: &[ConditionBlock]) -> Vec<Traversal> {
    let exprs = conditions.iter().flat_map(|condition| [&condition.condition, &condition.message]);
    exprs.flat_map(|expr: &Expr| refs::traversals_of_expr(expr)).collect()
}

fn read_references(diags: &mut Diagnostics, traversals: Vec<Traversal>) -> Vec<Reference> {
    traversals
        .iter()
        .filter_map(|traversal| Reference::from_traversal(diags, traversal).ok())
        .collect()
}
