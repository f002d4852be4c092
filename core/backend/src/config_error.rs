//! Errors in the arguments of a backend.

/// An argument that is missing or invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConfigError {
    /// Description of the problem, without a final period.
    pub message: String,
}

impl ConfigError {
    /// An error about an argument.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}
