//! `duration_parse`, `rfc3339_parse` and `unix_timestamp_parse`: the parts of lengths of time and of
//! moments.

use formwork_sdk::prelude::*;
use formwork_sdk::value::{Number, Type, Value, duration};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The function `duration_parse`.
pub(super) struct DurationParse;

/// The function `rfc3339_parse`.
pub(super) struct Rfc3339Parse;

/// The function `unix_timestamp_parse`.
pub(super) struct UnixTimestampParse;

impl Function for DurationParse {
    fn signature(&self) -> Signature {
        let parts = ["hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"];
        let text = "A length of time, such as `1h30m` or `-1.5s`.";
        Signature::new(Type::object(parts.map(|part| (part, Type::Number))), "Reads a length of time.")
            .describe("Each attribute of the result is the whole length in its unit; the small units are whole numbers.")
            .parameter(Parameter::new("duration", Type::String, text))
    }

    fn call(&self, arguments: &Arguments) -> Result<Value, Refusal> {
        let text: String = arguments.get(0)?;
        let nanoseconds = duration::nanoseconds(&text).map_err(|_| {
            Refusal::of_argument(
                0,
                format!("{text:?} is no length of time; give numbers with the units h, m, s, ms, us or ns, such as \"1h30m\""),
            )
        })?;
        let part = |unit: i64| fraction(nanoseconds, unit);
        let whole = |unit: i64| Value::int(nanoseconds / unit);
        Ok(Value::object([
            ("hours", part(3_600_000_000_000)),
            ("minutes", part(60_000_000_000)),
            ("seconds", part(1_000_000_000)),
            ("milliseconds", whole(1_000_000)),
            ("microseconds", whole(1_000)),
            ("nanoseconds", whole(1)),
        ]))
    }
}

/// A number of nanoseconds in a larger unit, with the precision of a double.
fn fraction(nanoseconds: i64, unit: i64) -> Value {
    #[expect(clippy::cast_precision_loss, reason = "the rest after division is small enough")]
    let value = (nanoseconds / unit) as f64 + (nanoseconds % unit) as f64 / unit as f64;
    Number::from_f64(value).map_or_else(|| Value::int(nanoseconds / unit), Value::Number)
}

impl Function for Rfc3339Parse {
    fn signature(&self) -> Signature {
        let text = "A moment as RFC 3339 writes it, such as `2023-07-25T23:43:16Z`.";
        Signature::new(parts_type("unix", Type::Number), "Reads a moment from its text.")
            .describe("The parts are those of the text, with the offset it has.")
            .parameter(Parameter::new("timestamp", Type::String, text))
    }

    fn call(&self, arguments: &Arguments) -> Result<Value, Refusal> {
        let text: String = arguments.get(0)?;
        let moment = OffsetDateTime::parse(&text, &Rfc3339).map_err(|error| {
            let why = format!("{text:?} is not a moment as RFC 3339 writes it: {error}");
            Refusal::of_argument(0, why)
        })?;
        Ok(parts(moment, ("unix", Value::int(moment.unix_timestamp()))))
    }
}

impl Function for UnixTimestampParse {
    fn signature(&self) -> Signature {
        let number = "Seconds since the beginning of 1970 in UTC.";
        Signature::new(
            parts_type("rfc3339", Type::String),
            "Reads a moment from its Unix timestamp.",
        )
        .describe("The parts are those of the moment in UTC.")
        .parameter(Parameter::new("unix_timestamp", Type::Number, number))
    }

    fn call(&self, arguments: &Arguments) -> Result<Value, Refusal> {
        let seconds: i64 = arguments.get(0)?;
        let moment = OffsetDateTime::from_unix_timestamp(seconds).ok();
        let moment = moment.filter(|moment| (0..=9999).contains(&moment.year()));
        let moment = moment.ok_or_else(|| {
            Refusal::of_argument(0, format!("{seconds} is beyond the years 0 to 9999"))
        })?;
        Ok(parts(moment, ("rfc3339", Value::string(super::moment::text(moment)))))
    }
}

