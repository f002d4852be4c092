//! Looks for an object that an interrupted run may have created, if its planned value shows how it
//! can be found. A found object belongs to the instance only if it matches the planned value.

use std::collections::HashSet;

use formwork_plugin_protocol::contract::conform::compatibility_violations;
use formwork_value::{Diagnostic, Diagnostics, Plain, Value};

use super::PlanContext;
use super::import::{ImportSearchOutcome, find_object_by_import_key};
use super::refresh::ObjectOwner;
use crate::addr::InstanceAddr;
use crate::change::ImportKey;
use crate::config::{ProvisionerTiming, Resource};
use crate::instance_steps::unmark_value;
use crate::messages;
use crate::plan::prior_state::{PriorState, RefreshResult};
use crate::provider::{CallContext, ListFailure, ListedObject, ResourceType};
use crate::state::{ObjectStatus, StoredIdentity};

/// Result of searching for an object that may have been made.
pub(super) enum CreationSearchResult {
    /// The object exists.
    Found(Box<PriorState>),
    /// There is none, so it was never made.
    NotCreated,
    /// It is unknown whether it exists.
    Unknown,
}

/// A creation during which a run was interrupted.
#[derive(Clone, Copy)]
pub(super) struct InterruptedCreation<'a> {
    pub(super) planned: &'a Value,
    pub(super) config: &'a Resource,
}

/// Looks for the object that was to be made as `planned`.
pub(super) async fn find_created_object(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    owner: ObjectOwner<'_>,
    creation: InterruptedCreation<'_>,
) -> CreationSearchResult {
    let (ObjectOwner { ty, addr, .. }, InterruptedCreation { planned, config }) = (owner, creation);
    // The journal may be of an older version of the provider. Comparing with a different schema
    // would find differences that mean nothing.
    if !planned.ty().conforms_to(&ty.ty) {
        return CreationSearchResult::Unknown;
    }
    let import_key = match ty.predict_import_key(planned) {
        Some(import_key) => import_key,
        None => match find_created_by_listing(view, diags, owner, &unmark_value(planned)).await {
            Some(import_key) => import_key,
            None => return CreationSearchResult::Unknown,
        },
    };
    let in_doubt = |diags: &mut Diagnostics, reason: &str| {
        let detail = format!(
            "{addr} was being created when a run was interrupted. The provider was asked for the \
             object by {import_key}, {reason}. So it is unknown whether the object exists."
        );
        warn_of_unresolved(diags, addr, detail);
        CreationSearchResult::Unknown
    };
    // An object that the provider does not find is not an error of this run.
    // The absence of the object is an expected answer here, although the provider reports it as an
    // error.
    let mut import_diags = Diagnostics::new();
    let imported = find_object_by_import_key(view, &mut import_diags, owner, &import_key).await;
    let mut prior = match imported {
        Ok(ImportSearchOutcome::Found(prior)) => prior,
        // Only an explicit answer that there is no object settles the operation as never done. Any
        // error leaves it open, since a service may be unreachable or slow to list.
        Ok(ImportSearchOutcome::NotFound) => return CreationSearchResult::NotCreated,
        Err(_) => {
            let error = import_diags.iter().find(|problem| problem.is_error());
            // The summary may be the same for every failed call.
            let text = error.map_or_else(String::new, |error| match error.detail.as_str() {
                "" => error.summary.clone(),
                detail => format!("{}: {}", error.summary, detail.trim_end_matches('.')),
            });
            return in_doubt(diags, &format!("and answered: {text}"));
        }
    };
    let about = CallContext { addr, block: Some(config.span) };
    // A key such as a name may belong to a foreign object. Taking it over would let the next run
    // change or destroy it.
    let differences = compatibility_violations(
        ty.schema_block(),
        &unmark_value(planned),
        &unmark_value(&prior.current),
    );
    if let Some(difference) = differences.first() {
        let about = about.addr;
        let reason = format!("and there is one, but it is not as {about} was to be: {difference}");
        return in_doubt(diags, &reason);
    }
    if config.provisioners.iter().any(|provisioner| provisioner.when == ProvisionerTiming::Create) {
        // It is unknown how far the provisioners ran, so the object is tainted.
        let mut object = (*prior.object).clone();
        // As after any failed creation: the next apply replaces the object and runs all
        // provisioners.
        object.status = ObjectStatus::Tainted;
        prior.object = object.into();
    }
    prior.refreshed = RefreshResult::FoundInterrupted(prior.object.clone());
    CreationSearchResult::Found(Box::new(prior))
}

