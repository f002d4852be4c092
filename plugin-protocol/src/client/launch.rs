//! Launches a plugin: starts the child, reads its handshake, and connects.
//!
//! When a step fails, the child is ended before the error is returned. The error contains the
//! problem, the last output of the plugin, and the remedy. Plugins that were launched successfully
//! are ended in `shutdown.rs`.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;
use tokio::process::ChildStdout;
use tokio::time::{sleep, timeout};
use tracing::{debug, info, warn};

use super::connect::Dialer;
use super::connection_pool::ConnectionPool;
use super::plugin_files::{self, FileStamp};
use super::process::StartedProcess;
use super::stderr_log::PluginLog;
use super::{ProcessLimits, Settings, explain_start_error};
use crate::Failure;
use crate::handshake::{
    Address, EnvironmentForPlugin, Handshake, HandshakeError, MAX_HANDSHAKE_LINE_BYTES, Protocol,
    escape_and_shorten,
};
use crate::socket::is_local;
use crate::tls::{TlsIdentity, client_config};

/// Time that a plugin gets to end after it closed its stdout.
const STDOUT_CLOSED_EXIT_WAIT: Duration = Duration::from_secs(2);
/// Time after which a slow start is worth a line in the log.
const SLOW_START_LOG_DELAY: Duration = Duration::from_secs(3);

/// A plugin's program.
#[derive(Clone, Debug)]
pub struct Executable {
    /// The name under which its log lines appear.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// The name by which the program is started, for a file that holds several programs. Its path if
    /// there is none.
    pub arg0: Option<OsString>,
    /// The file's identity when it was checked. Another file at the path is not started.
    pub identity: Option<FileStamp>,
    /// Variables on top of the inherited environment.
    pub env: Vec<(OsString, OsString)>,
    /// Variables of this process that it does not inherit.
    pub withheld: Vec<OsString>,
}

/// The reason not to start a file that replaced the one that was checked.
const FILE_CHANGED_REASON: &str = "the file has changed since its checksum was compared with the dependency lock file, so it is not started; run the command again";

/// A child that runs, with its resources.
#[derive(Debug)]
pub(crate) struct PluginChild {
    pub(super) process: StartedProcess,
    pub(super) log: Arc<PluginLog>,
    /// Removed with the child.
    socket_dir: TempDir,
    /// The announced socket, in any directory.
    socket: Option<PathBuf>,
}

impl PluginChild {
    /// The directory that was created for its socket.
    pub(super) fn socket_dir(&self) -> &Path {
        self.socket_dir.path()
    }
}

impl Drop for PluginChild {
    fn drop(&mut self) {
        self.process.kill();
        // Most plugins remove their socket; a killed one cannot. Only a socket may be removed.
        if let Some(path) = &self.socket
            && path.symlink_metadata().is_ok_and(|file| plugin_files::is_socket(file.file_type()))
            && let Err(error) = std::fs::remove_file(path)
        {
            debug!(path = %path.display(), %error, "a plugin's socket stays behind");
        }
    }
}

/// The reason why a start failed, before it is explained to the user.
#[derive(Debug)]
enum LaunchProblem {
    Environment(String),
    Unrunnable(String),
    Ended,
    TooLong(Vec<u8>),
    Unreadable(io::Error),
    TimedOut,
    Handshake(HandshakeError),
    NoCertificate,
    Certificate,
    Remote(Address),
    Connect(String),
}

