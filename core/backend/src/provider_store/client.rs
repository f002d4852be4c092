//! The remote client of one state in a state store of a provider.

use std::sync::Arc;

use async_trait::async_trait;
use formwork_value::Diagnostic;

use super::StateStoreSetup;
use super::store_calls::StoreCalls;
use crate::cause::Cause;
use crate::lock::LockInfo;
use crate::provider_store_error::ProviderStoreError;
use crate::remote::{ForceUnlockOutcome, LockOutcome, PutError, RemoteClient};
use crate::store::LockEnd;

/// The state of a workspace in a state store.
pub(super) struct StateStoreClient {
    pub(super) calls: Arc<StoreCalls>,
    pub(super) setup: Arc<StateStoreSetup>,
    pub(super) workspace: String,
    pub(super) location: String,
}

#[async_trait]
impl RemoteClient for StateStoreClient {
    fn location(&self) -> String {
        self.location.clone()
    }

    fn stale_lock_end(&self) -> LockEnd {
        LockEnd::ByForce
    }

    async fn get(&mut self) -> Result<Option<Vec<u8>>, Cause> {
        let session = self.calls.configured_session(&self.setup).await?;
        let text = self.calls.read_state(&session, &self.workspace).await?;
        // As in Terraform, a state of zero bytes does not exist.
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    async fn put(&mut self, text: Vec<u8>) -> Result<(), PutError> {
        let session = self.calls.configured_session(&self.setup).await?;
        Ok(self.calls.write_state(&session, &self.workspace, text.into()).await?)
    }

    async fn lock(&mut self, info: &LockInfo) -> Result<LockOutcome, Cause> {
        let session = self.calls.configured_session(&self.setup).await?;
        match self.calls.lock_state(&session, &self.workspace, &info.operation).await {
            Ok(id) => Ok(LockOutcome::TakenWithId(id)),
            // The protocol has no response for a lock that is held: it is an error like any other.
            Err(error @ ProviderStoreError::Reported { .. }) => {
                Ok(LockOutcome::Refused(error.into()))
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn unlock(&mut self, id: &str) -> Result<(), Cause> {
        let session = self.calls.configured_session(&self.setup).await?;
        Ok(self.calls.unlock_state(&session, &self.workspace, id).await?)
    }

    async fn break_lock(&mut self, id: &str) -> Result<ForceUnlockOutcome, Cause> {
        // A lock of another process is released like one of this process.
        self.unlock(id).await.map(|()| ForceUnlockOutcome::Released)
    }

    fn take_warnings(&self) -> Vec<Diagnostic> {
        self.calls.take_warnings()
    }
}
