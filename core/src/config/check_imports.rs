//! Checks `import` blocks against the resources they name, using only the configuration.

use std::collections::BTreeMap;

use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics};

use super::arguments::format_span;
use super::{Config, ImportBlock, Repetition, Resource};
use crate::addr::InstanceKey;
use crate::messages;

/// Reports provider configurations that the blocks of a configuration cannot choose.
pub(super) fn check_import_providers(diags: &mut Diagnostics, config: &Config) {
    for import in &config.root.imports {
        reject_provider_beside_resource(diags, config, import);
    }
}

/// Reports called modules that contain `import` blocks, each at the first one.
pub(super) fn report_imports_in_called_modules(diags: &mut Diagnostics, config: &Config) {
    for node in config.nodes.iter().filter(|node| node.caller.is_some()) {
        if let Some(import) = node.module.imports.first() {
            let detail = format!(
                "An import block was detected in \"{}\". Import blocks are only allowed in the root module.",
                node.path
            );
            let problem = Diagnostic::error(messages::INVALID_IMPORT_CONFIGURATION, detail);
            let _ = diags.error(problem.at(import.span));
        }
    }
}

/// Reports blocks of a module that import into an address of another block.
pub(super) fn report_duplicate_import_targets(
    diags: &mut Diagnostics,
    sources: &Sources,
    imports: &[ImportBlock],
) {
    let mut seen: BTreeMap<String, &ImportBlock> = BTreeMap::new();
    for import in imports.iter().filter(|import| import.has_constant_target()) {
        let name = import.addr_with_constant_keys().to_string();
        if let Some(first) = seen.get(&name) {
            let first = format_span(sources, first.span);
            let detail = format!(
                "An import block for the resource {name:?} was already declared at {first}. A resource can have only one import block."
            );
            let summary =
                messages::DUPLICATE_IMPORT_CONFIGURATION_FOR.with(&[&format_args!("{name:?}")]);
            let _ = diags.error(Diagnostic::error(summary, detail).at(import.to));
            continue;
        }
        seen.insert(name, import);
    }
}

/// Reports provider configurations for objects in called modules, which the call passes.
pub(super) fn reject_provider_of_module_import(diags: &mut Diagnostics, imports: &[ImportBlock]) {
    for import in imports.iter().filter(|import| !import.calls.is_empty()) {
        if let Some((_, span)) = &import.provider {
            let detail = "The provider argument can only be specified in import blocks that will generate configuration.\n\nUse the providers argument within the module block to configure providers for all resources within a module, including imported resources.";
            let problem = Diagnostic::error(messages::INVALID_IMPORT_PROVIDER_ARGUMENT, detail);
            let _ = diags.error(problem.at(*span));
        }
    }
}

/// Reports a provider configuration that the block of the resource settles.
fn reject_provider_beside_resource(diags: &mut Diagnostics, config: &Config, import: &ImportBlock) {
    let Some(resource) = config.find_resource(&import.config_addr()) else { return };
    // No error if the resource block names a provider as well.
    if let Some((_, span)) = import.provider.as_ref().filter(|_| !resource.names_provider) {
        let detail = "The provider argument can only be specified in import blocks that will generate configuration.\n\nUse the provider argument in the target resource block to configure the provider for a resource with explicit provider configuration.";
        let problem = Diagnostic::error(messages::INVALID_IMPORT_PROVIDER_ARGUMENT, detail);
        let _ = diags.error(problem.at(*span));
    }
}

/// Returns the first problem between a block and the resource that it names, of those that show without
/// values.
pub(crate) fn import_problem(config: &Config, import: &ImportBlock) -> Option<Diagnostic> {
    let problem = match config.find_resource(&import.config_addr()) {
        Some(resource) => written_resource_problem(import, resource),
        None => missing_resource_problem(import),
    };
    problem.or_else(|| {
        let is_single = matches!(import.repetition, Repetition::Single);
        (is_single && !import.has_constant_target()).then(|| {
            let detail = super::traversal::STATIC_REFERENCE_RULE;
            Diagnostic::error(messages::STATIC_REFERENCE_REQUIRED, detail).at(import.to)
        })
    })
}

fn written_resource_problem(import: &ImportBlock, resource: &Resource) -> Option<Diagnostic> {
    let is_own_reference = |reference: &&super::Reference| {
        // The block is in the root module: there the name means another resource than in a called
        // one.
        import.calls.is_empty() && reference.resource_name() == Some(&import.resource)
    };
    if let Some(reference) = import.references.iter().find(is_own_reference) {
        let detail = format!("The id of `{}` cannot refer to the resource itself.", resource.name);
        let problem = Diagnostic::error(messages::INVALID_IMPORT_ID_ARGUMENT, detail);
        return Some(problem.at(reference.whole));
    }
    let is_single = matches!(import.repetition, Repetition::Single);
    let is_judged = is_single && import.has_constant_target();
    is_judged
        .then(|| import_key_problem(import, Some(resource), &import.addr_with_constant_keys().key))
        .flatten()
}

/// Returns the error if an instance key does not fit the repetition of the resource that a block names.
pub(crate) fn import_key_problem(
    import: &ImportBlock,
    resource: Option<&Resource>,
    key: &InstanceKey,
) -> Option<Diagnostic> {
    let mismatch = match (resource.map(|resource| &resource.repetition), key) {
        (Some(Repetition::Count(_)), InstanceKey::None) => "The target resource is using count.",
        (Some(Repetition::ForEach(_)), InstanceKey::None) => {
            "The target resource is using for_each."
        }
        (_, InstanceKey::None)
        | (Some(Repetition::Count(_)), InstanceKey::Int(_))
        | (Some(Repetition::ForEach(_)), InstanceKey::Str(_)) => return None,
        (_, InstanceKey::Int(_)) => "The target resource does not use count.",
        (_, InstanceKey::Str(_)) => "The target resource does not use for_each.",
    };
    let detail = match resource {
        Some(resource) => format!("{mismatch} The resource is `{}`.", resource.name),
        None => format!("{mismatch} There is no `{}` in the configuration.", import.config_addr()),
    };
    Some(Diagnostic::error(messages::INVALID_IMPORT_TO_EXPRESSION, detail).at(import.to))
}

/// A resource of the root module that is not written may still be generated. Keys that are not constant
/// are checked when they are known.
fn missing_resource_problem(import: &ImportBlock) -> Option<Diagnostic> {
    let is_repeated = matches!(import.repetition, Repetition::ForEach(_));
    let is_judged = !import.calls.is_empty() || is_repeated && import.has_constant_target();
    is_judged.then(|| cannot_be_generated_error(import))
}

/// The error for a block whose resource is not written and cannot be generated.
pub(super) fn cannot_be_generated_error(import: &ImportBlock) -> Diagnostic {
    let addr = import.config_addr();
    let detail = match import.calls.is_empty() {
        true => format!(
            "The given import block is not compatible with config generation. The -generate-config-out option cannot be used with import blocks which use for_each, or resources which use for_each or count. There is no `{addr}` in the configuration."
        ),
        false => format!(
            "Resource {addr} not found. Only resources within the root module are eligible for config generation."
        ),
    };
    let summary = messages::IMPORT_CANNOT_BE_GENERATED;
    Diagnostic::error(summary, detail).at(import.to)
}
