//! Runs a command in a clean environment, with a timeout, and captures its output.

use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::Path;
use std::process::{self, Child, Stdio};
use std::sync::{Once, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::signal::unix::SignalKind;

use super::Workdir;

/// A command that takes longer hangs, and is killed.
const TIMEOUT: Duration = Duration::from_secs(100);

/// Time limit for an event that should be immediate, also on a busy machine.
const SHORT_TIMEOUT: Duration = Duration::from_secs(20);

/// A command to be run in a directory.
pub(crate) struct Command<'w> {
    workdir: &'w Workdir,
    command: process::Command,
    stdin: String,
    waits: bool,
}

impl<'w> Command<'w> {
    pub(crate) fn new(workdir: &'w Workdir, program: &Path, line: &str) -> Self {
        let mut command = process::Command::new(program);
        command
            .args(line.split_whitespace())
            .current_dir(workdir.root())
            .env_clear()
            .env("HOME", workdir.home())
            .env("PATH", "/usr/bin:/bin")
            .env("TMPDIR", workdir.home())
            .env("TF_CLI_CONFIG_FILE", workdir.settings())
            .env("CHECKPOINT_DISABLE", "1")
            .env("NO_COLOR", "1")
            .env("BAD_OBJECTS", workdir.service.path())
            .envs(workdir.variables.iter().map(|(name, value)| (name, value)));
        Self { workdir, command, stdin: String::new(), waits: false }
    }

    /// Sets a variable.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Adds a word that may have spaces in it.
    pub(crate) fn arg(mut self, word: &str) -> Self {
        self.command.arg(word);
        self
    }

    /// Sets the answers to its prompts.
    pub(crate) fn stdin(mut self, text: &str) -> Self {
        text.clone_into(&mut self.stdin);
        self
    }

    /// Leaves its prompts without an answer.
    pub(crate) fn with_open_stdin(mut self) -> Self {
        self.waits = true;
        self
    }

    /// Limits the size of the files that it writes, as a full disk would.
    pub(crate) fn file_limit(self, kib: u64) -> Self {
        self.after(&format!("ulimit -f {kib}"))
    }

    /// Redirects its output to a full disk.
    pub(crate) fn with_full_stdout(self) -> Self {
        self.after("exec >/dev/full")
    }

    /// Makes it ignore the hangup of the terminal, as `nohup` does.
    pub(crate) fn ignoring_hangup(self) -> Self {
        self.after("trap '' HUP")
    }

    /// Runs it in a shell that has done something before.
    fn after(mut self, shell_command: &str) -> Self {
        let command_before = self.command;
        let mut command = process::Command::new("/bin/bash");
        command.arg("-c").arg(format!("{shell_command}; exec \"$0\" \"$@\""));
        command.arg(command_before.get_program()).args(command_before.get_args()).env_clear();
        command.envs(command_before.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(self.workdir.root());
        self.command = command;
        self
    }

    /// The process as it would be started, for a test that starts it in another way.
    pub(crate) fn into_process(self) -> process::Command {
        self.command
    }

    /// Runs it to its end.
    pub(crate) fn run(self) -> CommandResult {
        self.start().wait()
    }

    /// Runs it to its end. It must succeed.
    #[track_caller]
    pub(crate) fn succeed(self) -> CommandResult {
        let result = self.run();
        assert_eq!(result.code, Some(0), "{}", result.text());
        result
    }

    /// Starts it.
    pub(crate) fn start(mut self) -> Running {
        receive_hangups();
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().expect("the program can be started");
        let mut stdin = child.stdin.take().expect("a pipe");
        // It may end without reading.
        match stdin.write_all(self.stdin.as_bytes()) {
            Ok(()) | Err(_) => (),
        }
        let stdin = self.waits.then_some(stdin);
        let (line_sender, lines) = mpsc::channel();
        let stdout = collect(child.stdout.take().expect("a pipe"), line_sender.clone());
        let stderr = collect(child.stderr.take().expect("a pipe"), line_sender);
        let pid = Pid::from_raw(i32::try_from(child.id()).expect("a process id"));
        let (end_sender, end_receiver) = mpsc::channel::<()>();
        let killer = thread::spawn(move || {
            let timed_out =
                end_receiver.recv_timeout(TIMEOUT) == Err(mpsc::RecvTimeoutError::Timeout);
            if timed_out {
                kill(pid, Signal::SIGKILL).expect("it still runs");
            }
            timed_out
        });
        Running { child, pid, stdin, stdout, stderr, lines, end_sender, killer }
    }
}

/// A command under way.
pub(crate) struct Running {
    child: Child,
    pid: Pid,
    /// Open as long as there may be an answer.
    stdin: Option<process::ChildStdin>,
    stdout: JoinHandle<String>,
    stderr: JoinHandle<String>,
    lines: mpsc::Receiver<String>,
    end_sender: mpsc::Sender<()>,
    killer: JoinHandle<bool>,
}

impl Running {
    /// Sets the answers to its prompts.
    pub(crate) fn answer(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().expect("it was started unanswered");
        stdin.write_all(text.as_bytes()).expect("it listens");
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid, signal).expect("it still runs");
    }

