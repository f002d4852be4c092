//! A backend whose states are encrypted. It passes the cipher to every store that it opens.

use std::sync::Arc;

use async_trait::async_trait;
use formwork_core::state::intent_log::IntentLog;

use crate::encryption::{StateCipher, encrypt_intent_log};
use crate::store::{StateStore, StoreError};
use crate::{Backend, WorkspaceError};

/// A backend with a cipher for its states.
struct EncryptedBackend {
    inner: Arc<dyn Backend>,
    cipher: StateCipher,
}

/// Wraps a backend so that its states are encrypted and decrypted by a cipher.
#[must_use]
pub fn encrypt_backend(inner: Arc<dyn Backend>, cipher: StateCipher) -> Arc<dyn Backend> {
    if cipher.is_pass_through() { inner } else { Arc::new(EncryptedBackend { inner, cipher }) }
}

#[async_trait]
impl Backend for EncryptedBackend {
    fn kind(&self) -> &str {
        self.inner.kind()
    }

    async fn workspaces(&self) -> Result<Vec<String>, WorkspaceError> {
        self.inner.workspaces().await
    }

    async fn create_workspace(&self, name: &str) -> Result<(), WorkspaceError> {
        self.cipher.prepare_key().map_err(|reason| {
            let location = self.inner.location(name);
            WorkspaceError::Store(StoreError::NotEncryptable { location, reason })
        })?;
        self.inner.create_workspace(name).await?;
        if !self.cipher.encrypts() {
            return Ok(());
        }
        // Some backends store an empty state, which later reads refuse if it is not encrypted.
        let mut store = self.inner.open_store(name).await?;
        let lock = store.try_lock("workspace-new").await?;
        let sealed = match store.read().await {
            Ok(None) => Ok(()),
            Ok(Some(file)) => {
                store.set_cipher(self.cipher.clone().allowing_plaintext());
                store.overwrite(file).await
            }
            Err(error) => Err(error),
        };
        let unlocked = store.unlock(lock).await;
        Ok(sealed.and(unlocked)?)
    }

    async fn delete_workspace(&self, name: &str) -> Result<(), WorkspaceError> {
        self.inner.delete_workspace(name).await
    }

    async fn open_store(&self, workspace: &str) -> Result<Box<dyn StateStore>, StoreError> {
        let mut store = self.inner.open_store(workspace).await?;
        store.set_cipher(self.cipher.clone());
        Ok(store)
    }

    fn location(&self, workspace: &str) -> String {
        self.inner.location(workspace)
    }

    fn identity(&self, workspace: &str) -> String {
        self.inner.identity(workspace)
    }

    fn intent_log(&self, workspace: &str) -> Arc<dyn IntentLog> {
        encrypt_intent_log(self.inner.intent_log(workspace), &self.cipher)
    }

    async fn shares_journals(&self) -> bool {
        self.inner.shares_journals().await
    }
}
