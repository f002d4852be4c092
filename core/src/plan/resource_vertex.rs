//! A resource that is written in the configuration, as a vertex of the plan graph: its data. The vertex
//! itself is a kind like any other.

use formwork_value::{Diagnostics, Reported};

use crate::addr::{ConfigResourceAddr, ModuleAddr, ProviderConfigAddr, ResourceAddr};
use crate::config::{ImportBlock, ModuleNode, Resource};
use crate::instance_steps::{ConfiguredClient, ResourceWithAddress, find_client_of_config};
use crate::session::Session;
use crate::state::ResourceState;

/// A resource that is written in the configuration, in all instances of its module.
#[derive(Debug)]
pub(crate) struct ResourceVertex<'c> {
    pub(crate) addr: ConfigResourceAddr,
    pub(crate) node: &'c ModuleNode,
    pub(crate) config: &'c Resource,
    /// Whether its configuration is not written, and generated after the object that is imported.
    pub(crate) generated: bool,
    pub(crate) provider: ProviderConfigAddr,
    /// The imports into it.
    pub(crate) imports: Vec<&'c ImportBlock>,
    /// Its part of the state, by module instance, in order.
    pub(crate) prior: Vec<(&'c ModuleAddr, &'c ResourceState)>,
}

impl<'c> ResourceVertex<'c> {
    /// The resource in an instance of its module.
    pub(crate) fn addr_in_module(&self, module: &ModuleAddr) -> ResourceAddr {
        ResourceAddr { module: module.clone(), resource: self.addr.resource.clone() }
    }

    /// Returns its provider, and its type there.
    ///
    /// # Errors
    /// When the provider has no such type, or does not accept the `provider_meta` of the module.
    pub(crate) fn find_provider(
        &self,
        session: &Session<'_>,
        diags: &mut Diagnostics,
    ) -> Result<ConfiguredClient, Reported> {
        let resource = ResourceWithAddress { addr: &self.addr, config: self.config };
        find_client_of_config(session, diags, &self.provider, resource)
    }

    /// Returns its part of the state in an instance of its module.
    pub(crate) fn prior_state_in_module(&self, module: &ModuleAddr) -> Option<&'c ResourceState> {
        let at = self.prior.binary_search_by(|(other, _)| (*other).cmp(module)).ok()?;
        Some(self.prior[at].1)
    }
}
