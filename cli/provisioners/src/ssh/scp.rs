//! File transfer with the protocol of `scp` in receiving mode, a program that every SSH server has.
//! The remote program determines the name of the file, as with Terraform.

use std::io::Read as _;
use std::path::Path;

use bytes::Bytes;
use formwork_core::disk::open_file;
use russh::client::Msg;
use russh::{ChannelMsg, ChannelReadHalf, ChannelWriteHalf};

use super::quote::{quote_shell_word, split_path};
use super::{Session, describe_io_error};

/// Maximum number of bytes in one message.
const CHUNK_SIZE: usize = 32 * 1024;

/// Maximum nesting depth of directories.
const MAX_DIR_DEPTH: usize = 128;

/// Number of bytes kept of the output of the remote program.
const MAX_KEPT_SCP_OUTPUT: usize = 4 * 1024;

impl Session {
    /// Writes `content` to a remote file.
    ///
    /// # Errors
    /// The remote program failed, or the connection was lost. The error is a message for the user.
    pub(crate) async fn upload_content(
        &self,
        path: &str,
        content: Vec<u8>,
        mode: u32,
    ) -> Result<(), String> {
        let (directory, name) = split_path(path);
        let mut remote = ScpReceiver::start(self, "-vt", directory).await?;
        let result = async {
            remote.send_header(&format!("C{mode:04o} {} {name}\n", content.len())).await?;
            remote.send(content.into()).await?;
            remote.send_end_of_file().await
        };
        let result = result.await;
        remote.finish(result).await
    }

    /// Uploads a file.
    ///
    /// # Errors
    /// The source cannot be read, or the upload failed. The error is a message for the user.
    pub(crate) async fn upload_file(&self, path: &str, source: &Path) -> Result<(), String> {
        let (directory, name) = split_path(path);
        let mut remote = ScpReceiver::start(self, "-vt", directory).await?;
        let result = remote.send_file(name, source).await;
        remote.finish(result).await
    }

    /// Uploads the entries of a directory into a remote directory, or the directory itself if `with_directory`
    /// is set.
    ///
    /// # Errors
    /// An entry cannot be read, or the upload failed. The error is a message for the user.
    pub(crate) async fn upload_dir(
        &self,
        path: &str,
        source: &Path,
        with_directory: bool,
    ) -> Result<(), String> {
        let mut remote = ScpReceiver::start(self, "-rvt", path).await?;
        let result = if with_directory {
            let name = source.file_name().and_then(|name| name.to_str()).unwrap_or(".");
            remote.send_dir(name, source, 0).await
        } else {
            remote.send_entries(source, 0).await
        };
        remote.finish(result).await
    }
}

/// The remote `scp` program.
struct ScpReceiver {
    input: ChannelWriteHalf<Msg>,
    output: ChannelReadHalf,
    received: RemoteOutput,
}

/// Output of the remote program. Its size is limited.
#[derive(Default)]
struct RemoteOutput {
    /// Responses that are not yet read: one zero byte for each step, or an error message.
    responses: Vec<u8>,
    /// Output on standard error.
    stderr: Vec<u8>,
    status: Option<u32>,
    closed: bool,
}

impl RemoteOutput {
    /// Processes one message of the channel.
    fn push_message(&mut self, message: Option<ChannelMsg>) {
        match message {
            Some(ChannelMsg::Data { data }) => {
                let room = MAX_KEPT_SCP_OUTPUT - self.responses.len();
                self.responses.extend(data.iter().take(room));
            }
            Some(ChannelMsg::ExtendedData { data, .. }) => {
                self.stderr.extend_from_slice(&data);
                if self.stderr.len() > 2 * MAX_KEPT_SCP_OUTPUT {
                    self.stderr.drain(..self.stderr.len() - MAX_KEPT_SCP_OUTPUT);
                }
            }
            Some(ChannelMsg::ExitStatus { exit_status }) => self.status = Some(exit_status),
            Some(ChannelMsg::Failure | ChannelMsg::Close) | None => self.closed = true,
            Some(_) => {}
        }
    }

