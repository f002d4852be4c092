//! Stores the journals of runs as objects in the bucket next to a state.

use super::bucket::{Bucket, PutOutcome, WriteCondition};
use super::client::S3Client;
use crate::cause::Cause;
use crate::journals::{CreateOutcome, ListedObject, ObjectStore};

/// The journal objects of a state.
pub(super) struct S3Objects {
    pub(super) bucket: Bucket,
    pub(super) state: S3Client,
}

#[async_trait::async_trait]
impl ObjectStore for S3Objects {
    fn location(&self, prefix: &str) -> String {
        format!("s3://{}/{prefix}", self.bucket.name)
    }

    async fn list_objects(&self, prefix: &str) -> Result<Result<Vec<ListedObject>, String>, Cause> {
        let objects = self.bucket.list(prefix).await?;
        Ok(objects.ok_or_else(|| {
            format!(
                "The credentials lack the permission to list the objects of the bucket {:?} (s3:ListBucket), without which other machines cannot find a journal there",
                self.bucket.name
            )
        }))
    }

    async fn read_object(&self, name: &str) -> Result<Option<Vec<u8>>, Cause> {
        Ok(self.bucket.get(name).await?.map(|object| object.content))
    }

    async fn create_object(&self, name: &str, content: &[u8]) -> Result<CreateOutcome, Cause> {
        let outcome = self.bucket.put(name, content.to_vec(), &WriteCondition::Absent).await?;
        Ok(match outcome {
            PutOutcome::Stored(_) => CreateOutcome::Created,
            PutOutcome::Refused => CreateOutcome::Exists,
            PutOutcome::Conflict(cause) => CreateOutcome::Conflict(cause),
            PutOutcome::Unsupported(cause) | PutOutcome::Denied(cause) => {
                CreateOutcome::Refused(cause)
            }
        })
    }

    async fn remove_object(&self, name: &str) -> Result<(), Cause> {
        self.bucket.delete(name).await
    }

    fn has_lock(&self) -> bool {
        self.state.has_lock()
    }

    async fn is_locked(&self) -> Result<bool, Cause> {
        self.state.is_locked().await
    }
}
