//! File transfer with the protocol of `scp` in its receiving mode: every SSH server has that
//! program. The remote program decides the name of a file, as with Terraform.

use std::io::Read as _;
use std::path::Path;

use bytes::Bytes;
use formwork_core::disk::open_file;
use russh::client::Msg;
use russh::{ChannelMsg, ChannelReadHalf, ChannelWriteHalf};

use super::quote::{quote_shell_word, split_path};
use super::{Session, describe_io_error};

/// Number of bytes sent at once.
const CHUNK_SIZE: usize = 32 * 1024;

/// Greatest nesting of folders.
const MAX_FOLDER_DEPTH: usize = 128;

/// Number of bytes kept of the program's output.
const MAX_KEPT_SCP_OUTPUT: usize = 4 * 1024;

impl Session {
    /// Puts a text into a file.
    ///
    /// # Errors
    /// When that does not work; in words.
    pub(crate) async fn upload_content(
        &self,
        path: &str,
        content: Vec<u8>,
        mode: u32,
    ) -> Result<(), String> {
        let (folder, name) = split_path(path);
        let mut remote = ScpReceiver::start(self, "-vt", folder).await?;
        let done = async {
            remote.send_header(&format!("C{mode:04o} {} {name}\n", content.len())).await?;
            remote.send(content.into()).await?;
            remote.send_end_of_file().await
        };
        let done = done.await;
        remote.finish(done).await
    }

    /// Puts a file there.
    ///
    /// # Errors
    /// When it cannot be read, or cannot be put there; in words.
    pub(crate) async fn upload_file(&self, path: &str, source: &Path) -> Result<(), String> {
        let (folder, name) = split_path(path);
        let mut remote = ScpReceiver::start(self, "-vt", folder).await?;
        let done = remote.send_file(name, source).await;
        remote.finish(done).await
    }

    /// Puts everything that is in a folder into a folder there; or the folder itself, if it is meant
    /// as a whole.
    ///
    /// # Errors
    /// When something cannot be read, or cannot be put there; in words.
    pub(crate) async fn upload_folder(
        &self,
        path: &str,
        source: &Path,
        whole: bool,
    ) -> Result<(), String> {
        let mut remote = ScpReceiver::start(self, "-rvt", path).await?;
        let done = if whole {
            let name = source.file_name().and_then(|name| name.to_str()).unwrap_or(".");
            remote.send_folder(name, source, 0).await
        } else {
            remote.send_entries(source, 0).await
        };
        remote.finish(done).await
    }
}

/// The program at the other end.
struct ScpReceiver {
    input: ChannelWriteHalf<Msg>,
    output: ChannelReadHalf,
    heard: RemoteOutput,
}

/// Output of the remote program. Only a little of it is kept.
#[derive(Default)]
struct RemoteOutput {
    /// Answers that were not read yet: one byte for each step, or a complaint.
    answered: Vec<u8>,
    /// Other output.
    said: Vec<u8>,
    status: Option<u32>,
    gone: bool,
}

impl RemoteOutput {
    /// Takes in one message.
    fn push_message(&mut self, message: Option<ChannelMsg>) {
        match message {
            Some(ChannelMsg::Data { data }) => {
                let room = MAX_KEPT_SCP_OUTPUT - self.answered.len();
                self.answered.extend(data.iter().take(room));
            }
            Some(ChannelMsg::ExtendedData { data, .. }) => {
                self.said.extend_from_slice(&data);
                if self.said.len() > 2 * MAX_KEPT_SCP_OUTPUT {
                    self.said.drain(..self.said.len() - MAX_KEPT_SCP_OUTPUT);
                }
            }
            Some(ChannelMsg::ExitStatus { exit_status }) => self.status = Some(exit_status),
            Some(ChannelMsg::Failure | ChannelMsg::Close) | None => self.gone = true,
            Some(_) => {}
        }
    }

