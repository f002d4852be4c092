//! The key provider `external`: a program that prints keys, with OpenTofu's protocol. It prints a line
//! with the name of the protocol, reads the metadata of the file to decrypt as JSON, and prints keys and
//! new metadata.

use std::io::{Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::encrypted_file::Base64Bytes;
use super::keys::{EncryptionAndDecryptionKeys, KeySource};

/// The name in the first line of the output.
const PROTOCOL_NAME: &str = "OpenTofu-External-Key-Provider";

/// Timeout of the program.
const PROGRAM_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum size of the output in bytes.
const MAX_PROGRAM_OUTPUT_LEN: u64 = 1 << 20;

/// A program that provides the keys.
pub(super) struct ExternalKeyProvider {
    /// The program and its arguments.
    pub(super) command: Vec<String>,
}

/// The output of the program.
struct ExternalOutput {
    keys: EncryptionAndDecryptionKeys,
    /// The metadata that is written to the file.
    metadata: Vec<u8>,
}

#[derive(Deserialize)]
struct HeaderJson {
    #[serde(default)]
    magic: String,
    #[serde(default)]
    version: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputJson {
    #[serde(default)]
    keys: OutputKeysJson,
    #[serde(default)]
    meta: OutputMetadataJson,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputKeysJson {
    #[serde(default)]
    encryption_key: Base64Bytes,
    #[serde(default)]
    decryption_key: Base64Bytes,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputMetadataJson {
    #[serde(default)]
    external_data: Option<Box<RawValue>>,
}

impl ExternalKeyProvider {
    /// Runs the program with the metadata of a file, or without any.
    ///
    /// # Errors
    /// Returns an error if the program cannot be started, fails, times out, or violates the
    /// protocol.
    fn run_program(&self, metadata: Option<&[u8]>) -> Result<ExternalOutput, String> {
        let input = match metadata {
            Some(metadata) if has_program_metadata(metadata) => metadata.to_vec(),
            _ => b"null".to_vec(),
        };
        let output = RunningProgram::spawn(&self.command, input)?.wait_for_output()?;
        parse_output(&output)
    }
}

impl KeySource for ExternalKeyProvider {
    fn generate_data_key(&self) -> Result<(Vec<u8>, Vec<u8>), String> {
        let output = self.run_program(None)?;
        Ok((output.keys.encryption, output.metadata))
    }

    fn decrypt_data_key(&self, metadata: &[u8]) -> Result<Option<Vec<u8>>, String> {
        Ok(self.run_program(Some(metadata))?.keys.decryption)
    }

    fn key_length(&self) -> Option<usize> {
        None
    }
}

/// Whether metadata has a field for the program.
fn has_program_metadata(metadata: &[u8]) -> bool {
    let parsed = serde_json::from_slice::<OutputMetadataJson>(metadata);
    parsed.is_ok_and(|parsed| parsed.external_data.is_some_and(|data| data.get() != "null"))
}

/// Reads the output of the program.
fn parse_output(output: &[u8]) -> Result<ExternalOutput, String> {
    // The output is secret, so messages do not quote it.
    let (line, rest) = match output.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&output[..end], &output[end + 1..]),
        None => (output, &b""[..]),
    };
    let header: HeaderJson = serde_json::from_slice(line)
        .map_err(|_| format!("the first line of its output is not {}", expected_header()))?;
    if header.magic != PROTOCOL_NAME || header.version != 1 {
        return Err(format!(
            "the first line of its output has the protocol {:?} in version {}, but {} is expected",
            header.magic,
            header.version,
            expected_header()
        ));
    }
    let mut values = serde_json::Deserializer::from_slice(rest);
    let output = OutputJson::deserialize(&mut values).map_err(|error| {
        let position = (error.line() + 1, error.column());
        format!(
            "line {}, column {} of its output is not an object with `keys` and `meta`",
            position.0, position.1
        )
    })?;
    let data = output.meta.external_data.map_or("null".to_owned(), |data| data.get().to_owned());
    let decryption = output.keys.decryption_key.0;
    Ok(ExternalOutput {
        keys: EncryptionAndDecryptionKeys {
            encryption: output.keys.encryption_key.0,
            decryption: Some(decryption).filter(|key| !key.is_empty()),
        },
        metadata: format!("{{\"external_data\":{data}}}").into_bytes(),
    })
}

fn expected_header() -> String {
    format!("{{\"magic\":\"{PROTOCOL_NAME}\",\"version\":1}}")
}

/// A running program. Threads serve its streams, so that a program that reads late or writes much
/// cannot block.
struct RunningProgram {
    child: Child,
    stdout: Receiver<Vec<u8>>,
    stderr: Receiver<Vec<u8>>,
}

impl RunningProgram {
    #[expect(clippy::disallowed_methods, reason = "the program ends before the call returns")]
    fn spawn(command: &[String], input: Vec<u8>) -> Result<Self, String> {
        let (program, arguments) =
            command.split_first().ok_or_else(|| "it has no command".to_owned())?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().map_err(|error| format!("{program} cannot be started: {error}"))?;
        let streams = Self::exchange_on_threads(&mut child, input);
        if streams.is_err() {
            // Otherwise it would continue with no process to read its output.
            child.kill().ok();
            child.wait().ok();
        }
        let [stdout, stderr] = streams?;
        Ok(Self { child, stdout, stderr })
    }

    /// Sends a program its input, and collects its output.
    fn exchange_on_threads(
        child: &mut Child,
        input: Vec<u8>,
    ) -> Result<[Receiver<Vec<u8>>; 2], String> {
        if let Some(mut stdin) = child.stdin.take() {
            // A program that needs no input may end without reading it.
            spawn_thread(move || drop(stdin.write_all(&input)))?;
        }
        Ok([
            read_stream_on_thread(child.stdout.take())?,
            read_stream_on_thread(child.stderr.take())?,
        ])
    }

    /// Returns the output, after the program has ended.
    fn wait_for_output(mut self) -> Result<Vec<u8>, String> {
        let deadline = Instant::now() + PROGRAM_TIMEOUT;
        let remaining_time = || deadline.saturating_duration_since(Instant::now());
        let output = self.stdout.recv_timeout(remaining_time());
        let messages =
            output.as_ref().ok().and_then(|_| self.stderr.recv_timeout(remaining_time()).ok());
        let (Ok(output), Some(messages)) = (output, messages) else {
            self.child.kill().ok();
            self.child.wait().ok();
            return Err(format!("it has not ended after {} seconds", PROGRAM_TIMEOUT.as_secs()));
        };
        let status = self.child.wait().map_err(|error| format!("it was lost: {error}"))?;
        if status.success() {
            return Ok(output);
        }
        let messages = String::from_utf8_lossy(&messages);
        let messages = match messages.trim() {
            "" => String::new(),
            messages => format!(", after printing: {messages}"),
        };
        Err(format!("it ended with {status}{messages}"))
    }
}

/// Reads a stream to its end, up to the limit.
fn read_stream_on_thread(
    stream: Option<impl Read + Send + 'static>,
) -> Result<Receiver<Vec<u8>>, String> {
    let (sender, receiver) = channel();
    spawn_thread(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            stream.by_ref().take(MAX_PROGRAM_OUTPUT_LEN).read_to_end(&mut bytes).ok();
            // Output beyond the limit is read and discarded, so that the program can end.
            std::io::copy(&mut stream, &mut std::io::sink()).ok();
        }
        sender.send(bytes).ok();
    })?;
    Ok(receiver)
}

