//! State stores: storage of whole states, one for each workspace. This file has the trait that an
//! author implements. Protocol 6 has state stores, protocol 5 does not.

use std::future::{Future, ready};

use crate::call::Call;
use crate::model::NoneWriteOnly;
use crate::resource::Validate;
use crate::resource::calls::deref_to_call;
use crate::{Answer, Input, Model};

/// A state store. A state is a sequence of bytes with a name, which is that of a workspace. Other
/// hosts may write to the same storage concurrently, so locks and writes are checked in the storage
/// and not in this process.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::sync::Mutex;
///
/// use formwork_sdk::prelude::*;
/// use formwork_sdk::testing::{StateStoreUnderTest, wait};
///
/// /// States in memory, and the ids of their locks.
/// #[derive(Default)]
/// struct Memory {
///     states: Mutex<BTreeMap<String, Vec<u8>>>,
///     locks: Mutex<BTreeMap<String, String>>,
/// }
///
/// impl StateStore for Memory {
///     type Model = ();
///
///     async fn read(&self, call: ReadState<()>) -> Answer<Option<Vec<u8>>> {
///         Ok(self.states.lock().unwrap().get(&call.state).cloned())
///     }
///
///     async fn write(&self, call: WriteState<()>) -> Answer<()> {
///         if self.locks.lock().unwrap().get(&call.state) != Some(&call.lock_id) {
///             return Err(Problem::new("State not locked", "The lock was released."));
///         }
///         self.states.lock().unwrap().insert(call.state, call.bytes);
///         Ok(())
///     }
///
///     async fn lock(&self, call: LockState<()>) -> Answer<String> {
///         let mut locks = self.locks.lock().unwrap();
///         if let Some(id) = locks.get(&call.state) {
///             return Err(Problem::new("State is locked", format!("The lock has the id {id}.")));
///         }
///         let id = format!("lock for {}", call.operation);
///         locks.insert(call.state, id.clone());
///         Ok(id)
///     }
///
///     async fn unlock(&self, call: UnlockState<()>) -> Answer<()> {
///         let mut locks = self.locks.lock().unwrap();
///         if locks.get(&call.state) != Some(&call.lock_id) {
///             return Err(Problem::new("State not locked", "It has no lock with this id."));
///         }
///         locks.remove(&call.state);
///         Ok(())
///     }
///
///     async fn list(&self, _: ListStates<()>) -> Answer<Vec<String>> {
///         Ok(self.states.lock().unwrap().keys().cloned().collect())
///     }
///
///     async fn delete(&self, call: DeleteState<()>) -> Answer<()> {
///         self.states.lock().unwrap().remove(&call.state);
///         Ok(())
///     }
/// }
///
/// let provider = ProviderDef::new("registry.terraform.io/acme/memory")
///     .state_store("memory_states", Memory::default());
/// wait(async {
///     let states = StateStoreUnderTest::new(provider, "memory_states", []).await?;
///     let id = states.lock("default", "apply").await?;
///     states.write("default", b"content").await?;
///     assert_eq!(states.read("default").await?, Some(b"content".to_vec()));
///     states.unlock("default", &id).await
/// })
/// .unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state store",
    note = "write `impl StateStore for {Self}`"
)]
pub trait StateStore: Send + Sync + 'static {
    /// Arguments of the configuration. They have no computed attributes.
    type Model: Model<WriteOnly = NoneWriteOnly>;

    /// Validates the configuration beyond the schema.
    ///
    /// # Errors
    /// When the configuration is invalid. `call.report(…)` reports it too, and continues.
    fn validate(&self, _call: Validate<Self::Model>) -> Answer<()> {
        Ok(())
    }

    /// Receives the configuration. Every other call has it, too.
    ///
    /// # Errors
    /// When the storage cannot be used.
    fn configure(
        &self,
        _call: ConfigureStore<Self::Model>,
    ) -> impl Future<Output = Answer<()>> + Send {
        ready(Ok(()))
    }

    /// Reads a state; `None` if it does not exist.
    ///
    /// # Errors
    /// When the storage does not answer.
    fn read(
        &self,
        call: ReadState<Self::Model>,
    ) -> impl Future<Output = Answer<Option<Vec<u8>>>> + Send;

    /// Replaces a state. A crash at any time leaves the old state or the new one. Called only while
    /// this process holds the lock, but another process may have released it since.
    ///
    /// # Errors
    /// When the lock in the storage is not `call.lock_id`, or the state cannot be written.
    fn write(&self, call: WriteState<Self::Model>) -> impl Future<Output = Answer<()>> + Send;

    /// Locks a state, without waiting, and returns a new id of the lock. A state that does not
    /// exist can be locked, too.
    ///
    /// # Errors
    /// When the lock is held. The detail names the holder and the id of the lock.
    fn lock(&self, call: LockState<Self::Model>) -> impl Future<Output = Answer<String>> + Send;

    /// Releases a lock, even one of another process.
    ///
    /// # Errors
    /// When the state is not locked under this id.
    fn unlock(&self, call: UnlockState<Self::Model>) -> impl Future<Output = Answer<()>> + Send;

    /// Lists the names of all states.
    ///
    /// # Errors
    /// When the storage does not answer.
    fn list(
        &self,
        call: ListStates<Self::Model>,
    ) -> impl Future<Output = Answer<Vec<String>>> + Send;

    /// Deletes a state. A state that does not exist counts as deleted.
    ///
    /// # Errors
    /// When the state still exists.
    fn delete(&self, call: DeleteState<Self::Model>) -> impl Future<Output = Answer<()>> + Send;
}

