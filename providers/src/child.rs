//! Child programs of providers. A child and everything it has started ends when its caller stops
//! waiting for the answer, also when this process is killed.

use std::io;
use std::process::{Output, Stdio};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};

/// A program that is about to run.
#[expect(clippy::disallowed_methods, reason = "who runs it ends it, and so does `GroupGuard`")]
pub(crate) fn command(program: &str) -> Command {
    Command::new(program)
}

/// Runs a program with something on its standard input, and waits for its end.
///
/// # Errors
/// When it cannot be started.
pub(crate) async fn converse(mut command: Command, question: &[u8]) -> io::Result<Output> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    // Started first, so that there is never a group without it. Where there is no shell the program
    // runs without it.
    let mut warden = GroupGuard::new().ok();
    let mut child = command.spawn()?;
    let group = Group::of(&child);
    if let (Some(warden), Some(leader)) = (&mut warden, group.0) {
        warden.tell(&format!("{leader}\n")).await;
    }
    let stdin = child.stdin.take();
    let ask = async {
        if let Some(mut stdin) = stdin {
            // A program need not read its input, so a closed pipe is no failure.
            let _unread = stdin.write_all(question).await;
        }
    };
    // Both at once: a program may answer before it has read everything.
    let ((), output) = tokio::join!(ask, child.wait_with_output());
    group.release();
    if let Some(warden) = &mut warden {
        warden.tell("done\n").await;
    }
    output
}

/// A program and what it has started. Killed when it is dropped.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw))
    }

    /// Releases the group: its background processes are left running on purpose.
    fn release(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            // Failing means that no process is left.
            killpg(leader, Signal::SIGKILL).ok();
        }
    }
}

/// Ends a group when this process is gone, killed as it may be: a shell waits for the end of a pipe that
/// only we hold open.
struct GroupGuard(Child);

impl GroupGuard {
    fn new() -> io::Result<Self> {
        let watch = "read -r group && { read -r done || kill -KILL \"-$group\"; }";
        let mut shell = command("/bin/sh");
        shell.args(["-c", watch]).stdin(Stdio::piped()).current_dir("/").process_group(0);
        shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(Self)
    }

    async fn tell(&mut self, line: &str) {
        if let Some(pipe) = &mut self.0.stdin {
            // If it is gone the program runs without.
            pipe.write_all(line.as_bytes()).await.ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{BufRead as _, BufReader};
    use std::path::{Path, PathBuf};

    use super::*;

    fn shell(script: &str) -> Command {
        let mut shell = command("sh");
        shell.args(["-c", script]);
        shell
    }

    /// A script that opens a pipe, has a child open it too, says so and stays.
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
    async fn end(mut reader: BufReader<File>) {
        let end =
            tokio::task::spawn_blocking(move || reader.read_line(&mut String::new()).unwrap());
        assert_eq!(end.await.unwrap(), 0);
    }

    fn pipe(folder: &Path) -> PathBuf {
        let path = folder.join("pipe");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        path
    }

    #[tokio::test]
    async fn a_program_answers_what_it_is_asked() {
        let output = converse(shell("cat; echo why >&2; exit 3"), b"what").await.unwrap();
        assert_eq!((output.stdout, output.stderr), (b"what".to_vec(), b"why\n".to_vec()));
        assert_eq!(output.status.code(), Some(3));
        let large = vec![b'a'; 1 << 20];
        assert_eq!(converse(shell("cat"), &large).await.unwrap().stdout, large);
        assert!(converse(shell("exit 0"), &large).await.unwrap().stdout.is_empty());
        assert!(converse(command("./no-such-program"), b"").await.is_err());
    }

    #[tokio::test]
    async fn nothing_of_a_program_is_left_when_no_caller_waits_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = pipe(folder.path());
        let left = tokio::select! {
            output = converse(lasting(&path), b"") => panic!("{output:?}"),
            left = reader(&path) => left,
        };
        end(left).await;
    }

    #[tokio::test]
    async fn nothing_of_a_program_is_left_when_we_are_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = pipe(folder.path());
        let mut warden = GroupGuard::new().unwrap();
        let child = lasting(&path).process_group(0).spawn().unwrap();
        warden.tell(&format!("{}\n", child.id().unwrap())).await;
        let left = reader(&path).await;
        // The end of a process closes its pipes, as this does.
        drop(warden);
        end(left).await;
    }
}
