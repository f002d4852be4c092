//! Format of a log line: that of the Go logger hclog, so that tools for Terraform's log can read it.

use std::fmt::{self, Write as _};

use serde_json::{Map, Value, json};
use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::clock;
use crate::redact;
use crate::view::sanitize;

const TEXT_TIME_FORMAT: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
const JSON_TIME_FORMAT: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");

/// Writes each event as a line.
pub(super) struct LineFormat {
    /// Whether a line is a JSON object.
    pub(super) json: bool,
}

impl<S, N> FormatEvent<S, N> for LineFormat
where
    S: Subscriber + for<'l> LookupSpan<'l>,
    N: for<'w> FormatFields<'w> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut to: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut line = LogLine::default();
        event.record(&mut line);
        let meta = event.metadata();
        line.set_source(meta.target());
        let text = match self.json {
            true => line.json(*meta.level(), clock::current_time()).to_string(),
            false => line.text(*meta.level(), clock::current_time()),
        };
        writeln!(to, "{text}")
    }
}

/// Content of one line.
#[derive(Debug, Default)]
struct LogLine {
    message: String,
    module: String,
    fields: Map<String, Value>,
}

impl LogLine {
    fn set(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = text,
            // Fields that a plugin added to its log line.
            ("fields", Value::String(text)) => {
                if let Ok(fields) = serde_json::from_str::<Map<String, Value>>(&text) {
                    self.fields.extend(fields);
                }
            }
            ("module", Value::String(text)) if text.is_empty() => {}
            ("module", value) => drop(self.fields.insert("@module".to_owned(), value)),
            (name, value) => drop(self.fields.insert(name.to_owned(), value)),
        }
    }

    /// Sets the part of the program that logs. A provider is named by its program.
    fn set_source(&mut self, target: &str) {
        self.module = match (target, self.fields.remove("plugin")) {
            ("provider", Some(Value::String(plugin))) => format!("provider.{plugin}"),
            (target, plugin) => {
                self.fields.extend(plugin.map(|plugin| ("plugin".to_owned(), plugin)));
                target.replace("::", ".")
            }
        };
    }

    fn text(&self, level: Level, time: OffsetDateTime) -> String {
        let time = time.format(TEXT_TIME_FORMAT).unwrap_or_default();
        let label = format!("[{level}]");
        let mut text = format!("{time} {label:<7} {}: {}", self.module, self.message);
        let separator = if self.fields.is_empty() { "" } else { ":" };
        text.push_str(separator);
        for (name, value) in &self.fields {
            // Writing into memory does not fail.
            let _ = match value {
                Value::String(text_value) if !text_value.contains([' ', '"', '=', '\n']) => {
                    write!(text, " {name}={text_value}")
                }
                value => write!(text, " {name}={value}"),
            };
        }
        // Line breaks are escaped, so that one message cannot look like several.
        sanitize::sanitize_text(&text).replace('\n', "\n  | ")
    }

    fn json(self, level: Level, time: OffsetDateTime) -> Value {
        let mut object = self.fields;
        // The logger name of a provider is replaced by Formwork's, which begins with the provider name.
        object.remove("@module");
        object.insert("@level".to_owned(), json!(level.as_str().to_ascii_lowercase()));
        object.insert("@message".to_owned(), json!(self.message));
        object.insert("@module".to_owned(), json!(self.module));
        object.insert(
            "@timestamp".to_owned(),
            json!(time.format(JSON_TIME_FORMAT).unwrap_or_default()),
        );
        Value::Object(object)
    }
}

impl Visit for LogLine {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field, Value::String(redact::redact_log_text(format!("{value:?}"))));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, Value::String(redact::redact_log_text(value.to_owned())));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, json!(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, json!(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, json!(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> LogLine {
        let fields = [("pid", json!(7)), ("path", json!("/a b")), ("plain", json!("x"))];
        let mut line = LogLine { message: "plugin started".to_owned(), ..LogLine::default() };
        line.fields.extend(fields.map(|(name, value)| (name.to_owned(), value)));
        line.fields.insert("plugin".to_owned(), json!("terraform-provider-null"));
        line
    }

    #[test]
    fn lines_have_the_format_of_terraform() {
        let mut core = line();
        core.set_source("formwork_plugin_protocol::client");
        assert_eq!(
            core.text(Level::INFO, OffsetDateTime::UNIX_EPOCH),
            "1970-01-01T00:00:00.000Z [INFO]  formwork_plugin_protocol.client: plugin started: \
             path=\"/a b\" pid=7 plain=x plugin=terraform-provider-null"
        );
        let mut provider = line();
        provider.set_source("provider");
        assert_eq!(
            provider.json(Level::TRACE, OffsetDateTime::UNIX_EPOCH).to_string(),
            r#"{"@level":"trace","@message":"plugin started","@module":"provider.terraform-provider-null","@timestamp":"1970-01-01T00:00:00.000000Z","path":"/a b","pid":7,"plain":"x"}"#
        );
    }

    #[test]
    fn escape_sequences_and_line_breaks_of_a_message_stay_in_its_line() {
        let message = "one\u{1b}[2K\ntwo\u{9b}31m".to_owned();
        let mut line = LogLine { message, ..LogLine::default() };
        line.fields.insert("path".to_owned(), json!("a\u{1b}[31mb"));
        let text = line.text(Level::INFO, OffsetDateTime::UNIX_EPOCH);
        assert!(!text.contains(['\u{1b}', '\u{9b}']), "{text:?}");
        assert!(text.contains("\n  | two"), "{text:?}");
        let json = line.json(Level::INFO, OffsetDateTime::UNIX_EPOCH).to_string();
        assert!(!json.contains(['\u{1b}', '\n']), "{json:?}");
    }
}
