//! Whole commands against providers in their own processes. Checks the output, the state and the
//! real objects.

mod backend;
mod bad_config;
mod checked;
mod checked_over_tls;
mod completion;
mod crash;
mod documents;
mod embed;
mod encryption;
mod fault;
mod generated;
mod import;
mod life;
mod login;
mod messages;
mod oci;
mod packages;
mod planted;
mod plugins;
mod prompts;
mod provider_package;
mod reattach;
mod recovery;
mod registry;
mod release;
mod scaffold;
mod sealed;
mod secrets;
mod signal;
mod ssh;
mod state_file;
mod test_runs;
mod untrusted;
