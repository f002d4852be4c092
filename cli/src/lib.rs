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
mod messages;
mod modules;
mod normalize;
mod platform;
mod redact;
mod settings;
mod signals;
mod view;
mod workspace;

use std::process::ExitCode;

/// Runs the command that the arguments of the process name. The program serves the `bundled`
/// providers when it is started by the name `terraform-provider-NAME`.
#[must_use]
pub fn run(bundled: &'static [&'static str]) -> ExitCode {
    let env = env::Env::read().with_bundled(bundled);
    log::start(&env);
    if let Some(line) = &env.comp_line {
        return on_one_thread(command::autocomplete::complete(line, &env));
    }
    if let Some(install) = command::parser::autocomplete() {
        return command::autocomplete::set_up(install, &env).into();
    }
    let parsed = match command::parser::parse(&env) {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    let env = parsed.view.complete(env);
    signals::start();
    on_one_thread(command::run(parsed, &env))
}

/// Runs a command on this thread. One thread runs everything except blocking work: the plugins are
/// where parallelism is worth it.
fn on_one_thread(command: impl Future<Output = exit::Exit>) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return view::fatal(&format!("The runtime could not be started: {error}.")),
    };
    let exit = runtime.block_on(command);
    // Blocking work that hangs, such as a read from a terminal, must not hold up the exit.
    runtime.shutdown_background();
    tracing::info!(?exit, "program ended");
    view::exit_code(exit)
}
