//! Calls of state stores. A state arrives complete before a handler sees it, and a write without the
//! lock of this process reaches no handler.

use std::collections::BTreeMap;

use formwork_plugin_protocol::contract::{Violation, check_lock_id, check_state_ids};
use formwork_plugin_protocol::message::configure::ValidateRequest;
use formwork_plugin_protocol::message::state_store::{ConfigureStoreRequest, StateChunk, StateRef};
use formwork_plugin_protocol::provider::StreamedResponse;
use formwork_plugin_protocol::state_chunks::{
    MAX_CHUNK_SIZE, PROPOSED_CHUNK_SIZE, StateAssembly, split_into_chunks,
};
use formwork_value::Value;
use futures_util::{StreamExt as _, stream};

use super::{Server, decode_and_check, unsupported_type_problem};
use crate::call::Call;
use crate::context::lock_ignoring_poison;
use crate::erased::{AnyStateStore, StateCall};
use crate::{Answer, Problem, plan};

/// The state stores that were configured, and the locks that this process has taken.
#[derive(Default)]
pub(super) struct ConfiguredStoresAndLocks {
    stores: BTreeMap<String, ConfiguredStore>,
    /// Lock ids by the type of the store and the name of the state.
    locks: BTreeMap<(String, String), String>,
}

/// A configured state store.
#[derive(Clone)]
struct ConfiguredStore {
    config: Value,
    chunk_size: usize,
}

fn lock_key(state: &StateRef) -> (String, String) {
    (state.type_name.clone(), state.state_id.clone())
}

impl Server {
    fn find_state_store(&self, name: &str) -> Answer<&dyn AnyStateStore> {
        match self.provider.state_stores.get(name) {
            Some(store) => Ok(&**store),
            None => Err(unsupported_type_problem("state store", name)),
        }
    }

    /// A store with its configuration.
    fn configured_store(&self, name: &str) -> Answer<(&dyn AnyStateStore, ConfiguredStore)> {
        let store = self.find_state_store(name)?;
        match lock_ignoring_poison(&self.stores).stores.get(name) {
            Some(configured) => Ok((store, configured.clone())),
            None => {
                let detail = format!("The host has not configured the state store {name:?}.");
                Err(Problem::new("State store not configured", detail))
            }
        }
    }

    /// A store, with a call about one of its states.
    fn store_and_state_call(
        &self,
        call: &Call,
        state: &StateRef,
    ) -> Answer<(&dyn AnyStateStore, StateCall)> {
        let (store, ConfiguredStore { config, .. }) = self.configured_store(&state.type_name)?;
        Ok((store, StateCall { config, state: state.state_id.clone(), call: call.clone() }))
    }

    pub(super) fn handle_validate_store(
        &self,
        call: &Call,
        request: &ValidateRequest,
    ) -> Answer<()> {
        let store = self.find_state_store(&request.type_name)?;
        let config = decode_and_check::decode_and_check_config(
            call,
            store.shape(),
            &request.config,
            request.client,
        )?;
        store.validate(&config, call.clone())
    }

    /// Configures a store, and returns the size of chunks.
    pub(super) async fn handle_configure_store(
        &self,
        call: &Call,
        request: &ConfigureStoreRequest,
    ) -> Answer<i64> {
        let name = &request.type_name;
        let store = self.find_state_store(name)?;
        let config = decode_and_check::decode_value(store.shape(), &request.config)?;
        let config = plan::config_with_defaults(store.shape(), &config).into_owned();
        // A store that cannot be configured is not the old one any more.
        lock_ignoring_poison(&self.stores).stores.remove(name);
        call.run_unless_stopped(store.configure(&config, call.clone())).await?;
        // Any size is fine, since states are in memory. A host without a preference proposes 0.
        let chosen = match request.chunk_size {
            ..=0 => PROPOSED_CHUNK_SIZE,
            size => size.min(MAX_CHUNK_SIZE),
        };
        let chunk_size = usize::try_from(chosen)?;
        lock_ignoring_poison(&self.stores)
            .stores
            .insert(name.clone(), ConfiguredStore { config, chunk_size });
        Ok(chosen)
    }

