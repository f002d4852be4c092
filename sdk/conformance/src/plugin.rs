//! A running provider and the calls to it: starts the process, keeps its output, and records what
//! is sent and received.

mod call;
mod error;
mod output;

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use formwork_plugin_protocol::client::make_socket_dir;
use formwork_plugin_protocol::handshake::{Address, EnvironmentForPlugin, Handshake, Protocol};
use formwork_plugin_protocol::host_building_blocks::{self, ChildProcess, HostCertificate};
use formwork_plugin_protocol::raw::{RawCall, RawError, RawStatus, Transport};
use formwork_plugin_protocol::transcript::{CallOutcome, RecordedCall, Recorder, TranscriptStart};
use formwork_value::diag::without_error_numbers;
use futures_util::StreamExt as _;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::message::Msg;
use crate::rpc::{Diag, Rpc};
pub use call::{Call, Reply};
use call::{MAX_ANSWER_BYTES, is_at_answer_limit};
pub use error::StartError;
pub use output::{PrintedOutput, panic_report_in};
use output::{SharedOutput, has_late_handshake, keep_output, lock_shared, read_first_line};

/// The longest wait for a handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(60);
/// The number of the gRPC status `Unimplemented`.
const UNIMPLEMENTED: i32 = 12;

/// Settings of one start.
#[derive(Clone, Debug)]
pub struct LaunchOptions {
    /// The content of `PLUGIN_PROTOCOL_VERSIONS`.
    pub versions: Cow<'static, str>,
    /// Whether to request TLS.
    pub tls: bool,
    /// Variables on top of the environment.
    pub env: Vec<(OsString, OsString)>,
    /// Variables to leave out.
    pub remove: Vec<OsString>,
    /// The working directory.
    pub directory: Option<PathBuf>,
    /// The moment from which the times of the calls count.
    pub start: TranscriptStart,
}

impl LaunchOptions {
    /// Returns the usual settings.
    #[must_use]
    pub fn new(start: TranscriptStart) -> Self {
        Self {
            versions: "5,6".into(),
            tls: true,
            env: Vec::new(),
            remove: Vec::new(),
            directory: None,
            start,
        }
    }
}

/// A process whose handshake was read.
#[derive(Debug)]
pub struct StartedPlugin {
    /// The process.
    pub child: ChildProcess,
    /// The handshake.
    pub handshake: Handshake,
    /// The line as it was printed.
    pub line: String,
    /// The time from start to handshake.
    pub took: Duration,
    /// The client identity, if TLS was requested.
    pub identity: Option<HostCertificate>,
    /// Output on stdout after the handshake.
    pub stdout: SharedOutput<PrintedOutput>,
    /// Output on stderr.
    pub stderr: SharedOutput<PrintedOutput>,
    /// Closed once stderr was read to its end.
    pub stderr_end: watch::Receiver<()>,
    /// The directory for its socket.
    pub home: TempDir,
}

/// Starts `program` and reads its handshake.
///
/// # Errors
/// When the process prints no handshake. It is ended then.
pub async fn start_plugin(
    program: &Path,
    launch: &LaunchOptions,
) -> Result<StartedPlugin, StartError> {
    let unrunnable =
        |error: std::io::Error| StartError::Unrunnable(without_error_numbers(error.to_string()));
    let home = make_socket_dir("fw-").map_err(unrunnable)?;
    let identity =
        if launch.tls { Some(HostCertificate::generate().map_err(unrunnable)?) } else { None };
    let pem = identity.as_ref().map(HostCertificate::pem);
    let command = plugin_command(program, launch, &EnvironmentForPlugin::new(home.path(), pem));
    let began = Instant::now();
    let (child, mut stdout, stderr) = ChildProcess::start(command).await.map_err(unrunnable)?;
    let errors = SharedOutput::<PrintedOutput>::default();
    let (reading, mut stderr_end) = watch::channel(());
    let errors_of_task = Arc::clone(&errors);
    // Read from the start: a provider whose pipe is full would block before its handshake.
    tokio::spawn(async move {
        keep_output(stderr, errors_of_task).await;
        drop(reading);
    });
    let (line, rest) = match timeout(HANDSHAKE_TIMEOUT, read_first_line(&mut stdout)).await {
        Err(_) => return Err(StartError::Silent),
        Ok(None) => {
            let exit = child.wait_up_to(Duration::from_secs(2)).await;
            let _ended = timeout(Duration::from_millis(500), stderr_end.changed()).await;
            let stderr_text = String::from_utf8_lossy(&lock_shared(&errors).bytes).into_owned();
            let exit = exit.unwrap_or_else(|| "stdout closed".to_owned());
            return Err(StartError::Ended(exit, output::end_reason_in(&stderr_text)));
        }
        Ok(Some(handshake_line)) => handshake_line,
    };
    let took = began.elapsed();
    let text = String::from_utf8_lossy(&line).into_owned();
    let handshake = match Handshake::parse(&line) {
        Ok(handshake) => handshake,
        Err(reason) => {
            // A handshake after other lines shows the author what to remove.
            return Err(match has_late_handshake(&mut stdout, rest).await {
                true => StartError::Late(text),
                false => StartError::NotHandshake(truncate(&text, 200), reason.to_string()),
            });
        }
    };
    let output = Arc::new(Mutex::new(PrintedOutput { bytes: rest, dropped: 0 }));
    tokio::spawn(keep_output(stdout, Arc::clone(&output)));
    let (stdout, stderr) = (output, errors);
    Ok(StartedPlugin {
        child,
        handshake,
        line: text,
        took,
        identity,
        stdout,
        stderr,
        stderr_end,
        home,
    })
}

