//! A command while it runs: in a process group of its own, so that it and everything it starts can be
//! ended together, and so that Ctrl-C on the terminal reaches it through us alone.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::process::Child;

use super::command::Command;
use super::warden::ShellSupervisor;
use crate::failure::FailureReason;
use crate::lines::Lines;
use crate::stop::Stop;

/// Time that a command gets to end after it was asked to.
const GRACE: Duration = Duration::from_secs(5);

/// Number of bytes read at once.
const PIECE: usize = 16 * 1024;

/// Runs a command to its end and takes its output, also that of what it leaves running.
///
/// # Errors
/// When it cannot be started, ends badly, or is cut short; in words.
pub(super) async fn run(
    command: &Command,
    output: &mut Lines<'_>,
    stop: &Stop,
) -> Result<(), FailureReason> {
    // Without a shell for it the command runs unwatched.
    let mut warden = ShellSupervisor::new().ok();
    let (mut child, mut reader) = start(command).map_err(|error| not_started(command, &error))?;
    let mut group = Group::of(&child);
    if let (Some(warden), Some(leader)) = (&mut warden, group.0) {
        warden.watch(leader).await;
    }
    let ended = {
        let reading = async {
            let mut piece = vec![0; PIECE];
            loop {
                match reader.read(&mut piece).await {
                    Ok(0) | Err(_) => return,
                    Ok(n) => output.take(piece.get(..n).unwrap_or_default()),
                }
            }
        };
        let work = async { tokio::join!(child.wait(), reading).0 };
        tokio::pin!(work);
        tokio::select! {
            ended = &mut work => {
                // Background processes of the command are left running on purpose.
                group.let_go();
                ended.map_err(|error| FailureReason::from(error.to_string()))
            }
            () = stop.asked() => {
                group.signal(Signal::SIGTERM);
                // The outcome does not matter: the command was cut short.
                tokio::time::timeout(GRACE, work).await.ok();
                Err(FailureReason::from("interrupted".to_owned()))
            }
        }
    };
    if let Some(warden) = warden {
        warden.release().await;
    }
    output.end();
    match ended? {
        status if status.success() => Ok(()),
        status => Err(FailureReason::from(in_words(status))),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a command of the user, in a group that does not outlive the run"
)]
fn start(command: &Command) -> io::Result<(Child, Receiver)> {
    let (program, arguments) = command.words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    // One pipe for both, so that the order of what it says stays.
    let (reader, writer) = io::pipe()?;
    let mut starting = tokio::process::Command::new(program);
    starting
        .args(arguments)
        .envs(command.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0)
        .kill_on_drop(true);
    if let Some(folder) = &command.folder {
        starting.current_dir(folder);
    }
    let child = starting.spawn()?;
    Ok((child, Receiver::from_owned_fd(OwnedFd::from(reader))?))
}

/// Error for a command that did not start. Directory and command are configuration, and may be
/// sensitive.
fn not_started(command: &Command, error: &io::Error) -> FailureReason {
    let program = command.words.first().map(String::as_str).unwrap_or_default();
    match &command.folder {
        Some(folder) if !folder.is_dir() => FailureReason::new(
            format!("cannot go to the folder {}: {error}", folder.display()),
            format!("cannot go to its folder: {error}"),
        ),
        _ => FailureReason::new(
            format!("cannot start {program:?}: {error}"),
            format!("cannot start its program: {error}"),
        ),
    }
}

fn in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => match Signal::try_from(signal) {
            Ok(signal) => format!("ended by the signal {signal}"),
            Err(_) => format!("ended by the signal {signal}"),
        },
        (None, None) => "ended".to_owned(),
    }
}

/// The process group of a child. Whatever is in it ends when this is dropped, unless it was let go:
/// the run may be given up at any moment.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw))
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.0 {
            // An error means that no process is left.
            killpg(group, signal).ok();
        }
    }

    fn let_go(&mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
    }
}
