//! Settles operations that an interrupted run left open.

mod select_operations;
mod settle;

use std::collections::BTreeMap;
use std::sync::Arc;

use formwork_core::addr::{InstanceAddr, Target};
use formwork_core::change::ImportKey;
use formwork_core::config::Config;
use formwork_core::eval::Results;
use formwork_core::moved;
use formwork_core::plan::{AdoptionSource, InterruptedSearchResult, Plan, PlanOptions};
use formwork_core::state::recover::{OpenQuestion, UnresolvedOperation};
use formwork_core::state::{ObjectState, State};
use formwork_value::quote::{shell_quoted, shell_word};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::import::is_taken_now_or_after_moves;
use crate::messages;
use crate::observer::EngineEventForwarder;
use crate::operation::Operation;
use crate::plan::PlanInputs;
use crate::state_session::{StateSession, refuse_if_other_object_at_addr};

pub use self::select_operations::OperationSelection;
pub use self::settle::{AdoptSelectedRequest, AdoptionSummary, Decision, SettledInstance};
pub use crate::state_session::{decision_commands, remedy_if_other_object_at_addr};

/// An object to adopt.
///
/// See [`Operation::adopt_without_storing_state`] for an example.
#[derive(Clone, Copy, Debug)]
pub struct AdoptRequest<'a> {
    /// The address of the open operation.
    pub addr: &'a InstanceAddr,
    /// The id of the object, if the user specified it.
    pub id: Option<&'a str>,
    /// Whether the object may differ from the plan.
    pub force: bool,
}

/// The result of an adoption.
///
/// ```
/// use formwork_operation::recover::AdoptedOrDestroyed;
///
/// fn describe(outcome: &AdoptedOrDestroyed) -> String {
///     match outcome {
///         AdoptedOrDestroyed::InState(addr) => format!("{addr} is in the state"),
///         AdoptedOrDestroyed::Destroyed(addr) => format!("{addr} is destroyed"),
///     }
/// }
///
/// let adopted = AdoptedOrDestroyed::InState("terraform_data.a".parse().unwrap());
/// assert_eq!(describe(&adopted), "terraform_data.a is in the state");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdoptedOrDestroyed {
    /// The object is in the state, under this address.
    InState(InstanceAddr),
    /// The operation destroyed the object, so the state has not changed.
    Destroyed(InstanceAddr),
}

/// The providers' responses about the objects of open operations.
///
/// ```
/// use formwork_operation::recover::UnresolvedSearchOutcome;
///
/// fn lines(searched: &UnresolvedSearchOutcome) -> Vec<String> {
///     let explanations = searched.explanations.iter();
///     explanations.map(|(addr, text)| format!("{addr}: {text}")).collect()
/// }
///
/// let mut searched = UnresolvedSearchOutcome::default();
/// let addr = "terraform_data.a".parse().unwrap();
/// searched.explanations.insert(addr, "there are two".to_owned());
/// assert_eq!(lines(&searched), ["terraform_data.a: there are two"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct UnresolvedSearchOutcome {
    /// Explanations of the providers for the objects whose existence they could not determine, by
    /// address.
    pub explanations: BTreeMap<InstanceAddr, String>,
    /// Whether any operation was settled. The state is not stored yet.
    pub has_decided: bool,
}

