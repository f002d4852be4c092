//! The host's side: a plugin in a child process, behind the contract.

mod channel;
