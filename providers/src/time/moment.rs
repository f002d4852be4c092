//! Moments as text, and moving them by units of the calendar.

use std::time::Duration as Elapsed;

use formwork_sdk::prelude::*;
use time::format_description::well_known::Rfc3339;
use time::{Date, Duration, Month, OffsetDateTime};

/// Tells the time.
pub(super) type Clock = fn() -> OffsetDateTime;

/// Reads a moment from its text.
pub(super) fn parse_rfc3339(name: &str, text: &str) -> Answer<OffsetDateTime> {
    OffsetDateTime::parse(text, &Rfc3339).map_err(|error| {
        let detail = format!(
            "`{name}` is {text:?}, which is not an RFC 3339 timestamp ({error}). Give one such \
             as `2020-02-12T06:36:13Z`."
        );
        Problem::new("Invalid RFC3339 String Value", detail)
    })
}

/// Checks a moment that an author wrote.
pub(super) fn check_rfc3339(name: &str, text: &Attr<String>) -> Answer<()> {
    match text.get() {
        Some(text) => parse_rfc3339(name, text).map(drop).map_err(|problem| problem.at(name)),
        None => Ok(()),
    }
}

/// The text of a moment, in whole seconds.
pub(super) fn to_rfc3339(moment: OffsetDateTime) -> String {
    // Only years outside of 0 to 9999 have no text, and no text is read as one.
    moment.truncate_to_second().format(&Rfc3339).unwrap_or_default()
}

/// The parts of the moment that comes out: attributes that all resource types have.
#[derive(Model)]
pub(super) struct MomentParts {
    /// The year.
    #[attr(computed)]
    year: i32,
    /// The month.
    #[attr(computed)]
    month: u8,
    /// The day of the month.
    #[attr(computed)]
    day: u8,
    /// The hour.
    #[attr(computed)]
    hour: u8,
    /// The minute.
    #[attr(computed)]
    minute: u8,
    /// The second.
    #[attr(computed)]
    second: u8,
    /// The seconds from 1970 on.
    #[attr(computed)]
    pub(super) unix: i64,
}

impl From<OffsetDateTime> for MomentPartsComputed {
    fn from(moment: OffsetDateTime) -> Self {
        Self {
            year: moment.year(),
            month: moment.month().into(),
            day: moment.day(),
            hour: moment.hour(),
            minute: moment.minute(),
            second: moment.second(),
            unix: moment.unix_timestamp(),
        }
    }
}

/// A unit to move by.
#[derive(Clone, Copy, Debug)]
pub(super) enum TimeUnit {
    Seconds,
    Minutes,
    Hours,
    Days,
    Months,
    Years,
}

/// Moves a moment. A day that a month does not have counts on into the next: a month after 31 January is
/// 3 March, or 2 March in a leap year.
pub(super) fn add_to_time(
    moment: OffsetDateTime,
    by: i64,
    unit: TimeUnit,
) -> Answer<OffsetDateTime> {
    let seconds = |unit_seconds: i64| by.checked_mul(unit_seconds).map(Duration::seconds);
    let moved = match unit {
        TimeUnit::Seconds => seconds(1).and_then(|by| moment.checked_add(by)),
        TimeUnit::Minutes => seconds(60).and_then(|by| moment.checked_add(by)),
        TimeUnit::Hours => seconds(3600).and_then(|by| moment.checked_add(by)),
        TimeUnit::Days => seconds(86_400).and_then(|by| moment.checked_add(by)),
        TimeUnit::Months => add_months(moment, by),
        TimeUnit::Years => by.checked_mul(12).and_then(|by| add_months(moment, by)),
    };
    moved.filter(|moved| (0..=9999).contains(&moved.year())).ok_or_else(|| {
        let unit = format!("{unit:?}").to_lowercase();
        let detail =
            format!("{by} {unit} from {} is beyond the years 0 to 9999.", to_rfc3339(moment));
        Problem::new("Time out of range", detail)
    })
}