impl Operation<'_> {
    /// Adds an object that an interrupted operation created to the state, which is not stored yet:
    /// see
    /// [`StateSession::write_state_or_errored_file`].
    ///
    /// ```
    /// use formwork_operation::prelude::*;
    /// use formwork_operation::recover::AdoptRequest;
    ///
    /// async fn adopt(
    ///     diags: &mut Diagnostics,
    ///     operation: &Operation<'_>,
    ///     session: &mut StateSession,
    ///     addr: &InstanceAddr,
    /// ) -> Result<(), Reported> {
    ///     let request = AdoptRequest { addr, id: Some("i-0abc"), force: false };
    ///     operation.adopt_without_storing_state(diags, session, request).await?;
    ///     session.write_state_or_errored_file(diags).await
    /// }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the object cannot be adopted. Then nothing is settled, and the state has
    /// not changed.
    pub async fn adopt_without_storing_state(
        &self,
        diags: &mut Diagnostics,
        session: &mut StateSession,
        request: AdoptRequest<'_>,
    ) -> Result<AdoptedOrDestroyed, Reported> {
        // A request that fails or is cancelled must not leave a partial change.
        let snapshot = (session.file.clone(), session.recovery.clone());
        // Kept separately: errors of earlier requests must not make this one fail.
        let mut problems = Diagnostics::new();
        let adopting = self.adopt_without_rollback(&mut problems, session, request);
        let result = self.run_with_graceful_cancel(adopting).await;
        if result.is_err() {
            (session.file, session.recovery) = snapshot;
        }
        let _ = diags.append(problems);
        result
    }

    async fn adopt_without_rollback(
        &self,
        diags: &mut Diagnostics,
        session: &mut StateSession,
        request: AdoptRequest<'_>,
    ) -> Result<AdoptedOrDestroyed, Reported> {
        let config = self.inputs.config;
        let open = session.mark_decided(request.addr, "the user took the object into the state");
        let Some(operation) = open.last() else {
            return Err(diags.error(session.no_single_open_operation_error(request.addr)));
        };
        // If only the address is open, the journal has the object itself.
        let guessed =
            operation.guess_object_id().filter(|_| operation.doubt == OpenQuestion::Effect);
        let adopted_addr = match (&operation.doubt, request.id.or(guessed.as_deref())) {
            (OpenQuestion::Destination { object: None }, None) => {
                return Ok(AdoptedOrDestroyed::Destroyed(operation.addr.clone()));
            }
            (OpenQuestion::Destination { object: Some(object) }, None) => self
                .put_result_at_old_or_moved_addr(
                    diags,
                    &mut session.file.state,
                    operation,
                    object,
                )?,
            (_, Some(id)) => {
                let created = CreatedObject { operation, id, force: request.force };
                self.adopt_created_by_id(diags, session, created).await?
            }
            (OpenQuestion::Effect, None) => {
                let detail = format!(
                    "The id of the object at {} is not known. Add it after the address, in the form that `formwork import` accepts:\n  formwork recover adopt {} ID",
                    operation.addr,
                    shell_quoted(&operation.addr.to_string())
                );
                let problem = Diagnostic::error(messages::ID_OBJECT_IS_MISSING, detail);
                return Err(diags.error(problem));
            }
        };
        let adopted = AdoptedObject { operation, addr: &adopted_addr };
        warn_of_adopted_without_config(diags, config, &session.file.state, adopted);
        Ok(AdoptedOrDestroyed::InState(adopted_addr))
    }

    /// Adds a result to the state under its address. Returns that address.
    fn put_result_at_old_or_moved_addr(
        &self,
        diags: &mut Diagnostics,
        state: &mut State,
        operation: &UnresolvedOperation,
        object: &Arc<ObjectState>,
    ) -> Result<InstanceAddr, Reported> {
        let (addr, current_addr) = (&operation.addr, operation.current_addr());
        // The old address is tried first, because from there the object moves together with all
        // others. Only if it would not move is the object added at the new address immediately.
        let before = state.clone();
        put_object_at_operation_addr(diags, state, operation, object)?;
        if addr == current_addr || moved::is_moved_to(self.inputs.config, state, addr, current_addr)
        {
            return Ok(addr.clone());
        }
        *state = before;
        put_object_at_operation_addr(
            diags,
            state,
            &operation.clone().with_addr(current_addr.clone()),
            object,
        )?;
        Ok(current_addr.clone())
    }

    /// Finds the object that was created and adds it. Returns its address.
    async fn adopt_created_by_id(
        &self,
        diags: &mut Diagnostics,
        session: &mut StateSession,
        created: CreatedObject<'_>,
    ) -> Result<InstanceAddr, Reported> {
        let CreatedObject { operation, id, force } = created;
        let config = self.inputs.config;
        depose_current_if_planned(session, operation);
        refuse_if_other_object_at_addr(diags, &session.file.state, operation)?;
        // If the current address has another object, the created object is added under its old
        // address instead, and the next plan decides what to do with it.
        let is_free =
            !is_taken_now_or_after_moves(config, &session.file.state, operation.current_addr());
        let addr = if is_free { operation.current_addr() } else { &operation.addr };
        let (import_key, unwritten) = (ImportKey::Id(id.into()), Some(operation.provider.clone()));
        let adoption = AdoptionSource { import_key, all: false, unwritten };
        // The state without the object that was found, because the object must not be compared with
        // itself.
        let state_before = session.file.state.clone();
        self.import_without_storing_state(diags, session, addr, adoption).await?;
        let adopted = AdoptedObject { operation, addr };
        refuse_already_managed_object(diags, &state_before, &session.file.state, adopted)?;
        if !force {
            refuse_object_unlike_plan(diags, &session.file.state, adopted, id)?;
        }
        match is_free && return_to_unmoved_address(&mut session.file.state, config, operation) {
            true => Ok(operation.addr.clone()),
            false => Ok(addr.clone()),
        }
    }

    /// Queries the providers for the objects of open operations, and settles those that are found, as a
    /// plan does. If the configuration or a provider has errors, nothing is settled.
    ///
    /// ```
    /// use formwork_operation::prelude::*;
    ///
    /// async fn settle(
    ///     diags: &mut Diagnostics,
    ///     operation: &Operation<'_>,
    ///     session: &mut StateSession,
    /// ) -> Result<(), Reported> {
    ///     let searched = operation.search_and_settle_unresolved(diags, session).await;
    ///     match searched.has_decided {
    ///         true => session.write_state_or_errored_file(diags).await,
    ///         false => Ok(()),
    ///     }
    /// }
    /// ```
    pub async fn search_and_settle_unresolved(
        &self,
        diags: &mut Diagnostics,
        session: &mut StateSession,
    ) -> UnresolvedSearchOutcome {
        let mut search_diags = Diagnostics::new();
        let searching = self.plan_interrupted_creations(&mut search_diags, session);
        let Ok(plan) = self.run_with_graceful_cancel(searching).await else {
            return UnresolvedSearchOutcome::default();
        };
        let mut explanations: BTreeMap<InstanceAddr, String> = BTreeMap::new();
        for diagnostic in search_diags.into_iter().filter(|diagnostic| {
            diagnostic.is_about_message(messages::INTERRUPTED_OPERATION_COULD_NOT_BE_RESOLVED)
        }) {
            let addr = diagnostic.address.as_ref().and_then(|addr| addr.parse().ok());
            explanations.extend(addr.map(|addr| (addr, diagnostic.detail.to_string())));
        }
        let n_open = session.unresolved_needing_decision().count();
        let open: Vec<UnresolvedOperation> =
            session.unresolved_needing_decision().cloned().collect();
        for operation in &open {
            let current_addr = operation.current_addr();
            // An object that was moved in the configuration since then moves with the next apply,
            // together with all others.
            if operation.addr != *current_addr
                || plan.searches.get(current_addr) != Some(&InterruptedSearchResult::Found)
            {
                continue;
            }
            let resource = plan.prior.resources.get(&current_addr.resource_addr());
            if let Some((resource, object)) = resource.zip(plan.prior.current_object(current_addr))
            {
                let stored_resource = session
                    .file
                    .state
                    .resource_or_insert(current_addr.resource_addr(), &resource.provider);
                stored_resource.instances.or_default(&current_addr.key).current =
                    Some(object.clone());
            }
        }
        let is_moved = |addr: &InstanceAddr| {
            open.iter().any(|operation| operation.current_addr() == addr && operation.addr != *addr)
        };
        let mut applicable_plan = plan;
        applicable_plan.searches.retain(|addr, _| !is_moved(addr));
        session.settle_by_search_results(diags, &applicable_plan);
        let has_decided = session.unresolved_needing_decision().count() < n_open;
        UnresolvedSearchOutcome { explanations, has_decided }
    }

    /// Plans the objects that interrupted runs may have created.
    async fn plan_interrupted_creations(
        &self,
        diags: &mut Diagnostics,
        session: &StateSession,
    ) -> Result<Plan, Reported> {
        let interrupted_creations = session.interrupted_creations();
        let options = PlanOptions {
            // The other objects are irrelevant here, and reading them takes time.
            skip_refresh: true,
            targets: interrupted_creations.keys().cloned().map(Target::Instance).collect(),
            interrupted_creations,
            ..PlanOptions::default()
        };
        let inputs = PlanInputs {
            results: &Results::new(self.inputs.config),
            state: &session.file.state,
            options: &options,
            watch: &EngineEventForwarder(self.observer),
        };
        let plan = self.make_plan(diags, inputs).await?;
        diags.fail_if_errors().map(|()| plan)
    }
}

