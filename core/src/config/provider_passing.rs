//! Provider configurations that modules pass to those they call: determines the one that each gets,
//! and reports the ones that do not match.

use std::collections::BTreeMap;
use std::sync::Arc;

use formwork_value::{Diagnostic, Diagnostics, Span, Str};

use super::{
    Config, LocalProviderConfig, Module, ModuleCall, ModuleNode, PassedProvider, ProviderBlock,
    ProviderKey, Repetition, RequiredProvider,
};
use crate::addr::{ProviderAddr, ProviderConfigAddr};
use crate::messages;

/// Gives every module the configurations that its caller passes, callers first, and reports those
/// that do not match the module.
pub(super) fn resolve_passed_providers(diags: &mut Diagnostics, config: &mut Config) {
    settle_passed_providers(config);
    for node in &config.nodes {
        if let Some((caller, call)) = config.call_of_module(node) {
            check_providers_of_call(diags, config, node, caller, call);
        }
        warn_of_missing_passed_providers(diags, config, node);
    }
    for node in &config.nodes {
        warn_of_redundant_providers(diags, node);
    }
}

impl Config {
    /// Replaces the root module by a copy that has other provider configurations.
    pub fn replace_root_module(&mut self, root: Module) {
        self.root = Arc::new(root);
        // The copy is the root module and the first node of the tree.
        if let Some(node) = self.nodes.first_mut() {
            node.module = self.root.clone();
        }
        // The root may now have configurations that it could not pass before.
        settle_passed_providers(self);
    }
}

/// Gives every module the configurations that its caller passes, as far as they match it.
fn settle_passed_providers(config: &mut Config) {
    // Callers come first in the list, so the configurations that they can pass are already resolved.
    for index in 0..config.nodes.len() {
        let node = &config.nodes[index];
        let mut passed = BTreeMap::new();
        if let Some((caller, call)) = config.call_of_module(node) {
            for entry in &call.providers {
                let source = node.module.settings.provider_for_local_name(&entry.in_child.name);
                // The child cannot use a configuration of another provider. A missing one is reported by
                // `check_passed_are_configured`.
                if let Ok(addr) = find_passed_config(caller, entry)
                    && addr.provider == source
                {
                    let alias = entry.in_child.alias.clone();
                    passed.insert(ProviderKey { provider: source, alias }, addr);
                }
            }
        }
        config.nodes[index].passed = passed;
    }
}

/// Reports configurations that callers pass without having them.
pub(super) fn check_passed_are_configured(diags: &mut Diagnostics, config: &Config) {
    for (caller, call) in config.nodes.iter().filter_map(|node| config.call_of_module(node)) {
        for passed in &call.providers {
            // A configuration of another provider was reported when the calls were settled.
            if let Err(wanted) = find_passed_config(caller, passed) {
                let _ = diags.error(passed_provider_missing_error(&wanted, passed));
            }
        }
    }
}

/// The configuration that an entry of `providers` names. It must be there by a word of the caller: a
/// block, an entry of its caller, or in the root module a requirement.
fn find_passed_config(
    caller: &ModuleNode,
    passed: &PassedProvider,
) -> Result<ProviderConfigAddr, ProviderConfigAddr> {
    let local = &passed.in_caller;
    let provider = caller.module.settings.provider_for_local_name(&local.name);
    let key = ProviderKey { provider: provider.clone(), alias: local.alias.clone() };
    if let Some(passed) = caller.passed.get(&key) {
        return Ok(passed.clone());
    }
    let listed = &caller.module.settings.required_providers;
    let required = caller.caller.is_none()
        && local.alias.is_none()
        && listed.values().any(|required| required.source == provider);
    let is_configured = required || caller.module.providers.contains_key(local);
    let (module, alias) = (caller.path.clone(), local.alias.clone());
    let addr = ProviderConfigAddr { module, provider, alias };
    if is_configured { Ok(addr) } else { Err(addr) }
}

fn passed_provider_missing_error(
    wanted: &ProviderConfigAddr,
    passed: &PassedProvider,
) -> Diagnostic {
    let detail = format!(
        "`{}` cannot be passed: there is no `provider` block for it here, and no caller passes one. For a configuration without arguments an entry in `required_providers` is enough.",
        passed.in_caller
    );
    Diagnostic::error(messages::MISSING_PROVIDER.with(&[&wanted]), detail).at(passed.caller_span)
}

