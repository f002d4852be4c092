//! Locks on states: the request for one, and the information that its holder leaves for others, in
//! Terraform's format.

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
    /// The operation, as others see it: `OperationTypeApply`.
    pub operation: String,
    /// The longest wait for another holder.
    pub timeout: Duration,
}

/// A lock that is held, to be given back with [`StateStore::unlock`](crate::StateStore::unlock). Only a
/// backend makes one.
///
/// A drop does not release the lock, because that takes the store, and for most backends an answer of a
/// server. It logs a warning instead, and does not panic: an interrupt also drops the work that holds a
/// lock. The lock of a file or in PostgreSQL ends with its store. Any other stays until it is released with
/// `formwork force-unlock`.
///
/// ```
/// use std::time::Duration;
///
/// use formwork_backend::local::StateFilePaths;
/// use formwork_backend::{LockRequest, OpenState};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let folder = tempfile::tempdir().unwrap();
/// let mut state: OpenState =
///     StateFilePaths::from_state_path(folder.path().join("terraform.tfstate")).into();
/// let request = LockRequest { operation: "inspect".to_owned(), timeout: Duration::ZERO };
/// let lock = state.store.lock(request).await.unwrap();
/// assert!(!lock.id().is_empty());
/// state.store.unlock(lock).await.unwrap();
/// # }
/// ```
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a lock stays until the store has it back"]
pub struct StateLock {
    id: String,
    /// Whether the lock was not given back yet.
    is_held: bool,
}

impl StateLock {
    /// A lock that was taken.
    pub(crate) const fn new(id: String) -> Self {
        Self { id, is_held: true }
    }

    /// The id of the lock, as other processes see it.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Takes the lock back to release it. Returns its id.
    pub(crate) fn take_back(mut self) -> String {
        // Before the release is tried: a failure of it is reported to the caller, and needs no second
        // report.
        self.is_held = false;
        std::mem::take(&mut self.id)
    }
}

impl Drop for StateLock {
    fn drop(&mut self) {
        // Not an assertion: an interrupt drops the work that holds the lock, which is no mistake.
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
    /// Tells this lock from all others.
    #[serde(rename = "ID")]
    pub id: String,
    /// The operation.
    pub operation: String,
    /// Further text.
    pub info: String,
    /// The user and host.
    pub who: String,
    /// The version of the program.
    pub version: String,
    /// The time of locking: RFC 3339, UTC.
    pub created: String,
    /// The state, as the holder named it.
    pub path: String,
}

impl LockInfo {
    /// The information for a new lock that this process takes now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "a lock says since when it is held")]
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
        // The fractions of a second help no reader.
        let since = self.created.split('.').next().unwrap_or_default();
        format!("{} ({}, since {since})", self.who, operation_display_name(&self.operation))
    }

    /// Lists the known facts about the holder, one line each.
    #[must_use]
    pub fn describe(&self) -> String {
        let Self { id, operation, info, who, version, created, path } = self;
        let operation = operation_display_name(operation);
        // They come from a server or a file. A line end in one of them would look like a message.
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
    fn a_lock_that_is_dropped_is_logged_unless_it_was_given_back() {
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
        let shown = info.describe();
        assert!(!shown.contains("\nApply") && !shown.contains('\r'), "{shown}");
        assert_eq!(shown.lines().count(), LockInfo::default().describe().lines().count());
    }
}