/// The object that an open operation created, to be found by its id.
#[derive(Clone, Copy)]
struct CreatedObject<'a> {
    operation: &'a UnresolvedOperation,
    id: &'a str,
    /// Whether the object may differ from the plan.
    force: bool,
}

/// An open operation, and the address under which its object was added.
#[derive(Clone, Copy)]
struct AdoptedObject<'a> {
    operation: &'a UnresolvedOperation,
    addr: &'a InstanceAddr,
}

/// Refuses an object that differs from the plan, because it may belong to another user.
fn refuse_object_unlike_plan(
    diags: &mut Diagnostics,
    state: &State,
    adopted: AdoptedObject<'_>,
    id: &str,
) -> Result<(), Reported> {
    let AdoptedObject { operation, addr } = adopted;
    let object = state.find_object(addr, None);
    let differences =
        object.map(|object| operation.differing_attributes(object)).unwrap_or_default();
    if differences.is_empty() {
        return Ok(());
    }
    let planned = operation.planned_attributes().into_iter();
    let planned = planned.filter(|(name, _)| differences.contains(name));
    let list: String = planned.map(|(name, value)| format!("\n  {name} = {value}")).collect();
    let (subject, argument) = match operation.has_sensitive_id() {
        false => (format!("The object with the id {id:?}"), format!(" {}", shell_word(id))),
        // The command takes the id from the answer in the journal.
        true if operation.guess_object_id().as_deref() == Some(id) => {
            ("The object in the answer".to_owned(), String::new())
        }
        true => ("The object with this id".to_owned(), " ID".to_owned()),
    };
    let detail = format!(
        "{subject} does not have these planned attributes of {}:{list}\n\nIt may be another object. If it is the right one:\n  formwork recover adopt -force {}{argument}",
        operation.addr,
        shell_quoted(&operation.addr.to_string())
    );
    Err(diags.error(Diagnostic::error(messages::OBJECT_DIFFERS_FROM_PLAN, detail)))
}

