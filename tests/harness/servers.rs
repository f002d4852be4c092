//! Servers that keep states, for one test: real programs on ports that the system chose. Each ends when it
//! is dropped.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::Installed;

/// A server of PostgreSQL.
pub(crate) struct Postgres(Installed);

impl Postgres {
    /// Starts a server, and waits until it accepts connections. Returns `None` and reports it if it is not
    /// installed.
    pub(crate) fn start() -> Option<Self> {
        let server = Installed::start(|program| Command::new(program), &[], &[])?;
        while open_session(server.port).is_err() {
            std::thread::yield_now();
        }
        Some(Self(server))
    }

    /// The address as the backend has it.
    pub(crate) fn conn_str(&self) -> String {
        self.conn_str_of("postgres")
    }

    /// Makes a database. Returns its address.
    pub(crate) fn make_database(&self, name: &str) -> String {
        self.execute(&format!("CREATE DATABASE {name}"));
        self.conn_str_of(name)
    }

    /// Executes statements as the user who may do everything.
    pub(crate) fn execute(&self, statements: &str) {
        let mut stream = open_session(self.0.port).expect("the server takes sessions");
        send(&mut stream, Some(b'Q'), &[statements.as_bytes(), b"\0"])
            .and_then(|()| until_ready(&mut stream))
            .unwrap_or_else(|error| panic!("{statements}: {error}"));
    }

    fn conn_str_of(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}?sslmode=disable", self.0.port)
    }

    /// A configuration whose state is here.
    pub(crate) fn config(&self, resource: &str) -> String {
        let conn_str = self.conn_str();
        format!(
            "terraform {{\n  backend \"pg\" {{\n    conn_str = \"{conn_str}\"\n  }}\n}}\n{resource}"
        )
    }
}

/// Opens a session with the protocol's version 3.
fn open_session(port: u16) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    let version = 196_608_u32.to_be_bytes();
    send(&mut stream, None, &[&version, b"user\0postgres\0database\0postgres\0\0"])?;
    until_ready(&mut stream)?;
    Ok(stream)
}

/// Sends a message. The first one of a session has no type.
fn send(stream: &mut TcpStream, kind: Option<u8>, body: &[&[u8]]) -> io::Result<()> {
    let body = body.concat();
    let length = u32::try_from(body.len() + 4).expect("it is short");
    let kind: Vec<u8> = kind.into_iter().collect();
    stream.write_all(&[&kind[..], &length.to_be_bytes(), &body].concat())
}

/// Reads messages until the server is ready for the next statement. One with an error ends it.
fn until_ready(stream: &mut TcpStream) -> io::Result<()> {
    loop {
        let mut head = [0; 5];
        stream.read_exact(&mut head)?;
        let [kind, length @ ..] = head;
        let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
        stream.read_exact(&mut body)?;
        match kind {
            b'E' => return Err(io::Error::other(String::from_utf8_lossy(&body).into_owned())),
            b'Z' => return Ok(()),
            _ => {}
        }
    }
}

/// A server with the protocol of an object store.
pub(crate) struct ObjectStore {
    /// The address, without a slash at the end.
    pub(crate) url: String,
    process: Child,
}

impl ObjectStore {
    /// Starts a server with S3, DynamoDB and STS. Returns `None` and reports it if moto is not installed.
    pub(crate) fn s3() -> Option<Self> {
        Self::moto(&[])
    }

    /// Starts one that checks signatures and policies. Returns the key of a user who may do everything,
    /// and its secret. The bucket of this name exists.
    pub(crate) fn signed_s3(bucket: &str) -> Option<(Self, String, String)> {
        // So many requests pass without a signature: those below.
        let store = Self::moto(&[("INITIAL_NO_AUTH_ACTION_COUNT", "4")])?;
        let iam = |action: &str| {
            let headers = "Content-Type: application/x-www-form-urlencoded\r\nAuthorization: AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=0\r\n";
            store.send_request(
                "POST /",
                headers,
                &format!("Action={action}&UserName=u&Version=2010-05-08"),
            )
        };
        let policy = "%7B%22Version%22%3A%222012-10-17%22%2C%22Statement%22%3A%5B%7B%22Effect%22%3A%22Allow%22%2C%22Action%22%3A%22%2A%22%2C%22Resource%22%3A%22%2A%22%7D%5D%7D";
        iam("CreateUser");
        let key = iam("CreateAccessKey");
        iam(&format!("PutUserPolicy&PolicyName=p&PolicyDocument={policy}"));
        store.make_bucket(bucket);
        let part = |name: &str| {
            let (_, rest) = key.split_once(&format!("<{name}>")).expect("the key is made");
            rest.split('<').next().unwrap_or_default().to_owned()
        };
        let (id, secret) = (part("AccessKeyId"), part("SecretAccessKey"));
        Some((store, id, secret))
    }