    /// The next answer, if it is there: a zero, or a word of complaint.
    fn next_answer(&mut self) -> Option<Result<(), String>> {
        match self.answered.first() {
            Some(0) => {
                self.answered.remove(0);
                Some(Ok(()))
            }
            Some(_) => {
                let full = self.answered.len() == MAX_KEPT_SCP_OUTPUT;
                let complete = self.gone || full || self.answered.contains(&b'\n');
                complete.then(|| {
                    let text = self.answered.get(1..).unwrap_or_default();
                    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
                    Err(String::from_utf8_lossy(line).into_owned())
                })
            }
            None => self.gone.then(|| Err("the other end has gone".to_owned())),
        }
    }
}

impl ScpReceiver {
    async fn start(session: &Session, flags: &str, folder: &str) -> Result<Self, String> {
        let channel = session.open_channel().await?;
        let command = format!("scp {flags} {}\n", quote_shell_word(folder, session.unix));
        channel.exec(true, command).await.map_err(|error| format!("ssh: {error}"))?;
        let (output, input) = channel.split();
        let mut remote = Self { input, output, heard: RemoteOutput::default() };
        // It says that it is ready.
        let ready = remote.read_status().await;
        match ready {
            Ok(()) => Ok(remote),
            Err(why) => Err(remote.finish(Err(why)).await.err().unwrap_or_default()),
        }
    }

    /// Sends bytes, and listens meanwhile: a program that has ended takes none.
    async fn send(&mut self, bytes: Bytes) -> Result<(), String> {
        let Self { input, output, heard } = self;
        let sending = input.data_bytes(bytes);
        tokio::pin!(sending);
        loop {
            tokio::select! {
                sent = &mut sending => return sent.map_err(|error| format!("ssh: {error}")),
                message = output.wait() => {
                    let over = matches!(message, None | Some(ChannelMsg::Close));
                    heard.push_message(message);
                    if over {
                        return Err("the other end has gone".to_owned());
                    }
                }
            }
        }
    }

    /// Waits for its next answer.
    async fn read_status(&mut self) -> Result<(), String> {
        loop {
            if let Some(answer) = self.heard.next_answer() {
                return answer;
            }
            let message = self.output.wait().await;
            self.heard.push_message(message);
        }
    }

    /// Sends a line that announces something, and waits until it is taken.
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
        let shown = source.display();
        let why = |error: std::io::Error| format!("open {shown}: {}", describe_io_error(&error));
        let about = source.metadata().map_err(why)?;
        if !about.is_file() {
            return Err(format!("{shown} is neither a file nor a folder"));
        }
        let mut file = open_file(source).map_err(why)?;
        self.send_header(&format!("C0644 {} {name}\n", about.len())).await?;
        let mut left = about.len();
        while left > 0 {
            let size = usize::try_from(left).map_or(CHUNK_SIZE, |left| left.min(CHUNK_SIZE));
            let mut piece = vec![0; size];
            file.read_exact(&mut piece).map_err(|error| {
                format!("read {shown}, which has changed meanwhile: {}", describe_io_error(&error))
            })?;
            self.send(piece.into()).await?;
            left = left.saturating_sub(size as u64);
        }
        self.send_end_of_file().await
    }

    async fn send_folder(&mut self, name: &str, source: &Path, depth: usize) -> Result<(), String> {
        self.send_header(&format!("D0755 0 {name}\n")).await?;
        Box::pin(self.send_entries(source, depth)).await?;
        self.send_header("E\n").await
    }

    /// Sends the entries of a folder, sorted by name. Links are followed.
    async fn send_entries(&mut self, source: &Path, depth: usize) -> Result<(), String> {
        let shown = source.display();
        let why = |error: std::io::Error| format!("open {shown}: {}", describe_io_error(&error));
        if depth > MAX_FOLDER_DEPTH {
            return Err(format!("{shown} is nested deeper than {MAX_FOLDER_DEPTH} folders"));
        }
        let mut paths = Vec::new();
        for entry in source.read_dir().map_err(why)? {
            paths.push(entry.map_err(why)?.path());
        }
        paths.sort();
        for path in paths {
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
                return Err(format!("the name of {} is not Unicode", path.display()));
            };
            match path.is_dir() {
                true => self.send_folder(name, &path, depth + 1).await?,
                false => self.send_file(name, &path).await?,
            }
        }
        Ok(())
    }

    /// Ends the transfer and reads the verdict of the program.
    async fn finish(mut self, done: Result<(), String>) -> Result<(), String> {
        // A program that has ended does not mind.
        self.input.eof().await.ok();
        while !self.heard.gone {
            let message = self.output.wait().await;
            self.heard.push_message(message);
        }
        match (self.heard.status, done) {
            (Some(127), _) => Err("SCP failed to start. This usually means that SCP is not\nproperly installed on the remote system.".to_owned()),
            (_, Err(why)) => Err(why),
            (None | Some(0), Ok(())) => Ok(()),
            (Some(status), Ok(())) => {
                let said = String::from_utf8_lossy(&self.heard.said);
                Err(format!("Process exited with status {status}: {}", said.trim_end()))
            }
        }
    }
}