    /// Returns the next response, if it is complete: success, or an error message.
    fn next_answer(&mut self) -> Option<Result<(), String>> {
        match self.responses.first() {
            Some(0) => {
                self.responses.remove(0);
                Some(Ok(()))
            }
            Some(_) => {
                let full = self.responses.len() == MAX_KEPT_SCP_OUTPUT;
                let complete = self.closed || full || self.responses.contains(&b'\n');
                complete.then(|| {
                    let text = self.responses.get(1..).unwrap_or_default();
                    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
                    Err(String::from_utf8_lossy(line).into_owned())
                })
            }
            None => self.closed.then(|| Err("the remote scp program has ended".to_owned())),
        }
    }
}

impl ScpReceiver {
    async fn start(session: &Session, flags: &str, directory: &str) -> Result<Self, String> {
        let channel = session.open_channel().await?;
        let command = format!("scp {flags} {}\n", quote_shell_word(directory, session.unix));
        channel.exec(true, command).await.map_err(|error| format!("ssh: {error}"))?;
        let (output, input) = channel.split();
        let mut remote = Self { input, output, received: RemoteOutput::default() };
        // The program sends a first response when it is ready.
        let ready = remote.read_status().await;
        match ready {
            Ok(()) => Ok(remote),
            Err(reason) => Err(remote.finish(Err(reason)).await.err().unwrap_or_default()),
        }
    }

    /// Sends bytes and reads messages concurrently: a program that has ended accepts no bytes, and
    /// sending would never complete.
    async fn send(&mut self, bytes: Bytes) -> Result<(), String> {
        let Self { input, output, received } = self;
        let sending = input.data_bytes(bytes);
        tokio::pin!(sending);
        loop {
            tokio::select! {
                sent = &mut sending => return sent.map_err(|error| format!("ssh: {error}")),
                message = output.wait() => {
                    let is_closed = matches!(message, None | Some(ChannelMsg::Close));
                    received.push_message(message);
                    if is_closed {
                        return Err("the remote scp program has ended".to_owned());
                    }
                }
            }
        }
    }

    /// Waits for the next response.
    async fn read_status(&mut self) -> Result<(), String> {
        loop {
            if let Some(answer) = self.received.next_answer() {
                return answer;
            }
            let message = self.output.wait().await;
            self.received.push_message(message);
        }
    }

    /// Sends a header line and waits for the response.
    async fn send_header(&mut self, line: &str) -> Result<(), String> {
        if line.trim_end_matches('\n').contains('\n') {
            return Err(format!("a name with a line break cannot be sent: {line:?}"));
        }
        self.send(line.to_owned().into()).await?;
        self.read_status().await
    }

    async fn send_end_of_file(&mut self) -> Result<(), String> {
        self.send(Bytes::from_static(&[0])).await?;
        self.read_status().await
    }

    async fn send_file(&mut self, name: &str, source: &Path) -> Result<(), String> {
        let path_text = source.display();
        let open_error =
            |error: std::io::Error| format!("open {path_text}: {}", describe_io_error(&error));
        let metadata = source.metadata().map_err(open_error)?;
        if !metadata.is_file() {
            return Err(format!("{path_text} is neither a file nor a directory"));
        }
        let mut file = open_file(source).map_err(open_error)?;
        self.send_header(&format!("C0644 {} {name}\n", metadata.len())).await?;
        let mut remaining_len = metadata.len();
        while remaining_len > 0 {
            let size = usize::try_from(remaining_len)
                .map_or(CHUNK_SIZE, |remaining_len| remaining_len.min(CHUNK_SIZE));
            let mut chunk = vec![0; size];
            file.read_exact(&mut chunk).map_err(|error| {
                format!(
                    "read {path_text}, which changed during the upload: {}",
                    describe_io_error(&error)
                )
            })?;
            self.send(chunk.into()).await?;
            remaining_len = remaining_len.saturating_sub(size as u64);
        }
        self.send_end_of_file().await
    }

    async fn send_dir(&mut self, name: &str, source: &Path, depth: usize) -> Result<(), String> {
        self.send_header(&format!("D0755 0 {name}\n")).await?;
        Box::pin(self.send_entries(source, depth)).await?;
        self.send_header("E\n").await
    }

