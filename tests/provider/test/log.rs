//! The log file of calls: one JSON object on each line.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use formwork_plugin_protocol::Payload;
use formwork_value::{Type, Value};
use serde_json::{Map, json};

/// Writes to the file in `TEST_LOG`, if there is one.
pub(crate) struct Log(Option<PathBuf>);

/// One line under construction.
pub(crate) struct Line<'l> {
    log: &'l Log,
    parts: Map<String, serde_json::Value>,
}

impl Log {
    pub(crate) fn from_env() -> Self {
        Self(std::env::var_os("TEST_LOG").map(PathBuf::from))
    }

    /// A line about a call for an object of this name.
    pub(crate) fn line(&self, call: &str, name: &str) -> Line<'_> {
        let parts = [("call", call), ("name", name)];
        let parts = parts.map(|(key, text)| (key.to_owned(), json!(text)));
        Line { log: self, parts: parts.into_iter().collect() }
    }
}

impl Line<'_> {
    /// Adds a value.
    pub(crate) fn value(mut self, key: &str, value: &Payload, ty: &Type) -> Self {
        let json = match value.decode(ty) {
            Ok(value) => value_as_json(value.value()),
            Err(error) => json!(format!("unreadable: {error}")),
        };
        self.parts.insert(key.to_owned(), json);
        self
    }

    /// Adds bytes, unless there are none.
    pub(crate) fn bytes(mut self, key: &str, bytes: &[u8]) -> Self {
        if !bytes.is_empty() {
            self.parts.insert(key.to_owned(), json!(String::from_utf8_lossy(bytes)));
        }
        self
    }

    pub(crate) fn write(self) {
        let Some(path) = &self.log.0 else { return };
        let line = format!("{}\n", serde_json::Value::Object(self.parts));
        let file = OpenOptions::new().create(true).append(true).open(path);
        // A single write, so that lines of two processes do not mix.
        file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the log can be written");
    }
}

/// A value as JSON. An unknown value is a string that marks it.
fn value_as_json(value: &Value) -> serde_json::Value {
    let children = || value.children().iter().map(value_as_json);
    match value {
        Value::Null(_) => json!(null),
        Value::Unknown(_) => json!("(unknown)"),
        Value::Bool(truth) => json!(truth),
        Value::Number(number) => {
            serde_json::from_str(&number.to_string()).unwrap_or_else(|_| json!(number.to_string()))
        }
        Value::String(text) => json!(text.as_str()),
        Value::List(_) | Value::Set(_) | Value::Tuple(_) => children().collect(),
        Value::Map(map) => {
            let keys = map.keys().iter().map(ToString::to_string);
            serde_json::Value::Object(keys.zip(children()).collect())
        }
        Value::Object(object) => {
            let names = object.names().iter().map(ToString::to_string);
            serde_json::Value::Object(names.zip(children()).collect())
        }
        Value::Marked(_) => json!("(marked)"),
    }
}
