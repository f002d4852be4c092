//! Code shared by the end-to-end tests and the providers they drive: the faults of the bad
//! provider, the faults of the sound one by the rule that each breaks, the requests and rules of small servers, and the
//! programs of the workspace.
//!
//! The tests themselves are in `all.rs` and the directories it lists.

pub mod answers;
pub mod fault;
pub mod http;
pub mod http_state;
pub mod items;
pub mod programs;
pub mod seeded;
