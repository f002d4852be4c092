//! The backends that keep states: for each workspace a store that is locked, read and written. Knows
//! nothing of configurations, and keeps no journals: those are in the engine's `state::intent_log`.

mod arguments;
#[cfg(feature = "aws")]
mod aws;
#[cfg(feature = "azurerm")]
mod azurerm;
mod cause;
pub mod claims;
mod client_backend;
#[cfg(feature = "gzip")]
mod compression;
mod config_error;
#[cfg(feature = "consul")]
mod consul;
#[cfg(feature = "credential-program")]
mod credential_program;
pub mod encrypted_backend;
pub mod encryption;
#[cfg(any(test, fuzzing))]
pub mod fuzz_targets;
#[cfg(feature = "gcp")]
mod gcp;
#[cfg(feature = "gcs")]
mod gcs;
pub mod history;
#[cfg(feature = "http")]
mod http;
mod inmem;
#[cfg(feature = "shared-journals")]
mod journals;
pub mod kind;
pub mod kinds;
mod known_state;
#[cfg(feature = "kubernetes")]
mod kubernetes;
mod left_out_part;
pub mod local;
pub mod lock;
pub mod messages;
#[cfg(feature = "pg")]
mod pg;
pub mod provider_store;
mod provider_store_error;
mod remote;
pub mod remote_state;
#[cfg(feature = "retry")]
mod retry;
#[cfg(feature = "s3")]
mod s3;
#[cfg(test)]
mod scripted_server;
#[cfg(feature = "request-signing")]
mod signing;
pub mod store;
#[cfg(feature = "tls")]
pub mod tls;
pub mod unsupported;
mod wait_report;
#[cfg(feature = "http-client")]
mod web;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::encryption::{StateCipher, encrypt_intent_log};
use formwork_core::state::intent_log::{IntentLog, LocalIntentLog, MemoryIntentLog};
use formwork_value::codec::hex;
use sha2::{Digest as _, Sha256};

pub use self::inmem::MemoryState;
pub use self::lock::{LockInfo, LockRequest, StateLock};
pub use self::store::{StateStore, StoreError, WriteOutcome};
pub use self::wait_report::{WaitReporter, set_wait_reporter};

/// The name of the workspace that always exists.
pub const DEFAULT_WORKSPACE: &str = "default";

/// A place for the states of all workspaces of one configuration.
///
/// ```
/// use formwork_backend::Backend as _;
/// use formwork_backend::local::{LocalBackend, Workspaces};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let folder = tempfile::tempdir().unwrap();
/// let backend = LocalBackend { places: Workspaces::from_paths(folder.path(), None, None) };
/// backend.create_workspace("test").await.unwrap();
/// assert_eq!(backend.workspaces().await.unwrap(), ["default", "test"]);
/// # }
/// ```
#[async_trait::async_trait]
pub trait Backend: Send + Sync {
    /// The type of the backend, as the `backend` block names it.
    fn kind(&self) -> &str;

    /// Lists the workspaces: the default one, then the others by name.
    ///
    /// # Errors
    /// When the place cannot be read, or has no workspaces.
    async fn workspaces(&self) -> Result<Vec<String>, WorkspaceError>;

    /// Makes a workspace. The name must be one.
    ///
    /// # Errors
    /// When it exists, or the place cannot be written to.
    async fn create_workspace(&self, name: &str) -> Result<(), WorkspaceError>;

    /// Removes a workspace with its state, also one with objects.
    ///
    /// # Errors
    /// When it does not exist, is the default one, or the place cannot be written to.
    async fn delete_workspace(&self, name: &str) -> Result<(), WorkspaceError>;

    /// Opens the state of a workspace, without reading it. The name must be one.
    ///
    /// # Errors
    /// When the place does not answer, or has no such workspace.
    async fn open_store(&self, workspace: &str) -> Result<Box<dyn StateStore>, StoreError>;

    /// The place of the state of a workspace, as messages name it. Holds no secrets.
    fn location(&self, workspace: &str) -> String;

    /// A text that is the same for two backends of one type only if the state of the workspace is in
    /// the same place. May hold secrets.
    fn identity(&self, workspace: &str) -> String {
        self.location(workspace)
    }

    /// The intents of the runs that work with the state of a workspace.
    fn intent_log(&self, workspace: &str) -> Arc<dyn IntentLog>;

    /// Whether the place keeps copies of journals although others of its type may not. Asks the place.
    async fn shares_journals(&self) -> bool {
        false
    }
}

/// The workspaces of a backend that stores a state for each: the default one first, then the others.
fn with_default_workspace(others: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
    let mut names: Vec<String> = others.into_iter().map(Into::into).collect();
    names.sort();
    names.insert(0, DEFAULT_WORKSPACE.to_owned());
    names
}

