//! Log lines for the host, with named values. The type of a value decides its form in the log: a
//! [`Secret`] has no printable form.

use std::io::Write as _;

use formwork_value::Value;
use formwork_value::codec::json;

use crate::{Attr, Secret};

/// Level of a line.
///
/// ```
/// use formwork_sdk::log::{Level, write_line};
///
/// let n_retries = 2_u64;
/// let level = if n_retries > 0 { Level::Warn } else { Level::Info };
/// write_line(level, "created", &[("id", &"n-1"), ("retries", &n_retries)]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Every step.
    Trace,
    /// Details for debugging.
    Debug,
    /// Events of general interest.
    Info,
    /// Events that need attention.
    Warn,
    /// Failures.
    Error,
}

/// A value that can be logged.
///
/// ```
/// use formwork_sdk::Secret;
/// use formwork_sdk::log::Loggable as _;
///
/// assert_eq!(Some(7_i64).to_log_string(), "7");
/// assert_eq!(None::<i64>.to_log_string(), "null");
/// assert_eq!(Secret::<String>::new("hunter2").to_log_string(), "(sensitive)");
/// ```
pub trait Loggable {
    /// The form of the level in the log.
    fn to_log_string(&self) -> String;
}

macro_rules! impl_loggable_by_display {
    ($($ty:ty)*) => {$(
        impl Loggable for $ty {
            fn to_log_string(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

impl_loggable_by_display!(str String bool i8 i16 i32 i64 u8 u16 u32 u64 usize f64);

impl<T> Loggable for Secret<T> {
    fn to_log_string(&self) -> String {
        "(sensitive)".to_owned()
    }
}

impl<T: Loggable + ?Sized> Loggable for &T {
    fn to_log_string(&self) -> String {
        (**self).to_log_string()
    }
}

impl<T: Loggable> Loggable for Option<T> {
    fn to_log_string(&self) -> String {
        self.as_ref().map_or_else(|| "null".to_owned(), Loggable::to_log_string)
    }
}

impl<T: Loggable> Loggable for Attr<T> {
    fn to_log_string(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Unknown => "unknown".to_owned(),
            Self::Known(value) => value.to_log_string(),
        }
    }
}

/// Writes a line to the host's log. The host decides which lines it keeps.
pub fn write_line(level: Level, message: &str, values: &[(&str, &dyn Loggable)]) {
    let text = render_log_line(level, message, values);
    // The host no longer reads, so an error about that would not reach it either.
    // The lock holds for the whole line, so that lines of two threads do not mix.
    drop(writeln!(std::io::stderr().lock(), "{text}"));
}

/// Writes a line about a single step.
pub fn trace(message: &str, values: &[(&str, &dyn Loggable)]) {
    write_line(Level::Trace, message, values);
}

/// Writes a line for debugging.
pub fn debug(message: &str, values: &[(&str, &dyn Loggable)]) {
    write_line(Level::Debug, message, values);
}

/// Writes a line of general interest, such as the progress of a long operation.
pub fn info(message: &str, values: &[(&str, &dyn Loggable)]) {
    write_line(Level::Info, message, values);
}

/// Writes a line about an event that needs attention.
pub fn warn(message: &str, values: &[(&str, &dyn Loggable)]) {
    write_line(Level::Warn, message, values);
}

/// Writes a line about a failure.
pub fn error(message: &str, values: &[(&str, &dyn Loggable)]) {
    write_line(Level::Error, message, values);
}

/// The line in the format of the host: one JSON object.
fn render_log_line(level: Level, message: &str, values: &[(&str, &dyn Loggable)]) -> String {
    let level = match level {
        Level::Trace => "trace",
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warn => "warn",
        Level::Error => "error",
    };
    // Only strings: the log reader of a Go host panics on other types here.
    let standard_fields = [("@level", level), ("@message", message), ("@module", "provider")];
    let standard_fields =
        standard_fields.map(|(name, text)| (name.to_owned(), Value::string(text)));
    let values = values
        .iter()
        // The host reserves keys with this prefix.
        .map(|(name, value)| {
            (name.trim_start_matches('@').to_owned(), Value::string(value.to_log_string()))
        });
    let line = Value::object(values.chain(standard_fields));
    // Strings in an object can always be encoded as JSON.
    json::encode_untyped(&line).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_object_without_secrets() {
        // A line break inside a value must not end the line.
        let (id, password) = ("i-1\n", Secret::<String>::new("hunter2"));
        let note: Option<String> = None;
        let line = render_log_line(
            Level::Info,
            "made",
            &[("id", &id), ("password", &password), ("note", &note)],
        );
        let expected = "{\"@level\":\"info\",\"@message\":\"made\",\"@module\":\"provider\",\
                        \"id\":\"i-1\\n\",\"note\":\"null\",\"password\":\"(sensitive)\"}";
        assert_eq!(line, expected);
    }
}
