//! Reading points in time and durations, strictly.

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
    let month = Month::try_from(narrow(month)).map_err(|_| "there is no such month".to_owned())?;
    let date =
        Date::from_calendar_date(i32::try_from(year).unwrap_or(i32::MAX), month, narrow(day))
            .map_err(|_| "the month has no such day".to_owned())?;
    let time = Time::from_hms_nano(narrow(hour), narrow(minute), narrow(second), nanosecond)
        .map_err(|_| "there is no such time of the day".to_owned())?;
    Ok(PrimitiveDateTime::new(date, time).assume_offset(offset))
}

fn narrow(number: u32) -> u8 {
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
        for _ in 0..n {
            match self.next() {
                Some(digit @ b'0'..=b'9') => number = number * 10 + u32::from(digit - b'0'),
                _ => return Err(format!("the {what} must have {n} digits")),
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
        if hours > 24 || minutes > 59 || !self.rest.is_empty() {
            return Err("there is no such offset".into());
        }
        let seconds = i32::try_from(hours * 3600 + minutes * 60).unwrap_or(0) * sign;
        UtcOffset::from_whole_seconds(seconds).map_err(|_| "there is no such offset".into())
    }
}

/// Reads a duration: numbers, each with a unit, and a sign before all. In nanoseconds.
pub(super) fn duration(text: &str) -> Result<i64, String> {
    let (negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, text.get(1..).unwrap_or("")),
        Some(b'+') => (false, text.get(1..).unwrap_or("")),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err("it has no number".into());
    }
    let too_long = || "it is longer than 292 years".to_owned();
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let n_whole = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (whole, behind) = rest.split_at(n_whole);
        let (fraction, behind) = match behind.strip_prefix('.') {
            None => ("", behind),
            Some(behind) => behind.split_at(behind.bytes().take_while(u8::is_ascii_digit).count()),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err("a number must stand before each unit".into());
        }
        let n_unit =
            behind.find(|char: char| char == '.' || char.is_ascii_digit()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(n_unit);
        let unit = unit_nanoseconds(unit)?;
        let whole: i128 =
            if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_long())? };
        let fraction: String = fraction.chars().take(18).collect();
        let scale = 10_i128.pow(u32::try_from(fraction.len()).unwrap_or(0));
        let part: i128 =
            if fraction.is_empty() { 0 } else { fraction.parse().map_err(|_| too_long())? };
        total = whole
            .checked_mul(unit)
            .and_then(|whole| total.checked_add(whole)?.checked_add(part * unit / scale))
            .filter(|total| *total <= -i128::from(i64::MIN))
            .ok_or_else(too_long)?;
        rest = behind;
    }
    i64::try_from(if negative { -total } else { total }).map_err(|_| too_long())
}

fn unit_nanoseconds(unit: &str) -> Result<i128, String> {
    Ok(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "" => return Err("a unit must stand behind each number: h, m, s, ms, us or ns".into()),
        _ => return Err(format!("there is no unit {unit:?}; there are h, m, s, ms, us and ns")),
    })
}
