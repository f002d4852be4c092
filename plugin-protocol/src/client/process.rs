//! The child process of a plugin: start, end, and detection of its end.
//!
//! A child leads a process group of its own, so that Ctrl-C in the terminal does not reach it and
//! so that its children can be ended with it. Where the kernel supports it, the child ends together
//! with this process, even if this process is killed (`children.rs`). Handshakes are handled
//! elsewhere.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString, c_char};
use std::fmt;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::AtomicPtr;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, getpid, getppid};
use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use super::ProcessLimits;
use crate::children;

/// Exit status of a process, as a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exit(Option<ExitStatus>);

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(status) = self.0 else {
            return f.write_str("exit status unknown");
        };
        match (status.code(), status.signal()) {
            (Some(code), _) => write!(f, "exit status {code}"),
            (None, Some(number)) => match Signal::try_from(number) {
                Ok(signal) => write!(f, "killed by {signal}"),
                Err(_) => write!(f, "killed by signal {number}"),
            },
            (None, None) => write!(f, "{status}"),
        }
    }
}

/// A running child. Dropping it kills the child's whole process group.
#[derive(Debug)]
pub(crate) struct StartedProcess {
    group: Arc<ProcessGroup>,
    exit: watch::Receiver<Option<Exit>>,
}

/// The pipes of a child.
pub(crate) struct ChildOutputPipes {
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

impl StartedProcess {
    /// Starts `command` with an empty stdin and pipes on stdout and stderr, under the name `arg0`,
    /// or its path if `arg0` is `None`.
    ///
    /// # Errors
    /// When the system cannot start it.
    pub(crate) async fn start(
        mut command: Command,
        arg0: Option<&OsStr>,
        limits: ProcessLimits,
    ) -> io::Result<(Self, ChildOutputPipes)> {
        // A plugin that inherits stdin would read the answers to the prompts of this program.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0);
        set_pre_exec(&mut command, arg0, limits)?;
        let mut child = spawn_on_spawner_thread(command).await?;
        let pipes = (child.stdout.take(), child.stderr.take());
        // Watched before any step can fail, otherwise a child without pipes would remain as a
        // zombie.
        let process = Self::start_reaper(child)?;
        let (Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("the child has no pipes"));
        };
        let pipes = ChildOutputPipes {
            stdout: ChildStdout::from_std(stdout)?,
            stderr: ChildStderr::from_std(stderr)?,
        };
        Ok((process, pipes))
    }

    fn start_reaper(child: Child) -> io::Result<Self> {
        // A process id is positive and fits, on every system there is.
        let pid = Pid::from_raw(i32::try_from(child.id()).map_err(io::Error::other)?);
        let group = Arc::new(ProcessGroup { leader: pid, reaped: Mutex::new(false) });
        let (sender, exit) = watch::channel(None);
        let reaped = Arc::clone(&group);
        let process = Self { group, exit };
        // `send_replace`, because `send` would lose the status while no receiver exists.
        thread::Builder::new()
            .name(format!("reaper of {pid}"))
            .stack_size(64 * 1024)
            // A thread and not a task: `waitid` blocks, and the end of a child must be noticed
            // while the runtime computes. Its stack is small, because there may be hundreds of
            // plugins.
            .spawn(move || sender.send_replace(Some(reaped.kill_rest_and_reap(child))))?;
        Ok(process)
    }

    /// Returns the process id.
    pub(crate) fn pid(&self) -> i32 {
        self.group.leader.as_raw()
    }

    /// Returns how it ended, if it has.
    pub(crate) fn exit_if_ended(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    /// Waits up to `time_limit` for the end of the process itself. Pipes that a child of its still
    /// holds open do not delay this.
    pub(crate) async fn wait_up_to(&self, time_limit: Duration) -> Option<Exit> {
        let mut exit = self.exit.clone();
        let ended = timeout(time_limit, exit.wait_for(Option::is_some)).await;
        ended.ok()?.ok().and_then(|exit| *exit)
    }

    /// Kills the process and all it started that is still in its group.
    pub(crate) fn kill(&self) {
        self.group.kill();
    }
}

impl Drop for StartedProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

#[derive(Debug)]
struct ProcessGroup {
    leader: Pid,
    reaped: Mutex<bool>,
}

impl ProcessGroup {
    fn kill(&self) {
        let reaped = self.reaped.lock().unwrap_or_else(PoisonError::into_inner);
        // The id of a reaped child may already be another process's.
        if !*reaped {
            self.send_kill_signal();
        }
    }

    // Failing means that no process is left.
    fn send_kill_signal(&self) {
        match killpg(self.leader, Signal::SIGKILL) {
            Ok(()) | Err(_) => (),
        }
    }

