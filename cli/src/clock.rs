//! The program's one clock. How a time is shown is up to the views.

use time::OffsetDateTime;

/// What time it is, in UTC.
#[expect(clippy::disallowed_methods, reason = "everybody else asks here")]
pub(crate) fn now() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}
