//! The process of a plugin, as far as systems differ in it: the life of its host, the requests to end,
//! and the stdout that is given up after the handshake.

#[cfg_attr(unix, path = "system/unix.rs")]
#[cfg_attr(not(unix), path = "system/windows.rs")]
mod process;

pub(super) use process::{HostProcess, handshake_output, ignore_interrupts, wait_for_end_request};
