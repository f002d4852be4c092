//! The process of a plugin, as far as systems differ in it: the life of its host, the requests to end,
//! and the stdout that is given up after the handshake.

#[cfg_attr(unix, path = "plugin_process/unix.rs")]
#[cfg_attr(not(unix), path = "plugin_process/windows.rs")]
mod process;

pub(super) use process::{
    HostProcess, ignore_interrupts, take_stdout_for_handshake, wait_for_end_request,
};
