//! `duration_parse`, `rfc3339_parse` and `unix_timestamp_parse`: the parts of lengths of time and of
//! moments.

use formwork_sdk::prelude::*;
use formwork_sdk::value::duration;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Reads a length of time.
///
/// Each attribute of the result is the whole length in its unit; the small units are whole numbers.
#[derive(Arguments)]
pub(super) struct DurationParse {
    /// A length of time, such as `1h30m` or `-1.5s`.
    duration: String,
}

/// A length of time in every unit.
#[derive(Clone, Debug, Nested)]
pub(super) struct DurationInUnits {
    #[attr(computed)]
    hours: f64,
    #[attr(computed)]
    minutes: f64,
    #[attr(computed)]
    seconds: f64,
    #[attr(computed)]
    milliseconds: i64,
    #[attr(computed)]
    microseconds: i64,
    #[attr(computed)]
    nanoseconds: i64,
}

impl Function for DurationParse {
    type Result = DurationInUnits;

    fn call(self) -> Answer<DurationInUnits> {
        let text = self.duration;
        let nanoseconds = duration::parse_nanoseconds(&text).map_err(|_| {
            let reason = format!(
                "{text:?} is not a duration; give numbers with the units h, m, s, ms, us or ns, such \
                 as \"1h30m\""
            );
            Problem::from_detail(reason).at("duration")
        })?;
        Ok(DurationInUnits {
            hours: nanoseconds_in_unit(nanoseconds, 3_600_000_000_000),
            minutes: nanoseconds_in_unit(nanoseconds, 60_000_000_000),
            seconds: nanoseconds_in_unit(nanoseconds, 1_000_000_000),
            milliseconds: nanoseconds / 1_000_000,
            microseconds: nanoseconds / 1_000,
            nanoseconds,
        })
    }
}

/// A number of nanoseconds in a larger unit, with the precision of a double.
#[expect(clippy::cast_precision_loss, reason = "the rest after division is small enough")]
fn nanoseconds_in_unit(nanoseconds: i64, unit: i64) -> f64 {
    (nanoseconds / unit) as f64 + (nanoseconds % unit) as f64 / unit as f64
}

/// Parses an RFC 3339 timestamp.
///
/// The parts are those of the given string, with its offset.
#[derive(Arguments)]
pub(super) struct Rfc3339Parse {
    /// A moment as RFC 3339 writes it, such as `2023-07-25T23:43:16Z`.
    timestamp: String,
}

impl Function for Rfc3339Parse {
    type Result = Moment;

    fn call(self) -> Answer<Moment> {
        let text = self.timestamp;
        let moment = OffsetDateTime::parse(&text, &Rfc3339).map_err(|error| {
            let reason = format!("{text:?} is not an RFC 3339 timestamp: {error}");
            Problem::from_detail(reason).at("timestamp")
        })?;
        Ok(moment.into())
    }
}

/// Parses a Unix timestamp.
///
/// The parts are in UTC.
#[derive(Arguments)]
pub(super) struct UnixTimestampParse {
    /// Seconds since the beginning of 1970 in UTC.
    unix_timestamp: i64,
}

impl Function for UnixTimestampParse {
    type Result = UnixMoment;

    fn call(self) -> Answer<UnixMoment> {
        let seconds = self.unix_timestamp;
        let moment = OffsetDateTime::from_unix_timestamp(seconds).ok();
        let moment = moment.filter(|moment| (0..=9999).contains(&moment.year()));
        moment.map(UnixMoment::from).ok_or_else(|| {
            let reason = format!("{seconds} is beyond the years 0 to 9999");
            Problem::from_detail(reason).at("unix_timestamp")
        })
    }
}

/// The parts of a moment, in a struct of their own for each name of the moment's other form.
macro_rules! moment_structs {
    ($($name:ident: $other:ident, $ty:ty, $convert:expr;)*) => {$(
        /// The parts of a moment.
        #[derive(Clone, Debug, Nested)]
        pub(super) struct $name {
            #[attr(computed)]
            year: i32,
            #[attr(computed)]
            year_day: u16,
            #[attr(computed)]
            day: u8,
            #[attr(computed)]
            month: u8,
            #[attr(computed)]
            month_name: String,
            #[attr(computed)]
            weekday: u8,
            #[attr(computed)]
            weekday_name: String,
            #[attr(computed)]
            hour: u8,
            #[attr(computed)]
            minute: u8,
            #[attr(computed)]
            second: u8,
            #[attr(computed)]
            iso_year: i32,
            #[attr(computed)]
            iso_week: u8,
            #[attr(computed)]
            $other: $ty,
        }

        impl From<OffsetDateTime> for $name {
            fn from(moment: OffsetDateTime) -> Self {
                let (iso_year, iso_week, _) = moment.to_iso_week_date();
                Self {
                    year: moment.year(),
                    year_day: moment.ordinal(),
                    day: moment.day(),
                    month: moment.month().into(),
                    month_name: moment.month().to_string(),
                    weekday: moment.weekday().number_days_from_sunday(),
                    weekday_name: moment.weekday().to_string(),
                    hour: moment.hour(),
                    minute: moment.minute(),
                    second: moment.second(),
                    iso_year,
                    iso_week,
                    $other: $convert(moment),
                }
            }
        }
    )*};
}

moment_structs! {
    Moment: unix, i64, OffsetDateTime::unix_timestamp;
    UnixMoment: rfc3339, String, super::moment::to_rfc3339;
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::call_function;
    use formwork_sdk::value::{Path, Value};

    use crate::time::provider;

    async fn result_text(name: &str, argument: Value, parts: &[&str]) -> String {
        let result = match call_function(provider(), name, vec![argument]).await {
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
    async fn a_timestamp_has_the_parts_of_its_own_offset() {
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
        let of = async |text: &str| result_text("rfc3339_parse", Value::string(text), &parts).await;
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
    async fn a_unix_timestamp_has_the_parts_of_utc() {
        let parts = ["year", "weekday_name", "hour", "rfc3339"];
        let of =
            async |number| result_text("unix_timestamp_parse", Value::int(number), &parts).await;
        assert_eq!(of(1_690_328_596).await, "2023 Tuesday 23 2023-07-25T23:43:16Z");
        assert_eq!(of(-1).await, "1969 Wednesday 23 1969-12-31T23:59:59Z");
        assert!(of(i64::MAX).await.contains("beyond the years"));
    }

    #[tokio::test]
    async fn a_duration_is_converted_to_every_unit() {
        let parts = ["hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"];
        let of =
            async |text: &str| result_text("duration_parse", Value::string(text), &parts).await;
        assert_eq!(of("1h").await, "1 60 3600 3600000 3600000000 3600000000000");
        assert_eq!(of("-1m30s").await, "-0.025 -1.5 -90 -90000 -90000000 -90000000000");
        assert_eq!(of("1.5ms").await.split(' ').next_back(), Some("1500000"));
        assert_eq!(of("0").await, "0 0 0 0 0 0");
        for text in ["", "1", "h", "1x", "1 h", ".h", "1h-1m", "99999999999h"] {
            assert!(of(text).await.contains("is not a duration"), "{text:?}");
        }
    }
}
