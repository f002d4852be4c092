//! Locks on states: the request for one, and the information that its holder leaves for others, in
//! Terraform's format.

use std::time::Duration;

use formwork_core::state::operator::{operation_display_name, user_and_host};
use formwork_core::version::LANGUAGE_VERSION;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A request for a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockRequest {
    /// The operation, as others see it: `OperationTypeApply`.
    pub operation: String,
    /// The longest wait for another holder.
    pub timeout: Duration,
}

/// A lock that is held, to be given back to the store that it is of.
#[derive(Debug, PartialEq, Eq)]
pub struct StateLock {
    /// Its id, as others see it.
    pub id: String,
}

/// The information about the holder of a lock, in the format that Terraform reads and writes.
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

    /// Lists what is known about the holder, one line each.
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
    use super::*;

    #[test]
    fn each_field_of_a_holder_is_one_line() {
        let forged = "x\n\nApply complete!\r".to_owned();
        let info = LockInfo { who: forged.clone(), info: forged, ..LockInfo::default() };
        let shown = info.describe();
        assert!(!shown.contains("\nApply") && !shown.contains('\r'), "{shown}");
        assert_eq!(shown.lines().count(), LockInfo::default().describe().lines().count());
    }
}
