//! The crash test: kills an engine over and over while it works, and checks whether anything was
//! forgotten, made twice or torn when it was run again. `README.md` beside this file explains the
//! columns.
//!
//! It observes the engine only from outside, so that it can be compared with another one.

mod backend;
mod config;
mod cycle;
mod directory;
#[path = "../../providers/src/postgresql/tests/installed.rs"]
mod installed;
mod network;
mod observation;
mod operation;
mod operator;
mod options;
mod rng;
mod table;

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            writeln!(std::io::stderr(), "error: {error}").ok();
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(("--limited", rest)) =
        args.split_first().map(|(first, rest)| (first.as_str(), rest))
    {
        return Err(directory::exec_with_size_limit(rest));
    }
    let options = options::Options::read(&args)?;
    let mut rows = Vec::new();
    for program in &options.programs {
        rows.push((program, cycle::run_all_kills(program, &options)?));
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", table::markdown(&rows))?;
    let is_failure = rows.iter().any(|(program, tally)| program.is_ours() && !tally.is_clean());
    Ok(if is_failure { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
