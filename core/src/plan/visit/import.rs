//! Finds an object that is there already and belongs to an instance from now on.

use std::sync::Arc;

use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::View;
use super::prior::{Owner, Prior};
use crate::addr::{InstanceAddr, ProviderConfigAddr};
use crate::change::ImportKey;
use crate::event::Event;
use crate::instance::{find_stored, label, stored};
use crate::messages;
use crate::plan::outcome::{FoundObject, Refreshed};
use crate::provider::{CallContext, Current, Imported, remark};
use crate::state::Object;

/// Finds an object by the id that its provider knows it by. It counts as the prior object from then
/// on, and is not read again.
///
/// # Errors
/// When the provider finds none.
pub(super) async fn find(
    view: View<'_>,
    diags: &mut Diagnostics,
    owner: Owner<'_>,
    import_key: &ImportKey,
) -> Result<Prior, Reported> {
    match find_at(view, diags, owner, import_key).await? {
        ImportOutcome::There(prior) => Ok(prior),
        ImportOutcome::Nothing => Err(diags.error(not_there(import_key, owner.about()))),
    }
}

/// Finds an object that is to be taken in although no block has a place for it.
pub(super) async fn find_unwritten(
    view: View<'_>,
    diags: &mut Diagnostics,
    provider: &ProviderConfigAddr,
    addr: &InstanceAddr,
) -> Option<FoundObject> {
    if view.session.is_stopped() {
        return None;
    }
    let adoption = view.options.adoptions.get(addr)?;
    // The semaphore is never closed, so a permit always comes.
    let _permit = view.session.permits.acquire().await;
    let (handle, ty) = find_stored(view.session, diags, provider, &addr.of()).ok()?;
    let owner = Owner { handle: &handle, ty: &ty, addr, deposed: None, block: None };
    let prior = find(view, diags, owner, &adoption.import_key).await.ok()?;
    Some(FoundObject::seen(addr.key.clone(), prior.refreshed, None))
}

/// Answer of a provider to the search for an object.
pub(super) enum ImportOutcome {
    /// This.
    There(Prior),
    /// There is none.
    Nothing,
}

/// Asks for an object, and for its current value.
///
/// # Errors
/// When the provider does not answer that.
pub(super) async fn find_at(
    view: View<'_>,
    diags: &mut Diagnostics,
    owner: Owner<'_>,
    import_key: &ImportKey,
) -> Result<ImportOutcome, Reported> {
    let (Owner { handle, ty, addr, .. }, about) = (owner, owner.about());
    view.session.watch.see(&Event::ImportStart { addr, import_key, applying: false });
    if !view.options.adoptions.get(addr).is_some_and(|adoption| adoption.all) {
        let imported = handle.import(diags, ty, import_key, about).await?;
        view.session.watch.see(&Event::ImportFound { addr, n_objects: 1 });
        return read(view, diags, owner, imported).await;
    }
    // A command that does nothing but import shows no plan in which the others would be missing.
    let (imported, others) = handle.import_all(diags, ty, import_key, about).await?;
    let n_objects = others.len() + 1;
    view.session.watch.see(&Event::ImportFound { addr, n_objects });
    let mut prior = match read(view, diags, owner, imported).await? {
        ImportOutcome::There(prior) => prior,
        ImportOutcome::Nothing => return Ok(ImportOutcome::Nothing),
    };
    let mut along = Vec::new();
    for (number, other) in (1..).zip(others) {
        let addr = addr.with_numbered_name(number);
        let owner = Owner { addr: &addr, ..owner };
        let about = owner.about();
        // Refused and not replaced: the object at that address would be forgotten.
        if view.session.state.current(&addr).is_some() {
            return Err(diags.error(taken(import_key, about)));
        }
        match read(view, diags, owner, other).await? {
            ImportOutcome::There(prior) => along.push((addr, prior.object)),
            ImportOutcome::Nothing => return Err(diags.error(not_there(import_key, about))),
        }
    }
    if !along.is_empty() {
        prior.refreshed = Refreshed::Several { object: prior.object.clone(), along };
    }
    Ok(ImportOutcome::There(prior))
}

/// Reads the current value of an imported object.
async fn read(
    view: View<'_>,
    diags: &mut Diagnostics,
    owner: Owner<'_>,
    imported: Imported,
) -> Result<ImportOutcome, Reported> {
    let (Owner { handle, ty, addr, .. }, about) = (owner, owner.about());
    let watch = view.session.watch;
    let found = remark(ty, imported.value, &[]);
    // Also with `-refresh=false`: an import may return no more than the ID.
    watch.see(&Event::RefreshStart { addr, deposed: None, label: label(&found) });
    let identity = imported.identity.as_ref().and_then(|stored| ty.identity_payload(stored));
    let current = Current { value: &found, private: &imported.private, identity };
    let read = handle.read(diags, ty, current, about).await?;
    if read.value.value().is_null() {
        watch.see(&Event::RefreshDone { addr, label: None });
        return Ok(ImportOutcome::Nothing);
    }
    let current = remark(ty, read.value, &[]);
    watch.see(&Event::RefreshDone { addr, label: label(&current) });
    let (private, identity) = (read.private, read.identity.or(imported.identity));
    let object = Object { private, identity, ..stored(diags, ty, addr, &current)? };
    let object = Arc::new(object);
    let refreshed = Refreshed::Now(object.clone());
    Ok(ImportOutcome::There(Prior { stored: current.clone(), current, object, refreshed }))
}

fn taken(import_key: &ImportKey, about: CallContext<'_>) -> Diagnostic {
    let addr = about.addr;
    let detail = format!(
        "By {import_key} the provider found several objects, and one of them would become {addr}, where Formwork is already managing a remote object. Move that one to another address first."
    );
    Diagnostic::error(messages::RESOURCE_ALREADY_MANAGED_BY_FORMWORK, detail)
        .at_opt(about.block)
        .about(addr.to_string())
}

fn not_there(import_key: &ImportKey, about: CallContext<'_>) -> Diagnostic {
    let detail = format!(
        "While attempting to import an existing object to {:?}, the provider detected that no object exists with the given id. Only pre-existing objects can be imported; check that the id is correct and that it is associated with the provider's configured region or endpoint, or use \"formwork apply\" to create a new remote object for this resource. The object was read by {import_key}.",
        about.addr.to_string()
    );
    let summary = messages::CANNOT_IMPORT_NON_EXISTENT_REMOTE_OBJECT;
    Diagnostic::error(summary, detail).at_opt(about.block).about(about.addr.to_string())
}
