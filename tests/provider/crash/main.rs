//! A provider for the crash test, in a process of its own: its objects are files, each created or removed
//! in one step, so that the directory tells at every moment what really exists. It keeps every rule.
//!
//! `CRASH_OBJECTS` is the directory, and `CRASH_DELAY` the maximum milliseconds of a change before and
//! after it happens. With `CRASH_LISTED` every object can be listed.

mod fake_service;
mod provider;
mod thing;

use std::process::ExitCode;
use std::sync::Arc;

use formwork_plugin_protocol::handshake::Protocol;
use formwork_plugin_protocol::server::{Options, run};

use fake_service::FakeService;
use provider::SlowProvider;

fn main() -> ExitCode {
    let service = FakeService::from_env();
    // The connection closes when the process ends, which the watcher notices.
    let _life = service.report_process();
    let options = Options {
        address: "registry.terraform.io/formwork/crash".to_owned(),
        protocols: &Protocol::ALL,
        debug: false,
    };
    run(&options, Arc::new(SlowProvider::new(service)))
}
