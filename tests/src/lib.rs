//! Code shared by the end-to-end tests and the providers they drive: the menu of faults.
//!
//! The tests themselves are in `all.rs` and the folders it lists.

pub mod fault;