/// Runs a closure on a separate thread.
fn spawn_thread(work: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let started = std::thread::Builder::new().spawn(work);
    started.map(drop).map_err(|error| format!("the system cannot create a thread for it: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER_LINE: &str = "{\"magic\":\"OpenTofu-External-Key-Provider\",\"version\":1}";

    fn shell_key_provider(script: &str) -> ExternalKeyProvider {
        ExternalKeyProvider { command: ["sh", "-c", script].map(str::to_owned).into() }
    }

    #[test]
    fn an_external_program_receives_its_stored_metadata() {
        let script = format!(
            "echo '{HEADER_LINE}'; read -r input; case $input in null) echo '{{\"keys\":{{\"encryption_key\":\"AQI=\"}},\"meta\":{{\"external_data\":{{\"n\":1}}}}}}';; '{{\"external_data\":{{\"n\":1}}}}') echo '{{\"keys\":{{\"encryption_key\":\"AQI=\",\"decryption_key\":\"AwQ=\"}},\"meta\":{{}}}}';; *) exit 3;; esac"
        );
        let program = shell_key_provider(&script.replace("read -r input", "input=$(cat)"));
        let first = program.run_program(None).unwrap();
        assert_eq!((first.keys.encryption, first.keys.decryption), (vec![1, 2], None));
        assert_eq!(first.metadata, b"{\"external_data\":{\"n\":1}}");
        let second = program.run_program(Some(&first.metadata)).unwrap();
        assert_eq!(second.keys.decryption, Some(vec![3, 4]));
        assert_eq!(second.metadata, b"{\"external_data\":null}");
        assert!(program.run_program(Some(b"{\"external_data\":{\"n\":2}}")).is_err());
        // Empty metadata is treated like missing metadata.
        assert_eq!(program.run_program(Some(&second.metadata)).unwrap().keys.decryption, None);
    }

    #[test]
    fn a_program_that_breaks_the_protocol_is_reported_without_its_output() {
        let check = |script: &str| shell_key_provider(script).run_program(None).err().unwrap();
        assert!(check("echo hello").contains("first line of its output is not"));
        let program = "echo '{\"magic\":\"x\",\"version\":2}'";
        assert!(check(program).contains("the protocol \"x\" in version 2"), "{}", check(program));
        let secret = format!("echo '{HEADER_LINE}'; echo '{{\"keys\":\"hunter2\"}}'");
        let message = check(&secret);
        assert!(message.starts_with("line 2, column") && !message.contains("hunter2"), "{message}");
        assert_eq!(
            check("echo no key >&2; exit 4"),
            "it ended with exit status: 4, after printing: no key"
        );
        let missing = ExternalKeyProvider { command: vec!["/nowhere/program".to_owned()] };
        let message = missing.run_program(None).err().unwrap();
        assert!(message.starts_with("/nowhere/program cannot be started"), "{message}");
        assert!(ExternalKeyProvider { command: Vec::new() }.run_program(None).is_err());
    }
}
