//! Runs one command and measures its cost. A separate process runs the command, because the kernel
//! keeps the peak memory of waited-for children as one maximum for each parent.

use std::error::Error;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::sample::Sample;

/// One command to measure.
pub(crate) struct MeasuredCommand<'a> {
    pub(crate) program: &'a Path,
    pub(crate) args: &'a [&'a str],
    pub(crate) directory: &'a Path,
    pub(crate) env: &'a [(&'a str, String)],
    pub(crate) cap: Duration,
}

/// Measures a command.
///
/// # Errors
/// When the command cannot be started, or fails.
pub(crate) fn measure(command_to_measure: &MeasuredCommand<'_>) -> Result<Sample, Box<dyn Error>> {
    let output = Command::new(std::env::current_exe()?)
        .arg("--probe")
        .arg(command_to_measure.cap.as_millis().to_string())
        .arg(command_to_measure.program)
        .args(command_to_measure.args)
        .current_dir(command_to_measure.directory)
        .env_remove("TF_CLI_CONFIG_FILE")
        .env("CHECKPOINT_DISABLE", "1")
        .envs(command_to_measure.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let program = command_to_measure.program.display();
        return Err(
            format!("{program} {} failed:\n{stderr}", command_to_measure.args.join(" ")).into()
        );
    }
    Sample::parse(&String::from_utf8_lossy(&output.stdout))
}

/// The process in between: runs the command in the arguments and prints its cost.
pub(crate) fn serve(args: &[String]) -> Result<ExitCode, Box<dyn Error>> {
    let [cap, program, args @ ..] = args else { return Err("nothing to run".into()) };
    let cap = Duration::from_millis(cap.parse()?);
    let start = Instant::now();
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()?;
    let group = Pid::from_raw(i32::try_from(child.id())?);
    let (result, end) = mpsc::channel();
    let waiting = std::thread::spawn(move || {
        let status = child.wait();
        result.send(Instant::now()).ok();
        status
    });
    let capped = matches!(end.recv_timeout(cap), Err(RecvTimeoutError::Timeout));
    let wall = start.elapsed();
    if capped {
        killpg(group, Signal::SIGKILL)?;
    }
    let status = waiting.join().map_err(|_| "the waiting thread failed")??;
    if !capped && !status.success() {
        return Ok(ExitCode::FAILURE);
    }
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 * 1e6 + time.tv_usec() as f64;
    let sample = Sample {
        wall: wall.as_secs_f64(),
        cpu: (micros(usage.user_time()) + micros(usage.system_time())) / 1e6,
        peak: usage.max_rss() as f64 * 1024.0,
        capped,
    };
    writeln!(std::io::stdout(), "{sample}")?;
    Ok(ExitCode::SUCCESS)
}
