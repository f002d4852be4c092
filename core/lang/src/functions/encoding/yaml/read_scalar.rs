//! YAML scalars: null, bool, number, time or string. Without a tag, the form of a plain scalar
//! determines its type. Quoted scalars are strings.

use formwork_value::{Number, Type, Value};
use time::{Date, Month, OffsetDateTime, PrimitiveDateTime, Time, UtcOffset};

const YAML_TAG_PREFIX: &str = "tag:yaml.org,2002:";

/// Reads a scalar.
///
/// # Errors
/// Returns the reason if the scalar does not fit its tag, or if the tag is not supported.
pub(super) fn read_scalar(tag: Option<&str>, text: &str, plain: bool) -> Result<Value, String> {
    let Some(tag) = tag.filter(|tag| !tag.is_empty()) else {
        return if plain { infer_scalar(text) } else { Ok(Value::string(text)) };
    };
    match tag.strip_prefix(YAML_TAG_PREFIX) {
        Some("str" | "binary") => Ok(Value::string(text)),
        Some(kind @ ("null" | "bool" | "int" | "float" | "timestamp")) => {
            if !plain {
                return Ok(Value::string(text));
            }
            // Values that look like any of these pass for the others, as in Terraform.
            match infer_scalar(text)? {
                Value::String(_) if kind == "null" => Ok(Value::null(Type::Dynamic)),
                Value::String(_) if normalize_timestamp(text).is_none() => {
                    Err(format!("{text:?} is no {kind}"))
                }
                value => Ok(value),
            }
        }
        _ => Err(format!("the tag {tag} is not supported")),
    }
}

/// Checks the tag of a sequence (`seq`) or a mapping (`map`).
///
/// # Errors
/// Returns the reason if it is another tag.
pub(super) fn check_collection_tag(tag: Option<&str>, kind: &str) -> Result<(), String> {
    match tag {
        None | Some("") => Ok(()),
        Some(tag) if tag.strip_prefix(YAML_TAG_PREFIX) == Some(kind) => Ok(()),
        Some(tag) => Err(format!("a {kind} cannot have the tag {tag}")),
    }
}

fn infer_scalar(text: &str) -> Result<Value, String> {
    let infinity = |negative| Ok(Value::Number(Number::infinity(negative)));
    match text {
        "" | "~" | "null" | "Null" | "NULL" => {
            return Ok(Value::null(Type::Dynamic));
        }
        // All these words are of YAML 1.1: version 1.2 has only `true` and `false`.
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Ok(Value::Bool(true));
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Ok(Value::Bool(false));
        }
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return infinity(false),
        "-.inf" | "-.Inf" | "-.INF" => return infinity(true),
        ".nan" | ".NaN" | ".NAN" => return Err("NaN is not supported".to_owned()),
        _ => {}
    }
    if let Some(time) = normalize_timestamp(text) {
        return Ok(Value::string(time));
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix)
            && !digits.is_empty()
            && digits.chars().all(|digit| digit.is_digit(radix))
        {
            let number = u64::from_str_radix(digits, radix)
                .map_err(|_| format!("{text:?} has more than 64 bits"))?;
            return Ok(Value::Number(Number::from(number)));
        }
    }
    let number = parse_decimal(text).map(Value::Number);
    Ok(number.unwrap_or_else(|| Value::string(text)))
}

fn parse_decimal(text: &str) -> Option<Number> {
    // Words that the number parser accepts, such as `inf`, are strings here.
    let first = text.trim_start_matches(['+', '-']).bytes().next()?;
    (first.is_ascii_digit() || first == b'.').then(|| Number::parse(text)).flatten()
}

/// A date, or a date with a time, in the form that the functions on times take. Fields may have one
/// digit; a time needs a zone after `T` and has none after a space.
fn normalize_timestamp(text: &str) -> Option<String> {
    let (year, rest) = text.split_once('-')?;
    // Go's YAML parser treats only strings that begin with four digits and a hyphen as dates.
    if year.len() != 4 {
        return None;
    }
    let (month, rest) = rest.split_once('-')?;
    let n_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (day, rest) = rest.split_at(n_digits);
    let month = Month::try_from(parse_one_or_two_digits(month)?).ok()?;
    let date =
        Date::from_calendar_date(parse_year(year)?, month, parse_one_or_two_digits(day)?).ok()?;
    let (time, offset) = match rest.chars().next() {
        None => (Time::MIDNIGHT, UtcOffset::UTC),
        Some('T' | 't') => {
            let at = rest.find(['Z', '+', '-'])?;
            let (clock, zone) = rest.split_at(at);
            (parse_clock_time(clock.get(1..)?)?, parse_zone_offset(zone)?)
        }
        Some(' ') => (parse_clock_time(rest.get(1..)?)?, UtcOffset::UTC),
        Some(_) => return None,
    };
    Some(format_timestamp(PrimitiveDateTime::new(date, time).assume_offset(offset)))
}

fn parse_year(text: &str) -> Option<i32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// A number of one or two digits.
fn parse_one_or_two_digits(text: &str) -> Option<u8> {
    let digits = matches!(text.len(), 1 | 2) && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// Hours, minutes and seconds; fractions of a second are read and dropped.
fn parse_clock_time(text: &str) -> Option<Time> {
    let mut fields = text.splitn(3, ':');
    let (hour, minute, second) = (fields.next()?, fields.next()?, fields.next()?);
    let (second, fraction) = second.split_once(['.', ',']).unwrap_or((second, "0"));
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Time::from_hms(
        parse_one_or_two_digits(hour)?,
        parse_one_or_two_digits(minute)?,
        parse_one_or_two_digits(second)?,
    )
    .ok()
}

fn parse_zone_offset(text: &str) -> Option<UtcOffset> {
    if text == "Z" {
        return Some(UtcOffset::UTC);
    }
    let (hours, minutes) = text.get(1..)?.split_once(':')?;
    if hours.len() != 2 || minutes.len() != 2 {
        return None;
    }
    let seconds = i32::from(parse_one_or_two_digits(hours)?) * 3_600
        + i32::from(parse_one_or_two_digits(minutes)?) * 60;
    UtcOffset::from_whole_seconds(if text.starts_with('-') { -seconds } else { seconds }).ok()
}

fn format_timestamp(time: OffsetDateTime) -> String {
    let minutes = time.offset().whole_minutes();
    let zone = match minutes {
        0 => "Z".to_owned(),
        _ => {
            let sign = if minutes < 0 { '-' } else { '+' };
            format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
        }
    };
    let (date, clock) = (time.date(), time.time());
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{zone}",
        date.year(),
        u8::from(date.month()),
        date.day(),
        clock.hour(),
        clock.minute(),
        clock.second()
    )
}
