//! A server that keeps one state by the rules of the backend `http`, for one test.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The state and the lock of a server.
#[derive(Default)]
pub(crate) struct Kept {
    /// The state; empty if there is none.
    pub(crate) state: Vec<u8>,
    /// The lock as it was sent; empty if there is none.
    pub(crate) lock: Vec<u8>,
    /// The status of every answer to a write, if writes fail.
    pub(crate) failure: Option<&'static str>,
}

/// A server that keeps one state, by the documentation of Terraform's backend `http`.
pub(crate) struct HttpState {
    /// The address of the state.
    pub(crate) address: String,
    kept: Arc<Mutex<Kept>>,
}

impl HttpState {
    /// Starts a server. It ends with the process.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}/state", listener.local_addr().expect("an address"));
        let kept = Arc::new(Mutex::new(Kept::default()));
        let shared = Arc::clone(&kept);
        thread::spawn(move || {
            listener.incoming().flatten().for_each(|stream| drop(answer(&stream, &shared)));
        });
        Self { address, kept }
    }

    /// Works with what is kept.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Kept) -> T) -> T {
        work(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The arguments of a backend whose state is here.
    pub(crate) fn arguments(&self) -> String {
        let address = &self.address;
        let names = ["address", "lock_address", "unlock_address"];
        let lines = names.map(|name| format!("    {name} = \"{address}\"\n")).concat();
        format!("{lines}    retry_wait_min = 0\n    retry_wait_max = 0\n")
    }

    /// A configuration whose state is here.
    pub(crate) fn config(&self, resource: &str) -> String {
        format!("terraform {{\n  backend \"http\" {{\n{}  }}\n}}\n{resource}", self.arguments())
    }
}

fn answer(mut stream: &TcpStream, kept: &Mutex<Kept>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut request = String::new();
    reader.read_line(&mut request)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut content = vec![0; length];
    reader.read_exact(&mut content)?;
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    let method = request.split_whitespace().next().unwrap_or_default();
    let (status, body) = match method {
        "GET" if kept.state.is_empty() => ("404 Not Found", Vec::new()),
        "GET" => ("200 OK", kept.state.clone()),
        "POST" => match kept.failure {
            Some(status) => (status, Vec::new()),
            None => {
                kept.state = content;
                ("200 OK", Vec::new())
            }
        },
        "LOCK" if kept.lock.is_empty() => {
            kept.lock = content;
            ("200 OK", Vec::new())
        }
        "LOCK" => ("423 Locked", kept.lock.clone()),
        "UNLOCK" => {
            kept.lock.clear();
            ("200 OK", Vec::new())
        }
        _ => ("405 Method Not Allowed", Vec::new()),
    };
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")?;
    stream.write_all(&body)
}
