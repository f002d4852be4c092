//! What can be visited while planning. A vertex is complete when made.

use std::collections::BTreeMap;
use std::sync::Arc;

use formwork_value::{Diagnostics, Reported};

use super::ChangeKey;
use crate::addr::{ConfigResourceAddr, ModuleAddr, ProviderConfigAddr, ResourceAddr};
use crate::config::{Import, ModuleNode, Resource};
use crate::eval::call::CallVertex;
use crate::eval::vertex::ValueVertex;
use crate::phase::{InCycle, ProviderVertex, Speaking, find_written};
use crate::session::Session;
use crate::state::{Object, ResourceState};

/// A vertex of the plan graph.
#[derive(Debug)]
pub(crate) enum Vertex<'c> {
    /// A variable, local value or output.
    Value(ValueVertex<'c>),
    /// A called module, whose instances become known here.
    Call(CallVertex<'c>),
    /// A called module, in which everything is done.
    Closed(&'c ModuleNode),
    /// A provider configuration.
    Provider(ProviderVertex<'c>),
    /// A resource that is written in the configuration, with all its instances.
    Resource(ResourceVertex<'c>),
    /// The objects of a resource, read before its turn comes.
    Read(ReadVertex<'c>),
    /// A resource that is only in the state.
    Orphan(OrphanVertex<'c>),
    /// The end of an ephemeral resource, when everything that needs it is done.
    Close(ConfigResourceAddr),
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
    /// What is imported into it.
    pub(crate) imports: Vec<&'c Import>,
    /// What the state holds of it, by module instance, in order.
    pub(crate) prior: Vec<(&'c ModuleAddr, &'c ResourceState)>,
}

impl<'c> ResourceVertex<'c> {
    /// The resource in an instance of its module.
    pub(crate) fn within(&self, module: &ModuleAddr) -> ResourceAddr {
        ResourceAddr { module: module.clone(), resource: self.addr.resource.clone() }
    }

    /// Its provider, and its type there.
    ///
    /// # Errors
    /// When the provider has no such type, or does not want to know what the module tells it.
    pub(crate) fn find_provider(
        &self,
        session: &Session<'_>,
        diags: &mut Diagnostics,
    ) -> Result<Speaking, Reported> {
        find_written(session, diags, &self.provider, (&self.addr, self.config))
    }

    /// What the state holds of it in an instance of its module.
    pub(crate) fn prior_in(&self, module: &ModuleAddr) -> Option<&'c ResourceState> {
        let at = self.prior.binary_search_by(|(other, _)| (*other).cmp(module)).ok()?;
        Some(self.prior[at].1)
    }
}

/// The objects that the state holds of a resource, in all instances of its module.
#[derive(Debug)]
pub(crate) struct ReadVertex<'c> {
    pub(crate) addr: ConfigResourceAddr,
    pub(crate) config: &'c Resource,
    pub(crate) provider: ProviderConfigAddr,
    /// What the state holds of it, by module instance, in order.
    pub(crate) prior: Vec<(&'c ModuleAddr, &'c ResourceState)>,
}

impl<'c> ReadVertex<'c> {
    /// The objects, deposed ones too.
    pub(crate) fn objects(&self) -> impl Iterator<Item = (ChangeKey, &'c Arc<Object>)> {
        self.prior.iter().flat_map(|(module, state)| {
            let resource = self.addr.resource.clone();
            let addr = ResourceAddr { module: (*module).clone(), resource };
            state.instances.iter().flat_map(move |(key, instance)| {
                let addr = addr.instance(key.clone());
                let deposed = instance.deposed.iter().map(|(key, object)| (Some(key), object));
                let all = instance.current.iter().map(|object| (None, object)).chain(deposed);
                all.map(move |(deposed, object)| ((addr.clone(), deposed.cloned()), object))
            })
        })
    }
}

/// A resource that is only in the state.
#[derive(Debug)]
pub(crate) struct OrphanVertex<'c> {
    pub(crate) addr: ResourceAddr,
    pub(crate) provider: ProviderConfigAddr,
    pub(crate) prior: &'c ResourceState,
}

impl<'c> Vertex<'c> {
    /// The module whose instances must be known before this can be visited.
    pub(crate) fn module(&self) -> Option<&'c ModuleNode> {
        match self {
            Self::Value(value) => Some(value.node),
            Self::Call(call) => Some(call.caller),
            Self::Closed(node) => Some(node),
            Self::Provider(provider) => provider.written.map(|(node, _)| node),
            Self::Resource(resource) => Some(resource.node),
            Self::Read(_) | Self::Orphan(_) | Self::Close(_) => None,
        }
    }
}

/// Which provider configuration each vertex is or uses.
pub(crate) fn provider_parts<'v>(
    vertices: &'v [Vertex<'_>],
) -> impl Iterator<Item = Option<&'v ProviderConfigAddr>> {
    let opened = vertices.iter().filter_map(|vertex| match vertex {
        Vertex::Resource(resource) => Some((&resource.addr, &resource.provider)),
        _ => None,
    });
    let opened: BTreeMap<_, _> = opened.collect();
    vertices.iter().map(move |vertex| match vertex {
        Vertex::Provider(provider) => Some(&provider.addr),
        Vertex::Resource(resource) => Some(&resource.provider),
        Vertex::Read(read) => Some(&read.provider),
        Vertex::Orphan(orphan) => Some(&orphan.provider),
        Vertex::Close(addr) => opened.get(addr).copied(),
        Vertex::Value(_) | Vertex::Call(_) | Vertex::Closed(_) => None,
    })
}

impl InCycle for Vertex<'_> {
    fn block(&self) -> Option<&Resource> {
        match self {
            Self::Resource(resource) => Some(resource.config),
            _ => None,
        }
    }
}

impl std::fmt::Display for Vertex<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Value(value) => value.fmt(f),
            Self::Call(call) => write!(f, "{} (expand)", call.node.path),
            Self::Closed(node) => write!(f, "{} (close)", node.path),
            Self::Provider(provider) => provider.addr.fmt(f),
            Self::Resource(resource) => resource.addr.fmt(f),
            Self::Read(read) => write!(f, "{} (read)", read.addr),
            Self::Orphan(orphan) => write!(f, "{} (only in the state)", orphan.addr),
            Self::Close(addr) => write!(f, "{addr} (close)"),
        }
    }
}
