//! The system clock. All times are read here. The views define their format.

use std::time::{Duration, SystemTime};

use time::OffsetDateTime;

/// The beginning of the year 9999. Certificates and event times do not support later years.
const MAX_CLOCK_TIME: Duration = Duration::from_secs(253_370_764_800);

/// Checks that the system clock is plausible, so that certificates, locks and plans can be validated against
/// it.
///
/// # Errors
/// Returns a description of the problem if the system clock is wrong.
#[expect(clippy::disallowed_methods, reason = "the only place that reads the clock")]
pub(crate) fn check_clock() -> Result<(), &'static str> {
    match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) if since < MAX_CLOCK_TIME => Ok(()),
        _ => Err(
            "The system clock shows a year before 1970 or after 9998. Set the clock, and run the command again.",
        ),
    }
}

/// Current time, in UTC.
#[expect(clippy::disallowed_methods, reason = "the only place that reads the clock")]
pub(crate) fn current_time() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}
