//! Input that is not shown, on Windows.

use std::io::{self, IsTerminal as _};
use std::os::windows::io::AsRawHandle as _;

use windows_sys::Win32::System::Console::{
    CONSOLE_MODE, ENABLE_ECHO_INPUT, GetConsoleMode, SetConsoleMode,
};

/// A console that does not show typed text, until this is dropped.
pub(super) struct HiddenInput(CONSOLE_MODE);

impl HiddenInput {
    pub(super) fn begin() -> Option<Self> {
        let stdin = io::stdin();
        if !stdin.is_terminal() {
            return None;
        }
        let mut before = 0;
        #[expect(unsafe_code, reason = "the standard library does not change consoles")]
        // SAFETY: the handle of stdin is open as long as the process, and `before` is valid for writes.
        let is_set = unsafe {
            let handle = stdin.as_raw_handle();
            GetConsoleMode(handle, &raw mut before) != 0
                && SetConsoleMode(handle, before & !ENABLE_ECHO_INPUT) != 0
        };
        is_set.then_some(Self(before))
    }
}

impl Drop for HiddenInput {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "as in `begin`")]
        // SAFETY: as in `begin`. If the console was closed, its mode need not be restored.
        unsafe {
            SetConsoleMode(io::stdin().as_raw_handle(), self.0);
        }
    }
}
