//! Stores the journals of runs as keys below that of a state.

use super::client::ConsulClient;
use super::server::{ConditionalPutOutcome, ConsulServer};
use crate::cause::{Cause, PermissionDenied};
use crate::journals::{CreateOutcome, ListedObject, ObjectStore};

/// Maximum length of a value. A transaction contains it in base64, and the server accepts 512 KiB per
/// transaction unless it is configured differently.
pub(super) const MAX_JOURNAL_VALUE_LEN: usize = 384_000;

/// The keys below that of a state.
pub(super) struct ConsulKeys {
    pub(super) server: ConsulServer,
    pub(super) state: ConsulClient,
    /// Whether runs lock the state.
    pub(super) has_lock: bool,
}

#[async_trait::async_trait]
impl ObjectStore for ConsulKeys {
    fn location(&self, prefix: &str) -> String {
        format!("{}/v1/kv/{prefix}", self.server.url)
    }

    async fn list_objects(&self, prefix: &str) -> Result<Result<Vec<ListedObject>, String>, Cause> {
        match self.server.list_all_keys(prefix).await {
            // The lock shows whether a run is active.
            Ok(keys) => {
                Ok(Ok(keys.into_iter().map(|name| ListedObject { name, age: None }).collect()))
            }
            Err(cause) if PermissionDenied::is_cause(&cause) => Ok(Err(format!(
                "Other machines cannot find a journal in Consul, because its keys cannot be listed: {cause}"
            ))),
            Err(cause) => Err(cause),
        }
    }

    async fn read_object(&self, name: &str) -> Result<Option<Vec<u8>>, Cause> {
        let pair = self.server.get(name).await?;
        pair.map(|pair| pair.decode_value()).transpose()
    }

    async fn create_object(&self, name: &str, content: &[u8]) -> Result<CreateOutcome, Cause> {
        Ok(match self.server.put_over_version(name, content, 0).await {
            Ok(ConditionalPutOutcome::Stored(_)) => CreateOutcome::Created,
            Ok(ConditionalPutOutcome::Stale) => CreateOutcome::Exists,
            Ok(ConditionalPutOutcome::TooLarge) => CreateOutcome::Refused(
                format!("the server does not accept a value of {} bytes", content.len()).into(),
            ),
            Err(cause) if PermissionDenied::is_cause(&cause) => CreateOutcome::Refused(cause),
            Err(cause) => return Err(cause),
        })
    }

    async fn remove_object(&self, name: &str) -> Result<(), Cause> {
        self.server.delete(name).await
    }

    fn reason_against_new_journals(&self) -> Option<String> {
        let reason = "Other machines cannot find a journal in Consul, because with lock = false they cannot determine whether a run is active";
        (!self.has_lock).then(|| reason.to_owned())
    }

    async fn is_locked(&self) -> Result<bool, Cause> {
        self.state.is_locked().await
    }
}