/// The span of the local name in the caller, without the alias.
fn caller_name_span(passed: &PassedProvider) -> Span {
    let span = passed.caller_span;
    match (&passed.in_caller.alias, u32::try_from(passed.in_caller.name.len())) {
        (Some(_), Ok(length)) => Span { end: span.start + length, ..span },
        _ => span,
    }
}

/// Whether a block is empty: it may only be a placeholder for a configuration that a caller passes.
fn is_empty_provider_block(block: &ProviderBlock) -> bool {
    block.body.is_empty() && block.version.is_none()
}

fn is_provider_configured(module: &Module, local: &LocalProviderConfig) -> bool {
    module.providers.get(local).is_some_and(|block| !is_empty_provider_block(block))
}

fn is_default_source_of_type(provider: &ProviderAddr) -> bool {
    *provider == ProviderAddr::implied_by_name(provider.provider_type())
}

/// Reports mismatches between a module and its caller.
fn check_providers_of_call(
    diags: &mut Diagnostics,
    config: &Config,
    node: &ModuleNode,
    caller: &ModuleNode,
    call: &ModuleCall,
) {
    let configured = node.module.providers.values().any(|block| !is_empty_provider_block(block));
    if configured && let Some(span) = repetition_span_of_calls_above(config, node) {
        let detail = format!(
            "The module at {} is a legacy module which contains its own local provider configurations, and so calls to it may not use the count, for_each, or depends_on arguments.\n\nIf you also control the module \"{}\", consider updating this module to instead expect provider configurations to be passed by its caller.",
            node.path, call.site.source
        );
        let summary = messages::LEGACY_MODULE_REPEATED;
        let _ = diags.error(Diagnostic::error(summary, detail).at(span));
    }
    for alias in node.module.settings.required_providers.values().flat_map(configuration_aliases_of)
    {
        let passed = call.providers.iter().any(|passed| passed.in_child == *alias);
        if !passed && !is_provider_configured(&node.module, alias) {
            let source = node.module.settings.provider_for_local_name(&alias.name);
            let detail = format!(
                "The child module requires an additional configuration for provider {}, with the local name \"{alias}\".\n\nRefer to the module's documentation to understand the intended purpose of this additional provider configuration, and then add an entry for {alias} in the \"providers\" meta-argument in the module block to choose which provider configuration the module should use for that purpose.",
                source.display_string()
            );
            let summary = messages::MISSING_REQUIRED_PROVIDER_CONFIGURATION;
            let _ = diags.error(Diagnostic::error(summary, detail).at(call.site.span));
        }
    }
    for passed in &call.providers {
        check_passed_provider(diags, node, caller, passed);
    }
}

fn configuration_aliases_of(required: &RequiredProvider) -> &[LocalProviderConfig] {
    &required.aliases
}

/// The span of the first `count`, `for_each` or `depends_on` in the calls that lead to a module, if there is
/// one.
fn repetition_span_of_calls_above(config: &Config, node: &ModuleNode) -> Option<Span> {
    let mut node = node;
    while let Some((caller, call)) = config.call_of_module(node) {
        match &call.repetition {
            Repetition::Count(expr) | Repetition::ForEach(expr) => return Some(expr.span),
            Repetition::Single => {}
        }
        if let Some(first) = call.depends_on.first() {
            return Some(first.whole);
        }
        node = caller;
    }
    None
}

