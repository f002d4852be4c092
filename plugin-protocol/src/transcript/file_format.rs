//! The file format of transcripts, version 1: lines of JSON, messages in base64.
//!
//! The first line names the format:
//!
//! ```json
//! {"format":"formwork-transcript","version":1,"begun_us":1763956500000000}
//! ```
//!
//! Each further line is one call, in the order in which the calls began:
//!
//! ```json
//! {"path":"/tfplugin6.Provider/StopProvider","start_us":120,"duration_us":310,
//!  "requests":[""],"answers":["CgA="],"outcome":"ok"}
//! ```
//!
//! `begun_us` counts microseconds since 1970 in UTC, `start_us` since the beginning of the
//! transcript. Messages are protobuf without the frame of gRPC, in base64 with padding. `outcome`
//! is `"ok"`, `{"status":{"code":5,"message":"…","details":"…"}}`, `{"failed":"…"}` or
//! `"unfinished"`. A reader ignores unknown fields and refuses other versions. The file contains
//! secrets: requests and answers are stored as sent.

use std::io::{self, BufRead, Write};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{CallOutcome, RecordedCall, Transcript};
use crate::raw::RawStatus;

const FORMAT_NAME: &str = "formwork-transcript";
const FORMAT_VERSION: u32 = 1;

/// The reason why a file could not be read as a transcript.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be read.
    #[error("the transcript cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The first line is not the header of a transcript.
    #[error("this is not a transcript: its first line is not the header of one")]
    Foreign,
    /// The file has another version of the format.
    #[error(
        "the transcript has version {0} of the format, but only version {FORMAT_VERSION} can be read"
    )]
    Version(u32),
    /// A line is not a recorded call.
    #[error("line {line} of the transcript is not a recorded call: {source}")]
    Malformed {
        /// The number of the line, from 1.
        line: usize,
        /// The reason.
        source: serde_json::Error,
    },
}

impl Transcript {
    /// Writes the transcript as a file.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        // With a clock before 1970, a transcript that begins at 0 is better than none.
        let begun = self.begun.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let header = FileHeader {
            format: FORMAT_NAME.to_owned(),
            version: FORMAT_VERSION,
            begun_us: duration_to_micros(begun),
        };
        write_json_line(&mut out, &header)?;
        for call in &self.calls {
            write_json_line(&mut out, &CallLine::from(call))?;
        }
        out.flush()
    }

    /// Reads a file that was written by [`Transcript::write`].
    ///
    /// # Errors
    /// When the file cannot be read or is not a transcript of a supported version.
    pub fn read(file: impl BufRead) -> Result<Self, ReadError> {
        let mut lines = file.lines();
        let first_line = lines.next().ok_or(ReadError::Foreign)??;
        let header: FileHeader =
            serde_json::from_str(&first_line).map_err(|_| ReadError::Foreign)?;
        if header.format != FORMAT_NAME {
            return Err(ReadError::Foreign);
        }
        // Before any line, since those of another version may have another form.
        if header.version != FORMAT_VERSION {
            return Err(ReadError::Version(header.version));
        }
        // The number comes from a file, and a sum out of range would panic.
        let begun = SystemTime::UNIX_EPOCH
            .checked_add(Duration::from_micros(header.begun_us))
            .ok_or(ReadError::Foreign)?;
        let mut calls = Vec::new();
        for (index, text) in lines.enumerate() {
            let call: CallLine = serde_json::from_str(&text?)
                // The header is line 1.
                .map_err(|source| ReadError::Malformed { line: index + 2, source })?;
            calls.push(call.into());
        }
        Ok(Self { begun, calls })
    }
}

