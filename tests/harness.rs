//! What every end-to-end test needs: a folder with a configuration, the programs, and what they did.

mod programs;
mod run;
mod sshd;
mod state;
mod workdir;
mod world;

pub(crate) use programs::{bad_provider, built, terraform, test_provider};
pub(crate) use run::{Command, Ended};
pub(crate) use sshd::Sshd;
pub(crate) use state::{Instance, instances};
pub(crate) use workdir::Workdir;
pub(crate) use world::World;