/// Starts `executable` and connects to it.
pub(super) async fn launch(
    executable: &Executable,
    settings: &Settings,
) -> Result<(ConnectionPool, Protocol), Failure> {
    let unstarted = |problem| launch_failure(executable, settings, problem, String::new());
    // A directory for each plugin: go-plugin creates its socket in `PLUGIN_UNIX_SOCKET_DIR` with
    // the umask of the user, so only the directory keeps other users out.
    let socket_dir = plugin_files::make_socket_dir("formwork-").map_err(|error| {
        unstarted(LaunchProblem::Environment(format!(
            "the directory for its socket cannot be created: {error}. Set TMPDIR to a directory \
             that exists and can be written to"
        )))
    })?;
    let identity = match settings.tls {
        true => Some(
            TlsIdentity::generate()
                .map_err(|error| unstarted(LaunchProblem::Environment(error.to_string())))?,
        ),
        false => None,
    };
    // The certificate travels in the environment (`PLUGIN_CLIENT_CERT`), as go-plugin expects. It
    // is public; the private key stays in this process.
    let environment = EnvironmentForPlugin::new(
        socket_dir.path(),
        identity.as_ref().map(TlsIdentity::certificate_pem),
    );
    let started = start_child(executable, &environment, settings.limits).await;
    let (process, pipes) = started.map_err(|error| {
        unstarted(LaunchProblem::Unrunnable(explain_start_error::explain_start_error(
            &executable.path,
            &error,
        )))
    })?;
    debug!(plugin = executable.name, pid = process.pid(), "plugin started");

    let log = PluginLog::new(executable.name.clone());
    // Before the handshake is read: a plugin that logs more than a pipe holds would block before it
    // prints the handshake.
    tokio::spawn(Arc::clone(&log).read_stderr_to_end(pipes.stderr));
    // From here on a drop kills the process, even if the caller abandons this future.
    let mut child = PluginChild { process, log, socket_dir, socket: None };
    match read_handshake_and_connect(&mut child, pipes.stdout, identity.as_ref(), settings).await {
        Ok((dialer, channel, protocol)) => {
            debug!(plugin = executable.name, %protocol, address = %dialer.address, "plugin ready");
            Ok((ConnectionPool::new(dialer, channel, settings.connections, Some(child)), protocol))
        }
        Err(problem) => {
            Err(end_child_and_explain_failure(&child, executable, settings, problem).await)
        }
    }
}

async fn start_child(
    executable: &Executable,
    environment: &EnvironmentForPlugin,
    limits: ProcessLimits,
) -> io::Result<(StartedProcess, super::process::ChildOutputPipes)> {
    // A name without a directory would be searched in PATH.
    let path = std::path::absolute(&executable.path)?;
    let mut attempts = 0;
    loop {
        // By path and not by handle: providers look at their own name and path.
        // In each attempt, because a wait leaves time to replace the file.
        if let Some(checked) = executable.identity
            && FileStamp::of_path(&path)? != checked
        {
            return Err(io::Error::other(FILE_CHANGED_REASON));
        }
        #[expect(clippy::disallowed_methods, reason = "the one place that starts programs")]
        let mut command = Command::new(&path);
        // Removed first and set afterwards, so that no variable of this process survives where the
        // plugin gets its own.
        for name in &environment.remove {
            command.env_remove(name);
        }
        for name in &executable.withheld {
            command.env_remove(name);
        }
        command.envs(environment.set.iter().map(|(name, value)| (name, value)));
        command.envs(executable.env.iter().map(|(name, value)| (name, value)));
        match StartedProcess::start(command, executable.arg0.as_deref(), limits).await {
            // A file that was just written can be held open, for a moment, by another child process
            // that is about to replace itself.
            Err(error) if plugin_files::is_open_for_writing_error(&error) && attempts < 50 => {
                attempts += 1;
                sleep(Duration::from_millis(10)).await;
            }
            started => return started,
        }
    }
}

