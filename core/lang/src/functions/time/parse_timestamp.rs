//! Strict parser for timestamps.

use time::{Date, Month, OffsetDateTime, PrimitiveDateTime, Time, UtcOffset};

/// Parses a timestamp in RFC 3339 format, with capital letters and without leap seconds.
pub(super) fn parse_rfc3339(text: &str) -> Result<OffsetDateTime, String> {
    let mut cursor = TimestampCursor { rest: text.as_bytes() };
    let year = cursor.read_digits(4, "year")?;
    cursor.expect_byte(b'-', "the year")?;
    let month = cursor.read_digits(2, "month")?;
    cursor.expect_byte(b'-', "the month")?;
    let day = cursor.read_digits(2, "day")?;
    cursor.expect_byte(b'T', "the date")?;
    let hour = cursor.read_digits(2, "hour")?;
    cursor.expect_byte(b':', "the hour")?;
    let minute = cursor.read_digits(2, "minute")?;
    cursor.expect_byte(b':', "the minute")?;
    let second = cursor.read_digits(2, "second")?;
    let nanosecond = cursor.read_fraction()?;
    let offset = cursor.read_zone_offset()?;
    let month = Month::try_from(to_u8_saturating(month))
        .map_err(|_| "there is no such month".to_owned())?;
    let date = Date::from_calendar_date(
        i32::try_from(year).unwrap_or(i32::MAX),
        month,
        to_u8_saturating(day),
    )
    .map_err(|_| "the month has no such day".to_owned())?;
    let time = Time::from_hms_nano(
        to_u8_saturating(hour),
        to_u8_saturating(minute),
        to_u8_saturating(second),
        nanosecond,
    )
    .map_err(|_| "there is no such time of the day".to_owned())?;
    Ok(PrimitiveDateTime::new(date, time).assume_offset(offset))
}

fn to_u8_saturating(number: u32) -> u8 {
    // No part of a time may be 255, so a number that does not fit is refused later.
    u8::try_from(number).unwrap_or(u8::MAX)
}

struct TimestampCursor<'t> {
    rest: &'t [u8],
}

impl TimestampCursor<'_> {
    fn next_byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn read_digits(&mut self, n: usize, component: &str) -> Result<u32, String> {
        let mut number = 0;
        let end = self.rest.iter().position(|byte| b"-T:.Z+".contains(byte));
        let text = self.rest.get(..end.unwrap_or(self.rest.len())).unwrap_or_default();
        for _ in 0..n {
            match self.next_byte() {
                Some(digit @ b'0'..=b'9') => number = number * 10 + u32::from(digit - b'0'),
                _ => {
                    let text = String::from_utf8_lossy(text);
                    return Err(format!(
                        "cannot use {text:?} as {component}: it must have {n} digits"
                    ));
                }
            }
        }
        Ok(number)
    }

    fn expect_byte(&mut self, byte: u8, component: &str) -> Result<(), String> {
        if self.next_byte() == Some(byte) {
            return Ok(());
        }
        Err(format!("{:?} must follow {component}", char::from(byte)))
    }

    /// Parses a fraction of a second in nanoseconds. Further digits are ignored.
    fn read_fraction(&mut self) -> Result<u32, String> {
        let Some(digits) = self.rest.strip_prefix(b".") else { return Ok(0) };
        let n = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if n == 0 {
            return Err("digits must follow the decimal point".into());
        }
        let (fraction, rest) = digits.split_at(n);
        self.rest = rest;
        let padded = fraction.iter().copied().chain(std::iter::repeat(b'0'));
        Ok(padded.take(9).fold(0, |number, digit| number * 10 + u32::from(digit - b'0')))
    }

    fn read_zone_offset(&mut self) -> Result<UtcOffset, String> {
        let sign = match self.next_byte() {
            Some(b'Z') if self.rest.is_empty() => return Ok(UtcOffset::UTC),
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Err("the time must end with \"Z\" or an offset like \"+01:00\"".into()),
        };
        let hours = self.read_digits(2, "hour of the offset")?;
        self.expect_byte(b':', "the hour of the offset")?;
        let minutes = self.read_digits(2, "minute of the offset")?;
        // Go accepts an offset of 24 hours.
        if hours > 24 || minutes > 59 || !self.rest.is_empty() {
            return Err("there is no such offset".into());
        }
        let seconds = i32::try_from(hours * 3600 + minutes * 60).unwrap_or(0) * sign;
        UtcOffset::from_whole_seconds(seconds).map_err(|_| "there is no such offset".into())
    }
}
