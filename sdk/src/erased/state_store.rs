//! State stores with their model types erased.

use async_trait::async_trait;
use formwork_value::Value;

use super::decode_input;
use crate::call::Call;
use crate::resource::Validate;
use crate::schema::Shape;
use crate::state_store::{
    ConfigureStore, DeleteState, ListStates, LockState, ReadState, StateStore, UnlockState,
    WriteState,
};
use crate::{Answer, Model, model};

/// A call about one state.
pub(crate) struct StateCall {
    /// The configuration of the store, with defaults.
    pub(crate) config: Value,
    /// The name of the state.
    pub(crate) state: String,
    pub(crate) call: Call,
}

/// A state store of any model.
#[async_trait]
pub(crate) trait AnyStateStore: Send + Sync {
    fn shape(&self) -> &Shape;
    fn validate(&self, config: &Value, call: Call) -> Answer<()>;
    async fn configure(&self, config: &Value, call: Call) -> Answer<()>;
    async fn read(&self, state_call: StateCall) -> Answer<Option<Vec<u8>>>;
    async fn write(&self, state_call: StateCall, bytes: Vec<u8>, lock_id: String) -> Answer<()>;
    async fn lock(&self, state_call: StateCall, operation: String) -> Answer<String>;
    async fn unlock(&self, state_call: StateCall, lock_id: String) -> Answer<()>;
    async fn list(&self, config: &Value, call: Call) -> Answer<Vec<String>>;
    async fn delete(&self, state_call: StateCall) -> Answer<()>;
}

/// A state store of one model.
pub(crate) struct TypedStateStore<S> {
    store: S,
    shape: Shape,
}

impl<S: StateStore> TypedStateStore<S> {
    pub(crate) fn new(store: S) -> Self {
        Self { store, shape: S::Model::shape() }
    }

    fn decode_config(&self, config: &Value) -> Answer<<S::Model as Model>::Input> {
        // A state store has no plan, so its configuration is used instead.
        decode_input::<S::Model>(&self.shape, config, config)
    }
}

#[async_trait]
impl<S: StateStore> AnyStateStore for TypedStateStore<S> {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn validate(&self, config: &Value, call: Call) -> Answer<()> {
        self.store.validate(Validate { config: model::struct_from_object(config)?, call })
    }

    async fn configure(&self, config: &Value, call: Call) -> Answer<()> {
        self.store.configure(ConfigureStore { config: self.decode_config(config)?, call }).await
    }

    async fn read(&self, state_call: StateCall) -> Answer<Option<Vec<u8>>> {
        let StateCall { config, state, call } = state_call;
        self.store.read(ReadState { config: self.decode_config(&config)?, state, call }).await
    }

    async fn write(&self, state_call: StateCall, bytes: Vec<u8>, lock_id: String) -> Answer<()> {
        let StateCall { config, state, call } = state_call;
        let config = self.decode_config(&config)?;
        self.store.write(WriteState { config, state, bytes, lock_id, call }).await
    }

    async fn lock(&self, state_call: StateCall, operation: String) -> Answer<String> {
        let StateCall { config, state, call } = state_call;
        let config = self.decode_config(&config)?;
        self.store.lock(LockState { config, state, operation, call }).await
    }

    async fn unlock(&self, state_call: StateCall, lock_id: String) -> Answer<()> {
        let StateCall { config, state, call } = state_call;
        let config = self.decode_config(&config)?;
        self.store.unlock(UnlockState { config, state, lock_id, call }).await
    }

    async fn list(&self, config: &Value, call: Call) -> Answer<Vec<String>> {
        self.store.list(ListStates { config: self.decode_config(config)?, call }).await
    }

    async fn delete(&self, state_call: StateCall) -> Answer<()> {
        let StateCall { config, state, call } = state_call;
        self.store.delete(DeleteState { config: self.decode_config(&config)?, state, call }).await
    }
}
