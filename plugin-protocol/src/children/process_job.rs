//! A child and its descendants, on Windows: a job.

use std::io;
use std::os::windows::io::OwnedHandle;
use std::process::ExitStatus;

use tokio::fs::File;
use tokio::process::{Child, Command};
use windows_sys::Win32::System::Threading::CREATE_NEW_PROCESS_GROUP;

use super::system::Job;

/// A child and its descendants. All of them are killed when this is dropped.
pub struct ProcessTree(Job);

impl ProcessTree {
    /// Starts a program in a tree of its own. Ctrl-C on the console does not reach it.
    ///
    /// # Errors
    /// When it cannot be started.
    #[expect(clippy::unused_async, reason = "other systems wait here")]
    pub async fn spawn(mut command: Command) -> io::Result<(Child, Self)> {
        let job = Job::new()?;
        let mut child = command.creation_flags(CREATE_NEW_PROCESS_GROUP).spawn()?;
        let added = child.raw_handle().map_or(Ok(()), |process| job.add_process(process));
        // A process that has already ended cannot be assigned.
        if added.is_err() && child.try_wait()?.is_none() {
            child.start_kill().ok();
            added?;
        }
        Ok((child, Self(job)))
    }

    /// Ends its processes: not all programs handle a request to exit.
    pub fn terminate(&self) {
        self.0.terminate_processes();
    }

    /// Kills its remaining processes.
    #[expect(clippy::unused_async, reason = "other systems wait here")]
    pub async fn kill(self) {
        drop(self);
    }

    /// Gives up the tree: its processes are left running.
    #[expect(clippy::unused_async, reason = "other systems wait here")]
    pub async fn leave_running(self) {
        self.0.disable_kill_on_close();
    }
}

/// The reading end of a pipe.
pub type OutputPipeReader = File;

/// A pipe for the output of a child. The writing end can be given to several of its streams, so
/// that the order of its output stays.
///
/// # Errors
/// When the system refuses.
pub fn output_pipe() -> io::Result<(OutputPipeReader, io::PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    Ok((File::from_std(OwnedHandle::from(reader).into()), writer))
}

/// The signal that ended a process. There are none.
#[must_use]
pub fn ending_signal_name(_status: ExitStatus) -> Option<String> {
    None
}
