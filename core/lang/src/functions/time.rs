//! Functions on timestamps, which are strings in the format of RFC 3339. The host supplies the
//! current time.

mod format_timestamp;
mod parse_timestamp;

use formwork_value::{Type, Value, duration};
use time::{Duration, OffsetDateTime};

use super::{Args, Builtin, CallError};

type FunctionResult = Result<Value, CallError>;

pub(super) fn builtins() -> Vec<Builtin> {
    vec![
        Builtin::new("formatdate", format_date)
            .with_param("format", Type::String)
            .with_param("time", Type::String)
            .with_return_type(Type::String)
            .described_as(
                "Formats a timestamp.",
                [
                    "The format, with verbs such as `YYYY`, `MMM` or `hh`, and literal strings in single quotes.",
                    "The time, in RFC 3339 format.",
                ],
            )
            .with_example(
                r#"formatdate("DD MMM YYYY hh:mm 'UTC'Z", "2020-02-03T04:05:06Z")"#,
                r#""03 Feb 2020 04:05 UTCZ""#,
            ),
        Builtin::new("timeadd", time_add)
            .with_param("timestamp", Type::String)
            .with_param("duration", Type::String)
            .with_return_type(Type::String)
            .described_as(
                "Adds a duration to a timestamp.",
                [
                    "The time, in RFC 3339 format.",
                    "The duration, as in `1h30m`; it may be negative.",
                ],
            )
            .with_example(r#"timeadd("2020-02-03T04:05:06Z", "1h30m")"#, r#""2020-02-03T05:35:06Z""#),
        Builtin::new("timecmp", time_compare)
            .with_param("timestamp_a", Type::String)
            .with_param("timestamp_b", Type::String)
            .with_return_type(Type::Number)
            .described_as(
                "Compares two timestamps: -1, 0 or 1 if the first is before, at or after the second.",
                ["The first time, in RFC 3339 format.", "The second time, in the same format."],
            )
            .with_example(r#"timecmp("2020-02-03T04:05:06Z", "2020-02-03T05:05:06+01:00")"#, "0"),
        Builtin::new("timestamp", |args| timestamp_value(args, args.ctx.host.clock_and_random.current_time()))
            .with_return_type(Type::String)
            .described_as("Returns the time of the call in UTC, which is unknown while planning.", [])
            .with_example("timestamp()", r#""2024-05-06T07:08:09Z""#),
        Builtin::new("plantimestamp", |args| timestamp_value(args, args.ctx.host.clock_and_random.plan_time()))
            .with_return_type(Type::String)
            .described_as("Returns the time of the plan, in UTC.", [])
            .with_example("plantimestamp()", r#""2024-05-06T00:00:00Z""#),
    ]
}

fn timestamp_value(args: &Args<'_>, time: Option<OffsetDateTime>) -> FunctionResult {
    match time {
        Some(time) => args
            .string_result(format_timestamp::format_rfc3339(time.to_offset(time::UtcOffset::UTC))),
        None => Ok(Value::unknown(Type::String)),
    }
}

fn timestamp_argument(args: &Args<'_>, at: usize) -> Result<OffsetDateTime, CallError> {
    parse_timestamp::parse_rfc3339(args.text(at)?).map_err(|reason| {
        CallError::for_argument(at, format!("not a valid RFC3339 timestamp: {reason}"))
    })
}

fn format_date(args: &Args<'_>) -> FunctionResult {
    let time = timestamp_argument(args, 1)?;
    let text = format_timestamp::format_by_pattern(args.text(0)?, time)
        .map_err(|reason| CallError::for_argument(0, reason))?;
    args.string_result(text)
}

fn time_add(args: &Args<'_>) -> FunctionResult {
    let time =
        timestamp_argument(args, 0).map_err(|error| CallError { argument: None, ..error })?;
    let text = args.text(1)?;
    let nanoseconds = duration::parse_nanoseconds(text).map_err(|reason| {
        CallError::new(format!("{:?} is not a duration such as \"1h30m\": {reason}", text.as_str()))
    })?;
    // The result keeps the offset of the argument, and loses its fractions of a second.
    let later = time
        .checked_add(Duration::nanoseconds(nanoseconds))
        .ok_or_else(|| CallError::new("the result is outside the years 0 to 9999"))?;
    args.string_result(format_timestamp::format_rfc3339(later))
}

fn time_compare(args: &Args<'_>) -> FunctionResult {
    let order = timestamp_argument(args, 0)?.cmp(&timestamp_argument(args, 1)?);
    Ok(Value::int(order as i64))
}
