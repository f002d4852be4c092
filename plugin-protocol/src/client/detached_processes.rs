//! Finds processes that a plugin has started and that have left its process group, so that they
//! were not ended with it. Ends none: a process may detach itself in order to keep running.
//!
//! A process is recognised by the directory of the plugin's socket in its environment: it differs
//! for each plugin, and children inherit it. A process that clears its environment is not found.

use std::fs;
use std::path::Path;

use super::launch::PluginChild;
use crate::handshake::SOCKET_DIR_VARIABLE;

/// A process that a plugin started, and that left its process group and still runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetachedProcess {
    /// The plugin's name.
    pub plugin: String,
    /// The process id.
    pub pid: i32,
    /// Its command line.
    pub command: String,
}

/// Returns the detached processes of the children, all of which have ended, in the order of process
/// ids.
pub(super) fn detached_processes_of_children<'c>(
    children: impl Iterator<Item = (&'c str, &'c PluginChild)>,
) -> Vec<DetachedProcess> {
    let markers: Vec<_> = children
        .map(|(name, child)| (name, child.process.pid(), environment_marker(child.socket_dir())))
        .collect();
    // Without the list there is nothing to report.
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let ids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut detached: Vec<DetachedProcess> = ids
        .filter_map(|pid: i32| {
            // It may have exited, or belong to another user.
            let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
            let entry = |marker: &[u8]| {
                environment.split(|byte| *byte == 0).any(|variable| variable == marker)
            };
            let (plugin, group, _) = markers.iter().find(|(_, _, marker)| entry(marker))?;
            // Its group was killed, but that may take a moment.
            let is_detached = process_group_of_pid(pid)? != *group;
            is_detached.then(|| DetachedProcess {
                plugin: (*plugin).to_owned(),
                pid,
                command: command_line_of_pid(pid),
            })
        })
        .collect();
    // `/proc` promises no order, and the list is printed.
    detached.sort_by_key(|process| process.pid);
    detached
}

fn environment_marker(socket_dir: &Path) -> Vec<u8> {
    [SOCKET_DIR_VARIABLE.as_bytes(), b"=", socket_dir.as_os_str().as_encoded_bytes()].concat()
}

/// The process group of a process. Before it in the line is the name, which may hold anything.
fn process_group_of_pid(pid: i32) -> Option<i32> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = line.rsplit_once(") ")?;
    fields.split(' ').nth(2)?.parse().ok()
}

fn command_line_of_pid(pid: i32) -> String {
    let command_line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let command_line = String::from_utf8_lossy(&command_line);
    command_line.trim_end_matches('\0').replace('\0', " ")
}
