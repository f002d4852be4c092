//! Errors of calls to the server, and retries of calls whose connection was lost.

use std::error::Error as _;
use std::io::{self, ErrorKind};
use std::time::Duration;

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::cause::Cause;
use crate::retry::{RequestAttempts, RetryPolicy};

/// The attempts of a call: a server that was restarted or replaced responds after a moment.
const RETRY_POLICY: RetryPolicy =
    RetryPolicy { most: 6, shortest: Duration::from_millis(50), longest: Duration::from_secs(2) };

/// The error codes of a server that is shutting down or starting, and of lost connections.
const LOST_CONNECTION_CODES: [SqlState; 7] = [
    SqlState::ADMIN_SHUTDOWN,
    SqlState::CRASH_SHUTDOWN,
    SqlState::CANNOT_CONNECT_NOW,
    SqlState::TOO_MANY_CONNECTIONS,
    SqlState::CONNECTION_EXCEPTION,
    SqlState::CONNECTION_DOES_NOT_EXIST,
    SqlState::CONNECTION_FAILURE,
];

/// A call whose connection was lost. The server may or may not have executed it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct LostConnection(String);

/// Whether a failure is one of the connection, so that the same call may succeed on another
/// connection.
pub(super) fn is_lost_connection(cause: &Cause) -> bool {
    cause.is::<LostConnection>()
}

/// The cause of a failed call: the call, with the message of the server, which the library's `Display`
/// omits.
pub(super) fn call_error(call: &str, error: &Error) -> Cause {
    let text = format!("{call}: {}", error_with_server_message(error));
    match means_lost_connection(error) {
        true => LostConnection(text).into(),
        false => text.into(),
    }
}

fn means_lost_connection(error: &Error) -> bool {
    if let Some(code) = error.code() {
        return LOST_CONNECTION_CODES.contains(code);
    }
    // The other kinds are about content, such as a certificate, and about files and limits.
    let is_of_network = |error: &io::Error| {
        !matches!(
            error.kind(),
            ErrorKind::InvalidData
                | ErrorKind::InvalidInput
                | ErrorKind::NotFound
                | ErrorKind::PermissionDenied
                | ErrorKind::TimedOut
        )
    };
    let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    error.is_closed() || source.is_some_and(is_of_network)
}

fn error_with_server_message(error: &Error) -> String {
    if let Some(db_error) = error.as_db_error() {
        return format!("{} (SQLSTATE {})", db_error.message(), db_error.code().code());
    }
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let source_text = error.to_string();
        // Errors of the library often repeat the message of their source.
        if !text.contains(&source_text) {
            text.push_str(&format!(": {source_text}"));
        }
        source = error.source();
    }
    text
}

/// The attempts of a call that may be repeated.
pub(super) struct CallAttempts(RequestAttempts);

impl CallAttempts {
    /// Begins with the first attempt. The log contains the name of the call.
    pub(super) fn begin(operation: &'static str) -> Self {
        Self(RETRY_POLICY.begin_attempts(operation))
    }

    /// Whether no attempt was repeated yet.
    pub(super) fn is_first(&self) -> bool {
        self.0.attempt_count() == 1
    }

    /// Waits for the next attempt after a failed one.
    ///
    /// # Errors
    /// Returns the cause if it is not a lost connection, or after the last attempt.
    pub(super) async fn wait_after(&mut self, cause: Cause) -> Result<(), Cause> {
        if is_lost_connection(&cause) && self.0.wait_for_next_attempt(None).await {
            return Ok(());
        }
        Err(cause)
    }
}
