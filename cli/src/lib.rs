//! The command line of Formwork: parse, dispatch, exit code.

mod args;
mod clock;
mod command;
mod data_dir;
mod env;
mod exit;
mod fetch;
#[cfg(any(test, fuzzing))]
pub mod hostile;
mod install;
mod launcher;
mod log;
mod modules;
mod normalize;
mod platform;
mod redact;
mod settings;
mod signals;
mod view;
mod workspace;

use std::process::ExitCode;

/// Runs the command that the arguments of the process name.
#[must_use]
pub fn run() -> ExitCode {
    let env = env::Env::read();
    log::start(&env);
    let parsed = match args::parse(&env) {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    let env = parsed.view.complete(env);
    signals::start();
    // One thread runs everything except blocking work: the plugins are where parallelism is worth
    // it.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return view::fatal(&format!("The runtime could not be started: {error}.")),
    };
    let exit = runtime.block_on(command::run(parsed, &env));
    // Blocking work that hangs, such as a read from a terminal, must not hold up the exit.
    runtime.shutdown_background();
    tracing::info!(?exit, "program ended");
    view::told_all(exit)
}
