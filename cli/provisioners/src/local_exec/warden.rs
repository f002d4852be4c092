//! Ends a process group when this process is gone, also when it was killed. A shell waits for the
//! end of a pipe that only this process holds open. The death signal of the system would reach the
//! command alone, and none of its own children.

use std::io;
use std::process::Stdio;

use nix::unistd::Pid;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};

/// The first line names the group, a second one says that its work is done.
const WATCH: &str = "read -r group && { read -r done || kill -KILL \"-$group\"; }";

/// The waiting shell.
pub(super) struct ShellSupervisor(Child);

impl ShellSupervisor {
    /// Sets one up, before there is a group to watch.
    ///
    /// # Errors
    /// When it cannot be started.
    #[expect(
        clippy::disallowed_methods,
        reason = "it ends when the pipe does, so it does not outlive us either"
    )]
    pub(super) fn new() -> io::Result<Self> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", WATCH]).stdin(Stdio::piped());
        shell.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).current_dir("/");
        shell.spawn().map(Self)
    }

    /// Has it watch a group.
    pub(super) async fn watch(&mut self, leader: Pid) {
        self.tell(&format!("{leader}\n")).await;
    }

    /// Releases the process group: its background processes are left running on purpose.
    pub(super) async fn release(mut self) {
        self.tell("done\n").await;
        drop(self.0.stdin.take());
        // It ends at once; without this it would stay a zombie.
        self.0.wait().await.ok();
    }

    async fn tell(&mut self, line: &str) {
        if let Some(pipe) = &mut self.0.stdin {
            // If it is gone the command runs without.
            pipe.write_all(line.as_bytes()).await.ok();
        }
    }
}
