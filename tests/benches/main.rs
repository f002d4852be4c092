//! Measures Formwork against the reference engine in one run, and holds the result against the
//! limits of the project. What each number means is in `README.md` beside this file.
//!
//! It does not profile: it says that something is slow, not why.

mod limits;
mod options;
mod parse;
mod probe;
mod programs;
mod report;
mod sample;
mod shape;
mod suite;

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
    if let Some(("--probe", rest)) = args.split_first().map(|(first, rest)| (first.as_str(), rest))
    {
        return probe::serve(rest);
    }
    let options = options::Options::read(&args)?;
    let programs = programs::Programs::prepare(&options)?;
    let parsed = parse::measure(&options);
    let bench = suite::Bench::new(&options, &programs)?;
    let rows = bench.run()?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{}\n{}", parse::table(&parsed), report::tables(&rows))?;
    let mut verdicts = parse::check(&parsed);
    verdicts.extend(limits::check(&rows));
    writeln!(out, "{}", report::verdicts(&verdicts))?;
    Ok(if verdicts.iter().all(|verdict| verdict.holds) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
