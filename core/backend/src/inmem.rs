//! The backend `inmem`: states and intents in the memory of this process, for tests. They are lost
//! when the process ends.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use formwork_core::state::intent_log::{IntentLog, MemoryIntentLog};
use formwork_value::Type;
use formwork_value::schema::Block;

use crate::arguments::{BackendArguments, optional_attributes_block};
use crate::cause::Cause;
use crate::client_backend::ClientBackend;
use crate::config_error::ConfigError;
use crate::kind::{BackendKind, BackendSummary};
use crate::lock::LockInfo;
use crate::remote::{ForceUnlockOutcome, LockOutcome, PutError, RemoteClient, RemoteStore};
use crate::store::LockEnd;
use crate::{Backend, DEFAULT_WORKSPACE, OpenState};

/// The states of all backends of this process, by workspace.
static STATES: LazyLock<Mutex<BTreeMap<String, MemoryState>>> = LazyLock::new(Mutex::default);

/// A state in memory, with its lock and the intents of its runs: for tests, and for programs without a disk.
/// Clones are the same state.
///
/// ```
/// use formwork_backend::MemoryState;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let state = MemoryState::default();
/// let mut store = state.open().store;
/// let lock = store.try_lock("apply").await.unwrap();
/// assert!(state.open().store.try_lock("apply").await.is_err());
/// store.unlock(lock).await.unwrap();
/// assert!(store.read().await.unwrap().is_none());
/// # }
/// ```
#[derive(Clone, Default)]
pub struct MemoryState {
    slot: Arc<Mutex<StateSlot>>,
    intents: MemoryIntentLog,
}

/// The state file, and the holder of its lock.
#[derive(Debug, Default)]
struct StateSlot {
    text: Option<Vec<u8>>,
    lock: Option<LockInfo>,
}

impl MemoryState {
    /// Opens the state and the intents.
    #[must_use]
    pub fn open(&self) -> OpenState {
        let client =
            InMemoryClient { workspace: DEFAULT_WORKSPACE.to_owned(), state: self.clone() };
        OpenState {
            store: Box::new(RemoteStore::new(client)),
            intents: Arc::new(self.intents.clone()),
        }
    }

