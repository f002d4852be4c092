//! Measures Formwork against Terraform in one run, and compares the result with the limits of the
//! project. `README.md` beside this file explains each number.
//!
//! It does not profile: it reports that something is slow, not why.

mod at_once;
mod backends;
mod conformance;
mod limits;
mod options;
mod parse;
mod probe;
mod programs;
mod report;
mod sample;
mod sdk;
mod server;
mod shape;
mod suite;
mod validate;

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    // The probe hands the variable that selects a plugin on to the command that it measures.
    let is_probe = std::env::args().nth(1).is_some_and(|first| first == "--probe");
    if let Some(code) = (!is_probe).then(sdk::serve).flatten() {
        return code;
    }
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
    let parsed = parse::measure(&options);
    let mut sdk = sdk::measure(&options)?;
    sdk.extend(validate::measure(&options)?);
    let inside = format!("{}\n{}", parse::table(&parsed), sdk::table(&sdk));
    let mut verdicts = parse::check(&parsed);
    verdicts.extend(sdk::check(&sdk));
    // Measurements inside this process need no programs to be built.
    if options.is_inside_alone() {
        writeln!(std::io::stdout().lock(), "\n{inside}\n{}", report::verdicts(&verdicts))?;
        return Ok(code(&verdicts));
    }
    let programs = programs::Programs::prepare(&options)?;
    let bench = suite::Bench::new(&options, &programs)?;
    let mut rows = bench.run()?;
    rows.extend(backends::run(&options, &programs)?);
    let mut checks = conformance::measure(&options, &programs)?;
    checks.extend(at_once::measure(&options, &programs)?);
    let mut out = std::io::stdout().lock();
    let outside = sdk::table(&checks);
    writeln!(out, "\n{inside}\n{}\n{outside}", report::tables(&rows))?;
    verdicts.extend(sdk::check(&checks));
    verdicts.extend(limits::check(&rows));
    writeln!(out, "{}", report::verdicts(&verdicts))?;
    Ok(code(&verdicts))
}

fn code(verdicts: &[limits::Verdict]) -> ExitCode {
    if verdicts.iter().all(|verdict| verdict.holds) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
