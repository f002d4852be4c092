//! Visits the objects of a resource before it is their turn: reads them, and decides nothing.

use formwork_value::Diagnostics;

use super::prior::{self, Owner};
use super::{View, side_by_side};
use crate::instance::{ConfiguredResource, find_written};
use crate::plan::prefetch::ObjectsRead;
use crate::plan::vertex::ReadVertex;

/// Reads the objects. For an object that is missing in the result, the visit of the resource does
/// the read itself, and reports why it failed.
pub(super) async fn visit(view: View<'_>, vertex: &ReadVertex<'_>) -> ObjectsRead {
    let written = ConfiguredResource { addr: &vertex.addr, config: vertex.config };
    // The visit of the resource looks for the same provider, and reports the errors.
    let mut unsaid = Diagnostics::new();
    let found = find_written(view.session, &mut unsaid, &vertex.provider, written);
    let Ok((handle, ty)) = found else { return ObjectsRead::new() };
    let (handle, ty) = (&handle, &ty);
    let reads = vertex.objects().map(|((addr, deposed), object)| async move {
        // The semaphore is never closed, so a permit always comes.
        let _permit = view.session.permits.acquire().await;
        // Only here, because an interrupt may come during the wait for the permit.
        if view.session.is_stopped() {
            return None;
        }
        let block = Some(vertex.config.span);
        let owner = Owner { handle, ty, addr: &addr, deposed: deposed.as_ref(), block };
        let mut diags = Diagnostics::new();
        let read = prior::read(view, &mut diags, owner, object).await;
        Some(((addr, deposed), (diags, read)))
    });
    side_by_side(view, reads).await.into_iter().flatten().collect()
}
