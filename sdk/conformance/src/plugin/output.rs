//! Output of a process: kept up to a limit, and searched for the reason of its end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use formwork_plugin_protocol::handshake::Handshake;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::timeout;

/// The most of a stream of the process that is kept.
const MAX_KEPT_OUTPUT_BYTES: usize = 4 << 20;

/// The number of lines kept of the report of a panic. More follow where backtraces are on.
const N_PANIC_LINES: usize = 3;

/// The number of lines kept of other output.
const N_LAST_LINES: usize = 6;

/// Output of a process, up to a limit.
#[derive(Debug, Default)]
pub struct PrintedOutput {
    /// The bytes, the oldest first.
    pub bytes: Vec<u8>,
    /// The number of bytes that were not kept.
    pub dropped: usize,
}

pub(super) type SharedOutput<T> = Arc<Mutex<T>>;

pub(super) fn lock_shared<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads an output to its end.
pub(super) async fn keep_output(
    mut from: impl AsyncRead + Unpin,
    into: SharedOutput<PrintedOutput>,
) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let mut printed = lock_shared(&into);
        // Beyond the limit it is read and dropped: a full pipe would stop the provider.
        let room = MAX_KEPT_OUTPUT_BYTES.saturating_sub(printed.bytes.len()).min(read);
        printed.bytes.extend_from_slice(&buffer[..room]);
        printed.dropped += read - room;
    }
}

/// The first lines of the report of a panic: of Rust, of Go, or the traceback of Python.
///
/// The report is looked for in the whole output. With `RUST_BACKTRACE=1`, and always in Go, a stack
/// of any length follows it.
pub fn panic_report_in(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.iter().position(|line| {
        line.starts_with("panic:")
            || line.starts_with("fatal error:")
            || line.contains("panicked at")
            || line.contains("Traceback")
    })?;
    let end = lines.len().min(start + N_PANIC_LINES);
    Some(lines[start..end].join("\n"))
}

/// The part of an output that explains an exit: the report of a panic, otherwise the last lines.
pub(super) fn end_reason_in(text: &str) -> String {
    panic_report_in(text).unwrap_or_else(|| {
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(N_LAST_LINES)..].join("\n")
    })
}

/// Reads the first line; returns it with the bytes read after it.
pub(super) async fn read_first_line(
    stdout: &mut (impl AsyncRead + Unpin),
) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut line = Vec::new();
    loop {
        let read = stdout.read_buf(&mut line).await.unwrap_or(0);
        if let Some(end) = line.iter().position(|byte| *byte == b'\n') {
            let rest = line.split_off(end + 1);
            line.truncate(end);
            return Some((line, rest));
        }
        if read == 0 || line.len() > 64 * 1024 {
            return (!line.is_empty()).then_some((line, Vec::new()));
        }
    }
}

/// Whether one of the next lines is a handshake.
pub(super) async fn has_late_handshake(
    stdout: &mut (impl AsyncRead + Unpin),
    mut read: Vec<u8>,
) -> bool {
    let more = async {
        while read.len() < 64 * 1024 {
            if read.split(|byte| *byte == b'\n').any(|line| Handshake::parse(line).is_ok()) {
                return true;
            }
            if stdout.read_buf(&mut read).await.unwrap_or(0) == 0 {
                return false;
            }
        }
        false
    };
    timeout(Duration::from_secs(2), more).await.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_found_before_a_long_backtrace() {
        // More lines than are kept of the end if there is no panic.
        let frames: String = (0..40).map(|index| format!("  {index}: frame\n")).collect();
        for report in [
            "thread 'main' (7) panicked at src/main.rs:1:2:\nno directory\nstack backtrace:",
            "panic: no directory\n\ngoroutine 1 [running]:",
            "fatal error: all goroutines are asleep\n\ngoroutine 1 [select]:",
            "Traceback (most recent call last):\n  File \"x\", line 1\nOSError: no directory",
        ] {
            let text = format!("starting\n{report}\n{frames}");
            assert_eq!(panic_report_in(&text).as_deref(), Some(report));
            assert_eq!(end_reason_in(&text), report);
        }
    }

    #[test]
    fn without_a_panic_the_last_lines_are_the_reason() {
        let text = "1\n2\n3\n4\n5\n6\n7\n";
        assert_eq!(
            (panic_report_in(text), end_reason_in(text)),
            (None, "2\n3\n4\n5\n6\n7".to_owned())
        );
        assert_eq!(end_reason_in(""), "");
    }
}
