//! The rules of the contract as pure functions: what a host sends, and what it holds a provider's
//! answers to. Nothing here calls anybody, and nothing here decides what a broken rule costs.
//!
//! A host, an SDK and a conformance suite can all ask the same question and get the same answer.

pub mod conform;
#[cfg(test)]
mod fixtures;
pub mod ignore;
pub mod legacy;
mod parts;
pub mod propose;
pub mod replace;
mod sets;

use formwork_value::Path;

/// One thing in an answer that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct Finding {
    /// Where inside the value; printed after the address of the object it reads `ADDR.attr[0]`.
    pub path: Path,
    /// What is wrong there. Values of sensitive attributes are left out.
    pub message: String,
}

impl Finding {
    fn new(path: &Path, message: impl Into<String>) -> Self {
        Self { path: path.clone(), message: message.into() }
    }
}
