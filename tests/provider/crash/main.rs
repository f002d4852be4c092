//! A provider for the crash test, in a process of its own: its objects are files, each made or removed
//! in one step, so that the directory tells at every moment what really exists. It keeps every rule.
//!
//! `CRASH_WORLD` is the directory, and `CRASH_DELAY` how many milliseconds a change may take before and
//! after it happens. With `CRASH_LISTED` every object can be listed.

mod provider;
mod thing;
mod world;

use std::process::ExitCode;
use std::sync::Arc;

use formwork_plugin_protocol::handshake::Protocol;
use formwork_plugin_protocol::server::{Options, run};

use provider::SlowProvider;
use world::World;

fn main() -> ExitCode {
    let world = World::from_env();
    // The connection closes when the process ends, which the watcher notices.
    let _life = world.report_process();
    let options = Options {
        address: "registry.terraform.io/formwork/crash".to_owned(),
        protocols: &Protocol::ALL,
        debug: false,
    };
    run(&options, Arc::new(SlowProvider::new(world)))
}
