//! State stores, called as by a host.

use formwork_plugin_protocol::Payload;
use formwork_plugin_protocol::ProviderExt as _;
use formwork_plugin_protocol::contract::{check_chunk_size, check_lock_id, check_state_ids};
use formwork_plugin_protocol::message::configure::ValidateRequest;
use formwork_plugin_protocol::message::state_store::{ConfigureStoreRequest, StateRef};
use formwork_plugin_protocol::state_chunks::{
    MAX_CHUNK_SIZE, PROPOSED_CHUNK_SIZE, StateAssembly, split_into_chunks,
};
use formwork_value::Value;
use futures_util::StreamExt as _;

use super::check_answers::contract_refusal;
use super::{CLIENT_CAPABILITIES, Refusal, check_no_errors, complete_config, provider_schema};
use crate::ProviderDef;
use crate::server::Server;

/// A state store of a provider, configured and called as by a host.
///
/// See [`StateStore`](crate::StateStore) for an example.
pub struct StateStoreUnderTest {
    server: Server,
    type_name: String,
    chunk_size: usize,
}

impl StateStoreUnderTest {
    /// Configures the state store of type `type_name`. Omitted attributes are null.
    ///
    /// # Errors
    /// When the provider has no such state store, or returns an error.
    pub async fn new<'n>(
        provider: ProviderDef,
        type_name: &str,
        config: impl IntoIterator<Item = (&'n str, Value)>,
    ) -> Result<Self, Refusal> {
        let server = Server::new(provider);
        let Some(schema) = provider_schema(&server).await?.state_stores.remove(type_name) else {
            return Err(Refusal(format!("there is no state store {type_name}")));
        };
        let config = complete_config(&schema.block, config)?;
        let config = Payload::Value(config, schema.block.implied_type());
        let type_name = type_name.to_owned();
        let validate = ValidateRequest {
            type_name: type_name.clone(),
            config: config.clone(),
            client: CLIENT_CAPABILITIES,
        };
        check_no_errors(&server.validate_store_config(validate).await?.diagnostics)?;
        let chunk_size = PROPOSED_CHUNK_SIZE;
        let request = ConfigureStoreRequest { type_name: type_name.clone(), config, chunk_size };
        let answer = server.configure_store(request).await?;
        check_no_errors(&answer.diagnostics)?;
        check_chunk_size(answer.chunk_size, MAX_CHUNK_SIZE)
            .map_err(|broken| contract_refusal("configure", &[broken]))?;
        let chunk_size = usize::try_from(answer.chunk_size)
            .map_err(|_| Refusal(format!("chunks of {} bytes", answer.chunk_size)))?;
        Ok(Self { server, type_name, chunk_size })
    }

    fn state_ref(&self, state: &str) -> StateRef {
        StateRef { type_name: self.type_name.clone(), state_id: state.to_owned() }
    }

    /// Locks a state, and returns the id of the lock.
    ///
    /// # Errors
    /// When the provider returns an error.
    pub async fn lock(&self, state: &str, operation: &str) -> Result<String, Refusal> {
        let answer = self.server.lock_state(self.state_ref(state), operation.to_owned()).await?;
        check_no_errors(&answer.diagnostics)?;
        check_lock_id(&answer.lock_id).map_err(|broken| contract_refusal("lock", &[broken]))?;
        Ok(answer.lock_id)
    }

    /// Releases a lock.
    ///
    /// # Errors
    /// When the provider returns an error.
    pub async fn unlock(&self, state: &str, lock_id: &str) -> Result<(), Refusal> {
        let answer = self.server.unlock_state(self.state_ref(state), lock_id.to_owned()).await?;
        check_no_errors(&answer.diagnostics)
    }

    /// Writes a state.
    ///
    /// # Errors
    /// When the provider returns an error.
    pub async fn write(&self, state: &str, bytes: &[u8]) -> Result<(), Refusal> {
        let chunks = split_into_chunks(&bytes.to_vec().into(), self.chunk_size);
        check_no_errors(
            &self.server.write_state_bytes(self.state_ref(state), chunks).await?.diagnostics,
        )
    }

    /// Reads a state; `None` if there is none.
    ///
    /// # Errors
    /// When the provider returns an error.
    pub async fn read(&self, state: &str) -> Result<Option<Vec<u8>>, Refusal> {
        let mut chunks = self.server.read_state_bytes(self.state_ref(state)).await?;
        let mut assembly = StateAssembly::default();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk?;
            check_no_errors(&chunk.diagnostics)?;
            assembly.push(&chunk).map_err(Refusal)?;
        }
        let bytes = assembly.finish().map_err(Refusal)?;
        // A host takes a state without bytes for none.
        Ok(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }

    /// Lists the names of the states.
    ///
    /// # Errors
    /// When the provider returns an error.
    pub async fn list(&self) -> Result<Vec<String>, Refusal> {
        let answer = self.server.list_states(self.type_name.clone()).await?;
        check_no_errors(&answer.diagnostics)?;
        check_state_ids(&answer.state_ids).map_err(|broken| contract_refusal("list", &[broken]))?;
        Ok(answer.state_ids)
    }

    /// Deletes a state.
    ///
    /// # Errors
    /// When the provider returns an error.
    pub async fn delete(&self, state: &str) -> Result<(), Refusal> {
        check_no_errors(&self.server.delete_state(self.state_ref(state)).await?.diagnostics)
    }
}
