//! Reading points in time, strictly.

use time::{Date, Month, OffsetDateTime, PrimitiveDateTime, Time, UtcOffset};

/// Reads a point in time in the form of RFC 3339, with capital letters and without leap seconds.
pub(super) fn rfc3339(text: &str) -> Result<OffsetDateTime, String> {
    let mut cursor = Cursor { rest: text.as_bytes() };
    let year = cursor.digits(4, "year")?;
    cursor.expect(b'-', "the year")?;
    let month = cursor.digits(2, "month")?;
    cursor.expect(b'-', "the month")?;
    let day = cursor.digits(2, "day")?;
    cursor.expect(b'T', "the date")?;
    let hour = cursor.digits(2, "hour")?;
    cursor.expect(b':', "the hour")?;
    let minute = cursor.digits(2, "minute")?;
    cursor.expect(b':', "the minute")?;
    let second = cursor.digits(2, "second")?;
    let nanosecond = cursor.fraction()?;
    let offset = cursor.offset()?;
    let month = Month::try_from(to_u8(month)).map_err(|_| "there is no such month".to_owned())?;
    let date = Date::from_calendar_date(i32::try_from(year).unwrap_or(i32::MAX), month, to_u8(day))
        .map_err(|_| "the month has no such day".to_owned())?;
    let time = Time::from_hms_nano(to_u8(hour), to_u8(minute), to_u8(second), nanosecond)
        .map_err(|_| "there is no such time of the day".to_owned())?;
    Ok(PrimitiveDateTime::new(date, time).assume_offset(offset))
}

fn to_u8(number: u32) -> u8 {
    // No part of a time may be 255, so a number that does not fit is refused later.
    u8::try_from(number).unwrap_or(u8::MAX)
}

struct Cursor<'t> {
    rest: &'t [u8],
}

impl Cursor<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn digits(&mut self, n: usize, what: &str) -> Result<u32, String> {
        let mut number = 0;
        let end = self.rest.iter().position(|byte| b"-T:.Z+".contains(byte));
        let found = self.rest.get(..end.unwrap_or(self.rest.len())).unwrap_or_default();
        for _ in 0..n {
            match self.next() {
                Some(digit @ b'0'..=b'9') => number = number * 10 + u32::from(digit - b'0'),
                _ => {
                    let found = String::from_utf8_lossy(found);
                    return Err(format!("cannot use {found:?} as {what}: it must have {n} digits"));
                }
            }
        }
        Ok(number)
    }

    fn expect(&mut self, byte: u8, behind: &str) -> Result<(), String> {
        if self.next() == Some(byte) {
            return Ok(());
        }
        Err(format!("{:?} must stand behind {behind}", char::from(byte)))
    }

    /// A fraction of a second in nanoseconds; digits beyond those do not count.
    fn fraction(&mut self) -> Result<u32, String> {
        let Some(digits) = self.rest.strip_prefix(b".") else { return Ok(0) };
        let n = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if n == 0 {
            return Err("digits must stand behind the point".into());
        }
        let (fraction, rest) = digits.split_at(n);
        self.rest = rest;
        let padded = fraction.iter().copied().chain(std::iter::repeat(b'0'));
        Ok(padded.take(9).fold(0, |number, digit| number * 10 + u32::from(digit - b'0')))
    }

    fn offset(&mut self) -> Result<UtcOffset, String> {
        let sign = match self.next() {
            Some(b'Z') if self.rest.is_empty() => return Ok(UtcOffset::UTC),
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Err("the time must end with \"Z\" or an offset like \"+01:00\"".into()),
        };
        let hours = self.digits(2, "hour of the offset")?;
        self.expect(b':', "the hour of the offset")?;
        let minutes = self.digits(2, "minute of the offset")?;
        // Go accepts an offset of 24 hours.
        if hours > 24 || minutes > 59 || !self.rest.is_empty() {
            return Err("there is no such offset".into());
        }
        let seconds = i32::try_from(hours * 3600 + minutes * 60).unwrap_or(0) * sign;
        UtcOffset::from_whole_seconds(seconds).map_err(|_| "there is no such offset".into())
    }
}
