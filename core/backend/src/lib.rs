//! Backends that store states: for each workspace, a store that can be locked, read and written.
//! This crate does not depend on configurations. Local journals are in the engine's `state::intent_log`;
//! `journals` stores shared copies of them.

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

/// A backend: the location of the states of all workspaces of one configuration.
///
/// ```
/// use formwork_backend::Backend as _;
/// use formwork_backend::local::{LocalBackend, Workspaces};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let directory = tempfile::tempdir().unwrap();
/// let backend = LocalBackend { workspaces: Workspaces::from_paths(directory.path(), None, None) };
/// backend.create_workspace("test").await.unwrap();
/// assert_eq!(backend.workspaces().await.unwrap(), ["default", "test"]);
/// # }
/// ```
#[async_trait::async_trait]
pub trait Backend: Send + Sync {
    /// The type of the backend, as in the `backend` block.
    fn kind(&self) -> &str;

    /// Lists the workspaces: the default one, then the others by name.
    ///
    /// # Errors
    /// Returns an error if the backend cannot be read, or supports no workspaces.
    async fn workspaces(&self) -> Result<Vec<String>, WorkspaceError>;

    /// Creates a workspace. The name must be valid.
    ///
    /// # Errors
    /// Returns an error if the workspace exists, or if the backend cannot be written to.
    async fn create_workspace(&self, name: &str) -> Result<(), WorkspaceError>;

    /// Deletes a workspace with its state, even if the state has objects.
    ///
    /// # Errors
    /// Returns an error if the workspace does not exist or is the default one, or if the backend
    /// cannot be written to.
    async fn delete_workspace(&self, name: &str) -> Result<(), WorkspaceError>;

    /// Opens the state of a workspace, without reading it. The name must be valid.
    ///
    /// # Errors
    /// Returns an error if the backend does not respond, or has no such workspace.
    async fn open_store(&self, workspace: &str) -> Result<Box<dyn StateStore>, StoreError>;

    /// The location of a workspace's state, for messages. Contains no secrets.
    fn location(&self, workspace: &str) -> String;

    /// A string that is equal for two backends of one type only if the state of the workspace is in
    /// the same location. It may contain secrets.
    fn identity(&self, workspace: &str) -> String {
        self.location(workspace)
    }

    /// Returns the intents of the runs that use the state of a workspace.
    fn intent_log(&self, workspace: &str) -> Arc<dyn IntentLog>;

    /// Whether this backend stores copies of journals, although others of its type may not. Sends a
    /// request.
    async fn shares_journals(&self) -> bool {
        false
    }
}

/// Returns the workspaces of a backend that stores a state for each: the default one first, then the
/// others.
fn with_default_workspace(
    other_workspaces: impl IntoIterator<Item = impl Into<String>>,
) -> Vec<String> {
    let mut names: Vec<String> = other_workspaces.into_iter().map(Into::into).collect();
    names.sort();
    names.insert(0, DEFAULT_WORKSPACE.to_owned());
    names
}

/// Checks that a workspace with this name does not exist yet.
fn check_new_workspace(names: &[String], name: &str) -> Result<(), WorkspaceError> {
    match names.iter().any(|workspace| workspace == name) {
        true => Err(WorkspaceError::Exists(name.to_owned())),
        false => Ok(()),
    }
}

/// Checks that a workspace exists and is not the default one.
fn check_removable_workspace(names: &[String], name: &str) -> Result<(), WorkspaceError> {
    match name {
        DEFAULT_WORKSPACE => Err(WorkspaceError::Default),
        _ if names.iter().any(|workspace| workspace == name) => Ok(()),
        _ => Err(WorkspaceError::Missing(name.to_owned())),
    }
}

/// Returns the intents of runs on a state that is stored elsewhere. They are in a directory next to
/// the configuration that is named after the state's location, so that they are not used for another
/// location.
fn remote_state_intent_log(root: &Path, location: &str, workspace: &str) -> Arc<dyn IntentLog> {
    Arc::new(local_intent_log(root, location, workspace))
}

fn local_intent_log(root: &Path, location: &str, workspace: &str) -> LocalIntentLog {
    LocalIntentLog::in_dir(journal_directory_of_remote_state(root, location, workspace))
}

/// Returns the directory of the intents of runs on a state that is stored elsewhere.
fn journal_directory_of_remote_state(root: &Path, location: &str, workspace: &str) -> PathBuf {
    // A location may contain secrets, and characters that are not allowed in file names.
    let hash = Sha256::digest(format!("{location}\n{workspace}"));
    let name = hex::encode(&hash[..8]);
    root.join(format!(".state-{name}.journal"))
}

/// The state of a workspace, with the location of the intents of its runs.
///
/// ```
/// use formwork_backend::local::{LocalBackend, Workspaces};
/// use formwork_backend::{DEFAULT_WORKSPACE, OpenState};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let directory = tempfile::tempdir().unwrap();
/// let backend = LocalBackend { workspaces: Workspaces::from_paths(directory.path(), None, None) };
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
    /// Applies a cipher to the state and the journals of its runs.
    pub fn set_cipher(&mut self, cipher: StateCipher) {
        // Sealing requires the only handle to the intents, so a placeholder temporarily replaces
        // them.
        let unencrypted =
            std::mem::replace(&mut self.intents, Arc::new(MemoryIntentLog::default()));
        self.intents = encrypt_intent_log(unencrypted, &cipher);
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

/// The reason why a workspace cannot be created, found or deleted.
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
    /// A workspace with that name exists.
    #[error("Workspace {0:?} already exists")]
    Exists(String),
    /// No workspace has that name.
    #[error("Workspace {0:?} doesn't exist")]
    Missing(String),
    /// The default workspace, which always exists.
    #[error("cannot delete default state")]
    Default,
    /// The backend supports one state only.
    #[error("workspaces not supported")]
    Unsupported,
    /// The backend failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspaces_have_unique_names_and_the_default_one_is_kept() {
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
