//! The state of one workspace in a container. It is written only over the version that was read, and locked
//! by the lease of the blob. The blob's metadata describe the holder.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::container::{AccessConditions, Blob, ConditionalOutcome, Container, WriteCondition};
use crate::cause::Cause;
use crate::lock::LockInfo;
use crate::remote::{ForceUnlockOutcome, LockOutcome, PutError, RemoteClient};
use crate::store::LockEnd;
use formwork_core::disk::parse_json_object;

/// The name of the metadata that describe the holder of the lock.
const LOCK_HOLDER_METADATA: &str = "terraformlockid";

/// The client of one workspace's state.
pub(super) struct AzureClient {
    container: Container,
    blob: String,
    snapshot: bool,
    /// The version that was last read or written.
    known_version: Option<BlobVersion>,
    /// The lease of this process.
    lease: Option<String>,
}

/// A version of the blob.
struct BlobVersion {
    condition: WriteCondition,
    metadata: BTreeMap<String, String>,
    content_hash: [u8; 32],
}

impl BlobVersion {
    fn from_blob(blob: Option<&Blob>) -> Self {
        let condition = match blob {
            None => WriteCondition::Absent,
            Some(blob) => blob.tag.clone().map_or(WriteCondition::Any, WriteCondition::Tag),
        };
        Self {
            condition,
            metadata: blob.map(|blob| blob.metadata.clone()).unwrap_or_default(),
            content_hash: Sha256::digest(blob.map_or(&[][..], |blob| &blob.content)).into(),
        }
    }
}

/// Returns the holder that the metadata describe.
fn holder_from_metadata(blob: &Blob) -> Option<LockInfo> {
    // Headers allow only ASCII, so Terraform encodes the description in base64.
    let text = STANDARD.decode(blob.metadata.get(LOCK_HOLDER_METADATA)?).ok()?;
    parse_json_object(&text).ok()
}

impl AzureClient {
    /// Creates the client. Sends no request yet.
    pub(super) fn new(container: Container, blob: String, snapshot: bool) -> Self {
        Self { container, blob, snapshot, known_version: None, lease: None }
    }

    /// Deletes the state.
    pub(super) async fn delete_state(&self) -> Result<(), Cause> {
        self.container.delete(&self.blob).await
    }

    /// Replaces a version of the blob. The inner error is the code of a refusal.
    async fn put_over_version(
        &mut self,
        text: &[u8],
        version: &BlobVersion,
    ) -> Result<Result<(), (String, Cause)>, Cause> {
        let BlobVersion { condition, metadata, .. } = version;
        // A PUT request also replaces the metadata, which describe the holder of the lock.
        let conditions = AccessConditions { stored: condition, lease: self.lease.as_deref() };
        match self.container.put(&self.blob, text.to_vec(), metadata, conditions).await? {
            ConditionalOutcome::Refused(code, cause) => Ok(Err((code, cause))),
            ConditionalOutcome::Done(tag) => {
                self.known_version = Some(BlobVersion {
                    condition: tag.map_or(WriteCondition::Any, WriteCondition::Tag),
                    metadata: metadata.clone(),
                    content_hash: Sha256::digest(text).into(),
                });
                Ok(Ok(()))
            }
        }
    }

    async fn read_blob(&self) -> Result<BlobVersion, Cause> {
        Ok(BlobVersion::from_blob(self.container.get(&self.blob).await?.as_ref()))
    }

    async fn read_holder(&self) -> Result<LockOutcome, Cause> {
        let blob = self.container.blob_properties(&self.blob).await?;
        Ok(LockOutcome::Held(blob.as_ref().and_then(holder_from_metadata).map(Box::new)))
    }

    /// Creates the blob for the lease, unless it exists. Returns its metadata.
    async fn ensure_lock_blob(&self) -> Result<(BTreeMap<String, String>, bool), Cause> {
        if let Some(blob) = self.container.blob_properties(&self.blob).await? {
            return Ok((blob.metadata, blob.is_leased));
        }
        let absent = AccessConditions { stored: &WriteCondition::Absent, lease: None };
        // Refused if another program has created the blob since then. In this case it exists.
        self.container.put(&self.blob, Vec::new(), &BTreeMap::new(), absent).await?;
        Ok((BTreeMap::new(), false))
    }

    /// Writes the description of the holder to the metadata, under the lease.
    async fn write_holder_metadata(
        &self,
        mut metadata: BTreeMap<String, String>,
        info: &LockInfo,
    ) -> Result<(), Cause> {
        metadata
            .insert(LOCK_HOLDER_METADATA.to_owned(), STANDARD.encode(serde_json::to_vec(info)?));
        match self.container.set_metadata(&self.blob, &metadata, &info.id).await? {
            ConditionalOutcome::Done(_) => Ok(()),
            ConditionalOutcome::Refused(_, cause) => Err(cause),
        }
    }
}

#[async_trait::async_trait]
impl RemoteClient for AzureClient {
    fn location(&self) -> String {
        self.container.location(&self.blob)
    }

    fn stale_lock_end(&self) -> LockEnd {
        LockEnd::ByForce
    }

