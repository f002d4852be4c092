//! Finds an existing object that is imported into an instance.

use std::sync::Arc;

use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::PlanContext;
use super::refresh::ObjectOwner;
use crate::addr::{InstanceAddr, ProviderConfigAddr};
use crate::change::ImportKey;
use crate::event::Event;
use crate::instance_steps::{find_client_of_state, object_for_state, object_label};
use crate::messages;
use crate::plan::prior_state::{PriorState, RefreshResult};
use crate::plan::visit_outcome::ObjectOutcome;
use crate::provider::{CallContext, ImportedObject, ObjectToRead, add_marks};
use crate::state::ObjectState;

/// Finds an object by the id of its provider. It is the prior object from then
/// on, and is not read again.
///
/// # Errors
/// When the provider finds none.
pub(super) async fn find_imported_object(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    owner: ObjectOwner<'_>,
    import_key: &ImportKey,
) -> Result<PriorState, Reported> {
    match find_object_by_import_key(view, diags, owner, import_key).await? {
        ImportSearchOutcome::Found(prior) => Ok(prior),
        ImportSearchOutcome::NotFound => {
            Err(diags.error(object_not_found_error(import_key, owner.call_context())))
        }
    }
}

/// Finds an object that is to be imported without a block for it.
pub(in crate::plan) async fn find_object_without_block(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    provider: &ProviderConfigAddr,
    addr: &InstanceAddr,
) -> Option<ObjectOutcome> {
    if view.session.is_stopped() {
        return None;
    }
    let adoption = view.options.adoptions.get(addr)?;
    // The semaphore is never closed, so a permit always comes.
    let _permit = view.session.permits.acquire().await;
    let (client, ty) =
        find_client_of_state(view.session, diags, provider, &addr.resource_addr()).ok()?;
    let owner = ObjectOwner { client: &client, ty: &ty, addr, deposed: None, block: None };
    let prior = find_imported_object(view, diags, owner, &adoption.import_key).await.ok()?;
    Some(ObjectOutcome::without_change(addr.key.clone(), prior.refreshed, None))
}

/// Answer of a provider to the search for an object.
pub(super) enum ImportSearchOutcome {
    /// This.
    Found(PriorState),
    /// There is none.
    NotFound,
}

/// Asks for an object, and for its current value.
///
/// # Errors
/// When the provider does not answer that.
pub(super) async fn find_object_by_import_key(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    owner: ObjectOwner<'_>,
    import_key: &ImportKey,
) -> Result<ImportSearchOutcome, Reported> {
    let (ObjectOwner { client, ty, addr, .. }, about) = (owner, owner.call_context());
    view.session.watch.on_event(&Event::ImportStart { addr, import_key, applying: false });
    if !view.options.adoptions.get(addr).is_some_and(|adoption| adoption.all) {
        let imported = client.import_one_object(diags, ty, import_key, about).await?;
        view.session.watch.on_event(&Event::ImportFound { addr, n_objects: 1 });
        return read_imported_object(view, diags, owner, imported).await;
    }
    // A command that does nothing but import shows no plan in which the others would be missing.
    let (imported, others) = client.import_all_objects(diags, ty, import_key, about).await?;
    let n_objects = others.len() + 1;
    view.session.watch.on_event(&Event::ImportFound { addr, n_objects });
    let mut prior = match read_imported_object(view, diags, owner, imported).await? {
        ImportSearchOutcome::Found(prior) => prior,
        ImportSearchOutcome::NotFound => return Ok(ImportSearchOutcome::NotFound),
    };
    let mut along = Vec::new();
    for (number, other) in (1..).zip(others) {
        let addr = addr.with_numbered_resource_name(number);
        let owner = ObjectOwner { addr: &addr, ..owner };
        let about = owner.call_context();
        // Refused and not replaced: the object at that address would be forgotten.
        if view.session.state.current_object(&addr).is_some() {
            return Err(diags.error(already_managed_error(import_key, about)));
        }
        match read_imported_object(view, diags, owner, other).await? {
            ImportSearchOutcome::Found(prior) => along.push((addr, prior.object)),
            ImportSearchOutcome::NotFound => {
                return Err(diags.error(object_not_found_error(import_key, about)));
            }
        }
    }
    if !along.is_empty() {
        prior.refreshed = RefreshResult::ImportedTogether { object: prior.object.clone(), along };
    }
    Ok(ImportSearchOutcome::Found(prior))
}

/// Reads the current value of an imported object.
async fn read_imported_object(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    owner: ObjectOwner<'_>,
    imported: ImportedObject,
) -> Result<ImportSearchOutcome, Reported> {
    let (ObjectOwner { client, ty, addr, .. }, about) = (owner, owner.call_context());
    let watch = view.session.watch;
    let value = add_marks(ty, imported.value, &[]);
    // Also with `-refresh=false`: an import may return no more than the ID.
    watch.on_event(&Event::RefreshStart { addr, deposed: None, label: object_label(&value) });
    let identity = imported.identity.as_ref().and_then(|stored| ty.identity_payload(stored));
    let current = ObjectToRead { value: &value, private: &imported.private, identity };
    let read = client.read_object(diags, ty, current, about).await?;
    if read.value.value().is_null() {
        watch.on_event(&Event::RefreshDone { addr, label: None });
        return Ok(ImportSearchOutcome::NotFound);
    }
    let current = add_marks(ty, read.value, &[]);
    watch.on_event(&Event::RefreshDone { addr, label: object_label(&current) });
    let (private, identity) = (read.private, read.identity.or(imported.identity));
    let object = ObjectState { private, identity, ..object_for_state(diags, ty, addr, &current)? };
    let object = Arc::new(object);
    let refreshed = RefreshResult::Changed(object.clone());
    Ok(ImportSearchOutcome::Found(PriorState {
        stored: current.clone(),
        current,
        object,
        refreshed,
    }))
}

fn already_managed_error(import_key: &ImportKey, about: CallContext<'_>) -> Diagnostic {
    let addr = about.addr;
    let detail = format!(
        "By {import_key} the provider found several objects, and one of them would become {addr}, where Formwork is already managing a remote object. Move that one to another address first."
    );
    Diagnostic::error(messages::RESOURCE_ALREADY_MANAGED_BY_FORMWORK, detail)
        .at_opt(about.block)
        .about(addr.to_string())
}

fn object_not_found_error(import_key: &ImportKey, about: CallContext<'_>) -> Diagnostic {
    let detail = format!(
        "While attempting to import an existing object to {:?}, the provider detected that no object exists with the given id. Only pre-existing objects can be imported; check that the id is correct and that it is associated with the provider's configured region or endpoint, or use \"formwork apply\" to create a new remote object for this resource. The object was read by {import_key}.",
        about.addr.to_string()
    );
    let summary = messages::CANNOT_IMPORT_NON_EXISTENT_REMOTE_OBJECT;
    Diagnostic::error(summary, detail).at_opt(about.block).about(about.addr.to_string())
}
