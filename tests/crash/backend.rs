//! The location of the state: the directory, or a server that outlives it.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use formwork_tests::http::{self, Request};
use formwork_tests::http_state::StoredState;

use crate::installed::Installed;
use crate::network::Network;

/// A type of backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackendKind {
    /// A file in the directory.
    Local,
    /// A row in a table of PostgreSQL.
    Pg,
    /// An object in a bucket of moto.
    S3,
    /// An object in a bucket of fake-gcs-server.
    Gcs,
    /// A state at a URL, with the journals next to it.
    Http,
}

impl BackendKind {
    /// Reads the value of the option.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        match text {
            "local" => Ok(Self::Local),
            "pg" => Ok(Self::Pg),
            "s3" => Ok(Self::S3),
            "gcs" => Ok(Self::Gcs),
            "http" => Ok(Self::Http),
            unknown => Err(format!("{unknown} is not a backend of this test")),
        }
    }
}

/// A server that keeps states, and the network to it.
pub(crate) struct Server {
    program: ServerProgram,
    network: Option<Network>,
}

enum ServerProgram {
    Nothing,
    Pg(Installed),
    S3(ObjectServer),
    Gcs(ObjectServer),
    Http(HttpServer),
}

/// A server that keeps objects, with the bucket `states`.
pub(crate) struct ObjectServer {
    address: SocketAddr,
    process: Child,
}

/// A server of this process that keeps states by their paths.
struct HttpServer {
    address: SocketAddr,
}

impl Server {
    /// Starts the server of a backend, and waits until it answers.
    pub(crate) fn start(kind: BackendKind) -> Result<Self, Box<dyn Error>> {
        let program = ServerProgram::start(kind)?;
        let network = program.address().map(Network::start).transpose()?;
        Ok(Self { program, network })
    }

    /// Cuts the network to the server, or mends it.
    pub(crate) fn set_cut(&self, is_cut: bool) {
        self.network.iter().for_each(|network| network.set_cut(is_cut));
    }

    /// The block of the backend, with the state of a number.
    pub(crate) fn block(&self, state: usize) -> Option<String> {
        let port = self.network.as_ref()?.port;
        let arguments = match &self.program {
            ServerProgram::Nothing => return None,
            ServerProgram::Pg(_) => format!(
                "\"pg\" {{\n    conn_str = \"postgres://postgres@127.0.0.1:{port}/postgres?sslmode=disable\"\n    schema_name = \"states_{state}\"\n"
            ),
            ServerProgram::S3(_) => format!(
                "\"s3\" {{\n    bucket = \"states\"\n    key = \"{state}.tfstate\"\n    region = \"us-east-1\"\n    access_key = \"AKIAEXAMPLE\"\n    secret_key = \"secret\"\n    use_path_style = true\n    use_lockfile = true\n    skip_credentials_validation = true\n    skip_requesting_account_id = true\n    skip_metadata_api_check = true\n    endpoints = {{ s3 = \"http://127.0.0.1:{port}\" }}\n"
            ),
            ServerProgram::Gcs(_) => format!(
                "\"gcs\" {{\n    bucket = \"states\"\n    prefix = \"{state}\"\n    access_token = \"token\"\n    storage_custom_endpoint = \"http://127.0.0.1:{port}/storage/v1/b\"\n"
            ),
            ServerProgram::Http(_) => {
                let names = ["address", "lock_address", "unlock_address"];
                let line =
                    |name: &str| format!("    {name} = \"http://127.0.0.1:{port}/{state}\"\n");
                format!("\"http\" {{\n{}", names.map(line).concat())
            }
        };
        Some(format!("terraform {{\n  backend {arguments}  }}\n}}\n"))
    }
}

impl ServerProgram {
    fn start(kind: BackendKind) -> Result<Self, Box<dyn Error>> {
        match kind {
            BackendKind::Local => Ok(Self::Nothing),
            BackendKind::Pg => {
                let started = Installed::start(|program| Command::new(program), &[], &[]);
                let server = started.ok_or("PostgreSQL is not installed")?;
                while !answers(server.port).unwrap_or(false) {
                    std::thread::yield_now();
                }
                Ok(Self::Pg(server))
            }
            BackendKind::S3 => ObjectServer::start_moto().map(Self::S3),
            BackendKind::Gcs => ObjectServer::start_gcs().map(Self::Gcs),
            BackendKind::Http => Ok(Self::Http(HttpServer::start()?)),
        }
    }

