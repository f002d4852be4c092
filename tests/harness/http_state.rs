//! A server that keeps one state by the rules of the backend `http`, for one test: with TLS and logins
//! if they are requested, and with the faults that a test requests.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_tests::http::{self, Request};
use formwork_tests::http_state::{Answer, StoredState};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A server that keeps one state, by the documentation of Terraform's backend `http`.
pub(crate) struct HttpState {
    /// The address of the state.
    pub(crate) address: String,
    shared: Arc<Shared>,
}

/// Requirements of a server, besides the rules of the protocol.
#[derive(Default)]
pub(crate) struct Requirements {
    /// The server's side of TLS.
    pub(crate) tls: Option<ServerConfig>,
    /// The credentials of a client: name and password with a colon between them.
    pub(crate) login: Option<&'static str>,
}

/// A fault of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A status. A busy or failing server requests an immediate retry.
    Status(&'static str),
    /// The response ends in the middle, after the request has taken effect.
    Half,
    /// The connection is reset before the request is read.
    ResetBefore,
    /// The connection is reset after the request has taken effect.
    ResetAfter,
    /// No response is sent until the fault is over.
    Hang,
}

/// Faults of the next requests of a method.
struct FaultPlan {
    method: &'static str,
    fault: Fault,
    n_left: usize,
}

/// Parts of a server that its threads share.
struct Shared {
    tls: Option<Arc<ServerConfig>>,
    /// The header `Authorization` that requests must have.
    authorization: Option<String>,
    stored: Mutex<StoredState>,
    faults: Mutex<Option<FaultPlan>>,
    healed: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HttpState {
    /// Starts a server. It ends with the process.
    pub(crate) fn start() -> Self {
        Self::start_requiring(Requirements::default())
    }

    /// Starts a server that keeps the journals of runs, too.
    pub(crate) fn start_with_journals() -> Self {
        let server = Self::start();
        server.with(|stored| stored.parts = Some(BTreeMap::new()));
        server
    }

    /// Starts a server that requires more of its clients.
    pub(crate) fn start_requiring(requirements: Requirements) -> Self {
        let Requirements { tls, login } = requirements;
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let scheme = if tls.is_some() { "https" } else { "http" };
        let address = format!("{scheme}://{}/state", listener.local_addr().expect("an address"));
        let shared = Arc::new(Shared {
            tls: tls.map(Arc::new),
            authorization: login.map(|login| format!("Basic {}", STANDARD.encode(login))),
            stored: Mutex::default(),
            faults: Mutex::default(),
            healed: Condvar::new(),
        });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = Arc::clone(&serving);
                // A client that disconnects does not fail the test.
                thread::spawn(move || drop(serving.serve(stream)));
            }
        });
        Self { address, shared }
    }

    /// Reads or changes the stored state.
    pub(crate) fn with<T>(&self, use_state: impl FnOnce(&mut StoredState) -> T) -> T {
        use_state(&mut lock(&self.shared.stored))
    }

    /// Has the next requests of a method end with a fault.
    pub(crate) fn fail(&self, method: &'static str, fault: Fault, n_requests: usize) {
        *lock(&self.shared.faults) = Some(FaultPlan { method, fault, n_left: n_requests });
    }

    /// Ends all faults.
    pub(crate) fn clear_failure(&self) {
        *lock(&self.shared.faults) = None;
        self.shared.healed.notify_all();
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
        self.config_with("", resource)
    }

    /// A configuration whose state is here, with further arguments of the backend.
    pub(crate) fn config_with(&self, extra_arguments: &str, resource: &str) -> String {
        let arguments = self.arguments();
        format!(
            "terraform {{\n  backend \"http\" {{\n{arguments}{extra_arguments}  }}\n}}\n{resource}"
        )
    }
}

impl Shared {
    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        let Some(config) = &self.tls else { return self.serve_plain(&stream) };
        let connection = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
        let mut stream = StreamOwned::new(connection, stream);
        let Some(request) = read_request(&mut stream)? else { return Ok(()) };
        let fault = self.take_fault(&request);
        self.send_answer(request, fault, &mut stream)?;
        stream.conn.send_close_notify();
        stream.flush()
    }

    fn serve_plain(&self, mut stream: &TcpStream) -> io::Result<()> {
        let mut fault = None;
        let has_faults = lock(&self.faults).is_some();
        if has_faults {
            let Some(request) = peek_request(stream)? else { return Ok(()) };
            fault = self.take_fault(&request);
            // Nothing was read, so closing the connection resets it.
            if fault == Some(Fault::ResetAfter) {
                self.answer(request);
            }
            if matches!(fault, Some(Fault::ResetBefore | Fault::ResetAfter)) {
                return Ok(());
            }
        }
        let Some(request) = read_request(stream)? else { return Ok(()) };
        self.send_answer(request, fault, &mut stream)
    }

    /// The fault of a request, which there is only for those about the state.
    fn take_fault(&self, request: &Request) -> Option<Fault> {
        let mut faults = lock(&self.faults);
        let is_of_journal = request.target.contains(".journal/");
        let plan = faults.as_mut().filter(|plan| plan.method == request.method)?;
        if is_of_journal || plan.n_left == 0 {
            return None;
        }
        plan.n_left -= 1;
        Some(plan.fault)
    }

    /// Answers a request by the rules.
    fn answer(&self, request: Request) -> Answer {
        if self.authorization.is_some()
            && request.headers.get("authorization") != self.authorization.as_ref()
        {
            return Answer::empty("401 Unauthorized");
        }
        lock(&self.stored).answer(request)
    }

    fn send_answer(
        &self,
        request: Request,
        fault: Option<Fault>,
        to: &mut impl Write,
    ) -> io::Result<()> {
        if fault == Some(Fault::Hang) {
            let faults = lock(&self.faults);
            drop(self.healed.wait_while(faults, |faults| faults.is_some()));
        }
        let answer = match fault {
            Some(Fault::Status(status)) => Answer::empty(status),
            _ => self.answer(request),
        };
        let mut headers = vec!["Connection: close", answer.content_type];
        if answer.status.starts_with("429") || answer.status.starts_with('5') {
            headers.push("Retry-After: 0");
        }
        if fault != Some(Fault::Half) {
            return http::answer(to, answer.status, &headers, &answer.body);
        }
        let (mut response, mut body) = (Vec::new(), answer.body);
        body.resize(body.len().max(10), b' ');
        http::answer(&mut response, answer.status, &headers, &body)?;
        to.write_all(&response[..response.len() - body.len() / 2])
    }
}

/// Reads a request out of a connection.
fn read_request(stream: impl Read) -> io::Result<Option<Request>> {
    Request::read(&mut BufReader::new(stream))
}

/// Waits for a whole request, and leaves it unread.
fn peek_request(stream: &TcpStream) -> io::Result<Option<Request>> {
    let mut buffer = vec![0; 1 << 20];
    loop {
        let n = stream.peek(&mut buffer)?;
        let bytes = &buffer[..n];
        if n == 0 {
            return Ok(None);
        }
        let has_headers = bytes.windows(4).any(|bytes| bytes == b"\r\n\r\n");
        // Without all of its content it cannot be read.
        if has_headers && let Ok(request) = Request::read(&mut &*bytes) {
            return Ok(request);
        }
        thread::yield_now();
    }
}
