//! Positions of objects among the vertices of an apply graph that is being built.

use std::collections::BTreeMap;

use super::vertex::{InstanceVertex, Vertex};
use crate::addr::{ConfigResourceAddr, InstanceAddr, InstanceKey, Reference, Subject};
use crate::change::Change;
use crate::config::{Config, ModuleNode};
use crate::graph::{Draft, VertexId, numbered};
use crate::shared_graph::{EdgeReason, Names};

/// Positions of objects among the vertices.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) names: Names,
    pub(super) expands: BTreeMap<ConfigResourceAddr, VertexId>,
    pub(super) done: BTreeMap<ConfigResourceAddr, VertexId>,
    pub(super) gone: BTreeMap<ConfigResourceAddr, VertexId>,
    pub(super) instances: Vec<VertexId>,
    /// The instances by key, in every instance of their module.
    by_key: BTreeMap<(ConfigResourceAddr, InstanceKey), Vec<VertexId>>,
    pub(super) destroys: Vec<VertexId>,
}

impl Index {
    pub(super) fn of<'c>(config: &'c Config, vertices: &[Vertex<'c>]) -> Self {
        let mut index = Self {
            names: Names::of(config, vertices),
            expands: BTreeMap::new(),
            done: BTreeMap::new(),
            gone: BTreeMap::new(),
            instances: Vec::new(),
            by_key: BTreeMap::new(),
            destroys: Vec::new(),
        };
        for (id, vertex) in numbered(vertices) {
            match vertex {
                Vertex::Expand(expand) => drop(index.expands.insert(expand.addr.clone(), id)),
                Vertex::Done(addr) => drop(index.done.insert(addr.clone(), id)),
                Vertex::Gone(addr) => drop(index.gone.insert(addr.clone(), id)),
                Vertex::Destroy(_) => index.destroys.push(id),
                Vertex::Instance(InstanceVertex { change: Change { addr, .. }, .. }) => {
                    index.instances.push(id);
                    index.add_key(addr, id);
                }
                Vertex::Unchanged(instance) => index.add_key(&instance.change.addr, id),
                Vertex::SharedVertex(_) | Vertex::Open(_) | Vertex::Changed | Vertex::Free(_) => {}
            }
        }
        index
    }

    fn add_key(&mut self, addr: &InstanceAddr, id: VertexId) {
        let name = (addr.of().config(), addr.key.clone());
        self.by_key.entry(name).or_default().push(id);
    }

    /// Vertices that a reference in a module waits for: the one instance that changes, if a
    /// constant key names it, so that the outcome of the others does not matter; otherwise all of
    /// the object named.
    pub(super) fn mentioned(&self, node: &ModuleNode, reference: &Reference) -> &[VertexId] {
        if let (Subject::Resource(resource), Some(key)) =
            (&reference.subject, reference.instance_key())
        {
            let addr = ConfigResourceAddr { module: node.path.clone(), resource: resource.clone() };
            if let Some(instances) = self.by_key.get(&(addr, key)) {
                return instances;
            }
        }
        self.names.find(node, reference).map_or(&[], std::slice::from_ref)
    }
}

/// A graph being built.
pub(super) type GraphBuilder<'c> = Draft<Vertex<'c>, EdgeReason>;
