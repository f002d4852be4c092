//! Faults that no correct encoder can be made to commit: a go-between that changes bytes on their way
//! from a good provider to the host. Every change keeps the length, so all framing stays valid.
//!
//! It cannot read TLS: the host must have been told to do without.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread;

use formwork_tests::fault::Fault;

use crate::start::{print, socket};

/// The variable that tells the good provider behind the go-between that it is the one.
pub(crate) const INNER: &str = "BAD_BEHIND_GO_BETWEEN";

/// The length of the name that makes room for a deep type.
pub(crate) const DEEP: usize = 10_000;

/// What is to be found, and what comes in its place.
#[derive(Clone, Debug)]
pub(crate) struct Tampering {
    find: Vec<u8>,
    put: Vec<u8>,
}

/// Returns the change that the fault consists of, if it is one of that kind.
pub(crate) fn of(fault: Fault) -> Option<Tampering> {
    let (find, put): (Vec<u8>, Vec<u8>) = match fault {
        Fault::SchemaTypeNotJson => (b"\"number\"".to_vec(), b"{number\"".to_vec()),
        Fault::SchemaTypeUnknown => (b"\"number\"".to_vec(), b"\"nosuch\"".to_vec()),
        Fault::SchemaTypeDeep => {
            let find = format!("[\"object\",{{\"{}\":\"string\"}}]", "x".repeat(DEEP));
            let levels = (find.len() - 10) / r#"["list",]"#.len();
            let put = format!("{}\"string\"{}", "[\"list\",".repeat(levels), "]".repeat(levels));
            let put = format!("{put:<width$}", width = find.len());
            (find.into_bytes(), put.into_bytes())
        }
        // Field 2 of the schema after an entry's key becomes field 3, which nobody knows.
        Fault::SchemaNoBlock => (Vec::new(), Vec::new()),
        Fault::SchemaDuplicate => (b"\x0a\x04name".to_vec(), b"\x0a\x04kind".to_vec()),
        Fault::ApplyInvalidText => (b"UTF8-HERE".to_vec(), b"UTF8-\xff\xfe\xfd\xfc".to_vec()),
        Fault::ApplyStrangeSeverity => {
            (b"\x08\x02\x12\x07strange".to_vec(), b"\x08\x63\x12\x07strange".to_vec())
        }
        _ => return None,
    };
    Some(Tampering { find, put })
}

/// Runs a good provider, and stands between it and the host until it ends.
pub(crate) fn serve(tampering: Tampering) -> ExitCode {
    let program = std::env::current_exe().expect("we run from somewhere");
    let mut good = Command::new(program)
        .env(INNER, "1")
        .stdout(Stdio::piped())
        .spawn()
        .expect("we can run again");
    let mut handshake = String::new();
    let stdout = good.stdout.take().expect("a pipe");
    BufReader::new(stdout).read_line(&mut handshake).expect("a handshake");
    let fields: Vec<&str> = handshake.trim_end().split('|').collect();
    let behind = PathBuf::from(fields.get(3).expect("an address"));
    let path = socket("between");
    let listener = UnixListener::bind(&path).expect("a socket");
    thread::spawn(move || accept(&listener, &behind, &tampering));
    print(&format!("1|{}|unix|{}|grpc|\n", fields[1], path.display()));
    match good.wait() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn accept(listener: &UnixListener, behind: &Path, tampering: &Tampering) {
    for host in listener.incoming().flatten() {
        let good = UnixStream::connect(behind).expect("the good one listens");
        let (mut host_in, mut good_out) = (clone(&host), clone(&good));
        thread::spawn(move || {
            // Either side may be gone at any time; then there is nothing more to carry.
            match io::copy(&mut host_in, &mut good_out) {
                Ok(_) | Err(_) => hang_up(&good_out),
            }
        });
        let tampering = tampering.clone();
        thread::spawn(move || match carry(good, &host, &tampering) {
            Ok(()) | Err(_) => hang_up(&host),
        });
    }
}

fn carry(mut from: UnixStream, mut to: &UnixStream, tampering: &Tampering) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        let bytes = &mut buffer[..read];
        tampering.tamper(bytes);
        to.write_all(bytes)?;
    }
}

impl Tampering {
    fn tamper(&self, bytes: &mut [u8]) {
        if self.find.is_empty() {
            return drop_block(bytes);
        }
        let length = self.find.len();
        let mut at = 0;
        while at + length <= bytes.len() {
            if bytes[at..at + length] == self.find[..] {
                bytes[at..at + length].copy_from_slice(&self.put);
                at += length;
            } else {
                at += 1;
            }
        }
    }
}

/// Renames the field that holds the content of `bad_thing`, in a map entry: key, schema, content.
fn drop_block(bytes: &mut [u8]) {
    let key = b"\x0a\x09bad_thing\x12";
    let Some(at) = bytes.windows(key.len()).position(|window| window == key) else { return };
    let mut at = at + key.len();
    // Past the schema's length.
    while bytes.get(at).is_some_and(|byte| byte & 0x80 != 0) {
        at += 1;
    }
    if let Some(tag @ 0x12) = bytes.get_mut(at + 1) {
        *tag = 0x1a;
    }
}

fn clone(stream: &UnixStream) -> UnixStream {
    stream.try_clone().expect("descriptors are left")
}

fn hang_up(stream: &UnixStream) {
    match stream.shutdown(Shutdown::Both) {
        Ok(()) | Err(_) => (),
    }
}