fn parts_type(other: &'static str, ty: Type) -> Type {
    let numbers = [
        "year", "year_day", "day", "month", "weekday", "hour", "minute", "second", "iso_year",
        "iso_week",
    ];
    let texts = ["month_name", "weekday_name"];
    let numbers = numbers.map(|name| (name, Type::Number));
    let texts = texts.map(|name| (name, Type::String));
    Type::object(numbers.into_iter().chain(texts).chain([(other, ty)]))
}

fn parts(moment: OffsetDateTime, other: (&'static str, Value)) -> Value {
    let (iso_year, iso_week, _) = moment.to_iso_week_date();
    let small = |number: u8| Value::int(number.into());
    Value::object([
        ("year", Value::int(moment.year().into())),
        ("year_day", Value::int(moment.ordinal().into())),
        ("day", small(moment.day())),
        ("month", small(moment.month().into())),
        ("month_name", Value::string(moment.month().to_string())),
        ("weekday", small(moment.weekday().number_days_from_sunday())),
        ("weekday_name", Value::string(moment.weekday().to_string())),
        ("hour", small(moment.hour())),
        ("minute", small(moment.minute())),
        ("second", small(moment.second())),
        ("iso_year", Value::int(iso_year.into())),
        ("iso_week", small(iso_week)),
        other,
    ])
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::call;
    use formwork_sdk::value::Path;

    use super::*;
    use crate::time::provider;

    async fn shown(name: &str, argument: Value, parts: &[&str]) -> String {
        let result = match call(provider(), name, vec![argument]).await {
            Ok(result) => result,
            Err(refusal) => return refusal.0,
        };
        let part = |name: &&str| match Path::root().attribute(*name).find(&result) {
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::String(text)) => text.to_string(),
            other => format!("{other:?}"),
        };
        parts.iter().map(part).collect::<Vec<_>>().join(" ")
    }

    #[tokio::test]
    async fn a_moment_has_the_parts_of_its_own_offset() {
        let parts = [
            "year",
            "month",
            "month_name",
            "day",
            "weekday",
            "weekday_name",
            "year_day",
            "iso_year",
            "iso_week",
            "hour",
            "minute",
            "second",
            "unix",
        ];
        let of = async |text: &str| shown("rfc3339_parse", Value::string(text), &parts).await;
        assert_eq!(
            of("2023-07-25T23:43:16Z").await,
            "2023 7 July 25 2 Tuesday 206 2023 30 23 43 16 1690328596"
        );
        assert_eq!(
            of("2021-01-01T00:30:00+01:00").await,
            "2021 1 January 1 5 Friday 1 2020 53 0 30 0 1609457400"
        );
        assert!(of("yesterday").await.contains("argument 1"));
    }

    #[tokio::test]
    async fn a_timestamp_has_the_parts_of_utc() {
        let parts = ["year", "weekday_name", "hour", "rfc3339"];
        let of = async |number| shown("unix_timestamp_parse", Value::int(number), &parts).await;
        assert_eq!(of(1_690_328_596).await, "2023 Tuesday 23 2023-07-25T23:43:16Z");
        assert_eq!(of(-1).await, "1969 Wednesday 23 1969-12-31T23:59:59Z");
        assert!(of(i64::MAX).await.contains("beyond the years"));
    }

    #[tokio::test]
    async fn a_length_of_time_has_its_length_in_every_unit() {
        let parts = ["hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"];
        let of = async |text: &str| shown("duration_parse", Value::string(text), &parts).await;
        assert_eq!(of("1h").await, "1 60 3600 3600000 3600000000 3600000000000");
        assert_eq!(of("-1m30s").await, "-0.025 -1.5 -90 -90000 -90000000 -90000000000");
        assert_eq!(of("1.5ms").await.split(' ').next_back(), Some("1500000"));
        assert_eq!(of("0").await, "0 0 0 0 0 0");
        for text in ["", "1", "h", "1x", "1 h", ".h", "1h-1m", "99999999999h"] {
            assert!(of(text).await.contains("is no length of time"), "{text:?}");
        }
    }
}
