//! Code shared by the end-to-end tests and the providers they drive: the faults of the bad
//! provider, the faults of the sound one by the rule that each breaks, and the requests of small servers.
//!
//! The tests themselves are in `all.rs` and the folders it lists.

pub mod answers;
pub mod fault;
pub mod http;
pub mod items;
pub mod seeded;
