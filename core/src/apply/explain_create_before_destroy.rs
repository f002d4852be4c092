//! Finds the flag that has an object destroyed only after its successor exists, to explain a cycle.
//! Whether the flag applies is decided elsewhere.

use std::collections::VecDeque;

use super::build_graph;
use super::vertex::{ApplyVertex, DestroyVertex};
use crate::addr::ConfigResourceAddr;
use crate::change::{Action, ReplaceOrder};
use crate::config::Resource;
use crate::graph::enumerate_vertices;
use crate::session::Session;
use crate::shared_graph::format_span;

/// Says which flag has an object go last, and where it is written.
pub(super) fn explain_create_before_destroy(
    session: &Session<'_>,
    vertex: &ApplyVertex<'_>,
) -> Option<String> {
    let DestroyVertex { change, timing, .. } = vertex.as_destroy()?;
    if !timing.is_after_successor() {
        return None;
    }
    let addr = change.addr.resource_addr().config_addr();
    if change.deposed.is_some() {
        return Some("a replacement with create_before_destroy left it behind".to_owned());
    }
    if let Some(location) = session
        .config
        .find_resource(&addr)
        .and_then(|resource| create_before_destroy_location(session, resource))
    {
        return Some(format!("create_before_destroy is set at {location}"));
    }
    // Only a replacement follows the configuration. A deletion follows the flag in the state, which
    // Terraform also stores for objects that inherited it.
    if change.action == Action::Replace(ReplaceOrder::CreateFirst)
        && let Some((heir, location)) = dependent_with_create_before_destroy(session, &addr)
    {
        return Some(format!(
            "create_before_destroy is inherited from {heir}, which needs it and sets it at {location}"
        ));
    }
    if change.create_before_destroy {
        return Some("the state says that it has create_before_destroy".to_owned());
    }
    Some("an object with create_before_destroy was made after it".to_owned())
}

/// Location at which a resource sets `create_before_destroy`.
fn create_before_destroy_location(session: &Session<'_>, resource: &Resource) -> Option<String> {
    let lifecycle = &resource.lifecycle;
    let span = lifecycle.create_before_destroy_span?;
    (lifecycle.create_before_destroy == Some(true)).then(|| format_span(session.sources, span))
}

/// The nearest of the resources that need another one and set the flag.
fn dependent_with_create_before_destroy(
    session: &Session<'_>,
    addr: &ConfigResourceAddr,
) -> Option<(ConfigResourceAddr, String)> {
    // Built again from the configuration: the graph with the cycle has edges of order in both
    // directions, in which a search would find any resource.
    let draft = build_graph::build_reference_draft(session);
    let dependents = draft.dependents();
    let is_own = |vertex: &ApplyVertex<'_>| vertex.done_resource() == Some(addr);
    let (start, _) = enumerate_vertices(draft.vertices()).find(|(_, vertex)| is_own(vertex))?;
    let mut seen = vec![false; draft.vertices().len()];
    seen[start.index()] = true;
    let mut queue = VecDeque::from([start]);
    // Breadth first, so that the nearest resource is named. Terraform inherits the flag along the
    // same edges.
    while let Some(id) = queue.pop_front() {
        if let Some(expand) = draft[id].as_expand()
            && let Some(location) = create_before_destroy_location(session, expand.config)
        {
            return Some((expand.addr.clone(), location));
        }
        for &next in dependents.neighbors(id) {
            if !std::mem::replace(&mut seen[next.index()], true) {
                queue.push_back(next);
            }
        }
    }
    None
}
