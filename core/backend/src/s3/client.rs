//! The state of one workspace in a bucket. It is read with a verification of its checksum, written
//! only over the version that was read, and locked by an object next to it, by an item in a table, or
//! by both.

use std::time::Duration;

use formwork_value::codec::hex;
use md5::{Digest as _, Md5};
use tokio::time::Instant;

use super::bucket::{Bucket, PutOutcome, WriteCondition};
use super::dynamodb_table::DynamoDbTable;
use crate::cause::Cause;
use crate::lock::LockInfo;
use crate::remote::{ForceUnlockOutcome, LockOutcome, PutError, RemoteClient};
use crate::store::LockEnd;
use formwork_core::disk::parse_json_object;

/// Maximum time to wait for a bucket to return the content that the table refers to, and the pause
/// between two attempts.
const MAX_CONSISTENCY_WAIT: Duration = Duration::from_secs(10);
const CONSISTENCY_PAUSE: Duration = Duration::from_secs(2);

/// The client of one workspace's state.
pub(super) struct S3Client {
    bucket: Bucket,
    key: String,
    use_lockfile: bool,
    table: Option<DynamoDbTable>,
    /// The version that was last read or written.
    known: WriteCondition,
}

impl S3Client {
    /// Creates the client. Sends no request yet.
    pub(super) fn new(
        bucket: Bucket,
        key: String,
        use_lockfile: bool,
        table: Option<DynamoDbTable>,
    ) -> Self {
        Self { bucket, key, use_lockfile, table, known: WriteCondition::Any }
    }

    fn lock_key(&self) -> String {
        format!("{}.tflock", self.key)
    }

    /// The name of the state in the table, and in the information about locks.
    fn state_location(&self) -> String {
        format!("{}/{}", self.bucket.name, self.key)
    }

    /// Deletes the state with its checksum.
    pub(super) async fn delete_state(&self) -> Result<(), Cause> {
        self.bucket.delete(&self.key).await?;
        match &self.table {
            Some(table) => table.remove_state_checksum(&self.state_location()).await,
            None => Ok(()),
        }
    }

    /// Deletes the lock object with an ID. The inner error is the existing lock with another ID.
    async fn remove_lock_object(&self, id: &str) -> Result<Result<(), Option<LockInfo>>, Cause> {
        match self.lock_object_holder().await? {
            Some(holder) if holder.id == id => self.bucket.delete(&self.lock_key()).await.map(Ok),
            holder => Ok(Err(holder)),
        }
    }

    /// Deletes the table item with an ID. The inner error is the existing lock with another ID.
    async fn remove_lock_entry(
        &self,
        table: &DynamoDbTable,
        id: &str,
    ) -> Result<Result<(), Option<LockInfo>>, Cause> {
        match table.lock_holder(&self.state_location()).await? {
            Some(holder) if holder.id == id => table.unlock(&self.state_location()).await.map(Ok),
            holder => Ok(Err(holder)),
        }
    }

    async fn lock_object_holder(&self) -> Result<Option<LockInfo>, Cause> {
        let object = self.bucket.get(&self.lock_key()).await?;
        let holder = object.map(|object| parse_json_object(&object.content));
        holder.transpose().map_err(|error| {
            format!("the lock {}/{} cannot be read: {error}", self.bucket.name, self.lock_key())
                .into()
        })
    }

    /// Whether runs exclude each other.
    pub(super) fn has_lock(&self) -> bool {
        self.use_lockfile || self.table.is_some()
    }

    /// Whether a process holds the lock.
    pub(super) async fn is_locked(&self) -> Result<bool, Cause> {
        Ok(self.lock_holder().await?.is_some())
    }

    /// The holder of one of the locks.
    async fn lock_holder(&self) -> Result<Option<LockInfo>, Cause> {
        if self.use_lockfile
            && let Some(holder) = self.lock_object_holder().await?
        {
            return Ok(Some(holder));
        }
        match &self.table {
            Some(table) => table.lock_holder(&self.state_location()).await,
            None => Ok(None),
        }
    }

    async fn create_lock_object(&self, info: &LockInfo) -> Result<LockOutcome, Cause> {
        let text = serde_json::to_vec(info)?;
        match self.bucket.put(&self.lock_key(), text, &WriteCondition::Absent).await? {
            PutOutcome::Stored(_) => Ok(LockOutcome::Taken),
            PutOutcome::Unsupported(cause) => Err(format!(
                "{cause}; use_lockfile requires conditional writes, which this server does not support"
            )
            .into()),
            PutOutcome::Denied(cause) => Err(cause),
            // Another process may be acquiring the lock, so that a later attempt may find its holder.
            PutOutcome::Conflict(cause) => Ok(LockOutcome::Refused(cause)),
            PutOutcome::Refused => {
                Ok(outcome_of_conflicting_lock(info, self.lock_object_holder().await?))
            }
        }
    }

    async fn insert_lock_entry(
        &self,
        table: &DynamoDbTable,
        info: &LockInfo,
    ) -> Result<LockOutcome, Cause> {
        if table.lock(&self.state_location(), info).await? {
            return Ok(LockOutcome::Taken);
        }
        Ok(outcome_of_conflicting_lock(info, table.lock_holder(&self.state_location()).await?))
    }

    /// Compares the checksum of the content with the one in the table. Returns the latter if they
    /// differ.
    async fn differing_table_checksum(&self, content: Option<&[u8]>) -> Option<String> {
        let table = self.table.as_ref()?;
        // As in Terraform, a table that cannot be read does not stop a read.
        let expected = table.state_checksum(&self.state_location()).await.inspect_err(|error| {
            tracing::warn!(%error, "the sum of the state cannot be read");
        });
        let expected = expected.ok().flatten()?;
        let actual = content.map(md5_hex);
        // Terraform compares the bytes of the checksum. One that was set by hand may have uppercase
        // digits.
        let agrees = actual.is_some_and(|actual| actual.eq_ignore_ascii_case(&expected));
        (!agrees).then_some(expected)
    }
}

