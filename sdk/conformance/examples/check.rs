//! Checks a provider without the command line of Formwork: `check PROGRAM [LEVEL [SECONDS]]`.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use formwork_conformance::{Options, check_with_options};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(program) = arguments.next() else { return ExitCode::from(2) };
    let mut options = Options::new(program);
    if let Some(level) = arguments.next().and_then(|it| it.parse().ok()) {
        options.level = level;
    }
    if let Some(seconds) = arguments.next().and_then(|it| it.parse().ok()) {
        options.time = Duration::from_secs(seconds);
    }
    let report = check_with_options(options);
    // A reader that closed the pipe has seen enough.
    drop(std::io::stdout().write_all(report.terminal(140).as_bytes()));
    ExitCode::from(report.exit_code())
}
