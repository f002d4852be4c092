//! A working directory with a directory of real objects, and commands that are run and killed there.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::libc;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};
use tempfile::TempDir;

use crate::backend::{self, BackendKind, Server};
use crate::config::Files;
use crate::options::{Options, Program};

/// Time limit of a command that is not killed.
const TIMEOUT: Duration = Duration::from_secs(120);
/// Time that a provider may run after its engine was killed.
const GRACE: Duration = Duration::from_secs(3);

/// A working directory with the real objects.
pub(crate) struct Directory<'o> {
    program: &'o Program,
    options: &'o Options,
    top: TempDir,
    witness: UnixListener,
    server: Server,
    /// The number of the working directory: the earlier ones are lost.
    number: Cell<usize>,
    /// The number of the state, which changes after everything was removed.
    state: Cell<usize>,
    /// The connections of the providers that were started.
    lifelines: RefCell<Vec<ProviderLifeline>>,
}

/// A provider process: its id, and a connection that closes when it ends.
struct ProviderLifeline(String, BufReader<UnixStream>);

/// When a command is killed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moment {
    /// So long after its start.
    After(Duration),
    /// When it writes beyond the beginning of this length of any file.
    Writing(u64),
    /// The command is not killed. Its providers are, so long after its start.
    Provider(Duration),
    /// The command is not killed. The network to the server of the state is cut, so long after its start
    /// and for such a time.
    Network { after: Duration, lasts: Duration },
}

/// The manifest of modules, so that none has to be installed.
const MODULES: &str =
    r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"m","Source":"./m","Dir":"m"}]}"#;

/// Result of a command.
pub(crate) struct CommandResult {
    /// Whether it was killed before its end.
    pub(crate) killed: bool,
    /// Number of its providers that were killed.
    pub(crate) n_providers_killed: usize,
    /// Whether the network was cut before its end.
    pub(crate) was_cut: bool,
    pub(crate) succeeded: bool,
    /// Its output on stdout.
    pub(crate) out: String,
    /// Its whole output.
    pub(crate) text: String,
    pub(crate) took: Duration,
}

impl<'o> Directory<'o> {
    pub(crate) fn new(program: &'o Program, options: &'o Options) -> Result<Self, Box<dyn Error>> {
        let top =
            tempfile::Builder::new().prefix("crash").disable_cleanup(options.keep).tempdir()?;
        for part in ["home", "work", "objects"] {
            fs::create_dir(top.path().join(part))?;
        }
        let plugins = std::env::current_exe()?;
        let plugins = plugins.parent().ok_or("this program is in no directory")?.display();
        let settings = format!(
            "provider_installation {{\n  dev_overrides {{\n    \"formwork/crash\" = \"{plugins}\"\n  }}\n  direct {{}}\n}}\n"
        );
        fs::write(top.path().join("home/settings.rc"), settings)?;
        let witness = UnixListener::bind(top.path().join("objects/witness"))?;
        witness.set_nonblocking(true)?;
        let server = Server::start(options.backend)?;
        let (number, state) = (Cell::new(0), Cell::new(0));
        Ok(Self {
            program,
            options,
            top,
            witness,
            server,
            number,
            state,
            lifelines: RefCell::default(),
        })
    }

    /// Whether the directory is kept for inspection after a failure.
    pub(crate) fn is_kept(&self) -> bool {
        self.options.keep && self.program.is_ours()
    }

    pub(crate) fn work(&self) -> PathBuf {
        match self.number.get() {
            0 => self.top.path().join("work"),
            number => self.top.path().join(format!("work-{number}")),
        }
    }

    /// Deletes the directory with everything in it. Later commands run in another one.
    pub(crate) fn delete(&self) -> std::io::Result<()> {
        fs::remove_dir_all(self.work())?;
        self.number.set(self.number.get() + 1);
        fs::create_dir(self.work())
    }

    /// The stored state.
    pub(crate) fn state(&self) -> std::io::Result<String> {
        match self.options.backend {
            BackendKind::Local => {
                Ok(fs::read_to_string(self.work().join("terraform.tfstate")).unwrap_or_default())
            }
            BackendKind::Pg | BackendKind::S3 | BackendKind::Gcs | BackendKind::Http => {
                Ok(self.run(&["state", "pull"])?.out)
            }
        }
    }

    pub(crate) fn objects_directory(&self) -> PathBuf {
        self.top.path().join("objects")
    }

    pub(crate) fn configure(&self, files: &Files) -> std::io::Result<()> {
        let work = self.work();
        fs::create_dir_all(work.join("m"))?;
        fs::create_dir_all(work.join(".terraform/modules"))?;
        fs::write(work.join(".terraform/modules/modules.json"), MODULES)?;
        fs::write(work.join("m/main.tf"), &files.inside)?;
        fs::write(work.join("main.tf"), &files.main)?;
        let Some(backend) = self.server.block(self.state.get()) else { return Ok(()) };
        fs::write(work.join("backend.tf"), backend)?;
        if work.join(".terraform/terraform.tfstate").exists() {
            return Ok(());
        }
        let result = self.run(&["init", "-input=false", "-get=false"])?;
        match result.succeeded {
            true => Ok(()),
            false => Err(std::io::Error::other(result.text)),
        }
    }