fn add_months(moment: OffsetDateTime, by: i64) -> Option<OffsetDateTime> {
    let months = i64::from(moment.year()) * 12 + i64::from(u8::from(moment.month())) - 1;
    let months = months.checked_add(by)?;
    let year = i32::try_from(months.div_euclid(12)).ok()?;
    let month = Month::try_from(u8::try_from(months.rem_euclid(12)).ok()? + 1).ok()?;
    let first = Date::from_calendar_date(year, month, 1).ok()?;
    let date = first.checked_add(Duration::days(i64::from(moment.day()) - 1))?;
    Some(moment.replace_date(date))
}

/// Reads a part of an import id: a number, or an empty string.
pub(super) fn parse_id_part(text: &str) -> Answer<Attr<i64>> {
    if text.is_empty() {
        return Ok(Attr::Null);
    }
    text.parse().map(Attr::Known).map_err(|error| {
        let detail = format!("{text:?} is not a whole number: {error}.");
        Problem::new("Unexpected Format of ID", detail)
    })
}

/// Reads a length of time such as `1.5h`: a number and `ms`, `s`, `m` or `h`.
pub(super) fn parse_duration_attribute(name: &str, text: &str) -> Answer<Elapsed> {
    parse_duration(text).ok_or_else(|| {
        let detail = format!(
            "`{name}` is {text:?}; give a number and ms, s, m or h right after it, for example \"30s\" \
             for 30 seconds."
        );
        Problem::new("Invalid Attribute Value Match", detail).at(name)
    })
}

fn parse_duration(text: &str) -> Option<Elapsed> {
    let end = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(end);
    let milliseconds = match unit {
        "ms" => 1.0,
        "s" => 1_000.0,
        "m" => 60_000.0,
        "h" => 3_600_000.0,
        _ => return None,
    };
    let (integer, part) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(integer) || !digits(part) {
        return None;
    }
    Elapsed::try_from_secs_f64(number.parse::<f64>().ok()? * milliseconds / 1_000.0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_timestamps_are_reported_at_their_attribute() {
        let invalid = Attr::Known("yesterday".to_owned());
        let problem = parse_rfc3339("rfc3339", "yesterday").unwrap_err();
        assert_ne!(check_rfc3339("rfc3339", &invalid).unwrap_err(), problem);
        assert_eq!(check_rfc3339("rfc3339", &invalid).unwrap_err(), problem.at("rfc3339"));
    }

    #[test]
    fn additions_continue_into_the_next_month() {
        let table = [
            ("2021-01-31T00:00:00Z", 1, TimeUnit::Months, Some("2021-03-03T00:00:00Z")),
            ("2020-01-31T00:00:00Z", 1, TimeUnit::Months, Some("2020-03-02T00:00:00Z")),
            ("2020-02-29T12:00:00+02:00", 1, TimeUnit::Years, Some("2021-03-01T12:00:00+02:00")),
            ("2020-01-15T00:00:00Z", -13, TimeUnit::Months, Some("2018-12-15T00:00:00Z")),
            ("2020-12-31T23:59:59Z", 1, TimeUnit::Seconds, Some("2021-01-01T00:00:00Z")),
            ("2020-01-01T00:00:00Z", -90, TimeUnit::Minutes, Some("2019-12-31T22:30:00Z")),
            ("2020-01-01T00:00:00Z", 9_000, TimeUnit::Years, None),
            ("2020-01-01T00:00:00Z", i64::MAX, TimeUnit::Days, None),
            ("2020-01-01T00:00:00Z", i64::MIN, TimeUnit::Months, None),
        ];
        for (from, by, unit, expected) in table {
            let from = parse_rfc3339("from", from).unwrap();
            let to = add_to_time(from, by, unit).ok().map(to_rfc3339);
            assert_eq!(to.as_deref(), expected, "{by} {unit:?}");
        }
    }

    #[test]
    fn a_duration_is_a_number_and_a_unit() {
        let seconds = |text| parse_duration(text).map(|duration| duration.as_secs_f64());
        assert_eq!(seconds("30s"), Some(30.0));
        assert_eq!(seconds("250ms"), Some(0.25));
        assert_eq!(seconds("1.5h"), Some(5_400.0));
        assert_eq!(seconds("2m"), Some(120.0));
        for text in ["", "30", "s", "1h30m", "-1s", "1 s", ".5s", "1.s", "1e3s", "1d"] {
            assert_eq!(seconds(text), None, "{text}");
        }
        assert_eq!(seconds(&format!("{}h", "9".repeat(400))), None);
    }
}
