//! Stores the journals of runs as objects in the bucket next to a state.

use super::bucket::{ABSENT_GENERATION, Bucket, ObjectUse, PutOutcome};
use super::client::GcsClient;
use crate::cause::Cause;
use crate::journals::{CreateOutcome, ListedObject, ObjectStore};

/// The journal objects of a state. They are encrypted like the state.
pub(super) struct GcsObjects {
    pub(super) bucket: Bucket,
    pub(super) state: GcsClient,
}

#[async_trait::async_trait]
impl ObjectStore for GcsObjects {
    fn location(&self, prefix: &str) -> String {
        format!("gs://{}/{prefix}", self.bucket.name)
    }

    async fn list_objects(&self, prefix: &str) -> Result<Result<Vec<ListedObject>, String>, Cause> {
        let listed = self.bucket.list_with_dirs(prefix).await?;
        // The lock shows whether a run is active.
        let object = |name| ListedObject { name, age: None };
        let objects = listed.map(|names| names.into_iter().map(object).collect());
        Ok(objects.map_err(|cause| {
            format!("Other machines cannot find a journal in the bucket, because its objects cannot be listed: {cause}")
        }))
    }

    async fn read_object(&self, name: &str) -> Result<Option<Vec<u8>>, Cause> {
        let object = self.bucket.get(name, ObjectUse::State).await?;
        Ok(object.map(|object| object.content))
    }

    async fn create_object(&self, name: &str, content: &[u8]) -> Result<CreateOutcome, Cause> {
        let content = content.to_vec();
        let put = self.bucket.put(name, content, ObjectUse::State, Some(ABSENT_GENERATION));
        Ok(match put.await? {
            PutOutcome::Stored(_) => CreateOutcome::Created,
            PutOutcome::Refused => CreateOutcome::Exists,
            PutOutcome::Denied(cause) => CreateOutcome::Refused(cause),
        })
    }

    async fn remove_object(&self, name: &str) -> Result<(), Cause> {
        self.bucket.delete(name, None).await.map(drop)
    }

    async fn is_locked(&self) -> Result<bool, Cause> {
        self.state.is_locked().await
    }
}
