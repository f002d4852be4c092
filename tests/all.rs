//! All end-to-end tests, in one program.

mod harness;
mod scenario;
mod tidy;
