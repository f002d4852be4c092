//! Objects that are not destroyed because something is excluded.

use std::collections::{BTreeMap, BTreeSet};

use super::PlanOptions;
use super::vertex_kind::PlanGraphVertex;
use crate::addr::{ConfigResourceAddr, InstanceAddr, ResourceAddr, Target};
use crate::graph::Graph;
use crate::moved::Moves;
use crate::session::Session;
use crate::shared_graph::EdgeReason;

/// Resources that are kept from being destroyed only by `-exclude`: the excluded ones, and the
/// dependencies of the objects that stay.
#[derive(Debug, Default)]
pub(crate) struct ExcludedFromDestroy {
    excludes: Vec<Target>,
    needed: BTreeSet<ConfigResourceAddr>,
}

impl ExcludedFromDestroy {
    pub(crate) fn from_options<'g, 'c: 'g, V: PlanGraphVertex<'c>>(
        session: &Session<'_>,
        options: &PlanOptions,
        moves: &Moves,
        graph: &'g Graph<V, EdgeReason>,
    ) -> Self {
        if options.excludes.is_empty() {
            return Self::default();
        }
        let resources = graph.vertices().iter().filter_map(|vertex| vertex.as_resource());
        let planned: BTreeSet<&ConfigResourceAddr> =
            resources.map(|resource| &resource.addr).collect();
        // A resource that is written and was pruned depends on an excluded one, so its objects
        // stay.
        let left_out = |addr: &ResourceAddr| {
            let config = addr.config_addr();
            session.config.find_resource(&config).is_some() && !planned.contains(&config)
        };
        let excludes = options.excludes.clone();
        let mut needed = BTreeSet::new();
        let mut queue = Vec::new();
        for (addr, resource_state) in &session.state.resources {
            let stays = left_out(addr);
            for (key, instance) in &resource_state.instances {
                let instance_addr = addr.instance_addr(key.clone());
                if stays || excludes.iter().any(|target| target.contains(&instance_addr)) {
                    let objects = instance.current.iter().chain(instance.deposed.values());
                    // The state names dependencies as they were called when the object was made.
                    let made_after =
                        objects.map(|object| moves.renamed_dependencies(&object.dependencies));
                    made_after.for_each(|dependencies| queue.extend(dependencies.iter().cloned()));
                }
            }
        }
        let mut recorded: BTreeMap<ConfigResourceAddr, Vec<_>> = BTreeMap::new();
        for (addr, resource_state) in &session.state.resources {
            let recorded = recorded.entry(addr.config_addr()).or_default();
            let all = resource_state
                .all_objects()
                .map(|object| moves.renamed_dependencies(&object.dependencies));
            all.for_each(|dependencies| recorded.extend(dependencies.iter().cloned()));
        }
        while let Some(addr) = queue.pop() {
            if needed.insert(addr.clone()) {
                queue.extend(recorded.get(&addr).into_iter().flatten().cloned());
            }
        }
        Self { excludes, needed }
    }

    /// Whether an instance is excluded.
    pub(crate) fn contains(&self, addr: &InstanceAddr) -> bool {
        self.is_excluded(addr) || self.needed.contains(&addr.resource_addr().config_addr())
    }

    /// Whether an instance is excluded itself.
    pub(crate) fn is_excluded(&self, addr: &InstanceAddr) -> bool {
        self.excludes.iter().any(|target| target.contains(addr))
    }
}
