//! A server for tests of backends. It sends scripted responses, and records the requests.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use formwork_core::state::file::StateFile;
use formwork_value::{Str, Value};

use crate::Backend;
use crate::arguments::{BackendArguments, BackendEnvironment};
use crate::config_error::ConfigError;
use crate::kinds::find_backend_kind;

/// The reaction to one request.
#[derive(Clone, Debug)]
pub(crate) enum ScriptedReply {
    /// A response: status, further headers, content.
    Whole(&'static str, Vec<String>, Vec<u8>),
    /// A response that is truncated before the end of its content.
    Truncated,
    /// A connection that is reset.
    Reset,
    /// A connection that is reset after these bytes.
    ResetAfter(Vec<u8>),
}

impl ScriptedReply {
    /// Creates a response without further headers.
    pub(crate) fn new(status: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self::Whole(status, Vec::new(), body.into())
    }

    /// Creates a response with one more header.
    pub(crate) fn header(self, header: &str) -> Self {
        match self {
            Self::Whole(status, mut headers, body) => {
                headers.push(header.to_owned());
                Self::Whole(status, headers, body)
            }
            other => other,
        }
    }
}

/// A request as it was received.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReceivedRequest {
    /// Method and path.
    pub(crate) line: String,
    /// The headers, with lowercase names.
    pub(crate) headers: BTreeMap<String, String>,
    /// The content.
    pub(crate) body: Vec<u8>,
}

/// The server. It is stopped with the test.
pub(crate) struct ScriptedServer {
    /// Its address.
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl ScriptedServer {
    /// Starts a server that processes one request after the other. After the last one it stops
    /// responding.
    pub(crate) fn start(replies: impl IntoIterator<Item = ScriptedReply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (mut replies, received) =
            (replies.into_iter().collect::<VecDeque<_>>(), requests.clone());
        let serving = std::thread::Builder::new().spawn(move || {
            while let (Some(reply), Ok((stream, _))) = (replies.pop_front(), listener.accept()) {
                // A client that has disconnected is ignored.
                drop(send_reply(&stream, &reply, &received));
            }
        });
        serving.expect("a thread for the server");
        Self { url, requests }
    }

    /// The requests so far.
    pub(crate) fn received_requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The first lines of the requests so far.
    pub(crate) fn request_lines(&self) -> Vec<String> {
        self.received_requests().into_iter().map(|request| request.line).collect()
    }
}

fn send_reply(
    stream: &TcpStream,
    reply: &ScriptedReply,
    received: &Mutex<Vec<ReceivedRequest>>,
) -> std::io::Result<()> {
    let mut stream = stream;
    let beginning = match reply {
        ScriptedReply::Reset => Some(&[][..]),
        ScriptedReply::ResetAfter(bytes) => Some(&bytes[..]),
        ScriptedReply::Whole(..) | ScriptedReply::Truncated => None,
    };
    if let Some(beginning) = beginning {
        // Closing a connection with unread data resets it.
        wait_for_headers(stream)?;
        received.lock().unwrap_or_else(PoisonError::into_inner).push(ReceivedRequest::default());
        return stream.write_all(beginning);
    }
    let request = read_request(stream)?;
    received.lock().unwrap_or_else(PoisonError::into_inner).push(request);
    match reply {
        ScriptedReply::Whole(status, headers, body) => {
            write!(stream, "HTTP/1.1 {status}\r\nConnection: close\r\n")?;
            headers.iter().try_for_each(|header| write!(stream, "{header}\r\n"))?;
            write!(stream, "Content-Length: {}\r\n\r\n", body.len())?;
            stream.write_all(body)
        }
        ScriptedReply::Truncated | ScriptedReply::Reset | ScriptedReply::ResetAfter(_) => write!(
            stream,
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n{{\"version\""
        ),
    }
}

/// Waits for the headers of a request, without reading them.
fn wait_for_headers(stream: &TcpStream) -> std::io::Result<()> {
    let mut received = [0; 8192];
    loop {
        let n = stream.peek(&mut received)?;
        if n == 0 || received[..n].windows(4).any(|bytes| bytes == b"\r\n\r\n") {
            return Ok(());
        }
        std::thread::yield_now();
    }
}

fn read_request(stream: &TcpStream) -> std::io::Result<ReceivedRequest> {
    let mut reader = BufReader::new(stream);
    let mut request_line = String::new();
    reader.read_line(&mut request_line)?;
    let line = request_line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let mut request = ReceivedRequest { line, ..ReceivedRequest::default() };
    loop {
        let mut text = String::new();
        reader.read_line(&mut text)?;
        // The empty line after the headers has no colon.
        let Some((name, value)) = text.split_once(':') else { break };
        request.headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = request.headers.get("content-length").and_then(|length| length.parse().ok());
    request.body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut request.body)?;
    Ok(request)
}

/// Creates a backend from arguments, in an empty environment.
pub(crate) fn configure_backend(kind: &str, arguments: &[(&str, Value)]) -> Arc<dyn Backend> {
    configure_backend_with_variables(kind, arguments, &[]).unwrap()
}

/// Creates a backend from arguments and environment variables.
pub(crate) fn configure_backend_with_variables(
    kind: &str,
    arguments: &[(&str, Value)],
    variables: &[(&str, &str)],
) -> Result<Arc<dyn Backend>, ConfigError> {
    let kind = find_backend_kind(kind).unwrap();
    let configured = arguments.iter().map(|(name, value)| (Str::new(name), value.clone()));
    let configured = Value::object(configured.collect::<Vec<_>>());
    let values = kind.schema().coerce(&configured).unwrap();
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let environment = BackendEnvironment { root: "unused".into(), variables: variables.collect() };
    kind.configure(&BackendArguments { values: &values, environment: &environment })
}

/// Creates a state with a serial.
pub(crate) fn test_state(serial: u64) -> StateFile {
    StateFile { serial, lineage: "one".to_owned(), ..StateFile::new_empty() }
}

/// Returns the serialized state with a serial.
pub(crate) fn test_state_text(serial: u64) -> Vec<u8> {
    test_state(serial).to_bytes()
}