#[expect(clippy::disallowed_methods, reason = "the child dies with us, by ChildProcess")]
fn plugin_command(
    program: &Path,
    launch: &LaunchOptions,
    environment: &EnvironmentForPlugin,
) -> Command {
    let mut command = Command::new(program);
    for name in &environment.remove {
        command.env_remove(name);
    }
    for name in &launch.remove {
        command.env_remove(name);
    }
    command.envs(environment.set.iter().map(|(name, value)| (name, value)));
    command.env("PLUGIN_PROTOCOL_VERSIONS", &*launch.versions);
    command.envs(launch.env.iter().map(|(name, value)| (name, value)));
    if let Some(directory) = &launch.directory {
        command.current_dir(directory);
    }
    command
}

/// The beginning of a string, cut between characters.
pub fn truncate(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((index, _)) => format!("{}...", &text[..index]),
        None => text.to_owned(),
    }
}

/// A provider that is connected.
pub struct Plugin {
    /// The process; `None` if the provider was found running.
    pub started: Option<StartedPlugin>,
    connection: Arc<dyn Transport>,
    /// The version it speaks.
    pub protocol: Protocol,
    /// Its calls and answers that carry diagnostics or were lost, for checks over the whole run.
    pub diagnostics: Mutex<Vec<(Rpc, Diag)>>,
    /// The largest answer in bytes, and its call.
    pub largest: Mutex<(usize, Option<Rpc>)>,
    /// The last call that configured it.
    configured: Mutex<Option<Arc<RecordedCall>>>,
    /// The moment from which the times of its calls count.
    start: TranscriptStart,
}

impl Plugin {
    /// Starts a provider and connects to it.
    ///
    /// # Errors
    /// When the provider does not start or does not answer.
    pub async fn launch(program: &Path, launch: &LaunchOptions) -> Result<Self, StartError> {
        let started = start_plugin(program, launch).await?;
        let connection = connect_provider(&started, Duration::from_secs(20)).await;
        let connection = connection.map_err(StartError::Unreachable)?;
        let protocol = started.handshake.protocol;
        Ok(Self::new(Some(started), connection, protocol, launch.start))
    }

    /// Connects to a running provider.
    ///
    /// # Errors
    /// When no answer comes from the address.
    pub async fn connect_to_running(
        address: &Address,
        protocol: Protocol,
        start: TranscriptStart,
    ) -> Result<Self, StartError> {
        let connection =
            host_building_blocks::connect_to_plugin(address, None, Duration::from_secs(10)).await;
        Ok(Self::new(None, connection.map_err(StartError::Unreachable)?, protocol, start))
    }

    fn new(
        started: Option<StartedPlugin>,
        connection: Arc<dyn Transport>,
        protocol: Protocol,
        start: TranscriptStart,
    ) -> Self {
        let (diagnostics, largest, configured) = Default::default();
        Self { started, connection, protocol, diagnostics, largest, configured, start }
    }

    /// Makes a call.
    pub async fn call(&self, rpc: Rpc, request: &Msg, deadline: Duration) -> Call {
        self.call_bytes(rpc, vec![request.encode()], deadline).await
    }

    /// Makes a call with bytes that need not be a message.
    pub async fn call_bytes(&self, rpc: Rpc, request: Vec<Bytes>, deadline: Duration) -> Call {
        let (recorded, reply) = match rpc.method_path(self.protocol) {
            Some(path) => self.send_and_receive(path, request, deadline).await,
            None => {
                let message = "the protocol has no such call".to_owned();
                let status = RawStatus { code: UNIMPLEMENTED, message, details: Bytes::new() };
                let call = raw_call(rpc.path_of_name(self.protocol), request);
                let recorded = self.start.record_unsent_call(call, CallOutcome::Status(status));
                let reply = Reply::from_recorded(&recorded, false);
                (recorded, reply)
            }
        };
        let configured = lock_shared(&self.configured).clone();
        let call = Call { rpc, recorded, reply, configured };
        self.keep_for_later_checks(&call);
        call
    }

