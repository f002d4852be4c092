//! Opens the instances of an ephemeral resource.

use formwork_value::Diagnostics;

use super::{ApplyContext, ApplyVisitOutcome, ExpandedResource};
use crate::addr::ResourceAddr;
use crate::apply::vertex::OpenEphemeralVertex;
use crate::ephemeral::EphemeralInstance;
use crate::eval::{ModuleResults, expand};

/// Expands the resource in every instance of its module and opens all of its instances. Of those that
/// cannot be opened it is in `diags`.
pub(super) async fn visit_open_ephemeral(
    view: ApplyContext<'_>,
    diags: &mut Diagnostics,
    vertex: &OpenEphemeralVertex<'_>,
) -> ApplyVisitOutcome {
    let modules = view.session.results.module_instances(&vertex.node.path);
    let opened = modules.into_iter().map(|module| open_instances_in_module(view, vertex, module));
    let mut found = Vec::new();
    // `join_all` returns results in the order of the instances, so messages do not depend on
    // timing.
    for (problems, expanded) in futures_util::future::join_all(opened).await {
        let _ = diags.append(problems);
        found.extend(expanded);
    }
    ApplyVisitOutcome::Expanded(found)
}

async fn open_instances_in_module(
    view: ApplyContext<'_>,
    vertex: &OpenEphemeralVertex<'_>,
    results: &ModuleResults,
) -> (Diagnostics, Option<ExpandedResource>) {
    let mut diags = Diagnostics::new();
    let session = view.session;
    let scope = session.module_scope(results);
    let expansion = |diags: &mut Diagnostics| {
        expand::expand_repetition(diags, &scope, &vertex.config.repetition)
    };
    let Ok(expansion) = session.evaluate_with_functions(&mut diags, expansion).await else {
        return (diags, None);
    };
    let (module, resource) = (results.module_addr().clone(), vertex.addr.resource.clone());
    let resource = ResourceAddr { module, resource };
    let opened = expansion.keys().map(async |key| {
        let mut diags = Diagnostics::new();
        let addr = resource.instance_addr(key);
        let scope = scope.clone().with_repetition(expansion.repetition_data(&addr.key));
        let site =
            EphemeralInstance { config: vertex.config, addr: &addr, provider: &vertex.provider };
        // The semaphore is never closed, so a permit always comes.
        // An opening is a provider call like any other, and counts for `-parallelism`. The vertex
        // itself takes no permit, or its instances could wait for each other.
        let _permit = session.permits.acquire().await;
        let value = view.ephemeral_resources.open_instance(&mut diags, site, scope).await;
        (diags, value.ok().map(|value| (addr.key, value)))
    });
    let mut settled = Vec::new();
    for (problems, value) in futures_util::future::join_all(opened).await {
        let _ = diags.append(problems);
        settled.extend(value);
    }
    (diags, Some(ExpandedResource { module: resource.module, expansion, settled }))
}
