//! Interrupts and the end of processes on Windows.

use std::io;
use std::process::{Child, Command, Stdio};

use formwork_plugin_protocol::children;
use tokio::signal::windows::{CtrlBreak, CtrlC, CtrlClose, ctrl_break, ctrl_c, ctrl_close};

/// Manner of ending a process. Windows has no request to end that all programs understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It is asked to end, and may ignore that.
    Asked,
    /// It is ended.
    Forced,
}

/// Ends processes, with their children.
pub(super) fn end_with_children(ending: Vec<u32>, _end: End) {
    for id in ending {
        // The program of the system that ends a whole tree of processes.
        #[expect(clippy::disallowed_methods, reason = "it ends by itself and is waited for")]
        let mut program = Command::new("taskkill");
        program.args(["/T", "/F", "/PID", &id.to_string()]).stdin(Stdio::null());
        program.stdout(Stdio::null()).stderr(Stdio::null());
        // It may have ended in this moment.
        drop(program.status());
    }
}

/// Waits until a program has ended. It still has its number then: that is free once its handle is closed.
pub(super) fn wait_for_end(program: &Child) {
    children::wait_for_end(program);
}

/// There is nothing to note.
pub(super) fn prepare() {}

/// The events that mean the same: Ctrl-C, Ctrl-Break, a console that is closed.
pub(super) struct Signals {
    interrupt: CtrlC,
    terminate: CtrlBreak,
    close: CtrlClose,
}

impl Signals {
    /// From now on none is missed.
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
