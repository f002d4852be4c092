//! The provisioners that come with Formwork. Their time, and the meaning of a failure, are the
//! engine's business.

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
    /// The socket of the SSH agent, if there is one.
    pub agent: Option<PathBuf>,
    /// The home folder.
    pub home: Option<PathBuf>,
}

/// All provisioners there are.
#[must_use]
pub fn provisioners(environment: &ProvisionerEnvironment) -> ProvisionerSet {
    ProvisionerSet::from_kinds([
        ("file", Box::new(FileProvisioner::new(environment))),
        ("local-exec", Box::new(LocalExec::default())),
        ("remote-exec", Box::new(RemoteExec::new(environment))),
    ])
}
