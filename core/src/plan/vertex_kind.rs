//! Questions of the plan about a vertex, for code that the visits of vertices need themselves: it
//! works with any graph whose vertices answer them.

use std::collections::BTreeSet;
use std::ops::Deref;

use super::resource_vertex::ResourceVertex;
use crate::addr::{ConfigResourceAddr, ResourceAddr, Target};
use crate::config::Config;
use crate::graph::render::RenderedVertex;
use crate::shared_graph::{ModuleReferences, VertexKind};
use crate::state::ResourceState;

/// Properties of a vertex in a plan, in addition to those of both graphs. A kind answers those
/// that concern it.
pub(crate) trait PlanVertexKind<'c>: VertexKind<'c> {
    /// The resource of the configuration that it is.
    fn as_resource(&self) -> Option<&ResourceVertex<'c>> {
        None
    }

    /// References that are needed to find the objects that are imported into it.
    fn import_references(&self, _: &'c Config) -> Vec<ModuleReferences<'c>> {
        Vec::new()
    }

    /// Whether it has managed objects, which go when everything is destroyed.
    fn has_managed_objects(&self) -> bool {
        false
    }

    /// Whether a plan of targets is about it.
    fn is_targeted(&self, _: PlanTargets<'_>) -> bool {
        false
    }

    /// The resource whose stored objects go here when everything is destroyed.
    fn stored_resource(&self) -> Option<StoredResource<'c>> {
        None
    }

    /// Its appearance in the drawn graph of a full destroy.
    fn render_destroyed(&self) -> RenderedVertex {
        self.render()
    }
}

/// A vertex of any kind.
pub(crate) type AnyPlanVertex<'c> = dyn PlanVertexKind<'c> + 'c;

/// A vertex of the plan graph, which the list of kinds implements. The visits of the kinds use the
/// results of code over the graph, so that code cannot use the list.
pub(crate) trait PlanGraphVertex<'c>: Deref<Target = AnyPlanVertex<'c>> {}

impl<'c, V: Deref<Target = AnyPlanVertex<'c>>> PlanGraphVertex<'c> for V {}

/// The targets of a plan.
#[derive(Clone, Copy)]
pub(crate) struct PlanTargets<'t> {
    pub(crate) targets: &'t [Target],
    /// Resources that are destroyed with a target, without being one.
    pub(crate) destroyed_dependents: &'t BTreeSet<ResourceAddr>,
}

impl PlanTargets<'_> {
    /// Whether some target contains the resource, in an instance of its module.
    pub(crate) fn may_contain(self, addr: &ResourceAddr) -> bool {
        self.targets.iter().any(|target| target.may_contain_resource(addr))
            || self.destroyed_dependents.contains(addr)
    }
}

/// The part of the state that a resource has.
pub(crate) struct StoredResource<'c> {
    pub(crate) addr: ConfigResourceAddr,
    pub(crate) parts: Vec<&'c ResourceState>,
}
