//! Visits the objects of a resource before it is their turn: reads them, and decides nothing.

use formwork_value::Diagnostics;

use super::refresh::{self, ObjectOwner};
use super::{PlanContext, run_concurrently};
use crate::instance_steps::{ResourceWithAddress, find_client_of_config};
use crate::plan::prefetch::PrefetchedResource;
use crate::plan::vertex::EarlyReadVertex;

/// Reads the objects. For an object that is missing in the result, the visit of the resource does
/// the read itself, and reports why it failed.
pub(super) async fn visit_early_read(
    view: PlanContext<'_>,
    vertex: &EarlyReadVertex<'_>,
) -> PrefetchedResource {
    let written = ResourceWithAddress { addr: &vertex.addr, config: vertex.config };
    // The visit of the resource looks for the same provider, and reports the errors.
    let mut unsaid = Diagnostics::new();
    let found = find_client_of_config(view.session, &mut unsaid, &vertex.provider, written);
    let Ok((client, ty)) = found else { return PrefetchedResource::new() };
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