/// Takes in what another machine sends: the first byte of each piece says on which of the two streams it
/// comes and how long it is. However much that is, little of it is kept.
#[cfg(any(test, fuzzing))]
pub(crate) fn fuzz_scp(mut data: &[u8]) {
    let mut heard = RemoteOutput::default();
    while let Some((head, rest)) = data.split_first() {
        let (piece, behind) = rest.split_at(rest.len().min(usize::from(head / 2)));
        let bytes = Bytes::copy_from_slice(piece);
        heard.push_message(Some(match head % 2 {
            0 => ChannelMsg::Data { data: bytes },
            _ => ChannelMsg::ExtendedData { data: bytes, ext: 1 },
        }));
        assert!(
            heard.answered.len() <= MAX_KEPT_SCP_OUTPUT
                && heard.said.len() <= 2 * MAX_KEPT_SCP_OUTPUT
        );
        drop(heard.next_answer());
        data = behind;
    }
    heard.push_message(None);
    assert!(heard.next_answer().is_some(), "nothing more is waited for");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(bytes: Vec<u8>) -> Option<ChannelMsg> {
        Some(ChannelMsg::Data { data: bytes.into() })
    }

    #[test]
    fn answers_are_taken_one_by_one_and_a_complaint_when_it_is_complete() {
        let mut heard = RemoteOutput::default();
        assert_eq!(heard.next_answer(), None);
        heard.push_message(data(vec![0, 0, 1]));
        assert_eq!(
            (heard.next_answer(), heard.next_answer(), heard.next_answer()),
            (Some(Ok(())), Some(Ok(())), None)
        );
        heard.push_message(data(b"no space\nmore".to_vec()));
        assert_eq!(heard.next_answer(), Some(Err("no space".to_owned())));
        let mut heard = RemoteOutput::default();
        heard.push_message(None);
        assert_eq!(heard.next_answer(), Some(Err("the other end has gone".to_owned())));
    }

    #[test]
    fn a_machine_that_says_too_much_fills_no_memory() {
        let mut heard = RemoteOutput::default();
        for _ in 0..100 {
            heard.push_message(data(vec![b'x'; MAX_KEPT_SCP_OUTPUT]));
            let said =
                ChannelMsg::ExtendedData { data: vec![b'y'; MAX_KEPT_SCP_OUTPUT].into(), ext: 1 };
            heard.push_message(Some(said));
        }
        assert!(
            heard.answered.len() <= MAX_KEPT_SCP_OUTPUT
                && heard.said.len() <= 2 * MAX_KEPT_SCP_OUTPUT
        );
        assert_eq!(heard.next_answer(), Some(Err("x".repeat(MAX_KEPT_SCP_OUTPUT - 1))));
    }
}
