//! Formatting of timestamps, by a format string or in RFC 3339 format.

use time::OffsetDateTime;

/// Formats a timestamp without fractions of a second.
pub(super) fn format_rfc3339(time: OffsetDateTime) -> String {
    format!(
        "{}{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}",
        if time.year() < 0 { "-" } else { "" },
        time.year().abs(),
        u8::from(time.month()),
        time.day(),
        time.hour(),
        time.minute(),
        time.second(),
        if time.offset().is_utc() { "Z".to_owned() } else { format_zone_offset(time, ":") }
    )
}

/// Formats a timestamp by a format string: runs of one letter represent its parts, and quoted parts and
/// other characters are literal.
pub(super) fn format_by_pattern(form: &str, time: OffsetDateTime) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = form;
    while let Some(first) = rest.chars().next() {
        if first == '\'' {
            rest = write_quoted_part(&mut out, rest)?;
        } else if first.is_ascii_alphabetic() {
            let n = rest.chars().take_while(|char| *char == first).count();
            let (run, after_run) = rest.split_at(n);
            out.push_str(&format_time_verb(run, first, time)?);
            rest = after_run;
        } else {
            out.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or("");
        }
    }
    Ok(out)
}

/// Writes the quoted text, in which two quotes represent one. Returns the rest.
fn write_quoted_part<'f>(out: &mut String, form: &'f str) -> Result<&'f str, String> {
    let mut rest = form.get(1..).unwrap_or("");
    if let Some(after_quote) = rest.strip_prefix('\'') {
        out.push('\'');
        return Ok(after_quote);
    }
    loop {
        let (literal, after_literal) =
            rest.split_once('\'').ok_or_else(|| "a single quote is not closed".to_owned())?;
        out.push_str(literal);
        match after_literal.strip_prefix('\'') {
            Some(after_quote) => {
                out.push('\'');
                rest = after_quote;
            }
            None => return Ok(after_literal),
        }
    }
}

fn format_time_verb(run: &str, letter: char, time: OffsetDateTime) -> Result<String, String> {
    let month = time.month().to_string();
    let weekday = time.weekday().to_string();
    let short = |name: &str| name.get(..3).unwrap_or(name).to_owned();
    let two = |number: u8| format!("{number:02}");
    let half_day = match time.hour() % 12 {
        0 => 12,
        hour => hour,
    };
    let noon = time.hour() >= 12;
    Ok(match run {
        "YYYY" => format!("{:04}", time.year()),
        "YY" => format!("{:02}", time.year().rem_euclid(100)),
        "MMMM" => month,
        "MMM" => short(&month),
        "MM" => two(u8::from(time.month())),
        "M" => u8::from(time.month()).to_string(),
        "DD" => two(time.day()),
        "D" => time.day().to_string(),
        "EEEE" => weekday,
        "EEE" => short(&weekday),
        "hh" => two(time.hour()),
        "h" => time.hour().to_string(),
        "HH" => two(half_day),
        "H" => half_day.to_string(),
        "AA" => if noon { "PM" } else { "AM" }.to_owned(),
        "aa" => if noon { "pm" } else { "am" }.to_owned(),
        "mm" => two(time.minute()),
        "m" => time.minute().to_string(),
        "ss" => two(time.second()),
        "s" => time.second().to_string(),
        "Z" if time.offset().is_utc() => "Z".to_owned(),
        "ZZZ" if time.offset().is_utc() => "UTC".to_owned(),
        "ZZZ" | "ZZZZ" => format_zone_offset(time, ""),
        "Z" | "ZZZZZ" => format_zone_offset(time, ":"),
        _ => return Err(unknown_verb_reason(run, letter)),
    })
}

fn unknown_verb_reason(run: &str, letter: char) -> String {
    let there_are = match letter {
        'Y' => "year must either be \"YY\" or \"YYYY\"",
        'M' => "month must be \"M\", \"MM\", \"MMM\", or \"MMMM\"",
        'D' => "day of month must either be \"D\" or \"DD\"",
        'E' => "day of week must be \"EEE\" or \"EEEE\"",
        'h' => "24-hour must either be \"h\" or \"hh\"",
        'H' => "12-hour must either be \"H\" or \"HH\"",
        'a' | 'A' => "must be \"aa\" or \"AA\"",
        'm' => "minute must either be \"m\" or \"mm\"",
        's' => "second must either be \"s\" or \"ss\"",
        'Z' => "timezone must be \"Z\", \"ZZZ\", \"ZZZZ\" or \"ZZZZZ\"",
        _ => {
            return format!(
                "invalid date format verb {run:?}; literal letters must be enclosed in single quotes"
            );
        }
    };
    format!("invalid date format verb {run:?}: {there_are}")
}

fn format_zone_offset(time: OffsetDateTime, separator: &str) -> String {
    let minutes = time.offset().whole_minutes();
    let sign = if minutes < 0 { '-' } else { '+' };
    let minutes = minutes.abs();
    format!("{sign}{:02}{separator}{:02}", minutes / 60, minutes % 60)
}
