//! Unexpected ends: of the plugin, and of the host.

use std::process::Stdio;
use std::time::Instant;

use formwork_plugin_protocol::client::shutdown_all;
use formwork_plugin_protocol::handshake::{COOKIE_VALUE, COOKIE_VARIABLE};
use formwork_plugin_protocol::{Failure, ProviderExt as _};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use super::*;

#[tokio::test]
async fn a_crash_during_a_call_is_reported_with_exit_status_and_last_output() {
    let (plugin, process) = launch_watched("dies", &Settings::TERRAFORM_DEFAULTS).await;
    let provider = plugin.provider();
    // The second call finds a dead process, and has the same explanation.
    for _ in 0..2 {
        let failure = provider.schema().await.expect_err("it dies");
        let Failure::Lost { exit, output, .. } = &failure else { panic!("{failure:?}") };
        assert_eq!(exit.as_deref(), Some("killed by SIGABRT"));
        assert_eq!(output, "about to die");
    }
    process.wait_for_end().await;
}

#[tokio::test]
async fn a_child_of_a_crashed_plugin_is_killed_without_delay() {
    let started = Instant::now();
    let (plugin, process) =
        launch_watched("dies and leaves a child", &Settings::TERRAFORM_DEFAULTS).await;
    let failure = plugin.provider().schema().await.expect_err("it dies");
    let Failure::Lost { exit, .. } = &failure else { panic!("{failure:?}") };
    assert_eq!(exit.as_deref(), Some("exit status 3"));
    plugin.shutdown().await;
    process.wait_for_end().await;
    // The child would live for a thousand seconds, and has the plugin's stderr.
    assert!(started.elapsed() < HANG_TIMEOUT);
}

#[tokio::test]
async fn a_plugin_that_ignores_a_shutdown_is_killed() {
    let settings = Settings { grace: Duration::from_millis(300), ..Settings::TERRAFORM_DEFAULTS };
    let (first_provider, first_process) = launch_watched("stays", &settings).await;
    let (second_provider, second_process) = launch_watched("stays", &settings).await;
    assert!(first_process.is_running() && second_process.is_running());
    shutdown_all([&first_provider, &second_provider]).await;
    first_process.wait_for_end().await;
    second_process.wait_for_end().await;
}

#[tokio::test]
async fn dropping_or_killing_a_plugin_ends_its_process() {
    let (plugin, process) = launch_watched("", &Settings::TERRAFORM_DEFAULTS).await;
    drop(plugin);
    process.wait_for_end().await;
    let (plugin, process) = launch_watched("stays", &Settings::TERRAFORM_DEFAULTS).await;
    plugin.kill();
    process.wait_for_end().await;
}

#[tokio::test]
async fn a_cancelled_launch_leaves_no_process() {
    let watcher = ProcessWatcher::new();
    // It keeps the connection open as long as the shell runs.
    let (_dir, mut executable) = script("exec \"$TINY_PROGRAM\" host");
    executable.env.extend([watcher.address_variable(), watcher.temp_dir_variable()]);
    executable.env.push(("TINY_PROGRAM".into(), tiny("").path.into()));
    let launch =
        tokio::spawn(
            async move { Plugin::launch(&executable, &Settings::TERRAFORM_DEFAULTS).await },
        );
    let process = watcher.wait_for_start().await;
    launch.abort();
    process.wait_for_end().await;
}

#[tokio::test]
async fn a_plugin_dies_with_its_host() {
    let watcher = ProcessWatcher::new();
    let mut host = Command::new(tiny("").path)
        .arg("host")
        // It would not exit by itself if it noticed.
        .env("TINY", "stays")
        .envs([watcher.address_variable(), watcher.temp_dir_variable()])
        .stdout(Stdio::piped())
        // A plugin that outlives its host, against the test, must not hold a pipe of the test
        // runner.
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("a host");
    let process = watcher.wait_for_start().await;
    let mut lines = BufReader::new(host.stdout.take().expect("a pipe")).lines();
    assert_eq!(lines.next_line().await.expect("a line").as_deref(), Some("ready"));
    assert!(process.is_running());
    host.kill().await.expect("it can be killed");
    process.wait_for_end().await;
}

#[tokio::test]
async fn a_plugin_without_a_parent_death_signal_ends_after_its_host() {
    let watcher = ProcessWatcher::new();
    let mut host = Command::new("sh")
        // A shell does not set `PR_SET_PDEATHSIG` for its children.
        .args(["-c", "\"$TINY_PROGRAM\" & wait"])
        .env("TINY_PROGRAM", tiny("").path)
        // Without the cookie, it would explain itself and end.
        .env(COOKIE_VARIABLE, COOKIE_VALUE)
        .envs([watcher.address_variable(), watcher.temp_dir_variable()])
        .stdout(Stdio::piped())
        // A plugin that outlives its host, against the test, must not hold a pipe of the test
        // runner.
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("a host");
    let process = watcher.wait_for_start().await;
    let mut lines = BufReader::new(host.stdout.take().expect("a pipe")).lines();
    lines.next_line().await.expect("a line").expect("a handshake");
    assert!(process.is_running());
    host.kill().await.expect("it can be killed");
    process.wait_for_end().await;
}
