//! Vertices of the plan graph. A vertex is complete when made.

use std::sync::Arc;

use formwork_value::{Diagnostics, Reported};

use super::ChangeKey;
use crate::addr::{ConfigResourceAddr, ModuleAddr, ProviderConfigAddr, ResourceAddr, ResourceMode};
use crate::config::{Config, ImportBlock, ModuleNode, Resource};
use crate::instance_steps::{ConfiguredClient, ResourceWithAddress, find_client_of_config};
use crate::session::Session;
use crate::shared_graph::{self, SharedVertex};
use crate::state::{ObjectState, ResourceState};

/// A vertex of the plan graph.
#[derive(Debug)]
pub(crate) enum PlanVertex<'c> {
    /// A vertex that both graphs have.
    SharedVertex(SharedVertex<'c>),
    /// A resource that is written in the configuration, with all its instances.
    Resource(ResourceVertex<'c>),
    /// The objects of a resource, read before its turn comes.
    Read(EarlyReadVertex<'c>),
    /// A resource that is not written.
    Orphan(OrphanResourceVertex<'c>),
}

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

/// The objects that the state holds of a resource, in all instances of its module.
#[derive(Debug)]
pub(crate) struct EarlyReadVertex<'c> {
    pub(crate) addr: ConfigResourceAddr,
    pub(crate) config: &'c Resource,
    pub(crate) provider: ProviderConfigAddr,
    /// Its part of the state, by module instance, in order.
    pub(crate) prior: Vec<(&'c ModuleAddr, &'c ResourceState)>,
}

impl<'c> EarlyReadVertex<'c> {
    /// The objects, deposed ones too.
    pub(crate) fn objects(&self) -> impl Iterator<Item = (ChangeKey, &'c Arc<ObjectState>)> {
        self.prior.iter().flat_map(|(module, state)| {
            let resource = self.addr.resource.clone();
            let addr = ResourceAddr { module: (*module).clone(), resource };
            state.instances.iter().flat_map(move |(key, instance)| {
                let addr = addr.instance_addr(key.clone());
                let deposed = instance.deposed.iter().map(|(key, object)| (Some(key), object));
                let all = instance.current.iter().map(|object| (None, object)).chain(deposed);
                all.map(move |(deposed, object)| ((addr.clone(), deposed.cloned()), object))
            })
        })
    }
}

/// A resource that is only in the state, or comes into it without being written.
#[derive(Debug)]
pub(crate) struct OrphanResourceVertex<'c> {
    pub(crate) addr: ResourceAddr,
    pub(crate) provider: ProviderConfigAddr,
    /// Its part of the state.
    pub(crate) prior: Option<&'c ResourceState>,
}

impl<'c> From<SharedVertex<'c>> for PlanVertex<'c> {
    fn from(shared: SharedVertex<'c>) -> Self {
        Self::SharedVertex(shared)
    }
}

impl<'c> shared_graph::PhaseVertex<'c> for PlanVertex<'c> {
    fn as_shared(&self) -> Option<&SharedVertex<'c>> {
        match self {
            Self::SharedVertex(shared) => Some(shared),
            _ => None,
        }
    }

    fn required_module(&self) -> Option<&'c ModuleNode> {
        match self {
            Self::SharedVertex(shared) => shared.required_module(),
            Self::Resource(resource) => Some(resource.node),
            // The state names them, so they need not wait until calls are expanded.
            Self::Read(_) | Self::Orphan(_) => None,
        }
    }

    fn enclosing_module(&self, config: &'c Config) -> Option<&'c ModuleNode> {
        match self {
            Self::SharedVertex(shared) => shared.enclosing_module(config),
            other => other.required_module(),
        }
    }

    fn resource_block(&self) -> Option<&Resource> {
        match self {
            Self::Resource(resource) => Some(resource.config),
            _ => None,
        }
    }

    fn resource_for_references(&self) -> Option<&ConfigResourceAddr> {
        match self {
            Self::Resource(resource) => Some(&resource.addr),
            _ => None,
        }
    }

    fn provider_config(&self) -> Option<&ProviderConfigAddr> {
        match self {
            Self::Resource(resource) => Some(&resource.provider),
            Self::Read(read) => Some(&read.provider),
            Self::Orphan(orphan) => Some(&orphan.provider),
            Self::SharedVertex(_) => None,
        }
    }

    fn opened_ephemeral(&self) -> Option<&ConfigResourceAddr> {
        self.resource_for_references()
            .filter(|addr| addr.resource.mode() == ResourceMode::Ephemeral)
    }

    fn passes_values_on(&self) -> bool {
        match self {
            Self::SharedVertex(shared) => shared.passes_values_on(),
            other => other.opened_ephemeral().is_some(),
        }
    }
}

impl std::fmt::Display for PlanVertex<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::SharedVertex(shared) => shared.fmt(f),
            Self::Resource(resource) => resource.addr.fmt(f),
            Self::Read(read) => write!(f, "{} (read)", read.addr),
            Self::Orphan(orphan) => write!(f, "{} (only in the state)", orphan.addr),
        }
    }
}
