//! The process of a plugin on Unix.

use std::fs::File;
use std::io;

use nix::unistd::{Pid, dup, dup2_stdout, getppid};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The parent process.
pub(in crate::server) struct HostProcess(Pid);

impl HostProcess {
    pub(in crate::server) fn of_parent() -> Self {
        Self(getppid())
    }

    /// Whether the parent still runs: the child of an ended process has another parent.
    pub(in crate::server) fn may_be_running(&self) -> bool {
        getppid() == self.0
    }
}

/// Keeps an interrupt from ending this process, until the result is dropped.
pub(in crate::server) fn ignore_interrupts() -> io::Result<Signal> {
    signal(SignalKind::interrupt())
}

/// Waits for an interrupt or another request to end. Listens from now on.
pub(in crate::server) fn wait_for_end_request() -> io::Result<impl Future<Output = ()> + Send> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Returns stdout, and sends all further output of it to stderr.
pub(in crate::server) fn take_stdout_for_handshake() -> io::Result<File> {
    let stdout = File::from(dup(io::stdout())?);
    dup2_stdout(io::stderr())?;
    Ok(stdout)
}
