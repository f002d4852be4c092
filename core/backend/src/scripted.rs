//! A server for tests of backends: it answers each request as its script says, and keeps what it was
//! asked.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use formwork_core::state::file::StateFile;
use formwork_value::{Str, Value};

use crate::Backend;
use crate::kind::{Arguments, BackendEnvironment, ConfigError};
use crate::kinds::find;

/// The reaction to one request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// An answer: status, further headers, content.
    Whole(&'static str, Vec<String>, Vec<u8>),
    /// An answer that ends before its content does.
    Half,
    /// A connection that is reset.
    Reset,
}

impl Reply {
    /// An answer without further headers.
    pub(crate) fn new(status: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self::Whole(status, Vec::new(), body.into())
    }

    /// An answer with one more header.
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

/// A request as it came in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    /// Method and path.
    pub(crate) line: String,
    /// The headers, with names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    /// The content.
    pub(crate) body: Vec<u8>,
}

/// The server. It ends with the test.
pub(crate) struct Scripted {
    /// Its address.
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Scripted {
    /// Starts a server that reacts to one request after the other. After the last one it answers nothing.
    pub(crate) fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (mut replies, kept) = (replies.into_iter().collect::<VecDeque<_>>(), asked.clone());
        let serving = std::thread::Builder::new().spawn(move || {
            while let (Some(reply), Ok((stream, _))) = (replies.pop_front(), listener.accept()) {
                // A client that has gone away is none of its business.
                drop(react(&stream, &reply, &kept));
            }
        });
        serving.expect("a thread for the server");
        Self { url, asked }
    }

    /// The requests so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The first lines of the requests so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.line).collect()
    }
}

fn react(stream: &TcpStream, reply: &Reply, kept: &Mutex<Vec<Asked>>) -> std::io::Result<()> {
    if let Reply::Reset = reply {
        // What is not read when the connection is closed resets it.
        stream.peek(&mut [0])?;
        kept.lock().unwrap_or_else(PoisonError::into_inner).push(Asked::default());
        return Ok(());
    }
    let asked = read(stream)?;
    kept.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
    let mut stream = stream;
    match reply {
        Reply::Whole(status, headers, body) => {
            write!(stream, "HTTP/1.1 {status}\r\nConnection: close\r\n")?;
            headers.iter().try_for_each(|header| write!(stream, "{header}\r\n"))?;
            write!(stream, "Content-Length: {}\r\n\r\n", body.len())?;
            stream.write_all(body)
        }
        Reply::Half | Reply::Reset => write!(
            stream,
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n{{\"version\""
        ),
    }
}

fn read(stream: &TcpStream) -> std::io::Result<Asked> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let line = first.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let mut asked = Asked { line, ..Asked::default() };
    loop {
        let mut text = String::new();
        reader.read_line(&mut text)?;
        // The empty line after the headers has no colon.
        let Some((name, value)) = text.split_once(':') else { break };
        asked.headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = asked.headers.get("content-length").and_then(|length| length.parse().ok());
    asked.body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut asked.body)?;
    Ok(asked)
}

/// Makes a backend of arguments, in an empty environment.
pub(crate) fn configured(kind: &str, arguments: &[(&str, Value)]) -> Arc<dyn Backend> {
    configured_in(kind, arguments, &[]).unwrap()
}

/// Makes a backend of arguments and environment variables.
pub(crate) fn configured_in(
    kind: &str,
    arguments: &[(&str, Value)],
    variables: &[(&str, &str)],
) -> Result<Arc<dyn Backend>, ConfigError> {
    let kind = find(kind).unwrap();
    let given = arguments.iter().map(|(name, value)| (Str::new(name), value.clone()));
    let given = Value::object(given.collect::<Vec<_>>());
    let values = kind.schema().coerce(&given).unwrap();
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let environment = BackendEnvironment {
        root: "unused".into(),
        variables: variables.collect(),
        ..BackendEnvironment::default()
    };
    kind.configure(&Arguments { values: &values, environment: &environment })
}

/// A state of a serial.
pub(crate) fn state(serial: u64) -> StateFile {
    StateFile { serial, lineage: "one".to_owned(), ..StateFile::fresh() }
}

/// The text of a state of a serial.
pub(crate) fn text(serial: u64) -> Vec<u8> {
    state(serial).write()
}