    async fn get(&mut self) -> Result<Option<Vec<u8>>, Cause> {
        let blob = self.container.get(&self.blob).await?;
        self.known_version = Some(BlobVersion::from_blob(blob.as_ref()));
        // An empty blob was created for the lease.
        Ok(blob.map(|blob| blob.content).filter(|content| !content.is_empty()))
    }

    async fn put(&mut self, text: Vec<u8>) -> Result<(), PutError> {
        // Moved out, because after a failure the stored version is not known.
        let previous_version = match self.known_version.take() {
            Some(version) => version,
            None => self.read_blob().await?,
        };
        // Created before the write, which replaces the version that the snapshot preserves.
        if self.snapshot && previous_version.condition != WriteCondition::Absent {
            self.container.snapshot_blob(&self.blob, self.lease.as_deref()).await?;
        }
        let (code, cause) = match self.put_over_version(&text, &previous_version).await? {
            Ok(()) => return Ok(()),
            Err(refusal) => refusal,
        };
        if !matches!(code.as_str(), "ConditionNotMet" | "BlobAlreadyExists") {
            // The lease belongs to another process, so nothing was written.
            return Err(PutError::Failed(cause));
        }
        let current_version = self.read_blob().await?;
        let written_hash: [u8; 32] = Sha256::digest(&text).into();
        if current_version.content_hash == written_hash {
            // The response to an earlier attempt was lost.
            self.known_version = Some(current_version);
            return Ok(());
        }
        if current_version.content_hash != previous_version.content_hash {
            return Err(PutError::Changed);
        }
        // Only the metadata have changed, as after a lock by another program.
        match self.put_over_version(&text, &current_version).await? {
            Ok(()) => Ok(()),
            Err((_, cause)) => Err(PutError::Failed(cause)),
        }
    }

    async fn lock(&mut self, info: &LockInfo) -> Result<LockOutcome, Cause> {
        let path = format!("{}/{}", self.container.name(), self.blob);
        // The ID of the lock is also that of the lease, so that `force-unlock` can release it.
        let info = LockInfo { path, ..info.clone() };
        // A lease requires a blob, so an empty one is created for the first lock.
        let (metadata, is_leased) = self.ensure_lock_blob().await?;
        if is_leased {
            return self.read_holder().await;
        }
        // The service accepts the same ID again if the response to an earlier attempt was lost.
        match self.container.acquire_lease(&self.blob, &info.id).await? {
            ConditionalOutcome::Done(_) => {}
            // A lease that is being broken excludes other processes until its break period ends.
            ConditionalOutcome::Refused(code, _)
                if matches!(
                    code.as_str(),
                    "LeaseAlreadyPresent" | "LeaseIsBreakingAndCannotBeAcquired"
                ) =>
            {
                return self.read_holder().await;
            }
            ConditionalOutcome::Refused(_, cause) => return Err(cause),
        }
        if let Err(cause) = self.write_holder_metadata(metadata, &info).await {
            // A remaining lease would lock the state without identifying its holder.
            let released = self.container.release_lease(&self.blob, &info.id).await;
            return Err(match released {
                Ok(ConditionalOutcome::Done(_)) => cause,
                _ => format!("{cause}; the lease {} was not released", info.id).into(),
            });
        }
        self.lease = Some(info.id.clone());
        Ok(LockOutcome::Taken)
    }

    async fn unlock(&mut self, id: &str) -> Result<(), Cause> {
        // Whatever the result of the release, this process writes nothing under the lease any more.
        self.lease = None;
        self.break_lock(id).await?.of_own_lock()
    }

    async fn read_lock_holder(&mut self) -> Result<Option<LockInfo>, Cause> {
        let blob = self.container.blob_properties(&self.blob).await?;
        Ok(blob.as_ref().and_then(holder_from_metadata))
    }

    async fn break_lock(&mut self, id: &str) -> Result<ForceUnlockOutcome, Cause> {
        let other_lock =
            |holder: Option<LockInfo>| ForceUnlockOutcome::OtherLock(holder.map(Box::new));
        let Some(mut blob) = self.container.blob_properties(&self.blob).await? else {
            return Ok(other_lock(None));
        };
        match holder_from_metadata(&blob) {
            Some(holder) if holder.id != id => return Ok(other_lock(Some(holder))),
            Some(_) => {
                // Before the lease is released. After that, the description may be that of another
                // process.
                blob.metadata.remove(LOCK_HOLDER_METADATA);
                let updated = self.container.set_metadata(&self.blob, &blob.metadata, id).await?;
                if let ConditionalOutcome::Refused(..) = updated {
                    return Ok(other_lock(None));
                }
            }
            // A process that was killed between the two steps leaves a lease without a description.
            None if blob.is_leased => {}
            None => return Ok(other_lock(None)),
        }
        match self.container.release_lease(&self.blob, id).await? {
            ConditionalOutcome::Done(_) => Ok(ForceUnlockOutcome::Released),
            ConditionalOutcome::Refused(..) => Ok(other_lock(None)),
        }
    }
}
