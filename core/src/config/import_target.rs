//! Checks `import` blocks against the resources they name, by the configuration alone.

use std::collections::BTreeMap;

use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics};

use super::arguments::place;
use super::{Config, Import, Repetition, Resource};

/// Reports everything wrong with the blocks of a configuration.
pub(super) fn check(diags: &mut Diagnostics, sources: &Sources, config: &Config) {
    for node in config.nodes.iter().filter(|node| node.caller.is_some()) {
        for import in &node.module.imports {
            let detail = format!(
                "This block stands in the module `{}`. Only the root module can import.",
                node.path
            );
            let problem = Diagnostic::error("Invalid import configuration", detail);
            let _ = diags.error(problem.at(import.span));
        }
    }
    let mut seen: BTreeMap<String, &Import> = BTreeMap::new();
    for import in &config.root.imports {
        if matches!(import.repetition, Repetition::Single) || import.is_constant() {
            let name = import.constant_addr().to_string();
            if let Some(first) = seen.get(&name) {
                let first = place(sources, first.span);
                let detail = format!(
                    "`{name}` is imported already by the block at {first}. One object belongs to one \
                     address."
                );
                let summary = format!("Duplicate import configuration for {name:?}");
                let _ = diags.error(Diagnostic::error(summary, detail).at(import.to));
                continue;
            }
            seen.insert(name, import);
        }
        match config.resource(&import.config_addr()) {
            Some(resource) => check_written(diags, import, resource),
            None => check_not_written(diags, import),
        }
    }
}

fn check_written(diags: &mut Diagnostics, import: &Import, resource: &Resource) {
    // One that the block names too is passed over.
    if let Some((_, span)) = import.provider.as_ref().filter(|_| !resource.names_provider) {
        let detail = format!(
            "The block of `{}` settles which provider configuration it uses. Here one can only be \
             given for a resource whose configuration is still to be generated.",
            resource.name
        );
        let problem = Diagnostic::error("Invalid import provider argument", detail);
        let _ = diags.error(problem.at(*span));
    }
    let misfit = match (&resource.repetition, &import.key) {
        (Repetition::Single, Some(_)) => {
            Some("it has neither `count` nor `for_each`, so it takes no key")
        }
        (Repetition::Count(_), None) => {
            Some("it has `count`, so a key must say which instance is meant")
        }
        (Repetition::ForEach(_), None) => {
            Some("it has `for_each`, so a key must say which instance is meant")
        }
        _ => None,
    };
    if let Some(misfit) = misfit {
        let detail = format!("This does not fit `{}`: {misfit}.", resource.name);
        let problem = Diagnostic::error("Invalid import 'to' expression", detail);
        let _ = diags.error(problem.at(import.to));
    }
    let own = |reference: &&super::Reference| {
        import.calls.is_empty() && reference.resource() == Some(&import.resource)
    };
    if let Some(reference) = import.references.iter().find(own) {
        let detail = format!("The id of `{}` cannot come from itself.", resource.name);
        let problem = Diagnostic::error("Invalid import id argument", detail);
        let _ = diags.error(problem.at(reference.span));
    }
}

/// A resource of the root module that is not written may still be generated.
fn check_not_written(diags: &mut Diagnostics, import: &Import) {
    let repeated = matches!(import.repetition, Repetition::ForEach(_));
    if import.calls.is_empty() && !repeated {
        return;
    }
    let detail = format!(
        "There is no `{}` in the configuration. What is imported into a module, or several times, \
         must be written.",
        import.config_addr()
    );
    let summary = match import.calls.is_empty() {
        true => "Invalid import 'to' expression",
        false => "Configuration for import target does not exist",
    };
    let _ = diags.error(Diagnostic::error(summary, detail).at(import.to));
}
