//! Providers on libraries of other projects: nothing in them depends on this project, so what
//! they and the engine agree on is the protocol.
//!
//! The libraries come from their registries when a test first requires them, into the target directory.

mod installed;
#[cfg(test)]
mod provider_in_go;
mod provider_in_python;
mod provider_in_rust;
