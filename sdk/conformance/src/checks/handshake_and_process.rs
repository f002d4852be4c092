//! Checks of the handshake and of the process around it (H): start, socket and end.

mod network_and_environment;
mod process_tree;

use std::collections::BTreeSet;
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bytes::Bytes;
use formwork_plugin_protocol::client::short_temp_dir;
use formwork_plugin_protocol::handshake::Address;
use formwork_plugin_protocol::host_building_blocks::{self, HostCertificate};

use crate::finding::Finding;
use crate::message::Msg;
use crate::plugin::{
    self, LaunchOptions, Plugin, Reply, StartError, StartedPlugin, connect_provider, wait_until,
};
use crate::rpc::Rpc;
use crate::suite::Suite;
use crate::system;
use network_and_environment::{
    check_network_use, check_two_processes, check_unusual_environments, listens_on_tcp,
};
use process_tree::{descendant_pids, is_process_running};

const HANDSHAKE_RULES: [&str; 23] = [
    "H-01", "H-02", "H-03", "H-04", "H-05", "H-06", "H-07", "H-08", "H-09", "H-10", "H-11", "H-12",
    "H-13", "H-14", "H-15", "H-16", "H-17", "H-18", "H-19", "H-20", "H-21", "K-06", "Z-14",
];

/// Checks the family. `Err` if the provider cannot be used at all.
pub(super) async fn run(suite: &mut Suite) -> Result<(), String> {
    let Some(program) = suite.program_path() else {
        suite.note_skipped_rules(
            &HANDSHAKE_RULES,
            "the provider runs already, and these checks start it",
        );
        return Ok(());
    };
    check_first_start(suite, &program).await?;
    check_missing_cookie(suite, &program).await;
    check_offered_versions(suite, &program).await;
    check_start_speed(suite, &program).await;
    check_connection_security(suite, &program).await;
    check_leftover_files(suite, &program).await;
    check_stdin_unread(suite, &program).await;
    check_interrupt_ignored(suite, &program).await;
    check_shutdown(suite, &program).await;
    check_services_and_network_use(suite).await;
    check_two_processes(suite, &program).await;
    check_unusual_environments(suite, &program).await;
    Ok(())
}

fn finding_about_process(rule: &'static str, message: impl Into<String>) -> Finding {
    Finding::new(rule, "process", message)
}

async fn check_first_start(suite: &mut Suite, program: &Path) -> Result<(), String> {
    // Without a handshake no other check is possible, so its error ends the run.
    let started = plugin::start_plugin(program, &suite.launch_options()).await;
    match started {
        Ok(_) => {
            suite.record_case("H-02", true, || finding_about_process("H-02", ""));
            suite.record_case("H-03", true, || finding_about_process("H-03", ""));
            Ok(())
        }
        Err(error) => {
            match &error {
                StartError::Late(line) => suite.record_case("H-02", false, || {
                    finding_about_process("H-02", "a line before the handshake")
                        .with_expected_and_found("the handshake", line)
                }),
                StartError::NotHandshake(line, reason) => suite.record_case("H-03", false, || {
                    finding_about_process("H-03", reason.clone())
                        .with_expected_and_found("1|6|unix|...|grpc|...", line)
                }),
                _ => {}
            }
            Err(error.to_string())
        }
    }
}

/// Runs the program as a person would, with the variables of a host left out.
#[expect(clippy::disallowed_methods, reason = "the process is killed and reaped below")]
async fn run_without_host(suite: &Suite, program: &Path) -> Option<(Option<i32>, String, bool)> {
    let mut stderr = tempfile::tempfile().ok()?;
    let mut stdout = tempfile::tempfile().ok()?;
    let mut command = Command::new(program);
    for name in ["TF_PLUGIN_MAGIC_COOKIE", "PLUGIN_CLIENT_CERT", "PLUGIN_PROTOCOL_VERSIONS"] {
        command.env_remove(name);
    }
    command.envs(suite.options.env.iter().map(|(name, value)| (name, value)));
    system::set_process_group_on_unix(&mut command);
    command.stdin(Stdio::null()).stdout(stdout.try_clone().ok()?).stderr(stderr.try_clone().ok()?);
    let mut child = command.spawn().ok()?;
    let pid = i32::try_from(child.id()).ok()?;
    let mut status = None;
    wait_until(Duration::from_secs(5), || {
        status = child.try_wait().ok().flatten();
        status.is_some()
    })
    .await;
    let is_listening = status.is_none() && listens_on_tcp(pid);
    if status.is_none() {
        system::kill_process_group_on_unix(pid);
        // On a system without groups.
        let _killed = child.kill();
        let _reaped = child.wait();
    }
    let mut output = String::new();
    for file in [&mut stderr, &mut stdout] {
        file.rewind().ok()?;
        let mut bytes = Vec::new();
        file.take(64 * 1024).read_to_end(&mut bytes).ok()?;
        output.push_str(&String::from_utf8_lossy(&bytes));
    }
    Some((status.map(|status| status.code().unwrap_or(-1)), output, is_listening))
}

