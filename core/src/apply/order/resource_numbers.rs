//! The vertices of each resource that the order of destructions connects, by number.

use std::collections::{BTreeSet, HashMap};

use super::{
    ApplyVertex, DestroyTiming, InstanceVertex, VertexIndex, config_resource_addr, destroy_vertices,
};
use crate::addr::{ConfigResourceAddr, ResourceMode};
use crate::change::{Action, ReplaceOrder};
use crate::graph::VertexId;

/// Vertices of one resource.
#[derive(Default)]
pub(super) struct ResourceVertices {
    /// The join of its destroyed objects.
    pub(super) destroyed: Option<VertexId>,
    /// The join of its instances, if it is in the configuration.
    pub(super) done: Option<VertexId>,
    /// Vertices that create or change its instances.
    pub(super) makers: Vec<VertexId>,
    /// Vertices that read its instances, if it is a data source, other than one in a `check` block,
    /// which is read when everything is done.
    pub(super) readers: Vec<VertexId>,
    /// Objects that are destroyed before their successors are created.
    pub(super) first: Vec<VertexId>,
    /// Objects that are destroyed last.
    pub(super) last: Vec<VertexId>,
    /// Resources with objects that are destroyed only after one of those that are destroyed last.
    pub(super) after_last: BTreeSet<usize>,
    /// Whether one of them is destroyed before its successor is created.
    pub(super) destroyed_first: bool,
    /// Whether one of them is destroyed after its successor is created.
    pub(super) created_first: bool,
}

impl ResourceVertices {
    /// The vertices after which the objects in `first` are destroyed: the join, unless that would
    /// also wait for those in `last`.
    pub(super) fn first_destroyed_vertices(&self) -> &[VertexId] {
        match &self.destroyed {
            // With few objects the join has the same effect as single edges, and with many it keeps
            // their number linear. It is only wrong if objects of both groups share it.
            _ if self.first.is_empty() => &[],
            Some(join) if self.last.is_empty() => std::slice::from_ref(join),
            _ => &self.first,
        }
    }
}

/// The resources among the vertices by number: dependencies are compared in many pairs, and numbers
/// are small and quickly compared.
pub(super) struct ResourceNumbers<'i> {
    numbers: HashMap<&'i ConfigResourceAddr, usize>,
    pub(super) names: Vec<&'i ConfigResourceAddr>,
    pub(super) parts: Vec<ResourceVertices>,
}

impl<'i> ResourceNumbers<'i> {
    pub(super) fn from_vertices(vertices: &[ApplyVertex<'_>], index: &'i VertexIndex) -> Self {
        let mut resources = Self { numbers: HashMap::new(), names: Vec::new(), parts: Vec::new() };
        for (name, &done) in &index.done {
            resources.add_resource(name).done = Some(done);
        }
        for (name, &join) in &index.destroyed {
            resources.add_resource(name).destroyed = Some(join);
        }
        for (id, destroy) in destroy_vertices(vertices, index) {
            let Some(number) = resources.number_of(&config_resource_addr(&destroy.change.addr))
            else {
                continue;
            };
            if destroy.timing == DestroyTiming::AfterSuccessor {
                // Collected, because `resources` is borrowed for the names and changed in the next
                // line.
                let dependencies: Vec<_> =
                    resources.numbers_except(number, &destroy.change.prior_dependencies).collect();
                resources.parts[number].after_last.extend(dependencies);
            }
            let parts = &mut resources.parts[number];
            let group = match destroy.timing {
                DestroyTiming::First => &mut parts.first,
                DestroyTiming::AfterSuccessor | DestroyTiming::Last => &mut parts.last,
            };
            group.push(id);
            if let Action::Replace(order) = destroy.change.action {
                parts.destroyed_first |= order == ReplaceOrder::DestroyFirst;
                parts.created_first |= order == ReplaceOrder::CreateFirst;
            }
        }
        for &id in &index.instances {
            if let Some(InstanceVertex { change, config, .. }) = vertices[id.index()].as_instance()
                && let Some(number) = resources.number_of(&config_resource_addr(&change.addr))
            {
                let parts = &mut resources.parts[number];
                match change.addr.resource.mode() {
                    ResourceMode::Managed => parts.makers.push(id),
                    // A read after a destruction must not see the destroyed object, for example in
                    // a list of all objects of a service.
                    _ if config.within.is_none() => parts.readers.push(id),
                    _ => {}
                }
            }
        }
        resources
    }

    fn add_resource(&mut self, name: &'i ConfigResourceAddr) -> &mut ResourceVertices {
        let number = *self.numbers.entry(name).or_insert(self.parts.len());
        if number == self.parts.len() {
            self.names.push(name);
            self.parts.push(ResourceVertices::default());
        }
        &mut self.parts[number]
    }

    pub(super) fn number_of(&self, name: &ConfigResourceAddr) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// The numbers of the named resources other than `excluded`. A resource that is neither in the
    /// configuration nor destroyed has none.
    pub(super) fn numbers_except(
        &self,
        excluded: usize,
        names: &[ConfigResourceAddr],
    ) -> impl Iterator<Item = usize> {
        let numbers = names.iter().filter_map(|name| self.number_of(name));
        numbers.filter(move |number| *number != excluded)
    }
}