    /// Sends the entries of a directory, sorted by name. Symbolic links are followed.
    async fn send_entries(&mut self, source: &Path, depth: usize) -> Result<(), String> {
        let path_text = source.display();
        let open_error =
            |error: std::io::Error| format!("open {path_text}: {}", describe_io_error(&error));
        if depth > MAX_DIR_DEPTH {
            return Err(format!("{path_text} is nested deeper than {MAX_DIR_DEPTH} directories"));
        }
        let mut paths = Vec::new();
        for entry in source.read_dir().map_err(open_error)? {
            paths.push(entry.map_err(open_error)?.path());
        }
        paths.sort();
        for path in paths {
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
                return Err(format!("the name of {} is not Unicode", path.display()));
            };
            match path.is_dir() {
                true => self.send_dir(name, &path, depth + 1).await?,
                false => self.send_file(name, &path).await?,
            }
        }
        Ok(())
    }

    /// Ends the transfer and returns the result of the program.
    async fn finish(mut self, result: Result<(), String>) -> Result<(), String> {
        // A program that has already ended makes this fail, which does not matter.
        self.input.eof().await.ok();
        while !self.received.closed {
            let message = self.output.wait().await;
            self.received.push_message(message);
        }
        match (self.received.status, result) {
            (Some(127), _) => Err("SCP failed to start. This usually means that SCP is not\nproperly installed on the remote system.".to_owned()),
            (_, Err(reason)) => Err(reason),
            (None | Some(0), Ok(())) => Ok(()),
            (Some(status), Ok(())) => {
                let stderr = String::from_utf8_lossy(&self.received.stderr);
                Err(format!("Process exited with status {status}: {}", stderr.trim_end()))
            }
        }
    }
}

/// Processes arbitrary data as the output of a remote host. The first byte of each piece encodes its
/// stream and its length. The amount of data that is kept is limited.
#[cfg(any(test, fuzzing))]
pub(crate) fn fuzz_scp(mut data: &[u8]) {
    let mut output = RemoteOutput::default();
    while let Some((head, rest)) = data.split_first() {
        let (chunk, remaining) = rest.split_at(rest.len().min(usize::from(head / 2)));
        let bytes = Bytes::copy_from_slice(chunk);
        output.push_message(Some(match head % 2 {
            0 => ChannelMsg::Data { data: bytes },
            _ => ChannelMsg::ExtendedData { data: bytes, ext: 1 },
        }));
        assert!(
            output.responses.len() <= MAX_KEPT_SCP_OUTPUT
                && output.stderr.len() <= 2 * MAX_KEPT_SCP_OUTPUT
        );
        drop(output.next_answer());
        data = remaining;
    }
    output.push_message(None);
    assert!(output.next_answer().is_some(), "a closed channel has a final response");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(bytes: Vec<u8>) -> Option<ChannelMsg> {
        Some(ChannelMsg::Data { data: bytes.into() })
    }

    #[test]
    fn responses_are_read_one_by_one_and_an_error_when_it_is_complete() {
        let mut output = RemoteOutput::default();
        assert_eq!(output.next_answer(), None);
        output.push_message(data(vec![0, 0, 1]));
        assert_eq!(
            (output.next_answer(), output.next_answer(), output.next_answer()),
            (Some(Ok(())), Some(Ok(())), None)
        );
        output.push_message(data(b"no space\nmore".to_vec()));
        assert_eq!(output.next_answer(), Some(Err("no space".to_owned())));
        let mut output = RemoteOutput::default();
        output.push_message(None);
        assert_eq!(output.next_answer(), Some(Err("the remote scp program has ended".to_owned())));
    }

    #[test]
    fn long_output_of_a_remote_host_is_limited() {
        let mut output = RemoteOutput::default();
        for _ in 0..100 {
            output.push_message(data(vec![b'x'; MAX_KEPT_SCP_OUTPUT]));
            let stderr =
                ChannelMsg::ExtendedData { data: vec![b'y'; MAX_KEPT_SCP_OUTPUT].into(), ext: 1 };
            output.push_message(Some(stderr));
        }
        assert!(
            output.responses.len() <= MAX_KEPT_SCP_OUTPUT
                && output.stderr.len() <= 2 * MAX_KEPT_SCP_OUTPUT
        );
        assert_eq!(output.next_answer(), Some(Err("x".repeat(MAX_KEPT_SCP_OUTPUT - 1))));
    }
}