fn write_json_line(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    // JSON escapes line breaks, so that each call is one line.
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

fn duration_to_micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[derive(Serialize, Deserialize)]
struct FileHeader {
    format: String,
    version: u32,
    begun_us: u64,
}

// The order of the fields is that of the lines.
#[derive(Serialize, Deserialize)]
struct CallLine {
    path: String,
    start_us: u64,
    duration_us: u64,
    requests: Vec<Base64>,
    answers: Vec<Base64>,
    outcome: CallEnding,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CallEnding {
    Ok,
    Status { code: i32, message: String, details: Base64 },
    Failed(String),
    Unfinished,
}

impl From<&RecordedCall> for CallLine {
    fn from(call: &RecordedCall) -> Self {
        let encoded = |messages: &[Bytes]| messages.iter().cloned().map(Base64).collect();
        Self {
            path: call.path.clone(),
            start_us: duration_to_micros(call.start),
            duration_us: duration_to_micros(call.duration),
            requests: encoded(&call.requests),
            answers: encoded(&call.answers),
            outcome: match &call.outcome {
                CallOutcome::Ok => CallEnding::Ok,
                CallOutcome::Status(RawStatus { code, message, details }) => CallEnding::Status {
                    code: *code,
                    message: message.clone(),
                    details: Base64(details.clone()),
                },
                CallOutcome::Failed(reason) => CallEnding::Failed(reason.clone()),
                CallOutcome::Unfinished => CallEnding::Unfinished,
            },
        }
    }
}

impl From<CallLine> for RecordedCall {
    fn from(line: CallLine) -> Self {
        let decoded = |messages: Vec<Base64>| messages.into_iter().map(|bytes| bytes.0).collect();
        Self {
            path: line.path,
            start: Duration::from_micros(line.start_us),
            duration: Duration::from_micros(line.duration_us),
            requests: decoded(line.requests),
            answers: decoded(line.answers),
            outcome: match line.outcome {
                CallEnding::Ok => CallOutcome::Ok,
                CallEnding::Status { code, message, details } => {
                    CallOutcome::Status(RawStatus { code, message, details: details.0 })
                }
                CallEnding::Failed(reason) => CallOutcome::Failed(reason),
                CallEnding::Unfinished => CallOutcome::Unfinished,
            },
        }
    }
}

/// Bytes as a string in base64.
struct Base64(Bytes);

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map(|bytes| Self(bytes.into())).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Transcript {
        let call = |outcome| RecordedCall {
            path: "/tfplugin6.Provider/ReadResource".to_owned(),
            start: Duration::from_micros(7),
            duration: Duration::from_micros(1_000_001),
            requests: vec![Bytes::from_static(b"\x00\xff"), Bytes::new()],
            answers: vec![Bytes::from_static(b"answer")],
            outcome,
        };
        let status = RawStatus {
            code: 5,
            message: "no \"such\"\nthing".to_owned(),
            details: Bytes::from_static(b"\x08\x05"),
        };
        Transcript {
            begun: SystemTime::UNIX_EPOCH + Duration::from_micros(1_763_956_500_000_001),
            calls: vec![
                call(CallOutcome::Ok),
                call(CallOutcome::Status(status)),
                call(CallOutcome::Failed("it is gone".to_owned())),
                call(CallOutcome::Unfinished),
            ],
        }
    }

    #[test]
    fn a_transcript_is_read_as_it_was_written() {
        let mut file = Vec::new();
        example().write(&mut file).expect("it fits into memory");
        assert_eq!(Transcript::read(&file[..]).expect("a transcript"), example());
        let text = String::from_utf8(file).expect("text");
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines[0],
            r#"{"format":"formwork-transcript","version":1,"begun_us":1763956500000001}"#
        );
        assert_eq!(
            lines[1],
            r#"{"path":"/tfplugin6.Provider/ReadResource","start_us":7,"duration_us":1000001,"requests":["AP8=",""],"answers":["YW5zd2Vy"],"outcome":"ok"}"#
        );
    }

    #[test]
    fn a_file_that_is_no_transcript_is_refused_with_the_line() {
        let read_error =
            |text: &str| Transcript::read(text.as_bytes()).expect_err("refused").to_string();
        let header = r#"{"format":"formwork-transcript","version":1,"begun_us":0}"#;
        for foreign in ["", "{}", "text", "\u{1}", r#"{"format":"x","version":1,"begun_us":0}"#] {
            assert!(read_error(foreign).starts_with("this is not a transcript"), "{foreign}");
        }
        assert!(read_error(&header.replace(":1,", ":2,")).contains("version 2"));
        let truncated_error = read_error(&format!("{header}\n{{\"path\":\"/a\"}}"));
        assert!(
            truncated_error.starts_with("line 2 of the transcript is not a recorded call"),
            "{truncated_error}"
        );
        let invalid_line = r#"{"path":"/a","start_us":0,"duration_us":0,"requests":["A"],"answers":[],"outcome":"ok"}"#;
        assert!(read_error(&format!("{header}\n{invalid_line}")).starts_with("line 2"));
    }
}
