//! A provider with random answers, many of them invalid, judges each as Formwork does,
//! and writes the verdict down. Terraform judges the same answers.
//!
//! `ANSWERS_JUDGED` names the call whose answers are invalid; other calls are answered correctly.
//! `ANSWERS_LOG` is the file of the verdicts.

mod judge;
mod provider;

use std::process::ExitCode;
use std::sync::Arc;

use formwork_plugin_protocol::handshake::Protocol;
use formwork_plugin_protocol::server::{Options, run};
use formwork_tests::answers::Judged;

use judge::VerdictLog;
use provider::Answers;

fn main() -> ExitCode {
    let judged = std::env::var("ANSWERS_JUDGED").ok().and_then(|name| Judged::named(&name));
    let log = VerdictLog::from_env();
    let options = Options {
        address: "registry.terraform.io/formwork/answers".to_owned(),
        protocols: &Protocol::ALL,
        debug: false,
    };
    run(&options, Arc::new(Answers { judged, log }))
}
