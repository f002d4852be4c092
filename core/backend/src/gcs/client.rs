//! The state of one workspace in a bucket. It is written only over the generation that was read, and locked
//! by an object next to it, whose generation is the ID of the lock.

use super::STATE_SUFFIX;
use super::bucket::{ABSENT_GENERATION, Bucket, DeleteOutcome, ObjectUse, PutOutcome};
use crate::cause::Cause;
use crate::lock::LockInfo;
use crate::remote::{ForceUnlockOutcome, LockOutcome, PutError, RemoteClient};
use crate::store::LockEnd;
use formwork_core::disk::parse_json_object;

/// The suffix of the object name of a lock.
const LOCK_SUFFIX: &str = ".tflock";

/// The client of one workspace's state.
pub(super) struct GcsClient {
    bucket: Bucket,
    /// The name of the objects, without their suffix.
    name: String,
    /// The generation that was last read or written, if the server has any.
    known_generation: Option<String>,
    /// The generation of the lock of this process.
    held: Option<String>,
}

impl GcsClient {
    /// Creates the client. Sends no request yet.
    pub(super) fn new(bucket: Bucket, name: String) -> Self {
        Self { bucket, name, known_generation: None, held: None }
    }

    fn state_object_name(&self) -> String {
        format!("{}{STATE_SUFFIX}", self.name)
    }

    fn lock_object_name(&self) -> String {
        format!("{}{LOCK_SUFFIX}", self.name)
    }

    /// Deletes the state.
    pub(super) async fn delete_state(&self) -> Result<(), Cause> {
        self.bucket.delete(&self.state_object_name(), None).await.map(drop)
    }

    /// Whether a process holds the lock.
    pub(super) async fn is_locked(&self) -> Result<bool, Cause> {
        Ok(self.bucket.get(&self.lock_object_name(), ObjectUse::Lock).await?.is_some())
    }

    /// Returns the holder of the lock: its description with the ID of its object, and the ID that it was
    /// written with.
    async fn lock_holder(&self) -> Result<Option<(LockInfo, String)>, Cause> {
        let object = self.lock_object_name();
        let Some(lock_object) = self.bucket.get(&object, ObjectUse::Lock).await? else {
            return Ok(None);
        };
        let info: LockInfo = parse_json_object(&lock_object.content).map_err(|error| {
            format!("the lock gs://{}/{object} cannot be read: {error}", self.bucket.name)
        })?;
        let written_id = info.id.clone();
        let id = lock_object.generation.unwrap_or_default();
        Ok(Some((LockInfo { id, ..info }, written_id)))
    }
}

/// The error for a state object without content.
const EMPTY_STATE_ERROR: &str = "the object exists but is empty. A state never becomes empty by itself: restore a version of it, or delete it if none of its objects exist any more";

#[async_trait::async_trait]
impl RemoteClient for GcsClient {
    fn location(&self) -> String {
        format!("gs://{}/{}", self.bucket.name, self.state_object_name())
    }

    fn stale_lock_end(&self) -> LockEnd {
        LockEnd::ByForce
    }

    async fn get(&mut self) -> Result<Option<Vec<u8>>, Cause> {
        let object = self.bucket.get(&self.state_object_name(), ObjectUse::State).await?;
        self.known_generation = match &object {
            // In a condition, the generation 0 means that the object does not exist.
            None => Some(ABSENT_GENERATION.to_owned()),
            Some(object) => object.generation.clone(),
        };
        match object.map(|object| object.content) {
            // Neither program writes an empty object. If it counted as a new state, all objects would be
            // created a second time.
            Some(content) if content.is_empty() => Err(EMPTY_STATE_ERROR.into()),
            content => Ok(content),
        }
    }

    async fn put(&mut self, text: Vec<u8>) -> Result<(), PutError> {
        let object = self.state_object_name();
        let known_generation = self.known_generation.as_deref();
        match self.bucket.put(&object, text.clone(), ObjectUse::State, known_generation).await? {
            PutOutcome::Stored(generation) => self.known_generation = Some(generation),
            // An attempt whose response was lost may have changed the generation.
            PutOutcome::Refused => match self.bucket.get(&object, ObjectUse::State).await? {
                Some(stored) if stored.content == text => self.known_generation = stored.generation,
                _ => return Err(PutError::Changed),
            },
            PutOutcome::Denied(cause) => return Err(PutError::Failed(cause)),
        }
        Ok(())
    }

    async fn lock(&mut self, info: &LockInfo) -> Result<LockOutcome, Cause> {
        let object = self.lock_object_name();
        let path = format!("gs://{}/{object}", self.bucket.name);
        let content = serde_json::to_vec(&LockInfo { path, ..info.clone() })?;
        // The existence of the object is the lock. Only one of several processes can create it.
        match self.bucket.put(&object, content, ObjectUse::Lock, Some(ABSENT_GENERATION)).await? {
            PutOutcome::Stored(generation) => self.held = Some(generation),
            PutOutcome::Refused => match self.lock_holder().await? {
                // An earlier attempt reached the server although its response was lost.
                Some((holder, written_id)) if written_id == info.id => self.held = Some(holder.id),
                holder => return Ok(LockOutcome::Held(holder.map(|(holder, _)| Box::new(holder)))),
            },
            PutOutcome::Denied(cause) => return Err(cause),
        }
        Ok(LockOutcome::Taken)
    }

    async fn unlock(&mut self, _id: &str) -> Result<(), Cause> {
        let Some(generation) = self.held.take() else { return Ok(()) };
        match self.bucket.delete(&self.lock_object_name(), Some(&generation)).await? {
            // No other lock ever has this generation, so nothing remains to be released.
            DeleteOutcome::Removed | DeleteOutcome::PerhapsRemoved => return Ok(()),
            DeleteOutcome::Absent => {}
        }
        let holder = self.lock_holder().await?.map(|(holder, _)| Box::new(holder));
        ForceUnlockOutcome::OtherLock(holder).of_own_lock()
    }

    async fn read_lock_holder(&mut self) -> Result<Option<LockInfo>, Cause> {
        Ok(self.lock_holder().await?.map(|(holder, _)| holder))
    }

    async fn break_lock(&mut self, id: &str) -> Result<ForceUnlockOutcome, Cause> {
        let mut found_holder = self.lock_holder().await?;
        // Compatible servers may not compare the generation themselves.
        if found_holder.as_ref().is_some_and(|(holder, _)| holder.id == id) {
            match self.bucket.delete(&self.lock_object_name(), Some(id)).await? {
                DeleteOutcome::Removed | DeleteOutcome::PerhapsRemoved => {
                    return Ok(ForceUnlockOutcome::Released);
                }
                DeleteOutcome::Absent => {}
            }
            found_holder = self.lock_holder().await?;
        }
        Ok(ForceUnlockOutcome::OtherLock(found_holder.map(|(holder, _)| Box::new(holder))))
    }
}
