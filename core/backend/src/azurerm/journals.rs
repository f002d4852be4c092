//! Stores the journals of runs as blobs in the container next to a state.

use super::container::Container;
use crate::cause::Cause;
use crate::journals::{CreateOutcome, ListedObject, ObjectStore};

/// The journal blobs of a state.
pub(super) struct AzureObjects {
    pub(super) container: Container,
    /// The blob name of the state.
    pub(super) blob: String,
}

#[async_trait::async_trait]
impl ObjectStore for AzureObjects {
    fn location(&self, prefix: &str) -> String {
        self.container.location(prefix)
    }

    async fn list_objects(&self, prefix: &str) -> Result<Result<Vec<ListedObject>, String>, Cause> {
        let listed = self.container.list_if_permitted(prefix).await?;
        // The lock shows whether a run is active.
        let object = |name| ListedObject { name, age: None };
        let objects = listed.map(|names| names.into_iter().map(object).collect());
        Ok(objects.map_err(|cause| {
            format!("Other machines cannot find a journal in the container, because its blobs cannot be listed: {cause}")
        }))
    }

    async fn read_object(&self, name: &str) -> Result<Option<Vec<u8>>, Cause> {
        Ok(self.container.get(name).await?.map(|blob| blob.content))
    }

    async fn create_object(&self, name: &str, content: &[u8]) -> Result<CreateOutcome, Cause> {
        self.container.create(name, content.to_vec()).await
    }

    async fn remove_object(&self, name: &str) -> Result<(), Cause> {
        self.container.delete(name).await
    }

    async fn is_locked(&self) -> Result<bool, Cause> {
        let state = self.container.blob_properties(&self.blob).await?;
        Ok(state.is_some_and(|state| state.is_leased))
    }
}
