//! Support for every end-to-end test: a directory with a configuration, the programs, and the results
//! of their runs.

pub(crate) mod azure;
pub(crate) mod cloud_kms;
mod consul;
pub(crate) mod cut_proxy;
pub(crate) mod gcs;
pub(crate) mod http_state;
// The tests of the provider start it too, and have no business with this crate.
mod fake_service;
#[path = "../providers/src/postgresql/tests/installed.rs"]
mod installed;
pub(crate) mod kubernetes;
pub(crate) mod oci;
mod programs;
pub(crate) mod proxy;
pub(crate) mod registry;
mod run;
mod servers;
mod sshd;
mod state;
pub(crate) mod tls;
mod transit;
mod workdir;

pub(crate) use consul::Consul;
pub(crate) use fake_service::FakeService;
pub(crate) use http_state::HttpState;
pub(crate) use installed::Installed;
pub(crate) use programs::{
    answers_provider, bad_provider, built, opentofu, sound_provider, terraform, test_provider,
};
pub(crate) use run::{Command, CommandResult, Running, wait_until_process_is_idle};
pub(crate) use servers::{ObjectStore, Postgres};
pub(crate) use sshd::Sshd;
pub(crate) use state::{Instance, instances, instances_in};
pub(crate) use transit::Transit;
pub(crate) use workdir::Workdir;
