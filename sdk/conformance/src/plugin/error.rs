//! Reasons why a provider cannot be started.

use super::HANDSHAKE_TIMEOUT;

/// Why a provider did not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartError {
    /// The system does not run the file.
    Unrunnable(String),
    /// It ended before the handshake; the exit and the last of its stderr.
    Ended(String, String),
    /// No handshake in time.
    Silent,
    /// The first line is not a handshake.
    NotHandshake(String, String),
    /// A handshake came after other lines.
    Late(String),
    /// The address does not answer.
    Unreachable(String),
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unrunnable(reason) => write!(f, "it cannot be started: {reason}"),
            Self::Ended(exit, output) if output.trim().is_empty() => {
                write!(f, "it ended before the handshake ({exit})")
            }
            Self::Ended(exit, output) => {
                write!(f, "it ended before the handshake ({exit}) and printed: {}", output.trim())
            }
            Self::Silent => {
                write!(f, "it printed no handshake within {} s", HANDSHAKE_TIMEOUT.as_secs())
            }
            Self::NotHandshake(line, reason) => {
                write!(f, "it is not a provider plugin: {reason} (first line on stdout: {line:?})")
            }
            Self::Late(line) => write!(
                f,
                "it prints {line:?} before the handshake, and Terraform refuses it for that; \
                 print to stderr instead"
            ),
            Self::Unreachable(reason) => write!(f, "its address does not answer: {reason}"),
        }
    }
}
