//! Output of a command. It is printed line by line, and its end is kept for the error message.

use formwork_core::provisioner::OutputSink;

/// Number of bytes that are kept of the end of the output.
const MAX_KEPT_OUTPUT: usize = 8 * 1024;

/// Maximum length of a line, in bytes. A longer line is printed in pieces.
const MAX_LINE_LENGTH: usize = 64 * 1024;

/// Splits output into lines, prints them, and keeps the end of the output.
pub(crate) struct OutputLines<'t> {
    sink: OutputSink<'t>,
    line: Vec<u8>,
    last: Vec<u8>,
}

impl<'t> OutputLines<'t> {
    /// Prints each line to `sink`.
    pub(crate) fn new(sink: OutputSink<'t>) -> Self {
        Self { sink, line: Vec::new(), last: Vec::new() }
    }

    /// Appends the next piece of output.
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) {
        self.last.extend_from_slice(bytes);
        if self.last.len() > 2 * MAX_KEPT_OUTPUT {
            self.last.drain(..self.last.len() - MAX_KEPT_OUTPUT);
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") || self.line.len() >= MAX_LINE_LENGTH {
                self.flush();
            }
        }
    }

    /// Prints the last line if it has no line end.
    pub(crate) fn finish(&mut self) {
        if !self.line.is_empty() {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        (self.sink)(&String::from_utf8_lossy(line));
        self.line.clear();
    }

    /// Returns the end of the output.
    pub(crate) fn last_output(&self) -> String {
        let start = self.last.len().saturating_sub(MAX_KEPT_OUTPUT);
        String::from_utf8_lossy(self.last.get(start..).unwrap_or_default()).into_owned()
    }
}
