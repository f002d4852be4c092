//! The process of a plugin on Windows.

use std::io::{self, Stdout};

use tokio::signal::ctrl_c;
use tokio::task::JoinHandle;

/// The parent process. Windows does not report its exit.
pub(in crate::server) struct HostProcess;

impl HostProcess {
    pub(in crate::server) fn of_parent() -> Self {
        Self
    }

    pub(in crate::server) fn may_be_running(&self) -> bool {
        true
    }
}

/// Keeps an interrupt from ending this process.
pub(in crate::server) fn ignore_interrupts() -> io::Result<JoinHandle<()>> {
    // The first use installs a handler that stays.
    Ok(tokio::spawn(async { while ctrl_c().await.is_ok() {} }))
}

/// Waits for an interrupt.
pub(in crate::server) fn wait_for_end_request() -> io::Result<impl Future<Output = ()> + Send> {
    Ok(async {
        if ctrl_c().await.is_err() {
            // Without a handler the system ends the process.
            std::future::pending::<()>().await;
        }
    })
}

/// Returns stdout. Hosts continue to read after the handshake and drop further output.
pub(in crate::server) fn take_stdout_for_handshake() -> io::Result<Stdout> {
    Ok(io::stdout())
}
