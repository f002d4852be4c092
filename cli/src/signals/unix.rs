//! Signals and the end of processes on Unix.

use std::future::pending;
use std::io;
use std::sync::OnceLock;

use nix::sys::signal::{Signal as Number, kill};
use nix::unistd::Pid;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::ProcessEnd;

/// Ends processes that are not reaped yet, and their children, which may not detect the end of their parents.
pub(super) fn end_process_trees(mut ending: Vec<u32>, end: ProcessEnd) {
    let signal = match end {
        ProcessEnd::Asked => Number::SIGTERM,
        ProcessEnd::Forced => Number::SIGKILL,
    };
    while let Some(id) = ending.pop() {
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        let children = children.unwrap_or_default();
        ending.extend(children.split_whitespace().filter_map(|id| id.parse::<u32>().ok()));
        let Ok(id) = i32::try_from(id) else { continue };
        // The process may have just ended.
        kill(Pid::from_raw(id), signal).ok();
    }
}

/// Records the facts that cannot be determined after signal handlers are installed.
pub(super) fn note_ignored_hangup() {
    hangup_is_ignored();
}

/// The signals that are treated as an interrupt: SIGINT, SIGTERM, SIGHUP.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Option<Signal>,
}

impl Signals {
    /// From now on, no signal is missed, and exceeding the file size limit (`ulimit -f`) is a write error
    /// instead of the end of this process. Child processes get the signal as before. With `nohup`, the
    /// program survives the end of the terminal.
    pub(super) fn listen() -> io::Result<Self> {
        drop(signal(SignalKind::from_raw(Number::SIGXFSZ as i32))?);
        let hangup = (!hangup_is_ignored()).then(|| signal(SignalKind::hangup())).transpose()?;
        let (interrupt, terminate) = (SignalKind::interrupt(), SignalKind::terminate());
        Ok(Self { interrupt: signal(interrupt)?, terminate: signal(terminate)?, hangup })
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) {
        let Self { interrupt, terminate, hangup } = self;
        let hangup = async {
            match hangup {
                Some(hangup) => hangup.recv().await,
                None => pending().await,
            }
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup => {}
        }
    }
}

/// Whether SIGHUP was ignored at the start. This cannot be determined after a handler is installed.
fn hangup_is_ignored() -> bool {
    static HANGUP_IGNORED: OnceLock<bool> = OnceLock::new();
    *HANGUP_IGNORED.get_or_init(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.is_some_and(|mask| mask >> (Number::SIGHUP as u32 - 1) & 1 == 1)
    })
}
