//! Standard error of a plugin: forwarded to the log, and its last lines kept for the report of a
//! crash.
//!
//! Reads as long as a writer exists. The plugin never waits longer than the parse of a line takes.
//! It does not judge the plugin's health.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::watch;
use tokio::time::timeout;
use tracing::{Level, debug, error, info, trace, warn};

/// The longest line that stays in one piece, as in go-plugin.
const MAX_UNSPLIT_LINE_BYTES: usize = 64 * 1024;
/// Number of latest lines that are kept.
const MAX_KEPT_TAIL_LINES: usize = 20;
/// Number of lines of a panic that are kept: the first lines are the most informative.
const MAX_KEPT_PANIC_LINES: usize = 100;
/// Greatest length of a line that is kept for the report of a failure. The log gets the whole line.
const MAX_REPORTED_LINE_LENGTH: usize = 2 * 1024;

/// The log of one plugin.
#[derive(Debug)]
pub(super) struct PluginLog {
    plugin: String,
    kept_lines: Mutex<KeptLogLines>,
    ended: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct KeptLogLines {
    tail: VecDeque<String>,
    panic: Vec<String>,
}

impl PluginLog {
    pub(super) fn new(plugin: String) -> Arc<Self> {
        Arc::new(Self { plugin, kept_lines: Mutex::default(), ended: watch::Sender::new(false) })
    }

    /// Reads `stderr` to its end.
    pub(super) async fn read_stderr_to_end(self: Arc<Self>, mut stderr: impl AsyncRead + Unpin) {
        let mut lines = LineSplitter::default();
        let mut chunk = vec![0; 16 * 1024];
        loop {
            match stderr.read(&mut chunk).await {
                // An unreadable pipe counts as ended. The process itself is watched elsewhere.
                Ok(0) | Err(_) => break,
                Ok(n) => lines.feed(&chunk[..n], |line| self.log_and_keep_line(line)),
            }
        }
        lines.finish(|line| self.log_and_keep_line(line));
        // Not `send`, which leaves the value as it is while there is no receiver.
        self.ended.send_replace(true);
    }

    /// Returns the panic of the plugin, otherwise its latest lines; empty if it printed nothing.
    /// Waits up to `time_limit` for the rest in the pipe.
    pub(super) async fn panic_or_last_lines(&self, time_limit: Duration) -> String {
        // Output of the plugin's children is not worth more time.
        let mut ended = self.ended.subscribe();
        // `wait_for` looks at the present value first, so an end before the subscription is not
        // missed.
        match timeout(time_limit, ended.wait_for(|ended| *ended)).await {
            Ok(_) | Err(_) => (),
        }
        let kept_lines = self.kept_lines.lock().unwrap_or_else(PoisonError::into_inner);
        if kept_lines.panic.is_empty() {
            kept_lines.tail.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
        } else {
            kept_lines.panic.join("\n")
        }
    }

    fn log_and_keep_line(&self, line: &[u8]) {
        // A plugin may print any bytes, and an invalid log line is not a reason to fail.
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end();
        if text.is_empty() {
            return;
        }
        let entry = LogEntry::parse(text);
        let level = self.keep_line(&entry);
        entry.emit(level, &self.plugin);
    }

    /// Keeps the line, and returns the level it deserves: all of a panic is an error.
    fn keep_line(&self, entry: &LogEntry<'_>) -> Level {
        let mut kept_lines = self.kept_lines.lock().unwrap_or_else(PoisonError::into_inner);
        let shortened = shorten_reported_line(&entry.message);
        let is_panic = !kept_lines.panic.is_empty() || starts_panic(&entry.message);
        let level = match entry.level {
            // Only untagged lines belong to a panic, as in go-plugin: loggers of other goroutines
            // may write between them.
            Some(level) => level,
            None if is_panic => {
                if starts_panic(&entry.message) {
                    // A panic that did not end the plugin does not explain its exit.
                    kept_lines.panic.clear();
                }
                if kept_lines.panic.len() < MAX_KEPT_PANIC_LINES {
                    kept_lines.panic.push(shortened.clone());
                }
                Level::ERROR
            }
            None => Level::DEBUG,
        };
        if kept_lines.tail.len() == MAX_KEPT_TAIL_LINES {
            kept_lines.tail.pop_front();
        }
        kept_lines.tail.push_back(shortened);
        level
    }
}

/// Reads bytes as the standard error of a plugin, in two chunks.
#[cfg(any(test, fuzzing))]
pub(crate) fn fuzz_log(data: &[u8]) {
    let log = PluginLog::new("hostile".to_owned());
    let mut lines = LineSplitter::default();
    let (first_half, second_half) = data.split_at(data.len() / 2);
    for chunk in [first_half, second_half] {
        lines.feed(chunk, |line| log.log_and_keep_line(line));
        assert!(lines.partial.len() < MAX_UNSPLIT_LINE_BYTES, "a line without end is kept");
    }
    lines.finish(|line| log.log_and_keep_line(line));
    let kept_lines = log.kept_lines.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(
        kept_lines.tail.len() <= MAX_KEPT_TAIL_LINES
            && kept_lines.panic.len() <= MAX_KEPT_PANIC_LINES
    );
    let max_line_length = MAX_REPORTED_LINE_LENGTH + 8;
    assert!(
        kept_lines.tail.iter().chain(&kept_lines.panic).all(|line| line.len() <= max_line_length)
    );
}

/// One line of a log.
#[derive(Debug, PartialEq, Eq)]
struct LogEntry<'a> {
    /// The level the plugin gave; none for a bare line.
    level: Option<Level>,
    message: std::borrow::Cow<'a, str>,
    /// The name of the plugin's own logger.
    module: String,
    /// All other fields, as JSON; empty if there are none.
    fields: String,
}

