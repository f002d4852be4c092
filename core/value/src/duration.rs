//! Parser of durations such as `90s`, `1h30m` and `1.5m`, for functions, options, connections and
//! providers. It is exact to the nanosecond, because it does not use binary fractions.

/// Parses a duration: an optional sign, and numbers that are each followed by a unit. Digits below a
/// nanosecond are ignored.
///
/// # Errors
/// Returns the reason, to follow "it is not a duration:", if the string is not a duration.
pub fn parse_nanoseconds(text: &str) -> Result<i64, String> {
    let (negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, text.get(1..).unwrap_or("")),
        Some(b'+') => (false, text.get(1..).unwrap_or("")),
        _ => (false, text),
    };
    // Go's durations accept a zero without a unit, but no other number.
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err("it has no number".into());
    }
    let too_long = || "it is longer than 292 years".to_owned();
    // The product of a number and its unit may be too large before the check.
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let n_whole = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (whole, after_whole) = rest.split_at(n_whole);
        let (fraction, after_number) = match after_whole.strip_prefix('.') {
            None => ("", after_whole),
            Some(after_dot) => {
                after_dot.split_at(after_dot.bytes().take_while(u8::is_ascii_digit).count())
            }
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err("each unit must follow a number".into());
        }
        let n_unit = after_number
            .find(|char: char| char == '.' || char.is_ascii_digit())
            .unwrap_or(after_number.len());
        let (unit, after_unit) = after_number.split_at(n_unit);
        let unit = nanoseconds_of_unit(unit)?;
        let whole: i128 =
            if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_long())? };
        // Eighteen digits are exact to the nanosecond for every unit, and their product fits
        // `i128`.
        let fraction: String = fraction.chars().take(18).collect();
        let scale = 10_i128.pow(u32::try_from(fraction.len()).unwrap_or(0));
        let part: i128 =
            if fraction.is_empty() { 0 } else { fraction.parse().map_err(|_| too_long())? };
        total = whole
            .checked_mul(unit)
            .and_then(|whole| total.checked_add(whole)?.checked_add(part * unit / scale))
            // One more than the greatest positive value, because the sign is applied at the end.
            .filter(|total| *total <= -i128::from(i64::MIN))
            .ok_or_else(too_long)?;
        rest = after_unit;
    }
    i64::try_from(if negative { -total } else { total }).map_err(|_| too_long())
}

fn nanoseconds_of_unit(unit: &str) -> Result<i128, String> {
    Ok(match unit {
        "ns" => 1,
        // The two signs are different characters, micro sign and Greek mu, and Go takes both.
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "" => return Err("each number must be followed by a unit: h, m, s, ms, us or ns".into()),
        _ => {
            return Err(format!(
                "the unit {unit:?} does not exist; the units are h, m, s, ms, us and ns"
            ));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::parse_nanoseconds;

    #[test]
    fn durations_are_parsed_to_the_nanosecond() {
        for (text, expected) in [
            ("0", 0),
            ("+0", 0),
            ("-0", 0),
            ("0s", 0),
            ("30s", 30_000_000_000),
            ("+5s", 5_000_000_000),
            ("-1.5h", -5_400_000_000_000),
            ("1h30m", 5_400_000_000_000),
            ("1.5m", 90_000_000_000),
            ("1.m", 60_000_000_000),
            (".5m", 30_000_000_000),
            ("100us", 100_000),
            // Go reads both the sign for micro and the Greek letter.
            ("100\u{b5}s100\u{3bc}s", 200_000),
            ("1ms1ns", 1_000_001),
            // As in Go, fractions of a nanosecond are truncated.
            ("0.1000000001s", 100_000_000),
            ("2562047h47m16.854775807s", i64::MAX),
            ("-2562047h47m16.854775808s", i64::MIN),
        ] {
            assert_eq!(parse_nanoseconds(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn invalid_durations_are_refused() {
        for text in [
            "",
            "+",
            "-",
            "5",
            "5 s",
            "soon",
            "s",
            ".s",
            "1e9s",
            "1h-1m",
            "--1s",
            "1d",
            "1S",
            // As in Go, only the single zero needs no unit.
            "00",
            "2562047h47m16.854775808s",
            "99999999999999999999999999999999999999999h",
        ] {
            assert!(parse_nanoseconds(text).is_err(), "{text}");
        }
    }
}
