//! The backend `inmem`: states in the memory of this process, for tests. They end with it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use formwork_value::Type;
use formwork_value::schema::Block;

use crate::cause::Cause;
use crate::kind::{Arguments, BackendKind, ConfigError, optional_attributes};
use crate::lock::LockInfo;
use crate::remote::{ForceUnlockOutcome, Locking, PutError, RemoteClient};
use crate::remote_backend::RemoteBackend;
use crate::store::LockEnd;
use crate::{Backend, DEFAULT_WORKSPACE};

/// The states and locks of all backends of this process, by workspace.
static STATES: LazyLock<Mutex<BTreeMap<String, Slot>>> = LazyLock::new(Mutex::default);

/// The state of one workspace.
#[derive(Debug, Default)]
struct Slot {
    text: Option<Vec<u8>>,
    lock: Option<LockInfo>,
}

/// Works with the states. No panic can happen in between, so a poisoned lock means nothing.
fn with<T>(work: impl FnOnce(&mut BTreeMap<String, Slot>) -> T) -> T {
    work(&mut STATES.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The type of the backend.
pub(crate) struct InMemoryKind;

impl BackendKind for InMemoryKind {
    fn name(&self) -> &'static str {
        "inmem"
    }

    fn schema(&self) -> Block {
        optional_attributes(&[("lock_id", Type::String)])
    }

    fn configure(&self, arguments: &Arguments<'_>) -> Result<Arc<dyn Backend>, ConfigError> {
        if let Some(id) = arguments.text("lock_id") {
            // As in Terraform, tests begin with a locked state this way.
            let info = LockInfo { id, ..LockInfo::new("test", String::new()) };
            with(|states| {
                states.entry(DEFAULT_WORKSPACE.to_owned()).or_default().lock = Some(info);
            });
        }
        Ok(Arc::new(InMemory { root: arguments.root().to_owned() }))
    }
}

/// A backend in memory.
struct InMemory {
    root: PathBuf,
}

#[async_trait::async_trait]
impl RemoteBackend for InMemory {
    type Client = Memory;

    const KIND: &'static str = "inmem";

    fn config_dir(&self) -> &Path {
        &self.root
    }

    fn remote_client(&self, workspace: &str) -> Self::Client {
        Memory { workspace: workspace.to_owned() }
    }

    fn journal_id(&self, _workspace: &str) -> String {
        "inmem".to_owned()
    }

    async fn others(&self) -> Result<Vec<String>, Cause> {
        let names = with(|states| states.keys().cloned().collect::<Vec<_>>());
        Ok(names.into_iter().filter(|name| name != DEFAULT_WORKSPACE).collect())
    }

    async fn delete_state(&self, workspace: &str) -> Result<(), Cause> {
        with(|states| states.remove(workspace));
        Ok(())
    }
}

/// The state of a workspace in memory.
struct Memory {
    workspace: String,
}

impl Memory {
    fn slot<T>(&self, work: impl FnOnce(&mut Slot) -> T) -> T {
        with(|states| work(states.entry(self.workspace.clone()).or_default()))
    }
}

#[async_trait::async_trait]
impl RemoteClient for Memory {
    fn location(&self) -> String {
        format!("{} in memory", self.workspace)
    }

    fn lock_end(&self) -> LockEnd {
        LockEnd::WithProcess
    }

    async fn get(&mut self) -> Result<Option<Vec<u8>>, Cause> {
        Ok(self.slot(|slot| slot.text.clone()))
    }

    async fn put(&mut self, text: Vec<u8>) -> Result<(), PutError> {
        self.slot(|slot| slot.text = Some(text));
        Ok(())
    }

    async fn lock(&mut self, info: &LockInfo) -> Result<Locking, Cause> {
        Ok(self.slot(|slot| match &slot.lock {
            Some(holder) => Locking::Held(Some(Box::new(holder.clone()))),
            None => {
                slot.lock = Some(info.clone());
                Locking::Taken
            }
        }))
    }

    async fn unlock(&mut self, id: &str) -> Result<(), Cause> {
        // Only its own: the lock may have been broken, and taken by another store since.
        self.slot(|slot| slot.lock.take_if(|holder| holder.id == id));
        Ok(())
    }

    async fn break_lock(&mut self, id: &str) -> Result<ForceUnlockOutcome, Cause> {
        Ok(self.slot(|slot| match slot.lock.take_if(|holder| holder.id == id) {
            Some(_) => ForceUnlockOutcome::Released,
            None => ForceUnlockOutcome::OtherLock(slot.lock.clone().map(Box::new)),
        }))
    }
}
