//! Time of concurrent applies to disjoint parts of one state on PostgreSQL, as a multiple of the
//! time of one.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Instant;

use tempfile::TempDir;

use crate::options::Options;
use crate::probe::{MeasuredCommand, measure as run};
use crate::programs::Programs;
use crate::sdk::Measured;
use crate::server::Server;
use crate::suite::OUR_CAP;

/// Number of concurrent applies.
const N_APPLIES: usize = 20;
/// Seconds of a call, and the maximum of the multiple with such calls: with shorter ones the start of so
/// many processes counts.
const LIMIT: (u32, f64) = (10, 1.3);

/// Directories of one state, with everything applied: one for each apply.
struct SharedState<'p> {
    program: &'p Path,
    directories: Vec<TempDir>,
}

/// Measures each selected row.
///
/// # Errors
/// When a command fails.
pub(crate) fn measure(
    options: &Options,
    programs: &Programs,
) -> Result<Vec<Measured>, Box<dyn Error>> {
    let name = |seconds: u32| format!("{N_APPLIES} applies at once of {seconds} s");
    let calls = options.calls.iter().copied().filter(|seconds| options.selects(&name(*seconds)));
    let calls: Vec<u32> = calls.collect();
    let mut measured = Vec::new();
    if calls.is_empty() {
        return Ok(measured);
    }
    let Some(server) = Server::start("pg") else { return Ok(measured) };
    let state = SharedState::create(&programs.ours, &server)?;
    for seconds in calls {
        let (mut alone_times, mut concurrent_times) = (Vec::new(), Vec::new());
        for _ in 0..options.repeat {
            alone_times.push(state.apply_concurrently(1, seconds)?);
            concurrent_times.push(state.apply_concurrently(N_APPLIES, seconds)?);
        }
        let (alone_times, concurrent_times) = (median(alone_times), median(concurrent_times));
        measured.push(Measured {
            name: name(seconds),
            of: format!("{alone_times:.1} s for one and {concurrent_times:.1} s for {N_APPLIES}"),
            result: concurrent_times / alone_times,
            min: None,
            max: (seconds == LIMIT.0).then_some(LIMIT.1),
        });
    }
    Ok(measured)
}

impl<'p> SharedState<'p> {
    /// Makes the directories, and the state with all objects.
    fn create(program: &'p Path, server: &Server) -> Result<Self, Box<dyn Error>> {
        let config = format!("{}{}", server.config(0), objects());
        let mut directories = Vec::new();
        for _ in 0..N_APPLIES {
            let directory = tempfile::tempdir()?;
            fs::write(directory.path().join("main.tf"), &config)?;
            execute(program, directory.path(), &["init", "-input=false"])?;
            directories.push(directory);
        }
        if let Some(first) = directories.first() {
            execute(program, first.path(), &["apply", "-input=false", "-auto-approve"])?;
        }
        Ok(Self { program, directories })
    }

    /// Starts concurrent applies, each of which replaces one object. Returns the seconds until the last
    /// one ends.
    fn apply_concurrently(&self, n_applies: usize, seconds: u32) -> Result<f64, Box<dyn Error>> {
        let begin = Instant::now();
        thread::scope(|scope| {
            let start = |index| scope.spawn(move || self.replace_object(index, seconds));
            let running: Vec<_> = (0..n_applies).map(start).collect();
            running.into_iter().try_for_each(|apply| {
                apply.join().unwrap_or_else(|_| Err("an apply was not measured".to_owned()))
            })
        })?;
        Ok(begin.elapsed().as_secs_f64())
    }

    /// Replaces an object, from its directory.
    fn replace_object(&self, index: usize, seconds: u32) -> Result<(), String> {
        let directory = self.directories.get(index).ok_or("there is no directory")?;
        let replace = format!("-replace=terraform_data.r{index}");
        let target = format!("-target=terraform_data.r{index}");
        let variable = format!("-var=seconds={seconds}");
        let args: [&str; 6] =
            ["apply", "-input=false", "-auto-approve", &replace, &target, &variable];
        // An error of the probe cannot leave its thread.
        execute(self.program, directory.path(), &args).map_err(|error| error.to_string())
    }
}

/// Objects whose creation takes the time of a variable.
fn objects() -> String {
    let object = |index| {
        format!(
            "resource \"terraform_data\" \"r{index}\" {{\n  provisioner \"local-exec\" {{\n    command = \"sleep ${{var.seconds}}\"\n  }}\n}}\n"
        )
    };
    let variable = "variable \"seconds\" {\n  default = 0\n}\n".to_owned();
    (0..N_APPLIES).map(object).fold(variable, |text, object| text + &object)
}

/// Runs a command, which must succeed.
fn execute(program: &Path, directory: &Path, args: &[&str]) -> Result<(), Box<dyn Error>> {
    run(&MeasuredCommand { program, args, directory, env: &[], cap: OUR_CAP }).map(drop)
}

/// The middle of several numbers.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}
