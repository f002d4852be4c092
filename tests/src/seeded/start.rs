//! Faults that are committed before the provider serves.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::net::{TcpStream, UdpSocket};
use std::os::fd::AsFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

/// The stdout of the process, which a server closes.
static STDOUT: OnceLock<File> = OnceLock::new();

/// Keeps stdout open under another number.
///
/// # Panics
/// When the process has no stdout.
pub fn keep_stdout() {
    STDOUT.get_or_init(|| {
        let stdout = io::stdout().as_fd().try_clone_to_owned();
        File::from(stdout.expect("the process has a stdout"))
    });
}

/// Prints a line to the stdout that was kept.
pub(super) fn print_late() {
    if let Some(mut stdout) = STDOUT.get() {
        drop(stdout.write_all(b"a line after the handshake\n"));
    }
}

/// The variable that marks the second start of a program that has replaced itself.
const AGAIN: &str = "SOUND_AGAIN";

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some()
}

/// Ends the process.
#[expect(clippy::exit, reason = "the faults are about processes that end")]
fn end(code: i32) -> ! {
    std::process::exit(code)
}

/// A directory of the environment, or the temporary one.
fn directory(name: &str) -> PathBuf {
    std::env::var_os(name).map_or_else(std::env::temp_dir, PathBuf::from)
}

/// Ends silently if there is no host.
pub(super) fn quiet_without_host() {
    if !is_set("TF_PLUGIN_MAGIC_COOKIE") {
        end(0);
    }
}

/// Replaces the process by this program with other variables.
fn reexec(changes: &[(&str, &str)]) {
    if is_set(AGAIN) {
        return;
    }
    let program = std::env::current_exe().expect("the program has a path");
    let mut command = Command::new(program);
    command.env(AGAIN, "1").envs(changes.iter().copied());
    panic!("the program cannot be replaced: {}", command.exec());
}

/// Serves protocol 6 where only 5 is offered, and the other way round.
pub(super) fn other_version() {
    match std::env::var("PLUGIN_PROTOCOL_VERSIONS").as_deref() {
        Ok("5") => reexec(&[("PLUGIN_PROTOCOL_VERSIONS", "6")]),
        Ok("6") => reexec(&[("PLUGIN_PROTOCOL_VERSIONS", "5")]),
        _ => {}
    }
}

/// Starts late.
pub(super) fn late() {
    thread::sleep(Duration::from_millis(1_200));
}

/// Ends when the host does without TLS.
pub(super) fn insists_on_tls() {
    if is_set("TF_PLUGIN_MAGIC_COOKIE") && !is_set("PLUGIN_CLIENT_CERT") {
        end(1);
    }
}

/// Listens on a socket that every user may connect to.
pub(super) fn open_socket() {
    let path = directory("PLUGIN_UNIX_SOCKET_DIR").join(format!("open-{}", std::process::id()));
    let listener = UnixListener::bind(&path).expect("a socket can be made");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).expect("this test owns it");
    let mut stdout = io::stdout();
    let line = format!("1|6|unix|{}|grpc|{}\n", path.display(), "A".repeat(80));
    drop(stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush()));
    let _connections: Vec<_> = listener.incoming().collect();
}

/// Leaves a file in the directory for temporary files.
pub(super) fn leaves_file() {
    fs::write(std::env::temp_dir().join("left-behind"), "x").expect("it can be written");
}

/// Writes a cache outside of the directory for temporary files.
pub(super) fn writes_cache() {
    drop(fs::write(directory("SOUND_OBJECTS").join("cache"), "x"));
}

/// Writes a file into the home directory.
pub(super) fn write_home() {
    drop(fs::write(directory("HOME").join("configured"), "x"));
}

/// Runs below a shell that an interrupt ends.
pub(super) fn ends_on_interrupt() {
    if is_set(AGAIN) {
        return;
    }
    let script = "\"$0\" & trap \"kill $!; exit 2\" INT; wait $!";
    let program = std::env::current_exe().expect("the program has a path");
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]).arg(program).env(AGAIN, "1");
    panic!("the shell cannot be started: {}", command.exec());
}

/// Starts a child in a process group of its own, and does not end it.
pub(super) fn leaves_child() {
    let mut command = Command::new("/bin/sleep");
    command.arg("8").stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    command.process_group(0);
    drop(command.spawn().expect("a child can be started"));
}

/// Ends the process half a second after its start.
pub(super) fn ends_soon() {
    thread::spawn(|| {
        thread::sleep(Duration::from_millis(700));
        end(3);
    });
}

/// Opens a connection over the address of this machine in its network.
pub(super) fn connects() {
    let request = || {
        let socket = UdpSocket::bind("0.0.0.0:0")?;
        socket.connect("192.0.2.1:9")?;
        let listener = std::net::TcpListener::bind((socket.local_addr()?.ip(), 0))?;
        let stream = TcpStream::connect(listener.local_addr()?)?;
        io::Result::Ok((listener, stream))
    };
    match request() {
        Ok(both) => drop(thread::spawn(move || {
            let _both = both;
            loop {
                thread::park();
            }
        })),
        Err(error) => panic!("this machine has no network: {error}"),
    }
}

/// Ends when another process with this directory runs.
pub(super) fn only_process() {
    static LOCK: OnceLock<File> = OnceLock::new();
    let path = directory("SOUND_OBJECTS").join("alone");
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path);
    let file = file.expect("the directory can be written");
    if file.try_lock().is_err() {
        end(1);
    }
    LOCK.get_or_init(|| file);
}

/// Ends without a home directory.
pub(super) fn needs_home() {
    if !is_set("HOME") {
        end(1);
    }
}

/// Panics when the directory for temporary files cannot be used.
pub(super) fn needs_temporary_dir() {
    let file = std::env::temp_dir().join(format!("probe-{}", std::process::id()));
    fs::write(&file, "x")
        .and_then(|()| fs::remove_file(&file))
        .expect("temporary files are needed");
}

/// Starts another program, which ends soon.
pub(super) fn spawns_program() {
    let mut command = Command::new("/bin/sleep");
    command.arg("3").stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    drop(command.spawn().expect("a child can be started"));
}