    /// Calls any path, including those of other services.
    pub async fn call_at_path(&self, path: &str, request: Vec<Bytes>, deadline: Duration) -> Reply {
        self.send_and_receive(path.to_owned(), request, deadline).await.1
    }

    async fn send_and_receive(
        &self,
        path: String,
        messages: Vec<Bytes>,
        deadline: Duration,
    ) -> (RecordedCall, Reply) {
        let mut recorded = self.send_and_record(raw_call(path, messages), deadline).await;
        let mut panicked = false;
        if let CallOutcome::Failed(reason) = &mut recorded.outcome {
            // The reason is a message for users, and the process has more details than the
            // connection.
            panicked = self.add_end_of_process(reason).await;
        }
        let reply = Reply::from_recorded(&recorded, panicked);
        (recorded, reply)
    }

    /// Makes a call within a deadline, recorded by itself: a run has too many calls to keep all.
    async fn send_and_record(&self, call: RawCall, deadline: Duration) -> RecordedCall {
        let recorder = Recorder::from_start(self.start);
        let layered = recorder.wrap_transport(Arc::clone(&self.connection));
        let sent = call.clone();
        let receive = async {
            let (mut n_messages, mut n_bytes) = (0, 0);
            let mut answers = layered.begin_call(sent).await?;
            while let Some(answer) = answers.next().await {
                n_bytes += answer?.len();
                n_messages += 1;
                // A provider may send without end.
                if is_at_answer_limit(n_messages, n_bytes) {
                    break;
                }
            }
            Ok::<_, RawError>(())
        };
        // The outcome is in the record: the recorder completes it when the call is dropped.
        let _ended = timeout(deadline, receive).await;
        let recorded = recorder.transcript().calls.pop();
        recorded.unwrap_or_else(|| self.start.record_unsent_call(call, CallOutcome::Unfinished))
    }

    /// Adds the end of the process, if it has ended, to the reason why a call was lost, and returns whether
    /// it panicked.
    async fn add_end_of_process(&self, reason: &mut String) -> bool {
        let Some(started) = &self.started else { return false };
        // The connection breaks a moment before the process can be waited for.
        let exit = started.child.wait_up_to(Duration::from_millis(700)).await;
        let Some(exit) = exit else { return false };
        // The process has ended, but its last words may still be on their way through the pipe.
        let mut end = started.stderr_end.clone();
        let _ended = timeout(Duration::from_millis(500), end.changed()).await;
        let stderr_text = String::from_utf8_lossy(&lock_shared(&started.stderr).bytes).into_owned();
        let report = panic_report_in(&stderr_text);
        match &report {
            Some(report) => {
                reason.push_str(&format!(" ({exit}; {})", report.replace('\n', " / ")));
            }
            None => reason.push_str(&format!(" ({exit})")),
        }
        report.is_some()
    }

    fn keep_for_later_checks(&self, call: &Call) {
        if call.rpc == Rpc::ConfigureProvider && call.has_reply() {
            *lock_shared(&self.configured) = Some(Arc::new(call.recorded.clone()));
        }
        let size = call.recorded.answers.iter().map(Bytes::len).max().unwrap_or(0);
        let mut largest = lock_shared(&self.largest);
        // A large request may well have a large answer.
        let is_normal = call.recorded.requests.iter().all(|it| it.len() < 1 << 20);
        if size > largest.0 && call.rpc != Rpc::GetProviderSchema && is_normal {
            *largest = (size, Some(call.rpc));
        }
        drop(largest);
        let mut diagnostics = lock_shared(&self.diagnostics);
        let room = 5_000_usize.saturating_sub(diagnostics.len());
        let own_diagnostics = call.diagnostics().into_iter().take(room);
        let request = call.recorded.requests.first();
        diagnostics
            .extend(own_diagnostics.map(|it| (call.rpc, it.without_echoed_control_chars(request))));
    }

    /// Whether the process still runs.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.started.as_ref().is_none_or(|started| started.child.exit_if_ended().is_none())
    }

    /// Returns its stderr so far.
    #[must_use]
    pub fn stderr(&self) -> Vec<u8> {
        self.started.as_ref().map(|it| lock_shared(&it.stderr).bytes.clone()).unwrap_or_default()
    }

    /// Returns its stdout after the handshake.
    #[must_use]
    pub fn stdout(&self) -> Vec<u8> {
        self.started.as_ref().map(|it| lock_shared(&it.stdout).bytes.clone()).unwrap_or_default()
    }

    /// Asks the process to end, waits up to `timeout`, and returns whether it ended by itself.
    pub async fn shutdown(&self, timeout: Duration) -> bool {
        self.call_at_path("/plugin.GRPCController/Shutdown", vec![Bytes::new()], timeout).await;
        let Some(started) = &self.started else { return true };
        let has_ended = started.child.wait_up_to(timeout).await.is_some();
        started.child.kill();
        has_ended
    }
}