/// Warns about adopted objects that the next apply destroys.
fn warn_of_adopted_without_config(
    diags: &mut Diagnostics,
    config: &Config,
    state: &State,
    adopted: AdoptedObject<'_>,
) {
    let AdoptedObject { operation, addr } = adopted;
    let current_addr = operation.current_addr();
    let final_addr =
        if moved::is_moved_to(config, state, addr, current_addr) { current_addr } else { addr };
    if config.find_resource(&final_addr.resource_addr().config_addr()).is_some() {
        return;
    }
    let detail = format!(
        "No block in the configuration covers {addr}, so the next apply destroys the object. To keep it, add its block first."
    );
    diags.warn(
        Diagnostic::warning(messages::ADOPTED_OBJECT_HAS_NO_BLOCK, detail).about(addr.to_string()),
    );
}

/// Adds an adopted object under the address where the run was about to create it, if it moves from there
/// with all others. On its own at the new address it would keep the others from moving there. Returns
/// whether it moves.
fn return_to_unmoved_address(
    state: &mut State,
    config: &Config,
    operation: &UnresolvedOperation,
) -> bool {
    let (from, to) = (&operation.addr, operation.current_addr());
    // Between two resource types an object moves only with the provider's help, which a plan
    // requests.
    if from == to || from.resource.resource_type() != to.resource.resource_type() {
        return false;
    }
    let Some(object) = state.find_object(to, None).cloned() else { return false };
    // On a copy: an object that would not move stays where it was found.
    let mut state_before_move = state.clone();
    state_before_move.remove_object(to, None);
    let resource = state_before_move.resource_or_insert(from.resource_addr(), &operation.provider);
    resource.instances.or_default(&from.key).current = Some(object);
    let is_moved = moved::is_moved_to(config, &state_before_move, from, to);
    if is_moved {
        *state = state_before_move;
    }
    is_moved
}

