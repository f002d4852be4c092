//! Visits a resource: expands it, then plans its instances side by side.

use formwork_value::{Diagnostic, Diagnostics, Reported};
use futures_util::StreamExt as _;

use super::destroy::{self, Doomed};
use super::{View, data, managed};
use crate::addr::{InstanceKey, Mode};
use crate::change::Reason;
use crate::eval::{Expansion, expand};
use crate::phase::stored_value;
use crate::plan;
use crate::plan::outcome::{FoundObject, FoundResource, Refreshed};
use crate::plan::vertex::ResourceVertex;

/// Plans all instances and deposed objects of a resource.
pub(super) async fn visit(
    view: View<'_>,
    diags: &mut Diagnostics,
    vertex: &ResourceVertex<'_>,
) -> FoundResource {
    let is_managed = vertex.addr.resource.mode() == Mode::Managed;
    if view.options.mode == plan::Mode::Destroy && is_managed {
        return destroy::visit_all(view, diags, vertex).await;
    }
    let Ok(expansion) = expansion(view, diags, vertex) else { return FoundResource::default() };
    if is_managed {
        warn_of_unmatched_replace(view, diags, vertex, &expansion);
    }
    let wanted = expansion.keys().filter(|key| targeted(view, vertex, key));
    let planned = wanted.map(|key| one(view, vertex, &expansion, key));
    // `buffered` rather than `buffer_unordered`: what is found must not depend on timing.
    let mut planned = futures_util::stream::iter(planned).buffered(view.session.parallelism.max(1));
    let mut objects = Vec::new();
    while let Some((problems, found)) = planned.next().await {
        let _ = diags.append(problems);
        objects.extend(found);
    }
    drop(planned);
    objects.extend(untargeted(view, diags, vertex, &expansion));
    if is_managed {
        let doomed = doomed(view, vertex, &expansion);
        if view.options.mode == plan::Mode::Normal {
            // Reported is enough: what would become of them is shown all the same.
            let _ = destroy::refuse_to_destroy(diags, vertex, &doomed);
        }
        objects.extend(
            destroy::visit_doomed(view, diags, &vertex.addr, &vertex.provider, doomed).await,
        );
    }
    FoundResource { expansion: Some(expansion), objects }
}

fn expansion(
    view: View<'_>,
    diags: &mut Diagnostics,
    vertex: &ResourceVertex<'_>,
) -> Result<Expansion, Reported> {
    let repetition = &vertex.config.repetition;
    if view.options.mode == plan::Mode::RefreshOnly && vertex.addr.resource.mode() == Mode::Managed
    {
        return Ok(Expansion::recorded(repetition, vertex.prior));
    }
    expand::expand(diags, &view.session.scope(), repetition)
}

/// Warns of `-replace` options that name the resource where they should name an instance.
fn warn_of_unmatched_replace(
    view: View<'_>,
    diags: &mut Diagnostics,
    vertex: &ResourceVertex<'_>,
    expansion: &Expansion,
) {
    let resource = vertex.addr.instance(InstanceKey::None);
    if matches!(expansion, Expansion::Single) || !view.options.replace.contains(&resource) {
        return;
    }
    let keys: Vec<String> = expansion
        .keys()
        .map(|key| format!("\n  -replace='{}'", vertex.addr.instance(key)))
        .collect();
    let detail = if keys.is_empty() {
        format!("The option -replace={resource} names a resource that has no instances.")
    } else {
        format!(
            "The option -replace={resource} names a resource with several instances, and so none of them. To replace instances, name them:{}",
            keys.concat()
        )
    };
    diags.warn(Diagnostic::warning("Incompletely-matched force-replace resource instance", detail));
}

/// The instances that are not planned because others of the resource are targets. Who mentions them
/// sees them as the state has them.
fn untargeted(
    view: View<'_>,
    diags: &mut Diagnostics,
    vertex: &ResourceVertex<'_>,
    expansion: &Expansion,
) -> Vec<FoundObject> {
    if expansion.keys().all(|key| targeted(view, vertex, &key)) {
        return Vec::new();
    }
    let Ok((_, ty)) = managed::provider_for(view, diags, vertex) else { return Vec::new() };
    let others = expansion.keys().filter(|key| !targeted(view, vertex, key));
    let others = others.filter_map(|key| {
        let object = vertex.prior?.instances.get(&key)?.current.as_ref()?;
        let value = stored_value(&ty, object);
        let refreshed = Refreshed::Now(object.clone());
        Some(FoundObject { key, deposed: None, refreshed, drift: None, change: None, value })
    });
    others.collect()
}

fn targeted(view: View<'_>, vertex: &ResourceVertex<'_>, key: &InstanceKey) -> bool {
    let targets = &view.options.targets;
    // A resource that is only there because a target needs it is planned whole.
    let here = targets.iter().any(|target| target.touches(&vertex.addr));
    !here || targets.iter().any(|target| target.contains(&vertex.addr.instance(key.clone())))
}

async fn one(
    view: View<'_>,
    vertex: &ResourceVertex<'_>,
    expansion: &Expansion,
    key: InstanceKey,
) -> (Diagnostics, Option<FoundObject>) {
    let mut diags = Diagnostics::new();
    if view.session.stopped() {
        return (diags, None);
    }
    // The semaphore is never closed, so a permit always comes.
    let _permit = view.session.permits.acquire().await;
    let found = match vertex.addr.resource.mode() {
        Mode::Managed => managed::plan(view, &mut diags, vertex, expansion, key).await,
        Mode::Data | Mode::Ephemeral => data::plan(view, &mut diags, vertex, expansion, key).await,
    };
    (diags, found.ok())
}

/// The objects in the state that the configuration no longer has a place for, and why.
fn doomed<'v>(
    view: View<'_>,
    vertex: &'v ResourceVertex<'_>,
    expansion: &Expansion,
) -> Vec<Doomed<'v>> {
    let mut doomed = Vec::new();
    for (key, instance) in vertex.prior.into_iter().flat_map(|prior| &prior.instances) {
        if !targeted(view, vertex, key) {
            continue;
        }
        if let Some(object) = &instance.current
            && !expansion.contains(key)
        {
            let reason = match (expansion, key) {
                (Expansion::Count(_), InstanceKey::Int(_)) => Reason::DeleteBecauseCountIndex,
                (Expansion::ForEach(_), InstanceKey::Str(_)) => Reason::DeleteBecauseEachKey,
                _ => Reason::DeleteBecauseWrongRepetition,
            };
            doomed.push(Doomed { key, deposed: None, object, reason: Some(reason) });
        }
        let deposed = instance.deposed.iter();
        doomed.extend(deposed.map(|(deposed, object)| Doomed {
            key,
            deposed: Some(deposed),
            object,
            reason: None,
        }));
    }
    doomed
}
