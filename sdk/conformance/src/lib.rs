//! Checks any provider binary against the rules of the provider protocol, without an engine.
//!
//! One line in a provider test:
//!
//! ```no_run
//! # let program = "target/debug/terraform-provider-acme";
//! formwork_conformance::check(program).assert_conforms();
//! ```
//!
//! The rules are in [`rules`]; [`Options`] describes a run, and [`run`] executes it. A rule passes
//! only if cases of it were examined. All other rules are reported as skipped, with the reason, or
//! as not implemented.

mod checkpoint;
mod checks;
pub mod finding;
pub mod generate;
mod http_proxy;
mod legal_config;
pub mod message;
pub mod offer;
pub mod plugin;
mod redact;
pub mod report;
mod request;
pub mod rpc;
pub mod rules;
pub mod suite;
mod system;
mod violations;

use std::path::PathBuf;

pub use report::Report;
pub use suite::{CheckedProvider, Example, Options, ProgressCallback, Release};

use suite::Suite;

/// The time that calls in flight get when the time of the run is over.
const CALL_GRACE_PERIOD: std::time::Duration = std::time::Duration::from_secs(10);

/// Executes one run.
pub async fn run(options: Options, progress: ProgressCallback<'_>) -> Report {
    let mut suite = Suite::new(options);
    // Checks look at the time between calls; the grace is for the calls that run then.
    let limit = suite.options.time + CALL_GRACE_PERIOD;
    let stopped = match tokio::time::timeout(limit, checks::run(&mut suite, progress)).await {
        Ok(result) => result.err(),
        // A call hangs. The results until then are reported.
        Err(_) => {
            suite.note_reasons_of_unexamined();
            None
        }
    };
    // Ends the process even if the run was interrupted.
    suite.end_plugin();
    let stopped = stopped.or_else(|| {
        suite.is_interrupted().then(|| match suite.options.resume {
            Some(_) => "it was interrupted; the same command resumes it".to_owned(),
            None => "it was interrupted; with -resume=FILE the next run could resume it".to_owned(),
        })
    });
    let stopped = stopped.or_else(|| {
        let time = suite.options.time;
        suite.is_cut_short().then(|| {
            format!("the time of {time:?} was over before all rules were examined; -time=LIMIT gives it more")
        })
    });
    if let Some(reason) = &stopped {
        for rule in rules::all_rules() {
            suite
                .tallies
                .note_skipped_rule(rule.id, format!("the run did not get there: {reason}"));
        }
    }
    Report::new(&suite, stopped)
}

/// Checks a provider at level 1 with the usual settings, on a runtime of its own.
#[must_use]
pub fn check(program: impl Into<PathBuf>) -> Report {
    check_with_options(Options::new(program))
}

/// Checks a provider with settings, on a runtime of its own.
#[must_use]
pub fn check_with_options(options: Options) -> Report {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(run(options, &mut |_, _| {})),
        Err(error) => {
            let suite = Suite::new(options);
            Report::new(&suite, Some(format!("the runtime cannot be created: {error}")))
        }
    }
}
