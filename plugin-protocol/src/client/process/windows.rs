//! The child process of a plugin on Windows: start, end, and detection of its end. It is in a job, so that
//! it ends with this process, together with its own children.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::windows::io::AsRawHandle as _;
use std::os::windows::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::watch;
use tokio::time::timeout;

use windows_sys::Win32::System::Threading::CREATE_NEW_PROCESS_GROUP;

use super::ProcessLimits;
use crate::children::Job;

/// Exit status of a process, as a message.
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

/// A running child. Dropping it kills the child and its own children.
#[derive(Debug)]
pub(crate) struct StartedProcess {
    pid: i32,
    job: Job,
    exit: watch::Receiver<Option<Exit>>,
}

/// The pipes of a child.
pub(crate) struct ChildOutputPipes {
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

impl StartedProcess {
    /// Starts `command` with an empty stdin and pipes on stdout and stderr. A program cannot be
    /// started under another name here, so `arg0` is its argument.
    ///
    /// # Errors
    /// When the system cannot start it, or it is to have limits, which are not supported.
    pub(crate) async fn start(
        mut command: Command,
        arg0: Option<&OsStr>,
        limits: ProcessLimits,
    ) -> io::Result<(Self, ChildOutputPipes)> {
        let ProcessLimits { memory, files } = limits;
        if memory.is_some() || files.is_some() {
            let reason = "limits of memory and files are not supported on Windows";
            return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
        }
        command.args(arg0);
        // Ctrl-C in the console does not reach it.
        command.creation_flags(CREATE_NEW_PROCESS_GROUP);
        // A plugin that inherits stdin would read the answers to the prompts of this program.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let job = Job::new()?;
        let mut child = command.spawn()?;
        let pipes = (child.stdout.take(), child.stderr.take());
        let process = Self::start_reaper(child, job)?;
        let (Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("the child has no pipes"));
        };
        let pipes = ChildOutputPipes {
            stdout: ChildStdout::from_std(stdout)?,
            stderr: ChildStderr::from_std(stderr)?,
        };
        Ok((process, pipes))
    }

    fn start_reaper(mut child: Child, job: Job) -> io::Result<Self> {
        let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
        let added = job.add_process(child.as_raw_handle());
        // A process that has already ended cannot be assigned.
        if added.is_err() && child.try_wait()?.is_none() {
            child.kill().ok();
            added?;
        }
        let (sender, exit) = watch::channel(None);
        thread::Builder::new().name(format!("reaper of {pid}")).stack_size(64 * 1024).spawn(
            move || {
                let mut child = child;
                sender.send_replace(Some(Exit(child.wait().ok())))
            },
        )?;
        Ok(Self { pid, job, exit })
    }

    /// Returns the process id.
    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    /// Returns how it ended, if it has.
    pub(crate) fn exit_if_ended(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    /// Waits up to `time_limit` for the end of the process.
    pub(crate) async fn wait_up_to(&self, time_limit: Duration) -> Option<Exit> {
        let mut exit = self.exit.clone();
        let ended = timeout(time_limit, exit.wait_for(Option::is_some)).await;
        ended.ok()?.ok().and_then(|exit| *exit)
    }

    /// Kills the process and its children.
    pub(crate) fn kill(&self) {
        self.job.terminate_processes();
    }
}

impl Drop for StartedProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