    /// Waits until it is idle.
    pub(crate) fn wait_until_idle(&self) {
        wait_until_process_is_idle(self.pid);
    }

    /// Waits until it has printed this, on one line. Earlier output is not searched again.
    #[track_caller]
    pub(crate) fn wait_for_output(&self, words: &str) {
        self.wait_for_line(words);
    }

    /// As [`Running::wait_for_output`], and returns the line.
    #[track_caller]
    pub(crate) fn wait_for_line(&self, words: &str) -> String {
        let Some(line) = self.find_line(words) else {
            panic!("it ended and never said {words:?}");
        };
        line
    }

    /// As [`Running::wait_for_line`]; `None` if it ends before.
    pub(crate) fn find_line(&self, words: &str) -> Option<String> {
        self.lines.iter().find(|line| line.contains(words))
    }

    /// Waits for its end with a short timeout, because users wait for it too.
    #[track_caller]
    pub(crate) fn wait_with_short_timeout(self) -> CommandResult {
        let start = Instant::now();
        let result = self.wait();
        assert!(
            start.elapsed() < SHORT_TIMEOUT,
            "it took {:?}\n{}",
            start.elapsed(),
            result.text()
        );
        result
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> CommandResult {
        let status = self.child.wait().expect("this test owns it");
        drop(self.end_sender);
        let timed_out = self.killer.join().expect("it only waits");
        let stdout = self.stdout.join().expect("it only reads");
        let stderr = self.stderr.join().expect("it only reads");
        let result = CommandResult { code: status.code(), stdout, stderr };
        assert!(!timed_out, "it hung and was killed\n{}", result.text());
        result
    }
}

/// Exit status and output of a command.
#[derive(Clone, Debug)]
pub(crate) struct CommandResult {
    /// The exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl CommandResult {
    /// Its whole output.
    pub(crate) fn text(&self) -> String {
        format!("exit {:?}\n{}{}", self.code, self.stdout, self.stderr)
    }

    /// Its whole output on one line and without the frame around diagnostics, to search for
    /// sentences in.
    pub(crate) fn words(&self) -> String {
        let text = self.text().replace(['│', '╷', '╵'], " ");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Fails unless its output contains this.
    #[track_caller]
    pub(crate) fn says(&self, words: &str) -> &Self {
        assert!(self.words().contains(words), "{words:?} is not said in\n{}", self.text());
        self
    }

    /// Fails if its output contains this.
    #[track_caller]
    pub(crate) fn says_not(&self, words: &str) -> &Self {
        assert!(!self.words().contains(words), "{words:?} is said in\n{}", self.text());
        self
    }

    /// Fails unless it ended with this code.
    #[track_caller]
    pub(crate) fn code(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{}", self.text());
        self
    }
}

/// Waits until a process is idle: its main thread sleeps, and it uses no processor time.
pub(crate) fn wait_until_process_is_idle(pid: Pid) {
    const N_SAMPLES: usize = 20;
    let usage = || {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split(' ').collect();
        (fields.get(1) == Some(&"S"), fields.get(12..14).map(|times| times.join(" ")))
    };
    let (mut before, mut n_same) = (usage(), 0);
    wait_for(|| {
        let now = usage();
        n_same = if now == before && now.0 { n_same + 1 } else { 0 };
        before = now;
        n_same > N_SAMPLES
    });
}

/// Polls, because the system does not report such events.
fn wait_for(mut is_reached: impl FnMut() -> bool) {
    while !is_reached() {
        thread::park_timeout(Duration::from_millis(20));
    }
}

/// Reads to the end, and sends each line immediately.
fn collect(
    stream: impl Read + Send + 'static,
    line_sender: mpsc::Sender<String>,
) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        let mut output = Vec::new();
        loop {
            let start = output.len();
            if stream.read_until(b'\n', &mut output).expect("a pipe can be read") == 0 {
                return String::from_utf8_lossy(&output).into_owned();
            }
            // The receiver may be closed.
            match line_sender.send(String::from_utf8_lossy(&output[start..]).into_owned()) {
                Ok(()) | Err(_) => (),
            }
        }
    })
}

/// Makes this process receive the hangup of a terminal, regardless of how it was started: a signal
/// ignored here would be ignored by every child process.
fn receive_hangups() {
    static HEARING: Once = Once::new();
    HEARING.call_once(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
        let _inside = runtime.as_ref().map(tokio::runtime::Runtime::enter);
        // Once heard, a signal stays so for as long as the process lives.
        drop(tokio::signal::unix::signal(SignalKind::hangup()));
    });
}
