//! A provider that keeps every rule of the conformance suite, in a process of its own, and that breaks
//! exactly one when `SOUND_FAULT` names it: the fault is a row of `formwork_tests::seeded`.
//!
//! `SOUND_OBJECTS` is the directory in which its objects exist; with `SOUND_SERVICE`, a URL, its items exist at
//! that service, too. It offers one type of every kind, resource
//! identities, private data, generated configuration and a state store.

mod layer;
mod objects;
mod offer;
mod remote;
mod store;

use std::process::ExitCode;
use std::sync::Arc;

use formwork_plugin_protocol::handshake::Protocol;
use formwork_plugin_protocol::server::{Options, in_process_transport, run_transport};
use formwork_tests::seeded::{self, Fault};

fn main() -> ExitCode {
    // A previous release is a copy of this program under another name, and has no fault.
    let is_previous = std::env::args().next().is_some_and(|name| name.ends_with("previous"));
    let named = std::env::var("SOUND_FAULT").ok().filter(|_| !is_previous);
    let fault = named.and_then(|rule| seeded::fault_of(&rule));
    seeded::keep_stdout();
    if let Some(Fault::Start(start)) = fault {
        start();
    }
    let options =
        Options { address: offer::ADDRESS.to_owned(), protocols: &Protocol::ALL, debug: false };
    let provider = in_process_transport(Arc::new(offer::provider().into_provider()));
    run_transport(&options, Arc::new(layer::FaultLayer::new(provider, fault)))
}