/// Deposes the object that the new one was to replace.
fn depose_current_if_planned(session: &mut StateSession, operation: &UnresolvedOperation) {
    let Some(key) = &operation.deposes else { return };
    let Some(instance) = session.file.state.instance_mut(&operation.addr) else { return };
    // If that object was already deposed, the current object is another one.
    if instance.deposed.contains_key(key) {
        return;
    }
    if let Some(object) = instance.current.take() {
        instance.deposed.insert(key.clone(), object);
    }
}

/// Checks that the object that was found is not managed already, in particular as the object that the new one
/// was to replace: under two addresses it would be destroyed as one of them.
fn refuse_already_managed_object(
    diags: &mut Diagnostics,
    state_before: &State,
    state: &State,
    adopted: AdoptedObject<'_>,
) -> Result<(), Reported> {
    let AdoptedObject { operation, addr: adopted_addr } = adopted;
    let Some(object) = state.find_object(adopted_addr, None) else { return Ok(()) };
    // Objects of different types are never the same, even with equal ids.
    let resources_of_type = state_before
        .resources
        .iter()
        .filter(|(addr, _)| addr.resource.resource_type() == adopted_addr.resource.resource_type());
    let mut managed = resources_of_type.filter(|(_, resource)| {
        resource.all_objects().any(|candidate| object.is_same_real_object(candidate))
    });
    let Some((holder, _)) = managed.next() else { return Ok(()) };
    let detail = format!(
        "The object with this id already belongs to {holder}. If the interrupted run has created no other object for {}, run:\n  formwork recover forget {}",
        operation.addr,
        shell_quoted(&operation.addr.to_string())
    );
    Err(diags.error(Diagnostic::error(messages::OBJECT_IS_MANAGED_ALREADY, detail)))
}

/// Adds a result under an address, even if an object was added there since then, unless that is certainly
/// another object, which would be lost.
fn put_object_at_operation_addr(
    diags: &mut Diagnostics,
    state: &mut State,
    operation: &UnresolvedOperation,
    object: &Arc<ObjectState>,
) -> Result<(), Reported> {
    let addr = &operation.addr;
    let existing = state.find_object(addr, operation.deposed.as_ref()).cloned();
    let existing = existing.filter(|existing| !existing.is_same_real_object(object));
    // The object that it was to replace is present all the time, unless it is already deposed.
    let free_deposed_key =
        operation.deposes.as_ref().filter(|key| state.find_object(addr, Some(*key)).is_none());
    if free_deposed_key.is_none()
        && existing.as_ref().is_some_and(|existing| object.is_other_real_object(existing))
    {
        refuse_if_other_object_at_addr(diags, state, operation)?;
    }
    let resource = state.resource_or_insert(addr.resource_addr(), &operation.provider);
    let instance = resource.instances.or_default(&addr.key);
    match &operation.deposed {
        Some(key) => drop(instance.deposed.insert(key.clone(), object.clone())),
        None => instance.current = Some(object.clone()),
    }
    if let (Some(key), Some(existing)) = (free_deposed_key, existing) {
        instance.deposed.insert(key.clone(), existing);
    }
    Ok(())
}
