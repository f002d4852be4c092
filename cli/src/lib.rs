//! The command line of Formwork: parse, dispatch, exit code.

mod clock;
mod command;
mod command_line;
mod data_dir;
mod env;
mod exit;
mod fetch;
#[cfg(any(test, fuzzing))]
pub mod fuzz_targets;
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
use std::sync::{Arc, Barrier};

/// Runs the command that the process arguments specify. The program serves the `bundled` providers when it is
/// started under the name `terraform-provider-NAME`.
#[must_use]
pub fn run(bundled: &'static [&'static str]) -> ExitCode {
    let env = env::Env::read().with_bundled_providers(bundled);
    log::start_logging(&env);
    if let Some(line) = &env.comp_line {
        return run_on_one_thread(command::autocomplete::print_candidates(line, &env));
    }
    if let Some(name) = &env.unreadable {
        let detail = format!("The value of {name} is not valid UTF-8. Correct or unset it.");
        return view::print_fatal(messages::UNREADABLE_ENVIRONMENT_VARIABLE, detail);
    }
    if let Some(install) = command::parser::autocomplete_request() {
        return command::autocomplete::install_or_uninstall_hooks(install, &env).into();
    }
    let parsed = match command::parser::parse_command_line(&env) {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    let env = parsed.view.apply_to_env(env);
    signals::start_watching_signals();
    run_on_one_thread(command::run(parsed, &env))
}

/// Time that an idle thread for blocking work is kept: longer than any run.
const THREAD_KEEP_ALIVE: std::time::Duration = std::time::Duration::from_secs(365 * 24 * 3600);

/// Runs a command on this thread. One thread runs everything except blocking work: parallelism pays off only
/// in the plugins.
fn run_on_one_thread(command: impl Future<Output = exit::Exit>) -> ExitCode {
    if let Err(reason) = clock::check_clock() {
        return view::print_fatal(messages::CLOCK_IS_WRONG, reason);
    }
    // Otherwise a deleted directory would be treated as one without configuration.
    if let Err(error) = std::env::current_dir() {
        return view::print_fatal(
            messages::WORKING_DIRECTORY_NOT_FOUND,
            format!("{error}. It may have been removed: change to another directory."),
        );
    }
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = match builder.enable_all().thread_keep_alive(THREAD_KEEP_ALIVE).build() {
        Ok(runtime) => runtime,
        Err(error) => {
            return view::print_fatal(
                messages::RUNTIME_NOT_STARTED,
                format!("{error}. Raise the limit of open files (ulimit -n)."),
            );
        }
    };
    // The runtime panics if its first thread for blocking work cannot be created. It is started here, before
    // any changes are made; later threads are optional.
    if let Err(error) = check_threads_can_start() {
        return view::print_fatal(
            messages::THREADS_ARE_REFUSED,
            format!(
                "{error}. Raise the limit of processes of this user or container (ulimit -u, pids)."
            ),
        );
    }
    drop(runtime.spawn_blocking(|| ()));
    let exit = runtime.block_on(command);
    // Blocking work that hangs, such as a read from a terminal, must not delay the exit.
    runtime.shutdown_background();
    tracing::info!(?exit, "program ended");
    view::exit_code(exit)
}

/// Runs two threads concurrently and ends both: an ended thread may still count towards the limit when the
/// next one is requested.
fn check_threads_can_start() -> std::io::Result<()> {
    let barrier = Arc::new(Barrier::new(2));
    let waiting = Arc::clone(&barrier);
    let first = std::thread::Builder::new().spawn(move || {
        waiting.wait();
    })?;
    let second = std::thread::Builder::new().spawn(|| ());
    barrier.wait();
    // Neither panics.
    drop(first.join());
    second.map(|second| drop(second.join()))
}
