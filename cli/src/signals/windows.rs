//! Interrupts and the end of processes on Windows.

use std::io;
use std::process::{Command, Stdio};

use tokio::signal::windows::{CtrlBreak, CtrlC, CtrlClose, ctrl_break, ctrl_c, ctrl_close};

use super::ProcessEnd;

/// Ends processes, with their children.
pub(super) fn end_process_trees(ending: Vec<u32>, _end: ProcessEnd) {
    for id in ending {
        // The system program that ends a process tree.
        #[expect(clippy::disallowed_methods, reason = "it ends by itself and is waited for")]
        let mut program = Command::new("taskkill");
        program.args(["/T", "/F", "/PID", &id.to_string()]).stdin(Stdio::null());
        program.stdout(Stdio::null()).stderr(Stdio::null());
        // The process may have just ended.
        drop(program.status());
    }
}

/// Windows has no such facts.
pub(super) fn note_ignored_hangup() {}

/// The events that are treated as an interrupt: Ctrl-C, Ctrl-Break, a closed console.
pub(super) struct Signals {
    interrupt: CtrlC,
    terminate: CtrlBreak,
    close: CtrlClose,
}

impl Signals {
    /// From now on, no signal is missed.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: ctrl_c()?, terminate: ctrl_break()?, close: ctrl_close()? })
    }

    /// Waits for the next of them.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.close.recv() => {}
        }
    }
}
