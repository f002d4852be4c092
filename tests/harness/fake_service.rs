//! The fake service of the bad provider, observed from outside: existing objects, running processes,
//! and paused providers.

use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::unistd::Pid;
use tempfile::TempDir;

/// A timeout that only a hang reaches.
const FOREVER: Duration = Duration::from_secs(60);

/// The directory of real objects, and the sockets that watch it.
pub(crate) struct FakeService {
    directory: TempDir,
    witness: UnixListener,
    gate: UnixListener,
}

/// A provider that is paused in a call. Dropping it resumes the provider.
#[derive(Debug)]
pub(crate) struct PausedProvider(UnixStream);

impl FakeService {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let listen = |name| UnixListener::bind(directory.path().join(name)).expect("a socket");
        let (witness, gate) = (listen("witness"), listen("gate"));
        Self { directory, witness, gate }
    }

    /// The directory of the objects.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The ids of the objects that exist, sorted.
    pub(crate) fn objects(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).expect("the directory is there").flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut ids: Vec<String> =
            names.filter_map(|name| Some(name.strip_suffix(".object")?.to_owned())).collect();
        ids.sort();
        ids
    }

    /// The content of an object.
    pub(crate) fn object(&self, id: &str) -> String {
        fs::read_to_string(self.path().join(format!("{id}.object"))).unwrap_or_default()
    }

    /// Changes or creates an object outside of the provider.
    pub(crate) fn set_object(&self, id: &str, content: &str) {
        fs::write(self.path().join(format!("{id}.object")), content).expect("it can be written");
    }

    /// Removes an object outside of the provider.
    pub(crate) fn remove_object(&self, id: &str) {
        fs::remove_file(self.path().join(format!("{id}.object"))).expect("the object exists");
    }

    /// Calls of the provider, in order, since the last call.
    pub(crate) fn take_calls(&self) -> Vec<String> {
        let path = self.path().join("calls.log");
        let calls = fs::read_to_string(&path).unwrap_or_default();
        match fs::remove_file(&path) {
            Ok(()) | Err(_) => (),
        }
        calls.lines().map(str::to_owned).collect()
    }

    /// The process of the provider that was started last, if it reports it (`BAD_TELL`).
    pub(crate) fn provider(&self) -> Pid {
        let calls = self.take_calls();
        let pid = calls.iter().rev().find_map(|call| call.strip_prefix("pid ")?.parse().ok());
        Pid::from_raw(pid.expect("a provider reports its process"))
    }

    /// Waits until a provider is paused, and returns the moment (`before:a`).
    pub(crate) fn wait_for_pause(&self) -> (String, PausedProvider) {
        let gate = self.gate.try_clone().expect("descriptors are left");
        let (sender, accepted) = mpsc::channel();
        // `accept` has no timeout, so another thread calls it.
        thread::spawn(move || sender.send(gate.accept()));
        let accepted = accepted.recv_timeout(FOREVER).expect("a provider comes to the gate");
        let (mut stream, _) = accepted.expect("a connection");
        let mut moment = Vec::new();
        let mut byte = [0];
        while stream.read_exact(&mut byte).is_ok() && byte != *b"\n" {
            moment.extend(byte);
        }
        (String::from_utf8(moment).expect("text"), PausedProvider(stream))
    }

    /// Fails if a provider process is still running. One that is about to end is waited for.
    pub(crate) fn assert_no_provider_runs(&self) {
        self.witness.set_nonblocking(true).expect("a socket can be");
        loop {
            match self.witness.accept() {
                Ok((stream, _)) => assert_ends(stream),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => panic!("the witness cannot accept: {error}"),
            }
        }
    }
}

impl PausedProvider {
    /// Resumes the provider.
    pub(crate) fn resume(mut self) {
        self.0.write_all(b".").expect("the provider waits");
    }
}

fn assert_ends(mut stream: UnixStream) {
    stream.set_nonblocking(false).expect("a socket can be");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket can");
    let read = stream.read(&mut [0]);
    // A process that is killed may leave its connection reset.
    let over = match &read {
        Ok(n) => *n == 0,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    };
    assert!(over, "a provider process is still running: {read:?}");
}