impl<'a> LogEntry<'a> {
    fn parse(text: &'a str) -> Self {
        if text.starts_with('{')
            && let Ok(object) = serde_json::from_str::<Map<String, Value>>(text)
            && let Some(entry) = Self::from_hclog(object)
        {
            return entry;
        }
        let tagged = [
            ("[TRACE]", Level::TRACE),
            ("[DEBUG]", Level::DEBUG),
            ("[INFO]", Level::INFO),
            ("[WARN]", Level::WARN),
            ("[ERROR]", Level::ERROR),
        ];
        let tag = tagged.iter().find(|(tag, _)| text.starts_with(tag));
        let (level, message) = match tag {
            Some((tag, level)) => (Some(*level), text[tag.len()..].trim_start()),
            None => (None, text),
        };
        Self { level, message: message.into(), module: String::new(), fields: String::new() }
    }

    /// Reads an object as the Go ecosystem's logger writes it. One without level is a debug line.
    fn from_hclog(mut object: Map<String, Value>) -> Option<Self> {
        // The log reader of Go hosts panics if one of these is not a string. Here such a line is
        // treated as plain text.
        let mut take = |key| match object.remove(key) {
            Some(Value::String(text)) => Some(Some(text)),
            Some(_) => None,
            None => Some(None),
        };
        let message = take("@message")??;
        let level = match take("@level")?.as_deref() {
            Some("trace") => Level::TRACE,
            Some("info") => Level::INFO,
            Some("warn") => Level::WARN,
            Some("error") => Level::ERROR,
            _ => Level::DEBUG,
        };
        let module = take("@module")?.unwrap_or_default();
        // Ours has its own time; the plugin's is kept as a field.
        if let Some(time) = object.remove("@timestamp") {
            object.insert("timestamp".to_owned(), time);
        }
        let fields =
            if object.is_empty() { String::new() } else { Value::Object(object).to_string() };
        Some(Self { level: Some(level), message: message.into(), module, fields })
    }

    fn emit(&self, level: Level, plugin: &str) {
        let Self { message, module, fields, .. } = self;
        // tracing fixes the level of an event at compile time, so each level has its own macro.
        macro_rules! event {
            ($event:ident) => {
                $event!(target: "provider", plugin, module, fields, "{message}")
            };
        }
        match level {
            Level::TRACE => event!(trace),
            Level::DEBUG => event!(debug),
            Level::INFO => event!(info),
            Level::WARN => event!(warn),
            Level::ERROR => event!(error),
        }
    }
}

/// Returns whether a line begins the report of a panic, in the form of Go or of Rust.
fn starts_panic(line: &str) -> bool {
    line.starts_with("panic: ")
        || line.starts_with("fatal error: ")
        || (line.starts_with("thread '") && line.contains("panicked at"))
}

fn shorten_reported_line(line: &str) -> String {
    // At the boundary of a character: slicing inside one would panic.
    match line.char_indices().find(|(position, _)| *position >= MAX_REPORTED_LINE_LENGTH) {
        Some((position, _)) => format!("{}...", &line[..position]),
        None => line.to_owned(),
    }
}

/// Cuts a stream of bytes into lines, and lines that never end into pieces.
#[derive(Debug, Default)]
struct LineSplitter {
    partial: Vec<u8>,
}

impl LineSplitter {
    fn feed(&mut self, mut bytes: &[u8], mut line: impl FnMut(&[u8])) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            // The usual case, which needs no copy.
            if self.partial.is_empty() {
                line(&bytes[..end]);
            } else {
                self.partial.extend_from_slice(&bytes[..end]);
                line(&self.partial);
                self.partial.clear();
            }
            bytes = &bytes[end + 1..];
        }
        self.partial.extend_from_slice(bytes);
        if self.partial.len() >= MAX_UNSPLIT_LINE_BYTES {
            line(&self.partial);
            self.partial.clear();
        }
    }

    fn finish(&self, mut line: impl FnMut(&[u8])) {
        if !self.partial.is_empty() {
            line(&self.partial);
        }
    }
}

#[cfg(test)]
mod tests;
