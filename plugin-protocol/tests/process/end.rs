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
async fn a_plugin_that_dies_in_a_call_leaves_its_exit_status_and_last_words() {
    let (plugin, life) = launched("dies", &Settings::TERRAFORM_DEFAULTS).await;
    let provider = plugin.provider();
    // The second call finds a dead process, and has the same explanation.
    for _ in 0..2 {
        let failure = provider.schema().await.expect_err("it dies");
        let Failure::Lost { exit, output, .. } = &failure else { panic!("{failure:?}") };
        assert_eq!(exit.as_deref(), Some("killed by SIGABRT"));
        assert_eq!(output, "about to die");
    }
    life.end().await;
}

#[tokio::test]
async fn a_child_of_a_dead_plugin_delays_no_other_and_dies_too() {
    let started = Instant::now();
    let (plugin, life) = launched("dies and leaves a child", &Settings::TERRAFORM_DEFAULTS).await;
    let failure = plugin.provider().schema().await.expect_err("it dies");
    let Failure::Lost { exit, .. } = &failure else { panic!("{failure:?}") };
    assert_eq!(exit.as_deref(), Some("exit status 3"));
    plugin.shutdown().await;
    life.end().await;
    // The child would live for a thousand seconds, and has the plugin's stderr.
    assert!(started.elapsed() < FOREVER);
}

#[tokio::test]
async fn a_plugin_that_does_not_end_when_asked_is_killed() {
    let settings = Settings { grace: Duration::from_millis(300), ..Settings::TERRAFORM_DEFAULTS };
    let (first, one) = launched("stays", &settings).await;
    let (second, other) = launched("stays", &settings).await;
    assert!(one.goes_on() && other.goes_on());
    shutdown_all([&first, &second]).await;
    one.end().await;
    other.end().await;
}

#[tokio::test]
async fn a_plugin_that_is_dropped_or_killed_does_not_live_on() {
    let (plugin, life) = launched("", &Settings::TERRAFORM_DEFAULTS).await;
    drop(plugin);
    life.end().await;
    let (plugin, life) = launched("stays", &Settings::TERRAFORM_DEFAULTS).await;
    plugin.kill();
    life.end().await;
}

#[tokio::test]
async fn a_launch_that_is_given_up_leaves_no_process() {
    let witness = ProcessWatcher::new();
    // It holds the connection open for as long as the shell lives.
    let (_dir, mut executable) = script("exec \"$TINY_PROGRAM\" host");
    executable.env.extend([witness.variable(), witness.litter()]);
    executable.env.push(("TINY_PROGRAM".into(), tiny("").path.into()));
    let launch =
        tokio::spawn(
            async move { Plugin::launch(&executable, &Settings::TERRAFORM_DEFAULTS).await },
        );
    let life = witness.start().await;
    launch.abort();
    life.end().await;
}

#[tokio::test]
async fn a_plugin_dies_with_its_host() {
    let witness = ProcessWatcher::new();
    let mut host = Command::new(tiny("").path)
        .arg("host")
        // It would not exit by itself if it noticed.
        .env("TINY", "stays")
        .envs([witness.variable(), witness.litter()])
        .stdout(Stdio::piped())
        // A plugin that outlives its host, against the test, must not hold a pipe of the test
        // runner.
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("a host");
    let life = witness.start().await;
    let mut lines = BufReader::new(host.stdout.take().expect("a pipe")).lines();
    assert_eq!(lines.next_line().await.expect("a line").as_deref(), Some("ready"));
    assert!(life.goes_on());
    host.kill().await.expect("it can be killed");
    life.end().await;
}

#[tokio::test]
async fn a_plugin_whose_host_did_not_provide_for_its_own_death_notices_it() {
    let witness = ProcessWatcher::new();
    let mut host = Command::new("sh")
        // A shell does not set `PR_SET_PDEATHSIG` for its children.
        .args(["-c", "\"$TINY_PROGRAM\" & wait"])
        .env("TINY_PROGRAM", tiny("").path)
        // Without the cookie, it would explain itself and end.
        .env(COOKIE_VARIABLE, COOKIE_VALUE)
        .envs([witness.variable(), witness.litter()])
        .stdout(Stdio::piped())
        // A plugin that outlives its host, against the test, must not hold a pipe of the test
        // runner.
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("a host");
    let life = witness.start().await;
    let mut lines = BufReader::new(host.stdout.take().expect("a pipe")).lines();
    lines.next_line().await.expect("a line").expect("a handshake");
    assert!(life.goes_on());
    host.kill().await.expect("it can be killed");
    life.end().await;
}