/// Reads the handshake and connects to its address.
async fn read_handshake_and_connect(
    child: &mut PluginChild,
    mut stdout: ChildStdout,
    identity: Option<&TlsIdentity>,
    settings: &Settings,
) -> Result<(Dialer, tonic::transport::Channel, Protocol), LaunchProblem> {
    // A plugin without a handshake, such as a program that waits on its stdin, would hang the run
    // forever.
    let line = timeout(settings.start_timeout, read_first_line(&mut stdout))
        .await
        .map_err(|_| LaunchProblem::TimedOut)??;
    // Only the first line of stdout belongs to the protocol.
    tokio::spawn(discard_stdout(stdout));
    let handshake = Handshake::parse(&line).map_err(LaunchProblem::Handshake)?;
    // Noted before the connection can fail, so that the socket of a failed start is removed too.
    if let Address::Unix(path) = &handshake.address {
        child.socket = Some(path.clone());
    }
    // The address comes from the plugin. Connecting to a remote address would send provider
    // credentials over the network to a machine of its choice.
    if !is_local(&handshake.address) {
        return Err(LaunchProblem::Remote(handshake.address));
    }
    let tls = match (identity, handshake.certificate) {
        (Some(identity), Some(certificate)) => {
            let config = client_config(identity, certificate);
            Some(config.map_err(|error| LaunchProblem::Connect(error.to_string()))?)
        }
        // No silent fallback to plaintext: another user of the machine could otherwise connect to a
        // TCP plugin.
        (Some(_), None) => return Err(LaunchProblem::NoCertificate),
        // go-plugin serves TLS only if it announces a certificate, and would read plaintext as a
        // broken TLS handshake.
        (None, Some(_)) => return Err(LaunchProblem::Certificate),
        (None, None) => None,
    };
    // Kept for further connections of the pool, which must present the same certificate.
    let dialer =
        Dialer { address: handshake.address, tls, connect_timeout: settings.connect_timeout };
    let channel = dialer
        .connect_within_timeout()
        .await
        .map_err(|error| LaunchProblem::Connect(error.to_string()))?;
    Ok((dialer, channel, handshake.protocol))
}

/// Returns the first line of `stdout`. As in go-plugin, one that ends with the stream counts too.
async fn read_first_line(stdout: &mut ChildStdout) -> Result<Vec<u8>, LaunchProblem> {
    let mut line = Vec::new();
    let mut slow = Box::pin(sleep(SLOW_START_LOG_DELAY));
    loop {
        let outcome = tokio::select! {
            outcome = stdout.read_buf(&mut line) => outcome.map_err(LaunchProblem::Unreadable)?,
            // An elapsed timer stays ready: without the guard this would spin and log without end.
            () = &mut slow, if !slow.is_elapsed() => {
                info!("a plugin takes long to start");
                continue;
            }
        };
        if let Some(end) = line.iter().position(|byte| *byte == b'\n') {
            line.truncate(end);
            return Ok(line);
        }
        match outcome {
            0 if line.is_empty() => return Err(LaunchProblem::Ended),
            0 => return Ok(line),
            // A program that is not a plugin may print endlessly and without a line break.
            _ if line.len() > MAX_HANDSHAKE_LINE_BYTES => {
                line.truncate(MAX_HANDSHAKE_LINE_BYTES);
                return Err(LaunchProblem::TooLong(line));
            }
            _ => (),
        }
    }
}

/// Keeps the pipe empty until the child ends: a child that cannot write would stop.
async fn discard_stdout(mut stdout: ChildStdout) {
    let mut sink = tokio::io::sink();
    match tokio::io::copy(&mut stdout, &mut sink).await {
        Ok(_) | Err(_) => (),
    }
}

/// Ends a child whose start failed, and returns the error with its exit status and output.
async fn end_child_and_explain_failure(
    child: &PluginChild,
    executable: &Executable,
    settings: &Settings,
    problem: LaunchProblem,
) -> Failure {
    // A child that is ending by itself is not killed, because its exit status explains the failure.
    let exit_wait = match problem {
        LaunchProblem::Ended => STDOUT_CLOSED_EXIT_WAIT,
        // A plugin that is crashing ends within moments. One with an invalid handshake may run forever.
        LaunchProblem::Handshake(_) | LaunchProblem::Connect(_) => STDOUT_CLOSED_EXIT_WAIT / 4,
        _ => Duration::ZERO,
    };
    // Asked before the kill, because the exit status of a crash is the best explanation of a failed
    // start.
    let exit = child.process.wait_up_to(exit_wait).await;
    child.process.kill();
    child.process.wait_up_to(STDOUT_CLOSED_EXIT_WAIT).await;
    // After the end of the process, so that its last lines have arrived.
    let last_output = child.log.panic_or_last_lines(STDOUT_CLOSED_EXIT_WAIT / 4).await;
    let mut context = exit.map(|exit| format!("\nThe process ended: {exit}.")).unwrap_or_default();
    if !last_output.is_empty() {
        context.push_str("\nIts last output:\n");
        context.push_str(&indent_lines(&last_output));
    }
    warn!(plugin = executable.name, "plugin could not be started");
    launch_failure(executable, settings, problem, context)
}