    /// Removes everything that exists or is believed to.
    pub(crate) fn start_over(&self) -> std::io::Result<()> {
        for entry in fs::read_dir(self.objects_directory())?.flatten() {
            if entry.file_name() != "witness" {
                fs::remove_file(entry.path())?;
            }
        }
        self.state.set(self.state.get() + 1);
        fs::remove_dir_all(self.work())?;
        fs::create_dir(self.work())
    }

    /// Runs a command to its end.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> std::io::Result<CommandResult> {
        self.run_of(self.program, args)
    }

    /// Runs another program's command to its end.
    pub(crate) fn run_of<S: AsRef<OsStr>>(
        &self,
        program: &Program,
        args: &[S],
    ) -> std::io::Result<CommandResult> {
        let start = Instant::now();
        loop {
            let result = self.wait_or_kill(self.command(program, args, None)?.spawn()?, None)?;
            // The server learns of the end of a killed run a little later, or not at all.
            let is_locked = result.text.contains("Error acquiring the state lock");
            if !is_locked || self.options.backend == BackendKind::Local || start.elapsed() > TIMEOUT
            {
                return Ok(result);
            }
            if let Some(id) = backend::lock_id(&result.text) {
                let unlock = ["force-unlock", "-force", id];
                self.wait_or_kill(self.command(program, &unlock, None)?.spawn()?, None)?;
            }
        }
    }

    /// Runs a command to its end that reads these answers.
    pub(crate) fn run_with_answers<S: AsRef<OsStr>>(
        &self,
        args: &[S],
        answers: &str,
    ) -> std::io::Result<CommandResult> {
        let file = self.top.path().join("home/answers");
        fs::write(&file, answers)?;
        let mut command = self.command(self.program, args, None)?;
        self.wait_or_kill(command.stdin(File::open(file)?).spawn()?, None)
    }

    /// Runs a command that is killed at a moment, unless it ends before.
    pub(crate) fn run_until<S: AsRef<OsStr>>(
        &self,
        args: &[S],
        moment: Moment,
    ) -> std::io::Result<CommandResult> {
        let limit = if let Moment::Writing(limit) = moment { Some(limit) } else { None };
        let child = self.command(self.program, args, limit)?.spawn()?;
        self.wait_or_kill(child, Some(moment))
    }

    fn command<S: AsRef<OsStr>>(
        &self,
        program: &Program,
        args: &[S],
        limit: Option<u64>,
    ) -> std::io::Result<Command> {
        let mut command = match limit {
            None => Command::new(&program.path),
            Some(limit) => {
                let mut command = Command::new(std::env::current_exe()?);
                command.args(["--limited", &limit.to_string()]).arg(&program.path);
                command
            }
        };
        let home = self.top.path().join("home");
        let listed = self.options.listed.then_some(("CRASH_LISTED", "1"));
        command
            .args(args)
            .current_dir(self.work())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &home)
            .env("TMPDIR", &home)
            .env("TF_CLI_CONFIG_FILE", home.join("settings.rc"))
            .env("CHECKPOINT_DISABLE", "1")
            .env("NO_COLOR", "1")
            .env("CRASH_OBJECTS", self.objects_directory())
            .env("CRASH_DELAY", self.options.delay.to_string())
            .envs(listed)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Ok(command)
    }

    /// Waits for the end of a command, or kills it or its providers or cuts its network at a moment, and
    /// waits until none of its providers is left.
    fn wait_or_kill(
        &self,
        mut child: Child,
        moment: Option<Moment>,
    ) -> std::io::Result<CommandResult> {
        let start = Instant::now();
        let out = child.stdout.take().map(|pipe| thread::spawn(move || read(pipe)));
        let err = child.stderr.take().map(|pipe| thread::spawn(move || read(pipe)));
        let time = if let Some(Moment::After(time)) = moment { time } else { TIMEOUT };
        let (mut status, mut n_providers_killed, mut was_cut) = (None, 0, false);
        while status.is_none() && start.elapsed() < time {
            // Far shorter than any operation here.
            thread::sleep(Duration::from_micros(500));
            status = child.try_wait()?;
            match moment {
                Some(Moment::Provider(after))
                    if n_providers_killed == 0 && start.elapsed() > after =>
                {
                    n_providers_killed = self.kill_providers()?;
                }
                Some(Moment::Network { after, lasts }) if status.is_none() => {
                    let is_cut = (after..after + lasts).contains(&start.elapsed());
                    self.server.set_cut(is_cut);
                    was_cut |= is_cut;
                }
                _ => {}
            }
        }
        self.server.set_cut(false);
        let killed = status.is_none();
        if killed {
            child.kill()?;
        }
        let status = match status {
            Some(status) => status,
            None => child.wait()?,
        };
        let took = start.elapsed();
        self.wait_for_providers()?;
        let [out, err] = [out, err]
            .map(|reader| reader.and_then(|reader| reader.join().ok()).unwrap_or_default());
        let text = format!("{out}{err}");
        let killed = killed || status.signal().is_some();
        if self.is_kept() {
            self.save_output_and_dir(&text, killed)?;
        }
        Ok(CommandResult {
            killed,
            n_providers_killed,
            was_cut,
            succeeded: status.success(),
            out,
            text,
            took,
        })
    }

    /// Saves the output of a command, and the directory as it left it.
    fn save_output_and_dir(&self, text: &str, killed: bool) -> std::io::Result<()> {
        let history = self.top.path().join("history");
        fs::create_dir_all(&history)?;
        let number = fs::read_dir(&history)?.count();
        let copy = history.join(format!("{number:04}{}", if killed { "-killed" } else { "" }));
        fs::create_dir(&copy)?;
        fs::write(copy.join("said"), text)?;
        let parts = [self.work(), self.objects_directory()];
        Command::new("cp").arg("-r").args(parts).arg(copy).status().map(drop)
    }

    /// Accepts the connections of the providers that have started.
    fn accept_providers(&self) -> std::io::Result<()> {
        while let Ok((lifeline, _)) = self.witness.accept() {
            lifeline.set_nonblocking(false)?;
            lifeline.set_read_timeout(Some(GRACE))?;
            let mut lifeline = BufReader::new(lifeline);
            let mut pid = String::new();
            // A process that ended immediately has reported nothing.
            if lifeline.read_line(&mut pid).is_ok() {
                self.lifelines.borrow_mut().push(ProviderLifeline(pid.trim().to_owned(), lifeline));
            }
        }
        Ok(())
    }

    /// Kills all running providers. Returns their number.
    fn kill_providers(&self) -> std::io::Result<usize> {
        self.accept_providers()?;
        let mut lifelines = self.lifelines.borrow_mut();
        // The process id of a provider that has ended may belong to another process by now.
        let running = lifelines
            .iter_mut()
            .filter_map(|ProviderLifeline(pid, lifeline)| is_running(lifeline).then_some(pid));
        Ok(running.filter(|pid| kill_one(pid)).count())
    }

    /// Waits for the end of all providers, and kills those that run for too long.
    fn wait_for_providers(&self) -> std::io::Result<()> {
        self.accept_providers()?;
        for ProviderLifeline(pid, mut lifeline) in self.lifelines.take() {
            if !ends_in_time(&mut lifeline) {
                kill_one(&pid);
                ends_in_time(&mut lifeline);
            }
        }
        Ok(())
    }
}

