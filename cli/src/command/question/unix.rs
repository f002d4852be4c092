//! Input that is not shown, on Unix.

use std::io::{self, IsTerminal as _};

use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};

/// A terminal that does not show typed text, until this is dropped.
pub(super) struct HiddenInput(Termios);

impl HiddenInput {
    pub(super) fn begin() -> Option<Self> {
        let stdin = io::stdin();
        if !stdin.is_terminal() {
            return None;
        }
        let before = tcgetattr(&stdin).ok()?;
        let mut silent = before.clone();
        silent.local_flags.remove(LocalFlags::ECHO);
        tcsetattr(&stdin, SetArg::TCSANOW, &silent).ok()?;
        Some(Self(before))
    }
}

impl Drop for HiddenInput {
    fn drop(&mut self) {
        // If the terminal was closed, its settings need not be restored.
        let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, &self.0);
    }
}
