//! The tree of modules: the calls between them, and the provider configurations that are passed to
//! each one.
//!
//! A module can have many calls, so its contents are shared and do not depend on its
//! callers. Everything that depends on the call is here.

use std::collections::BTreeMap;
use std::sync::Arc;

use formwork_value::Str;

use super::{Config, Module, ModuleCall, Resource};
use crate::addr::{ConfigResourceAddr, ModulePath, ProviderAddr, ProviderConfigAddr};

/// A node of the tree: a module as called at one path.
#[derive(Clone, Debug)]
pub struct ModuleNode {
    /// The index in [`Config::nodes`]; callers come before the modules they call.
    pub index: usize,
    /// The calls that lead to it.
    pub path: ModulePath,
    /// The module as written.
    pub module: Arc<Module>,
    /// The position of the module that calls it; `None` for the root.
    pub caller: Option<usize>,
    /// The positions of the modules it calls, by the names of the calls.
    pub children: BTreeMap<Str, usize>,
    /// The provider configurations its caller passes to it.
    pub passed: BTreeMap<ProviderKey, ProviderConfigAddr>,
}

/// Key of a provider configuration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProviderKey {
    /// The provider.
    pub provider: ProviderAddr,
    /// The alias, if the configuration has one.
    pub alias: Option<Str>,
}

impl Config {
    /// The node of the root module.
    ///
    /// # Panics
    /// Never: loading begins with the root.
    #[must_use]
    pub fn root_node(&self) -> &ModuleNode {
        self.nodes.first().expect("loading begins with the root")
    }

    /// A module in the tree.
    #[must_use]
    pub fn find_node(&self, path: &ModulePath) -> Option<&ModuleNode> {
        path.0
            .iter()
            .try_fold(self.root_node(), |node, name| Some(&self.nodes[*node.children.get(name)?]))
    }

    /// A resource, if the configuration has it, or will have it once it is generated.
    #[must_use]
    pub fn find_resource(&self, addr: &ConfigResourceAddr) -> Option<&Resource> {
        let written = self.find_node(&addr.module)?.module.resources.get(&addr.resource);
        let unwritten = || self.unwritten.get(&addr.resource).filter(|_| addr.module.is_root());
        written.or_else(unwritten).map(Box::as_ref)
    }

    /// Every resource, with the module it is in: those that are written, and those whose configuration
    /// is still to be generated.
    pub fn all_resources(&self) -> impl Iterator<Item = (&ModuleNode, &Resource)> {
        let written = |node| {
            let node: &ModuleNode = node;
            node.module.resources.values().map(move |resource| (node, &**resource))
        };
        let unwritten = self.unwritten.values().map(|resource| (self.root_node(), &**resource));
        self.nodes.iter().flat_map(written).chain(unwritten)
    }

    /// The caller of a module, and the call; `None` for the root.
    #[must_use]
    pub fn call_of_module(&self, node: &ModuleNode) -> Option<(&ModuleNode, &ModuleCall)> {
        let caller = &self.nodes[node.caller?];
        let call = caller.module.calls.get(node.path.0.last()?)?;
        Some((caller, call))
    }

    /// The modules of the tree, each once, however often it is called.
    pub fn distinct_modules(&self) -> impl Iterator<Item = &Arc<Module>> {
        let mut seen = std::collections::BTreeSet::new();
        let modules = self.nodes.iter().map(|node| &node.module);
        modules.filter(move |module| seen.insert(Arc::as_ptr(module)))
    }

    /// The provider configuration that a block in a module uses. One without alias comes from the
    /// nearest caller that has it, and exists even if it is not written; `None` if no
    /// configuration has the alias.
    #[must_use]
    pub fn provider_config(
        &self,
        node: &ModuleNode,
        key: &ProviderKey,
    ) -> Option<ProviderConfigAddr> {
        let mut node = node;
        loop {
            if let Some(passed) = node.passed.get(key) {
                return Some(passed.clone());
            }
            let ProviderKey { provider, alias } = key;
            let blocks = &mut node.module.providers.values();
            let written = blocks.any(|b| b.provider == *provider && b.local.alias == *alias);
            if written || node.caller.is_none() && alias.is_none() {
                let (module, provider) = (node.path.clone(), provider.clone());
                return Some(ProviderConfigAddr { module, provider, alias: alias.clone() });
            }
            // An alias is never inherited, as in Terraform: callers have to pass it.
            if alias.is_some() {
                return None;
            }
            node = &self.nodes[node.caller?];
        }
    }

    /// The provider configuration that a resource of a module uses.
    #[must_use]
    pub fn provider_of_resource(
        &self,
        node: &ModuleNode,
        resource: &Resource,
    ) -> Option<ProviderConfigAddr> {
        let (provider, alias) = (resource.provider.clone(), resource.local_provider.alias.clone());
        self.provider_config(node, &ProviderKey { provider, alias })
    }
}