/// A request to configure a state store.
///
/// ```
/// use formwork_sdk::prelude::*;
///
/// /// A directory of states.
/// #[derive(Model)]
/// struct Directory {
///     /// The path of the directory.
///     #[attr(required)]
///     path: String,
/// }
///
/// /// Refuses a directory that does not exist.
/// fn check_dir(call: &ConfigureStore<Directory>) -> Answer<()> {
///     match std::path::Path::new(&call.config.path).is_dir() {
///         true => Ok(()),
///         false => Err(Problem::new("No such directory", "Create the directory first.").at("path")),
///     }
/// }
/// ```
#[non_exhaustive]
pub struct ConfigureStore<M: Model> {
    /// The configuration, with defaults.
    pub config: Input<M>,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

/// A request to read a state.
///
/// See [`StateStore`] for an example.
#[non_exhaustive]
pub struct ReadState<M: Model> {
    /// The configuration, with defaults.
    pub config: Input<M>,
    /// The name of the state.
    pub state: String,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

/// A request to replace a state.
///
/// See [`StateStore`] for an example.
#[non_exhaustive]
pub struct WriteState<M: Model> {
    /// The configuration, with defaults.
    pub config: Input<M>,
    /// The name of the state.
    pub state: String,
    /// The whole state. It arrived complete.
    pub bytes: Vec<u8>,
    /// The id of the lock that this process has taken.
    pub lock_id: String,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

/// A request to lock a state.
///
/// See [`StateStore`] for an example.
#[non_exhaustive]
pub struct LockState<M: Model> {
    /// The configuration, with defaults.
    pub config: Input<M>,
    /// The name of the state.
    pub state: String,
    /// The operation of the host, for the message to others.
    pub operation: String,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

/// A request to release a lock.
///
/// See [`StateStore`] for an example.
#[non_exhaustive]
pub struct UnlockState<M: Model> {
    /// The configuration, with defaults.
    pub config: Input<M>,
    /// The name of the state.
    pub state: String,
    /// The id of the lock.
    pub lock_id: String,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

/// A request to list the states.
///
/// See [`StateStore`] for an example.
#[non_exhaustive]
pub struct ListStates<M: Model> {
    /// The configuration, with defaults.
    pub config: Input<M>,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

/// A request to delete a state.
///
/// See [`StateStore`] for an example.
#[non_exhaustive]
pub struct DeleteState<M: Model> {
    /// The configuration, with defaults.
    pub config: Input<M>,
    /// The name of the state.
    pub state: String,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

deref_to_call!(ConfigureStore ReadState WriteState LockState UnlockState ListStates DeleteState);
