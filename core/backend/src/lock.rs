//! Locks on states: the request for a lock, and the information about its holder, in Terraform's
//! format.

use std::time::Duration;

use formwork_core::state::operator::{operation_display_name, user_and_host};
use formwork_core::version::LANGUAGE_VERSION;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A request for a lock.
///
/// See [`StateLock`] for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockRequest {
    /// The operation, which other processes see: `OperationTypeApply`.
    pub operation: String,
    /// Maximum time to wait for another holder.
    pub timeout: Duration,
}

/// A lock that is held, to be released with [`StateStore::unlock`](crate::StateStore::unlock). Only a
/// backend creates one.
///
/// Dropping it does not release the lock, because that requires the store and, for most backends, a
/// response of a server. Drop logs a warning instead, and does not panic: an interrupt also drops the work
/// that holds a lock. A lock on a file or in PostgreSQL ends with its store. Any other lock remains until
/// it is released with `formwork force-unlock`.
///
/// ```
/// use std::time::Duration;
///
/// use formwork_backend::local::StateFilePaths;
/// use formwork_backend::{LockRequest, OpenState};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let directory = tempfile::tempdir().unwrap();
/// let mut state: OpenState =
///     StateFilePaths::from_state_path(directory.path().join("terraform.tfstate")).into();
/// let request = LockRequest { operation: "inspect".to_owned(), timeout: Duration::ZERO };
/// let lock = state.store.lock(request).await.unwrap();
/// assert!(!lock.id().is_empty());
/// state.store.unlock(lock).await.unwrap();
/// # }
/// ```
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a lock remains until it is released through the store"]
pub struct StateLock {
    id: String,
    /// Whether the lock was not released yet.
    is_held: bool,
}

impl StateLock {
    /// Creates a lock that was acquired.
    pub(crate) const fn new(id: String) -> Self {
        Self { id, is_held: true }
    }

    /// The ID of the lock, which other processes see.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Consumes the lock to release it. Returns its ID.
    pub(crate) fn take_back(mut self) -> String {
        // Before the release is attempted: its failure is returned to the caller, and needs no second
        // report.
        self.is_held = false;
        std::mem::take(&mut self.id)
    }
}

impl Drop for StateLock {
    fn drop(&mut self) {
        // Not an assertion: an interrupt drops the work that holds the lock, which is not a bug.
        if self.is_held {
            tracing::warn!(id = self.id, "the lock of a state was dropped and not given back");
        }
    }
}

/// The information about the holder of a lock, in the format that Terraform reads and writes.
///
/// ```
/// use formwork_backend::LockInfo;
///
/// let info = LockInfo::new("OperationTypeApply", "terraform.tfstate".to_owned());
/// assert!(info.describe_holder().contains("(apply, since "));
/// assert!(info.describe().contains(&info.id));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct LockInfo {
    /// The unique ID of the lock.
    #[serde(rename = "ID")]
    pub id: String,
    /// The operation.
    pub operation: String,
    /// Further information.
    pub info: String,
    /// The user and host.
    pub who: String,
    /// The version of the program.
    pub version: String,
    /// The time of locking: RFC 3339, UTC.
    pub created: String,
    /// The state, as the holder specified it.
    pub path: String,
}

impl LockInfo {
    /// Creates the information for a new lock of this process, with the current time.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "a lock records when it was acquired")]
    pub fn new(operation: &str, path: String) -> Self {
        Self {
            id: uuid::Uuid::new_v4().to_string(),
            operation: operation.to_owned(),
            info: String::new(),
            who: user_and_host(),
            version: LANGUAGE_VERSION.to_string(),
            created: OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default(),
            path,
        }
    }

    /// Returns the holder and its operation as part of a sentence: `root@host (apply, since ...)`.
    #[must_use]
    pub fn describe_holder(&self) -> String {
        // Fractions of a second are not useful to a reader.
        let since = self.created.split('.').next().unwrap_or_default();
        format!("{} ({}, since {since})", self.who, operation_display_name(&self.operation))
    }

    /// Lists the known facts about the holder, one line each.
    #[must_use]
    pub fn describe(&self) -> String {
        let Self { id, operation, info, who, version, created, path } = self;
        let operation = operation_display_name(operation);
        // They come from a server or a file. A line break in one of them could imitate a message.
        let line = |text: &str| text.replace(['\n', '\r'], " ");
        let [id, path, operation, who, version, created, info] =
            [id, path, &operation, who, version, created, info].map(|text| line(text));
        format!(
            "Lock Info:\n  ID:        {id}\n  Path:      {path}\n  Operation: {operation}\n  \
             Who:       {who}\n  Version:   {version}\n  Created:   {created}\n  Info:      {info}\n\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Level, Metadata, Subscriber};

    use super::*;

    /// Counts warnings.
    #[derive(Clone, Default)]
    struct WarningCount(Arc<AtomicUsize>);

    impl Subscriber for WarningCount {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &Event<'_>) {
            if *event.metadata().level() == Level::WARN {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn a_dropped_lock_is_logged_unless_it_was_released() {
        let count = WarningCount::default();
        tracing::subscriber::with_default(count.clone(), || {
            let lock = StateLock::new("l-1".to_owned());
            assert_eq!(lock.id(), "l-1");
            assert_eq!(lock.take_back(), "l-1");
            assert_eq!(count.0.load(Ordering::Relaxed), 0);
            drop(StateLock::new("l-2".to_owned()));
        });
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn each_field_of_a_holder_is_one_line() {
        let forged = "x\n\nApply complete!\r".to_owned();
        let info = LockInfo { who: forged.clone(), info: forged, ..LockInfo::default() };
        let description = info.describe();
        assert!(!description.contains("\nApply") && !description.contains('\r'), "{description}");
        assert_eq!(description.lines().count(), LockInfo::default().describe().lines().count());
    }
}
