//! Execution of a command in its own process tree, so that the command and its children can be ended
//! together, and so that Ctrl-C on the terminal reaches them only through this process.

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

/// Time that a command has to exit after the stop request, before it is killed.
const EXIT_WAIT_AFTER_STOP: Duration = Duration::from_secs(5);

/// Maximum number of bytes in one read.
const OUTPUT_READ_SIZE: usize = 16 * 1024;

/// Runs a command until it exits and all processes that it started have closed the output.
///
/// # Errors
/// The command cannot be started, exits with an error, or is interrupted. The error is a message for
/// the user.
pub(super) async fn run_command(
    command: &Command,
    output: &mut OutputLines<'_>,
    stop: &StopSignal,
) -> Result<(), FailureReason> {
    let started =
        start_command(command).await.map_err(|error| command_start_error(command, &error))?;
    let StartedCommand { mut child, tree, mut reader } = started;
    let outcome = {
        let reading = async {
            let mut buffer = vec![0; OUTPUT_READ_SIZE];
            loop {
                match reader.read(&mut buffer).await {
                    Ok(0) | Err(_) => return,
                    Ok(n) => output.push_bytes(buffer.get(..n).unwrap_or_default()),
                }
            }
        };
        let work = async { tokio::join!(child.wait(), reading).0 };
        tokio::pin!(work);
        tokio::select! {
            outcome = &mut work => {
                // Background processes of the command deliberately keep running.
                tree.leave_running().await;
                outcome.map_err(|error| FailureReason::from(error.to_string()))
            }
            () = stop.wait_until_requested() => {
                tree.terminate();
                // The result does not matter: the command is reported as interrupted.
                tokio::time::timeout(EXIT_WAIT_AFTER_STOP, work).await.ok();
                tree.kill().await;
                Err(FailureReason::from("interrupted".to_owned()))
            }
        }
    };
    output.finish();
    match outcome? {
        status if status.success() => Ok(()),
        status => Err(FailureReason::from(describe_exit_status(status))),
    }
}

/// A command that has been started.
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
    // One pipe for standard output and standard error preserves the order of the lines.
    let (reader, writer) = output_pipe()?;
    let mut starting = tokio::process::Command::new(program);
    starting
        .args(arguments)
        .envs(command.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .kill_on_drop(true);
    if let Some(directory) = &command.directory {
        starting.current_dir(directory);
    }
    let (child, tree) = ProcessTree::spawn(starting).await?;
    Ok(StartedCommand { child, tree, reader })
}

/// Returns the error for a command that did not start. The directory and the command are part of the
/// configuration and may be sensitive.
fn command_start_error(command: &Command, error: &io::Error) -> FailureReason {
    let program = command.words.first().map(String::as_str).unwrap_or_default();
    match &command.directory {
        Some(directory) if !directory.is_dir() => FailureReason::new(
            format!("cannot change to the working directory {}: {error}", directory.display()),
            format!("cannot change to the working directory: {error}"),
        ),
        _ => FailureReason::new(
            format!("cannot start {program:?}: {error}"),
            format!("cannot start the program: {error}"),
        ),
    }
}

fn describe_exit_status(status: ExitStatus) -> String {
    match (status.code(), ending_signal_name(status)) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("terminated by signal {signal}"),
        (None, None) => "terminated".to_owned(),
    }
}
