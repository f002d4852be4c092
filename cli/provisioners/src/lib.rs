//! The provisioners that Formwork includes. The engine decides when they run and handles their
//! failures.

mod config_block;
mod failure;
mod file;
#[cfg(any(test, fuzzing))]
pub mod fuzz_targets;
mod local_exec;
pub mod messages;
mod output_lines;
mod remote_exec;
mod ssh;
mod stop;

use std::path::PathBuf;

use formwork_core::provisioner::ProvisionerSet;

use self::file::FileProvisioner;
use self::local_exec::LocalExec;
use self::remote_exec::RemoteExec;

/// Environment of the provisioners.
#[derive(Clone, Debug, Default)]
pub struct ProvisionerEnvironment {
    /// The socket of the SSH agent. `None` if no agent is running.
    pub agent: Option<PathBuf>,
    /// The home directory of the user.
    pub home: Option<PathBuf>,
}

/// Returns all provisioners.
#[must_use]
pub fn provisioners(environment: &ProvisionerEnvironment) -> ProvisionerSet {
    ProvisionerSet::from_kinds([
        ("file", Box::new(FileProvisioner::new(environment))),
        ("local-exec", Box::new(LocalExec::default())),
        ("remote-exec", Box::new(RemoteExec::new(environment))),
    ])
}
