//! Vertices that can be visited while applying. A vertex is complete when made.

use super::destroy_timing::DestroyTiming;
use crate::addr::{ConfigResourceAddr, DeposedKey, ProviderConfigAddr, ResourceMode};
use crate::change::Change;
use crate::config::{Config, ModuleNode, Resource};
use crate::shared_graph::{self, SharedVertex};

/// A vertex of the apply graph.
#[derive(Debug)]
pub(crate) enum ApplyVertex<'c> {
    /// A vertex that both graphs have.
    SharedVertex(SharedVertex<'c>),
    /// A resource in the configuration: its instances become known, and those that do not change
    /// have their values.
    Expand(ExpandVertex<'c>),
    /// An ephemeral resource, whose instances are opened here.
    Open(OpenEphemeralVertex<'c>),
    /// An instance that is made or changed, or a data source that is read.
    Instance(InstanceVertex<'c>),
    /// An instance that stays as it is, but has conditions that the plan could not settle.
    Unchanged(UnchangedVertex<'c>),
    /// An object that is destroyed.
    Destroy(DestroyVertex<'c>),
    /// All instances of a resource are as planned: vertices that mention the resource wait for
    /// this, so that there is one edge and not one for each pair of instances.
    ResourceDone(ConfigResourceAddr),
    /// All objects of a resource that are to go, and go before their successors, are gone.
    ResourceGone(ConfigResourceAddr),
    /// Everything that changes has changed: objects that `check` blocks refer to wait for this.
    AllChanged,
    /// Everything that several objects of a resource wait for, of what comes or goes because of
    /// others: again, so that there is one edge and not one for each pair.
    DestroyJoin(ConfigResourceAddr),
}

/// A resource in the configuration.
#[derive(Debug)]
pub(crate) struct ExpandVertex<'c> {
    pub(crate) addr: ConfigResourceAddr,
    pub(crate) node: &'c ModuleNode,
    pub(crate) config: &'c Resource,
}

impl ExpandVertex<'_> {
    /// Whether it is a resource that is made here.
    pub(crate) fn is_managed(&self) -> bool {
        self.addr.resource.mode() == ResourceMode::Managed
    }
}

/// An ephemeral resource.
#[derive(Debug)]
pub(crate) struct OpenEphemeralVertex<'c> {
    pub(crate) addr: ConfigResourceAddr,
    pub(crate) node: &'c ModuleNode,
    pub(crate) config: &'c Resource,
    pub(crate) provider: ProviderConfigAddr,
}

/// An instance that is made or changed.
#[derive(Debug)]
pub(crate) struct InstanceVertex<'c> {
    pub(crate) change: &'c Change,
    pub(crate) config: &'c Resource,
    /// Under which key the current object is deposed, if the new one is created first.
    pub(crate) deposes: Option<DeposedKey>,
}

/// An instance that stays as it is.
#[derive(Debug)]
pub(crate) struct UnchangedVertex<'c> {
    pub(crate) change: &'c Change,
    pub(crate) config: &'c Resource,
}

/// An object that is destroyed.
#[derive(Debug)]
pub(crate) struct DestroyVertex<'c> {
    pub(crate) change: &'c Change,
    /// The key under which it is deposed by then, if it is.
    pub(crate) deposed: Option<DeposedKey>,
    /// When it is destroyed.
    pub(crate) timing: DestroyTiming,
}

impl<'c> From<SharedVertex<'c>> for ApplyVertex<'c> {
    fn from(shared: SharedVertex<'c>) -> Self {
        Self::SharedVertex(shared)
    }
}

impl<'c> shared_graph::PhaseVertex<'c> for ApplyVertex<'c> {
    fn as_shared(&self) -> Option<&SharedVertex<'c>> {
        match self {
            Self::SharedVertex(shared) => Some(shared),
            _ => None,
        }
    }

    fn required_module(&self) -> Option<&'c ModuleNode> {
        match self {
            Self::SharedVertex(shared) => shared.required_module(),
            Self::Expand(expand) => Some(expand.node),
            Self::Open(open) => Some(open.node),
            // Vertices that create or destroy come behind the expansion, or need none.
            Self::Instance(_)
            | Self::Unchanged(_)
            | Self::Destroy(_)
            | Self::ResourceDone(_)
            | Self::ResourceGone(_)
            | Self::DestroyJoin(_)
            | Self::AllChanged => None,
        }
    }

    fn enclosing_module(&self, config: &'c Config) -> Option<&'c ModuleNode> {
        match self {
            Self::SharedVertex(shared) => shared.enclosing_module(config),
            // Whatever is made of a resource in the module ends here.
            Self::ResourceDone(addr) => config.find_node(&addr.module),
            other => other.required_module(),
        }
    }

    fn resource_block(&self) -> Option<&Resource> {
        match self {
            Self::Expand(expand) => Some(expand.config),
            Self::Open(open) => Some(open.config),
            _ => None,
        }
    }

    fn resource_for_references(&self) -> Option<&ConfigResourceAddr> {
        match self {
            Self::ResourceDone(addr) => Some(addr),
            Self::Open(open) => Some(&open.addr),
            _ => None,
        }
    }

    fn provider_config(&self) -> Option<&ProviderConfigAddr> {
        match self {
            Self::Instance(instance) => Some(&instance.change.provider),
            Self::Destroy(destroy) => Some(&destroy.change.provider),
            Self::Open(open) => Some(&open.provider),
            _ => None,
        }
    }

    fn opened_ephemeral(&self) -> Option<&ConfigResourceAddr> {
        match self {
            Self::Open(open) => Some(&open.addr),
            _ => None,
        }
    }

    fn passes_values_on(&self) -> bool {
        match self {
            Self::SharedVertex(shared) => shared.passes_values_on(),
            other => matches!(other, Self::Expand(_) | Self::Open(_)),
        }
    }
}

impl std::fmt::Display for ApplyVertex<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::SharedVertex(shared) => shared.fmt(f),
            Self::Expand(expand) => write!(f, "{} (expand)", expand.addr),
            Self::Open(open) => open.addr.fmt(f),
            Self::Instance(InstanceVertex { change, .. })
            | Self::Unchanged(UnchangedVertex { change, .. }) => change.addr.fmt(f),
            Self::Destroy(destroy) => match &destroy.deposed {
                Some(key) => write!(f, "{} (destroy deposed {})", destroy.change.addr, key.0),
                None => write!(f, "{} (destroy)", destroy.change.addr),
            },
            Self::ResourceDone(addr) => write!(f, "{addr} (done)"),
            Self::ResourceGone(addr) => write!(f, "{addr} (gone)"),
            Self::AllChanged => f.write_str("(all changes)"),
            Self::DestroyJoin(addr) => write!(f, "{addr} (free)"),
        }
    }
}
