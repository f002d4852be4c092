//! A running provider and the calls to it: starts the process, keeps its output, and records what
//! is sent and received.

mod error;
mod output;

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use formwork_plugin_protocol::client::make_socket_folder;
use formwork_plugin_protocol::handshake::{Address, EnvironmentForPlugin, Handshake, Protocol};
use formwork_plugin_protocol::host_building_blocks::{self, ChildProcess, HostCertificate};
use formwork_plugin_protocol::raw::{RawCall, RawError, Transport};
use formwork_value::diag::without_error_numbers;
use futures_util::StreamExt as _;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::message::Msg;
use crate::rpc::{Diag, Rpc};
pub use error::StartError;
pub use output::{PrintedOutput, panic_report_in};
use output::{SharedOutput, has_late_handshake, keep_output, lock_shared, read_first_line};

/// The longest wait for a handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(60);
/// The most bytes of one answer.
const MAX_ANSWER_BYTES: usize = 96 << 20;
/// The most messages of one answer.
const MAX_ANSWER_MESSAGES: usize = 10_000;

/// Settings of one start.
#[derive(Clone, Debug)]
pub struct LaunchOptions {
    /// The content of `PLUGIN_PROTOCOL_VERSIONS`.
    pub versions: Cow<'static, str>,
    /// Whether to ask for TLS.
    pub tls: bool,
    /// Variables on top of the environment.
    pub env: Vec<(OsString, OsString)>,
    /// Variables to leave out.
    pub remove: Vec<OsString>,
    /// The working folder.
    pub folder: Option<PathBuf>,
}