async fn check_missing_cookie(suite: &mut Suite, program: &Path) {
    if !suite.is_rule_wanted("H-01") {
        return;
    }
    let Some((code, output, is_listening)) = run_without_host(suite, program).await else {
        return suite.note_skipped_rules(&["H-01"], "the program could not be run bare");
    };
    let held = code.is_some_and(|code| code != 0) && !output.trim().is_empty() && !is_listening;
    suite.record_case("H-01", held, || {
        let outcome = match code {
            Some(code) => format!("exit status {code}, {} bytes of output", output.len()),
            None => "it runs on".to_owned(),
        };
        finding_about_process("H-01", "started without the cookie, it does not end with a note")
            .with_expected_and_found("a note and an exit status that is not 0", outcome)
    });
}

async fn check_offered_versions(suite: &mut Suite, program: &Path) {
    if !suite.is_rule_wanted("H-04") {
        return;
    }
    let mut served = Vec::new();
    for versions in ["5", "6", "5,6"] {
        let launch = LaunchOptions { versions: versions.into(), ..suite.launch_options() };
        let number = match plugin::start_plugin(program, &launch).await {
            Ok(started) => Ok(started.handshake.protocol.number().to_string()),
            Err(error) => Err(error.to_string()),
        };
        served.push((versions, number));
    }
    let served_versions: BTreeSet<String> =
        served.iter().filter_map(|(_, it)| it.clone().ok()).collect();
    for (versions, number) in served {
        // Without a common version the host decides, so every answer is right.
        let is_possible = served_versions.iter().any(|number| versions.contains(number.as_str()));
        let held = number.as_ref().is_ok_and(|number| versions.contains(number.as_str()));
        suite.record_case("H-04", held || !is_possible, || {
            let negotiated = number.unwrap_or_else(|reason| reason);
            finding_about_process("H-04", "it does not serve the version that was offered")
                .with_expected_and_found(versions, negotiated)
        });
    }
}

async fn check_start_speed(suite: &mut Suite, program: &Path) {
    if !suite.is_rule_wanted("H-05") {
        return;
    }
    let mut times = Vec::new();
    for _ in 0..5 {
        if let Ok(started) = plugin::start_plugin(program, &suite.launch_options()).await {
            times.push(started.took);
        }
    }
    // The best of several, so that a busy machine is not blamed on the provider.
    let (Some(best), Some(cold)) = (times.iter().min().copied(), times.iter().max().copied())
    else {
        return;
    };
    let held = best < Duration::from_secs(1) && cold < Duration::from_secs(60);
    suite.record_case("H-05", held, || {
        finding_about_process("H-05", "the handshake comes late")
            .with_expected_and_found("less than 1 s warm", format!("{} ms", best.as_millis()))
    });
}

