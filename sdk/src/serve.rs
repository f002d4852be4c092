//! Ways to run a definition: for hosts, from a provider's `main`, or in this process.

use std::process::ExitCode;
use std::sync::Arc;

use formwork_plugin_protocol::Provider;
use formwork_plugin_protocol::handshake::Protocol;
use formwork_plugin_protocol::server::{Options, run};

use crate::ProviderDef;
use crate::server::Server;

/// Serves the provider to the host that started this program, over the protocol version that the
/// host prefers, until the host disconnects. With the argument `--debug` it serves hosts that
/// attach to it, and prints the `TF_REATTACH_PROVIDERS` value for them.
#[must_use]
pub fn serve(provider: ProviderDef) -> ExitCode {
    let options = Options {
        address: provider.address.clone(),
        protocols: &Protocol::ALL,
        // One dash as well, as in Go programs.
        debug: std::env::args().skip(1).any(|argument| matches!(&*argument, "--debug" | "-debug")),
    };
    run(&options, Arc::new(Server::new(provider)))
}

impl ProviderDef {
    /// Returns an implementation of the contract in this process, for example to wrap it.
    #[must_use]
    pub fn into_provider(self) -> impl Provider {
        Server::new(self)
    }
}
