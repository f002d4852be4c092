//! The program's one clock. The views decide the format of a time.

use time::OffsetDateTime;

/// Current time, in UTC.
#[expect(clippy::disallowed_methods, reason = "everybody else asks here")]
pub(crate) fn now() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}
