//! Fills in the references of every block of a module, once all blocks were read. The existence of
//! their subjects is checked elsewhere.

use std::collections::HashSet;

use formwork_lang::refs::{self, Traversal};
use formwork_lang::syntax::Expr;
use formwork_value::Diagnostics;

use super::{Condition, Module, Output, Repetition, Resource};
use crate::addr::{Reference, ResourceName, Subject};

/// Fills in the references of every block. Mentions of no meaningful form are reported and left out.
pub(super) fn fill(diags: &mut Diagnostics, module: &mut Module) {
    for provider in module.providers.values_mut() {
        provider.references = read(diags, refs::of_body(&provider.body));
    }
    for variable in module.variables.values_mut() {
        variable.references = read(diags, of_conditions(&variable.validations));
    }
    for local in module.locals.values_mut() {
        local.references = read(diags, refs::of_expr(&local.expr));
    }
    for resource in module.resources.values_mut() {
        resource.references = of_resource(diags, resource);
    }
    for output in module.outputs.values_mut() {
        output.references = of_output(diags, output);
    }
    for call in module.calls.values_mut() {
        call.references = read(diags, of_repetition(&call.repetition));
        call.references.extend(call.depends_on.iter().cloned());
        for argument in call.arguments.values_mut() {
            argument.references = read(diags, refs::of_expr(&argument.expr));
        }
    }
    for import in &mut module.imports {
        let mut mentions = refs::of_expr(import.by.expr());
        mentions.extend(of_repetition(&import.repetition));
        import.references = read(diags, mentions);
    }
    for check in module.checks.values_mut() {
        check.references = read(diags, of_conditions(&check.asserts));
    }
    share_names(module);
}

/// Lets mentions of a resource share the name of its block. With many mentions of many resources,
/// copies of names would take most of the memory of a configuration.
fn share_names(module: &mut Module) {
    let names: HashSet<ResourceName> = module.resources.keys().cloned().collect();
    let share = |references: &mut Vec<Reference>| {
        for reference in references {
            if let Subject::Resource(name) = &mut reference.subject
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

fn of_resource(diags: &mut Diagnostics, resource: &Resource) -> Vec<Reference> {
    let lifecycle = &resource.lifecycle;
    let mut mentions = of_repetition(&resource.repetition);
    mentions.extend(refs::of_body(&resource.body));
    mentions.extend(lifecycle.replace_triggered_by.iter().flat_map(refs::of_expr));
    mentions.extend(of_conditions(&lifecycle.preconditions));
    mentions.extend(of_conditions(&lifecycle.postconditions));
    for provisioner in &resource.provisioners {
        mentions.extend(refs::of_body(&provisioner.body));
        mentions.extend(provisioner.connection.iter().flat_map(refs::of_body));
    }
    let mut references = read(diags, mentions);
    references.extend(resource.depends_on.iter().cloned());
    references
}

fn of_repetition(repetition: &Repetition) -> Vec<Traversal> {
    match repetition {
        Repetition::Single => Vec::new(),
        Repetition::Count(expr) | Repetition::ForEach(expr) => refs::of_expr(expr),
    }
}

fn of_output(diags: &mut Diagnostics, output: &Output) -> Vec<Reference> {
    let mut mentions = refs::of_expr(&output.expr);
    mentions.extend(of_conditions(&output.preconditions));
    let mut references = read(diags, mentions);
    references.extend(output.depends_on.iter().cloned());
    references
}

fn of_conditions(conditions: &[Condition]) -> Vec<Traversal> {
    let exprs = conditions.iter().flat_map(|condition| [&condition.condition, &condition.message]);
    exprs.flat_map(|expr: &Expr| refs::of_expr(expr)).collect()
}

fn read(diags: &mut Diagnostics, mentions: Vec<Traversal>) -> Vec<Reference> {
    mentions.iter().filter_map(|mention| Reference::of(diags, mention).ok()).collect()
}
