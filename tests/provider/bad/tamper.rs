//! Faults that no correct encoder can produce: a proxy changes bytes between a valid provider and
//! the host. Every change keeps the length, so all framing remains valid.
//!
//! The proxy cannot read TLS: the host must run without it.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;

use formwork_tests::fault::Fault;

use crate::start::{print, socket};

/// The variable that marks the valid provider behind the proxy.
pub(crate) const INNER: &str = "BAD_BEHIND_GO_BETWEEN";

/// The length of the name that is replaced by a deep type.
pub(crate) const DEEP: usize = 10_000;

/// The change of the bytes.
#[derive(Clone, Debug)]
pub(crate) enum Tampering {
    /// Replaces the found bytes with others of the same length.
    Swap { find: Vec<u8>, put: Vec<u8> },
    /// Replaces the number of the field that ends so many bytes before the found ones with an
    /// unknown number.
    Hide { before: usize, find: Vec<u8> },
    /// The content of `bad_thing` is hidden likewise.
    HideContent,
    /// When it is found, all connections end, and there will be no other.
    HangUp { find: Vec<u8> },
}

/// The number of a field of bytes that no message has.
const UNKNOWN_FIELD: u8 = 15 << 3 | 2;

/// Returns the change of bytes of the fault, if it is such a fault.
pub(crate) fn tampering_for_fault(fault: Fault) -> Option<Tampering> {
    let (find, put): (Vec<u8>, Vec<u8>) = match fault {
        Fault::SchemaNoBlock => return Some(Tampering::HideContent),
        // Three messages around the name, each with one byte for its field and one for its length.
        Fault::SchemaNoProvider => {
            return Some(Tampering::Hide { before: 6, find: b"\x0a\x06region".to_vec() });
        }
        Fault::SchemaNoType => {
            let find = b"\x12\x08\"string\"".to_vec();
            let put = [&[UNKNOWN_FIELD], &find[1..]].concat();
            let name = b"typeless";
            ([name, &find[..]].concat(), [name, &put[..]].concat())
        }
        // Optional, sensitive and deprecated become optional, required and computed.
        Fault::SchemaRoles => {
            (b"\x28\x01\x38\x01\x48\x01".to_vec(), b"\x28\x01\x20\x01\x30\x01".to_vec())
        }
        Fault::ApplyHangsUp => return Some(Tampering::HangUp { find: b"HANG-UP".to_vec() }),
        Fault::SchemaTypeNotJson => (b"\"number\"".to_vec(), b"{number\"".to_vec()),
        Fault::SchemaTypeUnknown => (b"\"number\"".to_vec(), b"\"nosuch\"".to_vec()),
        Fault::SchemaTypeDeep => {
            let find = format!("[\"object\",{{\"{}\":\"string\"}}]", "x".repeat(DEEP));
            let levels = (find.len() - 10) / r#"["list",]"#.len();
            let put = format!("{}\"string\"{}", "[\"list\",".repeat(levels), "]".repeat(levels));
            let put = format!("{put:<width$}", width = find.len());
            (find.into_bytes(), put.into_bytes())
        }
        Fault::SchemaDuplicate => (b"\x0a\x04name".to_vec(), b"\x0a\x04kind".to_vec()),
        Fault::ApplyInvalidText => (b"UTF8-HERE".to_vec(), b"UTF8-\xff\xfe\xfd\xfc".to_vec()),
        Fault::ApplyStrangeSeverity => {
            (b"\x08\x02\x12\x07strange".to_vec(), b"\x08\x63\x12\x07strange".to_vec())
        }
        _ => return None,
    };
    Some(Tampering::Swap { find, put })
}

/// Runs a valid provider, and forwards between it and the host until it ends.
pub(crate) fn serve(tampering: Tampering) -> ExitCode {
    let (mut sound_process, handshake) = start_sound_process();
    let sound_socket = PathBuf::from(&handshake[3]);
    let path = socket("between");
    let listener = UnixListener::bind(&path).expect("a socket");
    print(&format!("1|{}|unix|{}|grpc|\n", handshake[1], path.display()));
    thread::spawn(move || accept(&listener, &path, &sound_socket, &tampering));
    wait_for(&mut sound_process)
}

