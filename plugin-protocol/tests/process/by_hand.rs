//! A plugin that a person starts.

use std::process::Stdio;

use formwork_plugin_protocol::ProviderExt as _;
use formwork_plugin_protocol::reattach::{self, Reattach};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use super::*;

#[tokio::test]
async fn a_plugin_without_a_host_prints_an_explanation_and_fails() {
    let output = Command::new(tiny("").path).output().await.expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    // stdout is for hosts: they would treat a message there as a handshake.
    assert!(output.stdout.is_empty());
    let text = String::from_utf8(output.stderr).expect("text");
    assert!(text.contains("is a provider plugin"), "{text}");
}

#[tokio::test]
async fn a_plugin_in_debug_mode_serves_several_hosts_until_an_interrupt() {
    let mut process = Command::new(tiny("").path)
        .arg("--debug")
        .stdout(Stdio::piped())
        // A test that fails must leave no process.
        .kill_on_drop(true)
        .spawn()
        .expect("it runs");
    let mut lines = BufReader::new(process.stdout.take().expect("a pipe")).lines();
    let value = loop {
        let line = lines.next_line().await.expect("text").expect("one more line");
        // The line that a user copies into a shell.
        if let Some(value) = line.strip_prefix("\tTF_REATTACH_PROVIDERS='") {
            break value.trim_end_matches('\'').to_owned();
        }
    };
    let plugins = reattach::parse_reattach_variable(&value).expect("it can be read");
    let reattach_entry: &Reattach = &plugins["registry.terraform.io/formwork/tiny"];
    assert_eq!(Some(reattach_entry.pid), process.id());
    // Terraform and OpenTofu have different addresses for it.
    assert_eq!(plugins.len(), 2);

    for _ in 0..2 {
        let plugin = Plugin::reattach("tiny", reattach_entry, &Settings::TERRAFORM_DEFAULTS)
            .await
            .expect("it answers");
        // The host did not start the process, so it must not end it.
        assert_eq!(plugin.pid(), None);
        plugin.provider().schema().await.expect("a schema");
        plugin.shutdown().await;
    }

    let pid = process.id().and_then(|pid| i32::try_from(pid).ok()).expect("it still runs");
    kill(Pid::from_raw(pid), Signal::SIGINT).expect("it is there");
    let status = timeout(HANG_TIMEOUT, process.wait()).await.expect("it ends").expect("a status");
    assert!(status.success(), "{status}");
    let error = Plugin::reattach("tiny", reattach_entry, &Settings::TERRAFORM_DEFAULTS)
        .await
        .expect_err("the plugin has ended");
    assert!(error.to_string().contains("TF_REATTACH_PROVIDERS"), "{error}");
}
