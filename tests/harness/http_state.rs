//! A server that keeps one state by the rules of the backend `http`, for one test.

use std::io::BufReader;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use formwork_tests::http::{self, Request};

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
            listener.incoming().flatten().for_each(|stream| drop(serve(&stream, &shared)));
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

fn serve(stream: &TcpStream, kept: &Mutex<Kept>) -> std::io::Result<()> {
    let Some(request) = Request::read(&mut BufReader::new(stream))? else { return Ok(()) };
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    let (status, body) = match request.method.as_str() {
        "GET" if kept.state.is_empty() => ("404 Not Found", Vec::new()),
        "GET" => ("200 OK", kept.state.clone()),
        "POST" => match kept.failure {
            Some(status) => (status, Vec::new()),
            None => {
                kept.state = request.body;
                ("200 OK", Vec::new())
            }
        },
        "LOCK" if kept.lock.is_empty() => {
            kept.lock = request.body;
            ("200 OK", Vec::new())
        }
        "LOCK" => ("423 Locked", kept.lock.clone()),
        "UNLOCK" => {
            kept.lock.clear();
            ("200 OK", Vec::new())
        }
        _ => ("405 Method Not Allowed", Vec::new()),
    };
    http::answer(stream, status, &["Connection: close"], &body)
}
