//! All end-to-end tests, in one program.

mod foreign;
mod harness;
#[cfg(test)]
mod interop;
mod scenario;
mod tidy;