/// Reports errors in one entry of `providers`.
fn check_passed_provider(
    diags: &mut Diagnostics,
    node: &ModuleNode,
    caller: &ModuleNode,
    passed: &PassedProvider,
) {
    let (module, local) = (&node.module, &passed.in_child);
    let (here, caller_name) = (node.path.display_name(), caller.path.display_name());
    if is_provider_configured(module, local) {
        let detail = format!(
            "The configuration of {here} has its own local configuration for {local}, and so it cannot accept an overridden configuration provided by {caller_name}."
        );
        let problem = Diagnostic::error(messages::CANNOT_OVERRIDE_PROVIDER_CONFIGURATION, detail);
        let _ = diags.error(problem.at(passed.child_span));
    }
    let wanted = module.settings.provider_for_local_name(&local.name);
    let required = module.settings.required_providers.get(&local.name);
    let declared = match &local.alias {
        None => required.is_some(),
        Some(_) => required.is_some_and(|required| required.aliases.contains(local)),
    };
    if !declared && !module.providers.contains_key(local) {
        report_undeclared_provider(diags, &here, &wanted, passed);
    }
    // Terraform looks up the child's name in the caller first.
    let listed = caller.module.settings.required_providers.get(&local.name);
    let caller_provider = match listed.filter(|_| local.alias.is_none()) {
        Some(required) => required.source.clone(),
        None => caller.module.settings.provider_for_local_name(&passed.in_caller.name),
    };
    if caller_provider != wanted {
        let mismatch = ProviderMismatch {
            caller: &caller_name,
            passed,
            expected: &wanted,
            given: &caller_provider,
        };
        report_provider_mismatch(diags, node, mismatch);
    }
}

fn report_undeclared_provider(
    diags: &mut Diagnostics,
    here: &str,
    wanted: &ProviderAddr,
    passed: &PassedProvider,
) {
    let summary = messages::REFERENCE_TO_UNDEFINED_PROVIDER;
    let (name, source) = (&passed.in_child, wanted.display_string());
    if is_default_source_of_type(wanted) {
        let detail = format!(
            "There is no explicit declaration for local provider name \"{name}\" in {here}, so Formwork is assuming you mean to pass a configuration for \"{source}\".\n\nIf you also control the child module, add a required_providers entry named \"{name}\" with the source address \"{source}\"."
        );
        diags.warn(Diagnostic::warning(summary, detail).at(passed.child_span));
        return;
    }
    let detail = format!(
        "The child module does not declare any provider requirement with the local name \"{name}\".\n\nIf you also control the child module, you can add a required_providers entry named \"{name}\" with the source address \"{source}\" to accept this provider configuration."
    );
    let _ = diags.error(Diagnostic::error(summary, detail).at(passed.child_span));
}

/// A configuration that is passed to a module under the name of another provider.
struct ProviderMismatch<'a> {
    /// Description of the module that passes it.
    caller: &'a str,
    passed: &'a PassedProvider,
    expected: &'a ProviderAddr,
    given: &'a ProviderAddr,
}

fn report_provider_mismatch(
    diags: &mut Diagnostics,
    node: &ModuleNode,
    mismatch: ProviderMismatch<'_>,
) {
    let ProviderMismatch { caller: there, passed, expected, given } = mismatch;
    let required = &node.module.settings.required_providers;
    let other = required.iter().find(|(_, required)| required.source == *given);
    let (detail, span) = match other {
        Some((other, _)) => (
            format!(
                "The assigned configuration is for provider \"{given}\", but local name \"{}\" in {} represents \"{expected}\".\n\nTo pass this configuration to the child module, use the local name \"{other}\" instead.",
                passed.in_child.name, node.path
            ),
            passed.child_span,
        ),
        None => (
            format!(
                "The local name \"{}\" in {there} represents provider \"{}\", but \"{}\" in {} represents \"{}\".\n\nEach provider has its own distinct configuration schema and provider types, so this module's \"{}\" can be assigned only a configuration for {}, which is {} by {}.",
                passed.in_caller,
                given.display_string(),
                passed.in_child,
                node.path,
                expected.display_string(),
                passed.in_child,
                expected.display_string(),
                if required.contains_key(&passed.in_child.name) {
                    "required"
                } else {
                    "not required"
                },
                node.path
            ),
            caller_name_span(passed),
        ),
    };
    let _ = diags.error(Diagnostic::error(messages::PROVIDER_TYPE_MISMATCH, detail).at(span));
}

