//! A server that keeps one state by the rules of the backend `http`, for one test.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use formwork_tests::http::{self, Request};
use formwork_tests::http_state::KeptState;

/// A server that keeps one state, by the documentation of Terraform's backend `http`.
pub(crate) struct HttpState {
    /// The address of the state.
    pub(crate) address: String,
    kept: Arc<Mutex<KeptState>>,
}

impl HttpState {
    /// Starts a server. It ends with the process.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}/state", listener.local_addr().expect("an address"));
        let kept = Arc::new(Mutex::new(KeptState::default()));
        let shared = Arc::clone(&kept);
        thread::spawn(move || {
            listener.incoming().flatten().for_each(|stream| drop(serve(&stream, &shared)));
        });
        Self { address, kept }
    }

    /// Starts a server that keeps the journals of runs, too.
    pub(crate) fn start_with_journals() -> Self {
        let server = Self::start();
        server.with(|kept| kept.parts = Some(BTreeMap::new()));
        server
    }

    /// Works with what is kept.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut KeptState) -> T) -> T {
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

fn serve(stream: &TcpStream, kept: &Mutex<KeptState>) -> std::io::Result<()> {
    let Some(request) = Request::read(&mut BufReader::new(stream))? else { return Ok(()) };
    let answer = kept.lock().unwrap_or_else(PoisonError::into_inner).answer(request);
    let headers = ["Connection: close", answer.content_type];
    http::answer(stream, answer.status, &headers, &answer.body)
}
