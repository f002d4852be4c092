//! Finds plan options that match nothing: `-target`, `-exclude` and `-replace` with an address that
//! exists neither in the configuration nor in the state. Reports them before the plan and with the
//! approval request.

use std::collections::BTreeSet;

use formwork_core::addr::{ConfigResourceAddr, InstanceAddr, InstanceKey, ModuleAddr, Target};
use formwork_core::config::Config;
use formwork_core::eval::Results;
use formwork_core::plan::PlanOptions;
use formwork_core::state::State;
use formwork_lang::suggest::nearest_name;
use formwork_value::{Diagnostic, Diagnostics};

use crate::messages;

/// An option that matches nothing.
#[derive(Debug, PartialEq, Eq)]
struct UnmatchedOption {
    option: &'static str,
    addr: String,
    suggestion: Option<String>,
}

/// Configuration, state and options of a plan.
#[derive(Clone, Copy)]
pub(crate) struct ConfigStateAndOptions<'a> {
    pub(crate) config: &'a Config,
    pub(crate) state: &'a State,
    pub(crate) options: &'a PlanOptions,
}

/// The options of a plan that match nothing.
#[derive(Debug, Default)]
pub(crate) struct UnmatchedOptions {
    options: Vec<UnmatchedOption>,
}

impl UnmatchedOptions {
    /// Compares the options with the names in the configuration and the state. Instance keys in the
    /// configuration are not known yet.
    pub(crate) fn find_before_plan(config: &Config, state: &State, options: &PlanOptions) -> Self {
        Self::find_unmatched(config, state, options, |target| is_in_config(config, target))
    }

    /// Adds and reports the options whose instance keys match nothing that was planned.
    pub(crate) fn find_and_warn_after_plan(
        &mut self,
        diags: &mut Diagnostics,
        planned: ConfigStateAndOptions<'_>,
        results: &Results,
    ) {
        let ConfigStateAndOptions { config, state, options } = planned;
        let exists = |target: &Target| {
            is_in_config(config, target) && may_match_planned_instance(results, target)
        };
        // The options found before the plan were already reported.
        let reported: BTreeSet<String> =
            self.options.iter().map(UnmatchedOption::format_option).collect();
        let unmatched = Self::find_unmatched(config, state, options, exists).options.into_iter();
        let new_options: Vec<UnmatchedOption> =
            unmatched.filter(|option| !reported.contains(&option.format_option())).collect();
        new_options.iter().for_each(|option| diags.warn(option.warning()));
        self.options.extend(new_options);
    }

    /// Finds the options whose target exists neither in the configuration nor in the state.
    fn find_unmatched(
        config: &Config,
        state: &State,
        options: &PlanOptions,
        exists: impl Fn(&Target) -> bool,
    ) -> Self {
        let targets = options.targets.iter().map(|target| ("-target", target.clone()));
        let excludes = options.excludes.iter().map(|target| ("-exclude", target.clone()));
        let replace = options.replace.iter().map(|addr| ("-replace", target_of_replace_addr(addr)));
        let unmatched = targets
            .chain(excludes)
            .chain(replace)
            .filter(|(_, target)| !exists(target) && !is_in_state(state, target));
        let with_suggestions = unmatched.map(|(option, target)| {
            let addr = target.to_string();
            let suggestion = suggest_address(config, state, &addr);
            UnmatchedOption { option, addr, suggestion }
        });
        Self { options: with_suggestions.collect() }
    }

    /// Warnings about all these options.
    pub(crate) fn to_warnings(&self) -> Diagnostics {
        let mut diags = Diagnostics::new();
        self.options.iter().for_each(|option| diags.warn(option.warning()));
        diags
    }

    /// Lines for the approval request.
    pub(crate) fn approval_reminder(&self) -> String {
        self.options.iter().map(|option| format!("{}\n", option.describe())).collect()
    }
}

impl UnmatchedOption {
    fn format_option(&self) -> String {
        format!("{}={}", self.option, self.addr)
    }

    fn describe(&self) -> String {
        let suggestion = match &self.suggestion {
            Some(similar) => format!(" Did you mean {similar}?"),
            None => String::new(),
        };
        format!("The option {} matches nothing.{suggestion}", self.format_option())
    }

