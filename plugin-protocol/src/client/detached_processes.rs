//! Finds processes that a plugin has started and that have left its process group, so that they
//! were not ended with it. Ends none: a process that detaches itself may mean to stay.
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
    let marks: Vec<_> = children
        .map(|(name, child)| (name, child.process.pid(), environment_marker(child.socket_dir())))
        .collect();
    // Without the list there is nothing to report.
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let ids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut found: Vec<DetachedProcess> = ids
        .filter_map(|pid: i32| {
            // It may have exited, or belong to another user.
            let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
            let entry = |mark: &[u8]| environment.split(|byte| *byte == 0).any(|one| one == mark);
            let (plugin, group, _) = marks.iter().find(|(_, _, mark)| entry(mark))?;
            // Its group was killed, but that may take a moment.
            let left = process_group_of_pid(pid)? != *group;
            left.then(|| DetachedProcess {
                plugin: (*plugin).to_owned(),
                pid,
                command: command_line_of_pid(pid),
            })
        })
        .collect();
    // `/proc` promises no order, and the list is printed.
    found.sort_by_key(|one| one.pid);
    found
}

fn environment_marker(socket_dir: &Path) -> Vec<u8> {
    [SOCKET_DIR_VARIABLE.as_bytes(), b"=", socket_dir.as_os_str().as_encoded_bytes()].concat()
}

/// The process group of a process. Before it in the line is the name, which may hold anything.
fn process_group_of_pid(pid: i32) -> Option<i32> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, behind) = line.rsplit_once(") ")?;
    behind.split(' ').nth(2)?.parse().ok()
}

fn command_line_of_pid(pid: i32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&words);
    words.trim_end_matches('\0').replace('\0', " ")
}
