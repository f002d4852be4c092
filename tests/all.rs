//! All end-to-end tests, in one program.

mod harness;
#[cfg(test)]
mod interop;
mod scenario;
mod tidy;