/// Returns a call with the limit that all calls of a run have.
pub(crate) fn raw_call(path: String, messages: Vec<Bytes>) -> RawCall {
    RawCall { path: path.into(), messages, answer_limit: MAX_ANSWER_BYTES }
}

/// Connects to a started provider.
///
/// # Errors
/// When it does not answer, or its use of TLS is not as requested.
pub async fn connect_provider(
    started: &StartedPlugin,
    timeout: Duration,
) -> Result<Arc<dyn Transport>, String> {
    let StartedPlugin { handshake, identity, .. } = started;
    let tls = match (identity, &handshake.certificate) {
        (Some(identity), Some(certificate)) => Some((identity, certificate.clone())),
        (Some(_), None) => {
            return Err("TLS was requested, but the handshake has no certificate".to_owned());
        }
        (None, _) => None,
    };
    let connected = host_building_blocks::connect_to_plugin(&handshake.address, tls, timeout).await;
    connected.map_err(without_error_numbers)
}

/// Waits until `done` or the time is over; returns whether it was done.
pub async fn wait_until(limit: Duration, mut is_done: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + limit;
    loop {
        if is_done() {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        sleep(Duration::from_millis(20)).await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use formwork_plugin_protocol::transcript::Transcript;

    use super::*;

    /// Calls a provider that answers as given, and returns the call.
    async fn call(answers: Vec<Bytes>, outcome: CallOutcome) -> Call {
        let request = Msg::new().with_text(1, "acme_item");
        let recorded = RecordedCall {
            path: "/tfplugin6.Provider/ReadResource".to_owned(),
            start: Duration::ZERO,
            duration: Duration::ZERO,
            requests: vec![request.encode()],
            answers,
            outcome,
        };
        let provider = Transcript { begun: SystemTime::UNIX_EPOCH, calls: vec![recorded] }.replay();
        let start = TranscriptStart::new(SystemTime::UNIX_EPOCH);
        let plugin = Plugin::new(None, provider, Protocol::V6, start);
        let before = plugin.call(Rpc::StopProvider, &request, Duration::from_secs(60)).await;
        assert!(matches!(before.reply, Reply::Lost { .. }), "it was not recorded: {before:?}");
        let call = plugin.call(Rpc::ReadResource, &request, Duration::from_secs(60)).await;
        assert!(call.recorded.start >= before.recorded.start + before.recorded.duration);
        assert_eq!(call.recorded.requests, [request.encode()]);
        call
    }

    #[tokio::test]
    async fn a_call_contains_all_received_messages_and_details() {
        let status = RawStatus {
            code: 5,
            message: "no such thing".to_owned(),
            details: Bytes::from_static(b"\x08\x05"),
        };
        let answer = Msg::new().with_text(1, "a");
        let refused_call = call(vec![answer.encode()], CallOutcome::Status(status.clone())).await;
        assert_eq!(refused_call.recorded.answers, [answer.encode()]);
        assert_eq!(refused_call.recorded.outcome, CallOutcome::Status(status));
        let reply = Reply::Refused("NotFound".to_owned(), "no such thing".to_owned());
        assert_eq!(refused_call.reply, reply);

        let answered = call(vec![answer.encode()], CallOutcome::Ok).await;
        assert_eq!(answered.recorded.outcome, CallOutcome::Ok);
        assert_eq!(answered.reply, Reply::Answered(vec![answer]));
        assert_eq!(call(Vec::new(), CallOutcome::Ok).await.reply, Reply::Garbage);

        let lost = call(Vec::new(), CallOutcome::Failed("it has exited".to_owned())).await;
        let reason = "it has exited".to_owned();
        assert_eq!(lost.reply, Reply::Lost { reason, panicked: false });
    }

    #[tokio::test]
    async fn an_endless_stream_is_truncated_and_counts_as_a_response() {
        let endless = call(vec![Bytes::new(); 10_001], CallOutcome::Ok).await;
        assert_eq!(endless.recorded.answers.len(), 10_000);
        assert_eq!(endless.recorded.outcome, CallOutcome::Unfinished);
        assert_eq!(endless.reply, Reply::Answered(vec![Msg::new(); 10_000]));
    }
}
