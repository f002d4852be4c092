//! Backends with a remote client for the state of each workspace, which is stored as an object,
//! blob, key or secret. Each backend's file implements the service and its names.

use std::path::Path;
use std::sync::Arc;

use formwork_core::state::intent_log::IntentLog;

use crate::cause::Cause;
use crate::remote::{RemoteClient, RemoteStore, create_empty_state};
use crate::store::{StateStore, StoreError, StoreOperation};
use crate::wait_report::wait_with_report;
use crate::{
    Backend, DEFAULT_WORKSPACE, WorkspaceError, check_new_workspace, check_removable_workspace,
    remote_state_intent_log, with_default_workspace,
};

/// Joins parts to the name of an object like Terraform: without empty segments, `.` and `..`.
#[cfg(any(feature = "gcs", feature = "s3"))]
pub(crate) fn normalize_object_name(path: &str) -> String {
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." if steps.last().is_some_and(|last| *last != "..") => drop(steps.pop()),
            step => steps.push(step),
        }
    }
    steps.join("/")
}

/// A backend whose states are accessed through remote clients.
#[async_trait::async_trait]
pub(crate) trait ClientBackend: Send + Sync {
    /// The remote client of one state.
    type Client: RemoteClient + 'static;

    /// The type of the backend, as in the `backend` block.
    const KIND: &'static str;

    /// The configuration directory. Journals are stored in it.
    fn config_dir(&self) -> &Path;

    /// Returns the remote client of a workspace's state.
    fn remote_client(&self, workspace: &str) -> Self::Client;

    /// The location of all states, for messages. Contains no secrets.
    fn backend_location(&self) -> String {
        self.remote_client(DEFAULT_WORKSPACE).location()
    }

    /// The string from which the name of a workspace's journals is derived. Different
    /// configurations must have different strings.
    fn journal_id(&self, _workspace: &str) -> String {
        self.backend_location()
    }

    /// Returns the journals of the runs that use the state of a workspace. They are on this machine,
    /// unless the service stores them, too.
    fn intent_log_of(&self, workspace: &str) -> Arc<dyn IntentLog> {
        remote_state_intent_log(self.config_dir(), &self.journal_id(workspace), workspace)
    }

    /// Checks that the service allows the name of a workspace.
    ///
    /// # Errors
    /// Returns an error if the name is not allowed.
    fn check_workspace_name(&self, _workspace: &str) -> Result<(), Cause> {
        Ok(())
    }

    /// Lists the workspaces other than the default one, in any order.
    ///
    /// # Errors
    /// Returns an error if the service cannot be reached, or refuses the request.
    async fn other_workspaces(&self) -> Result<Vec<String>, Cause>;

    /// Deletes the state of a workspace.
    ///
    /// # Errors
    /// Returns an error if the service cannot be reached, or refuses the request.
    async fn delete_state(&self, workspace: &str) -> Result<(), Cause>;
}

fn store_error(
    backend: &impl ClientBackend,
    operation: StoreOperation,
) -> impl Fn(Cause) -> StoreError {
    let location = backend.backend_location();
    move |cause| StoreError::failed(operation, location.clone(), cause)
}

#[async_trait::async_trait]
impl<P: ClientBackend> Backend for P {
    fn kind(&self) -> &str {
        P::KIND
    }

    async fn workspaces(&self) -> Result<Vec<String>, WorkspaceError> {
        let listing = wait_with_report(
            self.backend_location(),
            StoreOperation::List,
            self.other_workspaces(),
        );
        Ok(with_default_workspace(listing.await.map_err(store_error(self, StoreOperation::List))?))
    }

    async fn create_workspace(&self, name: &str) -> Result<(), WorkspaceError> {
        check_new_workspace(&self.workspaces().await?, name)?;
        let creation = wait_with_report(
            self.backend_location(),
            StoreOperation::Create,
            create_empty_state(self.remote_client(name)),
        );
        Ok(creation.await.map_err(store_error(self, StoreOperation::Create))?)
    }

    async fn delete_workspace(&self, name: &str) -> Result<(), WorkspaceError> {
        check_removable_workspace(&self.workspaces().await?, name)?;
        let removal = wait_with_report(
            self.backend_location(),
            StoreOperation::Delete,
            self.delete_state(name),
        );
        Ok(removal.await.map_err(store_error(self, StoreOperation::Delete))?)
    }

    async fn open_store(&self, workspace: &str) -> Result<Box<dyn StateStore>, StoreError> {
        self.check_workspace_name(workspace).map_err(store_error(self, StoreOperation::Open))?;
        Ok(Box::new(RemoteStore::new(self.remote_client(workspace))))
    }

    fn location(&self, workspace: &str) -> String {
        self.remote_client(workspace).location()
    }

    fn intent_log(&self, workspace: &str) -> Arc<dyn IntentLog> {
        self.intent_log_of(workspace)
    }
}

#[cfg(test)]
mod tests {
    use formwork_value::{Str, Value};

    use super::*;
    use crate::arguments::{BackendArguments, BackendEnvironment};
    use crate::kinds::find_backend_kind;

    /// The in-memory backend. Its states belong to the process, so each test has its own workspaces.
    fn inmem_backend() -> Arc<dyn Backend> {
        let kind = find_backend_kind("inmem").expect("there is one");
        let none: [(Str, Value); 0] = [];
        let values = kind.schema().coerce(&Value::object(none)).expect("nothing is required");
        let environment =
            BackendEnvironment { root: "unused".into(), ..BackendEnvironment::default() };
        kind.configure(&BackendArguments { values: &values, environment: &environment })
            .expect("it has no arguments to check")
    }

    #[tokio::test]
    async fn a_new_workspace_has_an_empty_state_and_a_unique_name() {
        let backend = inmem_backend();
        backend.create_workspace("made").await.unwrap();
        let names = backend.workspaces().await.unwrap();
        assert_eq!(names.first().map(String::as_str), Some(DEFAULT_WORKSPACE));
        assert!(names.contains(&"made".to_owned()), "{names:?}");
        let mut store = backend.open_store("made").await.unwrap();
        let state = store.read().await.unwrap().expect("an empty state is there");
        assert_eq!((state.serial, state.state.resources.len()), (1, 0));
        for taken in ["made", DEFAULT_WORKSPACE] {
            let error = backend.create_workspace(taken).await.unwrap_err();
            assert!(matches!(error, WorkspaceError::Exists(name) if name == taken));
        }
    }

    #[tokio::test]
    async fn only_a_workspace_that_exists_and_is_not_the_default_one_is_removed() {
        let backend = inmem_backend();
        backend.create_workspace("removed").await.unwrap();
        backend.delete_workspace("removed").await.unwrap();
        assert!(!backend.workspaces().await.unwrap().contains(&"removed".to_owned()));
        let missing = backend.delete_workspace("removed").await.unwrap_err();
        assert!(matches!(missing, WorkspaceError::Missing(name) if name == "removed"));
        let default = backend.delete_workspace(DEFAULT_WORKSPACE).await.unwrap_err();
        assert!(matches!(default, WorkspaceError::Default));
    }

    #[test]
    fn names_of_objects_are_those_of_terraform() {
        for (path, expected) in [
            ("a/b", "a/b"),
            ("a//b/", "a/b"),
            ("./a/./b", "a/b"),
            ("a/../b", "b"),
            ("../a/../../b", "../../b"),
            ("a/..", ""),
            ("/a b/\u{e4}", "a b/\u{e4}"),
        ] {
            assert_eq!(normalize_object_name(path), expected, "{path}");
        }
    }
}