fn indent_lines(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

fn launch_failure(
    executable: &Executable,
    settings: &Settings,
    problem: LaunchProblem,
    context: String,
) -> Failure {
    let path = executable.path.display();
    let with_context = |reason: String| format!("{path}: {reason}.{context}");
    match problem {
        LaunchProblem::Environment(reason) => Failure::Launch(with_context(reason)),
        LaunchProblem::Unrunnable(reason) => {
            Failure::Launch(with_context(format!("cannot be started: {reason}")))
        }
        LaunchProblem::Ended => Failure::Launch(with_context(
            "it ended or closed its stdout without a handshake; \
             perhaps it is not a provider plugin"
                .to_owned(),
        )),
        LaunchProblem::TooLong(line) => Failure::Launch(with_context(format!(
            "it wrote more than {MAX_HANDSHAKE_LINE_BYTES} bytes without ending the handshake line: `{}`",
            escape_and_shorten(&line)
        ))),
        LaunchProblem::Unreadable(error) => {
            Failure::Launch(with_context(format!("its stdout could not be read: {error}")))
        }
        LaunchProblem::TimedOut => Failure::Launch(with_context(format!(
            "it gave no handshake within {}s and was ended",
            settings.start_timeout.as_secs_f64()
        ))),
        // Any program that prints output causes this error, so the message does not blame a
        // version.
        LaunchProblem::Handshake(error @ HandshakeError::Unrecognized(_)) => {
            Failure::Launch(with_context(format!(
                "{error}; it is not a provider plugin, \
                 or it printed something before the handshake, which a plugin must not do"
            )))
        }
        LaunchProblem::Handshake(error) => Failure::Incompatible(with_context(error.to_string())),
        LaunchProblem::NoCertificate => Failure::Incompatible(with_context(
            "it returned no certificate although TLS is required; \
             if you trust it, set TF_DISABLE_PLUGIN_TLS=1 to do without"
                .to_owned(),
        )),
        LaunchProblem::Certificate => Failure::Incompatible(with_context(
            "it talks TLS only, and TLS is switched off; unset TF_DISABLE_PLUGIN_TLS".to_owned(),
        )),
        LaunchProblem::Remote(address) => Failure::Misbehaved(with_context(format!(
            "it announced the address {address}, which is not on this machine"
        ))),
        LaunchProblem::Connect(reason) => {
            Failure::Launch(with_context(format!("it was started, but {reason}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_stamp_changes_when_the_file_is_replaced_or_written() {
        let directory = tempfile::tempdir().expect("a directory");
        let path_of = |name: &str| directory.path().join(name);
        std::fs::write(path_of("a"), "one").expect("it can be written");
        let stamp = FileStamp::of_path(&path_of("a")).expect("it is there");
        assert_eq!(FileStamp::of_path(&path_of("a")).expect("it is there"), stamp);
        std::fs::write(path_of("b"), "one").expect("it can be written");
        std::fs::rename(path_of("b"), path_of("a")).expect("it can be moved");
        assert_ne!(FileStamp::of_path(&path_of("a")).expect("it is there"), stamp);
    }

    #[test]
    fn the_socket_directory_is_accessible_to_its_owner_only() {
        let home = plugin_files::make_socket_dir("formwork-").expect("a directory");
        let mode = home.path().metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert!(home.path().as_os_str().len() + "/plugin1234567890".len() < 107);
    }
}