/// Finds the object that was to be created as `planned` among everything that the provider lists. Several
/// open operations of one type are distinguished by their planned values.
async fn find_created_by_listing(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    ObjectOwner { client, ty, addr, .. }: ObjectOwner<'_>,
    planned: &Plain,
) -> Option<ImportKey> {
    // Those planned alike are interchangeable: objects found for them are taken in the order of
    // their addresses.
    let listed = match client.list_objects(ty).await {
        Ok(listed) => listed,
        // No call was made, so there is nothing to report: most providers cannot list.
        Err(ListFailure::Unsupported) => return None,
        Err(ListFailure::Failed(reason)) => {
            // A person decides about the object, and has to see that the search went wrong.
            let detail = format!(
                "{addr} was being created when a run was interrupted. The provider was asked to list \
                 the objects of type {}, and gave no list that can be used. So it is unknown whether \
                 the object exists.\n\n{reason}",
                ty.name
            );
            warn_of_unresolved(diags, addr, detail);
            return None;
        }
    };
    let known: HashSet<&StoredIdentity> = managed_identities(view, ty.name.as_str()).collect();
    let fits = |object: &ListedObject| {
        // Objects in the state are managed under another address and cannot be the lost one.
        !known.contains(&object.stored)
            && compatibility_violations(ty.schema_block(), planned, &object.object).is_empty()
    };
    let candidates: Vec<ListedObject> = listed.into_iter().filter(fits).collect();
    let open = view.options.interrupted_creations.iter();
    let open =
        open.filter(|(other, _)| other.resource.resource_type() == addr.resource.resource_type());
    let open: Vec<(&InstanceAddr, &Value)> = open.collect();
    let n_missing = open.len();
    match choose_candidate(ty, addr, &candidates, &open) {
        Some(object) => Some(ImportKey::Identity(object.identity.clone())),
        None => {
            let detail = format!(
                "{addr} was being created when a run was interrupted. Of what its provider lists, {} \
                 as planned and in no state, and {n_missing} of that type may have been \
                 made. So it is unknown whether the object exists.{}",
                match candidates.len() {
                    1 => "one is".to_owned(),
                    n => format!("{n} are"),
                },
                describe_candidates(&candidates)
            );
            warn_of_unresolved(diags, addr, detail);
            None
        }
    }
}

/// Warns that it stays unknown whether an object was created.
fn warn_of_unresolved(diags: &mut Diagnostics, addr: &InstanceAddr, detail: String) {
    let summary = messages::INTERRUPTED_OPERATION_COULD_NOT_BE_RESOLVED;
    diags.warn(Diagnostic::warning(summary, detail).about(addr.to_string()));
}

/// The most listed objects that a message names.
const MAX_LISTED_CANDIDATES: usize = 10;

/// Names the listed objects that may be the one in question, each by its id.
fn describe_candidates(candidates: &[ListedObject]) -> String {
    let mut text = String::new();
    for candidate in candidates.iter().take(MAX_LISTED_CANDIDATES) {
        let id = match candidate.object.value() {
            Value::Object(attributes) => attributes.get("id"),
            _ => None,
        };
        let id = match id {
            Some(Value::String(id)) => id.to_string(),
            _ => String::from_utf8_lossy(&candidate.stored.json).into_owned(),
        };
        text.push_str(&format!("\n  {id}"));
    }
    let more = candidates.len().saturating_sub(MAX_LISTED_CANDIDATES);
    match (text.is_empty(), more) {
        (true, _) => text,
        (false, 0) => format!("\n\nThese fit:{text}"),
        (false, more) => format!("\n\nThese fit:{text}\n  and {more} more"),
    }
}

/// The listed object that belongs to an open operation, if there is no doubt about that: all objects
/// that fit it fit the same operations, and there is one operation for each of them.
fn choose_candidate<'l>(
    ty: &ResourceType,
    addr: &InstanceAddr,
    candidates: &'l [ListedObject],
    open: &[(&InstanceAddr, &Value)],
) -> Option<&'l ListedObject> {
    let fitting = |candidate: &ListedObject| -> Vec<&InstanceAddr> {
        let fits = |planned: &Value| {
            !planned.ty().conforms_to(&ty.ty)
                || compatibility_violations(
                    ty.schema_block(),
                    &unmark_value(planned),
                    &candidate.object,
                )
                .is_empty()
        };
        open.iter().filter(|(_, planned)| fits(planned)).map(|(addr, _)| *addr).collect()
    };
    // A wrong assignment would swap two objects for good, so there must be one group of equal plans
    // with at least as many operations as objects.
    let operations = fitting(candidates.first()?);
    if candidates.len() > operations.len()
        || candidates.iter().any(|candidate| fitting(candidate) != operations)
    {
        return None;
    }
    let index = operations.iter().position(|other| *other == addr)?;
    let mut sorted: Vec<&ListedObject> = candidates.iter().collect();
    // Sorted, so that each visit assigns the same objects, in whatever order the provider lists
    // them: the visits of the instances are independent.
    sorted.sort_by(|first, second| first.stored.cmp(&second.stored));
    sorted.get(index).copied()
}

/// Returns the identities of the objects of a type in the state.
fn managed_identities<'a>(
    view: PlanContext<'a>,
    kind: &str,
) -> impl Iterator<Item = &'a StoredIdentity> {
    let resources = view.session.state.resources.iter();
    let resources = resources.filter(move |(addr, _)| addr.resource.resource_type() == kind);
    let instances = resources.flat_map(|(_, resource)| resource.instances.values());
    let objects = instances.flat_map(|it| it.current.iter().chain(it.deposed.values()));
    objects.filter_map(|object| object.identity.as_ref())
}
