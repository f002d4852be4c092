//! Child programs of providers. A child and its descendants end when the caller stops waiting for
//! the answer, even if this process is killed.

use std::io;
use std::process::{Output, Stdio};

use formwork_plugin_protocol::children::ProcessTree;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// A program that is about to run.
#[expect(clippy::disallowed_methods, reason = "its `ProcessTree` ends it")]
pub(crate) fn child_command(program: &str) -> Command {
    Command::new(program)
}

/// Runs a program with something on its standard input, and waits for its end.
///
/// # Errors
/// When it cannot be started.
pub(crate) async fn run_child_with_input(
    mut command: Command,
    question: &[u8],
) -> io::Result<Output> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (mut child, tree) = ProcessTree::spawn(command).await?;
    let stdin = child.stdin.take();
    let ask = async {
        if let Some(mut stdin) = stdin {
            // A program need not read its input, so a closed pipe is not a failure.
            let _unread = stdin.write_all(question).await;
        }
    };
    // Both concurrently: a program may write output before it has read all input.
    let ((), output) = tokio::join!(ask, child.wait_with_output());
    // Its background processes are left running on purpose.
    tree.leave_running().await;
    output
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{BufRead as _, BufReader};
    use std::path::{Path, PathBuf};

    use super::*;

    fn shell(script: &str) -> Command {
        let mut shell = child_command("sh");
        shell.args(["-c", script]);
        shell
    }

    /// A script that opens a pipe, has a child open it too, reports that and continues to run.
    fn lasting(pipe: &Path) -> Command {
        shell(&format!("exec > {}; sleep 1000 & echo up; sleep 1000", pipe.display()))
    }

    /// Opens the reading end of the pipe; returns once a process has opened the writing end.
    async fn reader(pipe: &Path) -> BufReader<File> {
        let pipe = pipe.to_owned();
        let opened = tokio::task::spawn_blocking(move || {
            let mut reader = BufReader::new(File::open(pipe).unwrap());
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            assert_eq!(line, "up\n");
            reader
        });
        opened.await.unwrap()
    }

    /// Returns when no process has the pipe open any more.
    async fn wait_for_eof(mut reader: BufReader<File>) {
        let end =
            tokio::task::spawn_blocking(move || reader.read_line(&mut String::new()).unwrap());
        assert_eq!(end.await.unwrap(), 0);
    }

    fn pipe(directory: &Path) -> PathBuf {
        let path = directory.join("pipe");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        path
    }

    #[tokio::test]
    async fn a_program_receives_input_and_returns_output() {
        let output =
            run_child_with_input(shell("cat; echo why >&2; exit 3"), b"what").await.unwrap();
        assert_eq!((output.stdout, output.stderr), (b"what".to_vec(), b"why\n".to_vec()));
        assert_eq!(output.status.code(), Some(3));
        let large = vec![b'a'; 1 << 20];
        assert_eq!(run_child_with_input(shell("cat"), &large).await.unwrap().stdout, large);
        assert!(run_child_with_input(shell("exit 0"), &large).await.unwrap().stdout.is_empty());
        assert!(run_child_with_input(child_command("./no-such-program"), b"").await.is_err());
    }

    #[tokio::test]
    async fn an_abandoned_program_is_killed_with_its_children() {
        let directory = tempfile::tempdir().unwrap();
        let path = pipe(directory.path());
        let remaining = tokio::select! {
            output = run_child_with_input(lasting(&path), b"") => panic!("{output:?}"),
            remaining = reader(&path) => remaining,
        };
        wait_for_eof(remaining).await;
    }
}