    /// The chunks of a state. Errors are in the first one.
    pub(super) async fn handle_read_state(
        &self,
        call: &Call,
        state: &StateRef,
    ) -> StreamedResponse<StateChunk> {
        let read = async {
            let (store, state_call) = self.store_and_state_call(call, state)?;
            let (_, ConfiguredStore { chunk_size, .. }) =
                self.configured_store(&state.type_name)?;
            let bytes = call.run_unless_stopped(store.read(state_call)).await?.unwrap_or_default();
            Ok(split_into_chunks(&bytes.into(), chunk_size))
        };
        let (chunks, diagnostics) = call.collect_answer(read).await;
        let mut chunks = chunks.unwrap_or_else(|| split_into_chunks(&Default::default(), 1));
        if let Some(first) = chunks.first_mut() {
            first.diagnostics = diagnostics;
        }
        stream::iter(chunks.into_iter().map(Ok)).boxed()
    }

    pub(super) async fn handle_write_state(
        &self,
        call: &Call,
        state: &StateRef,
        chunks: Vec<StateChunk>,
    ) -> Answer<()> {
        let (store, state_call) = self.store_and_state_call(call, state)?;
        let mut assembly = StateAssembly::default();
        let assembled = chunks.iter().try_for_each(|chunk| assembly.push(chunk));
        let assembled = assembled.and_then(|()| assembly.finish());
        let bytes = assembled.map_err(|problem| {
            let detail = format!(
                "The host sent the state {:?} in chunks that do not fit together: {problem}. The stored state was not changed.",
                state.state_id
            );
            Problem::new("Incomplete state", detail)
        })?;
        let lock_id = lock_ignoring_poison(&self.stores).locks.get(&lock_key(state)).cloned();
        let lock_id = lock_id.ok_or_else(|| {
            let detail = format!(
                "The state {:?} cannot be written without its lock, and this process does not hold it. Run the command without -lock=false.",
                state.state_id
            );
            Problem::new("State not locked", detail)
        })?;
        // Not interrupted by a stop: the host needs the result of the write.
        store.write(state_call, bytes, lock_id).await
    }

    pub(super) async fn handle_lock_state(
        &self,
        call: &Call,
        state: &StateRef,
        operation: String,
    ) -> Answer<String> {
        let (store, state_call) = self.store_and_state_call(call, state)?;
        // Not interrupted by a stop: a lock that was acquired would stay.
        let id = store.lock(state_call, operation).await?;
        check_lock_id(&id).map_err(|broken| broken_rule_problem("Lock without ID", &broken))?;
        lock_ignoring_poison(&self.stores).locks.insert(lock_key(state), id.clone());
        Ok(id)
    }

    pub(super) async fn handle_unlock_state(
        &self,
        call: &Call,
        state: &StateRef,
        lock_id: String,
    ) -> Answer<()> {
        let (store, state_call) = self.store_and_state_call(call, state)?;
        store.unlock(state_call, lock_id.clone()).await?;
        let mut stores = lock_ignoring_poison(&self.stores);
        // A lock of another process may have been released, while this one holds its own.
        if stores.locks.get(&lock_key(state)) == Some(&lock_id) {
            stores.locks.remove(&lock_key(state));
        }
        Ok(())
    }

    pub(super) async fn handle_list_states(&self, call: &Call, name: &str) -> Answer<Vec<String>> {
        let (store, ConfiguredStore { config, .. }) = self.configured_store(name)?;
        let mut names = call.run_unless_stopped(store.list(&config, call.clone())).await?;
        names.sort();
        names.dedup();
        check_state_ids(&names)
            .map_err(|broken| broken_rule_problem("State without ID", &broken))?;
        Ok(names)
    }

    pub(super) async fn handle_delete_state(&self, call: &Call, state: &StateRef) -> Answer<()> {
        let (store, state_call) = self.store_and_state_call(call, state)?;
        store.delete(state_call).await
    }
}

/// The error of a state store that breaks a rule of the contract.
fn broken_rule_problem(summary: &str, broken: &Violation) -> Problem {
    let detail = format!(
        "The state store breaks the contract: {broken} (rule {}). This is a bug in the provider.",
        broken.rule
    );
    Problem::new(summary, detail)
}

#[cfg(test)]
mod tests;
