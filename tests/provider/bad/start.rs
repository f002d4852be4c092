//! Faults of a process before its first call: other output instead of a handshake.

use std::fs::File;
use std::io::{self, BufRead as _, Write as _};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use formwork_tests::fault::Fault;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, dup};

/// Performs the fault instead of serving; `None` if the fault requires serving.
#[expect(clippy::print_stderr, reason = "its words on stderr are what a test looks for")]
pub(crate) fn run_start_fault(fault: Fault) -> Option<ExitCode> {
    let certificate = "A".repeat(80);
    match fault {
        Fault::StartJunk => print_line("Hello, I am not a plugin.\n"),
        Fault::StartLogLine => {
            print("loading the configuration\n");
            return None;
        }
        Fault::StartExit => {
            eprintln!("the licence has expired");
            return Some(ExitCode::from(7));
        }
        Fault::StartExitZero => return Some(ExitCode::SUCCESS),
        Fault::StartKilled => {
            crash_process();
            return None;
        }
        Fault::StartPanics => panic!("the start went wrong"),
        Fault::StartSilent => wait(),
        Fault::StartHalfLine => print_line("1|6|unix|/half"),
        Fault::StartLongLine => print_line(&"y".repeat(200_000)),
        Fault::StartCoreVersion => print_line("2|6|unix|/socket|grpc|\n"),
        Fault::StartProtocol => print_line("1|4|unix|/socket|grpc|\n"),
        Fault::StartNetRpc => print_line("1|6|unix|/socket|netrpc|\n"),
        Fault::StartNetwork => print_line("1|6|vsock|2:3|grpc|\n"),
        Fault::StartRemote => print_line("1|6|tcp|192.0.2.1:443|grpc|\n"),
        Fault::StartNoCertificate => print_line("1|6|unix|/socket|grpc|\n"),
        Fault::StartBadCertificate => {
            print_line(&format!("1|6|unix|/socket|grpc|{}\n", "*".repeat(80)));
        }
        Fault::StartNoSocket => print_line(&format!("1|6|unix|/nowhere|grpc|{certificate}\n")),
        Fault::StartDeadPort => print_line(&format!("1|6|tcp|127.0.0.1:1|grpc|{certificate}\n")),
        Fault::StartMute => {
            let path = socket("mute");
            let listener = UnixListener::bind(&path).expect("a socket");
            print(&format!("1|6|unix|{}|grpc|{certificate}\n", path.display()));
            let _connections: Vec<_> = listener.incoming().collect();
        }
        Fault::StartReadsStdin => {
            // Without input, this returns immediately.
            let mut line = String::new();
            io::stdin().lock().read_line(&mut line).expect("stdin can be read");
            assert_eq!(line, "", "somebody talks to us");
            return None;
        }
        _ => return None,
    }
    Some(ExitCode::FAILURE)
}

/// Duplicates stdout, so that it stays open.
pub(crate) fn keep_stdout() -> File {
    File::from(dup(io::stdout()).expect("there is a stdout"))
}

/// Ends the process as a crash or the system would.
pub(crate) fn crash_process() {
    kill(Pid::this(), Signal::SIGKILL).expect("we are there");
}

/// The path of a socket, in the directory that the host specifies.
pub(crate) fn socket(name: &str) -> PathBuf {
    std::env::var_os("PLUGIN_UNIX_SOCKET_DIR")
        .map_or_else(std::env::temp_dir, PathBuf::from)
        .join(format!("{name}-{}", std::process::id()))
}

/// Prints as a handshake is printed.
pub(crate) fn print(text: &str) {
    let mut stdout = io::stdout().lock();
    // The host may have closed the pipe.
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) | Err(_) => (),
    }
}

fn print_line(text: &str) {
    print(text);
    wait();
}

fn wait() {
    loop {
        thread::park();
    }
}