    fn warning(&self) -> Diagnostic {
        let effect = match self.option {
            "-target" => "nothing is planned for it",
            "-exclude" => "nothing is left out of the plan for it",
            _ => "nothing is replaced for it",
        };
        let detail = format!(
            "Neither the configuration nor the state has {}, so {effect}.{}",
            self.addr,
            match &self.suggestion {
                Some(similar) => format!(" Did you mean {similar}?"),
                None => String::new(),
            }
        );
        Diagnostic::warning(messages::OPTION_MATCHES_NOTHING.with(&[&self.option]), detail)
    }
}

/// The target of an instance. An address without a key is the instance without a key. If the resource
/// has several instances, the plan reports the mismatch.
fn target_of_replace_addr(addr: &InstanceAddr) -> Target {
    match addr.key {
        InstanceKey::None => Target::Resource(addr.resource_addr()),
        _ => Target::Instance(addr.clone()),
    }
}

/// Whether the configuration has this name, with any keys.
fn is_in_config(config: &Config, target: &Target) -> bool {
    let is_resource =
        config_resource_addresses(config).any(|addr| target.may_contain_config_resource(&addr));
    let is_module = || match target {
        Target::Module(module) => config.find_node(&module.path()).is_some(),
        Target::Resource(_) | Target::Instance(_) => false,
    };
    is_resource || is_module()
}

fn is_in_state(state: &State, target: &Target) -> bool {
    state.resources.iter().any(|(addr, resource)| {
        resource.instances.keys().any(|key| target.contains(&addr.instance_addr(key.clone())))
    })
}

/// Whether the keys of a target are among those that were planned, as far as the keys are known.
fn may_match_planned_instance(results: &Results, target: &Target) -> bool {
    let (module, instance) = match target {
        Target::Module(module) => (module, None),
        Target::Resource(addr) => (&addr.module, None),
        Target::Instance(addr) => (&addr.module, Some(addr)),
    };
    if !may_match_planned_module(results, module, matches!(target, Target::Module(_))) {
        return false;
    }
    let expansion = instance.and_then(|addr| {
        let resource = results.module_instance(&addr.module)?.resource_results(&addr.resource)?;
        Some((resource.expansion()?, &addr.key))
    });
    expansion.is_none_or(|(expansion, key)| expansion.keys().any(|planned_key| planned_key == *key))
}

fn may_match_planned_module(results: &Results, module: &ModuleAddr, is_target: bool) -> bool {
    let is_whole_call =
        is_target && module.0.last().is_some_and(|step| step.key == InstanceKey::None);
    // The instances of a call that was not expanded are not known.
    is_whole_call
        || results.module_instances(&module.path()).is_empty()
        || results.module_instance(module).is_some()
}

/// The address in the configuration or the state that is most similar to another one.
fn suggest_address(config: &Config, state: &State, addr: &str) -> Option<String> {
    let mut known_addresses: BTreeSet<String> =
        config_resource_addresses(config).map(|addr| addr.to_string()).collect();
    let modules = config.nodes.iter().map(|node| node.path.to_string());
    // The root module has an empty path, which is not an address.
    known_addresses.extend(modules.filter(|path| !path.is_empty()));
    for (addr, resource) in &state.resources {
        known_addresses.extend(
            resource.instances.keys().map(|key| addr.instance_addr(key.clone()).to_string()),
        );
    }
    let without_key = || addr.rsplit_once('[').map(|(resource, _)| resource.to_owned());
    nearest_name(addr, known_addresses.iter().map(String::as_str))
        .map(str::to_owned)
        // A wrong key may be longer than the maximum distance of a suggestion.
        .or_else(|| without_key().filter(|resource| known_addresses.contains(resource)))
}

/// The addresses of all resources in the configuration.
fn config_resource_addresses(config: &Config) -> impl Iterator<Item = ConfigResourceAddr> {
    config.all_resources().map(|(node, resource)| ConfigResourceAddr {
        module: node.path.clone(),
        resource: resource.name.clone(),
    })
}
