//! The remote client of one state in a state store of a provider.

use std::sync::Arc;

use async_trait::async_trait;
use formwork_value::Diagnostic;

use super::Setup;
use super::calls::{ProviderStoreError, StoreCalls};
use crate::cause::Cause;
use crate::lock::LockInfo;
use crate::remote::{ForceUnlockOutcome, Locking, PutError, RemoteClient};
use crate::store::LockEnd;

/// The state of a workspace in a state store.
pub(super) struct StateStoreClient {
    pub(super) calls: Arc<StoreCalls>,
    pub(super) setup: Arc<Setup>,
    pub(super) workspace: String,
    pub(super) location: String,
}

#[async_trait]
impl RemoteClient for StateStoreClient {
    fn location(&self) -> String {
        self.location.clone()
    }

    fn lock_end(&self) -> LockEnd {
        LockEnd::ByForce
    }

    async fn get(&mut self) -> Result<Option<Vec<u8>>, Cause> {
        let session = self.calls.session(&self.setup).await?;
        let text = self.calls.read(&session, &self.workspace).await?;
        // As in Terraform, a state without bytes is one that is not there.
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    async fn put(&mut self, text: Vec<u8>) -> Result<(), PutError> {
        let session = self.calls.session(&self.setup).await?;
        Ok(self.calls.write(&session, &self.workspace, text.into()).await?)
    }

    async fn lock(&mut self, info: &LockInfo) -> Result<Locking, Cause> {
        let session = self.calls.session(&self.setup).await?;
        match self.calls.lock(&session, &self.workspace, &info.operation).await {
            Ok(id) => Ok(Locking::TakenAs(id)),
            // The protocol has no answer for a lock that is held: it is an error like any other.
            Err(error @ ProviderStoreError::Reported { .. }) => Ok(Locking::Refused(error.into())),
            Err(error) => Err(error.into()),
        }
    }

    async fn unlock(&mut self, id: &str) -> Result<(), Cause> {
        let session = self.calls.session(&self.setup).await?;
        Ok(self.calls.unlock(&session, &self.workspace, id).await?)
    }

    async fn break_lock(&mut self, id: &str) -> Result<ForceUnlockOutcome, Cause> {
        // A lock of another process is released like an own one.
        self.unlock(id).await.map(|()| ForceUnlockOutcome::Released)
    }

    fn doubts(&self) -> Vec<Diagnostic> {
        self.calls.take_warnings()
    }
}
