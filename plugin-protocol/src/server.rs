//! The plugin side: serves any [`Provider`](crate::Provider) over gRPC, in a process that a host
//! starts.
//!
//! [`run`] is all that a plugin's `main` needs. It is independent of the provider's work.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use tokio::runtime::Builder;

use crate::Provider;
use crate::handshake::Protocol;
use crate::raw::Transport;

mod accept_connections;
mod broker;
pub(crate) mod controller;
pub(crate) mod health;
mod in_process;
mod panic_hook;
mod plugin_process;
mod provider_service;
mod serve;
mod serve_transport;
mod services;
mod silent_stdio;

pub use in_process::in_process_transport;
use panic_hook::install_panic_hook;
pub(crate) use provider_service::ProviderService;

/// Options of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The provider's source address, `registry.terraform.io/acme/example`.
    pub address: String,
    /// The versions to serve; the host picks.
    pub protocols: &'static [Protocol],
    /// Serve hosts that connect by themselves, not the host that started the process.
    pub debug: bool,
}

/// Why a plugin could not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The program was started without a host.
    #[error(
        "This program is a provider plugin. It is not meant to be run by hand: \
         formwork and terraform start it when a configuration needs it.\n\
         To run it in a debugger, start it with --debug and follow what it prints."
    )]
    NoHost,
    /// TLS could not be set up.
    #[error("{0}")]
    Tls(String),
    /// No socket could be opened.
    #[error("the plugin cannot listen: {0}")]
    Listen(#[source] io::Error),
    /// The handshake cannot be printed.
    #[error("the plugin cannot talk to its host: {0}")]
    Output(#[source] io::Error),
    /// Serving broke off.
    #[error("the plugin cannot serve: {0}")]
    Transport(#[source] tonic::transport::Error),
}

/// Serves `provider` until the host disconnects, and returns the exit code of `main`. Errors are
/// printed on stderr.
#[must_use]
pub fn run(options: &Options, provider: Arc<dyn Provider>) -> ExitCode {
    run_service(options, ProviderService::new(provider))
}

/// Serves a transport like [`run`] serves a provider.
#[must_use]
pub fn run_transport(options: &Options, provider: Arc<dyn Transport>) -> ExitCode {
    run_service(options, ProviderService::over_transport(provider))
}

#[expect(clippy::print_stderr, reason = "the only way to tell the person who started the program")]
fn run_service(options: &Options, service: ProviderService) -> ExitCode {
    install_panic_hook();
    // One thread: a provider mostly waits, and for a call on its way through, another thread is a
    // detour.
    let runtime = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("the plugin cannot run: {error}");
            return ExitCode::FAILURE;
        }
    };
    let result = runtime.block_on(serve_service(options, service));
    // Blocking work of the provider that still continues is abandoned.
    // A drop of the runtime would wait for it without limit.
    runtime.shutdown_background();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Serves `provider` until the host requests its exit, on the runtime of the caller.
///
/// # Errors
/// When no host started the process, or the host cannot be served. The message is for the user who
/// started the program.
pub async fn serve(options: &Options, provider: Arc<dyn Provider>) -> Result<(), ServeError> {
    serve_service(options, ProviderService::new(provider)).await
}

async fn serve_service(options: &Options, service: ProviderService) -> Result<(), ServeError> {
    if options.debug {
        serve::serve_debug(options, service).await
    } else {
        serve::serve_host(options, service).await
    }
}