/// An earlier attempt may have reached the server although its response was lost.
fn outcome_of_conflicting_lock(info: &LockInfo, holder: Option<LockInfo>) -> LockOutcome {
    match holder {
        Some(holder) if holder.id == info.id => LockOutcome::Taken,
        holder => LockOutcome::Held(holder.map(Box::new)),
    }
}

fn md5_hex(content: &[u8]) -> String {
    // Terraform stores the MD5 of a state in the table, and compares it.
    hex::encode(&Md5::digest(content))
}

#[async_trait::async_trait]
impl RemoteClient for S3Client {
    fn location(&self) -> String {
        format!("s3://{}", self.state_location())
    }

    fn stale_lock_end(&self) -> LockEnd {
        LockEnd::ByForce
    }

    async fn get(&mut self) -> Result<Option<Vec<u8>>, Cause> {
        let began = Instant::now();
        loop {
            let object = self.bucket.get(&self.key).await?;
            let content = object.as_ref().map(|object| object.content.as_slice());
            let content = content.filter(|content| !content.is_empty());
            let Some(expected) = self.differing_table_checksum(content).await else {
                self.known = match &object {
                    None => WriteCondition::Absent,
                    Some(object) => {
                        object.tag.clone().map_or(WriteCondition::Any, WriteCondition::Tag)
                    }
                };
                return Ok(object.map(|object| object.content).filter(|text| !text.is_empty()));
            };
            if began.elapsed() >= MAX_CONSISTENCY_WAIT {
                let actual = content.map(md5_hex).unwrap_or_else(|| "none".to_owned());
                let path = self.state_location();
                return Err(format!(
                    "state data in S3 does not have the expected content: its MD5 is {actual}, and the table has {expected}. The bucket may need a minute after a write. If the state is the right one, set the Digest of the item {path}-md5 in the table to its MD5, or delete the item if there is no state"
                )
                .into());
            }
            tokio::time::sleep(CONSISTENCY_PAUSE).await;
        }
    }

    async fn put(&mut self, text: Vec<u8>) -> Result<(), PutError> {
        let checksum = md5_hex(&text);
        let mut stored = self.bucket.put(&self.key, text.clone(), &self.known).await?;
        if let PutOutcome::Unsupported(_) = stored {
            // Lineage and serial have already been compared.
            stored = self.bucket.put(&self.key, text.clone(), &WriteCondition::Any).await?;
        }
        let tag = match stored {
            PutOutcome::Stored(tag) => tag,
            // An attempt whose response was lost may have changed the version.
            PutOutcome::Refused => match self.bucket.get(&self.key).await? {
                Some(object) if object.content == text => object.tag,
                _ => return Err(PutError::Changed),
            },
            PutOutcome::Conflict(cause)
            | PutOutcome::Unsupported(cause)
            | PutOutcome::Denied(cause) => return Err(PutError::Failed(cause)),
        };
        self.known = tag.map_or(WriteCondition::Any, WriteCondition::Tag);
        if let Some(table) = &self.table {
            // Without it, the next read would treat the state as damaged.
            let path = self.state_location();
            table.set_state_checksum(&path, &checksum).await.map_err(|cause| PutError::Unfinished {
                cause,
                remedy: format!(
                    "The new state is in the bucket, but its checksum is not in the table, and the state cannot be read without it. Correct the cause, set the Digest of the item {path}-md5 to {checksum}, and run the command again. The journal contains all results of this run."
                ),
            })?;
        }
        Ok(())
    }

    async fn lock(&mut self, info: &LockInfo) -> Result<LockOutcome, Cause> {
        let info = LockInfo { path: self.state_location(), ..info.clone() };
        // All runs use the same order. Otherwise two of them could acquire one lock each, and both
        // would fail.
        if self.use_lockfile {
            let outcome = self.create_lock_object(&info).await?;
            if !matches!(outcome, LockOutcome::Taken) {
                return Ok(outcome);
            }
        }
        let Some(table) = &self.table else { return Ok(LockOutcome::Taken) };
        let outcome = self.insert_lock_entry(table, &info).await;
        // No run has the ID of half a lock, so it would remain until `force-unlock`.
        if self.use_lockfile && !matches!(outcome, Ok(LockOutcome::Taken)) {
            self.bucket.delete(&self.lock_key()).await.map_err(|error| {
                format!("the lock {} was not released: {error}", self.lock_key())
            })?;
        }
        outcome
    }

    async fn read_lock_holder(&mut self) -> Result<Option<LockInfo>, Cause> {
        self.lock_holder().await
    }

    async fn break_lock(&mut self, id: &str) -> Result<ForceUnlockOutcome, Cause> {
        let mut other_holder = None;
        // Without locking, no lock can be missing.
        let mut released = !self.has_lock();
        // Both locks are released, whatever the result of the first.
        let file = if self.use_lockfile { Some(self.remove_lock_object(id).await) } else { None };
        let table = match &self.table {
            Some(table) => Some(self.remove_lock_entry(table, id).await),
            None => None,
        };
        for lock in [file, table].into_iter().flatten() {
            match lock? {
                Ok(()) => released = true,
                Err(holder) => other_holder = other_holder.or(holder),
            }
        }
        Ok(if released && other_holder.is_none() {
            ForceUnlockOutcome::Released
        } else {
            ForceUnlockOutcome::OtherLock(other_holder.map(Box::new))
        })
    }
}