/// Warns of configurations that a module passes on without having them.
fn warn_of_missing_passed_providers(diags: &mut Diagnostics, config: &Config, node: &ModuleNode) {
    // An alias is never guessed, so it is reported where it is looked up.
    let (module, here) = (&node.module, node.path.display_name());
    let above = config.call_of_module(node);
    let there = above
        .map_or_else(|| "the root module".to_owned(), |(caller, _)| caller.path.display_name());
    let calls = module.calls.values().flat_map(|call| &call.providers);
    for passed in calls.filter(|passed| passed.in_caller.alias.is_none()) {
        let (local, name) = (&passed.in_caller, &passed.in_caller.name);
        let source = ProviderAddr::implied_by_name(name).display_string();
        let configured = is_provider_configured(module, local);
        if !configured && !module.settings.required_providers.contains_key(name) {
            let detail = format!(
                "There is no explicit declaration for local provider name \"{name}\" in {here}, so Formwork is assuming you mean to pass a configuration for provider \"{source}\".\n\nTo clarify your intent and silence this warning, add to {here} a required_providers entry named \"{name}\" with source = \"{source}\", or a different source address if appropriate."
            );
            let warning = Diagnostic::warning(messages::REFERENCE_TO_UNDEFINED_PROVIDER, detail);
            diags.warn(warning.at(passed.caller_span));
            continue;
        }
        let Some((_, call)) = above else { continue };
        if !configured && !call.providers.iter().any(|passed| passed.in_child == *local) {
            let detail = format!(
                "The configuration for {here} expects to inherit a configuration for provider {source} with local name \"{name}\", but {there} doesn't pass a configuration under that name.\n\nTo satisfy this requirement, add an entry for \"{name}\" to the \"providers\" argument in the module \"{}\" block.",
                call.site.name
            );
            let summary = messages::MISSING_REQUIRED_PROVIDER_CONFIGURATION;
            diags.warn(Diagnostic::warning(summary, detail).at(call.site.span));
        }
    }
}

/// Reports resources whose provider configuration does not exist.
pub(super) fn check_resource_providers(diags: &mut Diagnostics, config: &Config) {
    let resources = config
        .nodes
        .iter()
        .flat_map(|node| node.module.resources.values().map(move |resource| (node, resource)));
    for (node, resource) in resources {
        let local = &resource.local_provider;
        // Without an alias an empty configuration is implied.
        if local.alias.is_none() || config.provider_of_resource(node, resource).is_some() {
            continue;
        }
        let (addr, name) = (&resource.name, &resource.provider);
        let addr =
            if node.path.is_root() { addr.to_string() } else { format!("{}.{addr}", node.path) };
        let detail = format!(
            "To work with {addr} its original provider configuration at provider[\"{name}\"].{} is required, but it has been removed. This occurs when a provider configuration is removed while objects created by that provider still exist in the state. Re-add the provider configuration to destroy {addr}, after which you can remove the provider configuration again. If the resource is new, no `provider` block has this name and alias, and no caller passes one.",
            local.alias.as_deref().unwrap_or_default()
        );
        let problem = Diagnostic::error(messages::PROVIDER_CONFIGURATION_NOT_PRESENT, detail);
        let _ = diags.error(problem.at(resource.span));
    }
}

/// Warns of providers that a module lists twice, and of blocks without effect in a called module.
fn warn_of_redundant_providers(diags: &mut Diagnostics, node: &ModuleNode) {
    let module = &*node.module;
    let listed = &module.settings.required_providers;
    let mut first: BTreeMap<&ProviderAddr, &str> = BTreeMap::new();
    for (name, required) in listed {
        let display = required.source.display_string();
        if let Some(other_name) = first.get(&required.source) {
            let detail = format!(
                "Provider {display} with the local name \"{name}\" was previously required as \"{other_name}\". A provider can only be required once within required_providers."
            );
            diags.warn(
                Diagnostic::warning(messages::DUPLICATE_REQUIRED_PROVIDER, detail)
                    .at(required.span),
            );
            continue;
        }
        first.insert(&required.source, name);
        let implied = required.source.provider_type();
        let written = module.providers.keys().any(|local| local.name == *implied);
        if is_default_source_of_type(&required.source) && implied != name && written {
            let detail = format!(
                "Provider {display} with the local name \"{name}\" was implicitly required via a configuration block as \"{implied}\". The provider configuration block name must match the name used in required_providers."
            );
            diags.warn(
                Diagnostic::warning(messages::DUPLICATE_REQUIRED_PROVIDER, detail)
                    .at(required.span),
            );
        }
    }
    warn_of_implied_provider(diags, module, &first);
    if !module.is_root {
        warn_of_empty_provider_block(diags, node);
        warn_of_backend_in_module(diags, module);
    }
}

