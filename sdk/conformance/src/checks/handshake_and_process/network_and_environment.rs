//! Checks of the process in its environment (H): connections to other machines, a second concurrent
//! process, and unusual environments.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::finding_about_process;
use crate::message::Msg;
use crate::plugin::{Plugin, StartError, panic_report_in};
use crate::rpc::Rpc;
use crate::suite::Suite;

/// Looks for connections to other machines during schema and validation calls.
pub(super) async fn check_network_use(suite: &mut Suite, plugin: &Plugin) {
    let Some(started) = &plugin.started else { return };
    let pid = started.child.pid();
    let mut addresses_seen = BTreeSet::new();
    for _ in 0..3 {
        let request = Msg::new();
        let call = plugin.call(Rpc::GetProviderSchema, &request, Duration::from_secs(30));
        tokio::pin!(call);
        // Checked during the call, because a short connection is closed afterwards.
        loop {
            tokio::select! {
                _ = &mut call => break,
                () = tokio::time::sleep(Duration::from_millis(5)) => addresses_seen.extend(remote_tcp_addresses(pid)),
            }
        }
        addresses_seen.extend(remote_tcp_addresses(pid));
    }
    suite.record_case("H-18", addresses_seen.is_empty(), || {
        finding_about_process("H-18", "it has a network connection before Configure")
            .with_expected_and_found("none", format!("{addresses_seen:?}"))
    });
}

/// The inodes of the sockets of a process.
fn socket_inodes_of(pid: i32) -> BTreeSet<String> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .filter_map(|link| {
            let text = link.to_str()?;
            Some(text.strip_prefix("socket:[")?.trim_end_matches(']').to_owned())
        })
        .collect()
}

/// The rows of the tables of TCP sockets that belong to a process: remote address and state.
fn tcp_table_rows(pid: i32) -> Vec<(String, String)> {
    // The tables list the sockets of all processes. The inode identifies those of this one.
    let own_inodes = socket_inodes_of(pid);
    let tables = ["tcp", "tcp6"]
        .map(|name| std::fs::read_to_string(format!("/proc/{pid}/net/{name}")).unwrap_or_default());
    let rows = tables.iter().flat_map(|table| table.lines().skip(1));
    rows.filter_map(|row| {
        let cells: Vec<&str> = row.split_whitespace().collect();
        let inode = cells.get(9)?;
        own_inodes.contains(*inode).then(|| (cells[2].to_owned(), cells[3].to_owned()))
    })
    .collect()
}

/// The remote ends of connections of a process, without those to its host.
fn remote_tcp_addresses(pid: i32) -> Vec<String> {
    const TCP_LISTEN_STATE: &str = "0A";
    let rows = tcp_table_rows(pid).into_iter();
    rows.filter(|(remote, state)| {
        // Addresses are printed as little-endian numbers: 127.0.0.1 is 0100007F.
        let is_loopback = remote.split(':').next().is_some_and(|it| {
            it.len() == 8 && it.ends_with("7F") || it == "00000000000000000000000001000000"
        });
        state != TCP_LISTEN_STATE && !is_loopback && !remote.starts_with("00000000:")
    })
    .map(|(remote, _)| remote)
    .collect()
}

/// Whether a process listens on a TCP port.
pub(super) fn listens_on_tcp(pid: i32) -> bool {
    tcp_table_rows(pid).iter().any(|(_, state)| state == "0A")
}

pub(super) async fn check_two_processes(suite: &mut Suite, program: &Path) {
    if !suite.is_rule_wanted("H-19") {
        return;
    }
    // A host starts a process for each configuration of a provider.
    let first = Plugin::launch(program, &suite.launch_options()).await;
    let two = Plugin::launch(program, &suite.launch_options()).await;
    let (Ok(first), Ok(two)) = (&first, &two) else {
        let reason = [first.err(), two.err()].into_iter().flatten().next();
        let reason = reason.map(|error| error.to_string()).unwrap_or_default();
        return suite.record_case("H-19", false, || {
            finding_about_process("H-19", "a second concurrent process does not start")
                .with_expected_and_found("a handshake", reason)
        });
    };
    for plugin in [first, two] {
        let call = plugin.call(Rpc::GetProviderSchema, &Msg::new(), Duration::from_secs(30)).await;
        suite.record_case("H-19", call.has_reply(), || {
            finding_about_process("H-19", "one of two processes does not answer").with_call(&call)
        });
    }
}

/// Starts it where temporary files cannot be written, as on a full disk.
async fn check_unwritable_temp_dir(suite: &mut Suite, program: &Path) {
    if !suite.is_rule_wanted("Z-14") {
        return;
    }
    let mut launch = suite.launch_options();
    // Nothing can be written below `/proc`, not even by root, whom permissions do not stop.
    launch.env.push(("TMPDIR".into(), "/proc/no-such-directory".into()));
    let problem = match Plugin::launch(program, &launch).await {
        Ok(plugin) => {
            let call =
                plugin.call(Rpc::GetProviderSchema, &Msg::new(), Duration::from_secs(30)).await;
            (!call.has_reply()).then(|| call.describe_outcome())
        }
        // A readable note is an answer.
        Err(StartError::Ended(_, output))
            if !output.trim().is_empty() && panic_report_in(&output).is_none() =>
        {
            None
        }
        Err(error) => Some(error.to_string()),
    };
    suite.record_case("Z-14", problem.is_none(), || {
        finding_about_process("Z-14", "without a temporary directory it crashes or hangs")
            .with_expected_and_found("an answer, or a note", problem.unwrap_or_default())
    });
}

pub(super) async fn check_unusual_environments(suite: &mut Suite, program: &Path) {
    check_unwritable_temp_dir(suite, program).await;
    if !suite.is_rule_wanted("H-20") {
        return;
    }
    let mut bare = suite.launch_options();
    // A directory that is read-only even for root.
    bare.directory = Some(PathBuf::from("/proc"));
    bare.remove = ["HOME", "USER", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"].map(Into::into).to_vec();
    let mut unusual_options = suite.launch_options();
    for (name, value) in
        [("TZ", "Pacific/Kiritimati"), ("LANG", "tr_TR.UTF-8"), ("LC_ALL", "tr_TR.UTF-8")]
    {
        unusual_options.env.push((name.into(), value.into()));
    }
    for (environment, launch) in
        [("a read-only directory and no HOME", bare), ("another time zone", unusual_options)]
    {
        let call = match Plugin::launch(program, &launch).await {
            Ok(plugin) => {
                plugin.call(Rpc::GetProviderSchema, &Msg::new(), Duration::from_secs(30)).await
            }
            Err(error) => {
                suite.record_case("H-20", false, || {
                    finding_about_process("H-20", format!("it does not start with {environment}"))
                        .with_expected_and_found("a handshake", error.to_string())
                });
                continue;
            }
        };
        suite.record_case("H-20", call.is_success(), || {
            finding_about_process("H-20", format!("it does not answer with {environment}"))
                .with_call(&call)
        });
    }
}
