//! Errors in the arguments of a backend.

/// An argument that is missing or invalid.
///
/// ```
/// use formwork_backend::kind::ConfigError;
///
/// let error = ConfigError::new("the argument \"bucket\" is missing");
/// assert_eq!(error.to_string(), "the argument \"bucket\" is missing");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConfigError {
    /// Description of the problem, without a final period.
    pub message: String,
}

impl ConfigError {
    /// Creates an error about an argument.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}
