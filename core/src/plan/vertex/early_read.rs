//! The vertex of the objects of a resource, read before it is their turn. It reads them, and decides
//! nothing.

use std::fmt::{self, Display};
use std::sync::Arc;

use formwork_value::Diagnostics;

use super::PlanVisit;
use crate::addr::{ConfigResourceAddr, ModuleAddr, ProviderConfigAddr, ResourceAddr};
use crate::config::Resource;
use crate::instance_steps::{ResourceWithAddress, find_client_of_config};
use crate::plan::ChangeKey;
use crate::plan::prefetch::PrefetchedResource;
use crate::plan::record::PlanRecorder;
use crate::plan::vertex_kind::PlanVertexKind;
use crate::plan::visit::refresh::{self, ObjectOwner};
use crate::plan::visit::{PlanContext, run_concurrently};
use crate::shared_graph::VertexKind;
use crate::state::{ObjectState, ResourceState};

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
    fn objects(&self) -> impl Iterator<Item = (ChangeKey, &'c Arc<ObjectState>)> {
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

// The state names the objects, so the vertex need not wait until calls are expanded.
impl<'c> VertexKind<'c> for EarlyReadVertex<'c> {
    fn provider_config(&self) -> Option<&ProviderConfigAddr> {
        Some(&self.provider)
    }
}

impl<'c> PlanVertexKind<'c> for EarlyReadVertex<'c> {}

impl<'c> PlanVisit<'c> for EarlyReadVertex<'c> {
    /// Objects that were read ahead.
    type Outcome = PrefetchedResource;

    async fn visit(&self, view: PlanContext<'_>, _: &mut Diagnostics) -> Option<Self::Outcome> {
        Some(visit_early_read(view, self).await)
    }

    fn record(&self, recorder: &mut PlanRecorder<'_, '_>, outcome: Self::Outcome) {
        recorder.prefetched.insert_objects(&self.addr, outcome);
    }
}

impl Display for EarlyReadVertex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (read)", self.addr)
    }
}

/// Reads the objects. For an object that is missing in the result, the visit of the resource does
/// the read itself, and reports why it failed.
async fn visit_early_read(
    view: PlanContext<'_>,
    vertex: &EarlyReadVertex<'_>,
) -> PrefetchedResource {
    let written = ResourceWithAddress { addr: &vertex.addr, config: vertex.config };
    // The visit of the resource looks for the same provider, and reports the errors.
    let mut ignored_diags = Diagnostics::new();
    let client = find_client_of_config(view.session, &mut ignored_diags, &vertex.provider, written);
    let Ok((client, ty)) = client else { return PrefetchedResource::new() };
    let (client, ty) = (&client, &ty);
    let reads = vertex.objects().map(|((addr, deposed), object)| async move {
        // The semaphore is never closed, so a permit always comes.
        let _permit = view.session.permits.acquire().await;
        // Only here, because an interrupt may come during the wait for the permit.
        if view.session.is_stopped() {
            return None;
        }
        let block = Some(vertex.config.span);
        let owner = ObjectOwner { client, ty, addr: &addr, deposed: deposed.as_ref(), block };
        let mut diags = Diagnostics::new();
        let read = refresh::read_object(view, &mut diags, owner, object).await;
        Some(((addr, deposed), (diags, read)))
    });
    run_concurrently(view, reads).await.into_iter().flatten().collect()
}
