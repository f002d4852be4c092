//! What can be visited while planning. A vertex is complete when made.

use crate::addr::{ProviderConfigAddr, ResourceAddr};
use crate::config::Resource;
use crate::eval::vertex::ValueVertex;
use crate::phase::ProviderVertex;
use crate::state::ResourceState;

/// A vertex of the plan graph.
#[derive(Debug)]
pub(crate) enum Vertex<'c> {
    /// A variable, local value or output.
    Value(ValueVertex<'c>),
    /// A provider configuration.
    Provider(ProviderVertex<'c>),
    /// A resource that is written in the configuration, with all its instances.
    Resource(ResourceVertex<'c>),
    /// A resource that is only in the state.
    Orphan(OrphanVertex<'c>),
}

/// A resource that is written in the configuration.
#[derive(Debug)]
pub(crate) struct ResourceVertex<'c> {
    pub(crate) addr: ResourceAddr,
    pub(crate) config: &'c Resource,
    pub(crate) provider: ProviderConfigAddr,
    /// What the state holds of it.
    pub(crate) prior: Option<&'c ResourceState>,
}

/// A resource that is only in the state.
#[derive(Debug)]
pub(crate) struct OrphanVertex<'c> {
    pub(crate) addr: ResourceAddr,
    pub(crate) provider: ProviderConfigAddr,
    pub(crate) prior: &'c ResourceState,
}

impl std::fmt::Display for Vertex<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Value(value) => value.fmt(f),
            Self::Provider(provider) => provider.addr.fmt(f),
            Self::Resource(resource) => resource.addr.fmt(f),
            Self::Orphan(orphan) => write!(f, "{} (only in the state)", orphan.addr),
        }
    }
}
