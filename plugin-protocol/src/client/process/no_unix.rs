//! The child process of a plugin on Windows: start, end, and detection of its end. Processes that it has
//! started are not ended with it, nor is it ended with this process: a plugin on the SDK then ends by
//! itself once its host has closed the connection.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::watch;
use tokio::time::timeout;

use super::Limits;

/// Interval of the checks whether a child has ended.
const POLL: Duration = Duration::from_millis(20);

/// Exit of a process, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exit(Option<ExitStatus>);

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.and_then(|status| status.code()) {
            Some(code) => write!(f, "exit status {code}"),
            None => f.write_str("exit status unknown"),
        }
    }
}

/// A running child. Dropping it kills the child.
#[derive(Debug)]
pub(crate) struct Process {
    pid: i32,
    child: Arc<Mutex<Child>>,
    exit: watch::Receiver<Option<Exit>>,
}

/// The pipes of a child.
pub(crate) struct ChildPipes {
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

impl Process {
    /// Starts `command` with nothing on its stdin and pipes on stdout and stderr.
    ///
    /// # Errors
    /// When the system cannot start it, or it is to have a name or limits, which Windows has not.
    pub(crate) async fn start(
        mut command: Command,
        arg0: Option<&OsStr>,
        limits: Limits,
    ) -> io::Result<(Self, ChildPipes)> {
        let Limits { memory, files } = limits;
        if arg0.is_some() || memory.is_some() || files.is_some() {
            let reason = "a name of its own, and limits of memory and files, are not supported on this system";
            return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
        }
        // A plugin that inherits stdin would read the answers to our questions.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let pipes = (child.stdout.take(), child.stderr.take());
        let process = Self::watch(child)?;
        let (Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("the child has no pipes"));
        };
        let pipes = ChildPipes {
            stdout: ChildStdout::from_std(stdout)?,
            stderr: ChildStderr::from_std(stderr)?,
        };
        Ok((process, pipes))
    }

    fn watch(child: Child) -> io::Result<Self> {
        let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
        let child = Arc::new(Mutex::new(child));
        let (sender, exit) = watch::channel(None);
        let watched = Arc::clone(&child);
        thread::Builder::new().name(format!("watch of {pid}")).stack_size(64 * 1024).spawn(
            // Polled, because a wait would keep the child from being killed.
            move || loop {
                let ended = watched.lock().unwrap_or_else(PoisonError::into_inner).try_wait();
                match ended {
                    Ok(None) => thread::sleep(POLL),
                    Ok(Some(status)) => return sender.send_replace(Some(Exit(Some(status)))),
                    Err(_) => return sender.send_replace(Some(Exit(None))),
                }
            },
        )?;
        Ok(Self { pid, child, exit })
    }

    /// Returns the process id.
    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    /// Returns how it ended, if it has.
    pub(crate) fn exit(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    /// Waits up to `patience` for the end of the process.
    pub(crate) async fn wait(&self, patience: Duration) -> Option<Exit> {
        let mut exit = self.exit.clone();
        let ended = timeout(patience, exit.wait_for(Option::is_some)).await;
        ended.ok()?.ok().and_then(|exit| *exit)
    }

    /// Kills the process.
    pub(crate) fn kill(&self) {
        // Failing means that it has ended.
        drop(self.child.lock().unwrap_or_else(PoisonError::into_inner).kill());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