async fn check_connection_security(suite: &mut Suite, program: &Path) {
    if !suite.wants_any(&["H-06", "H-07", "H-08", "H-09"]) {
        return;
    }
    let timeout = Duration::from_secs(3);
    let (Ok(first), Ok(two)) = (
        plugin::start_plugin(program, &suite.launch_options()).await,
        plugin::start_plugin(program, &suite.launch_options()).await,
    ) else {
        return;
    };
    let certificate = first.handshake.certificate.clone();
    suite.record_case("H-06", certificate.is_some(), || {
        finding_about_process("H-06", "TLS was requested, but the handshake has no certificate")
    });
    if let Some(certificate) = certificate {
        let own_connection = connect_provider(&first, timeout).await;
        let own_error = own_connection.as_ref().err().cloned().unwrap_or_default();
        suite.record_case("H-06", own_connection.is_ok(), || {
            finding_about_process("H-06", "the host's own certificate is refused")
                .with_expected_and_found("a connection", own_error)
        });
        if let Ok(stranger) = HostCertificate::generate() {
            let foreign = host_building_blocks::connect_to_plugin(
                &first.handshake.address,
                Some((&stranger, certificate)),
                timeout,
            );
            suite.record_case("H-06", foreign.await.is_err(), || {
                finding_about_process("H-06", "a client with another certificate is accepted")
            });
        }
        let plain =
            host_building_blocks::connect_to_plugin(&first.handshake.address, None, timeout).await;
        suite.record_case("H-06", plain.is_err(), || {
            finding_about_process("H-06", "a client without TLS is accepted")
        });
    }
    if let (Some(a), Some(b)) = (&first.handshake.certificate, &two.handshake.certificate) {
        suite.record_case("H-07", a != b, || {
            finding_about_process("H-07", "two processes have the same certificate")
        });
    }
    check_socket_is_private(suite, &first);
    let launch = LaunchOptions { tls: false, ..suite.launch_options() };
    if suite.is_rule_wanted("H-08") {
        let plain = match plugin::start_plugin(program, &launch).await {
            Ok(started) if started.handshake.certificate.is_some() => {
                Err("the handshake has a certificate".to_owned())
            }
            Ok(started) => connect_provider(&started, timeout).await.map(|_| ()),
            Err(error) => Err(error.to_string()),
        };
        let reason = plain.as_ref().err().cloned().unwrap_or_default();
        suite.record_case("H-08", plain.is_ok(), || {
            finding_about_process("H-08", "it cannot be used without TLS")
                .with_expected_and_found("a connection", reason)
        });
    }
}

fn check_socket_is_private(suite: &mut Suite, started: &StartedPlugin) {
    match &started.handshake.address {
        Address::Unix(path) => {
            // Our own directory is not checked, because it is private.
            let open = system::unix_mode_if_open_to_others(path, started.home.path());
            suite.record_case("H-09", open.is_none(), || {
                finding_about_process("H-09", "every user of the machine may connect to the socket")
                    .with_expected_and_found(
                        "a private socket or directory",
                        format!("{} mode {:o}", path.display(), open.unwrap_or_default()),
                    )
            });
        }
        Address::Tcp(address) => {
            let is_local = ["127.", "[::1]", "localhost"]
                .iter()
                .any(|local_prefix| address.starts_with(local_prefix));
            suite.record_case("H-09", is_local, || {
                finding_about_process("H-09", "it listens beyond this machine")
                    .with_expected_and_found("127.0.0.1", address)
            });
        }
    }
}

/// The files of a directory and its subdirectories.
fn list_files_recursively(directory: &Path) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && !path.is_symlink() {
                open.push(path.clone());
            }
            files.insert(path);
        }
    }
    files
}

async fn check_leftover_files(suite: &mut Suite, program: &Path) {
    if !suite.is_rule_wanted("H-10") {
        return;
    }
    let Ok(directory) = tempfile::tempdir_in(short_temp_dir()) else { return };
    let mut launch = suite.launch_options();
    launch.env.push(("TMPDIR".into(), directory.path().into()));
    launch.directory = Some(directory.path().to_owned());
    // Without a socket directory from the host it must clean up after itself.
    launch.env.push(("PLUGIN_UNIX_SOCKET_DIR".into(), directory.path().into()));
    let Ok(plugin) = Plugin::launch(program, &launch).await else { return };
    plugin.call(Rpc::GetProviderSchema, &Msg::new(), Duration::from_secs(30)).await;
    let has_ended = plugin.shutdown(Duration::from_secs(5)).await;
    let leftover_files = list_files_recursively(directory.path());
    if !has_ended {
        return suite
            .note_skipped_rules(&["H-10"], "it had to be killed, so it could not clean up");
    }
    suite.record_case("H-10", leftover_files.is_empty(), || {
        let names: Vec<_> = leftover_files.iter().filter_map(|path| path.file_name()).collect();
        finding_about_process("H-10", "files are left after exit")
            .with_expected_and_found("none", format!("{names:?}"))
    });
}