    /// Waits for the exit of the child, ends the processes that it has left running, and only then
    /// releases its id.
    fn kill_rest_and_reap(&self, mut child: Child) -> Exit {
        // The child stays a zombie, so its process group id cannot be reused until the rest of the
        // group was signalled below.
        children::wait_without_reaping(&child);
        // Held over signal and wait, so that `kill` cannot come between them and signal an id that
        // is free again.
        let mut reaped = self.reaped.lock().unwrap_or_else(PoisonError::into_inner);
        self.send_kill_signal();
        let exit = Exit(child.wait().ok());
        *reaped = true;
        exit
    }
}

/// Makes the kernel kill the child when the thread that starts it ends, and keep it within its limits.
fn set_pre_exec(
    command: &mut Command,
    arg0: Option<&OsStr>,
    ProcessLimits { memory, files }: ProcessLimits,
) -> io::Result<()> {
    let parent = getpid();
    // Made before the fork: afterwards nothing may be allocated, because another thread may have
    // held the allocator's lock.
    let program = ExecveArguments::from_command(command, arg0)?;
    let hook = move || {
        // `RLIMIT_DATA` counts writable memory. `RLIMIT_AS` would count what Go only reserves.
        for (resource, limit) in [(Resource::RLIMIT_DATA, memory), (Resource::RLIMIT_NOFILE, files)]
        {
            let Some(limit) = limit else { continue };
            // A limit that was lowered already cannot be raised.
            let limit = limit.min(getrlimit(resource)?.1);
            setrlimit(resource, limit, limit)?;
        }
        children::end_with_parent_where_supported()?;
        // The parent may have died before the request was in place; then no signal would come.
        if getppid() != parent {
            return Err(io::Error::from(Errno::ESRCH));
        }
        Err(program.exec_program())
    };
    #[expect(unsafe_code, reason = "no safe function requests a signal at a parent's death")]
    // SAFETY: between fork and exec only a few system calls are made, and nothing is allocated.
    unsafe {
        // The hook does not return on success: it calls `execve` itself, so the standard library
        // never reaches its own call with the shell fallback.
        command.pre_exec(hook);
    }
    Ok(())
}

/// A program with its environment, laid out as the system takes it. The standard library passes a
/// file that is not a program to a shell, which would run its content line by line.
struct ExecveArguments {
    program: CString,
    /// The name that the program is given as its own.
    name: CString,
    /// Strings that the pointers lead to.
    _environment: Vec<CString>,
    /// Of an atomic kind because they cross threads; the last is null.
    pointers: Vec<AtomicPtr<c_char>>,
}

impl ExecveArguments {
    /// The program that a command without arguments would run.
    fn from_command(command: &Command, arg0: Option<&OsStr>) -> io::Result<Self> {
        // The standard library merges the environment inside its own `exec`, which is never
        // reached.
        #[expect(clippy::disallowed_methods, reason = "children inherit whatever there is")]
        let mut environment: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => drop(environment.insert(name.to_owned(), value.to_owned())),
                None => drop(environment.remove(name)),
            }
        }
        let pairs = environment.into_iter().map(|(mut name, value)| {
            name.push("=");
            name.push(value);
            CString::new(name.into_vec())
        });
        let environment: Vec<CString> = pairs.collect::<Result<_, _>>()?;
        let pointers = environment.iter().map(|pair| pair.as_ptr().cast_mut());
        let pointers = pointers.chain([std::ptr::null_mut()]).map(AtomicPtr::new).collect();
        let program = CString::new(command.get_program().as_bytes())?;
        let name = CString::new(arg0.unwrap_or(command.get_program()).as_bytes())?;
        Ok(Self { program, name, _environment: environment, pointers })
    }

    /// Replaces this process with the program. Returns only if the system refuses to run it; does
    /// not allocate.
    fn exec_program(&self) -> io::Error {
        // No arguments: go-plugin passes everything in the environment.
        let arguments = [self.name.as_ptr(), std::ptr::null()];
        #[expect(unsafe_code, reason = "every safe function allocates, or runs a shell")]
        // SAFETY: all strings end with a zero byte, both lists with a null pointer, an atomic
        // pointer is laid out like a plain one, and all of them are valid as long as `self`.
        unsafe {
            let environment = self.pointers.as_ptr().cast::<*const c_char>();
            libc::execve(self.program.as_ptr(), arguments.as_ptr(), environment);
        }
        io::Error::last_os_error()
    }
}

struct SpawnRequest {
    command: Command,
    reply: oneshot::Sender<io::Result<Child>>,
}

/// Spawns from the one thread that runs as long as this process: the signal at the parent's death is
/// sent when the *thread* that spawned ends, and the threads of a pool may end earlier.
async fn spawn_on_spawner_thread(command: Command) -> io::Result<Child> {
    static SPAWNER_THREAD_SENDER: Mutex<Option<mpsc::Sender<SpawnRequest>>> = Mutex::new(None);
    let (reply, answer) = oneshot::channel();
    {
        let mut sender_slot = SPAWNER_THREAD_SENDER.lock().unwrap_or_else(PoisonError::into_inner);
        let requests = match sender_slot.take() {
            Some(requests) => requests,
            None => start_spawner_thread()?,
        };
        requests.send(SpawnRequest { command, reply }).map_err(io::Error::other)?;
        // Put back only after a successful send. If the thread has died, the next launch starts
        // another one.
        *sender_slot = Some(requests);
    }
    answer.await.map_err(io::Error::other)?
}

fn start_spawner_thread() -> io::Result<mpsc::Sender<SpawnRequest>> {
    let (sender, requests) = mpsc::channel::<SpawnRequest>();
    thread::Builder::new().name("plugin launcher".to_owned()).spawn(move || {
        for mut request in requests {
            let child = request.command.spawn();
            // The launch was given up in the meantime.
            if let Err(Ok(child)) = request.reply.send(child) {
                // Dropping kills the process group and reaps it. Without this an abandoned launch
                // would leave a running plugin.
                drop(StartedProcess::start_reaper(child));
            }
        }
    })?;
    Ok(sender)
}