    fn moto(variables: &[(&str, &str)]) -> Option<Self> {
        let program = installed("moto_server", "s3")?;
        let mut command = Command::new(program);
        command.envs(variables.iter().copied());
        command.args(["-H", "127.0.0.1", "-p", "0"]).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("it runs");
        let log = BufReader::new(process.stderr.take().expect("its log is a pipe"));
        let mut lines = log.lines().map_while(Result::ok);
        let running = lines.find_map(|line| {
            let (_, url) = line.split_once("Running on ")?;
            Some(url.trim().to_owned())
        });
        // The server would block if its output were not read.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self { url: running.expect("moto did not start"), process })
    }

    /// Makes a bucket.
    pub(crate) fn make_bucket(&self, name: &str) {
        self.send_request(&format!("PUT /{name}"), "", "");
    }

    /// Makes a key for encryption. Returns its id.
    pub(crate) fn make_encryption_key(&self) -> String {
        let headers = "X-Amz-Target: TrentService.CreateKey\r\nContent-Type: application/x-amz-json-1.1\r\nAuthorization: AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/20260101/us-east-1/kms/aws4_request, SignedHeaders=host, Signature=0\r\n";
        let answer = self.send_request("POST /", headers, "{}");
        let (_, rest) = answer
            .split_once("\"KeyId\": \"")
            .or_else(|| answer.split_once("\"KeyId\":\""))
            .expect("the key is made");
        rest.split('"').next().unwrap_or_default().to_owned()
    }

    /// Makes a table with the key that locks of Terraform have.
    pub(crate) fn make_table(&self, name: &str) {
        let input = format!(
            "{{\"TableName\":\"{name}\",\"KeySchema\":[{{\"AttributeName\":\"LockID\",\"KeyType\":\"HASH\"}}],\"AttributeDefinitions\":[{{\"AttributeName\":\"LockID\",\"AttributeType\":\"S\"}}],\"BillingMode\":\"PAY_PER_REQUEST\"}}"
        );
        let headers = "X-Amz-Target: DynamoDB_20120810.CreateTable\r\nContent-Type: application/x-amz-json-1.0\r\nAuthorization: AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0\r\n";
        self.send_request("POST /", headers, &input);
    }

    /// Sends a request, which must succeed. Returns the answer.
    fn send_request(&self, request: &str, headers: &str, body: &str) -> String {
        let host = self.url.strip_prefix("http://").expect("it has no TLS");
        let mut stream = TcpStream::connect(host).expect("it listens");
        let length = body.len();
        write!(
            stream,
            "{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        )
        .expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        assert!(answer.starts_with("HTTP/1.1 200"), "{request}: {answer}");
        answer
    }
}

impl Drop for ObjectStore {
    fn drop(&mut self) {
        self.process.kill().and_then(|()| self.process.wait()).expect("this test owns it");
    }
}

/// A program that `.ci/run` installs for the tests.
pub(super) fn installed(program: &str, backend: &str) -> Option<PathBuf> {
    let servers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/servers");
    let directories =
        ["bin", "node_modules/.bin"].map(|directory| servers.join(directory).join(program));
    if let Some(path) = directories.into_iter().find(|path| path.exists()) {
        return Some(path);
    }
    let warning = format!(
        "\n!!! {program} is missing (.ci/run installs it): the backend {backend} has NOT been tested against a real server !!!\n\n"
    );
    // Not by a macro: its output is hidden when the test passes.
    let _written = io::stderr().write_all(warning.as_bytes());
    None
}