    /// The address of the server.
    fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Nothing => None,
            Self::Pg(server) => Some(([127, 0, 0, 1], server.port).into()),
            Self::S3(server) | Self::Gcs(server) => Some(server.address),
            Self::Http(server) => Some(server.address),
        }
    }
}

impl HttpServer {
    /// Starts a server that ends with the process.
    fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        std::thread::spawn(move || {
            let mut states = BTreeMap::new();
            for stream in listener.incoming().flatten() {
                // A client that was killed gets no answer.
                Self::serve(&stream, &mut states).ok();
            }
        });
        Ok(Self { address })
    }

    fn serve(
        stream: &TcpStream,
        states: &mut BTreeMap<String, StoredState>,
    ) -> std::io::Result<()> {
        let Some(request) = Request::read(&mut BufReader::new(stream))? else { return Ok(()) };
        let path = request.target.split(['.', '?']).next().unwrap_or_default().to_owned();
        let new = || StoredState { parts: Some(BTreeMap::new()), ..StoredState::default() };
        let answer = states.entry(path).or_insert_with(new).answer(request);
        let headers = ["Connection: close", answer.content_type];
        http::answer(stream, answer.status, &headers, &answer.body)
    }
}

/// Whether PostgreSQL accepts a session: requests one with protocol version 3.
fn answers(port: u16) -> std::io::Result<bool> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    let parameters = b"user\0postgres\0database\0postgres\0\0";
    let length = u32::try_from(parameters.len() + 8).map_err(std::io::Error::other)?;
    stream.write_all(&length.to_be_bytes())?;
    stream.write_all(&196_608_u32.to_be_bytes())?;
    stream.write_all(parameters)?;
    let mut kind = [0];
    stream.read_exact(&mut kind)?;
    Ok(kind == *b"R")
}

impl ObjectServer {
    fn start_moto() -> Result<Self, Box<dyn Error>> {
        let (process, line) =
            start_program("moto_server", &["-H", "127.0.0.1", "-p", "0"], "Running on ")?;
        let host = line.split_once("Running on http://").ok_or("moto did not start")?.1;
        let server = Self { address: host.trim().trim_end_matches('/').parse()?, process };
        server.make_bucket("PUT /states", "")?;
        Ok(server)
    }

    fn start_gcs() -> Result<Self, Box<dyn Error>> {
        // The server does not report the port that the system chose.
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let (port, host) = (address.port().to_string(), address.to_string());
        let arguments = [
            ["-scheme", "http"],
            ["-host", "127.0.0.1"],
            ["-backend", "memory"],
            ["-port", &port],
            ["-public-host", &host],
        ];
        let (process, _) =
            start_program("fake-gcs-server", arguments.as_flattened(), "server started at")?;
        let server = Self { address, process };
        server.make_bucket("POST /storage/v1/b", "{\"name\":\"states\"}")?;
        Ok(server)
    }

    fn make_bucket(&self, call: &str, body: &str) -> Result<(), Box<dyn Error>> {
        let host = self.address;
        let mut stream = TcpStream::connect(host)?;
        write!(
            stream,
            "{call} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(())
    }
}

/// Starts a server, and waits for a line of its log with these words.
fn start_program(
    name: &str,
    arguments: &[&str],
    words: &str,
) -> Result<(Child, String), Box<dyn Error>> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/servers/bin").join(name);
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut process = command.spawn().map_err(|error| format!("{name}: {error}"))?;
    let log = process.stderr.take().ok_or("its log is a pipe")?;
    let mut lines = BufReader::new(log).lines().map_while(Result::ok);
    let line = lines.find(|line| line.contains(words));
    // The server would block if its output were not read.
    std::thread::spawn(move || lines.for_each(drop));
    Ok((process, line.ok_or_else(|| format!("{name} did not start"))?))
}

impl Drop for ObjectServer {
    fn drop(&mut self) {
        self.process.kill().and_then(|()| self.process.wait()).ok();
    }
}

/// The id of a lock that a message describes; `None` if the lock ends with its connection.
pub(crate) fn lock_id(text: &str) -> Option<&str> {
    let (_, info) = text.split_once("Lock Info:")?;
    info.split("ID:").nth(1)?.split_whitespace().next()
}
