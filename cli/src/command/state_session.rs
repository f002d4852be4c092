//! Opens states with the lock options, and reports waiting for a lock.

use std::path::Path;
use std::time::Duration;

use formwork_backend::OpenState;
use formwork_operation::{OperationEvent, OperationObserver, SessionOptions, StateSession};
use formwork_value::{Diagnostic, Diagnostics, Reported, duration};
use tracing::info;

use crate::command_line::LockArgs;
use crate::messages;
use crate::view::elapsed::format_seconds;
use crate::view::{self, sanitize};

/// Locks and reads the state, and applies the results of interrupted runs from the journal.
///
/// # Errors
/// Returns an error if another process holds the lock, or the state cannot be read.
pub(crate) async fn open_locked_state(
    diags: &mut Diagnostics,
    state: OpenState,
    args: &LockArgs,
    operation: &str,
) -> Result<StateSession, Reported> {
    // Whether or not the state is locked, as in Terraform.
    let timeout = parse_lock_timeout(diags, &args.lock_timeout)?;
    let lock_timeout = args.lock.then_some(timeout);
    let directory = Path::new(".");
    let options = SessionOptions { operation, lock_timeout, directory, observer: &LockWaitReport };
    StateSession::open(diags, state, &options).await
}

/// Reports a wait for a lock on stderr.
pub(crate) struct LockWaitReport;

impl OperationObserver for LockWaitReport {
    fn on_event(&self, event: &OperationEvent<'_>) {
        let OperationEvent::LockWait { holder, limit } = event else { return };
        let holder = sanitize::sanitize_line(holder);
        let limit = format_seconds(*limit);
        info!(holder, limit, "waiting for the state lock");
        view::print_err(&format!(
            "The state is locked by {holder}. Waiting up to {limit} for the lock...\n"
        ));
    }
}

/// Parses the time to wait for a lock. A negative time is zero.
///
/// # Errors
/// Returns an error if the string is not a duration.
pub(super) fn parse_lock_timeout(
    diags: &mut Diagnostics,
    text: &str,
) -> Result<Duration, Reported> {
    let read = duration::parse_nanoseconds(text).map_err(|reason| {
        let detail = format!("{text:?} is not a duration like 30s, 5m or 1h30m: {reason}.");
        diags.error(Diagnostic::error(messages::INVALID_LOCK_TIMEOUT, detail))
    })?;
    Ok(Duration::from_nanos(u64::try_from(read).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_timeouts_are_parsed_like_go_durations() {
        let check = |text: &str| {
            parse_lock_timeout(&mut Diagnostics::new(), text).map(|d| d.as_millis()).ok()
        };
        assert_eq!(check("1.5m"), Some(90_000));
        assert_eq!(check("+5s"), Some(5_000));
        assert_eq!(check("-5s"), Some(0));
        assert_eq!(check("5"), None);
    }
}
