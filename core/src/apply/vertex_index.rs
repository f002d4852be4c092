//! Positions of objects among the vertices of an apply graph that is being built.

use std::collections::BTreeMap;

use super::vertex::ApplyVertex;
use crate::addr::{ConfigResourceAddr, InstanceAddr, InstanceKey, Reference, ReferenceSubject};
use crate::config::{Config, ModuleNode};
use crate::graph::{GraphDraft, VertexId, enumerate_vertices};
use crate::shared_graph::{EdgeReason, VertexLookup};

/// Positions of objects among the vertices.
#[derive(Debug)]
pub(super) struct VertexIndex {
    pub(super) names: VertexLookup,
    pub(super) expands: BTreeMap<ConfigResourceAddr, VertexId>,
    pub(super) done: BTreeMap<ConfigResourceAddr, VertexId>,
    pub(super) destroyed: BTreeMap<ConfigResourceAddr, VertexId>,
    pub(super) instances: Vec<VertexId>,
    /// The instances by key, in every instance of their module.
    by_key: BTreeMap<(ConfigResourceAddr, InstanceKey), Vec<VertexId>>,
    pub(super) destroys: Vec<VertexId>,
}

impl VertexIndex {
    pub(super) fn from_vertices<'c>(config: &'c Config, vertices: &[ApplyVertex<'c>]) -> Self {
        let mut index = Self {
            names: VertexLookup::from_vertices(config, vertices),
            expands: BTreeMap::new(),
            done: BTreeMap::new(),
            destroyed: BTreeMap::new(),
            instances: Vec::new(),
            by_key: BTreeMap::new(),
            destroys: Vec::new(),
        };
        for (id, vertex) in enumerate_vertices(vertices) {
            if let Some(expand) = vertex.as_expand() {
                index.expands.insert(expand.addr.clone(), id);
            } else if let Some(addr) = vertex.done_resource() {
                index.done.insert(addr.clone(), id);
            } else if let Some(addr) = vertex.destroyed_resource() {
                index.destroyed.insert(addr.clone(), id);
            } else if vertex.as_destroy().is_some() {
                index.destroys.push(id);
            } else if let Some(instance) = vertex.as_instance() {
                index.instances.push(id);
                index.add_instance(&instance.change.addr, id);
            } else if let Some(instance) = vertex.as_unchanged() {
                index.add_instance(&instance.change.addr, id);
            }
        }
        index
    }

    fn add_instance(&mut self, addr: &InstanceAddr, id: VertexId) {
        let name = (addr.resource_addr().config_addr(), addr.key.clone());
        self.by_key.entry(name).or_default().push(id);
    }

    /// Vertices that a reference in a module waits for: the one instance that changes, if a
    /// constant key names it, so that the outcome of the others does not matter; otherwise all of
    /// the object named.
    pub(super) fn referenced_vertices(
        &self,
        node: &ModuleNode,
        reference: &Reference,
    ) -> &[VertexId] {
        if let (ReferenceSubject::Resource(resource), Some(key)) =
            (&reference.subject, reference.instance_key())
        {
            let addr = ConfigResourceAddr { module: node.path.clone(), resource: resource.clone() };
            if let Some(instances) = self.by_key.get(&(addr, key)) {
                return instances;
            }
        }
        self.names.find_vertex(node, reference).map_or(&[], std::slice::from_ref)
    }
}

/// A graph being built.
pub(super) type GraphBuilder<'c> = GraphDraft<ApplyVertex<'c>, EdgeReason>;