/// Checks that a new workspace has a name of its own.
fn check_new_workspace(names: &[String], name: &str) -> Result<(), WorkspaceError> {
    match names.iter().any(|other| other == name) {
        true => Err(WorkspaceError::Exists(name.to_owned())),
        false => Ok(()),
    }
}

/// Checks that a workspace exists and is not the default one.
fn check_removable_workspace(names: &[String], name: &str) -> Result<(), WorkspaceError> {
    match name {
        DEFAULT_WORKSPACE => Err(WorkspaceError::Default),
        _ if names.iter().any(|other| other == name) => Ok(()),
        _ => Err(WorkspaceError::Missing(name.to_owned())),
    }
}

/// The intents of runs that work with a state elsewhere: in a folder beside the configuration, named
/// after the place of the state, so that another place does not find them.
fn remote_state_intent_log(root: &Path, place: &str, workspace: &str) -> Arc<dyn IntentLog> {
    Arc::new(local_intent_log(root, place, workspace))
}

fn local_intent_log(root: &Path, place: &str, workspace: &str) -> LocalIntentLog {
    LocalIntentLog::in_dir(journal_folder_of_remote_state(root, place, workspace))
}

/// The folder of the intents of runs that work with a state elsewhere.
fn journal_folder_of_remote_state(root: &Path, place: &str, workspace: &str) -> PathBuf {
    // A place may have secrets in it, and characters that no file name can have.
    let sum = Sha256::digest(format!("{place}\n{workspace}"));
    let name = hex::encode(&sum[..8]);
    root.join(format!(".state-{name}.journal"))
}

/// The state of a workspace, with the place of the intents of its runs.
///
/// ```
/// use formwork_backend::local::{LocalBackend, Workspaces};
/// use formwork_backend::{DEFAULT_WORKSPACE, OpenState};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let folder = tempfile::tempdir().unwrap();
/// let backend = LocalBackend { places: Workspaces::from_paths(folder.path(), None, None) };
/// let mut state = OpenState::open(&backend, DEFAULT_WORKSPACE).await.unwrap();
/// assert!(state.store.read().await.unwrap().is_none());
/// # }
/// ```
pub struct OpenState {
    /// The store of the state.
    pub store: Box<dyn StateStore>,
    /// The intents.
    pub intents: Arc<dyn IntentLog>,
}

impl OpenState {
    /// Has the state and the journals of its runs pass through a cipher.
    pub fn set_cipher(&mut self, cipher: StateCipher) {
        // Sealing needs the only handle on the intents, so a placeholder takes their place
        // meanwhile.
        let own = std::mem::replace(&mut self.intents, Arc::new(MemoryIntentLog::default()));
        self.intents = encrypt_intent_log(own, &cipher);
        self.store.set_cipher(cipher);
    }

    /// Opens the state of a workspace in a backend.
    ///
    /// # Errors
    /// As [`Backend::open_store`].
    pub async fn open(backend: &dyn Backend, workspace: &str) -> Result<Self, StoreError> {
        let store = backend.open_store(workspace).await?;
        Ok(Self { store, intents: backend.intent_log(workspace) })
    }
}

/// Why a workspace cannot be made, found or removed.
///
/// ```
/// use std::path::Path;
///
/// use formwork_backend::WorkspaceError;
/// use formwork_backend::local::Workspaces;
///
/// let workspaces = Workspaces::from_paths(Path::new("work"), None, None);
/// let error = workspaces.delete("default").unwrap_err();
/// assert!(matches!(error, WorkspaceError::Default));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// There is one of that name.
    #[error("Workspace {0:?} already exists")]
    Exists(String),
    /// There is none of that name.
    #[error("Workspace {0:?} doesn't exist")]
    Missing(String),
    /// It is the one that is always there.
    #[error("cannot delete default state")]
    Default,
    /// The backend keeps one state only.
    #[error("workspaces not supported")]
    Unsupported,
    /// The place failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspaces_have_names_of_their_own_and_the_default_one_stays() {
        let names = with_default_workspace(["b", "a"]);
        assert_eq!(names, [DEFAULT_WORKSPACE, "a", "b"]);
        assert!(matches!(check_new_workspace(&names, "a"), Err(WorkspaceError::Exists(_))));
        assert!(check_new_workspace(&names, "c").is_ok());
        assert!(check_removable_workspace(&names, "a").is_ok());
        let missing = check_removable_workspace(&names, "c");
        assert!(matches!(missing, Err(WorkspaceError::Missing(_))));
        let default = check_removable_workspace(&names, DEFAULT_WORKSPACE);
        assert!(matches!(default, Err(WorkspaceError::Default)));
    }
}
