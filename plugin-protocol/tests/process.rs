//! Misbehaving plugins, and their effects on the host.

#![expect(clippy::disallowed_methods, reason = "hosts and plugins are started by hand")]

mod bad_start;
mod by_hand;
mod end;
mod life;
mod raw;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use formwork_plugin_protocol::client::{Executable, FileStamp, Plugin, ProcessLimits, Settings};
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// Longer than anything here takes; only a hang gets there.
const HANG_TIMEOUT: Duration = Duration::from_secs(60);

/// The tiny provider, with a behaviour.
fn tiny(behaviour: &str) -> Executable {
    Executable {
        name: "tiny".to_owned(),
        path: env!("CARGO_BIN_EXE_tiny-plugin").into(),
        arg0: None,
        identity: None,
        env: vec![("TINY".into(), behaviour.into())],
        withheld: Vec::new(),
    }
}

/// Sees the end of a process that was given its address.
struct ProcessWatcher {
    directory: TempDir,
    listener: TcpListener,
}

impl ProcessWatcher {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a socket");
        listener.set_nonblocking(true).expect("a socket of the runtime");
        let listener = TcpListener::from_std(listener).expect("a socket of the runtime");
        Self { directory, listener }
    }

    fn address_variable(&self) -> (OsString, OsString) {
        let address = self.listener.local_addr().expect("an address");
        ("TINY_WITNESS".into(), address.to_string().into())
    }

    /// A variable that makes a killed host leave its files in a directory of the test.
    fn temp_dir_variable(&self) -> (OsString, OsString) {
        ("TMPDIR".into(), self.directory.path().into())
    }

    /// Returns when a process has started.
    async fn wait_for_start(&self) -> ProcessConnection {
        let accepted =
            timeout(HANG_TIMEOUT, self.listener.accept()).await.expect("a process starts");
        ProcessConnection(accepted.expect("a connection").0)
    }
}

/// A process, through its connection.
struct ProcessConnection(TcpStream);

impl ProcessConnection {
    /// Returns when the process has ended, for any reason.
    async fn wait_for_end(mut self) {
        let outcome = timeout(HANG_TIMEOUT, self.0.read(&mut [0])).await.expect("the process ends");
        // An error is an end too: a process that is killed may break the connection.
        assert!(!matches!(outcome, Ok(1..)), "the process sends data");
    }

    /// Says whether the process has not ended.
    fn is_running(&self) -> bool {
        // After the exit of the process, this would read 0 bytes immediately.
        self.0.try_read(&mut [0]).is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
    }
}

/// A launched tiny provider whose end can be observed.
async fn launch_watched(behaviour: &str, settings: &Settings) -> (Plugin, ProcessConnection) {
    let watcher = ProcessWatcher::new();
    let mut executable = tiny(behaviour);
    executable.env.push(watcher.address_variable());
    let plugin = Plugin::launch(&executable, settings).await.expect("it starts");
    (plugin, watcher.wait_for_start().await)
}

/// A shell script as a plugin.
fn script(text: &str) -> (TempDir, Executable) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("script");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permissions");
    // With its directory, whose end removes the script.
    (
        directory,
        Executable {
            name: "script".to_owned(),
            path,
            arg0: None,
            identity: None,
            env: Vec::new(),
            withheld: Vec::new(),
        },
    )
}
