//! A folder to work in, with a world beside it, and commands that are run and killed there.

use std::error::Error;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use crate::options::{Options, Program};

/// How long a command may take when nobody kills it.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long a provider whose engine is dead may live on.
const GRACE: Duration = Duration::from_secs(3);

/// A folder with a world.
pub(crate) struct Folder<'o> {
    program: &'o Program,
    options: &'o Options,
    top: TempDir,
    witness: UnixListener,
}

/// When a command is killed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moment {
    /// So long after its start.
    After(Duration),
    /// When it writes beyond the beginning of this length of any file.
    Writing(u64),
}

/// How a command ended.
pub(crate) struct Ended {
    /// Whether it was killed before its end.
    pub(crate) killed: bool,
    pub(crate) succeeded: bool,
    /// What it said on stdout.
    pub(crate) out: String,
    /// Everything it said.
    pub(crate) text: String,
    pub(crate) took: Duration,
}

impl<'o> Folder<'o> {
    pub(crate) fn new(program: &'o Program, options: &'o Options) -> Result<Self, Box<dyn Error>> {
        let top =
            tempfile::Builder::new().prefix("crash").disable_cleanup(options.keep).tempdir()?;
        for part in ["home", "work", "world"] {
            fs::create_dir(top.path().join(part))?;
        }
        let plugins = std::env::current_exe()?;
        let plugins = plugins.parent().ok_or("this program is in no folder")?.display();
        let settings = format!(
            "provider_installation {{\n  dev_overrides {{\n    \"formwork/crash\" = \"{plugins}\"\n  }}\n  direct {{}}\n}}\n"
        );
        fs::write(top.path().join("home/settings.rc"), settings)?;
        let witness = UnixListener::bind(top.path().join("world/witness"))?;
        witness.set_nonblocking(true)?;
        Ok(Self { program, options, top, witness })
    }

    /// Whether somebody will look at what went wrong.
    pub(crate) fn is_kept(&self) -> bool {
        self.options.keep && self.program.is_ours()
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.top.path().join("work")
    }

    pub(crate) fn world(&self) -> PathBuf {
        self.top.path().join("world")
    }

    pub(crate) fn configure(&self, text: &str) -> std::io::Result<()> {
        fs::write(self.work().join("main.tf"), text)
    }

    /// Removes everything that exists or is believed to.
    pub(crate) fn start_over(&self) -> std::io::Result<()> {
        for entry in fs::read_dir(self.world())?.flatten() {
            if entry.file_name() != "witness" {
                fs::remove_file(entry.path())?;
            }
        }
        fs::remove_dir_all(self.work())?;
        fs::create_dir(self.work())
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, args: &[&str]) -> std::io::Result<Ended> {
        self.end(self.spawn(args, None)?, PATIENCE)
    }

    /// Runs a command that is killed at a moment, unless it ends before.
    pub(crate) fn run_until(&self, args: &[&str], moment: Moment) -> std::io::Result<Ended> {
        match moment {
            Moment::After(time) => self.end(self.spawn(args, None)?, time),
            Moment::Writing(limit) => self.end(self.spawn(args, Some(limit))?, PATIENCE),
        }
    }

    fn spawn(&self, args: &[&str], limit: Option<u64>) -> std::io::Result<Child> {
        let mut command = match limit {
            None => Command::new(&self.program.path),
            Some(limit) => {
                let mut command = Command::new(std::env::current_exe()?);
                command.args(["--limited", &limit.to_string()]).arg(&self.program.path);
                command
            }
        };
        let home = self.top.path().join("home");
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
            .env("CRASH_WORLD", self.world())
            .env("CRASH_DELAY", self.options.delay.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
    }

    /// Waits for the end of a command, or kills it when its time is over, and waits until none of its
    /// providers is left.
    fn end(&self, mut child: Child, time: Duration) -> std::io::Result<Ended> {
        let start = Instant::now();
        let out = child.stdout.take().map(|pipe| thread::spawn(move || read(pipe)));
        let err = child.stderr.take().map(|pipe| thread::spawn(move || read(pipe)));
        let mut status = None;
        while status.is_none() && start.elapsed() < time {
            // Far below what anything here takes.
            thread::sleep(Duration::from_micros(500));
            status = child.try_wait()?;
        }
        let killed = status.is_none();
        if killed {
            child.kill()?;
        }
        let status = match status {
            Some(status) => status,
            None => child.wait()?,
        };
        let took = start.elapsed();
        self.bury_providers()?;
        let [out, err] = [out, err]
            .map(|reader| reader.and_then(|reader| reader.join().ok()).unwrap_or_default());
        let text = format!("{out}{err}");
        let killed = killed || status.signal().is_some();
        if self.is_kept() {
            self.take_down(&text, killed)?;
        }
        Ok(Ended { killed, succeeded: status.success(), out, text, took })
    }

    /// Keeps what a command said, and the folder as it left it.
    fn take_down(&self, text: &str, killed: bool) -> std::io::Result<()> {
        let history = self.top.path().join("history");
        fs::create_dir_all(&history)?;
        let number = fs::read_dir(&history)?.count();
        let copy = history.join(format!("{number:04}{}", if killed { "-killed" } else { "" }));
        fs::create_dir(&copy)?;
        fs::write(copy.join("said"), text)?;
        let parts = ["work", "world"].map(|part| self.top.path().join(part));
        Command::new("cp").arg("-r").args(parts).arg(copy).status().map(drop)
    }

    /// Waits for the end of all providers, and ends those that live on for too long.
    fn bury_providers(&self) -> std::io::Result<()> {
        while let Ok((life, _)) = self.witness.accept() {
            life.set_nonblocking(false)?;
            life.set_read_timeout(Some(GRACE))?;
            let mut life = BufReader::new(life);
            let mut pid = String::new();
            if life.read_line(&mut pid).is_err() || ended(&mut life) {
                continue;
            }
            if let Ok(pid) = pid.trim().parse() {
                // It may have ended in this moment.
                kill(Pid::from_raw(pid), Signal::SIGKILL).ok();
            }
            ended(&mut life);
        }
        Ok(())
    }
}

/// Whether the other side ends before patience does. A process that is killed may leave its connection
/// reset.
fn ended(life: &mut BufReader<UnixStream>) -> bool {
    match life.read(&mut [0]) {
        Ok(n) => n == 0,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

fn read(mut pipe: impl std::io::Read) -> String {
    let mut bytes = Vec::new();
    pipe.read_to_end(&mut bytes).ok();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Becomes another program, which the system kills as soon as it writes a file beyond a length: what
/// fits is written before, so that it dies at a write, or in the middle of one.
pub(crate) fn become_limited(args: &[String]) -> Box<dyn Error> {
    let [limit, program, args @ ..] = args else { return "--limited needs a length".into() };
    let set = limit.parse().map_err(Box::<dyn Error>::from).and_then(|limit| {
        setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
        setrlimit(Resource::RLIMIT_FSIZE, limit, limit)?;
        Ok(())
    });
    match set {
        Ok(()) => Command::new(Path::new(program)).args(args).exec().into(),
        Err(error) => error,
    }
}
