//! A command while it runs: in a process tree of its own, so that it and everything it starts can be
//! ended together, and so that Ctrl-C on the terminal reaches it through us alone.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use formwork_plugin_protocol::children::{
    OutputPipeReader, ProcessTree, ending_signal_name, output_pipe,
};
use tokio::io::AsyncReadExt as _;
use tokio::process::Child;

use super::command::Command;
use crate::failure::FailureReason;
use crate::output_lines::OutputLines;
use crate::stop::StopSignal;

/// Time that a command gets to end after it was asked to.
const EXIT_WAIT_AFTER_STOP: Duration = Duration::from_secs(5);

/// Number of bytes read at once.
const OUTPUT_READ_SIZE: usize = 16 * 1024;

/// Runs a command to its end and takes its output, also that of processes that it leaves running.
///
/// # Errors
/// When it cannot be started, ends badly, or is cut short; in words.
pub(super) async fn run_command(
    command: &Command,
    output: &mut OutputLines<'_>,
    stop: &StopSignal,
) -> Result<(), FailureReason> {
    let started =
        start_command(command).await.map_err(|error| command_start_error(command, &error))?;
    let StartedCommand { mut child, tree, mut reader } = started;
    let ended = {
        let reading = async {
            let mut piece = vec![0; OUTPUT_READ_SIZE];
            loop {
                match reader.read(&mut piece).await {
                    Ok(0) | Err(_) => return,
                    Ok(n) => output.push_bytes(piece.get(..n).unwrap_or_default()),
                }
            }
        };
        let work = async { tokio::join!(child.wait(), reading).0 };
        tokio::pin!(work);
        tokio::select! {
            ended = &mut work => {
                // Background processes of the command are left running on purpose.
                tree.leave_running().await;
                ended.map_err(|error| FailureReason::from(error.to_string()))
            }
            () = stop.wait_until_requested() => {
                tree.terminate();
                // The outcome does not matter: the command was cut short.
                tokio::time::timeout(EXIT_WAIT_AFTER_STOP, work).await.ok();
                tree.kill().await;
                Err(FailureReason::from("interrupted".to_owned()))
            }
        }
    };
    output.finish();
    match ended? {
        status if status.success() => Ok(()),
        status => Err(FailureReason::from(describe_exit_status(status))),
    }
}

/// A command that has started.
struct StartedCommand {
    child: Child,
    tree: ProcessTree,
    reader: OutputPipeReader,
}

#[expect(
    clippy::disallowed_methods,
    reason = "a command of the user, in a tree that does not outlive the run"
)]
async fn start_command(command: &Command) -> io::Result<StartedCommand> {
    let (program, arguments) = command.words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    // One pipe for both, so that the order of what it says stays.
    let (reader, writer) = output_pipe()?;
    let mut starting = tokio::process::Command::new(program);
    starting
        .args(arguments)
        .envs(command.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .kill_on_drop(true);
    if let Some(folder) = &command.folder {
        starting.current_dir(folder);
    }
    let (child, tree) = ProcessTree::spawn(starting).await?;
    Ok(StartedCommand { child, tree, reader })
}

/// Error for a command that did not start. Directory and command are configuration, and may be
/// sensitive.
fn command_start_error(command: &Command, error: &io::Error) -> FailureReason {
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

fn describe_exit_status(status: ExitStatus) -> String {
    match (status.code(), ending_signal_name(status)) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("ended by the signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}
