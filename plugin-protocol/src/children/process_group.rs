//! A child and its descendants, on Unix: a process group. A shell ends the group after this process
//! has ended, even if it was killed: it waits for the end of a pipe that only this process holds
//! open. The parent-death signal of Linux would reach only the child, and not its own children.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, Command};

/// The first line names the group, and a second one marks its work as done.
const WATCHDOG_SCRIPT: &str = "read -r group && { read -r done || kill -KILL \"-$group\"; }";

/// A child and its descendants. All of them are killed when this is dropped.
pub struct ProcessTree {
    leader: Option<Pid>,
    /// The waiting shell. Without it, the tree may outlive this process.
    shell: Option<Child>,
}

impl ProcessTree {
    /// Starts a program in a tree of its own. Ctrl-C on the terminal does not reach it.
    ///
    /// # Errors
    /// When it cannot be started.
    pub async fn spawn(mut command: Command) -> io::Result<(Child, Self)> {
        // Started first, so that there is never a group without it.
        let shell = spawn_watchdog_shell().ok();
        let child = command.process_group(0).spawn()?;
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw);
        let mut tree = Self { leader, shell };
        if let Some(leader) = leader {
            tree.write_to_watchdog(&format!("{leader}\n")).await;
        }
        Ok((child, tree))
    }

    /// Asks its processes to end.
    pub fn terminate(&self) {
        self.signal(Signal::SIGTERM);
    }

    /// Kills its remaining processes.
    pub async fn kill(self) {
        self.signal(Signal::SIGKILL);
        self.leave_running().await;
    }

    /// Gives up the tree: its processes are left running.
    pub async fn leave_running(mut self) {
        self.leader = None;
        self.write_to_watchdog("done\n").await;
        if let Some(mut shell) = self.shell.take() {
            drop(shell.stdin.take());
            // It ends immediately; without this it would stay a zombie.
            shell.wait().await.ok();
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.leader {
            // An error means that no process is left.
            killpg(group, signal).ok();
        }
    }

    async fn write_to_watchdog(&mut self, line: &str) {
        if let Some(pipe) = self.shell.as_mut().and_then(|shell| shell.stdin.as_mut()) {
            // If it has exited the program runs without it.
            pipe.write_all(line.as_bytes()).await.ok();
        }
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "it ends when the pipe does, so it does not outlive us either"
)]
fn spawn_watchdog_shell() -> io::Result<Child> {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", WATCHDOG_SCRIPT]).stdin(Stdio::piped());
    shell.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).current_dir("/");
    shell.spawn()
}

/// The reading end of a pipe.
pub type OutputPipeReader = Receiver;

/// A pipe for the output of a child. The writing end can be given to several of its streams, so
/// that the order of its output stays.
///
/// # Errors
/// When the system refuses.
pub fn output_pipe() -> io::Result<(OutputPipeReader, io::PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    Ok((Receiver::from_owned_fd(OwnedFd::from(reader))?, writer))
}

/// The signal that ended a process, by its name or number.
#[must_use]
pub fn ending_signal_name(status: ExitStatus) -> Option<String> {
    let number = status.signal()?;
    Some(Signal::try_from(number).map_or_else(|_| number.to_string(), |signal| signal.to_string()))
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    /// A program with a child that both stay. Its output ends when both are gone.
    #[expect(clippy::disallowed_methods, reason = "each test ends it")]
    async fn lasting() -> (ProcessTree, OutputPipeReader) {
        let (mut output, writer) = output_pipe().unwrap();
        let mut command = Command::new("sh");
        let program = "trap 'echo on' USR1; sleep 1000 & echo up; while :; do wait; done";
        command.args(["-c", program]).stdout(writer);
        let (_child, tree) = ProcessTree::spawn(command).await.unwrap();
        let mut up = [0; 3];
        output.read_exact(&mut up).await.unwrap();
        assert_eq!(&up, b"up\n");
        (tree, output)
    }

    #[tokio::test]
    async fn dropping_a_process_tree_kills_all_its_processes() {
        let (mut tree, mut output) = lasting().await;
        // It stays alive, so that only the drop can have ended the tree.
        let shell = tree.shell.take();
        drop(tree);
        assert_eq!(output.read(&mut [0]).await.unwrap(), 0);
        drop(shell);
    }

    #[tokio::test]
    async fn a_process_tree_is_killed_when_this_process_ends() {
        let (mut tree, mut output) = lasting().await;
        // The end of a process closes its pipes, as the drop does, without a signal.
        tree.leader = None;
        drop(tree);
        assert_eq!(output.read(&mut [0]).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn a_released_process_tree_keeps_running() {
        let (tree, mut output) = lasting().await;
        let leader = tree.leader.unwrap();
        tree.leave_running().await;
        // Only a running process answers. That a signal can be sent is not evidence, because the id of
        // an ended process accepts signals too.
        nix::sys::signal::kill(leader, Signal::SIGUSR1).unwrap();
        let mut on = [0; 3];
        output.read_exact(&mut on).await.unwrap();
        assert_eq!(&on, b"on\n");
        killpg(leader, Signal::SIGKILL).unwrap();
        assert_eq!(output.read(&mut [0]).await.unwrap(), 0);
    }
}
