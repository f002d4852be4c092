//! Resources that are created before their predecessor is destroyed. A pure function over the
//! finished graph, because the flag spreads along its edges.
//!
//! A resource that is replaced create-first needs its new dependencies while the old ones still
//! exist, so all its dependencies have to be create-first too, against their configuration.

use std::collections::BTreeSet;

use crate::addr::ConfigResourceAddr;
use crate::change::ReplaceOrder;
use crate::graph::Graph;
use crate::shared_graph::EdgeReason;

use super::vertex_kind::PlanGraphVertex;

/// The resources that are created before their predecessor is destroyed.
#[derive(Debug, Default)]
pub(crate) struct ReplaceOrders(BTreeSet<ConfigResourceAddr>);

impl ReplaceOrders {
    /// Spreads the flag from dependents to dependencies.
    pub(crate) fn from_graph<'g, 'c: 'g, V: PlanGraphVertex<'c>>(
        graph: &'g Graph<V, EdgeReason>,
    ) -> Self {
        let mut first = vec![false; graph.len()];
        let mut addrs = BTreeSet::new();
        // From the far end, so that every dependent is settled before its dependencies.
        // One pass in reverse topological order is enough, where following each dependent would
        // take quadratic time in long chains.
        for &id in graph.topological_order().iter().rev() {
            let forced = graph.dependents(id).iter().any(|dependent| first[dependent.index()]);
            first[id.index()] = match graph[id].as_resource() {
                Some(resource) => {
                    let written = resource.config.lifecycle.create_before_destroy == Some(true);
                    if written || forced {
                        addrs.insert(resource.addr.clone());
                    }
                    written || forced
                }
                None => forced && graph[id].passes_dependencies_on(),
            };
        }
        Self(addrs)
    }

    /// Returns the half of a replacement of this resource that comes first.
    pub(crate) fn order_of(&self, addr: &ConfigResourceAddr) -> ReplaceOrder {
        if self.0.contains(addr) { ReplaceOrder::CreateFirst } else { ReplaceOrder::DestroyFirst }
    }
}
