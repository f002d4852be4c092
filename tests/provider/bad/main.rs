//! A provider that misbehaves on request, in a process of its own. Apart from the ordered fault it is
//! a valid provider, so that a test observes only the effect of the fault.
//!
//! `BAD_OBJECTS` is the directory in which its objects really exist. `BAD_FAULT` orders a fault of the
//! process, or of every object; `BAD_FAULT_OF` narrows it to the object of that name,
//! `BAD_FAULT_ONCE` to the first process in its directory. `BAD_TELL` has it
//! write down its process id there. With `BAD_LISTED` its objects can be listed.

mod answer;
mod apply;
mod fake_service;
mod listing;
mod passing;
mod provider;
mod start;
mod tamper;
mod thing;

use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use formwork_plugin_protocol::handshake::Protocol;
use formwork_plugin_protocol::server::{Options, run};
use formwork_tests::fault::Fault;

use fake_service::FakeService;
use provider::BadProvider;

fn main() -> ExitCode {
    let fault = std::env::var("BAD_FAULT").ok().and_then(|name| Fault::named(&name));
    let service = FakeService::from_env();
    let is_once = std::env::var_os("BAD_FAULT_ONCE").is_some();
    let fault = fault.filter(|_| !is_once || service.is_first());
    service.log_event("start");
    if std::env::var_os("BAD_TELL").is_some() {
        service.log_event(&format!("pid {}", std::process::id()));
    }
    // It closes when the process ends for any reason, which a test detects.
    let _witness = service.process_witness();
    service.gate("start", "process");
    if let Some(code) = fault.and_then(start::run_start_fault) {
        return code;
    }
    if std::env::var_os(tamper::INNER).is_none() {
        if fault == Some(Fault::StartForeignCertificate) {
            return tamper::serve_as_another();
        }
        if let Some(tampering) = fault.and_then(tamper::tampering_for_fault) {
            return tamper::serve(tampering);
        }
    }
    // The server closes stdout; a fault that writes there still needs it.
    let stdout = start::keep_stdout();
    let options = Options {
        address: "registry.terraform.io/formwork/bad".to_owned(),
        protocols: &Protocol::ALL,
        debug: false,
    };
    let code = run(&options, Arc::new(BadProvider::new(fault, service, stdout)));
    if fault == Some(Fault::ProcessStays) {
        loop {
            thread::park();
        }
    }
    code
}
