//! Google Cloud Storage for one test: fake-gcs-server keeps the objects. It ends when the value is
//! dropped.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use super::servers::installed;

/// The server.
pub(crate) struct Gcs {
    /// The address, without a slash at the end.
    pub(crate) url: String,
    process: Child,
}

impl Gcs {
    /// Starts a server with a bucket. Returns `None` and reports it if fake-gcs-server is not installed.
    pub(crate) fn start(bucket: &str) -> Option<Self> {
        let program = installed("fake-gcs-server", "gcs")?;
        let mut command = Command::new(program);
        command.args(["-scheme", "http", "-host", "127.0.0.1", "-backend", "memory"]);
        // The server does not report the port that the system chose, and another program may take one
        // that is free now.
        let server = (0..20).find_map(|_| {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            let port = listener.local_addr().expect("it has an address").port().to_string();
            drop(listener);
            let mut command = clone(&command);
            command.args(["-port", &port, "-public-host", &format!("127.0.0.1:{port}")]);
            let mut process = command.stderr(Stdio::piped()).spawn().expect("it runs");
            let log = BufReader::new(process.stderr.take().expect("its log is a pipe"));
            let mut lines = log.lines().map_while(Result::ok);
            let runs = lines.any(|line| line.contains("server started at"));
            // The server would block if its output were not read.
            std::thread::spawn(move || lines.for_each(drop));
            let server = Self { url: format!("http://127.0.0.1:{port}"), process };
            runs.then_some(server)
        });
        let server = server.expect("the server did not start");
        server.make_bucket(bucket);
        Some(server)
    }

    fn make_bucket(&self, name: &str) {
        let host = self.url.strip_prefix("http://").expect("it has no TLS");
        let mut stream = TcpStream::connect(host).expect("it listens");
        let body = format!("{{\"name\":\"{name}\"}}");
        let length = body.len();
        write!(
            stream,
            "POST /storage/v1/b HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

fn clone(command: &Command) -> Command {
    let mut copy = Command::new(command.get_program());
    copy.args(command.get_args());
    copy
}

impl Drop for Gcs {
    fn drop(&mut self) {
        self.process.kill().and_then(|()| self.process.wait()).expect("this test owns it");
    }
}