    fn with_slot<T>(&self, work: impl FnOnce(&mut StateSlot) -> T) -> T {
        // No panic can happen in between, so a poisoned lock means nothing.
        work(&mut self.slot.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Works with the states of this process.
fn with_states<T>(work: impl FnOnce(&mut BTreeMap<String, MemoryState>) -> T) -> T {
    work(&mut STATES.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The state of a workspace.
fn state_of_workspace(workspace: &str) -> MemoryState {
    with_states(|states| states.entry(workspace.to_owned()).or_default().clone())
}

/// The type of the backend.
pub(crate) struct InMemoryBackendKind;

impl BackendKind for InMemoryBackendKind {
    fn name(&self) -> &'static str {
        "inmem"
    }

    fn summary(&self) -> BackendSummary {
        BackendSummary { has_workspaces: true, lock: "in memory", release: "with the process" }
    }

    fn keeps_journals_on_one_machine(&self) -> bool {
        false
    }

    fn schema(&self) -> Block {
        optional_attributes_block(&[("lock_id", Type::String)])
    }

    fn configure(&self, arguments: &BackendArguments<'_>) -> Result<Arc<dyn Backend>, ConfigError> {
        if let Some(id) = arguments.string("lock_id") {
            // As in Terraform, this lets tests begin with a locked state.
            let info = LockInfo { id, ..LockInfo::new("test", String::new()) };
            state_of_workspace(DEFAULT_WORKSPACE).with_slot(|slot| slot.lock = Some(info));
        }
        Ok(Arc::new(InMemoryBackend { root: arguments.working_directory().to_owned() }))
    }
}

/// A backend in memory.
struct InMemoryBackend {
    root: PathBuf,
}

#[async_trait::async_trait]
impl ClientBackend for InMemoryBackend {
    type Client = InMemoryClient;

    const KIND: &'static str = "inmem";

    fn config_dir(&self) -> &Path {
        &self.root
    }

    fn remote_client(&self, workspace: &str) -> Self::Client {
        InMemoryClient { workspace: workspace.to_owned(), state: state_of_workspace(workspace) }
    }

    fn intent_log_of(&self, workspace: &str) -> Arc<dyn IntentLog> {
        // A journal on a disk would outlive the state that it continues.
        Arc::new(state_of_workspace(workspace).intents)
    }

    async fn other_workspaces(&self) -> Result<Vec<String>, Cause> {
        // One without a state was only asked for.
        Ok(with_states(|states| {
            let stored = states.iter().filter(|(name, state)| {
                *name != DEFAULT_WORKSPACE && state.with_slot(|slot| slot.text.is_some())
            });
            stored.map(|(name, _)| name.clone()).collect()
        }))
    }

    async fn delete_state(&self, workspace: &str) -> Result<(), Cause> {
        with_states(|states| {
            let Some(state) = states.get_mut(workspace) else { return Ok(()) };
            state.with_slot(|slot| match &slot.lock {
                Some(holder) => {
                    let holder = holder.describe_holder();
                    Err(Cause::from(format!("the state is locked by another process: {holder}")))
                }
                None => {
                    slot.text = None;
                    Ok(())
                }
            })?;
            // Stores that are open stay stores of this workspace, so the slot stays. The intents belong to the state
            // that was deleted.
            state.intents = MemoryIntentLog::default();
            Ok(())
        })
    }
}

/// The client of a state in memory.
struct InMemoryClient {
    workspace: String,
    state: MemoryState,
}

#[async_trait::async_trait]
impl RemoteClient for InMemoryClient {
    fn location(&self) -> String {
        format!("{} in memory", self.workspace)
    }

    fn stale_lock_end(&self) -> LockEnd {
        LockEnd::WithProcess
    }

    async fn get(&mut self) -> Result<Option<Vec<u8>>, Cause> {
        Ok(self.state.with_slot(|slot| slot.text.clone()))
    }

    async fn put(&mut self, text: Vec<u8>) -> Result<(), PutError> {
        self.state.with_slot(|slot| slot.text = Some(text));
        Ok(())
    }

    async fn lock(&mut self, info: &LockInfo) -> Result<LockOutcome, Cause> {
        Ok(self.state.with_slot(|slot| match &slot.lock {
            Some(holder) => LockOutcome::Held(Some(Box::new(holder.clone()))),
            None => {
                slot.lock = Some(info.clone());
                LockOutcome::Taken
            }
        }))
    }

    async fn unlock(&mut self, id: &str) -> Result<(), Cause> {
        // Only its own: the lock may have been broken, and taken by another store since.
        self.state.with_slot(|slot| slot.lock.take_if(|holder| holder.id == id));
        Ok(())
    }

    async fn break_lock(&mut self, id: &str) -> Result<ForceUnlockOutcome, Cause> {
        Ok(self.state.with_slot(|slot| match slot.lock.take_if(|holder| holder.id == id) {
            Some(_) => ForceUnlockOutcome::Released,
            None => ForceUnlockOutcome::OtherLock(slot.lock.clone().map(Box::new)),
        }))
    }
}

#[cfg(test)]
mod tests {
    use formwork_core::state::file::StateFile;
    use formwork_core::state::intent_log::StateAccess;
    use formwork_core::state::journal::RunHeader;
    use formwork_value::{Str, Value};

    use super::*;
    use crate::WorkspaceError;
    use crate::arguments::BackendEnvironment;

    fn backend_in_dir(root: &Path) -> Arc<dyn Backend> {
        let none: [(Str, Value); 0] = [];
        let values = InMemoryBackendKind.schema().coerce(&Value::object(none)).unwrap();
        let environment =
            BackendEnvironment { root: root.to_owned(), ..BackendEnvironment::default() };
        let arguments = BackendArguments { values: &values, environment: &environment };
        InMemoryBackendKind.configure(&arguments).unwrap()
    }

    #[tokio::test]
    async fn a_state_is_deleted_for_the_stores_that_are_open_unless_one_holds_its_lock() {
        let backend = backend_in_dir(Path::new("unused"));
        backend.create_workspace("shared").await.unwrap();
        let mut store = backend.open_store("shared").await.unwrap();
        assert!(store.read().await.unwrap().is_some());
        let lock = store.try_lock("apply").await.unwrap();
        let refused = backend.delete_workspace("shared").await.unwrap_err();
        let WorkspaceError::Store(error) = &refused else { panic!("{refused:?}") };
        assert!(error.to_string().contains("locked by another process"), "{error}");
        assert!(store.read().await.unwrap().is_some());
        store.unlock(lock).await.unwrap();

        backend.delete_workspace("shared").await.unwrap();
        assert!(store.read().await.unwrap().is_none());
        // What it writes from now on is in the workspace.
        let lock = store.try_lock("apply").await.unwrap();
        backend.open_store("shared").await.unwrap().try_lock("apply").await.unwrap_err();
        store.write(&mut StateFile::new_empty()).await.unwrap();
        store.unlock(lock).await.unwrap();
        let mut other = backend.open_store("shared").await.unwrap();
        assert!(other.read().await.unwrap().is_some());
    }

    #[tokio::test]
    async fn an_interrupted_run_is_taken_over_from_memory_without_files() {
        let directory = tempfile::tempdir().unwrap();
        let backend = backend_in_dir(directory.path());
        let base = StateFile::new_empty();
        let begin = RunHeader { operation: "OperationTypeApply", base: &base, read_from: None };
        drop(backend.intent_log("cut-off").begin_run(begin).await.unwrap());
        assert_eq!(directory.path().read_dir().unwrap().count(), 0);

        let later = backend_in_dir(directory.path());
        assert!(!later.intent_log("other").has_unfinished_run().await);
        let intents = later.intent_log("cut-off");
        let recovery = intents.recover_runs(None, StateAccess::Locked).await.unwrap();
        assert_eq!(recovery.runs.len(), 1);
        intents.finish_recovery(&recovery).await.unwrap();
        assert!(!later.intent_log("cut-off").has_unfinished_run().await);
        // The intents of a workspace do not create it.
        assert!(!later.workspaces().await.unwrap().contains(&"cut-off".to_owned()));
    }
}
