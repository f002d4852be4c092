//! Provider installation: finds packages in registries, mirrors and directories, verifies them, installs
//! them in the data directory, and compares them with the lock file.

pub(crate) mod event;
pub(crate) mod hash;
pub(crate) mod hash_memo;
pub(crate) mod install_failure;
pub(crate) mod installer;
pub(crate) mod lockfile;
pub(crate) mod module_constraints;
pub(crate) mod package;
pub(crate) mod parallel;
pub(crate) mod program;
pub(crate) mod providers;
pub(crate) mod release_checksums;
pub(crate) mod shipped;
pub(crate) mod signature;
pub(crate) mod source;