/// Kills a process, unless it has just ended.
fn kill_one(pid: &str) -> bool {
    pid.parse().is_ok_and(|pid| kill(Pid::from_raw(pid), Signal::SIGKILL).is_ok())
}

/// Whether the other side is still open.
fn is_running(lifeline: &mut BufReader<UnixStream>) -> bool {
    let result = lifeline.get_ref().set_nonblocking(true).and_then(|()| lifeline.read(&mut [0]));
    let restored = lifeline.get_ref().set_nonblocking(false);
    restored.is_ok() && result.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
}

/// Whether the other side ends before the timeout. A process that is killed may leave its connection
/// reset.
fn ends_in_time(lifeline: &mut BufReader<UnixStream>) -> bool {
    match lifeline.read(&mut [0]) {
        Ok(n) => n == 0,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

fn read(mut pipe: impl std::io::Read) -> String {
    let mut bytes = Vec::new();
    pipe.read_to_end(&mut bytes).ok();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Becomes another program, which the system kills as soon as it writes a file beyond a length. The
/// part that fits is written before, so that it dies at a write, or in the middle of one.
pub(crate) fn exec_with_size_limit(args: &[String]) -> Box<dyn Error> {
    let [limit, program, args @ ..] = args else { return "--limited needs a length".into() };
    let set = limit.parse().map_err(Box::<dyn Error>::from).and_then(|limit| {
        setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
        setrlimit(Resource::RLIMIT_FSIZE, limit, limit)?;
        keep_default_of_size_signal()
    });
    match set {
        Ok(()) => Command::new(Path::new(program)).args(args).exec().into(),
        Err(error) => error,
    }
}

/// Makes the request to handle SIGXFSZ succeed without an effect, so that the signal ends the process.
/// Formwork handles it and reports a write beyond the limit as an error, which is no kill.
fn keep_default_of_size_signal() -> Result<(), Box<dyn Error>> {
    let number = u64::from(Signal::SIGXFSZ as u32);
    let is_size_signal =
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, number)?;
    let rules = [(libc::SYS_rt_sigaction, vec![SeccompRule::new(vec![is_size_signal])?])];
    let (otherwise, returns_zero) = (SeccompAction::Allow, SeccompAction::Errno(0));
    let arch = std::env::consts::ARCH.try_into()?;
    let filter = SeccompFilter::new(rules.into_iter().collect(), otherwise, returns_zero, arch)?;
    let program: BpfProgram = filter.try_into()?;
    Ok(seccompiler::apply_filter(&program)?)
}
