//! Processes and files, as far as systems differ in them, and the rules that need more than a system has.

#[cfg_attr(unix, path = "system/unix.rs")]
#[cfg_attr(not(unix), path = "system/windows.rs")]
mod functions;

use std::path::Path;

pub(crate) use functions::{
    interrupt_process_on_unix, kill_process_group_on_unix, kill_process_on_unix,
    make_executable_on_unix, set_process_group_on_unix, unix_mode_if_open_to_others,
};

/// Rules that need `/proc` of Linux: for process information, or as a directory that is read-only even for root.
const RULES_NEEDING_PROC: [&str; 10] =
    ["H-01", "H-12", "H-14", "H-15", "H-18", "H-20", "K-05", "K-06", "Z-09", "Z-14"];

/// The reason why a rule cannot be examined on this system, if there is one.
pub(crate) fn unsupported_reason(rule: &str) -> Option<&'static str> {
    let is_missing = RULES_NEEDING_PROC.contains(&rule) && !Path::new("/proc/self/fd").exists();
    is_missing.then_some("the system has no /proc, in which this is seen")
}