/// Starts it with a canary on stdin; it must not take any of it.
#[expect(clippy::disallowed_methods, reason = "the process is killed and reaped below")]
async fn check_stdin_unread(suite: &mut Suite, program: &Path) {
    if !suite.is_rule_wanted("H-11") {
        return;
    }
    let (Ok(mut canary), Ok(home)) = (tempfile::tempfile(), tempfile::tempdir_in(short_temp_dir()))
    else {
        return;
    };
    let lines = "yes\n".repeat(64);
    if canary.write_all(lines.as_bytes()).and_then(|()| canary.rewind()).is_err() {
        return;
    }
    let environment =
        formwork_plugin_protocol::handshake::EnvironmentForPlugin::new(home.path(), None);
    let mut command = Command::new(program);
    command.env_remove("PLUGIN_CLIENT_CERT");
    command.envs(environment.set);
    command.envs(suite.options.env.iter().map(|(name, value)| (name, value)));
    let Ok(handle) = canary.try_clone() else { return };
    system::set_process_group_on_unix(&mut command);
    command.stdin(handle).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return };
    let begun = Instant::now();
    wait_until(Duration::from_millis(1500), || {
        matches!(child.try_wait(), Ok(Some(_))) || begun.elapsed() > Duration::from_millis(1200)
    })
    .await;
    if let Ok(pid) = i32::try_from(child.id()) {
        system::kill_process_group_on_unix(pid);
    }
    // On a system without groups.
    let _killed = child.kill();
    let _reaped = child.wait();
    // The offset of the file is shared with the child.
    let read = canary.stream_position().unwrap_or(0);
    suite.record_case("H-11", read == 0, || {
        finding_about_process("H-11", "it reads stdin")
            .with_expected_and_found("0 bytes", format!("{read} bytes"))
    });
}

async fn check_interrupt_ignored(suite: &mut Suite, program: &Path) {
    if !suite.is_rule_wanted("H-12") {
        return;
    }
    let Ok(plugin) = Plugin::launch(program, &suite.launch_options()).await else { return };
    let Some(started) = &plugin.started else { return };
    // Ctrl-C in a terminal reaches plugins too. A host decides what it means, and calls
    // `StopProvider`.
    let sent = system::interrupt_process_on_unix(started.child.pid());
    let exit_status = started.child.wait_up_to(Duration::from_millis(800)).await;
    let call = plugin.call(Rpc::GetProviderSchema, &Msg::new(), Duration::from_secs(20)).await;
    suite.record_case("H-12", !sent || (exit_status.is_none() && call.has_reply()), || {
        let exit = exit_status.unwrap_or_else(|| "no answer afterwards".to_owned());
        finding_about_process("H-12", "SIGINT ends it")
            .with_expected_and_found("it continues to serve", exit)
            .with_call(&call)
    });
}

async fn check_shutdown(suite: &mut Suite, program: &Path) {
    if suite.wants_any(&["H-13", "H-15", "K-06"]) {
        let Ok(plugin) = Plugin::launch(program, &suite.launch_options()).await else { return };
        plugin.call(Rpc::GetProviderSchema, &Msg::new(), Duration::from_secs(30)).await;
        let pid = plugin.started.as_ref().map_or(0, |started| started.child.pid());
        // Asked before the end: later they have another parent.
        let children = descendant_pids(pid);
        check_no_child_programs(suite, &children);
        let has_ended = plugin.shutdown(Duration::from_secs(2)).await;
        suite.record_case("H-13", has_ended, || {
            finding_about_process("H-13", "it does not end after Shutdown")
                .with_expected_and_found("ended within 2 s", "it runs on")
        });
        let is_stopped = wait_until(Duration::from_secs(1), || {
            !children.iter().any(|it| is_process_running(*it))
        });
        let is_stopped = is_stopped.await;
        suite.record_case("H-15", is_stopped, || {
            finding_about_process("H-15", "child processes outlive it")
                .with_expected_and_found("none", format!("{children:?}"))
        });
        for child in children.into_iter().filter(|it| is_process_running(*it)) {
            system::kill_process_on_unix(child);
        }
    }
    if suite.is_rule_wanted("H-14") {
        check_orphaned_plugin(suite, program).await;
    }
}