impl Default for LaunchOptions {
    fn default() -> Self {
        Self {
            versions: "5,6".into(),
            tls: true,
            env: Vec::new(),
            remove: Vec::new(),
            folder: None,
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
    /// Our identity, if TLS was asked for.
    pub identity: Option<HostCertificate>,
    /// Output on stdout after the handshake.
    pub stdout: SharedOutput<PrintedOutput>,
    /// Output on stderr.
    pub stderr: SharedOutput<PrintedOutput>,
    /// Closed once stderr was read to its end.
    pub stderr_end: watch::Receiver<()>,
    /// The folder for its socket.
    pub home: TempDir,
}

/// Starts `program` and reads its handshake.
///
/// # Errors
/// When there is no handshake. The process is gone then.
pub async fn start_plugin(
    program: &Path,
    launch: &LaunchOptions,
) -> Result<StartedPlugin, StartError> {
    let unrunnable =
        |error: std::io::Error| StartError::Unrunnable(without_error_numbers(error.to_string()));
    let home = make_socket_folder("fw-").map_err(unrunnable)?;
    let identity =
        if launch.tls { Some(HostCertificate::generate().map_err(unrunnable)?) } else { None };
    let pem = identity.as_ref().map(HostCertificate::pem);
    let command = plugin_command(program, launch, &EnvironmentForPlugin::new(home.path(), pem));
    let began = Instant::now();
    let (child, mut stdout, stderr) = ChildProcess::start(command).await.map_err(unrunnable)?;
    let errors = SharedOutput::<PrintedOutput>::default();
    let (reading, mut stderr_end) = watch::channel(());
    let kept = Arc::clone(&errors);
    // Read from the start: a provider whose pipe is full would block before its handshake.
    tokio::spawn(async move {
        keep_output(stderr, kept).await;
        drop(reading);
    });
    let (line, rest) = match timeout(HANDSHAKE_TIMEOUT, read_first_line(&mut stdout)).await {
        Err(_) => return Err(StartError::Silent),
        Ok(None) => {
            let exit = child.wait_up_to(Duration::from_secs(2)).await;
            let _ended = timeout(Duration::from_millis(500), stderr_end.changed()).await;
            let said = String::from_utf8_lossy(&lock_shared(&errors).bytes).into_owned();
            let exit = exit.unwrap_or_else(|| "stdout closed".to_owned());
            return Err(StartError::Ended(exit, output::end_reason_in(&said)));
        }
        Ok(Some(found)) => found,
    };
    let took = began.elapsed();
    let text = String::from_utf8_lossy(&line).into_owned();
    let handshake = match Handshake::parse(&line) {
        Ok(handshake) => handshake,
        Err(why) => {
            // A handshake behind other lines tells the author what to remove.
            return Err(match has_late_handshake(&mut stdout, rest).await {
                true => StartError::Late(text),
                false => StartError::NotHandshake(truncate(&text, 200), why.to_string()),
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
    if let Some(folder) = &launch.folder {
        command.current_dir(folder);
    }
    command
}

/// The beginning of a string, cut between characters.
pub fn truncate(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}

/// The outcome of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The messages of the answer; one unless the call streams.
    Answered(Vec<Msg>),
    /// A gRPC status: code and message.
    Refused(String, String),
    /// The process or the connection is gone.
    Lost {
        /// The reason.
        why: String,
        /// Whether the process reported a panic.
        panicked: bool,
    },
    /// No answer in time.
    TimedOut,
    /// Bytes that are no message.
    Garbage,
}

/// One call with everything that went over the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The call.
    pub rpc: Rpc,
    /// The request as it was sent.
    pub request: Vec<Bytes>,
    /// The messages of the answer as they came.
    pub answers: Vec<Bytes>,
    /// Decoded reply.
    pub reply: Reply,
    /// The time it took.
    pub took: Duration,
    /// The call that had configured the process, if there was one.
    pub configured: Option<Arc<Self>>,
}

impl Call {
    /// Returns the first message of the answer.
    #[must_use]
    pub fn first_message(&self) -> Option<&Msg> {
        match &self.reply {
            Reply::Answered(messages) => messages.first(),
            _ => None,
        }
    }

    /// Returns the diagnostics of all messages of the answer.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diag> {
        let Reply::Answered(messages) = &self.reply else { return Vec::new() };
        if self.rpc == Rpc::InvokeAction {
            let ends = messages.iter().filter_map(|message| message.get_msg(2));
            return ends
                .flat_map(|end| end.repeated_messages(1))
                .map(|it| Diag::decode(&it))
                .collect();
        }
        let Some(field) = self.rpc.diagnostics_field() else { return Vec::new() };
        let all = messages.iter().flat_map(|message| message.repeated_messages(field));
        all.map(|message| Diag::decode(&message)).collect()
    }

    /// Whether it was answered without errors.
    #[must_use]
    pub fn is_success(&self) -> bool {
        matches!(self.reply, Reply::Answered(_)) && !self.diagnostics().iter().any(Diag::is_error)
    }

    /// Whether the provider said anything, be it an error.
    #[must_use]
    pub fn has_reply(&self) -> bool {
        matches!(self.reply, Reply::Answered(_) | Reply::Refused(..))
    }

    /// Whether the call brought the provider down or hangs.
    #[must_use]
    pub fn is_crash_or_hang(&self) -> bool {
        matches!(self.reply, Reply::Lost { .. } | Reply::TimedOut | Reply::Garbage)
    }

    /// The reply in a few words.
    #[must_use]
    pub fn describe_outcome(&self) -> String {
        match &self.reply {
            Reply::Answered(_) => match self.diagnostics().into_iter().find(Diag::is_error) {
                Some(error) => format!("error: {}", truncate(&error.one_line(), 300)),
                None => "answered".to_owned(),
            },
            Reply::Refused(code, message) => format!("status {code}: {}", truncate(message, 300)),
            Reply::Lost { why, .. } => format!("the provider is gone: {}", truncate(why, 600)),
            Reply::TimedOut => "no answer in time".to_owned(),
            Reply::Garbage => "an answer that is no message".to_owned(),
        }
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
    configured: Mutex<Option<Arc<Call>>>,
}

impl Plugin {
    /// Starts a provider and connects to it.
    ///
    /// # Errors
    /// When it does not start or does not answer.
    pub async fn launch(program: &Path, launch: &LaunchOptions) -> Result<Self, StartError> {
        let started = start_plugin(program, launch).await?;
        let connection = connect_provider(&started, Duration::from_secs(20)).await;
        let connection = connection.map_err(StartError::Unreachable)?;
        let protocol = started.handshake.protocol;
        Ok(Self::new(Some(started), connection, protocol))
    }

    /// Connects to a provider that runs already.
    ///
    /// # Errors
    /// When nothing answers there.
    pub async fn connect_to_running(
        address: &Address,
        protocol: Protocol,
    ) -> Result<Self, StartError> {
        let connection =
            host_building_blocks::connect_to_plugin(address, None, Duration::from_secs(10)).await;
        Ok(Self::new(None, connection.map_err(StartError::Unreachable)?, protocol))
    }

    fn new(
        started: Option<StartedPlugin>,
        connection: Arc<dyn Transport>,
        protocol: Protocol,
    ) -> Self {
        let (diagnostics, largest, configured) = Default::default();
        Self { started, connection, protocol, diagnostics, largest, configured }
    }

    /// Makes a call.
    pub async fn call(&self, rpc: Rpc, request: &Msg, deadline: Duration) -> Call {
        self.call_bytes(rpc, vec![request.encode()], deadline).await
    }

    /// Makes a call with bytes that need not be a message.
    pub async fn call_bytes(&self, rpc: Rpc, request: Vec<Bytes>, deadline: Duration) -> Call {
        let began = Instant::now();
        let (answers, reply) = match rpc.method_path(self.protocol) {
            Some(path) => self.send_and_receive(&path, request.clone(), deadline).await,
            None => {
                let why = "the protocol has no such call".to_owned();
                (Vec::new(), Reply::Refused("Unimplemented".to_owned(), why))
            }
        };
        let configured = lock_shared(&self.configured).clone();
        let call = Call { rpc, request, answers, reply, took: began.elapsed(), configured };
        self.keep_for_later_checks(&call);
        call
    }

    /// Calls any path, also of other services.
    pub async fn call_at_path(&self, path: &str, request: Vec<Bytes>, deadline: Duration) -> Reply {
        self.send_and_receive(path, request, deadline).await.1
    }

    async fn send_and_receive(
        &self,
        path: &str,
        messages: Vec<Bytes>,
        deadline: Duration,
    ) -> (Vec<Bytes>, Reply) {
        let call =
            RawCall { path: path.to_owned().into(), messages, answer_limit: MAX_ANSWER_BYTES };
        let mut answers = Vec::new();
        let mut size = 0;
        let collect = async {
            let mut stream = self.connection.begin_call(call).await?;
            while let Some(answer) = stream.next().await {
                let answer = answer?;
                size += answer.len();
                answers.push(answer);
                // A provider may send without end.
                if answers.len() >= MAX_ANSWER_MESSAGES || size > MAX_ANSWER_BYTES {
                    break;
                }
            }
            Ok(())
        };
        let end: Result<Result<(), RawError>, _> = timeout(deadline, collect).await;
        let reply = match end {
            Err(_) => Reply::TimedOut,
            Ok(Err(RawError::Status(status))) => Reply::Refused(status.code_name(), status.message),
            Ok(Err(RawError::Failed(failure))) => {
                // The connection breaks a moment before the process can be waited for.
                let exit = match &self.started {
                    Some(started) => started.child.wait_up_to(Duration::from_millis(700)).await,
                    None => None,
                };
                self.connection_lost_reply(&failure.to_string(), exit.as_deref()).await
            }
            Ok(Ok(())) => match answers.iter().map(Msg::parse).collect::<Option<Vec<_>>>() {
                Some(messages) if messages.is_empty() => Reply::Garbage,
                Some(messages) => Reply::Answered(messages),
                None => Reply::Garbage,
            },
        };
        (answers, reply)
    }

    async fn connection_lost_reply(&self, message: &str, exit: Option<&str>) -> Reply {
        let (Some(started), Some(exit)) = (&self.started, exit) else {
            return Reply::Lost { why: message.to_owned(), panicked: false };
        };
        // The process has ended, but its last words may still be on their way through the pipe.
        let mut end = started.stderr_end.clone();
        let _ended = timeout(Duration::from_millis(500), end.changed()).await;
        let said = String::from_utf8_lossy(&lock_shared(&started.stderr).bytes).into_owned();
        let report = panic_report_in(&said);
        let why = match &report {
            Some(report) => format!("{message} ({exit}; {})", report.replace('\n', " / ")),
            None => format!("{message} ({exit})"),
        };
        Reply::Lost { why, panicked: report.is_some() }
    }

    fn keep_for_later_checks(&self, call: &Call) {
        if call.rpc == Rpc::ConfigureProvider && call.has_reply() {
            let call = Call { configured: None, ..call.clone() };
            *lock_shared(&self.configured) = Some(Arc::new(call));
        }
        let size = call.answers.iter().map(Bytes::len).max().unwrap_or(0);
        let mut largest = lock_shared(&self.largest);
        // A large request may well have a large answer.
        let is_normal = call.request.iter().all(|it| it.len() < 1 << 20);
        if size > largest.0 && call.rpc != Rpc::GetProviderSchema && is_normal {
            *largest = (size, Some(call.rpc));
        }
        drop(largest);
        let mut diagnostics = lock_shared(&self.diagnostics);
        let room = 5_000_usize.saturating_sub(diagnostics.len());
        let own = call.diagnostics().into_iter().take(room);
        let request = call.request.first();
        diagnostics.extend(own.map(|it| (call.rpc, it.without_echoed_control_chars(request))));
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

    /// Asks the process to end, waits up to `patience`, and returns whether it ended by itself.
    pub async fn shutdown(&self, patience: Duration) -> bool {
        self.call_at_path("/plugin.GRPCController/Shutdown", vec![Bytes::new()], patience).await;
        let Some(started) = &self.started else { return true };
        let ended = started.child.wait_up_to(patience).await.is_some();
        started.child.kill();
        ended
    }
}

/// Connects to a started provider.
///
/// # Errors
/// When it does not answer, or speaks TLS although it should not, or the other way round.
pub async fn connect_provider(
    started: &StartedPlugin,
    patience: Duration,
) -> Result<Arc<dyn Transport>, String> {
    let StartedPlugin { handshake, identity, .. } = started;
    let tls = match (identity, &handshake.certificate) {
        (Some(identity), Some(certificate)) => Some((identity, certificate.clone())),
        (Some(_), None) => {
            return Err("TLS was asked for, but the handshake has no certificate".to_owned());
        }
        (None, _) => None,
    };
    let connected =
        host_building_blocks::connect_to_plugin(&handshake.address, tls, patience).await;
    connected.map_err(without_error_numbers)
}

/// Waits until `done` or the time is over; returns whether it was done.
pub async fn wait_until(patience: Duration, mut done: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + patience;
    loop {
        if done() {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        sleep(Duration::from_millis(20)).await;
    }
}
