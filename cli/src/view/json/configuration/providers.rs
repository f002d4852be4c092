//! The provider configurations of all modules under the keys by which resources name them. A configuration
//! that a caller passes does not have an entry: its key is the key of its origin.

use std::collections::BTreeMap;

use formwork_core::addr::{LocalProviderConfig, ModulePath, ProviderAddr};
use formwork_core::config::{Config, ModuleNode, ProviderBlock};
use formwork_core::provider::ProviderPool;
use formwork_core::version::VersionConstraints;

use super::{Json, body_to_json};

/// The provider configurations of all modules.
#[derive(Default)]
pub(super) struct ProviderConfigs(BTreeMap<String, ProviderEntry>);

struct ProviderEntry {
    source: ProviderAddr,
    /// The key of the configuration that it refers to, if it is passed or inherited.
    parent: Option<String>,
    json: Json,
}

/// The key of a configuration: its name and its module.
fn config_key(path: &ModulePath, name: &str) -> String {
    if path.is_root() { name.to_owned() } else { format!("{path}:{name}") }
}

impl ProviderConfigs {
    pub(super) fn of(config: &Config, pool: &ProviderPool<'_>) -> Self {
        let mut configs = Self::default();
        configs.add_module(config, config.root_node(), pool);
        configs
    }

    /// The key of the provider configuration of a resource in a module.
    pub(super) fn key_of(&self, path: &ModulePath, local: &LocalProviderConfig) -> String {
        let own_key = config_key(path, &local.to_string());
        let parent = self.0.get(&own_key).and_then(|entry| entry.parent.clone());
        parent.filter(|parent| self.0.contains_key(parent)).unwrap_or(own_key)
    }

    pub(super) fn to_json(&self) -> Json {
        let own_configs = self.0.iter().filter(|(_, entry)| entry.parent.is_none());
        Json::Object(own_configs.map(|(key, entry)| (key.clone(), entry.json.clone())).collect())
    }

    fn add_module(&mut self, config: &Config, node: &ModuleNode, pool: &ProviderPool<'_>) {
        let module = &*node.module;
        let needed = module.provider_requirements();
        for block in module.providers.values() {
            let json = provider_to_json(node, block, &needed, pool);
            let key = config_key(&node.path, &block.local.to_string());
            let source = block.provider.clone();
            self.0.insert(key, ProviderEntry { source, parent: None, json });
        }
        for (name, required) in &module.settings.required_providers {
            for alias in &required.aliases {
                let json = implied_config_to_json(node, name, &required.source, &needed);
                self.add(config_key(&node.path, &alias.to_string()), &required.source, None, json);
            }
            let parent = self.inherited_key(config, node, name, &required.source);
            let json = implied_config_to_json(node, name, &required.source, &needed);
            self.add(config_key(&node.path, name), &required.source, parent, json);
        }
        for source in needed.keys() {
            // Only a provider whose local name is its type can be used without a declaration.
            let name = source.provider_type();
            let parent = self.inherited_key(config, node, name, source);
            self.add(
                config_key(&node.path, name),
                source,
                parent,
                implied_config_to_json(node, name, source, &needed),
            );
        }
        for (name, call) in &module.calls {
            let Some(&child) = node.children.get(name) else { continue };
            let child = &config.nodes[child];
            for passed in &call.providers {
                let source = child.module.settings.provider_for_local_name(&passed.in_child.name);
                let name = passed.in_child.to_string();
                let parent =
                    self.follow_key(config_key(&node.path, &passed.in_caller.to_string()), &source);
                let json = implied_config_to_json(child, &name, &source, &BTreeMap::new());
                self.0
                    .insert(config_key(&child.path, &name), ProviderEntry { source, parent, json });
            }
            self.add_module(config, child, pool);
        }
    }

    fn add(&mut self, key: String, source: &ProviderAddr, parent: Option<String>, json: Json) {
        let source = source.clone();
        self.0.entry(key).or_insert(ProviderEntry { source, parent, json });
    }

    fn inherited_key(
        &self,
        config: &Config,
        node: &ModuleNode,
        name: &str,
        source: &ProviderAddr,
    ) -> Option<String> {
        let (caller, _) = config.call_of_module(node)?;
        self.follow_key(config_key(&caller.path, name), source)
    }

    /// Follows a key to the actual configuration.
    fn follow_key(&self, start: String, source: &ProviderAddr) -> Option<String> {
        let mut key_of_parent = None;
        let mut next = Some(start);
        while let Some(key) = next {
            let Some(entry) = self.0.get(&key).filter(|entry| entry.source == *source) else {
                break;
            };
            next = entry.parent.clone();
            key_of_parent = Some(key);
        }
        key_of_parent
    }
}

fn provider_to_json(
    node: &ModuleNode,
    block: &ProviderBlock,
    needed: &BTreeMap<ProviderAddr, VersionConstraints>,
    pool: &ProviderPool<'_>,
) -> Json {
    let loaded = pool.loaded_provider(&block.provider);
    let expressions =
        loaded.map(|loaded| body_to_json(&block.body, loaded.config_type().schema_block()));
    Json::object_of_some([
        ("name", Some(Json::text(block.local.name.as_str()))),
        ("full_name", Some(Json::text(block.provider.to_string()))),
        ("alias", block.local.alias.as_ref().map(|alias| Json::text(alias.as_str()))),
        ("version_constraint", version_constraint(needed, &block.provider)),
        ("module_address", module_address_to_json(node)),
        ("expressions", expressions.and_then(Json::none_if_empty)),
    ])
}

fn implied_config_to_json(
    node: &ModuleNode,
    name: &str,
    source: &ProviderAddr,
    needed: &BTreeMap<ProviderAddr, VersionConstraints>,
) -> Json {
    Json::object_of_some([
        ("name", Some(Json::text(name))),
        ("full_name", Some(Json::text(source.to_string()))),
        ("version_constraint", version_constraint(needed, source)),
        ("module_address", module_address_to_json(node)),
    ])
}

fn module_address_to_json(node: &ModuleNode) -> Option<Json> {
    node.caller.is_some().then(|| Json::text(node.path.to_string()))
}

fn version_constraint(
    needed: &BTreeMap<ProviderAddr, VersionConstraints>,
    source: &ProviderAddr,
) -> Option<Json> {
    let constraints = needed.get(source).filter(|constraints| !constraints.is_empty())?;
    Some(Json::text(constraints.to_string()))
}
