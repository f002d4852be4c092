//! Failures of calls without an answer, by blame. An *answer* of a provider, errors included, is
//! not a failure but a response.

/// Why a call to a provider brought no usable answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Failure {
    /// The plugin could not be started.
    #[error("{0}")]
    Launch(String),
    /// The plugin uses a protocol that is not supported.
    #[error("{0}")]
    Incompatible(String),
    /// The caller's request cannot be encoded: a value lacks its type, or protocol 5 has no field
    /// for it.
    #[error("the request cannot be sent: {0}")]
    UnencodableMessage(String),
    /// The plugin broke the protocol.
    #[error("{0}")]
    Misbehaved(String),
    /// The plugin ended. Its last output, such as a panic, is in `output`.
    #[error("{reason}")]
    Lost {
        /// Observation.
        reason: String,
        /// The exit status as a message, if the process has ended.
        exit: Option<String>,
        /// The panic or last lines of its stderr; may be empty.
        output: String,
    },
    /// The host did not wait for the answer any longer.
    #[error("{0}")]
    GivenUp(String),
    /// The plugin does not implement the call.
    #[error("the provider does not implement {0}")]
    Unimplemented(&'static str),
    /// The plugin answered with a gRPC error.
    #[error("{code}: {message}")]
    Status {
        /// The status code by name, `Unavailable`.
        code: String,
        /// Message of the status.
        message: String,
    },
}

impl Failure {
    /// The same failure with a change of every text in it.
    #[must_use]
    pub fn map_text(self, change: impl Fn(String) -> String) -> Self {
        match self {
            Self::Launch(text) => Self::Launch(change(text)),
            Self::Incompatible(text) => Self::Incompatible(change(text)),
            Self::UnencodableMessage(text) => Self::UnencodableMessage(change(text)),
            Self::Misbehaved(text) => Self::Misbehaved(change(text)),
            Self::Lost { reason, exit, output } => {
                Self::Lost { reason: change(reason), exit, output: change(output) }
            }
            Self::GivenUp(text) => Self::GivenUp(change(text)),
            Self::Unimplemented(method) => Self::Unimplemented(method),
            Self::Status { code, message } => Self::Status { code, message: change(message) },
        }
    }

    /// Returns a short description of the failure without any output of a provider, for logs.
    #[must_use]
    pub fn kind_for_logs(&self) -> &'static str {
        match self {
            Self::Launch(_) => "could not be started",
            Self::Incompatible(_) => "incompatible plugin",
            Self::UnencodableMessage(_) => "request could not be sent",
            Self::Misbehaved(_) => "protocol broken",
            Self::Lost { .. } => "connection lost",
            Self::GivenUp(_) => "given up",
            Self::Unimplemented(_) => "not implemented",
            Self::Status { .. } => "error status",
        }
    }

    /// Whether a read-only call may succeed when it is repeated: the plugin exited, or reports that
    /// it is temporarily unavailable.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Lost { .. } => true,
            // gRPC means by it that the same call may succeed later.
            Self::Status { code, .. } => code == "Unavailable",
            _ => false,
        }
    }

    /// Whether a changing call certainly had no effect: it was never sent, or the plugin refused it
    /// with a status that only a handler chooses. Statuses that a gRPC library chooses by itself,
    /// such as `Internal` and `Unknown`, are not evidence.
    #[must_use]
    pub fn has_changed_nothing(&self) -> bool {
        const REFUSAL_CODE_NAMES: [&str; 7] = [
            "Aborted",
            "AlreadyExists",
            "FailedPrecondition",
            "InvalidArgument",
            "NotFound",
            "PermissionDenied",
            "Unauthenticated",
        ];
        match self {
            Self::Launch(_)
            | Self::Incompatible(_)
            | Self::UnencodableMessage(_)
            | Self::Unimplemented(_) => true,
            // An invalid answer was sent after the work was done. A lost answer may have been.
            Self::Misbehaved(_) | Self::Lost { .. } | Self::GivenUp(_) => false,
            Self::Status { code, .. } => REFUSAL_CODE_NAMES.contains(&code.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unsent_or_refused_calls_have_changed_nothing() {
        let status = |code: &str| Failure::Status { code: code.into(), message: String::new() };
        let lost = || Failure::Lost { reason: String::new(), exit: None, output: String::new() };
        for failure in [
            Failure::Launch(String::new()),
            Failure::Incompatible(String::new()),
            Failure::UnencodableMessage(String::new()),
            Failure::Unimplemented("ApplyResourceChange"),
            status("InvalidArgument"),
            status("Aborted"),
        ] {
            assert!(failure.has_changed_nothing(), "{failure:?}");
        }
        for failure in [
            lost(),
            Failure::Misbehaved(String::new()),
            Failure::GivenUp(String::new()),
            status("Internal"),
            status("Unknown"),
            status("Unavailable"),
            status("Cancelled"),
            // An answer that is too large.
            status("OutOfRange"),
        ] {
            assert!(!failure.has_changed_nothing(), "{failure:?}");
        }
    }
}