fn warn_of_implied_provider(
    diags: &mut Diagnostics,
    module: &Module,
    listed: &BTreeMap<&ProviderAddr, &str>,
) {
    for resource in module.resources.values() {
        let implied = LocalProviderConfig::implied_by_resource(&resource.name);
        let names = &module.settings.required_providers;
        if resource.local_provider != implied || names.contains_key(&implied.name) {
            continue;
        }
        let address = format!("hashicorp/{}", implied.name.to_lowercase());
        if implied.name.is_ascii() && address.parse::<ProviderAddr>().is_err() {
            let detail = format!(
                "The type of `{}` begins with `{}`, which no provider can be called: a name consists of letters, digits and single dashes, and neither begins nor ends with a dash.",
                resource.name, implied.name
            );
            let problem = Diagnostic::error(messages::INVALID_PROVIDER_LOCAL_NAME, detail);
            let _ = diags.error(problem.at(resource.span));
            continue;
        }
        let source = ProviderAddr::implied_by_name(&implied.name);
        let Some(other) = listed.get(&source) else { continue };
        let detail = format!(
            "Provider \"{}\" was implicitly required via resource \"{}\", but listed in required_providers as \"{other}\". Either the local name in required_providers must match the resource name, or the \"{other}\" provider must be assigned within the resource block.",
            source.display_string(),
            resource.name
        );
        diags.warn(
            Diagnostic::warning(messages::DUPLICATE_REQUIRED_PROVIDER, detail).at(resource.span),
        );
    }
}

/// Warns of empty blocks in a called module: another syntax exists for that purpose.
fn warn_of_empty_provider_block(diags: &mut Diagnostics, node: &ModuleNode) {
    let mut empty: BTreeMap<&Str, Vec<(&LocalProviderConfig, &ProviderBlock)>> = BTreeMap::new();
    for (local, block) in
        node.module.providers.iter().filter(|(_, block)| is_empty_provider_block(block))
    {
        empty.entry(&local.name).or_default().push((local, block));
    }
    for (name, blocks) in empty {
        let Some((_, first)) = blocks.first() else { continue };
        let aliases = blocks.iter().filter(|(local, _)| local.alias.is_some());
        let aliases: String = aliases.map(|(local, _)| format!("        {local},\n")).collect();
        let aliases = match aliases.as_str() {
            "" => aliases,
            lines => format!("      configuration_aliases = [\n{lines}      ]\n"),
        };
        let detail = format!(
            "Earlier versions of Terraform used empty provider blocks (\"proxy provider configurations\") for child modules to declare their need to be passed a provider configuration by their callers. That approach was ambiguous and is now deprecated.\n\nIf you control this module, you can migrate to the new declaration syntax by removing all of the empty provider {:?} blocks and then adding or updating an entry like the following to the required_providers block of {}:\n    {name} = {{\n      source = \"{}\"\n{aliases}    }}",
            name.as_str(),
            node.path,
            first.provider.display_string(),
        );
        let warning = Diagnostic::warning(messages::REDUNDANT_EMPTY_PROVIDER_BLOCK, detail);
        diags.warn(warning.at(first.span));
    }
}

fn warn_of_backend_in_module(diags: &mut Diagnostics, module: &Module) {
    let Some(backend) = module.settings.backend.as_ref().filter(|backend| !backend.is_cloud())
    else {
        return;
    };
    if backend.provider.is_some() {
        let detail = "Only the root module determines the location of the state. This `state_store` block of a called module has no effect.";
        let warning = Diagnostic::warning(messages::STATE_STORE_CONFIGURATION_IGNORED, detail);
        diags.warn(warning.at(backend.span));
        return;
    }
    let detail = "Any selected backend applies to the entire configuration, so Formwork expects provider configurations only in the root module.\n\nThis is a warning rather than an error because it's sometimes convenient to temporarily call a root module as a child module for testing purposes, but this backend configuration block will have no effect.";
    let warning = Diagnostic::warning(messages::BACKEND_CONFIGURATION_IGNORED, detail);
    diags.warn(warning.at(backend.span));
}