/// Runs two valid providers, and announces one with the certificate of the other.
pub(crate) fn serve_as_another() -> ExitCode {
    let (mut sound_process, mut handshake) = start_sound_process();
    let (mut other_process, other_handshake) = start_sound_process();
    handshake[5].clone_from(&other_handshake[5]);
    print(&format!("{}\n", handshake.join("|")));
    let code = wait_for(&mut sound_process);
    other_process.kill().and_then(|()| other_process.wait()).expect("this test owns it");
    code
}

/// Starts a valid provider and returns the fields of its handshake.
fn start_sound_process() -> (Child, Vec<String>) {
    let program = std::env::current_exe().expect("we run from somewhere");
    let mut sound_process = Command::new(program)
        .env(INNER, "1")
        .stdout(Stdio::piped())
        .spawn()
        .expect("we can run again");
    let mut handshake = String::new();
    let stdout = sound_process.stdout.take().expect("a pipe");
    BufReader::new(stdout).read_line(&mut handshake).expect("a handshake");
    (sound_process, handshake.trim_end().split('|').map(str::to_owned).collect())
}

fn wait_for(sound_process: &mut Child) -> ExitCode {
    match sound_process.wait() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn accept(listener: &UnixListener, path: &Path, sound_socket: &Path, tampering: &Tampering) {
    for host in listener.incoming().flatten() {
        let path = path.to_owned();
        let sound_stream = UnixStream::connect(sound_socket).expect("the good one listens");
        let (mut host_in, mut good_out) = (clone(&host), clone(&sound_stream));
        thread::spawn(move || {
            // Either side may close at any time; then there is nothing more to forward.
            match io::copy(&mut host_in, &mut good_out) {
                Ok(_) | Err(_) => hang_up(&good_out),
            }
        });
        let tampering = tampering.clone();
        thread::spawn(move || match forward_bytes(sound_stream, &host, &tampering) {
            Ok(false) | Err(_) => hang_up(&host),
            Ok(true) => {
                fs::remove_file(path).expect("the socket is there");
                hang_up(&host);
            }
        });
    }
}

/// Forwards bytes until they end, or until the change ends the connection: returns whether it does.
fn forward_bytes(
    mut from: UnixStream,
    mut to: &UnixStream,
    tampering: &Tampering,
) -> io::Result<bool> {
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            return Ok(false);
        }
        let bytes = &mut buffer[..read];
        if tampering.tamper(bytes) {
            return Ok(true);
        }
        to.write_all(bytes)?;
    }
}

impl Tampering {
    /// Applies the change. Returns whether the connection must end.
    fn tamper(&self, bytes: &mut [u8]) -> bool {
        match self {
            Self::Swap { find, put } => {
                let mut start = 0;
                while let Some(position) = position(&bytes[start..], find) {
                    let (from, to) = (start + position, start + position + find.len());
                    bytes[from..to].copy_from_slice(put);
                    start = to;
                }
            }
            Self::Hide { before, find } => {
                let position =
                    position(bytes, find).and_then(|position| position.checked_sub(*before));
                if let Some(position) = position {
                    bytes[position] = UNKNOWN_FIELD;
                }
            }
            Self::HideContent => hide_content(bytes),
            Self::HangUp { find } => return position(bytes, find).is_some(),
        }
        false
    }
}

fn position(bytes: &[u8], find: &[u8]) -> Option<usize> {
    bytes.windows(find.len()).position(|window| window == find)
}

/// Renames the field that holds the content of `bad_thing`, in a map entry: key, schema, content.
fn hide_content(bytes: &mut [u8]) {
    let key = b"\x0a\x09bad_thing\x12";
    let Some(position) = position(bytes, key) else { return };
    let mut position = position + key.len();
    // Past the schema's length.
    while bytes.get(position).is_some_and(|byte| byte & 0x80 != 0) {
        position += 1;
    }
    if let Some(tag @ 0x12) = bytes.get_mut(position + 1) {
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