/// Programs that run below the provider before it was configured.
fn check_no_child_programs(suite: &mut Suite, children: &[i32]) {
    let names: Vec<String> = children
        .iter()
        .filter_map(|pid| std::fs::read_to_string(format!("/proc/{pid}/comm")).ok())
        .map(|name| name.trim().to_owned())
        .collect();
    suite.record_case("K-06", children.is_empty(), || {
        finding_about_process("K-06", "it starts programs before it is configured")
            .with_expected_and_found("none", format!("{names:?}"))
    });
}

/// Starts it from a shell that exits immediately, so that its host no longer exists.
#[expect(clippy::disallowed_methods, reason = "the group is killed below")]
async fn check_orphaned_plugin(suite: &mut Suite, program: &Path) {
    let Ok(home) = tempfile::tempdir_in(short_temp_dir()) else { return };
    let environment =
        formwork_plugin_protocol::handshake::EnvironmentForPlugin::new(home.path(), None);
    let mut command = Command::new("/bin/sh");
    // The shell represents a host, and exits a second after the start.
    command.args(["-c", "\"$0\" >/dev/null 2>&1 & echo $!; sleep 1"]).arg(program);
    command.env_remove("PLUGIN_CLIENT_CERT");
    command.envs(environment.set);
    command.envs(suite.options.env.iter().map(|(name, value)| (name, value)));
    system::set_process_group_on_unix(&mut command);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let Ok(output) = command.output() else { return };
    let pid = String::from_utf8_lossy(&output.stdout).trim().parse::<i32>().unwrap_or(0);
    if pid == 0 {
        return suite.note_skipped_rules(&["H-14"], "no shell could start it");
    }
    let is_stopped = wait_until(Duration::from_secs(10), || !is_process_running(pid)).await;
    if !is_stopped {
        system::kill_process_on_unix(pid);
    }
    suite.record_case("H-14", is_stopped, || {
        finding_about_process("H-14", "it continues to run after its host has exited")
            .with_expected_and_found("ended within 10 s", "it runs on")
    });
}

async fn check_services_and_network_use(suite: &mut Suite) {
    if !suite.wants_any(&["H-16", "H-17", "H-18"]) {
        return;
    }
    let Ok(plugin) = suite.start_another_process().await else { return };
    let timeout = Duration::from_secs(3);
    let health = Msg::new().with_text(1, "plugin").encode();
    for (path, request) in [
        ("/grpc.health.v1.Health/Check", health),
        ("/plugin.GRPCStdio/StreamStdio", Bytes::new()),
        ("/plugin.GRPCBroker/StartStream", Bytes::new()),
    ] {
        let reply = plugin.call_at_path(path, vec![request], timeout).await;
        // A stream without data keeps the caller waiting, which counts as an answer.
        let is_stream = !path.contains("Health");
        let held = match &reply {
            Reply::Answered(_) => true,
            Reply::TimedOut => is_stream,
            // The broker of go-plugin ends an empty stream with the status Unknown.
            Reply::Refused(code, _) => code != "Internal" && (is_stream || code != "Unknown"),
            // So is a stream that ends without a message.
            Reply::Garbage => is_stream,
            Reply::Lost { .. } => false,
        };
        suite.record_case("H-16", held && plugin.is_alive(), || {
            finding_about_process("H-16", format!("{path} is not served"))
                .with_expected_and_found("an answer", format!("{reply:?}"))
        });
    }
    let service = format!("/tfplugin{}.Provider/NoSuchMethod", plugin.protocol);
    for path in [service.as_str(), "/no.such.Service/Method"] {
        let reply = plugin.call_at_path(path, vec![Bytes::new()], timeout).await;
        let held = matches!(&reply, Reply::Refused(code, _) if code == "Unimplemented");
        suite.record_case("H-17", held && plugin.is_alive(), || {
            finding_about_process("H-17", format!("{path} is not refused"))
                .with_expected_and_found("Unimplemented", format!("{reply:?}"))
        });
    }
    if suite.is_rule_wanted("H-18") {
        check_network_use(suite, &plugin).await;
    }
}
